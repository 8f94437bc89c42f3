// Package messagecheck reads a Slack message as a person does, and says which of its
// numbers and times contradict each other, or the world that it is about. It knows
// nothing of how a message is made: what it holds a number against is counted in the
// world, beside the code that counts it for the message.
package messagecheck

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go"

	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/world"
)

// Line is a paragraph, a row of a list, a picture's words or a button's question.
type Line struct {
	// Label is the bold word at its beginning: "Impact", "Why". The first line has none.
	Label string
	// Text is what follows. A time that is shown in the reader's zone is 15:04.
	Text string
	// Times are those times, in their order.
	Times []time.Time
	// Copied is set where it is to be copied, or set as it came: a command, a log.
	Copied bool
}

// part is a block of Slack's, or an element of one, as far as it is read
// (docs.slack.dev/reference/block-kit/blocks).
type part struct {
	Type     string
	Text     json.RawMessage
	Alt      string `json:"alt_text"`
	Elements []part
	Rows     [][]part // of a table
	Confirm  *struct{ Text struct{ Text string } }
	Style    json.RawMessage
	Stamp    int64 `json:"timestamp"`
}

// ErrUnread: a message has a block that is not read, so that its numbers would not be held.
var ErrUnread = errors.New("the block is not read")

// Read is a message line by line. Blocks are as they were sent.
func Read(blocks []byte) ([]Line, error) {
	var list []part
	if err := json.Unmarshal(blocks, &list); err != nil {
		return nil, fmt.Errorf("read the blocks: %w", err)
	}
	var lines []Line
	for _, b := range list {
		var err error
		if lines, err = b.read(lines); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

func (p part) read(lines []Line) ([]Line, error) {
	switch p.Type {
	case "rich_text", "rich_text_list", "actions":
		for _, e := range p.Elements {
			var err error
			if lines, err = e.read(lines); err != nil {
				return nil, err
			}
		}
	case "table":
		for _, row := range p.Rows {
			l, err := tableRow(row)
			if err != nil {
				return nil, err
			}
			lines = append(lines, l)
		}
	case "rich_text_section", "rich_text_preformatted":
		l := Line{Copied: p.Type == "rich_text_preformatted"}
		for n, e := range p.Elements {
			if n == 0 && e.bold() && len(lines) > 0 {
				l.Label = strings.TrimRight(e.text(), "\u2002\u2003 ")
				continue
			}
			if e.Type == "date" {
				at := time.Unix(e.Stamp, 0).UTC()
				l.Times = append(l.Times, at)
				l.Text += at.Format("15:04")
				continue
			}
			l.Text += e.text()
		}
		lines = append(lines, l)
	case "image":
		lines = append(lines, Line{Label: "Picture", Text: p.Alt})
	case "button", "static_select", "overflow":
		if p.Confirm != nil {
			lines = append(lines, Line{Label: Asked, Text: p.Confirm.Text.Text})
		}
	default:
		return nil, fmt.Errorf("%q: %w", p.Type, ErrUnread)
	}
	return lines, nil
}

// Asked labels what a dialog asks before a button does anything.
const Asked = "Button"

// tableRow is a row as one line: its cells are raw_text or rich_text
// (docs.slack.dev/reference/block-kit/blocks/table-block).
func tableRow(cells []part) (Line, error) {
	row := Line{Label: "Row"}
	var texts []string
	for _, cell := range cells {
		if cell.Type == "raw_text" {
			texts = append(texts, cell.text())
			continue
		}
		lines, err := cell.read(nil)
		if err != nil {
			return Line{}, err
		}
		for _, l := range lines {
			texts, row.Times = append(texts, l.Text), append(row.Times, l.Times...)
		}
	}
	row.Text = strings.Join(texts, " | ")
	return row, nil
}

func (p part) bold() bool {
	var style struct{ Bold bool }
	return len(p.Style) > 0 && json.Unmarshal(p.Style, &style) == nil && style.Bold
}

// text is the part's own, be it a string or an object of Slack's.
func (p part) text() string {
	var text string
	if len(p.Text) == 0 || json.Unmarshal(p.Text, &text) != nil {
		return ""
	}
	return text
}

// term is "28 nodes × 2 interfaces × 10 addresses" or "5 m5.large x 20".
const term = `[\d,]+ [^\s=;:]+(?: [×x] [\d,]+(?: (?:nodes?|interfaces?|addresses))?)+`

// The forms in which a message calculates.
var (
	// equation is "8 nodes × 2 interfaces × 30 addresses + 28 nodes × 2 interfaces = 536"
	// and "9 m5.4xlarge x 60 + 5 m5.large x 20 = 640 addresses".
	equation = regexp.MustCompile(`\b(` + term + `(?: \+ ` + term + `)*) = ([\d,]+)`)
	factors  = regexp.MustCompile(`(?:^|[×x] )([\d,]+)`)

	holding = regexp.MustCompile(`\b([\d,]+) terminated nodes? holds? ([\d,]+) address`)
	ofDead  = regexp.MustCompile(`\b([\d,]+) interfaces? (?:of|that the VPC CNI made on) ([\d,]+) (?:terminated )?nodes?\b`)
	frees   = regexp.MustCompile(`\bDeleting (it|all ([\d,]+)) frees ([\d,]+)\b`)
	makes   = regexp.MustCompile(`\b([\d,]+) (?:is|are) free, and .*; deleting them makes it ([\d,]+)`)
	needed  = regexp.MustCompile(`\b([\d,]+) launches needed ([\d,]+) addresses, (subnet-[0-9a-f]+) had ([\d,]+)`)
	had     = regexp.MustCompile(`\b(subnet-[0-9a-f]+) had ([\d,]+)`)
)

// arithmetic holds what a message calculates: that it comes out, that it begins with what
// the message says elsewhere, and that the result is the one of the first line.
func arithmetic(lines []Line) (found []string) {
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	var held, dead, of int
	var burst []string
	if len(lines) > 0 {
		if m := holding.FindStringSubmatch(lines[0].Text); m != nil {
			dead, held = amount(m[1]), amount(m[2])
		}
		burst = needed.FindStringSubmatch(lines[0].Text)
	}
	for _, l := range lines {
		if l.Copied {
			continue
		}
		for _, m := range equation.FindAllStringSubmatch(l.Text, -1) {
			if is := sum(m[1]); is != amount(m[2]) {
				say("%q, and it is %d", m[0], is)
			}
			if burst != nil && m[2] != burst[2] {
				say("%q, and the first line says %s", m[0], burst[2])
			}
		}
		if burst != nil {
			for _, m := range had.FindAllStringSubmatch(l.Text, -1) {
				if m[1] == burst[3] && m[2] != burst[4] {
					say("%q, and the first line says %s", m[0], burst[4])
				}
			}
		}
		if held == 0 || l.Label != "Why" {
			continue
		}
		if m := ofDead.FindStringSubmatch(l.Text); m != nil {
			of = amount(m[1])
			if amount(m[2]) != dead {
				say("%q, and the first line says %d nodes", m[0], dead)
			}
		}
		if m := frees.FindStringSubmatch(l.Text); m != nil {
			if amount(m[3]) != held {
				say("%q, and the first line says that they hold %d", m[0], held)
			}
			all := 1
			if m[2] != "" {
				all = amount(m[2])
			}
			if of > 0 && all != of {
				say("%q, and there are %d", m[0], of)
			}
		}
		if m := makes.FindStringSubmatch(l.Text); m != nil && amount(m[1])+held != amount(m[2]) {
			say("%q, and %d and %d are %d", m[0], amount(m[1]), held, amount(m[1])+held)
		}
	}
	return found
}

// sum is what "8 nodes × 2 interfaces + 3 m5.large x 20" comes to.
func sum(terms string) (all int) {
	for _, term := range strings.Split(terms, " + ") {
		product := 1
		for _, f := range factors.FindAllStringSubmatch(term, -1) {
			product *= amount(f[1])
		}
		all += product
	}
	return all
}

var (
	// counted are quantities of things that a dialog and a message both tell.
	counted = regexp.MustCompile(`\b([\d,]+) (interface|node|instance|address|route|pod|volume)(?:e?s)?\b`)
	// change is "from 2 to 3".
	change = regexp.MustCompile(`\bfrom [\d,]+ to [\d,]+\b`)
	ids    = regexp.MustCompile(`\b(?:subnet|rtb|nat|eni|vpc|vol|sg|igw|i)-[0-9a-f]{4,17}\b`)
	given  = regexp.MustCompile(`\b(?:can delete|will delete|deletes) ([\d,]+) interfaces?\b`)
)

// asked holds what a dialog asks against the message that it stands in: what is approved
// there is what is offered above, as many of the same things.
func asked(lines []Line) (found []string) {
	var fix string
	var all strings.Builder
	commands := 0
	for _, l := range lines {
		if l.Label == Asked {
			continue
		}
		all.WriteString(l.Text + "\n")
		if l.Label == "Fix" {
			fix += l.Text + "\n"
		}
		if l.Copied {
			commands += strings.Count(l.Text, "aws ec2 delete-network-interface ")
		}
	}
	if m := given.FindStringSubmatch(fix); m != nil && commands > 0 && amount(m[1]) != commands {
		found = append(found, fmt.Sprintf("%q, and there are commands for %d", m[0], commands))
	}
	for _, l := range lines {
		if l.Label != Asked || fix == "" {
			continue
		}
		told := map[string][]string{}
		for _, m := range counted.FindAllStringSubmatch(fix, -1) {
			told[m[2]] = append(told[m[2]], m[1])
		}
		for _, m := range counted.FindAllStringSubmatch(l.Text, -1) {
			if n := told[m[2]]; len(n) > 0 && !slices.Contains(n, m[1]) {
				found = append(found, fmt.Sprintf("the dialog asks of %q, and the message offers %s of them", m[0], strings.Join(n, ", ")))
			}
		}
		if steps := change.FindAllString(fix, -1); len(steps) > 0 {
			for _, step := range change.FindAllString(l.Text, -1) {
				if !slices.Contains(steps, step) {
					found = append(found, fmt.Sprintf("the dialog asks of a change %q, and the message offers %q", step, steps))
				}
			}
		}
		for _, id := range ids.FindAllString(l.Text, -1) {
			if !strings.Contains(all.String(), id) {
				found = append(found, fmt.Sprintf("the dialog asks of %s, of which the message tells nothing", id))
			}
		}
	}
	return found
}

const outcomes = "cannot join|will not be able to join|did not join|never joined|has not joined|have not joined|is not Ready|are not Ready"

// The forms in which a message says quantities.
var (
	ofBoth     = regexp.MustCompile(`\b([\d,]+) of (?:its |the )?([\d,]+)\b`)
	standsOut  = regexp.MustCompile(`(?:· |^)([\d,]+)(?: of ([\d,]+))? instances? (?:` + outcomes + `)`)
	notReady   = regexp.MustCompile(`([\d,]+)(?: of ([\d,]+))? new instances? not Ready`)
	missing    = regexp.MustCompile(`([\d,]+) of ([\d,]+) desired nodes? (?:missing|not Ready yet)`)
	standing   = regexp.MustCompile(`([\d,]+) (joined|(?:is|are) not Ready and no longer checked|(?:is|are) not Ready|(?:is|are) not due yet|ended before joining|(?:is|are) not listed by name)`)
	wasAll     = regexp.MustCompile(`([\d,]+) instances? affected`)
	nowFree    = regexp.MustCompile(`\b(subnet-[0-9a-f]+)\b[^.;]{0,60}? has ([\d,]+) free address|\b(subnet-[0-9a-f]+)\b[^.;]{0,80}?, (?:now )?([\d,]+) free(?: addresses)?\b`)
	interval   = regexp.MustCompile(`([\d.]+) % to ([\d.]+) %`)
	plainClock = regexp.MustCompile(`\b\d{2}:\d{2}(?::\d{2})? (?:UTC|GMT|[+-]\d{4})|\b\d{1,2}:\d{2} ?[ap]m\b`)
	stamp      = regexp.MustCompile(`\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}`)
	outageSpan = regexp.MustCompile(`^✅.* after ((?:\d+ (?:s|min|h|d) ?)+)`)
)

// vague is an interval that says nothing: nearly all that there is.
const vague = 85.0

// Contradictions are what a message says against itself. Reply is set where it stands in a
// thread, where lists of evidence keep the times that AWS wrote.
func Contradictions(blocks []byte, reply bool) ([]string, error) {
	lines, err := Read(blocks)
	if err != nil {
		return nil, err
	}
	var found []string
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for _, l := range lines {
		for _, m := range ofBoth.FindAllStringSubmatch(l.Text, -1) {
			if !l.Copied && amount(m[1]) > amount(m[2]) {
				say("%q is more than all", m[0])
			}
		}
		for _, m := range interval.FindAllStringSubmatch(l.Text, -1) {
			low, high := fraction(m[1]), fraction(m[2])
			if low > high || high-low >= vague {
				say("the interval %q says nothing", m[0])
			}
		}
		if !l.Copied && l.Label != "Picture" && l.Label != Asked {
			// 00:00 UTC is where a day of a summary begins, and no moment.
			if clock := plainClock.FindString(strings.ReplaceAll(l.Text, " 00:00 UTC", "")); clock != "" {
				say("%q is not in the reader's zone, as all other times are", clock)
			}
			if at := stamp.FindString(l.Text); at != "" {
				say("%q is a time for machines", at)
			}
		}
	}
	if reply {
		return found, nil
	}
	found = append(found, counts(lines)...)
	found = append(found, times(lines)...)
	found = append(found, free(lines)...)
	found = append(found, asked(lines)...)
	found = append(found, arithmetic(lines)...)
	return found, nil
}

// counts holds how many instances the first line, Impact and the standings tell of.
func counts(lines []Line) (found []string) {
	if len(lines) == 0 {
		return nil
	}
	type count struct{ out, all int }
	told := map[string]count{}
	note := func(where string, m []string) {
		c := count{out: amount(m[1]), all: amount(m[1])}
		if m[2] != "" {
			c.all = amount(m[2])
		}
		told[where] = c
	}
	if m := standsOut.FindStringSubmatch(lines[0].Text); m != nil {
		note("the first line", m)
	}
	for _, l := range lines[1:] {
		if m := notReady.FindStringSubmatch(l.Text); m != nil && l.Label == "Impact" {
			note("Impact", m)
		}
		if standings := standing.FindAllStringSubmatch(l.Text, -1); len(standings) > 1 && (l.Label == "Impact" || l.Label == "Since" || l.Label == "Was") {
			var c count
			for _, s := range standings {
				c.all += amount(s[1])
				if s[2] != "joined" {
					c.out += amount(s[1])
				}
			}
			if m := wasAll.FindStringSubmatch(l.Text); m != nil && amount(m[1]) != c.all {
				found = append(found, fmt.Sprintf("%s affected, and how they stand makes %d", m[1], c.all))
			}
			told["how they stand"] = c
		}
	}
	places := []string{"the first line", "Impact", "how they stand"}
	for n, a := range places {
		for _, b := range places[n+1:] {
			x, known := told[a]
			y, both := told[b]
			if known && both && x != y {
				found = append(found, fmt.Sprintf("%s tells of %d of %d, %s of %d of %d", a, x.out, x.all, b, y.out, y.all))
			}
		}
	}
	return found
}

// times holds the order in which things can be, and the span that the first line tells.
func times(lines []Line) (found []string) {
	var began, checked time.Time
	for _, l := range lines {
		switch {
		case (l.Label == "Impact" || l.Label == "Since") && len(l.Times) > 0:
			began = l.Times[0]
		case (l.Label == "When" || l.Label == "Was") && len(l.Times) > 0:
			if !slices.IsSortedFunc(l.Times, time.Time.Compare) {
				found = append(found, fmt.Sprintf("%q: one thing ends before it began", l.Text))
			}
			if span := outageSpan.FindStringSubmatch(lines[0].Text); span != nil && l.Label == "When" {
				began, ended := l.Times[0], l.Times[len(l.Times)-1]
				if took := spanOf(span[1]); (ended.Sub(began) - took).Abs() > rounded(took) {
					found = append(found, fmt.Sprintf("the first line says %s, and %q is %s long", span[1], l.Text, ended.Sub(began)))
				}
			}
		case strings.Contains(l.Text, "checked ") && len(l.Times) > 0 && l.Label == "":
			checked = l.Times[len(l.Times)-1]
		}
	}
	if !began.IsZero() && !checked.IsZero() && checked.Before(began.Truncate(time.Minute)) {
		found = append(found, fmt.Sprintf("last checked %s, before it began %s", checked.Format(time.TimeOnly), began.Format(time.TimeOnly)))
	}
	return found
}

// rounded is how far a span may be from the two times that it lies between: half of its
// smallest unit, and the seconds to which each of them is cut.
func rounded(span time.Duration) time.Duration {
	switch {
	case span < 2*time.Minute:
		return 2 * time.Second
	case span < 48*time.Hour:
		return 32 * time.Second
	}
	return 31 * time.Minute
}

// free holds that a subnet has one number of free addresses, wherever it stands.
func free(lines []Line) (found []string) {
	told := map[string]string{}
	for _, l := range lines {
		if l.Copied {
			continue
		}
		for _, m := range nowFree.FindAllStringSubmatch(l.Text, -1) {
			subnet, n := m[1]+m[3], m[2]+m[4]
			if before, known := told[subnet]; known && before != n {
				found = append(found, fmt.Sprintf("%s has %s free addresses and %s", subnet, before, n))
			}
			told[subnet] = n
		}
	}
	return found
}

func amount(s string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		return -1
	}
	return n
}

func fraction(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return -1
	}
	return f
}

// spanOf reads "3 h 14 min".
func spanOf(s string) (d time.Duration) {
	words := strings.Fields(s)
	for n := 0; n+1 < len(words); n += 2 {
		unit := map[string]time.Duration{"s": time.Second, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[words[n+1]]
		d += time.Duration(amount(words[n])) * unit
	}
	return d
}

var (
	day     = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}(?:T| |\b)`)
	seconds = regexp.MustCompile(`\b(\d{2}:\d{2}):\d{2}\b`)
)

// Elsewhere are the numbers, times and ids that a text for another target tells, and that
// the message in Slack of the same moment does not; held is how many it tells.
func Elsewhere(blocks []byte, text string) (found []string, held int, err error) {
	lines, err := Read(blocks)
	if err != nil {
		return nil, 0, err
	}
	told := map[string]bool{}
	for _, l := range lines {
		for _, n := range numbers(l.Text) {
			told[n] = true
		}
	}
	list := numbers(text)
	for _, n := range list {
		if !told[n] {
			found = append(found, fmt.Sprintf("%q is told elsewhere, and not in Slack", n))
		}
	}
	return found, len(list), nil
}

// numbers are the words of a text that have a digit. A time is 15:04, as it is read in a
// message; the day of it is left out, which a message tells where it is another.
func numbers(text string) (list []string) {
	text = seconds.ReplaceAllString(day.ReplaceAllString(text, ""), "$1")
	for _, word := range strings.Fields(text) {
		if strings.HasSuffix(word, "…") {
			continue // it is cut
		}
		if word = strings.Trim(word, ".,;:()[]{}\"'`*"); strings.ContainsAny(word, "0123456789") {
			list = append(list, word)
		}
	}
	return list
}

// Facts are all that was answered to the detectors of one look, as text: what a message
// quotes must stand in it. A zero value has none; Answered may be called at the same time.
type Facts struct {
	World
	// Affected are the instances that the cause of the message has.
	Affected []string

	claims    []claim
	mu        sync.Mutex
	told      strings.Builder
	raw, text string // as it was answered, and with what is packed in it
	// minutes are the moments in it as a message and a log show them, instants as they are.
	minutes  map[string]bool
	instants map[int64]bool
}

// Answered takes what AWS answered to a call.
func (f *Facts) Answered(out any, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		var api smithy.APIError
		if errors.As(err, &api) {
			f.told.WriteString(api.ErrorCode() + " " + api.ErrorMessage() + "\n")
		}
		f.told.WriteString(err.Error() + "\n")
		return
	}
	if body, err := json.Marshal(out); err == nil {
		f.told.Write(body)
		f.told.WriteByte('\n')
	}
}

// Look completes them with what Kubernetes answers, and with the world's own counts.
func (f *Facts) Look(w *world.World) error {
	of, err := WorldOf(w)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.World = of
	for _, cluster := range w.Clusters() {
		for _, plural := range append(kinds(w, cluster), "nodes") {
			list, err := w.Kubernetes(cluster, plural)
			if errors.Is(err, kubestate.ErrNoKind) {
				continue
			}
			if err != nil {
				return fmt.Errorf("list the %s of %s: %w", plural, cluster, err)
			}
			for _, o := range list.Items {
				f.told.Write(o)
				f.told.WriteByte('\n')
			}
		}
	}
	// On the wire the times of shifts are numbers.
	if body, err := json.Marshal(shifts(w)); err == nil {
		f.told.Write(body)
	}
	f.claims = claims()
	f.raw = f.told.String()
	f.text = plain(f.raw)
	f.minutes, f.instants = map[string]bool{}, map[int64]bool{}
	for _, m := range moment.FindAllString(f.text, -1) {
		// EC2 has a state's reason with its time: "(2026-11-20 14:49:30 GMT)".
		at, err := time.Parse(time.RFC3339, strings.Replace(strings.Replace(m, " GMT", "Z", 1), " ", "T", 1))
		if err == nil {
			f.minutes[at.UTC().Format("15:04")], f.minutes[at.UTC().Format(time.TimeOnly)] = true, true
			f.instants[at.Unix()] = true
		}
	}
	return nil
}

// shifts are what is shifted away from a zone.
func shifts(w *world.World) any {
	defer w.Hold()()
	return w.State.File.ArcZonalShift
}

// kinds are the plurals of what a cluster has, beside its nodes.
func kinds(w *world.World, cluster string) []string {
	defer w.Hold()()
	return slices.Sorted(maps.Keys(w.State.Kubernetes[cluster].Objects))
}

var (
	moment = regexp.MustCompile(`\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2}| GMT)`)
	// packed is what may be text in base64: user data, console output, a certificate.
	packed = regexp.MustCompile(`"([A-Za-z0-9+/]{24,}={0,2})"`)
)

// plain is a text with what is packed in it beside it: base64, policies as IAM writes them
// (RFC 3986, docs.aws.amazon.com/IAM/latest/APIReference/API_GetRolePolicy.html), JSON in
// JSON.
func plain(text string) string {
	var b strings.Builder
	b.WriteString(text)
	for _, m := range packed.FindAllStringSubmatch(text, -1) {
		b.WriteString("\n" + unpacked(m[1]))
	}
	if open, err := url.PathUnescape(strings.ReplaceAll(text, "%\"", "%25\"")); err == nil {
		b.WriteString("\n" + open)
	}
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(b.String())
}

func unpacked(s string) string {
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return ""
	}
	return string(raw)
}

// rolesText is aws-auth's mapRoles.
func (f *Facts) rolesText() string {
	_, text, _ := strings.Cut(f.raw, `"mapRoles":"`)
	text, _, _ = strings.Cut(strings.ReplaceAll(text, `\"`, "'"), `"`)
	return strings.ReplaceAll(text, `\n`, "\n")
}

// mapRoles are its entries.
func (f *Facts) mapRoles() []string {
	list := regexp.MustCompile(`(?m)^\s*- (?:rolearn|userarn|username|groups)\b`).Split(f.rolesText(), -1)
	return list[1:]
}

// entry holds that the nth entry of mapRoles has the words.
func (f *Facts) entry(n int, words string) string {
	list := f.mapRoles()
	if n < 1 || n > len(list) {
		return fmt.Sprintf("mapRoles has %d entries", len(list))
	}
	if e := list[n-1]; !strings.Contains(e, words) {
		return fmt.Sprintf("that entry is %q", e)
	}
	return ""
}

// part holds that a part of some user data has the words on that line; line 0 is any.
func (f *Facts) part(n, line int, words string) string {
	for _, m := range packed.FindAllStringSubmatch(f.raw, -1) {
		parts := []string{unpacked(m[1])}
		if b := regexp.MustCompile(`boundary="?([^"\s]+)"?`).FindStringSubmatch(parts[0]); b != nil {
			parts = strings.Split(parts[0], "--"+b[1])[1:]
		}
		if n > len(parts) {
			continue
		}
		if _, body, headed := strings.Cut(parts[n-1], "\n\n"); headed && len(parts) > 1 {
			parts[n-1] = body
		}
		lines := strings.Split(parts[n-1], "\n")
		if line == 0 || line <= len(lines) && strings.Contains(lines[line-1], words) {
			return ""
		}
	}
	return "no user data has that"
}

// contains reports whether the words stand in an answer as they are.
func (f *Facts) contains(words string) bool { return strings.Contains(f.text, words) }

// names reports whether they stand there as a name, and not within another word.
func (f *Facts) names(name string) bool {
	for rest := f.text; ; {
		at := strings.Index(rest, name)
		if at < 0 {
			return false
		}
		end := at + len(name)
		if (at == 0 || !inWord(rest[at-1])) && (end == len(rest) || !inWord(rest[end])) {
			return true
		}
		rest = rest[end:]
	}
}

func inWord(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '+' || b == '_'
}

// World is what a message may be about, asked of the world itself.
type World struct {
	// Free are the free addresses of each subnet.
	Free map[string]int
	// Launched is when each instance was, Alive those that have not ended.
	Launched map[string]time.Time
	Alive    map[string]bool
	// Ready are the instances that are Ready nodes.
	Ready map[string]bool
	// Cordoned counts the nodes of each zone that take no new pods.
	Cordoned map[string]int
	// Groups are the Auto Scaling groups by name, and by the nodegroup that they are of.
	Groups map[string][]Group
	// Image, Type and Subnet are an instance's.
	Image, Type, Subnet map[string]string
	// Types are how many interfaces types have, addresses each, and network cards.
	Types map[string][3]int
	// Left is what nodes that ended left behind in each subnet.
	Left    map[string]Remains
	Account string
	// Now is the time in it.
	Now time.Time
}

// Group is an Auto Scaling group.
type Group struct {
	Name         string
	Desired, Max int
	Zones        []string
	Instances    []string
}

// WorldOf looks at a world.
func WorldOf(w *world.World) (World, error) {
	of := World{
		Account: w.Account(), Now: w.Now(), Free: map[string]int{}, Launched: map[string]time.Time{}, Alive: map[string]bool{}, Ready: map[string]bool{}, Cordoned: map[string]int{},
		Image: map[string]string{}, Type: map[string]string{}, Subnet: map[string]string{},
		Groups: map[string][]Group{}, Types: map[string][3]int{}, Left: map[string]Remains{},
	}
	subnets, err := w.EC2().DescribeSubnets(&ec2.DescribeSubnetsInput{})
	if err != nil {
		return World{}, fmt.Errorf("describe the subnets: %w", err)
	}
	for _, s := range subnets.Subnets {
		of.Free[aws.ToString(s.SubnetId)] = int(aws.ToInt32(s.AvailableIpAddressCount))
	}
	instances, err := w.EC2().DescribeInstances(&ec2.DescribeInstancesInput{})
	if err != nil {
		return World{}, fmt.Errorf("describe the instances: %w", err)
	}
	for _, r := range instances.Reservations {
		for _, in := range r.Instances {
			id := aws.ToString(in.InstanceId)
			of.Image[id], of.Type[id], of.Subnet[id] = aws.ToString(in.ImageId), string(in.InstanceType), aws.ToString(in.SubnetId)
			of.Launched[id] = aws.ToTime(in.LaunchTime)
			of.Alive[id] = in.State.Name == "running" || in.State.Name == "pending"
		}
	}
	groups, err := w.AutoScaling().DescribeAutoScalingGroups(&autoscaling.DescribeAutoScalingGroupsInput{})
	if err != nil {
		return World{}, fmt.Errorf("describe the groups: %w", err)
	}
	for _, g := range groups.AutoScalingGroups {
		group := Group{Name: aws.ToString(g.AutoScalingGroupName), Desired: int(aws.ToInt32(g.DesiredCapacity)), Max: int(aws.ToInt32(g.MaxSize)), Zones: g.AvailabilityZones}
		for _, in := range g.Instances {
			group.Instances = append(group.Instances, aws.ToString(in.InstanceId))
		}
		names := map[string]bool{aws.ToString(g.AutoScalingGroupName): true}
		for _, t := range g.Tags {
			if aws.ToString(t.Key) == "eks:nodegroup-name" {
				names[aws.ToString(t.Value)] = true
			}
		}
		for name := range names {
			of.Groups[name] = append(of.Groups[name], group)
		}
	}
	if err := of.network(w); err != nil {
		return World{}, err
	}
	return of, of.nodes(w)
}

// network counts what types take of it, and what is left behind in it.
func (of World) network(w *world.World) error {
	types, err := w.EC2().DescribeInstanceTypes(&ec2.DescribeInstanceTypesInput{})
	if err != nil {
		return fmt.Errorf("describe the types: %w", err)
	}
	for _, t := range types.InstanceTypes {
		if t.NetworkInfo != nil {
			of.Types[string(t.InstanceType)] = [3]int{int(aws.ToInt32(t.NetworkInfo.MaximumNetworkInterfaces)), int(aws.ToInt32(t.NetworkInfo.Ipv4AddressesPerInterface)), int(aws.ToInt32(t.NetworkInfo.MaximumNetworkCards))}
		}
	}
	interfaces, err := w.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{})
	if err != nil {
		return fmt.Errorf("describe the interfaces: %w", err)
	}
	for _, n := range interfaces.NetworkInterfaces {
		owner := ""
		for _, t := range n.TagSet {
			if aws.ToString(t.Key) == "node.k8s.amazonaws.com/instance_id" {
				owner = aws.ToString(t.Value)
			}
		}
		if n.Status != "available" || owner == "" || of.Alive[owner] {
			continue
		}
		l := of.Left[aws.ToString(n.SubnetId)]
		if l.Owners == nil {
			l.Owners = map[string]bool{}
		}
		l.Interfaces++
		l.Owners[owner] = true
		l.Addresses += len(n.PrivateIpAddresses)
		for _, p := range n.Ipv4Prefixes {
			l.Addresses += block(aws.ToString(p.Ipv4Prefix))
		}
		of.Left[aws.ToString(n.SubnetId)] = l
	}
	return nil
}

func (of World) nodes(w *world.World) error {
	for _, cluster := range w.Clusters() {
		list, err := w.Kubernetes(cluster, "nodes")
		if err != nil {
			return fmt.Errorf("list the nodes of %s: %w", cluster, err)
		}
		for _, raw := range list.Items {
			var n struct {
				Metadata struct{ Labels map[string]string }
				Spec     struct {
					ProviderID    string
					Unschedulable bool
					Taints        []struct{ Key string }
				}
				Status struct {
					Conditions []struct{ Type, Status string }
				}
			}
			if err := json.Unmarshal(raw, &n); err != nil {
				return fmt.Errorf("read a node: %w", err)
			}
			if n.Spec.Unschedulable {
				of.Cordoned[n.Metadata.Labels["topology.kubernetes.io/zone"]]++
			}
			ready := false
			for _, c := range n.Status.Conditions {
				ready = ready || c.Type == "Ready" && c.Status == "True"
			}
			for _, t := range n.Spec.Taints {
				ready = ready && t.Key != "node.cloudprovider.kubernetes.io/uninitialized"
			}
			of.Ready[n.Spec.ProviderID[strings.LastIndex(n.Spec.ProviderID, "/")+1:]] = ready
		}
	}
	return nil
}

var (
	hasFree   = regexp.MustCompile(`\b(subnet-[0-9a-f]+)\b(?: \([^)]*\))? has ([\d,]+) free address`)
	firstID   = regexp.MustCompile(`\bfirst (i-[0-9a-f]+)`)
	justOne   = regexp.MustCompile(`, (i-[0-9a-f]+)(?: in |\.)`)
	instances = regexp.MustCompile(`\bi-[0-9a-f]{8,17}\b`)
)

// Against are what a message of an open incident says against the world at the time of
// its look. Affected are the instances that the look told of.
func (of World) Against(blocks []byte, affected []string) ([]string, error) {
	lines, err := Read(blocks)
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	var found []string
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	out := 0
	for _, id := range affected {
		if !of.Ready[id] {
			out++
		}
	}
	for n, l := range lines {
		if l.Copied {
			continue
		}
		for _, m := range hasFree.FindAllStringSubmatch(l.Text, -1) {
			if is, known := of.Free[m[1]]; known && is != amount(m[2]) {
				say("%q, and it has %d", m[0], is)
			}
		}
		if m := standsOut.FindStringSubmatch(l.Text); n == 0 && m != nil && amount(m[1]) != out {
			say("%q, and %d of those affected are no Ready nodes", m[0], out)
		}
		if l.Label != "Impact" && l.Label != "Since" {
			continue
		}
		if m := notReady.FindStringSubmatch(l.Text); m != nil && amount(m[1]) != out {
			say("%q, and %d of those affected are no Ready nodes", m[0], out)
		}
		if m := missing.FindStringSubmatch(l.Text); m != nil {
			found = append(found, of.capacity(lines[0].Text, m)...)
		}
		first := firstID.FindStringSubmatch(l.Text)
		if first == nil {
			first = justOne.FindStringSubmatch(l.Text)
		}
		if first != nil {
			found = append(found, of.first(l, first[1], affected)...)
		}
		for _, at := range l.Times {
			if at.After(of.Now) {
				say("since %s is in the future of the look at %s", at.Format(time.TimeOnly), of.Now.Format(time.TimeOnly))
			}
		}
	}
	for _, id := range instances.FindAllString(lines[0].Text, -1) {
		if _, known := of.Launched[id]; !known && len(of.Launched) > 0 {
			say("%s is in the first line and not in the world", id)
		}
	}
	return found, nil
}

// capacity holds what is said of the groups that the first line names.
func (of World) capacity(top string, m []string) []string {
	place, _, _ := strings.Cut(top, " · ")
	_, names, named := strings.Cut(place, " / ")
	if !named || strings.Contains(names, " more") {
		return nil
	}
	desired, ready := 0, 0
	for _, name := range strings.Split(strings.ReplaceAll(names, " and ", ", "), ", ") {
		groups := of.Groups[name]
		if begins, cut := strings.CutSuffix(name, "…"); cut {
			for full, list := range of.Groups {
				if strings.HasPrefix(full, begins) {
					groups = list
				}
			}
		}
		if len(groups) == 0 {
			return []string{fmt.Sprintf("%q, and there is no group %s", m[0], name)}
		}
		for _, g := range groups {
			desired += g.Desired
			for _, id := range g.Instances {
				if of.Ready[id] {
					ready++
				}
			}
		}
	}
	if amount(m[2]) != desired || amount(m[1]) != desired-ready {
		return []string{fmt.Sprintf("%q, and %d are desired, %d Ready", m[0], desired, ready)}
	}
	return nil
}

// first holds that the instance that is named first is that, and that it began with it
// or later: what is wrong may be seen later than the launch.
func (of World) first(l Line, id string, affected []string) []string {
	at, known := of.Launched[id]
	if !known || len(l.Times) == 0 {
		return nil
	}
	for _, other := range affected {
		if when, known := of.Launched[other]; known && !of.Ready[other] && when.Before(at) {
			return []string{fmt.Sprintf("%s is not the first, %s was launched at %s", id, other, when.Format(time.TimeOnly))}
		}
	}
	if l.Times[0].After(at) {
		return []string{fmt.Sprintf("since %s, and %s was launched at %s", l.Times[0].Format(time.TimeOnly), id, at.Format(time.TimeOnly))}
	}
	return nil
}
