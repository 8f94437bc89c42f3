// Package figures writes docs/figures.md, and the figures of README.md. The text stands in
// page.md without a number: each is read out of the page that a program wrote, the test
// that holds it, or the code that it is of. So none can be another than what was measured.
package figures

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/stage/simaws/worldfile"
	"rollcall/stage/worldgen"
)

//go:embed page.md
var text string

// Page is the place of the page below the repository.
const Page = "docs/figures.md"

const readme = "README.md"

// name is where a value goes.
var name = regexp.MustCompile(`\{\{([^{}]+)\}\}`)

// Write is the page; root is the repository.
func Write(root string) (string, error) {
	return fill(root, text, values(), phrases())
}

// Fill writes the page, and what other pages have of it, anew.
func Fill(root string) error {
	texts, err := Texts(root)
	if err != nil {
		return err
	}
	for file, text := range texts {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(file)), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write the figures: %w", err)
		}
	}
	return nil
}

// Texts are the page, and what other pages have of it, by their places.
func Texts(root string) (map[string]string, error) {
	page, err := Write(root)
	if err != nil {
		return nil, fmt.Errorf("fill %s: %w", Page, err)
	}
	texts := map[string]string{Page: page}
	list, err := places(root)
	if err != nil {
		return nil, err
	}
	if err := put(root, list, texts); err != nil {
		return nil, err
	}
	texts[readme], err = rows(texts[readme], page)
	return texts, err
}

// fill puts the values into a text. All of them: one that is not asked for is of a row
// that is gone.
func fill(root, text string, values map[string]value, said []phrase) (string, error) {
	var faults []error
	used := map[string]bool{}
	out := name.ReplaceAllStringFunc(text, func(place string) string {
		key := place[2 : len(place)-2]
		v, known := values[key]
		if !known {
			faults = append(faults, fmt.Errorf("there is no value %q", key))
			return place
		}
		used[key] = true
		is, err := v.read(root)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", key, err))
		}
		return is
	})
	for key := range values {
		if !used[key] {
			faults = append(faults, fmt.Errorf("no text has %q", key))
		}
	}
	for _, p := range said {
		raw, err := os.ReadFile(filepath.Join(root, p.file))
		if err == nil && !strings.Contains(string(raw), p.says) {
			err = fmt.Errorf("%s does not say %q any more: what page.md makes of it may not be true", p.file, p.says)
		}
		faults = append(faults, err)
	}
	return out, errors.Join(faults...)
}

// rows is README.md with the rows of the page that it has.
func rows(text, page string) (string, error) {
	known := map[string]string{}
	table, _, _ := strings.Cut(page, "\n## ") // the first, of the figures themselves
	for line := range strings.Lines(table) {
		if what, ok := first(line); ok {
			known[what] = strings.ReplaceAll(line, "](", "](docs/")
		}
	}
	before, section, found := strings.Cut(text, "\n## Figures\n")
	if !found {
		return "", errors.New("README.md has no figures")
	}
	section, after, _ := strings.Cut(section, "\n## ")
	var b strings.Builder
	for line := range strings.Lines(section) {
		what, ok := first(line)
		row, is := known[what]
		switch {
		case !ok:
			row = line
		case !is:
			return "", fmt.Errorf("README.md has a row %q, and %s has none", what, Page)
		}
		b.WriteString(row)
	}
	return before + "\n## Figures\n" + b.String() + "\n## " + after, nil
}

// first is what a row is of: its first cell without the figures in it, which are other
// ones when they are measured anew.
func first(line string) (string, bool) {
	if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| what |") {
		return "", false
	}
	what, _, _ := strings.Cut(line[2:], " | ")
	return regexp.MustCompile(`\d[\d,.]*`).ReplaceAllString(what, "…"), true
}

// place is where a page that is written by hand says what was measured: between the two
// groups.
type place struct {
	file string
	like *regexp.Regexp
	is   value
}

const (
	measuredPage = "docs/measured.md"
	storiesPage  = "docs/stories.md"
	eachStory    = "## Each story"
)

// places are all of them but the rows of README.md.
func places(root string) ([]place, error) {
	stories, err := value{file: measuredPage, under: eachStory, like: `^\| [a-z]+ \|`, column: "story"}.found(root)
	if err != nil {
		return nil, fmt.Errorf("list the stories: %w", err)
	}
	at := func(file, like string, is value) place { return place{file, regexp.MustCompile(like), is} }
	bill := value{file: "docs/bill.md", like: `(?m)^## \d+ clusters?, [^:]*: \$([\d.]+) a month$`, of: prices}
	list := []place{
		at(readme, `(It ends by itself after )[a-z0-9 ]+?(; its exit)`, length("route")),
		at(storiesPage, `(all six after )[a-z ]+?( minutes;)`, playing()),
		at("CONTRIBUTING.md", `(plays the six stories \()[a-z ]+?( minutes on two cores, built\))`, playing()),
		at("docs/start.md", "(rollcall demo route\n```\n\n)[A-Z0-9][a-z0-9 ]+?( on a simulated AWS)", value{is: func(root string) (string, error) {
			words, err := length("route").read(root)
			return strings.ToUpper(words[:min(1, len(words))]) + words[min(1, len(words)):], err
		}}),
		at("docs/README.md", `(\| know what it costs \| \[)[^]]+(\]\(bill\.md\))`, bill),
		at("docs/faq.md", `(What does it cost\?\*\* \[)[^]]+(\]\(bill\.md\))`, bill),
		at("docs/faq.md", `(and \[)[^]]+( for 1,000 launches\]\(load\.md\))`, value{file: "docs/load.md", like: `\$([\d.]+) per 1,000 launches`, of: cents}),
		at("docs/deploy.md", `(It costs about \$)[\d.]+( a month, \[counted\]\(bill\.md\))`, value{file: "docs/bill.md", like: `(?m)^## A relay: \$([\d.]+) a month$`}),
		at("docs/deploy.md", `(any bucket there for the program \()\d+( MB\))`,
			value{file: measuredPage, under: "## Functions", like: `^\| relay \|`, column: "package, MB", of: each(times(1), 0)}),
	}
	for _, story := range stories {
		list = append(list, at(storiesPage, "(`make demo STORY="+story+"`, )[a-z0-9 ]+?(: )", length(story)))
	}
	return list, nil
}

// length is how long a story takes by itself, in words.
func length(story string) value {
	return value{file: measuredPage, under: eachStory, like: `^\| ` + story + ` \|`, column: "s", of: spoken}
}

// spoken is a time in seconds as people say it: the nearest five seconds, of more than a
// minute the nearest half.
func spoken(found []string) (string, error) {
	list, err := numbers(found)
	if err != nil {
		return "", err
	}
	if len(list) != 1 || list[0] <= 0 {
		return "", fmt.Errorf("%q is not the time of one story", found)
	}
	five := max(5, int(math.Round(list[0]/5))*5)
	switch half := int(math.Round(list[0] / 30)); {
	case five == 30:
		return "half a minute", nil
	case five == 5 || five == 10:
		return map[int]string{5: "five", 10: "ten"}[five] + " seconds", nil
	case five < 60:
		return strconv.Itoa(five) + " seconds", nil
	case half <= 2:
		return "a minute", nil
	case half == 3:
		return "a minute and a half", nil
	default:
		words, err := halves([]string{strconv.Itoa(30 * half)})
		return words + " minutes", err
	}
}

// prices are "least to most" of what a month costs.
func prices(found []string) (string, error) {
	list, err := numbers(found)
	if err != nil {
		return "", err
	}
	if len(list) < 2 {
		return "", errors.New("there is one bill alone")
	}
	return fmt.Sprintf("$%.2f to $%.2f a month", least(list), most(list)), nil
}

// put puts what was measured into the texts, which it reads where they are not given.
func put(root string, list []place, texts map[string]string) error {
	for _, p := range list {
		text, given := texts[p.file]
		if !given {
			raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.file)))
			if err != nil {
				return fmt.Errorf("read %s: %w", p.file, err)
			}
			text = string(raw)
		}
		if n := len(p.like.FindAllString(text, -1)); n != 1 {
			return fmt.Errorf("%d places in %s are like %s, want one", n, p.file, p.like)
		}
		is, err := p.is.read(root)
		if err != nil {
			return fmt.Errorf("what %s says: %w", p.file, err)
		}
		// What is put in has a $, which is no group's.
		texts[p.file] = p.like.ReplaceAllString(text, "${1}"+strings.ReplaceAll(is, "$", "$$")+"${2}")
	}
	return nil
}

// cents are dollars as people say so little.
func cents(found []string) (string, error) {
	list, err := numbers(found)
	if err != nil {
		return "", err
	}
	switch n := math.Round(100 * list[0]); {
	case len(list) != 1:
		return "", fmt.Errorf("it says several things: %q", found)
	case n < 1:
		return "less than a cent", nil
	case n == 1:
		return "about a cent", nil
	default:
		return fmt.Sprintf("about %.0f cents", n), nil
	}
}

// fromStudies are of histories, worlds and subnets that are simulated.
func fromStudies() map[string]value {
	const (
		factor     = "docs/factor.md"
		spot       = "docs/spot.md"
		interfaces = "docs/interfaces.md"
		runway     = "docs/runway.md"
		healthy    = "## Healthy clusters"
		pools      = "## Healthy pools"
		faulty     = "## One faulty pool"
		beside     = "12 h before, of falls of a day and more"
	)
	peer := func(row, column string) value {
		// The second table is of what empties an account; ours is in the first.
		return value{file: interfaces, like: `\*\*` + row + `\*\*`, column: column}
	}
	named := func(row string) value {
		return value{file: spot, under: faulty, like: row, column: "median"}
	}
	return map[string]value{
		"factor accused":   {file: factor, under: healthy, like: `^\|`, column: "a value accused in", of: each(sum, 0)},
		"factor histories": {is: histories},
		"factor days":      {file: factor, under: healthy, like: `histories of (\d+) days each`},
		"factor named":     {file: factor, like: `^\| the AMI of one of four nodegroups \|`, column: "median", of: each(most, 0)},
		"spot accused":     {file: spot, under: pools, like: `^\|`, column: "a healthy pool accused in", of: each(sum, 0)},
		"spot histories":   {file: spot, under: pools, like: `^\|`, column: "looked at", of: each(sum, 0)},
		"spot days":        {file: spot, under: pools, like: `Each history is (\d+) days long`},
		"spot taken":       named(`^\| 0 % join, others taken back before they join`),
		"spot none":        named(`^\| 0 % join, others do not join`),
		"spot half":        named(`^\| 50 % join, others do not join`),
		"interfaces":       {file: interfaces, like: `One world of (\d+) network interfaces`},
		"deleted ours":     peer("wrongly deleted", "Rollcall"),
		"kept ours":        peer("wrongly kept", "Rollcall"),
		"deleted cni":      peer("wrongly deleted", "VPC CNI, with CLUSTER_NAME"),
		"kept cni":         peer("wrongly kept", "VPC CNI, with CLUSTER_NAME"),
		"deleted script":   peer("wrongly deleted", "the story's script"),
		"kept script":      peer("wrongly kept", "the story's script"),
		"runway ahead":     {file: runway, like: `\| (\d+) h before, of falls of a day and more \|`},
		"runway steady":    {file: runway, like: `^\| leak, (1 to 4|4 to 20) days \|`, column: beside, of: share},
		"runway wave":      {file: runway, like: `^\| leak, 2 to 20 days, on a daily wave \|`, column: beside, of: share},
		"runway false":     {file: runway, like: `all together`, column: "false alarms in a month of a subnet"},
	}
}

// weak are of the rows that do not flatter.
func weak() map[string]value {
	const (
		spot   = "docs/spot.md"
		leaks  = "docs/leaks.md"
		runway = "docs/runway.md"
		pool   = `^\| 75 % join, others do not join, no cause found \|`
		batch  = `^\| leak, 2 to 20 days, among batch jobs \|`
		script = `^\| the story's script, 50ms a call \|`
	)
	return map[string]value{
		"weak spot":        {file: spot, like: `(?m)^\| (75) % join, others do not join`},
		"weak spot named":  {file: spot, like: pool, column: "named in"},
		"weak spot median": {file: spot, like: pool, column: "median"},
		"weak spot ninth":  {file: spot, like: pool, column: "90th percentile"},
		"weak latency":     {file: leaks, like: `(?m)^\| the story's script, (50)ms a call \|`},
		"weak script":      {file: leaks, like: script, column: "time"},
		"weak ours":        {file: leaks, like: `^\| Rollcall's eni-cleanup \|`, column: "time"},
		"weak throttled":   {file: leaks, like: script, column: "throttled", of: each(most, 0)},
		"weak batch":       {file: runway, like: batch, column: "said at all"},
		"weak batch ahead": {file: runway, like: batch, column: "12 h before, of falls of a day and more", of: share},
		"weak fast":        {file: runway, like: `^\| fast fall \|`, column: "said at all"},
		"weak weekday":     {file: runway, like: `^\| weekday wave \|`, column: "false alarms in a month of a subnet"},
		"weak early":       {file: runway, like: `^\| leak, 2 to 20 days, on a weekday wave \|`, column: "too early, in a fall"},
	}
}

// fromStage are of pages that the stage's bill, load, leaks and outages are on.
func fromStage() map[string]value {
	const (
		bill  = "docs/bill.md"
		load  = "docs/load.md"
		leaks = "docs/leaks.md"
		scale = "docs/scale.md"
		slack = "docs/slack.md"
		ours  = `^\| Rollcall's eni-cleanup \|`
	)
	company := func(like string) value { return value{file: scale, like: like} }
	return map[string]value{
		"bill small":        {file: bill, like: `(?m)^## 1 cluster, [^:]*: \$([\d.]+) a month$`},
		"bill small of":     {file: bill, like: `(?m)^## (1 cluster, [^:]*): \$`},
		"bill large":        {file: bill, like: `(?m)^## 20 clusters, [^:]*: \$([\d.]+) a month$`},
		"bill large of":     {file: bill, like: `(?m)^## (20 clusters, [^:]*): \$`},
		"load rate":         {file: load, like: `of stage time \((\d+) an hour\)`, of: each(most, 0)},
		"load launches":     {file: load, like: `(?m)^(\d+) launches in`, of: each(most, 0)},
		"load minutes":      {file: load, like: `launches in (\d+) minutes of stage time`},
		"load wrong":        {file: load, like: `^\| none, two, or a wrong one \|`, column: "launches"},
		"load cost":         {file: load, like: `\$([\d.]+) per 1,000 launches`},
		"load month":        {file: load, like: `(?m)^\| \*\*together\*\* \| \| \| \*\*\$([\d.]+)\*\* \|`, of: each(most, 0)},
		"scale accounts":    company(`(?m)^([\d,]+) accounts in [\d,]+ regions`),
		"scale regions":     company(`accounts in ([\d,]+) regions`),
		"scale clusters":    company(`regions, ([\d,]+) clusters with`),
		"scale nodes":       company(`clusters with ([\d,]+) nodes`),
		"scale away":        company(`the APIs of ([\d,]+) clusters drop all packets`),
		"scale launches":    company(`minutes \(([\d,]+) an hour\)`),
		"scale minutes":     company(`launches in ([\d,]+) minutes`),
		"scale each":        {file: scale, like: `for each cluster\*\*`, column: "1,000 clusters", of: each(most, 2)},
		"scale one":         {file: scale, like: `for each cluster\*\*`, column: "1 cluster", of: each(most, 2)},
		"leaks":             {file: leaks, like: `Nodes left (\d+) network interfaces behind`, of: each(most, 0)},
		"leaks over":        {file: leaks, like: ours, column: "beside the bucket's own", of: above},
		"leaks failed":      {file: leaks, like: ours, column: "failed"},
		"leaks throttled":   {file: leaks, like: ours, column: "throttled"},
		"leaks cents":       {file: leaks, like: `interfaces costs in us-east-1: \$([\d.]+\d)\.`, of: each(times(100), 0)},
		"leaks latency":     {file: leaks, like: `Each call takes (\d+)ms where nothing else`},
		"leaks rate":        {file: leaks, like: `the stage runs ([\d.]+) times as fast`},
		"script over":       {file: leaks, like: `^\| the story's script, 300ms a call \|`, column: "beside the bucket's own", of: above},
		"leaks memory":      {file: leaks, like: `^\| 10000 \| Rollcall's eni-cleanup`, column: "memory", of: each(most, 0)},
		"leaks memory most": {file: leaks, like: `^\| 100000 \| Rollcall's eni-cleanup`, column: "memory", of: each(most, 0)},
		"leaks held":        {file: leaks, like: `Rollcall's eni-cleanup`, column: "interfaces of the VPC", of: each(least, 0)},
		"leaks held most":   {file: leaks, like: `Rollcall's eni-cleanup`, column: "interfaces of the VPC", of: each(most, 0)},
		"load per":          {file: load, like: `\$[\d.]+ per ([\d,]+) launches`},
		"outage lost":       {file: slack, like: `^\|`, column: "lost", of: each(sum, 0)},
		"outage twice":      {file: slack, like: `^\|`, column: "said twice", of: each(sum, 0)},
		"outage minutes":    {file: slack, like: `^\|`, column: "said in full after", of: minutes},
	}
}

// value is where a figure stands.
type value struct {
	// file of the repository, and the heading under which it stands if the file has several
	// tables of the same columns.
	file, under string
	// like finds it, in a group of its own; in a table it finds rows, and column is the
	// heading of the cell.
	like, column string
	// of makes one of all that is found; without it all that is found is the same.
	of func(found []string) (string, error)
	// is counts what stands in no file.
	is func(root string) (string, error)
}

func (v value) read(root string) (string, error) {
	if v.is != nil {
		return v.is(root)
	}
	found, err := v.found(root)
	if err != nil {
		return "", err
	}
	of := v.of
	if of == nil {
		of = same
	}
	out, err := of(found)
	if err != nil {
		return "", fmt.Errorf("%s: %w", v.file, err)
	}
	return out, nil
}

// found is all that is like it in its file.
func (v value) found(root string) (list []string, err error) {
	raw, err := os.ReadFile(filepath.Join(root, v.file))
	if err != nil {
		return nil, err
	}
	text := string(raw)
	if v.under != "" {
		_, section, found := strings.Cut(text, "\n"+v.under+"\n")
		if !found {
			return nil, fmt.Errorf("%s has no %q", v.file, v.under)
		}
		text, _, _ = strings.Cut(section, "\n## ")
	}
	like, err := regexp.Compile(v.like)
	if err != nil {
		return nil, err
	}
	if v.column != "" {
		list = cells(text, like, v.column)
	} else {
		for _, m := range like.FindAllStringSubmatch(text, -1) {
			list = append(list, m[1:]...)
		}
	}
	list = slices.DeleteFunc(list, func(f string) bool { return f == "–" }) // not measured
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has nothing like %s %s", v.file, v.like, v.column)
	}
	return list, nil
}

// cells are those under a heading, of the rows that are like something.
func cells(text string, like *regexp.Regexp, column string) (list []string) {
	at := -1
	for line := range strings.SplitSeq(text, "\n") {
		row, is := strings.CutPrefix(line, "|")
		if !is {
			at = -1
			continue
		}
		of := strings.Split(row, "|")
		for i := range of {
			of[i] = strings.Trim(of[i], " *")
		}
		switch {
		case at < 0:
			if at = slices.Index(of, column); at < 0 {
				at = len(row) // another table
			}
		case at < len(of) && like.MatchString(line) && !strings.HasPrefix(line, "|---"):
			list = append(list, of[at])
		}
	}
	return list
}

// same is what all are.
func same(found []string) (string, error) {
	if u := slices.Compact(slices.Clone(found)); len(u) != 1 {
		return "", fmt.Errorf("it says several things: %q", u)
	}
	return found[0], nil
}

var number = regexp.MustCompile(`-?\d[\d,_]*(?:\.\d+)?`)

// numbers are the first of each text.
func numbers(found []string) (list []float64, err error) {
	for _, f := range found {
		n, err := strconv.ParseFloat(strings.NewReplacer(",", "", "_", "").Replace(number.FindString(f)), 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no number", f)
		}
		list = append(list, n)
	}
	if len(list) == 0 {
		return nil, errors.New("there is no number")
	}
	return list, nil
}

// each makes one number of all.
func each(of func([]float64) float64, decimals int) func([]string) (string, error) {
	return func(found []string) (string, error) {
		list, err := numbers(found)
		if err != nil {
			return "", err
		}
		n := of(list)
		if math.IsNaN(n) {
			return "", fmt.Errorf("it says several things: %q", found)
		}
		return thousands(n, decimals), nil
	}
}

func sum(list []float64) (all float64) {
	for _, n := range list {
		all += n
	}
	return all
}

func product(list []float64) float64 {
	all := 1.0
	for _, n := range list {
		all *= n
	}
	return all
}

func least(list []float64) float64 { return slices.Min(list) }

func most(list []float64) float64 { return slices.Max(list) }

// times is the one number there is, in another unit.
func times(factor float64) func([]float64) float64 {
	return func(list []float64) float64 {
		if least(list) != most(list) {
			return math.NaN()
		}
		return factor * list[0]
	}
}

// span is "least to most", or one of them where both are the same in so many decimals.
func span(decimals int) func([]string) (string, error) {
	return func(found []string) (string, error) {
		list, err := numbers(found)
		if err != nil {
			return "", err
		}
		from, to := thousands(least(list), decimals), thousands(most(list), decimals)
		if from == to {
			return from, nil
		}
		return from + " to " + to, nil
	}
}

// minutes is "least to most" of durations, in whole minutes, outwards.
func minutes(found []string) (string, error) {
	var list []float64
	for _, f := range found {
		if f == "at once" {
			continue
		}
		d, err := time.ParseDuration(f)
		if err != nil {
			return "", err
		}
		list = append(list, d.Minutes())
	}
	if len(list) == 0 {
		return "", errors.New("there is no time")
	}
	return fmt.Sprintf("%.0f to %.0f", math.Floor(least(list)), math.Ceil(most(list))), nil
}

// thousands is a number as people write it.
func thousands(n float64, decimals int) string {
	text := strconv.FormatFloat(n, 'f', decimals, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if fraction != "" {
		return whole + "." + fraction
	}
	return whole
}

// halves is a time in minutes as words say it, the next half upwards.
func halves(found []string) (string, error) {
	list, err := numbers(found)
	if err != nil {
		return "", err
	}
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	n := int(math.Ceil(list[0] / 30))
	if n/2 >= len(words) {
		return "", fmt.Errorf("%q is too long for the stories", found[0])
	}
	if n%2 == 1 {
		return words[n/2] + " and a half", nil
	}
	return words[n/2], nil
}

// share is the least of some shares, as "95.3 % of 150" has it.
func share(found []string) (string, error) {
	text, err := each(least, 1)(found)
	return text + " %", err
}

// above is how much more than something else, as "+2.9 %" has it; what is not more is no
// such figure.
func above(found []string) (string, error) {
	text, err := same(found)
	if err != nil {
		return "", err
	}
	more, is := strings.CutPrefix(text, "+")
	if !is {
		return "", fmt.Errorf("%q is not above it", text)
	}
	return more, nil
}

// histories are all those of the table: as many for each row.
func histories(root string) (string, error) {
	const page, under = "docs/factor.md", "## Healthy clusters"
	of, err := value{file: page, under: under, like: `([\d,]+) histories of \d+ days each`}.found(root)
	if err != nil {
		return "", err
	}
	kinds, err := value{file: page, under: under, like: `^\|`, column: "histories"}.found(root)
	if err != nil {
		return "", err
	}
	return each(func(list []float64) float64 { return list[0] * float64(len(kinds)) }, 0)(of)
}

// values are all figures of the page, by the name that stands there in their place.
func values() map[string]value {
	all := map[string]value{}
	for _, of := range []map[string]value{counted(), fromTests(), fromMachine(), fromStudies(), fromStage(), weak()} {
		for name, v := range of {
			all[name] = v
		}
	}
	return all
}

// phrase is what a page says in words of which the figures' page makes use.
type phrase struct{ file, says string }

func phrases() []phrase {
	return []phrase{
		{"docs/scale.md", "- Each cluster was visited within two ticks of five minutes."},
		{"docs/scale.md", "- Each launch has its one outcome:"},
		{"docs/scale.md", "- No call was throttled."},
		{"docs/scale.md", "- One message for each cause:"},
		{"docs/slack.md", "one message a second in a channel"},
		{"shared/network/address/tally_test.go", "for n := range 8 {"},
	}
}

// counted are figures of the code itself.
func counted() map[string]value {
	return map[string]value{
		"checks":         {is: func(string) (string, error) { return strconv.Itoa(len(checks.All())), nil }},
		"faults":         {is: func(string) (string, error) { return faulty(), nil }},
		"corpus broken":  {is: func(root string) (string, error) { broken, _, err := corpus(root); return strconv.Itoa(broken), err }},
		"corpus healthy": {is: func(root string) (string, error) { _, healthy, err := corpus(root); return strconv.Itoa(healthy), err }},
	}
}

// corpus is how many broken and healthy worlds there are, as make corpus counts them.
func corpus(root string) (broken, healthy int, err error) {
	paths, err := filepath.Glob(filepath.Join(root, "stage/worlds/corpus/*.yaml"))
	if err != nil {
		return 0, 0, fmt.Errorf("list the worlds: %w", err)
	}
	for _, path := range paths {
		if filepath.Base(path) == "unseen.yaml" {
			continue
		}
		file, err := worldfile.Load(path)
		if err != nil {
			return 0, 0, fmt.Errorf("read a world: %w", err)
		}
		switch {
		case file.Expect.Unknown:
		case file.Expect.Healthy:
			healthy++
		default:
			broken++
		}
	}
	return broken, healthy, nil
}

// faulty is how many checks have a fault that is put into generated worlds.
func faulty() string {
	ids := map[checkid.ID]bool{}
	for _, f := range worldgen.Faults() {
		ids[f.Check] = true
	}
	return strconv.Itoa(len(ids))
}

// fromTests are what tests hold, and constants by which programs fail: who changes them
// there changes them here.
func fromTests() map[string]value {
	const (
		calls = "shared/gather/gather_test.go"
		tally = "shared/network/address/tally_test.go"
		kills = "functions/eni-cleanup/enicleanup/enicleanup_test.go"
		burst = "stage/relays_test.go"
		each1 = `worlds, kills := testfull\.Of\((\d+), \d+\), testfull\.Of\(\d+, \d+\)`
		each2 = `worlds, kills := testfull\.Of\(\d+, \d+\), testfull\.Of\((\d+), \d+\)`
	)
	look := func(nth string) string {
		return `"AWS calls of a look at 1, 10 and 1,000 instances", \[\]int\{total\(one\), total\(ten\), total\(many\)\}, \[\]int\{` + nth + `\}`
	}
	return map[string]value{
		"launch most":      {file: "stage/demo/route.go", like: `const ownTime = (\d+) \* time\.Second`},
		"calls one":        {file: calls, like: look(`(\d+), \d+, \d+`)},
		"calls ten":        {file: calls, like: look(`\d+, (\d+), \d+`)},
		"calls many":       {file: calls, like: look(`\d+, \d+, (\d+)`)},
		"calls of one":     {file: calls, like: `one, asked := lookAt\(t, (\d+)\)`},
		"calls of ten":     {file: calls, like: `ten, _ := lookAt\(t, (\d+)\)`},
		"calls of many":    {file: calls, like: `many, askedOfMany := lookAt\(t, (\d+)\)`, of: each(most, 0)},
		"burst":            {file: burst, like: `instances := testfull\.Of\((\d+), \d+\)`, of: each(most, 0)},
		"burst few":        {file: burst, like: `instances := testfull\.Of\(\d+, (\d+)\)`},
		"burst messages":   {file: burst, like: `if n := len\(many\.messages\(\)\); n != (\d+) \{`},
		"kills":            {file: kills, like: `worlds, kills := testfull\.Of\((\d+), \d+\), testfull\.Of\((\d+), \d+\)`, of: each(product, 0)},
		"kill worlds":      {file: kills, like: each1},
		"kill each":        {file: kills, like: each2},
		"tally subnets":    {file: tally, like: `func TestTallyEqualsBruteForce[^}]*?for n := range (\d+) \{`, of: each(most, 0)},
		"tally of":         {file: tally, like: `for _, n := range \[\]int\{\d+, (\d+)\}`, of: each(most, 0)},
		"tally few":        {file: tally, like: `for _, n := range \[\]int\{(\d+), \d+\}`, of: each(most, 0)},
		"eval of":          {file: "shared/diagnose/worlds_test.go", like: `for _, n := range \[\]int\{1, 100, ([\d_]+)\}`, of: each(most, 0)},
		"peers worlds":     {file: "tools/bench/peers/peers_test.go", like: `for seed := range uint64\((\d+)\)`},
		"lambda latency":   {file: "tools/bench/lambdatimes/main.go", like: `const latency = (\d+) \* time\.Millisecond`},
		"lambda slack":     {file: "tools/bench/lambdatimes/main.go", like: `const answerWithin = (\d+) \* time\.Second`},
		"scale latency":    {file: "docs/scale.md", like: `AWS and Kubernetes answer after (\d+ ?ms)\.`},
		"outage incidents": {file: "docs/slack.md", like: `(\d+) incidents open in the first`},
	}
}

// fromMachine are of docs/measured.md, and of what else was measured on one machine.
func fromMachine() map[string]value {
	const (
		page      = "docs/measured.md"
		functions = "## Functions"
		benches   = "## Benchmarks"
		lambda    = "docs/lambda.md"
		own       = "## At its own memory"
	)
	cold := func(function string) value {
		return value{file: lambda, under: own, like: `^\| ` + function + ` \|`, column: "cold", of: each(times(0.001), 1)}
	}
	return map[string]value{
		"cores":              {file: page, like: `On (\d+) cores`},
		"launch":             {file: page, like: `^\| play \d+ \|`, column: "from launch event to message, s", of: span(1)},
		"worlds healthy":     {file: page, like: `^\| healthy \|`, column: "worlds", of: each(most, 0)},
		"worlds broken":      {file: page, like: `^\| one fault each \|`, column: "worlds", of: each(most, 0)},
		"package least":      {file: page, under: functions, like: `^\| [a-z-]+ \|`, column: "package, MB", of: each(least, 1)},
		"package most":       {file: page, under: functions, like: `^\| [a-z-]+ \|`, column: "package, MB", of: each(most, 1)},
		"init":               {file: page, under: functions, like: `^\| \*\*all\*\* \|`, column: "process start to first event, ms", of: each(most, 0)},
		"init ninth":         {file: page, under: functions, like: `^\| \*\*all\*\* \|`, column: "nine of ten within", of: each(most, 0)},
		"memory":             {file: page, under: functions, like: `^\| [a-z-]+ \|`, column: "memory, MB", of: span(0)},
		"reflection of":      {file: page, like: "with reflection, `([a-z-]+)`"},
		"reflection":         {file: page, like: "with reflection, `[a-z-]+` is ([\\d.]+) MB", of: each(most, 0)},
		"reflection without": {file: page, like: "with reflection, `[a-z-]+` is [\\d.]+ MB instead of ([\\d.]+)", of: each(most, 0)},
		"start":              {file: page, like: "^\\| `rollcall --version`", column: "ms", of: each(most, 0)},
		"start size":         {file: page, like: "^\\| `rollcall --version`", column: "MB", of: each(most, 0)},
		"eval":               {file: page, under: benches, like: `^\| BenchmarkDiagnose/10000 `, column: "ms", of: each(times(0.001), 1)},
		"tally":              {file: page, under: benches, like: `^\| BenchmarkTally/100000 `, column: "ms", of: each(most, 0)},
		"tally kept":         {file: page, under: benches, like: `^\| BenchmarkTally/`, column: "allocated, KB", of: each(times(1), 0)},
		"tally allocations":  {file: page, under: benches, like: `^\| BenchmarkTally/`, column: "allocations"},
		"lambda press":       cold("slack-actions"),
		"lambda launch":      cold("launch-watch"),
		"lambda join":        cold("join-check"),
		"lambda report":      cold("report"),
		"weak trail":         {file: lambda, under: own, like: `^\| change-check \|`, column: "cold", of: each(times(0.001), 0)},
	}
}

// playing is how long all stories take, in words.
func playing() value {
	return value{file: "docs/measured.md", like: `All stories: ([\d.]+) s`, of: halves}
}
