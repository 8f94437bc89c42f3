package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
	"time"

	"rollcall/shared/network/address"
	"rollcall/shared/snapshot"
)

// FreeForSlack is twice as large as Slack shows it at most, and small beside the
// words of a message.
func FreeForSlack() Size { return Size{1600, 520} }

// MaxFreeBytes is how large a picture of a subnet may be: some of them travel in
// one message (as base64 they grow by a third).
const MaxFreeBytes = 25 << 10

// The smallest picture of a subnet in which all has room.
const minFreeWidth, minFreeHeight = 800, 300

// freeColours is how many colours it has: more make it half as large again, and
// cannot be told from it.
const freeColours = 32

// Freed is what was given back to a subnet at one time.
type Freed struct {
	At        time.Time
	Addresses int
}

// FreeOf is what a picture of a subnet shows beside its samples.
type FreeOf struct {
	Subnet string
	// From and To are the time that is drawn; what is foretold goes beyond To.
	From, To time.Time
	// Runway is drawn to its end if it falls.
	Runway address.Runway
	// Cleaned are marked.
	Cleaned []Freed
}

// Free draws the free addresses of one subnet, those of its samples in the time
// that is asked for.
func Free(samples []snapshot.Sample, of FreeOf, size Size) ([]byte, error) {
	if size.Width < minFreeWidth || size.Height < minFreeHeight {
		return nil, fmt.Errorf("draw the free addresses of %s: %d x %d pixels are too few", of.Subnet, size.Width, size.Height)
	}
	line := of.line(samples)
	c := newCanvas(size)
	b := box{margin, margin * 0.6, float64(size.Width) - margin, float64(size.Height) - margin*0.6}
	b.top = freeTitle(c, b, of, line)
	if len(line.samples) == 0 {
		c.text(b.left, b.top+textSize*1.5, "Nobody looked at this subnet in this time", textSize, false, muted())
	} else {
		drawFree(c, b, of, line)
	}
	picture, err := c.pngIn(freeColours)
	if err != nil {
		return nil, fmt.Errorf("draw the free addresses of %s: %w", of.Subnet, err)
	}
	if len(picture) > MaxFreeBytes {
		return nil, fmt.Errorf("draw the free addresses of %s: the picture has %d bytes, it may have %d", of.Subnet, len(picture), MaxFreeBytes)
	}
	return picture, nil
}

// line is what the subnet had in the time, and what it had as that began. Of more
// samples than there is room for, the least of each step counts.
func (of FreeOf) line(samples []snapshot.Sample) subnetLine {
	const most = 500
	sorted := slices.Clone(samples)
	slices.SortStableFunc(sorted, func(a, b snapshot.Sample) int { return a.At.Compare(b.At) })
	l := subnetLine{subnet: of.Subnet}
	step := of.To.Sub(of.From) / most
	var end time.Time
	for _, s := range sorted {
		switch {
		case s.Subnet != of.Subnet || s.At.Before(of.From) || s.At.After(of.To):
		case len(l.samples) > 0 && s.At.Before(end):
			if last := &l.samples[len(l.samples)-1]; s.Free < last.Free {
				last.Free = s.Free
			}
		default:
			s.Free = max(s.Free, 0)
			l.samples = append(l.samples, s)
			end = s.At.Add(step)
		}
	}
	return l
}

func drawFree(c *canvas, b box, of FreeOf, line subnetLine) {
	last := line.samples[len(line.samples)-1]
	most := 8
	for _, s := range line.samples {
		most = max(most, s.Free)
	}
	// The whole subnet is shown where its line is near what was free.
	whole := last.Total > 0 && last.Total <= 2*most
	if whole {
		most = max(most, last.Total)
	}
	const above = 1.12
	p := plane{from: of.From, to: of.until(), most: float64(most) * above}
	step := roundStep(p.most, 3)
	labels := c.textWidth(number(int(step*float64(int(p.most/step)))), textSize, false)
	p.box = box{b.left + labels + 14, b.top, b.right, b.bottom - textSize - 14}
	for v := 0.0; v <= p.most; v += step {
		y := p.y(v)
		c.line(1.5, faint(), point{p.left, y}, point{p.right, y})
		c.textEnd(p.left-12, y+textSize*0.35, number(int(v)), textSize, false, muted())
	}
	hourMarks(c, p)
	if whole {
		c.dashes(2.5, muted(), point{p.left, p.y(float64(last.Total))}, point{p.right, p.y(float64(last.Total))})
	}
	foretold(c, p, of, last)
	drawn := steps(p, line)
	c.fill(rgb(0xE3EFF8), append(slices.Clone(drawn), point{drawn[len(drawn)-1].x, p.y(0)}, point{drawn[0].x, p.y(0)})...)
	c.line(5, lineColours()[0], drawn...)
	floor(c, p, line)
	c.line(2, muted(), point{p.left, p.y(0)}, point{p.right, p.y(0)})
	cleaned(c, p, of, drawn)
	foretoldWords(c, p, of, last)
}

// freeTitle writes what the picture is of, and gives where the room below begins.
func freeTitle(c *canvas, b box, of FreeOf, line subnetLine) float64 {
	base := b.top + headingSize*0.9
	says := ""
	if n := len(line.samples); n > 0 {
		last := line.samples[n-1]
		says = fmt.Sprintf(": %s free", number(last.Free))
		if last.Total > 0 {
			says = fmt.Sprintf(": %s of %s free", number(last.Free), number(last.Total))
		}
	}
	when := during(of.From, of.To)
	room := b.width() - c.textWidth(when, textSize, false) - 30
	name := clip(c, of.Subnet, headingSize, true, room-c.textWidth(says, headingSize, true))
	c.text(b.left, base, name+says, headingSize, true, ink())
	c.textEnd(b.right, base, when, textSize, false, muted())
	return base + 26
}

// dashes draws a broken line from one place to another.
func (c *canvas) dashes(width float64, col color.Color, from, to point) {
	const dash, gap = 16.0, 11.0
	length := distance(from, to)
	along := func(d float64) point {
		part := min(d/max(length, 1), 1)
		return point{from.x + (to.x-from.x)*part, from.y + (to.y-from.y)*part}
	}
	for d := 0.0; d < length; d += dash + gap {
		c.line(width, col, along(d), along(d+dash))
	}
}

// FreeAlt is the picture in words, for those who cannot see it.
func FreeAlt(samples []snapshot.Sample, of FreeOf) string {
	line := of.line(samples)
	if len(line.samples) == 0 {
		return fmt.Sprintf("Free addresses of %s, %s: nobody looked.", of.Subnet, during(of.From, of.To))
	}
	first, last, least := line.samples[0], line.samples[len(line.samples)-1], line.samples[0]
	for _, s := range line.samples {
		if s.Free < least.Free {
			least = s
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Free addresses of %s, %s: from %s to %s", of.Subnet, during(of.From, of.To), number(first.Free), number(last.Free))
	if last.Total > 0 {
		fmt.Fprintf(&b, " of %s", number(last.Total))
	}
	if least.Free < first.Free && least.Free < last.Free {
		fmt.Fprintf(&b, ", and %s at least, at %s", number(least.Free), least.At.UTC().Format("2 Jan 15:04"))
	}
	b.WriteString(".")
	for _, f := range of.Cleaned {
		if !f.At.Before(of.From) && !f.At.After(of.To) && f.Addresses > 0 {
			fmt.Fprintf(&b, " Cleaned up at %s: +%s.", f.At.UTC().Format("2 Jan 15:04"), number(f.Addresses))
		}
	}
	if of.Runway.Falls() {
		words := endWords(of)
		fmt.Fprintf(&b, " %s%s UTC.", strings.ToUpper(words[:1]), words[1:])
	}
	return b.String()
}

// mostBeyond is how much of the time that was looked at is drawn of the time to
// come.
const mostBeyond = 0.7

// until is where the picture ends: a little after what is foretold, if that is
// near.
func (of FreeOf) until() time.Time {
	if !of.Runway.Falls() {
		return of.To
	}
	whole := of.To.Sub(of.From)
	beyond := of.Runway.Empty.Sub(of.To)
	room := max(beyond/5, whole/12)
	return of.To.Add(min(max(beyond+room, 0), time.Duration(mostBeyond*float64(whole))))
}

func forecastColour() color.Color { return rgb(0xA34700) } // notJoinedColour, dark enough for letters

// foretold draws a broken line from the last sample to the end, between the
// earliest and the latest one.
func foretold(c *canvas, p plane, of FreeOf, last snapshot.Sample) {
	r := of.Runway
	if !r.Falls() {
		return
	}
	x := p.x(of.To)
	c.line(2, muted(), point{x, p.top}, point{x, p.bottom})
	from := point{p.x(last.At), p.y(float64(last.Free))}
	low := p.y(float64(r.Need))
	early, late := p.ends(last, r.Earliest, r.Need), p.ends(last, r.Latest, r.Need)
	if !r.Earliest.IsZero() && early.x > from.x {
		if r.Latest.IsZero() {
			late = point{p.right, from.y}
		}
		fan := []point{from, early}
		if early.y >= low-0.5 && late.y < low-0.5 {
			fan = append(fan, point{p.right, low})
		}
		c.fill(rgb(0xF7E6DA), append(fan, late)...)
	}
	c.dashes(5, forecastColour(), from, p.ends(last, r.Empty, r.Need))
}

// ends is where a line from a sample to an end leaves the picture.
func (p plane) ends(last snapshot.Sample, end time.Time, need int) point {
	within := func(x, v float64) point { return point{x, p.y(min(max(v, 0), p.most))} }
	if end.IsZero() || !end.After(last.At) {
		return within(p.x(last.At), float64(need))
	}
	if !end.After(p.to) {
		return within(p.x(end), float64(need))
	}
	part := float64(p.to.Sub(last.At)) / float64(end.Sub(last.At))
	return within(p.right, float64(last.Free)-part*float64(last.Free-need))
}

// foretoldWords says when the end is, above the line or before it.
func foretoldWords(c *canvas, p plane, of FreeOf, last snapshot.Sample) {
	if !of.Runway.Falls() {
		return
	}
	words := endWords(of)
	width := c.textWidth(words, textSize, true)
	end := p.ends(last, of.Runway.Empty, of.Runway.Need)
	now := p.x(of.To)
	x := max(min(end.x, p.right, now-16)-width, p.left+8)
	if now+16+width < p.right {
		x = now + 16 // to the right of now, where nothing else is
	}
	y := p.top + textSize*1.1
	if p.y(float64(last.Free)) < p.top+2*textSize {
		// The line begins at the top: the words stand in the lower left corner.
		x, y = max(now-width-16, p.left+8), p.bottom-textSize*0.9
	}
	c.rect(box{x - 6, y - textSize*0.9, x + width + 6, y + textSize*0.3}, color.White)
	c.text(x, y, words, textSize, true, forecastColour())
}

// endWords is the end in words: "none left at about 16:40", or how many the last
// node needs.
func endWords(of FreeOf) string {
	layout := "15:04"
	if of.Runway.Empty.UTC().Format(time.DateOnly) != of.To.UTC().Format(time.DateOnly) {
		layout = "2 Jan 15:04"
	}
	left := "none"
	if of.Runway.Need > 0 {
		left = number(of.Runway.Need)
	}
	return fmt.Sprintf("%s left at about %s", left, of.Runway.Empty.UTC().Round(5*time.Minute).Format(layout))
}

// cleaned marks what was given back, the largest first where there is no room
// for all words.
func cleaned(c *canvas, p plane, of FreeOf, drawn []point) {
	list := slices.Clone(of.Cleaned)
	slices.SortStableFunc(list, func(a, b Freed) int { return b.Addresses - a.Addresses })
	var taken []box
	for _, f := range list {
		x := p.x(f.At)
		taken = append(taken, box{x - 2, p.top, x + 2, p.bottom})
	}
	for _, f := range list {
		if f.At.Before(p.from) || f.At.After(of.To) || f.Addresses <= 0 {
			continue
		}
		x := p.x(f.At)
		c.line(3, cleanedColour(), point{x, p.top}, point{x, p.bottom})
		words := "cleaned up: +" + number(f.Addresses)
		width := c.textWidth(words, textSize, true)
		for _, at := range []point{{x - width - 12, p.top}, {x + 12, p.top}, {x - width - 12, p.bottom - 2*textSize}, {x + 12, p.bottom - 2*textSize}} {
			b := around(at, width)
			if b.left < p.left || b.right > p.right || slices.ContainsFunc(taken, b.meets) || crosses(b, drawn) {
				continue
			}
			c.text(at.x, at.y+textSize*0.82, words, textSize, true, cleanedColour())
			taken = append(taken, b)
			break
		}
	}
}

func cleanedColour() color.Color { return rgb(0x00735A) } // Okabe and Ito's green, dark enough for letters

// crosses reports whether a line of steps goes through a box.
func crosses(b box, line []point) bool {
	for i := 1; i < len(line); i++ {
		part := box{min(line[i-1].x, line[i].x) - 3, min(line[i-1].y, line[i].y) - 3, max(line[i-1].x, line[i].x) + 3, max(line[i-1].y, line[i].y) + 3}
		if b.meets(part) {
			return true
		}
	}
	return false
}

func distance(a, b point) float64 { return math.Hypot(a.x-b.x, a.y-b.y) }
