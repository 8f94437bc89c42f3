// Package chart draws what a report says as a picture, a PNG. It is pure: the
// same report gives the same bytes.
package chart

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"

	"rollcall/shared/node/spotreport"
	"rollcall/shared/snapshot"
)

// Size is the size of a picture in pixels.
type Size struct{ Width, Height int }

// ForSlack is twice as large as what Slack shows in full; in the channel it
// shows a third of it, so that letters need 32 pixels to be read there.
func ForSlack() Size { return Size{1600, 1000} }

// MaxBytes is how large a chart may be, so that it can travel in a message
// with the report (as base64 it grows by a third).
const MaxBytes = 120 << 10

// Heights of letters, for a picture of 1600 pixels' width.
const (
	titleSize   = 48
	headingSize = 36
	textSize    = 33
	margin      = 36
	titleHeight = titleSize + 2*textSize // of both lines
)

// The smallest picture in which all has room.
const minWidth, minHeight = 800, 600

// Spot draws how the launches of each pool ended, and below it the subnets'
// free addresses through the bursts. Where there is nothing to draw below, the
// picture is only as high as it must be.
func Spot(r spotreport.Report, samples []snapshot.Sample, size Size) ([]byte, error) {
	if size.Width < minWidth || size.Height < minHeight {
		return nil, fmt.Errorf("draw the Spot chart: %d x %d pixels are too few", size.Width, size.Height)
	}
	lines := subnetLines(r, samples)
	two := len(lines) > 0 || len(r.Bursts) > 0
	most := mostRows
	if two {
		most = mostBeside
	}
	list := rows(r, most)
	if !two {
		size.Height = min(size.Height, 2*margin+titleHeight+legendHeight+max(len(list), 1)*widestRow)
	}
	c := newCanvas(size)
	whole := box{margin, margin, float64(size.Width) - margin, float64(size.Height) - margin}
	rest := title(c, whole, r)
	if two {
		upper, lower := split(rest, len(list))
		bars(c, upper, list)
		addresses(c, lower, r, lines)
	} else {
		bars(c, rest, list)
	}
	picture, err := c.png()
	if err != nil {
		return nil, fmt.Errorf("draw the Spot chart: %w", err)
	}
	if len(picture) > MaxBytes {
		return nil, fmt.Errorf("draw the Spot chart: it has %d bytes, it may have %d", len(picture), MaxBytes)
	}
	return picture, nil
}

// title writes what the picture is of, and gives the room below.
func title(c *canvas, b box, r spotreport.Report) box {
	failed := func(f spotreport.Funnel) int { return f.NotJoined + f.Reclaimed + f.Refused }
	text := fmt.Sprintf(": %s of %s Spot launches did not join", number(failed(r.Spot)), number(r.Spot.Requested))
	name := clip(c, r.Cluster, titleSize, true, b.width()-c.textWidth(text, titleSize, true))
	c.text(b.left, b.top+titleSize*0.8, name+text, titleSize, true, ink())
	sub := r.From.UTC().Format("2 Jan 15:04") + " to " + r.To.UTC().Format("2 Jan 15:04") + " UTC"
	switch d := r.OnDemand; {
	case d.Requested == 0:
	case d.Joined == d.Requested:
		sub += fmt.Sprintf("; on demand all %s joined", number(d.Requested))
	default:
		sub += fmt.Sprintf("; on demand %s of %s did not", number(failed(r.OnDemand)), number(r.OnDemand.Requested))
	}
	c.text(b.left, b.top+titleSize+textSize*1.1, sub, textSize, false, muted())
	b.top += titleHeight
	return b
}

// split gives the bars as much height as their number needs, and the subnets
// the rest, which is half at least.
func split(b box, rows int) (upper, lower box) {
	const gap = 28
	wanted := legendHeight + float64(rows)*widestRow
	upper, lower = b, b
	upper.bottom = b.top + min(wanted, b.height()*0.5)
	lower.top = upper.bottom + gap
	return upper, lower
}

// The colours of the ends are those of Okabe and Ito, which people tell apart
// whatever colours they see; beside each other they also differ in lightness.
func notJoinedColour() color.Color { return rgb(0xD55E00) }
func reclaimedColour() color.Color { return rgb(0xE69F00) }
func refusedColour() color.Color   { return rgb(0xCC79A7) }
func lostColour() color.Color      { return rgb(0x2B5F8A) } // the hatching
func joinedColour() color.Color    { return rgb(0x8CC7EE) }
func otherColour() color.Color     { return rgb(0xC9CDD2) }

func ink() color.Color   { return rgb(0x1D1C1D) }
func muted() color.Color { return rgb(0x5A5D63) }
func faint() color.Color { return rgb(0xDFE2E6) }

func rgb(v uint32) color.Color {
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xFF}
}

// hours is a time as a number for an axis.
func hours(from, t time.Time) float64 { return t.Sub(from).Hours() }

// mostLines is how many subnets can be told apart.
const mostLines = 3

// subnetLine is what a subnet had, in the order of time.
type subnetLine struct {
	subnet  string
	samples []snapshot.Sample
}

// subnetLines are the subnets to draw: those with the worst bursts first.
func subnetLines(r spotreport.Report, samples []snapshot.Sample) []subnetLine {
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
func addresses(c *canvas, b box, r spotreport.Report, lines []subnetLine) {
	shown := lines[:min(len(lines), mostLines)]
	bursts := slices.DeleteFunc(slices.Clone(r.Bursts), func(u spotreport.Burst) bool {
		of := func(l subnetLine) bool { return l.subnet == u.Subnet }
		return slices.ContainsFunc(lines, of) && !slices.ContainsFunc(shown, of)
	})
	from, to := window(r, bursts, shown)
	bursts = slices.DeleteFunc(bursts, func(u spotreport.Burst) bool { return u.Last.Before(from) || u.Began.After(to) })
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

// steps is the line of a subnet: what it had holds until the next look.
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
	funnel spotreport.Funnel
	// failing pools are marked.
	failing bool
	// many is set where it is of many pools: it may be longer than there is room.
	many bool
}

// part is a piece of a bar, and its words in the legend.
type part struct {
	words  string
	colour color.Color
	of     func(spotreport.Funnel) int
	// hatched is how much of it, at its end, is hatched.
	hatched func(spotreport.Funnel) int
}

// parts are the pieces from the left: what failed begins at the same place in
// each bar, so that it can be compared.
func parts() []part {
	return []part{
		{words: "not joined", colour: notJoinedColour(), of: func(f spotreport.Funnel) int { return f.NotJoined }},
		{words: "reclaimed", colour: reclaimedColour(), of: func(f spotreport.Funnel) int { return f.Reclaimed }},
		{words: "refused", colour: refusedColour(), of: func(f spotreport.Funnel) int { return f.Refused }},
		{words: "joined", colour: joinedColour(), of: func(f spotreport.Funnel) int { return f.Joined }, hatched: lost},
		{words: "open, other", colour: otherColour(), of: func(f spotreport.Funnel) int { return f.Open + f.Terminated + f.Unknown }},
	}
}

// lost are those of the joined that were gone within an hour.
func lost(f spotreport.Funnel) int { return max(min(f.Lost, f.Joined), 0) }

func bad(f spotreport.Funnel) int { return f.NotJoined + f.Reclaimed + f.Refused }

// rows are the Spot pools, those that do worst first, what they leave over,
// and on demand to compare with: most at most.
func rows(r spotreport.Report, most int) []row {
	var list []row
	var demand spotreport.Funnel
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
		var others spotreport.Funnel
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

func sum(a, b spotreport.Funnel) spotreport.Funnel {
	return spotreport.Funnel{
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
func tail(f spotreport.Funnel) string {
	if bad(f) == 0 && f.Joined == f.Requested {
		return fmt.Sprintf("all %s joined", number(f.Requested))
	}
	return fmt.Sprintf("%s of %s joined", number(f.Joined), number(f.Requested))
}

// pieces draws one bar, and gives where it ends. A piece that is there can be
// seen, however small its share is.
func pieces(c *canvas, b box, f spotreport.Funnel, longest int) float64 {
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
	var all spotreport.Funnel
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

// mostWords is how many bursts are listed in words.
const mostWords = 5

// column is where a burst stands: from its first to its last launch, wide
// enough to be seen.
func (p plane) column(u spotreport.Burst) (left, right, top float64) {
	const narrowest = 14
	left, right = p.x(u.Began), p.x(u.Last)
	if right-left < narrowest {
		middle := (left + right) / 2
		left, right = middle-narrowest/2, middle+narrowest/2
	}
	return left, right, p.y(float64(u.Demand))
}

// tooMuch tells a burst that asked for more than there was, and suffered for it.
// Where none of its launches failed, what the subnet had was seen too early.
func tooMuch(u spotreport.Burst) bool { return u.Exceeds() && u.Failed > 0 }

// columns marks each burst with what it asked for.
func columns(c *canvas, p plane, bursts []spotreport.Burst) {
	for i := len(bursts) - 1; i >= 0; i-- { // the worst on top
		u := bursts[i]
		left, right, top := p.column(u)
		shade, edge := color.Color(rgb(0xE7E9EC)), muted()
		if tooMuch(u) {
			shade, edge = rgb(0xF7D9C4), notJoinedColour()
		}
		c.rect(box{left, top, right, p.y(0)}, shade)
		c.line(6, edge, point{max(left-22, p.left), top}, point{min(right+22, p.right), top})
	}
}

// labelBursts says of the worst bursts what they asked for and what there was, where
// there is room for it beside the lines that are drawn.
func labelBursts(c *canvas, p plane, bursts []spotreport.Burst, drawn []box) {
	var taken []box
	for _, u := range bursts {
		left, right, top := p.column(u)
		taken = append(taken, box{left - 24, top - 4, right + 24, top + 4}, box{left, top, right, p.bottom})
	}
	words := 0
	for i, u := range bursts {
		if words == mostWords {
			return
		}
		says, col := "needed "+number(u.Demand), ink()
		if u.HadKnown {
			says += ", had " + number(u.Had)
		}
		if tooMuch(u) {
			col = rgb(0xA34700) // notJoinedColour, dark enough for letters
		}
		width := c.textWidth(says, textSize, true)
		left, right, top := p.column(u)
		at, ok := room(p, width, left, right, top, append(taken[:len(taken):len(taken)], drawn...))
		if !ok && i == 0 { // the worst is drawn in any case
			at, ok = room(p, width, left, right, top, taken)
		}
		if !ok {
			continue
		}
		b := around(at, width)
		c.rect(b, color.White) // the words stand before the grid
		c.text(at.x, at.y+textSize*0.82, says, textSize, true, col)
		taken = append(taken, b)
		words++
	}
}

// room finds a place beside or above the top of a column.
func room(p plane, width, left, right, top float64, taken []box) (point, bool) {
	before, after := left-34-width, right+34
	middle := min(max((left+right-width)/2, p.left+8), p.right-width-8)
	for _, at := range []point{{middle, top - textSize - 14}, {after, top - 6}, {before, top - 6}, {after, top - textSize - 8}, {before, top - textSize - 8}, {after, top + textSize}, {before, top + textSize}} {
		b := around(at, width)
		if b.left >= p.left && b.right <= p.right && b.top >= p.top-8 && b.bottom <= p.bottom && !slices.ContainsFunc(taken, b.meets) {
			return at, true
		}
	}
	return point{}, false
}

func around(at point, width float64) box {
	return box{at.x - 6, at.y - 2, at.x + width + 6, at.y + textSize + 4}
}

// canvas is a picture in the making. Its places are in pixels from the top
// left corner, as people read it.
type canvas struct {
	img           *vgimg.Canvas
	height        float64
	regular, bold *opentype.Font
}

// dotsPerInch makes a point of the library one pixel.
const dotsPerInch = 72

func newCanvas(size Size) *canvas {
	return &canvas{
		img:    vgimg.NewWith(vgimg.UseWH(vg.Length(size.Width), vg.Length(size.Height)), vgimg.UseDPI(dotsPerInch)),
		height: float64(size.Height),
		// Two of the twelve faces that come with the library: all would make
		// the function a third larger.
		regular: face(liberationsansregular.TTF), bold: face(liberationsansbold.TTF),
	}
}

func face(ttf []byte) *opentype.Font {
	f, err := opentype.Parse(ttf)
	if err != nil {
		panic(err) // the font is compiled in: cannot happen
	}
	return f
}

func (c *canvas) font(size float64, bold bool) font.Face {
	f := font.Face{Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(size)}, Face: c.regular}
	if bold {
		f.Face = c.bold
	}
	return f
}

func (c *canvas) textWidth(s string, size float64, bold bool) float64 {
	f := c.font(size, bold)
	return float64(f.Width(s))
}

// text writes s with its baseline at y.
func (c *canvas) text(x, y float64, s string, size float64, bold bool, col color.Color) {
	c.img.SetColor(col)
	c.img.FillString(c.font(size, bold), c.vgPoint(x, y), s)
}

// textEnd writes s so that it ends at x.
func (c *canvas) textEnd(x, y float64, s string, size float64, bold bool, col color.Color) {
	c.text(x-c.textWidth(s, size, bold), y, s, size, bold, col)
}

func (c *canvas) vgPoint(x, y float64) vg.Point {
	return vg.Point{X: vg.Length(x), Y: vg.Length(c.height - y)}
}

// point is a place on the canvas.
type point struct{ x, y float64 }

func (c *canvas) path(points []point) vg.Path {
	var p vg.Path
	for i, at := range points {
		if i == 0 {
			p.Move(c.vgPoint(at.x, at.y))
			continue
		}
		p.Line(c.vgPoint(at.x, at.y))
	}
	return p
}

func (c *canvas) fill(col color.Color, points ...point) {
	p := c.path(points)
	p.Close()
	c.img.SetColor(col)
	c.img.Fill(p)
}

func (c *canvas) rect(b box, col color.Color) {
	c.fill(col, point{b.left, b.top}, point{b.right, b.top}, point{b.right, b.bottom}, point{b.left, b.bottom})
}

// hatch draws slanted lines over a part of the canvas.
func (c *canvas) hatch(b box, col color.Color) {
	const apart = 11
	for at := b.left - b.height(); at < b.right; at += apart {
		// From the lower edge up to the right, cut at both sides.
		left, right := max(at, b.left), min(at+b.height(), b.right)
		if left < right {
			c.line(3, col, point{left, b.bottom - (left - at)}, point{right, b.bottom - (right - at)})
		}
	}
}

func (c *canvas) line(width float64, col color.Color, points ...point) {
	c.img.SetColor(col)
	c.img.SetLineWidth(vg.Length(width))
	c.img.Stroke(c.path(points))
}

// box is a part of the canvas.
type box struct{ left, top, right, bottom float64 }

func (b box) width() float64  { return b.right - b.left }
func (b box) height() float64 { return b.bottom - b.top }

func (b box) meets(o box) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

// clip cuts s in the middle so that it is at most width wide: names differ at
// both ends.
func clip(c *canvas, s string, size float64, bold bool, width float64) string {
	if c.textWidth(s, size, bold) <= width {
		return s
	}
	r := []rune(s)
	for keep := len(r) - 1; keep > 0; keep-- {
		short := string(r[:(keep+1)/2]) + "…" + string(r[len(r)-keep/2:])
		if c.textWidth(short, size, bold) <= width {
			return short
		}
	}
	return ""
}

// number writes thousands with commas.
func number(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0 && !strings.HasSuffix(s[:at], "-"); at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// png encodes the picture with the 256 colours that it has most of: a chart
// has a dozen, and shades of them along the letters. That makes it a third as
// large.
func (c *canvas) png() ([]byte, error) { return c.pngIn(256) }

// pngIn encodes the picture with as many colours, 256 at most. With few of them
// the shades along letters are coarser, and it is smaller.
func (c *canvas) pngIn(colours int) ([]byte, error) {
	img := c.img.Image()
	bounds := img.Bounds()
	pixels := make([]color.RGBA, 0, bounds.Dx()*bounds.Dy())
	count := map[color.RGBA]int{}
	// Most pixels are like the one before.
	run, last := 0, color.RGBA{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			p := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
			if p != last {
				count[last] += run
				run, last = 0, p
			}
			run++
			pixels = append(pixels, p)
		}
	}
	count[last] += run
	delete(count, color.RGBA{}) // what was before the first
	palette := frequent(count, colours)
	index := make(map[color.RGBA]uint8, len(count))
	out := image.NewPaletted(bounds, palette)
	for i, p := range pixels {
		if i > 0 && p == pixels[i-1] {
			out.Pix[i] = out.Pix[i-1]
			continue
		}
		n, known := index[p]
		if !known {
			n = uint8(palette.Index(p))
			index[p] = n
		}
		out.Pix[i] = n
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.DefaultCompression}
	if err := encoder.Encode(&b, out); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// frequent are the colours that there are most of, in an order that does not
// depend on the map's.
func frequent(count map[color.RGBA]int, most int) color.Palette {
	all := make([]color.RGBA, 0, len(count))
	for p := range count {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, p := range all[:min(len(all), most)] {
		palette = append(palette, p)
	}
	return palette
}

// roundStep is the distance of about n marks up to most, in round numbers.
func roundStep(most float64, n int) float64 {
	raw := most / float64(n)
	if raw <= 1 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, f := range []float64{1, 2, 2.5, 5, 10} {
		if step := power * f; step >= raw && step == math.Trunc(step) {
			return step
		}
	}
	return 10 * power
}

// hourMarks writes the time below a plane, in UTC: hours of a day, dates of
// a longer time.
func hourMarks(c *canvas, p plane) {
	step, layout := 24*time.Hour, "2 Jan"
	whole := p.to.Sub(p.from)
	switch {
	case whole <= 0:
		return
	case whole <= 3*time.Hour:
		step, layout = 30*time.Minute, "15:04"
	case whole <= 8*time.Hour:
		step, layout = time.Hour, "15:04"
	case whole <= 30*time.Hour:
		step, layout = 4*time.Hour, "15:04"
	case whole <= 72*time.Hour:
		step, layout = 12*time.Hour, "2 Jan 15:04"
	}
	for whole/step > 9 {
		step *= 2
	}
	for t := p.from.UTC().Truncate(step); !t.After(p.to); t = t.Add(step) {
		if t.Before(p.from) {
			continue
		}
		x, words := p.x(t), t.Format(layout)
		c.line(1.5, faint(), point{x, p.top}, point{x, p.bottom})
		width := c.textWidth(words, textSize, false)
		c.text(min(max(x-width/2, p.left-20), p.right-width), p.bottom+textSize+8, words, textSize, false, muted())
	}
}

// What is drawn of a report's time: at least an hour, and all of it if what is to
// be seen takes most of it. A subnet gets its addresses back as nodes end, which
// is followed for as long as recovery; what fitted is shown if it is near.
const (
	shortest = time.Hour
	mostOf   = 0.7
	recovery = 90 * time.Minute
	adjacent = time.Hour
)

// window is the part of a report's time in which something happened: the bursts
// that asked too much, with the subnet's fall and recovery, and the bursts near
// them. Without such bursts it is that of all bursts, and without any that in
// which a sweep looked.
func window(r spotreport.Report, bursts []spotreport.Burst, lines []subnetLine) (from, to time.Time) {
	var w stretch
	for _, b := range bursts {
		if tooMuch(b) || !b.HadKnown && b.Failed > 0 {
			w.add(b.Began, recovered(b, lines))
		}
	}
	if !w.from.IsZero() {
		core := w
		for _, b := range bursts {
			if b.Began.After(core.from.Add(-adjacent)) && b.Began.Before(core.to.Add(adjacent)) {
				w.add(b.Began, b.Last)
			}
		}
	} else {
		for _, b := range bursts {
			w.add(b.Began, recovered(b, lines))
		}
	}
	if w.from.IsZero() {
		for _, l := range lines {
			w.add(l.samples[0].At, l.samples[len(l.samples)-1].At)
		}
	}
	return w.within(r)
}

// recovered is when a burst's subnet had half of its addresses again.
func recovered(b spotreport.Burst, lines []subnetLine) time.Time {
	last := b.Last
	for _, l := range lines {
		if l.subnet != b.Subnet {
			continue
		}
		for _, s := range l.samples {
			if s.At.Before(b.Last) || s.At.Sub(b.Last) > recovery {
				continue
			}
			if last = s.At; 2*s.Free >= b.Had && s.At.Sub(b.Last) > time.Minute {
				return last
			}
		}
	}
	return last
}

// stretch is a part of time in the making.
type stretch struct{ from, to time.Time }

func (w *stretch) add(from, to time.Time) {
	if w.from.IsZero() || from.Before(w.from) {
		w.from = from
	}
	for _, t := range []time.Time{from, to} {
		if t.After(w.to) {
			w.to = t
		}
	}
}

// within gives a stretch room on both sides, and keeps it within a report's
// time: what would lie outside goes to the other side.
func (w stretch) within(r spotreport.Report) (from, to time.Time) {
	whole, span := r.To.Sub(r.From), w.to.Sub(w.from)
	if w.from.IsZero() || whole <= shortest || w.to.Before(r.From) || w.from.After(r.To) {
		return r.From, r.To
	}
	room := max(span/12, (shortest-span)/2, 5*time.Minute)
	from, to = w.from.Add(-room), w.to.Add(room)
	if float64(to.Sub(from)) >= mostOf*float64(whole) {
		return r.From, r.To
	}
	if over := r.From.Sub(from); over > 0 {
		from, to = r.From, to.Add(over)
	}
	if over := to.Sub(r.To); over > 0 {
		from, to = from.Add(-over), r.To
	}
	return from, to
}

// during says when a window is: "20 Nov, 14:20 to 17:40 UTC".
func during(from, to time.Time) string {
	from, to = from.UTC(), to.UTC()
	if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
		return from.Format("2 Jan, 15:04") + " to " + to.Format("15:04") + " UTC"
	}
	return from.Format("2 Jan 15:04") + " to " + to.Format("2 Jan 15:04") + " UTC"
}
