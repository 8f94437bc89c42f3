package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"

	"rollcall/shared/node/spot"
)

const (
	legendHeight = 54
	widestRow    = 62
	// mostRows is how many bars can be told apart at a third of the size,
	// mostBeside how many where the subnets are drawn below them.
	mostRows   = 12
	mostBeside = 8
)

// row is one bar.
type row struct {
	label  string
	funnel spot.Funnel
	// failing pools are marked.
	failing bool
	// many tells that it is of many pools: it may be longer than there is room.
	many bool
}

// part is a piece of a bar, and its words in the legend.
type part struct {
	words  string
	colour color.Color
	of     func(spot.Funnel) int
	// hatched is how much of it, at its end, is hatched.
	hatched func(spot.Funnel) int
}

// parts are the pieces from the left: what failed begins at the same place in
// each bar, so that it can be compared.
func parts() []part {
	return []part{
		{words: "not joined", colour: notJoinedColour(), of: func(f spot.Funnel) int { return f.NotJoined }},
		{words: "taken back", colour: reclaimedColour(), of: func(f spot.Funnel) int { return f.Reclaimed }},
		{words: "refused", colour: refusedColour(), of: func(f spot.Funnel) int { return f.Refused }},
		{words: "joined", colour: joinedColour(), of: func(f spot.Funnel) int { return f.Joined }, hatched: lost},
		{words: "open, other", colour: otherColour(), of: func(f spot.Funnel) int { return f.Open + f.Terminated + f.Unknown }},
	}
}

// lost are those of the joined that were gone within an hour.
func lost(f spot.Funnel) int { return max(min(f.Lost, f.Joined), 0) }

func bad(f spot.Funnel) int { return f.NotJoined + f.Reclaimed + f.Refused }

// rows are the Spot pools, those that do worst first, what they leave over,
// and on demand to compare with: most at most.
func rows(r spot.Report, most int) []row {
	var list []row
	var demand spot.Funnel
	for _, p := range r.Pools {
		if !p.Spot {
			demand = sum(demand, p.Funnel)
			continue
		}
		kind := cmp.Or(p.Type, "type unknown")
		list = append(list, row{label: kind + "  " + cmp.Or(p.Zone, "zone unknown"), funnel: p.Funnel, failing: p.Failing})
	}
	slices.SortStableFunc(list, func(a, b row) int {
		return cmp.Or(boolean(b.failing)-boolean(a.failing), cmp.Compare(bad(b.funnel), bad(a.funnel)), cmp.Compare(b.funnel.Lost, a.funnel.Lost))
	})
	if demand.Requested > 0 {
		most--
	}
	if left := len(list) - (most - 1); len(list) > most {
		var others spot.Funnel
		for _, l := range list[most-1:] {
			others = sum(others, l.funnel)
		}
		list = append(list[:most-1:most-1], row{label: fmt.Sprintf("%d other pools", left), funnel: others, many: true})
	}
	if demand.Requested > 0 {
		list = append(list, row{label: "on demand, all", funnel: demand, many: true})
	}
	return list
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

func sum(a, b spot.Funnel) spot.Funnel {
	return spot.Funnel{
		Requested: a.Requested + b.Requested, Refused: a.Refused + b.Refused, Launched: a.Launched + b.Launched,
		Reclaimed: a.Reclaimed + b.Reclaimed, NotJoined: a.NotJoined + b.NotJoined, Joined: a.Joined + b.Joined,
		Lost: a.Lost + b.Lost, Terminated: a.Terminated + b.Terminated, Unknown: a.Unknown + b.Unknown, Open: a.Open + b.Open,
	}
}

// bars draws a bar for each row, as long as it has launches.
func bars(c *canvas, b box, list []row) {
	legend(c, box{b.left, b.top, b.right, b.top + legendHeight}, list)
	b.top += legendHeight
	if len(list) == 0 {
		c.text(b.left, b.top+textSize*1.5, "No Spot launches in this time", textSize, false, muted())
		return
	}
	height := min(b.height()/float64(len(list)), widestRow)
	size := min(textSize, height*0.8)
	labels, tails, longest := 0.0, 0.0, 1
	for _, l := range list {
		labels = max(labels, c.textWidth(l.label, size, l.failing))
		tails = max(tails, c.textWidth(tail(l.funnel), size, l.failing))
		if !l.many {
			longest = max(longest, l.funnel.Requested)
		}
	}
	labels = min(labels, b.width()*0.32)
	area := box{b.left + labels + 18, b.top, b.right - tails - 18, b.bottom}
	for i, l := range list {
		top := b.top + float64(i)*height
		base := top + height/2 + size*0.36
		label := clip(c, l.label, size, l.failing, labels)
		c.textEnd(b.left+labels, base, label, size, l.failing, ink())
		end := pieces(c, box{area.left, top + height*0.13, area.right, top + height*0.87}, l.funnel, longest)
		c.text(end+14, base, tail(l.funnel), size, l.failing, ink())
	}
	c.line(2, muted(), point{area.left, b.top}, point{area.left, b.top + float64(len(list))*height})
}

// tail is the bar in words.
func tail(f spot.Funnel) string {
	if bad(f) == 0 && f.Joined == f.Requested {
		return fmt.Sprintf("all %s joined", number(f.Requested))
	}
	return fmt.Sprintf("%s of %s joined", number(f.Joined), number(f.Requested))
}

// pieces draws one bar, and gives where it ends. A piece that is there can be
// seen, however small its share is.
func pieces(c *canvas, b box, f spot.Funnel, longest int) float64 {
	const least = 5
	x := b.left
	// What is longer than there is room keeps its shares, and is cut open.
	scale := float64(max(longest, f.Requested))
	for _, p := range parts() {
		n := p.of(f)
		if n <= 0 {
			continue
		}
		width := max(b.width()*float64(n)/scale, least)
		to := min(x+width, b.right)
		c.rect(box{x, b.top, to, b.bottom}, p.colour)
		if p.hatched != nil && p.hatched(f) > 0 {
			from := to - max((to-x)*float64(p.hatched(f))/float64(n), least)
			c.hatch(box{max(from, x), b.top, to, b.bottom}, lostColour())
		}
		if x > b.left {
			c.line(2, color.White, point{x, b.top}, point{x, b.bottom})
		}
		if text := number(n); p.words != "joined" && to-x > c.textWidth(text, textSize*0.8, true)+10 && b.height() > textSize {
			c.text(x+(to-x-c.textWidth(text, textSize*0.8, true))/2, (b.top+b.bottom)/2+textSize*0.29, text, textSize*0.8, true, ink())
		}
		x = to
	}
	if f.Requested > longest {
		// It goes on: a gap says so.
		for _, at := range []float64{x - 34, x - 20} {
			c.line(5, color.White, point{at - 6, b.bottom + 2}, point{at + 6, b.top - 2})
		}
	}
	return x
}

// legend explains the colours that are there.
func legend(c *canvas, b box, list []row) {
	const square, size = 24, textSize
	var all spot.Funnel
	for _, l := range list {
		all = sum(all, l.funnel)
	}
	var shown []part
	width := 0.0
	for _, p := range parts() {
		if p.of(all) > 0 {
			shown = append(shown, p)
			width += square + 10 + c.textWidth(p.words, size, false)
		}
		if p.hatched != nil && p.hatched(all) > 0 {
			hatched := part{words: "lost within 1 h", colour: p.colour, hatched: p.hatched}
			shown = append(shown, hatched)
			width += square + 10 + c.textWidth(hatched.words, size, false)
		}
	}
	gap := 30.0
	if n := float64(len(shown) - 1); n > 0 {
		gap = min(gap, (b.width()-width)/n)
	}
	small := 1.0
	if gap < 12 {
		gap, small = 16, (b.width()-16*float64(len(shown)))/width
	}
	x := b.left
	for _, p := range shown {
		y := b.top + 4
		c.rect(box{x, y, x + square, y + square}, p.colour)
		if p.of == nil {
			c.hatch(box{x, y, x + square, y + square}, lostColour())
		}
		x += square + 10
		c.text(x, y+square*0.88, p.words, size*small, false, ink())
		x += c.textWidth(p.words, size*small, false) + gap
	}
}
