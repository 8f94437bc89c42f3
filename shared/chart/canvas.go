package chart

import (
	"image/color"
	"strconv"
	"strings"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

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
	c.img.FillString(c.font(size, bold), c.at(x, y), s)
}

// textEnd writes s so that it ends at x.
func (c *canvas) textEnd(x, y float64, s string, size float64, bold bool, col color.Color) {
	c.text(x-c.textWidth(s, size, bold), y, s, size, bold, col)
}

func (c *canvas) at(x, y float64) vg.Point {
	return vg.Point{X: vg.Length(x), Y: vg.Length(c.height - y)}
}

// point is a place on the canvas.
type point struct{ x, y float64 }

func (c *canvas) path(points []point) vg.Path {
	var p vg.Path
	for i, at := range points {
		if i == 0 {
			p.Move(c.at(at.x, at.y))
			continue
		}
		p.Line(c.at(at.x, at.y))
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
