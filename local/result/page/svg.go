package page

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// The measures of a drawing, in CSS pixels at its natural size. An id has 24
// characters, of 7.3 pixels in a 12 pixel monospaced font.
const (
	boxWidth  = 196
	boxHeight = 46
	gapX      = 70
	gapY      = 18
	margin    = 10
	lineStep  = 15
	// named is how many subnets a box names.
	named = 4
	// wide is how many characters fit into a box.
	wide = 27
)

// place is a box of the drawing: a hop that ways share, with what comes after it.
type place struct {
	lines []string
	row   string // written on the line that leads here
	class State
	ends  bool
	next  []*place
	id    string
	// x and y are the box's middle on its left side.
	x, y, height int
	why          string
}

// SVG draws a diagram: subnets, route table, hops and services from left to right.
func (d Diagram) SVG() template.HTML {
	root := d.tree()
	depth := root.depth()
	bottom := root.set(margin, margin, margin+(depth-1)*(boxWidth+gapX))
	width := 2*margin + depth*boxWidth + (depth-1)*gapX
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="way" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`, width, bottom+margin, width, bottom+margin, template.HTMLEscapeString(d.Label()))
	root.draw(&b)
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// Label tells a diagram in words, for those who do not see it.
func (d Diagram) Label() string {
	var list []string
	for _, w := range d.Ways {
		what := map[State]string{Reaches: "reached", Stops: "not reached", Unseen: "cannot be seen"}[w.State]
		text := strings.Join(w.Services, ", ") + ": " + what
		if w.Why != "" {
			text += ", " + w.Why
		}
		list = append(list, text)
	}
	return "From " + strings.Join(d.Subnets, ", ") + ". " + strings.Join(list, ". ") + "."
}

// tree joins the ways where they begin alike.
func (d Diagram) tree() *place {
	root := &place{class: Reaches}
	for i, id := range d.Subnets {
		if i == named && len(d.Subnets) > named+1 {
			root.lines = append(root.lines, fmt.Sprintf("and %d more", len(d.Subnets)-named))
			break
		}
		root.lines = append(root.lines, id)
	}
	for _, id := range append(d.accused(d.Subnets...), d.groups()...) {
		root.lines, root.class = append(root.lines, "✗ "+id), Stops
	}
	for _, w := range d.Ways {
		at, row := root, ""
		for n, h := range w.Hops {
			at = at.to(h, row, d)
			row = h.Row
			if n == len(w.Hops)-1 {
				at.class = worse(at.class, w.State)
			}
		}
		end := &place{lines: wrapped(ending(w.State)+" "+strings.Join(w.Services, ", "), wide), row: row, class: w.State, ends: true, why: w.Why}
		end.lines = append(end.lines, w.Means)
		at.next = append(at.next, end)
	}
	for _, n := range root.next {
		n.spread()
	}
	return root
}

// groups are the accused security groups: those of the nodes.
func (d Diagram) groups() []string {
	return slices.DeleteFunc(slices.Clone(d.Accused), func(id string) bool { return !strings.HasPrefix(id, "sg-") })
}

// ending is what stands before the services: not everybody sees the colours.
func ending(s State) string {
	return map[State]string{Reaches: "✓", Stops: "✗", Unseen: "?"}[s]
}

// to is the place of a hop, which ways that came this far share.
func (p *place) to(h Hop, row string, d Diagram) *place {
	for _, n := range p.next {
		if n.id == h.ID && n.row == row && !n.ends {
			return n
		}
	}
	next := &place{id: h.ID, row: row, class: Reaches, lines: []string{h.ID}}
	if h.Note != "" {
		next.lines = append(next.lines, h.Note)
	} else if h.ID == d.Table && d.Main {
		next.lines = append(next.lines, "main table")
	}
	next.lines = append(next.lines, h.Via...)
	for _, id := range d.accused(h.Via...) {
		next.lines, next.class = append(next.lines, "✗ "+id), Stops
	}
	p.next = append(p.next, next)
	return next
}

// worse is the worse of two states.
func worse(a, b State) State {
	if a == Stops || b == Stops {
		return Stops
	}
	if a == Unseen || b == Unseen {
		return Unseen
	}
	return Reaches
}

// spread makes a place that no way ends at green where something beyond it is reached.
func (p *place) spread() {
	for _, n := range p.next {
		n.spread()
	}
	for _, n := range p.next {
		if !p.ends && n.class == Reaches {
			if p.class != Stops {
				p.class = Reaches
			}
		}
	}
}

func (p *place) depth() int {
	deepest := 0
	for _, n := range p.next {
		deepest = max(deepest, n.depth())
	}
	return deepest + 1
}

// set gives each box its place, services that of the last column, and returns where
// the next one below may begin.
func (p *place) set(x, top, last int) int {
	for i, line := range p.lines {
		p.lines[i] = short(line)
	}
	if p.ends {
		x = last
	}
	p.x, p.height = x, max(boxHeight, 14+lineStep*len(p.lines))
	if len(p.next) == 0 {
		p.y = top + p.height/2
		bottom := top + p.height
		if p.why != "" {
			bottom += lineStep * len(wrapped(p.why, wide+4))
		}
		return bottom + gapY
	}
	at := top
	for _, n := range p.next {
		at = n.set(x+boxWidth+gapX, at, last)
	}
	p.y = (p.next[0].y + p.next[len(p.next)-1].y) / 2
	// A box that is higher than what comes after it.
	if over := top + p.height/2 - p.y; over > 0 {
		p.y += over
		at = max(at, top+p.height+gapY)
	}
	return at
}

func (p *place) draw(b *strings.Builder) {
	for _, n := range p.next {
		x1, x2 := p.x+boxWidth, n.x
		// Straight on past the columns that it passes: they are empty in its row.
		bend := x1 + gapX
		fmt.Fprintf(b, `<path class="%s" d="M%d %d C%d %d %d %d %d %d L%d %d"/>`, n.leads(), x1, p.y, x1+gapX/2, p.y, bend-gapX/2, n.y, bend, n.y, x2, n.y)
		if n.row != "" {
			fmt.Fprintf(b, `<text class="row" x="%d" y="%d">%s</text>`, bend-6, n.y-6, template.HTMLEscapeString(short(n.row)))
		}
	}
	fmt.Fprintf(b, `<g class="%s"><rect x="%d" y="%d" width="%d" height="%d" rx="6"/>`, p.class, p.x, p.y-p.height/2, boxWidth, p.height)
	for i, line := range p.lines {
		y := p.y + 4 + lineStep*i - lineStep*(len(p.lines)-1)/2
		class := ""
		if i > 0 && p.id != "" || p.ends && i == len(p.lines)-1 {
			class = ` class="note"`
		}
		fmt.Fprintf(b, `<text%s x="%d" y="%d">%s</text>`, class, p.x+10, y, template.HTMLEscapeString(line))
	}
	if p.why != "" {
		for i, line := range wrapped(p.why, wide+4) {
			fmt.Fprintf(b, `<text class="why" x="%d" y="%d">%s</text>`, p.x+2, p.y+p.height/2+13+lineStep*i, template.HTMLEscapeString(line))
		}
	}
	b.WriteString(`</g>`)
	for _, n := range p.next {
		n.draw(b)
	}
}

// leads is the colour of the line to a place: what comes after it counts too.
func (p *place) leads() State {
	if len(p.next) == 0 {
		return p.class
	}
	s := p.class
	for _, n := range p.next {
		switch n.leads() {
		case Reaches:
			return Reaches
		case Unseen:
			s = Unseen
		}
	}
	return s
}

// short cuts a line to what fits into a box.
func short(s string) string {
	if r := []rune(s); len(r) > wide {
		return string(r[:wide-1]) + "…"
	}
	return s
}

// wrapped breaks a sentence into lines of some characters at most; a longer word has
// a line of its own.
func wrapped(s string, most int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && len(line)+1+len(word) > most {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
