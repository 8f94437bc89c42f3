// Package match finds which of many phrases a text holds. It is the one matcher of
// consoles, of status messages and of what people paste.
package match

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

// Gap stands in a phrase for what may be between its parts.
const Gap = "…"

// Says reports whether the parts of a phrase follow each other in a text, each at most
// gap bytes behind the one before: in a sentence, not over a whole log.
func Says(text, phrase string, gap int) bool {
	first, _, _ := strings.Cut(phrase, Gap)
	for from := 0; ; from++ {
		at := strings.Index(text[from:], first)
		if at < 0 {
			return false
		}
		from += at
		if _, ok := Follows(text[from:], phrase, gap); ok {
			return true
		}
	}
}

// Follows is where a phrase ends that a text begins with.
func Follows(text, phrase string, gap int) (end int, ok bool) {
	for i := 0; ; i++ {
		part, rest, more := strings.Cut(phrase, Gap)
		at := strings.Index(text[end:min(len(text), end+gap+len(part))], part)
		if at < 0 || i == 0 && at > 0 {
			return 0, false
		}
		end += at + len(part)
		if !more {
			return end, true
		}
		phrase = rest
	}
}
