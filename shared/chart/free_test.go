package chart

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/local/testfull"
	"rollcall/shared/network/address"

	"rollcall/shared/snapshot"
)

type freeScene struct {
	name    string
	samples []snapshot.Sample
	of      FreeOf
	alt     string
}

func freeScenes() []freeScene {
	const subnet = "subnet-0ab1c2d3e4f5a6b7c"
	series := func(span time.Duration, total int, free func(hours float64) float64) []snapshot.Sample {
		var list []snapshot.Sample
		for at := to.Add(-span); !at.After(to); at = at.Add(5 * time.Minute) {
			list = append(list, snapshot.Sample{Subnet: subnet, At: at, Free: int(math.Round(min(max(free(at.Sub(to).Hours()), 0), float64(total)))), Total: total})
		}
		return list
	}
	of := func(span time.Duration) FreeOf { return FreeOf{Subnet: subnet, From: to.Add(-span), To: to} }
	cured := of(6 * time.Hour)
	cured.Cleaned = []Freed{{to.Add(-80 * time.Minute), 31}, {to.Add(-65 * time.Minute), 120}}
	leak := series(24*time.Hour, 1019, func(h float64) float64 { return 310 - 42*min(h, 0)*b2f(h > -17) + 714*b2f(h <= -17) - 0*h })
	falling := of(24 * time.Hour)
	falling.Runway = address.Forecast(append(series(96*time.Hour, 1019, func(float64) float64 { return 1014 })[:24*12], leak...), 9, to)
	fast := of(time.Hour)
	hour := series(time.Hour, 251, func(h float64) float64 { return 55 - 600*max(h, -0.3) })
	fast.Runway = address.Runway{Reason: address.Fast, Empty: to.Add(6 * time.Minute), Earliest: to.Add(5 * time.Minute), Latest: to.Add(9 * time.Minute)}
	week := of(7 * 24 * time.Hour)
	waves := series(7*24*time.Hour, 4091, func(h float64) float64 { return 2500 + 1100*math.Cos(h*math.Pi/12) + 60*math.Sin(h*7.7) })
	far := of(24 * time.Hour)
	far.Runway = address.Runway{Reason: address.Steady, Need: 9, Empty: to.Add(40 * time.Hour), Earliest: to.Add(30 * time.Hour)}
	return []freeScene{
		{"free-cured", series(6*time.Hour, 251, func(h float64) float64 {
			switch {
			case h < -1.3:
				return -60 * (h + 2.5)
			case h < -1.05:
				return 31
			}
			return 151 - 3*math.Sin(h*9)
		}), cured, "from 210 to 151 of 251, and 0 at least, at 21 Nov 05:30. Cleaned up at 21 Nov 06:40: +31. Cleaned up at 21 Nov 06:55: +120."},
		{"free-steady-fall", leak, falling, " left at about 15:"},
		{"free-one-hour", hour, fast, "None left at about 08:05 UTC."},
		{"free-wave", series(24*time.Hour, 507, func(h float64) float64 { return 260 + 190*math.Cos(h*math.Pi/12) }), of(24 * time.Hour), "from 450 to 450 of 507, and 70 at least"},
		{"free-week", waves, week, "14 Nov 08:00 to 21 Nov 08:00 UTC"},
		{"free-far", series(24*time.Hour, 4091, func(h float64) float64 { return 400 - 10*h }), far, "9 left at about 23 Nov 00:00 UTC."},
		{"free-nothing", nil, of(time.Hour), "nobody looked"},
		{"free-one-sample", series(0, 251, func(float64) float64 { return 17 }), of(time.Hour), "from 17 to 17 of 251"},
	}
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// With ROLLCALL_CHARTS naming a folder the pictures are written there.
func TestFree(t *testing.T) {
	for _, s := range freeScenes() {
		picture, err := Free(s.samples, s.of, FreeForSlack())
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		img, err := png.Decode(bytes.NewReader(picture))
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if b := img.Bounds(); b.Dx() != 1600 || b.Dy() != 520 {
			t.Errorf("%s: it is %v", s.name, b)
		}
		if again, err := Free(s.samples, s.of, FreeForSlack()); err != nil || !bytes.Equal(picture, again) {
			t.Errorf("%s: drawn again it differs (%v)", s.name, err)
		}
		if alt := FreeAlt(s.samples, s.of); !strings.Contains(alt, s.alt) || !strings.HasPrefix(alt, "Free addresses of subnet-") {
			t.Errorf("%s: in words: %q, want %q in it", s.name, alt, s.alt)
		}
		if dir := os.Getenv("ROLLCALL_CHARTS"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, s.name+".png"), picture, 0o600); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %d bytes", s.name, len(picture))
		}
	}
}

// Whatever is in samples and forecasts, drawing them ends in a picture.
func TestOddFree(t *testing.T) {
	const subnet = "subnet-1"
	var noisy []snapshot.Sample
	for i := range testfull.Of(30000, 3000) { // either is more than there are pixels in a row
		noisy = append(noisy, snapshot.Sample{Subnet: subnet, At: to.Add(-time.Duration(i) * 20 * time.Second), Free: i * 7919 % 4091, Total: 4091})
	}
	week := FreeOf{Subnet: subnet, From: to.Add(-7 * 24 * time.Hour), To: to}
	for i := range 50 {
		week.Cleaned = append(week.Cleaned, Freed{to.Add(-time.Duration(i) * time.Hour), i * 3})
	}
	for name, of := range map[string]FreeOf{
		"week":          week,
		"zero":          {},
		"no time":       {Subnet: subnet, From: to, To: to, Runway: address.Runway{Reason: address.Steady}},
		"backwards":     {Subnet: subnet, From: to, To: to.Add(-time.Hour)},
		"ends before":   {Subnet: subnet, From: to.Add(-time.Hour), To: to, Runway: address.Runway{Reason: address.Fast, Empty: to.Add(-time.Hour), Earliest: to.Add(-2 * time.Hour), Need: 1 << 40}},
		"a long name":   {Subnet: strings.Repeat(subnet, 20), From: to.Add(-time.Hour), To: to},
		"in a thousand": {Subnet: subnet, From: to.Add(-time.Hour), To: to, Runway: address.Runway{Reason: address.Steady, Empty: to.AddDate(200, 0, 0)}},
	} {
		for k, list := range [][]snapshot.Sample{noisy, {{Subnet: subnet, At: to, Free: -3, Total: -1}}, {{Subnet: subnet, At: to, Free: 1 << 40}}, nil} {
			if _, err := Free(list, of, FreeForSlack()); err != nil {
				t.Errorf("%s %d: %v", name, k, err)
			}
			if alt := FreeAlt(list, of); alt == "" {
				t.Errorf("%s %d: no words", name, k)
			}
		}
	}
	if _, err := Free(nil, FreeOf{}, Size{10, 10}); err == nil || !strings.Contains(fmt.Sprint(err), "too few") {
		t.Errorf("ten pixels: %v", err)
	}
}
