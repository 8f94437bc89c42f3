package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"time"

	"rollcall/shared/snapshot"
)

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

// crosses tells that a line of steps goes through a box.
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
