package settingsfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// File is what a settings file says.
type File struct {
	// Context holds the settings in their one-line form, by key.
	Context map[string]any
	// Tags are those of the stack.
	Tags map[string]string
	// Problems are all that is wrong; most are a Problem.
	Problems []error
	// Positions are where each setting stands, by key.
	Positions map[string]Position
}

// Position is where a setting stands.
type Position struct {
	Line, Column int
	// Place is the name as it is written: "slack.channel".
	Place string
}

// Problem is one thing that is wrong with the file. It never quotes a value, which may be a
// secret in the wrong place.
type Problem struct {
	Position
	Text string
}

func (p Problem) Error() string {
	text := strings.TrimSpace(p.Place + " " + p.Text)
	return fmt.Sprintf("line %d, column %d: %s", p.Line, p.Column, text)
}

// line is that of a problem.
func line(err error) int {
	var p Problem
	errors.As(err, &p)
	return p.Line
}

// most bounds a file, in bytes. Two hundred spokes and their clusters are less.
const most = 1 << 20

// Read gives the settings of a file in their one-line form, the stack's tags, and all that is
// wrong.
func Read(text []byte) (context map[string]any, tags map[string]string, problems []error) {
	f := Decode(text)
	return f.Context, f.Tags, f.Problems
}

// Decode reads a file.
func Decode(text []byte) File {
	d := decoder{File{Context: map[string]any{}, Tags: map[string]string{}, Positions: map[string]Position{}}}
	if len(text) > most {
		d.Problems = append(d.Problems, fmt.Errorf("the file has more than %d bytes", most))
		return d.File
	}
	var document, second yaml.Node
	source := yaml.NewDecoder(bytes.NewReader(text))
	err := source.Decode(&document)
	switch {
	case errors.Is(err, io.EOF):
		return d.File // comments alone
	case err != nil:
		d.Problems = append(d.Problems, fmt.Errorf("this is not YAML: %w%s", err, likely(text)))
		return d.File
	}
	if err := source.Decode(&second); !errors.Is(err, io.EOF) {
		d.refuse(&document, "", "the file has a second document (---): write all settings into one")
	}
	d.top(document.Content[0])
	slices.SortStableFunc(d.Problems, func(a, b error) int { return line(a) - line(b) })
	return d.File
}

// likely points to what most often is not YAML: a tab before a name, and a text that begins
// with a character of YAML's own.
func likely(text []byte) string {
	begins := regexp.MustCompile(`[:\[,-] *([*&%@` + "`" + `])`)
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "\t") {
			return fmt.Sprintf(" (line %d begins with a tab: indent by blanks)", i+1)
		}
		if m := begins.FindStringSubmatch(line); m != nil && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			return fmt.Sprintf(" (line %d: put a text that begins with %s in quotes)", i+1, m[1])
		}
	}
	return ""
}

type decoder struct{ File }

func (d *decoder) refuse(n *yaml.Node, place, format string, values ...any) {
	d.Problems = append(d.Problems, Problem{Position{n.Line, n.Column, place}, fmt.Sprintf(format, values...)})
}

// top reads sections, settings by their keys, and the stack's tags.
func (d *decoder) top(root *yaml.Node) {
	if root.Kind != yaml.MappingNode {
		if !isNull(root) {
			d.refuse(root, "", "the file is not a mapping: write each setting as name: value")
		}
		return
	}
	list, _ := d.pairs(root, "")
	for _, p := range list {
		switch r, known := find(p.name); {
		case p.name == stackTags:
			d.tags(p)
		case known:
			d.setting(r, p.name, p)
		case slices.Contains(sections(), p.name):
			d.section(p)
		default:
			d.unknown(p, "", slices.Concat(sections(), keys(), []string{stackTags}))
		}
	}
}

func (d *decoder) section(p entry) {
	if p.value.Kind != yaml.MappingNode {
		if d.plain(p.value, p.name) && !isNull(p.value) {
			d.refuse(p.value, p.name, "is a section: write its settings below it, indented (%s)", strings.Join(within(p.name), ", "))
		}
		return
	}
	list, _ := d.pairs(p.value, p.name)
	for _, inner := range list {
		place := p.name + "." + inner.name
		if r, ok := findPlace(place); ok {
			d.setting(r, place, inner)
		} else {
			d.unknown(inner, p.name, within(p.name))
		}
	}
}

// setting reads one setting, in its place or by its key.
func (d *decoder) setting(r row, place string, p entry) {
	if first, twice := d.Positions[r.key]; twice {
		d.refuse(p.key, place, "is set in line %d already, as %s", first.Line, first.Place)
		return
	}
	d.Positions[r.key] = Position{p.key.Line, p.key.Column, place}
	v, ok := d.read(r.shape, p.value, place)
	switch {
	case !ok:
	case v.text != "":
		d.Context[r.key] = v.text
	default:
		d.Context[r.key] = r.line(v)
	}
}

// line is the one-line form of a list or a mapping. Items that are mappings become texts first.
func (s shape) line(v value) string {
	for i, item := range v.items {
		if item.text == "" && s.item.join != nil {
			v.items[i].text = s.item.join(item)
		}
	}
	return s.join(v)
}

// unknown refuses a name that is none, and says which one is probably meant.
func (d *decoder) unknown(p entry, section string, known []string) {
	place := strings.TrimPrefix(section+"."+p.name, ".")
	if r, ok := find(p.name); ok {
		d.refuse(p.key, place, "is not the place of this setting: write it as %s", r.nested())
		return
	}
	for _, r := range rows() {
		if _, name, _ := strings.Cut(r.place, "."); name == p.name {
			d.refuse(p.key, place, "is not the place of this setting: write it as %s", r.nested())
			return
		}
	}
	if meant := Nearest(p.name, known); meant != "" {
		d.refuse(p.key, place, "is not a setting of Rollcall; did you mean %s?", meant)
		return
	}
	if meant := Nearest(p.name, keys()); meant != "" {
		r, _ := find(meant)
		d.refuse(p.key, place, "is not a setting of Rollcall; did you mean %s?", r.nested())
		return
	}
	where := "at the top are " + strings.Join(append(sections(), "clusters", stackTags), ", ") + " (docs/settings.md)"
	if section != "" {
		where = section + " has " + strings.Join(known, ", ")
	}
	d.refuse(p.key, place, "is not a setting of Rollcall; %s", where)
}

// nested is a setting's place as it is written in a file.
func (r row) nested() string {
	section, name, ok := strings.Cut(r.place, ".")
	if !ok {
		return r.place + ": …"
	}
	return section + ": {" + name + ": …}"
}

// ownTag is what the stack tags its resources with itself (package settings, TagKey).
const ownTag = "Application"

// mostTags is CloudFormation's limit (API reference, CreateStack, Tags).
const mostTags = 50

func (d *decoder) tags(p entry) {
	v, ok := d.read(tags(), p.value, p.name)
	if !ok {
		return
	}
	for _, tag := range v.pairs {
		// IAM's tag keys do not differ by capitals (user guide, "Rules for tagging in IAM and AWS STS").
		for other := range d.Tags {
			if strings.EqualFold(other, tag.name) {
				d.refuse(p.value, p.name+"."+tag.name, "differs from %s by capitals alone, which IAM takes for the same tag", other)
			}
		}
		switch {
		case strings.EqualFold(tag.name, ownTag):
			d.refuse(p.value, p.name+"."+tag.name, "is the stack's own tag, by which its costs and access entries are found: take it out")
		case strings.HasPrefix(strings.ToLower(tag.name), "aws:"):
			d.refuse(p.value, p.name+"."+tag.name, "begins with aws:, which is reserved for AWS")
		default:
			d.Tags[tag.name] = tag.value.text
		}
	}
	if len(d.Tags) > mostTags {
		d.refuse(p.value, p.name, "has %d tags, and a stack takes %d", len(d.Tags), mostTags)
	}
}

// read reads a value of a form.
func (d *decoder) read(s shape, n *yaml.Node, place string) (value, bool) {
	if !d.plain(n, place) {
		return value{}, false
	}
	switch {
	case n.Kind == yaml.ScalarNode:
		text, wrong := s.scalar(n)
		if wrong != "" {
			d.refuse(n, place, "%s", wrong)
		}
		return value{text: text}, wrong == ""
	case len(n.Content) == 0:
		d.refuse(n, place, "is empty: write %s, or take the line out", s.want())
		return value{}, false
	case n.Kind == yaml.SequenceNode && s.item != nil:
		return d.list(s, n, place)
	case n.Kind == yaml.MappingNode && len(s.fields) > 0:
		return d.record(s, n, place)
	case n.Kind == yaml.MappingNode && s.name != nil:
		return d.table(s, n, place)
	}
	kind := "mapping"
	if n.Kind == yaml.SequenceNode {
		kind = "list"
	}
	d.refuse(n, place, "is a %s: write %s", kind, s.want())
	return value{}, false
}

// plain refuses what only YAML has. Other readers of the file (Terraform's among them) know
// less of it.
func (d *decoder) plain(n *yaml.Node, place string) bool {
	switch {
	case n.Kind == yaml.AliasNode:
		d.refuse(n, place, "is an alias (*%s): write the value out, or put it in quotes if it is a text", n.Value)
	case n.Anchor != "":
		d.refuse(n, place, "has an anchor (&%s): take it out, or put the text in quotes if it begins with &", n.Anchor)
	case n.Style&yaml.TaggedStyle != 0:
		d.refuse(n, place, "has a tag of YAML's (%s): take it out, or put the text in quotes if it begins with an exclamation mark", n.Tag)
	default:
		return true
	}
	return false
}

func (d *decoder) list(s shape, n *yaml.Node, place string) (value, bool) {
	var v value
	good := true
	for i, item := range n.Content {
		one, ok := d.read(*s.item, item, fmt.Sprintf("%s[%d]", place, i))
		v.items = append(v.items, one)
		good = good && ok
	}
	return v, good
}

// record reads a mapping with fixed names.
func (d *decoder) record(s shape, n *yaml.Node, place string) (value, bool) {
	var v value
	list, good := d.pairs(n, place)
	for _, p := range list {
		i := slices.IndexFunc(s.fields, func(f field) bool { return f.name == p.name })
		if i < 0 {
			d.strayField(s, p, place)
			good = false
			continue
		}
		one, ok := d.read(s.fields[i].shape, p.value, place+"."+p.name)
		v.pairs = append(v.pairs, pair{p.name, one})
		good = good && ok
	}
	has := func(name string) bool { return slices.ContainsFunc(list, func(p entry) bool { return p.name == name }) }
	wrong := func(format string, values ...any) {
		d.refuse(n, place, format, values...)
		good = false
	}
	for _, f := range s.fields {
		if f.must && !has(f.name) {
			wrong("has no %s: write %s", f.name, f.shape.want())
		}
		if other := s.needs[f.name]; other != "" && has(f.name) && !has(other) {
			wrong("has %s, which needs %s too", f.name, other)
		}
	}
	if len(s.one) > 0 && !slices.ContainsFunc(s.one, has) {
		wrong("has neither %s: write one of them", strings.Join(s.one, " nor "))
	}
	if len(s.apart) > 0 && !slices.ContainsFunc(s.apart, func(name string) bool { return !has(name) }) {
		wrong("has %s: write one of them", strings.Join(s.apart, " and "))
	}
	return v, good
}

func (d *decoder) strayField(s shape, p entry, place string) {
	var names []string
	for _, f := range s.fields {
		names = append(names, f.name)
	}
	if meant := Nearest(p.name, names); meant != "" {
		d.refuse(p.key, place+"."+p.name, "is not known here; did you mean %s?", meant)
		return
	}
	d.refuse(p.key, place+"."+p.name, "is not known here: write %s", strings.Join(names, ", "))
}

// table reads a mapping with free names.
func (d *decoder) table(s shape, n *yaml.Node, place string) (value, bool) {
	var v value
	list, good := d.pairs(n, place)
	for _, p := range list {
		if _, wrong := s.name.scalar(p.key); wrong != "" {
			d.refuse(p.key, place, "has the name %s, which %s", p.name, wrong)
			good = false
		}
		one, ok := d.read(*s.value, p.value, place+"."+p.name)
		v.pairs = append(v.pairs, pair{p.name, one})
		good = good && ok
	}
	return v, good
}

type entry struct {
	name       string
	key, value *yaml.Node
}

// pairs are those of a mapping, each name once; not ok if there is something else.
func (d *decoder) pairs(n *yaml.Node, place string) (list []entry, ok bool) {
	ok = d.plain(n, place)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !d.plain(key, place) {
			ok = false
			continue
		}
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			d.refuse(key, place, "has a list, a mapping or a merge key (<<) where a name is wanted: write name: value")
			ok = false
			continue
		}
		if first := slices.IndexFunc(list, func(e entry) bool { return e.name == key.Value }); first >= 0 {
			d.refuse(key, strings.TrimPrefix(place+"."+key.Value, "."), "is in line %d already: write it once", list[first].key.Line)
			ok = false
			continue
		}
		list = append(list, entry{key.Value, key, value})
	}
	return list, ok
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

const (
	digits   = `0|[1-9][0-9]{0,17}`
	wholeRow = `\S(.*\S)?`
)

// scalar reads a text or a number, and says what is wrong with it. What YAML 1.1 or 1.2 reads
// as something else than a text is one only in quotes, so that every reader sees the same.
func (s shape) scalar(n *yaml.Node) (text, wrong string) {
	write := ": write " + s.want()
	if s.number && len(n.Value) > 1 && n.Value[0] == '0' {
		write += ", without a zero before it"
	}
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		switch {
		case n.Tag == "!!null":
			return "", "has no value" + write + ", or take the line out"
		case isSwitch(n.Value) && slices.Contains(s.words, switchWord(n.Value)):
			return switchWord(n.Value), ""
		case n.Tag == "!!int" && s.number:
			number, err := strconv.Atoi(n.Value)
			if err != nil || !matches(digits, n.Value) || number < s.least || number > s.most {
				return "", "is not valid" + write
			}
			return n.Value, ""
		case n.Value == "0" && s.zero:
			return n.Value, ""
		case notText(n) != "" && s.free():
			return "", "is " + notText(n) + " to YAML: put it in quotes"
		case notText(n) != "":
			return "", "is " + notText(n) + " to YAML" + write
		}
	}
	switch {
	case slices.Contains(s.words, n.Value):
	case !s.free() && Nearest(n.Value, s.words) != "":
		return "", "is not valid; did you mean " + Nearest(n.Value, s.words) + "?"
	case s.item != nil && s.part:
		return s.item.scalar(n)
	case !matches(s.text(), n.Value):
		return "", "is not valid" + write
	}
	return n.Value, ""
}

// sexagesimal is how YAML 1.1 writes a number of base 60: 1:30 is 90 (yaml.org/type/int.html).
const sexagesimal = `[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?`

// notText is what YAML 1.1 or 1.2 takes a value without quotes for; "" for a text.
func notText(n *yaml.Node) string {
	switch {
	case isSwitch(n.Value):
		return "true or false"
	case n.Tag == "!!int", n.Tag == "!!float", matches(sexagesimal, n.Value):
		return "a number"
	case n.Tag == "!!timestamp":
		return "a date"
	case n.Tag != "!!str":
		return "not a text"
	}
	return ""
}

// isSwitch reports whether YAML 1.1 reads a text as true or false (yaml.org/type/bool.html).
func isSwitch(text string) bool {
	return slices.Contains([]string{"y", "n", "yes", "no", "on", "off", "true", "false"}, strings.ToLower(text))
}

// switchWord is on or off where YAML 1.1 or 1.2 reads one of them as true or false, or the text.
func switchWord(text string) string {
	switch text {
	case "true":
		return "on"
	case "false":
		return "off"
	}
	return text
}

// free reports whether a form takes any text, or any text of a pattern.
func (s shape) free() bool {
	return !s.number && s.pattern != durationPattern && s.text() != ""
}

// text is the pattern of the texts of a form, beside its words; "" for none.
func (s shape) text() string {
	switch {
	case s.pattern != "":
		return s.pattern
	case s.number:
		return digits
	case s.part && (s.item != nil || s.name != nil || len(s.fields) > 0), len(s.words) > 0 && !s.open:
		return ""
	}
	return wholeRow
}

// want says what can be written.
func (s shape) want() string {
	var list []string
	switch {
	case s.what != "":
		list = append(list, s.what)
	case s.number:
		list = append(list, fmt.Sprintf("a whole number from %d to %d", s.least, s.most))
	}
	if s.zero {
		list = append(list, "0")
	}
	list = append(list, s.words...)
	if s.item != nil {
		list = append(list, "a list (each item "+s.item.want()+")")
	}
	if len(s.fields) > 0 {
		var names []string
		for _, f := range s.fields {
			names = append(names, f.name)
		}
		list = append(list, "a mapping of "+strings.Join(names, ", "))
	}
	if s.name != nil {
		list = append(list, "a mapping (each name "+s.name.want()+")")
	}
	if s.what == "" && s.text() == wholeRow {
		list = append(list, "a text in one line, without blanks around it")
	}
	return strings.Join(list, ", or ")
}

// matches reports whether a text is of a pattern as a whole; of no pattern it never is.
func matches(pattern, text string) bool {
	return pattern != "" && regexp.MustCompile(`^(?:`+pattern+`)$`).MatchString(text)
}

// find is the row of a key.
func find(key string) (row, bool) {
	return first(func(r row) bool { return r.key == key })
}

func findPlace(place string) (row, bool) {
	return first(func(r row) bool { return r.place == place })
}

func first(is func(row) bool) (row, bool) {
	all := rows()
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], true
	}
	return row{}, false
}

// keys are those of all settings.
func keys() []string {
	var list []string
	for _, r := range rows() {
		list = append(list, r.key)
	}
	return list
}

// sections are the names at the top level that hold settings.
func sections() []string {
	var list []string
	for _, r := range rows() {
		if name, _, ok := strings.Cut(r.place, "."); ok && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// within are the names of a section.
func within(section string) []string {
	var list []string
	for _, r := range rows() {
		if name, ok := strings.CutPrefix(r.place, section+"."); ok {
			list = append(list, name)
		}
	}
	return list
}

// Place is where a setting stands in the file, by its key; "" for what is no setting.
func Place(key string) string {
	r, _ := find(key)
	return r.place
}

// Nearest is the known word that a misspelt one is most likely meant to be, or none if it is
// like none of them. Capitals do not count.
func Nearest(word string, known []string) string {
	best, least := "", 0
	for _, k := range known {
		d := distance(strings.ToLower(word), strings.ToLower(k))
		// A third of the letters may be wrong: "joinTme", "cluster", "retentionDays" is too far.
		if most := max(1, len(k)/3); d <= most && (best == "" || d < least) {
			best, least = k, d
		}
	}
	return best
}

// distance is how many letters must be put in, taken out, changed, or swapped with the next
// one, to make b of a (optimal string alignment).
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	rows := make([][]int, len(from)+1)
	for i := range rows {
		rows[i] = make([]int, len(to)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(from); i++ {
		for j := 1; j <= len(to); j++ {
			cost := 1
			if from[i-1] == to[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(from)][len(to)]
}
