package messagecheck

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// claim is a form in which messages say numbers, and what holds them.
type claim struct {
	form *regexp.Regexp // its groups are the numbers
	// holds is what is otherwise; empty where all is as the message says.
	holds func(said) string
}

// said is where a claim is met.
type said struct {
	facts *Facts
	m     []string // what its form found
	lines []Line   // of the message
}

// apart is what is not between words.
const apart = "[^\\s\\p{Z}()\\[\\]{}\"'“”`→×+;=]"

var (
	// word is one that a reader takes for a fact.
	word       = regexp.MustCompile(apart + `*\d` + apart + `*`)
	bareNumber = regexp.MustCompile(`^\$?\d[\d,]*(?:\.\d+)?%?$`)
	clock      = regexp.MustCompile(`^\d{2}:\d{2}(?::\d{2})?$`)
)

// Unheld are the numbers, times and names with a digit in a message that nothing holds, and
// those that are otherwise than what was answered; held is how many are as they should be.
// A name holds where an answer has it, a time where an answer has that minute, and a bare
// number, which would be found in any answer, only by a claim or in the words of a quotation.
func (f *Facts) Unheld(blocks []byte) (found []string, held int, err error) {
	lines, err := Read(blocks)
	if err != nil {
		return nil, 0, err
	}
	for _, l := range lines {
		if l.Copied {
			continue
		}
		claimed, wrong := f.claimed(l.Text, lines)
		found = append(found, wrong...)
		for _, at := range word.FindAllStringIndex(l.Text, -1) {
			from, to := trimmed(l.Text, at[0], at[1])
			w := l.Text[from:to]
			switch {
			case covered(claimed, from, to):
			case clock.MatchString(w) && (f.minutes[w] || f.Now.Format("15:04") == w):
			case !clock.MatchString(w) && !bareNumber.MatchString(w) && f.names(w):
			case strings.HasPrefix(l.Text[to:], "…") && f.says(w): // it is cut
			case f.quotes(l.Text, from, to):
			default:
				found = append(found, fmt.Sprintf("%s: nothing holds %q in %q", l.Label, w, around(l.Text, from, to)))
				continue
			}
			held++
		}
	}
	return found, held, nil
}

// span is where a number stands in a line.
type span struct{ from, to int }

func covered(claimed []span, from, to int) bool {
	return slices.ContainsFunc(claimed, func(s span) bool { return s.from <= from && to <= s.to })
}

// claimed is where claims hold numbers of a line.
func (f *Facts) claimed(text string, lines []Line) (list []span, wrong []string) {
	for _, c := range f.claims {
		for _, at := range c.form.FindAllStringSubmatchIndex(text, -1) {
			var m []string
			fresh := false
			for n := 0; n < len(at); n += 2 {
				if at[n] < 0 {
					m = append(m, "")
					continue
				}
				m = append(m, text[at[n]:at[n+1]])
				fresh = fresh || n > 0 && !covered(list, at[n], at[n+1])
			}
			if !fresh {
				continue
			}
			if is := c.holds(said{f, m, lines}); is != "" {
				wrong = append(wrong, fmt.Sprintf("%q, and %s", m[0], is))
			}
			for n := 2; n < len(at); n += 2 {
				if at[n] >= 0 {
					list = append(list, span{at[n], at[n+1]})
				}
			}
		}
	}
	return list, wrong
}

// quotes tells that the word stands among the same words in an answer: three before it, or
// three after it.
func (f *Facts) quotes(text string, from, to int) bool {
	before, after := strings.Fields(text[:from]), strings.Fields(text[to:])
	w := text[from:to]
	if n := len(before); n >= 3 && f.says(strings.Join(before[n-3:], " ")+" "+w) {
		return true
	}
	return len(after) >= 3 && (f.says(w+" "+strings.Join(after[:3], " ")) || f.says(w+strings.Join(after[:3], " ")))
}

// trimmed leaves out the marks around a word.
func trimmed(text string, from, to int) (int, int) {
	w := strings.TrimLeft(text[from:to], ".,:*_<>")
	from = to - len(w)
	w = strings.TrimRight(w, ".,:*_<>…")
	return from, from + len(w)
}

func around(text string, from, to int) string {
	return strings.ToValidUTF8(text[max(0, from-40):min(len(text), to+40)], "")
}
