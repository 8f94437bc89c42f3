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

	"rollcall/shared/network/address"
	"rollcall/shared/node/spotreport"
	"rollcall/shared/snapshot"
	"rollcall/tools/testfile"
	"rollcall/tools/testfull"
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
			testfile.Write(t, filepath.Join(dir, s.name+".png"), picture)
			t.Logf("%s: %d bytes", s.name, len(picture))
		}
	}
}

// Whatever is in samples and forecasts, drawing them ends in a picture.
func TestOddFree(t *testing.T) {
	const subnet = "subnet-1"
	var noisy []snapshot.Sample
	for i := range testfull.Count(30000, 3000) { // either is more than there are pixels in a row
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

var to = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func reportOf(pools int) spotreport.Report {
	r := spotreport.Report{Cluster: "prod", From: to.Add(-24 * time.Hour), To: to}
	types := []string{"m5.large", "c5.4xlarge", "m6i.2xlarge", "r5b.metal", "m7g.xlarge"}
	for i := range pools {
		p := spotreport.Pool{Type: types[i%len(types)], Zone: "us-west-2" + string(rune('a'+i%3)), Spot: true}
		p.Requested = 90 - 2*i%80
		if i < 5 {
			p.NotJoined, p.Reclaimed, p.Refused = max(28-9*i, 0), i*4%7, i%3*2
		}
		p.Lost = i % 4
		p.Joined = p.Requested - p.NotJoined - p.Reclaimed - p.Refused - i%2
		p.Open = i % 2
		p.Failing = i == 0
		r.Pools = append(r.Pools, p)
		r.Spot = sum(r.Spot, p.Funnel)
	}
	d := spotreport.Pool{Type: "m5.large", Zone: "us-west-2a", Funnel: spotreport.Funnel{Requested: 42, Launched: 42, Joined: 42}}
	r.Pools, r.OnDemand = append(r.Pools, d), d.Funnel
	return r
}

func burst(hour float64, demand, had int) spotreport.Burst {
	began := to.Add(-24*time.Hour + time.Duration(hour*float64(time.Hour)))
	return spotreport.Burst{Subnet: "subnet-0ab1c2d3e4f5a6b7c", Began: began, Last: began.Add(4 * time.Minute), Launches: demand / 60, Demand: demand, Had: had, HadKnown: true, Total: 251, Failed: max(0, demand-had) / 60}
}

func samplesOf(subnet string, total int, bursts ...spotreport.Burst) []snapshot.Sample {
	var list []snapshot.Sample
	for h := range 25 {
		list = append(list, snapshot.Sample{Subnet: subnet, At: to.Add(time.Duration(h-24) * time.Hour), Free: total - h%5*7, Total: total})
	}
	for _, b := range bursts {
		list = append(list, snapshot.Sample{Subnet: subnet, At: b.Began, Free: b.Had, Total: total})
		for m := range 20 {
			list = append(list, snapshot.Sample{Subnet: subnet, At: b.Began.Add(time.Duration(m+1) * time.Minute), Free: max(b.Had-b.Demand*(m+1)/5, 0), Total: total})
		}
		list = append(list, snapshot.Sample{Subnet: subnet, At: b.Began.Add(40 * time.Minute), Free: b.Had / 2, Total: total})
	}
	return list
}

type scene struct {
	name    string
	report  spotreport.Report
	samples []snapshot.Sample
}

func scenes() []scene {
	const subnet = "subnet-0ab1c2d3e4f5a6b7c"
	with := func(r spotreport.Report, bursts ...spotreport.Burst) spotreport.Report { r.Bursts = bursts; return r }
	one := burst(6, 480, 251)
	many := []spotreport.Burst{burst(2, 480, 230), burst(2.5, 470, 40), burst(8, 420, 251), burst(9, 300, 251), burst(14, 260, 240), burst(20, 120, 251), burst(23.9, 60, 251)}
	long := reportOf(6)
	long.Cluster = "a-" + strings.Repeat("very-long-", 9) + "name"
	for i := range long.Pools {
		long.Pools[i].Type, long.Pools[i].Zone = "u7in-24tb.224xlarge-and-longer", "us-gov-west-1-lax-1a"
	}
	unknown := burst(6, 480, 0)
	unknown.HadKnown = false
	nothing := spotreport.Report{Cluster: "prod", From: to.Add(-24 * time.Hour), To: to}
	week := reportOf(12)
	week.From = to.Add(-7 * 24 * time.Hour)
	several := append(samplesOf(subnet, 251, one), samplesOf("subnet-0bbbbbbbbbbbbbbbb", 507)...)
	for i := range 4 {
		several = append(several, samplesOf(fmt.Sprintf("subnet-%017d", i), 123+i)...)
	}
	evening := []spotreport.Burst{burst(21.8, 720, 251), burst(22.4, 720, 251), burst(23, 720, 251)}
	for i := range evening {
		evening[i].Last, evening[i].Failed = evening[i].Began.Add(2*time.Second), 7
	}
	gone := reportOf(5)
	for i := range gone.Pools {
		gone.Pools[i].Lost = gone.Pools[i].Joined
	}
	return []scene{
		{"three-bursts", with(reportOf(11), evening...), samplesOf(subnet, 251, evening...)},
		{"all-lost", with(gone, one), samplesOf(subnet, 251, one)},
		{"1-pool", with(reportOf(1), one), samplesOf(subnet, 251, one)},
		{"3-pools", with(reportOf(3), one), samplesOf(subnet, 251, one)},
		{"12-pools", with(reportOf(12), one), several},
		{"40-pools", with(reportOf(40), many...), samplesOf(subnet, 251, many...)},
		{"no-samples", reportOf(8), nil},
		{"burst-without-samples", with(reportOf(8), unknown), nil},
		{"many-bursts", with(reportOf(5), many...), samplesOf(subnet, 251, many...)},
		{"long-names", with(long, one), samplesOf(subnet, 251, one)},
		{"week", with(week, one), samplesOf(subnet, 251, one)},
		{"nothing", nothing, nil},
		{"quiet-subnet", reportOf(2), samplesOf(subnet, 4091)},
	}
}

// TestCharts draws every scene, the same bytes each time. With ROLLCALL_CHARTS
// naming a folder it writes them there, for people to look at.
func TestCharts(t *testing.T) {
	for _, s := range scenes() {
		picture, err := Spot(s.report, s.samples, ForSlack())
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		img, err := png.Decode(bytes.NewReader(picture))
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if b := img.Bounds(); b.Dx() != 1600 || b.Dy() > 1000 || b.Dy() < 250 {
			t.Errorf("%s: it is %v", s.name, b)
		}
		if again, err := Spot(s.report, s.samples, ForSlack()); err != nil || !bytes.Equal(picture, again) {
			t.Errorf("%s: drawn again it differs (%v)", s.name, err)
		}
		if dir := os.Getenv("ROLLCALL_CHARTS"); dir != "" {
			testfile.Write(t, filepath.Join(dir, s.name+".png"), picture)
			t.Logf("%s: %d bytes", s.name, len(picture))
		}
	}
}

// Whatever is in a report and its samples, drawing it ends in a picture that
// is small enough.
func TestOddReports(t *testing.T) {
	const most = 1 << 40
	odd := reportOf(12)
	odd.From = odd.To
	odd.Pools[0].Type, odd.Pools[1].Zone, odd.Cluster = "", "", ""
	odd.Pools[2].Funnel = spotreport.Funnel{Requested: most, NotJoined: most, Reclaimed: most, Joined: -3, Lost: most}
	odd.Bursts = []spotreport.Burst{{}, {Began: to, Demand: most, Had: -1, HadKnown: true}, {Began: to.Add(time.Hour), Last: to.Add(-time.Hour), Demand: -5}}
	noisy := reportOf(12)
	var samples []snapshot.Sample
	for i := range testfull.Count(30000, 3000) { // either is more than there are pixels in a row
		samples = append(samples, snapshot.Sample{Subnet: fmt.Sprint("subnet-", i%20), At: to.Add(-time.Duration(i) * time.Second), Free: i * 7919 % 4091, Total: 4091})
	}
	for name, r := range map[string]spotreport.Report{"odd": odd, "noisy": noisy, "zero": {}} {
		if picture, err := Spot(r, samples, ForSlack()); err != nil {
			t.Errorf("%s: %d bytes, %v", name, len(picture), err)
		}
	}
	if _, err := Spot(odd, nil, Size{10, 10}); err == nil {
		t.Error("ten pixels were enough")
	}
}

func TestRows(t *testing.T) {
	for n, want := range map[int]int{1: 2, 11: 12, 12: 12, 40: 12} {
		list := rows(reportOf(n), mostRows)
		if len(list) != want || list[len(list)-1].label != "on demand, all" {
			t.Errorf("%d pools: %d rows, the last is %q", n, len(list), list[len(list)-1].label)
		}
	}
	list := rows(reportOf(40), mostRows)
	if list[10].label != "30 other pools" || !list[0].failing {
		t.Errorf("the last but one is %q, the first is failing: %v", list[10].label, list[0].failing)
	}
	all := 0
	for _, l := range list[:11] {
		all += l.funnel.Requested
	}
	if want := reportOf(40).Spot.Requested; all != want {
		t.Errorf("the rows hold %d launches, want %d", all, want)
	}
}

func TestRoundStep(t *testing.T) {
	for most, want := range map[float64]float64{3: 1, 9.6: 5, 280: 100, 576: 200, 1000: 250, 5000: 2000} {
		if got := roundStep(most, 4); got != want {
			t.Errorf("roundStep(%v) = %v, want %v", most, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1310: "1,310", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := number(n); got != want {
			t.Errorf("number(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestWindow(t *testing.T) {
	day := spotreport.Report{From: to.Add(-24 * time.Hour), To: to}
	const subnet = "subnet-0ab1c2d3e4f5a6b7c"
	of := func(bursts ...spotreport.Burst) []subnetLine {
		r := day
		r.Bursts = bursts
		return subnetLines(r, samplesOf(subnet, 251, bursts...))
	}
	evening := []spotreport.Burst{burst(21.5, 720, 251), burst(22.1, 720, 251)}
	fitted := burst(23.5, 144, 251)
	early, late := burst(1, 720, 251), burst(23, 720, 251)
	tests := []struct {
		name   string
		report spotreport.Report
		bursts []spotreport.Burst
		lines  []subnetLine
		want   string
	}{
		{"bursts, and the subnet's recovery", day, evening, of(evening...), "21 Nov, 05:22 to 07:07 UTC"},
		{"what fitted soon after is shown too", day, append(evening, fitted), of(evening...), "21 Nov, 05:19 to 07:44 UTC"},
		{"what fitted long before is not", day, append(evening, burst(3, 144, 251)), of(evening...), "21 Nov, 05:22 to 07:07 UTC"},
		{"all day", day, []spotreport.Burst{early, late}, of(early, late), "20 Nov 08:00 to 21 Nov 08:00 UTC"},
		{"only what fitted, an hour at least", day, []spotreport.Burst{fitted}, nil, "21 Nov, 07:00 to 08:00 UTC"},
		{"no burst: where somebody looked", day, nil, []subnetLine{{subnet, []snapshot.Sample{{At: to.Add(-5 * time.Hour)}, {At: to.Add(-2 * time.Hour)}}}}, "21 Nov, 02:45 to 06:15 UTC"},
		{"nothing", day, nil, nil, "20 Nov 08:00 to 21 Nov 08:00 UTC"},
		{"outside", day, []spotreport.Burst{{Began: to.Add(time.Hour)}}, nil, "20 Nov 08:00 to 21 Nov 08:00 UTC"},
		{"half an hour", spotreport.Report{From: to.Add(-30 * time.Minute), To: to}, evening, of(evening...), "21 Nov, 07:30 to 08:00 UTC"},
	}
	for _, tt := range tests {
		if got := during(window(tt.report, tt.bursts, tt.lines)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
