package chart

import (
	"image/color"
	"slices"

	"rollcall/shared/node/spot"
)

// mostWords is how many bursts are told in words.
const mostWords = 5

// column is where a burst stands: from its first to its last launch, wide
// enough to be seen.
func (p plane) column(u spot.Burst) (left, right, top float64) {
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
func tooMuch(u spot.Burst) bool { return u.Exceeds() && u.Failed > 0 }

// columns marks each burst with what it asked for.
func columns(c *canvas, p plane, bursts []spot.Burst) {
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
func labelBursts(c *canvas, p plane, bursts []spot.Burst, drawn []box) {
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
		says, col := "asked "+number(u.Demand), ink()
		if u.HadKnown {
			says += ", had " + number(u.Had)
		}
		if tooMuch(u) {
			col = rgb(0xA34700) // notJoinedColour, dark enough for letters
		}
		width := c.textWidth(says, textSize, true)
		left, right, top := p.column(u)
		at, ok := room(p, width, left, right, top, append(taken[:len(taken):len(taken)], drawn...))
		if !ok && i == 0 { // the worst is told in any case
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
