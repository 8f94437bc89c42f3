package messagecheck

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/shared/target/message"
	"rollcall/stage"
	"rollcall/stage/examine"
	"rollcall/tools/goldens"
	"rollcall/tools/testfile"
	"rollcall/tools/testfull"
)

// blocksOf writes lines as blocks: "Label: text", with times as {15:04}.
func blocksOf(t *testing.T, lines ...string) []byte {
	t.Helper()
	var list []map[string]any
	for n, line := range lines {
		label, text, labelled := strings.Cut(line, ": ")
		if n == 0 || !labelled {
			label, text = "", line
		}
		if label == "Picture" {
			list = append(list, map[string]any{"type": "image", "alt_text": text})
			continue
		}
		if question, is := strings.CutPrefix(line, "? "); is {
			list = append(list, map[string]any{"type": "actions", "elements": []any{
				map[string]any{"type": "button", "confirm": map[string]any{"text": map[string]any{"type": "plain_text", "text": question}}}}})
			continue
		}
		if command, is := strings.CutPrefix(line, "$ "); is {
			list = append(list, map[string]any{"type": "rich_text", "elements": []any{
				map[string]any{"type": "rich_text_preformatted", "elements": []any{map[string]any{"type": "text", "text": command}}}}})
			continue
		}
		if cells, is := strings.CutPrefix(line, "| "); is {
			var row []any
			for _, cell := range strings.Split(cells, " | ") {
				row = append(row, map[string]any{"type": "raw_text", "text": cell})
			}
			list = append(list, map[string]any{"type": "table", "rows": []any{row}})
			continue
		}
		var elements []map[string]any
		if label != "" {
			elements = append(elements, map[string]any{"type": "text", "text": label + "\u2003", "style": map[string]any{"bold": true}})
		}
		for text != "" {
			before, rest, timed := strings.Cut(text, "{")
			elements = append(elements, map[string]any{"type": "text", "text": before})
			if !timed {
				break
			}
			clock, after, _ := strings.Cut(rest, "}")
			at, err := time.Parse("2006-01-02 15:04", "2026-11-20 "+clock)
			if err != nil {
				t.Fatal(err)
			}
			elements = append(elements, map[string]any{"type": "date", "timestamp": at.Unix(), "format": "{time}"})
			text = after
		}
		list = append(list, map[string]any{"type": "rich_text", "elements": []any{map[string]any{"type": "rich_text_section", "elements": elements}}})
	}
	return testfile.JSON(t, list)
}

// TestContradictions: what was met in messages, and what would be as bad; and beside each
// the message in which it is right.
func TestContradictions(t *testing.T) {
	const top = "🔴 prod / workers · 9 of 12 instances cannot join: subnet-0ab1 has no route to the internet"
	for name, test := range map[string]struct {
		lines []string
		want  string // part of the only contradiction; empty for none
	}{
		"right": {[]string{top, "Impact: 9 of 12 new instances not Ready, since {14:59}. So far 3 joined, 8 are not Ready, 1 ended before joining.", "Critical · checked {15:04}"}, ""},
		"another count in Impact": {
			[]string{top, "Impact: 8 of 12 new instances not Ready, since {14:59}."}, "the first line tells of 9 of 12, Impact of 8 of 12"},
		"standings that make more": {[]string{top, "Since: {14:59}. So far 4 joined, 9 are not Ready."}, "how they stand of 9 of 13"},
		"more than all":            {[]string{"prod · x", "Impact: 6 of 5 desired nodes missing, since {14:59}."}, `"6 of 5" is more than all`},
		"checked before it began":  {[]string{top, "Since: {14:59}.", "Critical · checked {14:50}"}, "last checked 14:50:00, before it began"},
		"two clocks":               {[]string{top, "Why: i-0 waits since 15:06:15 UTC."}, "is not in the reader's zone"},
		"an interval of all":       {[]string{"prod · x", "Why: 1 of 5 joined, 95 % interval 2 % to 100 %."}, "says nothing"},
		"an interval":              {[]string{"prod · x", "Why: 4 of 26 joined, 95 % interval 4 % to 35 %."}, ""},
		"a picture of another look": {
			[]string{"prod · subnet-0ab1 has 3 free addresses", "Picture: Free addresses of subnet-0ab1, now 30 free."}, "subnet-0ab1 has 3 free addresses and 30"},
		"its own picture":          {[]string{"prod · subnet-0ab1 has 3 free addresses", "Picture: Free addresses of subnet-0ab1, now 3 free."}, ""},
		"another subnet's picture": {[]string{"prod · subnet-0ab1 has 3 free addresses", "Picture: Free addresses of subnet-0ab2, now 30 free."}, ""},
		"a span of other times":    {[]string{"✅ prod · fixed after 14 min: x", "When: began {14:59}, cause gone {15:11}, first Ready node {15:20}."}, "the first line says 14 min"},
		"a span of its times":      {[]string{"✅ prod · fixed after 14 min: x", "When: began {14:59}, cause gone {15:11}, first Ready node {15:13}."}, ""},
		"a span to another time": {
			[]string{"✅ prod · add-on vpc-cni is well again after 12 min: ACTIVE", "When: began {14:59}, cause gone {15:11}, closed {16:11}."}, "the first line says 12 min"},
		"fewer commands than offered": {
			[]string{"prod · x", "Fix: Rollcall can delete 6 interfaces left behind.", "$ aws ec2 delete-network-interface --network-interface-id eni-1"}, "there are commands for 1"},
		"a dialog of more": {
			[]string{"prod · x", "Fix: Rollcall can delete 6 interfaces left behind in subnet-0ab1.", "? Delete 9 interfaces in subnet-0ab1?"}, `asks of "9 interface`},
		"a dialog of another step": {
			[]string{"prod · x", "Fix: Rollcall can raise workers from 2 to 3 nodes.", "? Raise workers from 1 to 3 nodes?"}, `a change "from 1 to 3"`},
		"a dialog of another subnet": {
			[]string{"prod · x", "Fix: Rollcall can delete 6 interfaces in subnet-0ab1.", "? Delete 6 interfaces in subnet-0ab2?"}, "of which the message tells nothing"},
		"its own dialog": {
			[]string{"prod · x", "Fix: Rollcall can delete 6 interfaces in subnet-0ab1.", "? Delete 6 interfaces in subnet-0ab1?"}, ""},
		"a product that is wrong": {
			[]string{"prod · x", "Why: 8 nodes × 2 interfaces × 30 addresses + 28 nodes × 2 interfaces × 10 addresses = 1,048; subnet-0ab1 had 251."}, "and it is 1040"},
		"a product": {
			[]string{"prod · x", "Why: 8 nodes × 2 interfaces × 30 addresses + 28 nodes × 2 interfaces × 10 addresses = 1,040; subnet-0ab1 had 251."}, ""},
		"nodes of two types": {
			[]string{"prod · x", "Why: 2 groups can launch 14 more nodes here: 9 m5.4xlarge x 60 + 5 m5.large x 20 = 650 addresses."}, "and it is 640"},
		"a burst of another size": {
			[]string{"prod · 12 launches needed 730 addresses, subnet-0ab1 had 251", "Why: 12 nodes × 2 interfaces × 30 addresses = 720; subnet-0ab1 had 251."}, "the first line says 730"},
		"a burst of another subnet's room": {
			[]string{"prod · 12 launches needed 720 addresses, subnet-0ab1 had 251", "Why: 12 nodes × 2 interfaces × 30 addresses = 720; subnet-0ab1 had 25."}, "the first line says 251"},
		"fewer deleted than there are": {
			[]string{"prod · 3 terminated nodes hold 90 addresses of subnet-0ab1", "Why: 9 interfaces of 3 terminated nodes are still there. 0 are free: nothing can be launched there. Deleting all 6 frees 90; one more m5.large takes 10."}, "and there are 9"},
		"more freed than they hold": {
			[]string{"prod · 3 terminated nodes hold 90 addresses of subnet-0ab1", "Why: 9 interfaces of 3 terminated nodes are still there. Deleting all 9 frees 99; one more m5.large takes 10."}, "that they hold 90"},
		"as many as they hold": {
			[]string{"prod · 3 terminated nodes hold 90 addresses of subnet-0ab1", "Why: 9 interfaces of 3 terminated nodes are still there. Deleting all 9 frees 90; one more m5.large takes 10."}, ""},
		"other terminated nodes": {
			[]string{"prod · 3 terminated nodes hold 90 addresses of subnet-0ab1", "Why: 9 interfaces of 4 terminated nodes are still there."}, "the first line says 3 nodes"},
		"a room that does not follow": {
			[]string{"prod · 3 terminated nodes hold 90 addresses of subnet-0ab1", "Why: 9 interfaces of 3 terminated nodes are still there. 3 are free, and one more node takes 10; deleting them makes it 90."}, "3 and 90 are 93"},
		"a row of more than all":  {[]string{"prod · x", "| m5.large | 6 of 5"}, `"6 of 5" is more than all`},
		"an end before the start": {[]string{"✅ prod · fixed after 14 min: x", "When: began {14:59}, cause gone {14:11}, first Ready node {15:13}."}, "ends before it began"},
		"affected otherwise":      {[]string{"✅ prod · x", "Was: No route. 12 instances affected: 3 joined, 8 are not Ready."}, "12 affected, and how they stand makes 11"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Contradictions(blocksOf(t, test.lines...), false)
			switch {
			case err != nil:
				t.Fatal(err)
			case test.want == "" && len(got) > 0:
				t.Errorf("it finds %q", got)
			case test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)):
				t.Errorf("it finds %q, want one with %q", got, test.want)
			}
		})
	}
	if _, err := Contradictions([]byte(`[{"type":"video"}]`), false); !errors.Is(err, ErrUnread) {
		t.Errorf("a block whose numbers no rule holds: %v", err)
	}
	if _, err := Contradictions([]byte("{"), false); err == nil {
		t.Error("what is no message is read")
	}
}

// TestElsewhere: another number in a mail than in the message is found.
func TestElsewhere(t *testing.T) {
	blocks := blocksOf(t, "prod · 9 of 12 instances cannot join: rtb-0cd2", "Impact: 9 of 12 new instances not Ready, since {14:59}.")
	for text, want := range map[string]int{
		"Critical: prod · 9 of 12 instances cannot join: rtb-0cd2\n\nImpact: 9 of 12 new instances not Ready, since 14:59 UTC.": 0,
		"9 of 12, since 2026-11-20 14:59:03 UTC (rtb-0cd2).":                                                                    0,
		"8 of 12 instances": 1,
		"since 15:04 UTC":   1,
		"rtb-0cd3":          1,
	} {
		if got, held, err := Elsewhere(blocks, text); err != nil || len(got) != want || held == 0 {
			t.Errorf("%q: %q of %d, %v; want %d", text, got, held, err, want)
		}
	}
}

// TestNumbersFollowFromTheWorld: of each world of the corpus, every message that its first
// look makes is held against the world itself, asked beside the detectors, and against
// itself. Every eighth world still has most families of checks, and some that speak of
// addresses, capacity and instances.
func TestNumbersFollowFromTheWorld(t *testing.T) {
	t.Chdir("../..") // worlds and the template are named from there
	paths, err := filepath.Glob("stage/worlds/corpus/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	every := testfull.Count(1, 8)
	var read tally
	for n, path := range paths {
		if n%every > 0 || filepath.Base(path) == "unseen.yaml" {
			continue
		}
		read.play(t, path)
	}
	t.Logf("held: %+v", read)
	if read.Messages < testfull.Count(200, 100) || read.Counts < testfull.Count(100, 50) || read.Capacity < testfull.Count(35, 15) || read.Free < testfull.Count(1, 0) || read.Times < testfull.Count(500, 250) ||
		read.Spans < testfull.Count(90, 45) || read.Elsewhere < testfull.Count(5000, 2500) || read.Sums < testfull.Count(1, 0) || read.Every < testfull.Count(1000, 500) || read.Missed*50 > read.Changed {
		t.Errorf("%+v: it looks for the wrong words", read)
	}
}

// tally is what was read of messages: a rule that finds nothing to hold holds nothing.
type tally struct {
	Messages, Counts, Capacity, Free, Times, Spans, Asked, Copied int
	// Elsewhere are numbers, times and ids in mails, cards and alerts.
	Elsewhere int
	// Sums are what a message calculates.
	Sums int
	// Every are all numbers, times and names with a digit; Replies are messages in threads.
	Every, Replies int
	// Changed are numbers that a test changed, Missed those whose change nothing found.
	Changed, Missed int
}

func (c *tally) play(t *testing.T, path string) {
	t.Helper()
	var facts Facts
	seen, err := examine.ObserveBeside(t.Context(), path, io.Discard, examine.Beside{Answered: facts.Answered, Look: func(s *stage.Stage) {
		if err := facts.Look(s.World); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}})
	of := facts.World
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var known []incident.Incident
	affected := map[report.Key][]string{}
	for _, o := range seen {
		for _, cause := range o.Diagnosis.Causes {
			key := o.Key(cause.Check, cause.Resource)
			affected[key] = incident.Union(affected[key], cause.Instances)
		}
		for _, d := range reconcile.Decide(known, o, o.At, incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour, RemindAfter: 30 * time.Minute, Channel: "C0123456789"}) {
			known = slices.DeleteFunc(known, func(i incident.Incident) bool { return i.Key == d.Incident.Key })
			known = append(known, d.Incident)
		}
	}
	for _, i := range known {
		if i.State != incident.Open {
			continue
		}
		m := slack.Render(i, slack.Options{Actions: true, Now: of.Now})
		blocks := testfile.JSON(t, m.Blocks)
		c.count(blocks)
		c.elsewhere(t, i, of.Now, blocks)
		itself, err := Contradictions(blocks, false)
		if err != nil {
			t.Fatal(err)
		}
		// What belongs to another cause is among the launches of that one's record.
		for _, l := range i.Launches {
			affected[i.Key] = incident.Union(affected[i.Key], []string{l.Instance})
		}
		against, err := of.Against(blocks, affected[i.Key])
		if err != nil {
			t.Fatal(err)
		}
		facts.Affected = affected[i.Key]
		unheld := c.every(t, &facts, i, m.Blocks)
		for _, n := range i.Delivery.Notes {
			unheld = append(unheld, c.every(t, &facts, i, slack.RenderNote(i, n).Blocks)...)
		}
		for _, says := range slices.Concat(itself, against, unheld, c.later(t, of, i, affected[i.Key]), c.over(t, of, i)) {
			t.Errorf("%s: %s: %s\n%s", filepath.Base(path), i.Key.Check, says, m.Text)
		}
	}
}

// later is the message of the same incident when one of its instances has joined, and its
// groups were counted anew with it.
func (c *tally) later(t *testing.T, of World, i incident.Incident, affected []string) []string {
	t.Helper()
	i = i.Clone()
	at := slices.IndexFunc(i.Launches, func(l report.Launch) bool { return !of.Ready[l.Instance] && of.Alive[l.Instance] })
	if at < 0 {
		return nil
	}
	// A second one is launched beside it, so that only one of both has joined.
	second := i.Launches[at]
	second.Instance, second.Started = "i-0fffffffffffffff1", second.Started.Add(time.Second)
	i.AddAffected(second)
	at = slices.IndexFunc(i.Launches, func(l report.Launch) bool { return !of.Ready[l.Instance] && of.Alive[l.Instance] })
	l := &i.Launches[at]
	l.Status, l.Ready, i.Capacity = report.Joined, of.Now, nil
	of.Ready, of.Launched = maps.Clone(of.Ready), maps.Clone(of.Launched)
	of.Ready[l.Instance], of.Launched[second.Instance] = true, second.Started
	blocks := testfile.JSON(t, slack.Render(i, slack.Options{Actions: true, Now: of.Now}).Blocks)
	c.count(blocks)
	c.elsewhere(t, i, of.Now, blocks)
	itself, err := Contradictions(blocks, false)
	if err != nil {
		t.Fatal(err)
	}
	against, err := of.Against(blocks, incident.Union(affected, []string{second.Instance}))
	if err != nil {
		t.Fatal(err)
	}
	return append(itself, against...)
}

// TestGoldenMessagesAgreeWithThemselves: the scenes of each turn of an incident's life,
// which no world plays: what is being remedied, muted, resolved, withdrawn, a day's report.
// The messages of worlds are held where they are played (stage).
func TestGoldenMessagesAgreeWithThemselves(t *testing.T) {
	files := 0
	var read tally
	for _, path := range goldens.Messages(t, "../..", "./shared/slack") {
		if strings.HasPrefix(filepath.Base(path), "asked-") {
			continue // answers for one person; a weekly silence is typed in UTC
		}
		raw := testfile.Read(t, path)
		var list []struct{ Blocks json.RawMessage }
		if json.Unmarshal(raw, &list) != nil {
			continue // of another form: answers for one person
		}
		files++
		for n, m := range list {
			if len(m.Blocks) == 0 {
				continue
			}
			read.count(m.Blocks)
			found, err := Contradictions(m.Blocks, n > 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, says := range found {
				t.Errorf("%s, message %d: %s", filepath.Base(path), n, says)
			}
		}
	}
	t.Logf("%d files, held: %+v", files, read)
	if files < 80 || read.Asked < 10 || read.Spans < 10 || read.Sums < 30 {
		t.Errorf("%d files, %+v: they are kept elsewhere", files, read)
	}
}

func (c *tally) count(blocks []byte) {
	lines, err := Read(blocks)
	if err != nil {
		return
	}
	c.Messages++
	for _, l := range lines {
		if standsOut.MatchString(l.Text) || notReady.MatchString(l.Text) {
			c.Counts++
		}
		if missing.MatchString(l.Text) {
			c.Capacity++
		}
		if hasFree.MatchString(l.Text) {
			c.Free++
		}
		c.Times += len(l.Times)
		if !l.Copied {
			for _, form := range []*regexp.Regexp{equation, ofDead, frees, makes, needed} {
				c.Sums += len(form.FindAllString(l.Text, -1))
			}
		}
		if l.Label == Asked {
			c.Asked++
		}
		if l.Copied {
			c.Copied++
		}
		if l.Label == "When" && outageSpan.MatchString(lines[0].Text) {
			c.Spans++
		}
	}
}

// over are the messages of the same incident when its cause is gone, and when a node of
// then was Ready; it is closed later than that.
func (c *tally) over(t *testing.T, of World, i incident.Incident) (found []string) {
	t.Helper()
	gone := i.Clone()
	gone.State, gone.Cleared = incident.Cleared, of.Now.Add(7*time.Minute+20*time.Second)
	gone.Changed = gone.Cleared
	closed := gone.Clone()
	closed.State, closed.Resolution, closed.Resolved = incident.Closed, incident.Proved, gone.Cleared.Add(time.Hour)
	closed.Changed = closed.Resolved
	proved := closed.Clone()
	started := gone.Cleared.Add(time.Minute)
	proved.Proof = &report.Launch{Instance: "i-0fffffffffffffff2", Started: started, Ready: started.Add(58 * time.Second), Status: report.Joined}
	for _, i := range []incident.Incident{gone, closed, proved} {
		blocks := testfile.JSON(t, slack.Render(i, slack.Options{Actions: true, Now: i.Changed}).Blocks)
		c.count(blocks)
		c.elsewhere(t, i, i.Changed, blocks)
		itself, err := Contradictions(blocks, false)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, itself...)
	}
	return found
}

// elsewhere holds the mail, the card and the alert of the same moment.
func (c *tally) elsewhere(t *testing.T, i incident.Incident, now time.Time, blocks []byte) {
	t.Helper()
	words := slack.Words(i, slack.Options{Actions: true, Now: now})
	e := incident.Event{Kind: incident.EventChanged, State: i.State, Resolution: i.Resolution, Cluster: i.Key.Cluster, Check: i.Key.Check, Resource: i.Key.Resource, At: now}
	words.Console, words.Docs = "", "" // their addresses are behind words in Slack
	n := message.Event{Type: e.Kind.DetailType(), ID: "1", At: now, Incident: &e, Words: words}
	card, err := message.ToTeams(n)
	if err != nil {
		t.Fatal(err)
	}
	alert := message.ToPagerDuty(n, message.Trigger).Payload
	var told strings.Builder
	for label, text := range alert.Details {
		if label != "Account" && label != "Region" {
			told.WriteString(text + "\n")
		}
	}
	for where, text := range map[string]string{"a mail": message.ToMail(n).Body, "a card": runs(t, card), "an alert": alert.Summary + "\n" + told.String()} {
		found, held, err := Elsewhere(blocks, text)
		if err != nil {
			t.Fatal(err)
		}
		c.Elsewhere += held
		for _, says := range found {
			t.Errorf("%s, %s, in %s: %s\n%s", i.Key.Check, i.State, where, says, text)
		}
	}
}

// runs are the texts of a card for Teams.
func runs(t *testing.T, raw []byte) string {
	t.Helper()
	var card message.Teams
	testfile.Parse(t, raw, &card)
	var b strings.Builder
	for _, a := range card.Attachments {
		for _, block := range a.Content.Body {
			for _, run := range block.Inlines {
				b.WriteString(run.Text)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// every holds each number of a message against what was answered, and shows that another
// number in its place would be seen.
func (c *tally) every(t *testing.T, f *Facts, i incident.Incident, list []slackgo.Block) []string {
	t.Helper()
	blocks := testfile.JSON(t, list)
	found, held, err := f.Unheld(blocks)
	if err != nil {
		t.Fatal(err)
	}
	c.Every += held
	c.Replies++
	for n := 0; ; n++ {
		other, words, is := changed(t, blocks, n)
		if !is {
			return found
		}
		unheld, _, err := f.Unheld(other)
		if err != nil {
			t.Fatal(err)
		}
		against, err := f.Against(other, f.Affected)
		if err != nil {
			t.Fatal(err)
		}
		itself, err := Contradictions(other, false)
		if err != nil {
			t.Fatal(err)
		}
		c.Changed++
		if len(unheld)+len(against)+len(itself) == 0 {
			c.Missed++
			t.Logf("not seen: %s", words)
		}
	}
}

var digits = regexp.MustCompile(`[0-9]+`)

// changed is a message with another number in place of its nth.
func changed(t *testing.T, blocks []byte, nth int) (other []byte, words string, is bool) {
	t.Helper()
	var tree any
	testfile.Parse(t, blocks, &tree)
	var walk func(part any)
	walk = func(part any) {
		switch part := part.(type) {
		case []any:
			for _, p := range part {
				walk(p)
			}
		case map[string]any:
			switch part["type"] {
			case "rich_text_preformatted":
				return
			case "static_select", "overflow":
				return // for how long to mute: a choice
			case "button":
				walk(part["confirm"])
				return
			}
			for _, key := range slices.Sorted(maps.Keys(part)) {
				text, is := part[key].(string)
				if !is || key != "text" && key != "alt_text" {
					walk(part[key])
					continue
				}
				for _, at := range digits.FindAllStringIndex(text, -1) {
					if nth--; nth == -1 {
						last := text[at[1]-1]
						words = text[:at[1]-1] + string('0'+(last-'0'+1)%10) + text[at[1]:]
						part[key] = words
					}
				}
			}
		}
	}
	walk(tree)
	return testfile.JSON(t, tree), words, nth < 0
}
