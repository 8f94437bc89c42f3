package chart

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"slices"
)

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
