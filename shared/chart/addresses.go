package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"
	"time"

	"rollcall/shared/node/spot"
	"rollcall/shared/snapshot"
)

// mostLines is how many subnets can be told apart.
const mostLines = 3

// subnetLine is what a subnet had, in the order of time.
type subnetLine struct {
	subnet  string
	samples []snapshot.Sample
}

// subnetLines are the subnets to draw: those with the worst bursts first.
func subnetLines(r spot.Report, samples []snapshot.Sample) []subnetLine {
	byID := map[string][]snapshot.Sample{}
	for _, s := range samples {
		if !s.At.Before(r.From) && !s.At.After(r.To) {
			byID[s.Subnet] = append(byID[s.Subnet], s)
		}
	}
	rank := map[string]int{}
	for i, b := range r.Bursts {
		if _, known := rank[b.Subnet]; !known {
			rank[b.Subnet] = i - len(r.Bursts)
		}
	}
	var list []subnetLine
	for id, s := range byID {
		slices.SortStableFunc(s, func(a, b snapshot.Sample) int { return a.At.Compare(b.At) })
		list = append(list, subnetLine{id, s})
	}
	slices.SortFunc(list, func(a, b subnetLine) int {
		return cmp.Or(cmp.Compare(rank[a.subnet], rank[b.subnet]), cmp.Compare(lowest(a), lowest(b)), cmp.Compare(a.subnet, b.subnet))
	})
	return list
}

func lowest(l subnetLine) int {
	least := l.samples[0].Free
	for _, s := range l.samples {
		least = min(least, s.Free)
	}
	return least
}

func lineColours() []color.Color { return []color.Color{rgb(0x0072B2), rgb(0x009E73), rgb(0x5A3E99)} }

// addresses draws the subnets' free addresses, and what the bursts asked for, in
// the time in which something happened.
func addresses(c *canvas, b box, r spot.Report, lines []subnetLine) {
	shown := lines[:min(len(lines), mostLines)]
	bursts := slices.DeleteFunc(slices.Clone(r.Bursts), func(u spot.Burst) bool {
		of := func(l subnetLine) bool { return l.subnet == u.Subnet }
		return slices.ContainsFunc(lines, of) && !slices.ContainsFunc(shown, of)
	})
	from, to := window(r, bursts, shown)
	bursts = slices.DeleteFunc(bursts, func(u spot.Burst) bool { return u.Last.Before(from) || u.Began.After(to) })
	b.top = names(c, b, shown, len(lines)-len(shown), during(from, to))
	most := 8
	for i, l := range shown {
		shown[i] = l.since(from)
		for _, s := range shown[i].samples {
			most = max(most, s.Free)
		}
	}
	for _, u := range bursts {
		most = max(most, u.Demand)
	}
	const above = 1.32 // room for words over the highest burst
	p := plane{from: from, to: to, most: float64(most) * above}
	step := roundStep(p.most, 4)
	labels := c.textWidth(number(int(step*float64(int(p.most/step)))), textSize, false)
	p.box = box{b.left + labels + 14, b.top, b.right, b.bottom - textSize - 16}
	for v := 0.0; v <= p.most; v += step {
		y := p.y(v)
		c.line(1.5, faint(), point{p.left, y}, point{p.right, y})
		c.textEnd(p.left-12, y+textSize*0.35, number(int(v)), textSize, false, muted())
	}
	hourMarks(c, p)
	columns(c, p, bursts)
	var drawn []box
	for i, l := range shown {
		line := steps(p, l)
		c.line(5, lineColours()[i], line...)
		floor(c, p, l)
		for k := 1; k < len(line); k++ {
			drawn = append(drawn, box{line[k-1].x, min(line[k-1].y, line[k].y) - 4, line[k].x + 1, max(line[k-1].y, line[k].y) + 4})
		}
	}
	labelBursts(c, p, bursts, drawn)
	c.line(2, muted(), point{p.left, p.y(0)}, point{p.right, p.y(0)})
}

// names writes what is drawn and when, and which line is which subnet, in as
// many rows as that takes. It gives where the room below begins.
func names(c *canvas, b box, shown []subnetLine, more int, when string) float64 {
	base := b.top + headingSize*0.8
	c.text(b.left, base, "Free addresses", headingSize, true, ink())
	x := b.left + c.textWidth("Free addresses", headingSize, true) + 18
	c.text(x, base, when, textSize, false, muted())
	x += c.textWidth(when, textSize, false) + 34
	const key, gap = 46, 30
	write := func(width float64, draw func(x, base float64)) {
		if x+width > b.right {
			x, base = b.left, base+textSize+12
		}
		draw(x, base)
		x += width + gap
	}
	for i, l := range shown {
		words := clip(c, l.subnet, textSize, false, 460)
		if total := l.samples[len(l.samples)-1].Total; total > 0 {
			words += fmt.Sprintf(" (of %s)", number(total))
		}
		write(key+c.textWidth(words, textSize, false), func(x, base float64) {
			c.line(6, lineColours()[i], point{x, base - textSize*0.35}, point{x + key - 10, base - textSize*0.35})
			c.text(x+key, base, words, textSize, false, ink())
		})
	}
	words := ""
	switch {
	case len(shown) == 0:
		words = "nobody looked at the subnets"
	case more > 0:
		words = fmt.Sprintf("+ %d more", more)
	}
	if words != "" {
		write(c.textWidth(words, textSize, false), func(x, base float64) { c.text(x, base, words, textSize, false, muted()) })
	}
	return base + 22
}

// since is a line without the looks before a time, but for the last of them,
// which still held then.
func (l subnetLine) since(from time.Time) subnetLine {
	n := 0
	for n+1 < len(l.samples) && !l.samples[n+1].At.After(from) {
		n++
	}
	return subnetLine{l.subnet, l.samples[n:]}
}

// floor marks where a subnet had none left.
func floor(c *canvas, p plane, l subnetLine) {
	for i, s := range l.samples {
		if s.Free > 0 {
			continue
		}
		until := s.At
		if i+1 < len(l.samples) {
			until = l.samples[i+1].At
		}
		if left, right := p.x(s.At), p.x(until); right > left {
			c.line(9, notJoinedColour(), point{left, p.y(0)}, point{right, p.y(0)})
		}
	}
}

// plane is where time and addresses are drawn.
type plane struct {
	box
	from, to time.Time
	most     float64
}

func (p plane) x(t time.Time) float64 {
	whole := hours(p.from, p.to)
	if whole <= 0 {
		return p.left
	}
	return p.left + p.width()*min(max(hours(p.from, t)/whole, 0), 1)
}

func (p plane) y(v float64) float64 { return p.bottom - p.height()*v/p.most }

// steps is the line of a subnet: what it had holds until somebody looked again.
func steps(p plane, l subnetLine) []point {
	var line []point
	for i, s := range l.samples {
		x, y := p.x(s.At), p.y(float64(s.Free))
		if i > 0 {
			line = append(line, point{x, line[len(line)-1].y})
		}
		line = append(line, point{x, y})
	}
	if len(line) == 1 {
		line = append(line, point{min(line[0].x+40, p.right), line[0].y})
	}
	return line
}
