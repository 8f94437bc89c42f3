package chart

import (
	"fmt"
	"image/color"
	"slices"
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
