package chart

import (
	"math"
	"time"
)

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
