// Package chart draws what a report says as a picture, a PNG. It is pure: the
// same report gives the same bytes.
package chart

import (
	"fmt"
	"image/color"
	"time"

	"rollcall/shared/node/spot"
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
func Spot(r spot.Report, samples []snapshot.Sample, size Size) ([]byte, error) {
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
func title(c *canvas, b box, r spot.Report) box {
	failed := func(f spot.Funnel) int { return f.NotJoined + f.Reclaimed + f.Refused }
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
