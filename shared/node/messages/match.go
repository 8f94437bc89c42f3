package messages

import "strings"

// Phrases finds which of many phrases a text holds, in one pass over the text however
// many there are: an automaton (Aho and Corasick, 1975) whose nodes are the phrases'
// begins.
type Phrases struct {
	nodes []node
	root  [256]int32
	count int
}

// node is a begin of phrases. Children are a list: most have one.
type node struct {
	child, next int32 // the first child, the next child of the same parent
	fail        int32 // the longest end of this begin that is a begin itself
	hit         int32 // the nearest node, along fail, at which phrases end
	ends        []int32
	b           byte
}

// New takes phrases, none of them empty; what it finds are their places.
func New(phrases []string) *Phrases {
	a := &Phrases{nodes: make([]node, 1, 16<<10), count: len(phrases)}
	for i, phrase := range phrases {
		at := int32(0)
		for _, b := range []byte(phrase) {
			to := a.step(at, b)
			if to == 0 {
				to = int32(len(a.nodes))
				a.nodes = append(a.nodes, node{b: b, next: a.nodes[at].child})
				a.nodes[at].child = to
				if at == 0 {
					a.root[b] = to
				}
			}
			at = to
		}
		a.nodes[at].ends = append(a.nodes[at].ends, int32(i))
	}
	queue := []int32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for c := a.nodes[at].child; c != 0; c = a.nodes[c].next {
			if at != 0 {
				a.nodes[c].fail = a.follow(a.nodes[at].fail, a.nodes[c].b)
			}
			if a.nodes[c].hit = a.nodes[a.nodes[c].fail].hit; len(a.nodes[c].ends) > 0 {
				a.nodes[c].hit = c
			}
			queue = append(queue, c)
		}
	}
	return a
}

// step is the child of a node by a byte; 0 where there is none.
func (a *Phrases) step(at int32, b byte) int32 {
	if at == 0 {
		return a.root[b]
	}
	c := a.nodes[at].child
	for c != 0 && a.nodes[c].b != b {
		c = a.nodes[c].next
	}
	return c
}

// follow is where a byte leads from a node.
func (a *Phrases) follow(at int32, b byte) int32 {
	for {
		if to := a.step(at, b); to != 0 || at == 0 {
			return to
		}
		at = a.nodes[at].fail
	}
}

// Find says of each phrase whether the text holds it.
func (a *Phrases) Find(text string) []bool {
	found := make([]bool, a.count)
	at := int32(0)
	for i := range len(text) {
		at = a.follow(at, text[i])
		for n := a.nodes[at].hit; n != 0; n = a.nodes[a.nodes[n].fail].hit {
			for _, phrase := range a.nodes[n].ends {
				found[phrase] = true
			}
		}
	}
	return found
}

// Index finds which of many lists have a phrase in a text, in one pass over it. Lists are
// in groups: of rows, of ways to fail, of programs.
type Index struct {
	phrases *Phrases
	places  [][][]int
}

// NewIndex takes groups of lists of phrases. Of a phrase with gaps its first part is looked for.
func NewIndex(groups ...[][]string) Index {
	x := Index{places: make([][][]int, len(groups))}
	var phrases []string
	known := map[string]int{}
	for g, lists := range groups {
		for _, list := range lists {
			var places []int
			for _, phrase := range list {
				phrase, _, _, _ = cut(phrase)
				place, ok := known[phrase]
				if !ok {
					place = len(phrases)
					known[phrase] = place
					phrases = append(phrases, phrase)
				}
				places = append(places, place)
			}
			x.places[g] = append(x.places[g], places)
		}
	}
	x.phrases = New(phrases)
	return x
}

// Found is what an Index found in a text.
type Found struct {
	index Index
	found []bool
}

// Find looks for all phrases in a text.
func (x Index) Find(text string) Found { return Found{x, x.phrases.Find(text)} }

// Any reports whether a phrase of a list is in the text. An empty list has none.
func (f Found) Any(group, list int) bool {
	for _, place := range f.index.places[group][list] {
		if f.found[place] {
			return true
		}
	}
	return false
}

// Gap stands in a phrase for what may be between its parts. A gap with a name, "{flag}", is
// one word of which the answer has the value.
const Gap = "…"

// Value is what stands in a text at a named gap.
type Value struct{ Name, Value string }

// cut parts a phrase at its first gap; the name is empty for one without.
func cut(phrase string) (part, name, rest string, more bool) {
	part, rest, more = strings.Cut(phrase, Gap)
	if before, after, ok := strings.Cut(part, "{"); ok && !strings.HasPrefix(after, "{") { // "{{" is of a user name's form
		name, rest, _ = strings.Cut(phrase[len(before)+1:], "}")
		return before, name, rest, true
	}
	return part, "", rest, more
}

// Contains reports whether the parts of a phrase follow each other in a text, each at most
// gap bytes behind the one before: in a sentence, not over a whole log.
func Contains(text, phrase string, gap int) bool {
	_, ok := find(text, phrase, gap, nil)
	return ok
}

// find is where a phrase ends in a text, at its first place from which rest holds too.
func find(text, phrase string, gap int, rest func(end int) bool) (values []Value, ok bool) {
	first, _, _, _ := cut(phrase)
	for from := 0; ; from++ {
		at := strings.Index(text[from:], first)
		if at < 0 {
			return nil, false
		}
		from += at
		if end, values, ok := follows(text[from:], phrase, gap); ok && (rest == nil || rest(from+end)) {
			return values, true
		}
	}
}

// follows is where a phrase ends that a text begins with.
func follows(text, phrase string, gap int) (end int, values []Value, ok bool) {
	named := ""
	for i := 0; ; i++ {
		part, name, rest, more := cut(phrase)
		at := strings.Index(text[end:min(len(text), end+gap+len(part))], part)
		if named != "" && part == "" {
			at = wordEnd(text[end:])
		}
		if at < 0 || i == 0 && at > 0 {
			return 0, nil, false
		}
		if named != "" {
			value := text[end : end+at]
			if value = value[:wordEnd(value)]; value == "" || len(value) < at {
				return 0, nil, false
			}
			values = append(values, Value{named, strings.TrimRight(value, ".,:;")})
		}
		end += at + len(part)
		if !more {
			return end, values, true
		}
		phrase, named = rest, name
	}
}

// wordEnd is where the word ends that a text begins with.
func wordEnd(text string) int {
	if i := strings.IndexAny(text, " ,;()[]\"'\t\n"); i >= 0 {
		return i
	}
	return len(text)
}

// Match is what a text, in lower case, has of a row's words: one of each choice, each close
// behind the one before, and none of those that may not be there.
func (r Row) Match(low string, gap int) (values []Value, ok bool) {
	if values, ok = choices(low, r.All, gap); !ok {
		return nil, false
	}
	for _, phrase := range r.None {
		if Contains(low, phrase, gap) {
			return nil, false
		}
	}
	return values, true
}

func choices(low string, all [][]string, gap int) (values []Value, ok bool) {
	if len(all) == 0 {
		return nil, true
	}
	for _, phrase := range all[0] {
		var behind []Value
		values, ok := find(low, phrase, gap, func(end int) (ok bool) {
			behind, ok = choices(low[end:min(len(low), end+gap*2)], all[1:], gap)
			return ok
		})
		if ok {
			return append(values, behind...), true
		}
	}
	return nil, false
}
