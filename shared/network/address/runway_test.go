package address

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"rollcall/shared/snapshot"
)

var now = time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC) // a Friday

// series is what a subnet of 1,019 addresses had every five minutes until now,
// by how many hours ago that was.
func series(hours float64, free func(ago float64) float64) []snapshot.Sample {
	var list []snapshot.Sample
	for ago := time.Duration(hours * float64(time.Hour)); ago >= 0; ago -= slot {
		v := math.Round(min(max(free(ago.Hours()), 0), 1019))
		list = append(list, snapshot.Sample{Subnet: "subnet-1", At: now.Add(-ago), Free: int(v), Total: 1019})
	}
	return list
}

func wave(ago float64) float64 { return 600 + 250*math.Cos(ago*math.Pi/12) }

func TestForecast(t *testing.T) {
	fall := func(perHour, left float64) func(float64) float64 {
		return func(ago float64) float64 { return min(left+perHour*ago, 1000) }
	}
	tests := []struct {
		name    string
		samples []snapshot.Sample
		reason  Reason
		left    time.Duration // of falls, to a tenth
	}{
		{"nothing", nil, TooFewSamples, 0},
		{"three looks", series(0.17, fall(10, 500)), TooFewSamples, 0},
		{"nobody looked lately", series(72, fall(10, 500))[:72*12-10], TooFewSamples, 0},
		{"still", series(72, fall(0, 500)), NoTrend, 0},
		{"no more than needed", series(72, fall(50, 9)), Reached, 0},
		{"a leak of hours", series(72, fall(42, 429)), Steady, 10 * time.Hour},
		{"a leak of days", series(24*14, fall(4, 105)), Steady, 24 * time.Hour},
		{"ten a minute", series(72, fall(600, 259)), Fast, 25 * time.Minute},
		{"a leak on a daily wave", series(24*10, func(ago float64) float64 { return wave(ago) - 300 + 5*min(ago, 60) }), Steady, 11 * time.Hour},
		{"a daily wave, as it falls", series(24*10, func(ago float64) float64 { return wave(ago + 16) }), Wave, 0},
		{"one deployment", series(72, func(ago float64) float64 { return 900 - 600*b(ago < 1) }), NoTrend, 0},
		{"one that takes a quarter of an hour", series(72, func(ago float64) float64 { return 900 - 600*min(max(1-ago, 0)*4, 1) }), NoTrend, 0},
		{"a spike just now", series(72, func(ago float64) float64 { return 900 - 880*b(ago < 0.01) }), NoTrend, 0},
		{"a leak that ended", series(72, func(ago float64) float64 { return 300 + 40*max(ago-8, 0) }), NoTrend, 0},
		{"given back", series(72, func(ago float64) float64 { return 300 + 40*min(ago, 15) + 400*b(ago < 0.3) }), Rising, 0},
		{"rising", series(72, func(ago float64) float64 { return 600 - 5*ago }), Rising, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Forecast(tt.samples, 9, now)
			left, known := r.Left(now)
			if r.Reason != tt.reason || known != (tt.left > 0 || tt.reason == Reached) {
				t.Fatalf("Forecast = %+v, want %q", r, tt.reason)
			}
			if d := left - tt.left; d.Abs() > tt.left/10+5*time.Minute {
				t.Errorf("%s are left, want about %s (%+v)", left, tt.left, r)
			}
			if r.Falls() && (r.Earliest.After(r.Empty) || !r.Latest.IsZero() && r.Latest.Before(r.Empty) || r.Since.After(now) || r.From < r.Free) {
				t.Errorf("odd: %+v", r)
			}
		})
	}
}

func b(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func TestSince(t *testing.T) {
	r := Forecast(series(96, func(ago float64) float64 { return min(1000, 400+50*ago) }), 9, now)
	if got := now.Sub(r.Since); (got-12*time.Hour).Abs() > time.Hour || r.From < 980 || r.From > 1020 || math.Abs(r.PerHour-50) > 1 {
		t.Errorf("since %s, from %d, %v an hour; want 12 h, 1000, 50", got, r.From, r.PerHour)
	}
}

// Gaps, restarts, looks by others in between and the order do not matter; another
// number of addresses is another subnet.
func TestForecastOfOddSamples(t *testing.T) {
	leak := series(72, func(ago float64) float64 { return min(1000, 429+42*ago) })
	rng := rand.New(rand.NewPCG(1, 2))
	holes := slices.DeleteFunc(slices.Clone(leak), func(s snapshot.Sample) bool {
		ago := now.Sub(s.At).Hours()
		return rng.Float64() < 0.1 || ago > 20 && ago < 26 || ago > 6 && ago < 6.7
	})
	twice := append(slices.Clone(leak), leak...)
	unknown := slices.Clone(leak)
	for i := range unknown {
		unknown[i].Total *= i % 2
	}
	hours := append(slices.DeleteFunc(slices.Clone(leak), func(s snapshot.Sample) bool { return now.Sub(s.At) > 24*time.Hour }), slices.DeleteFunc(slices.Clone(leak), func(s snapshot.Sample) bool {
		return now.Sub(s.At) <= 24*time.Hour || s.At.Minute() != 55
	})...)
	rng.Shuffle(len(hours), func(i, k int) { hours[i], hours[k] = hours[k], hours[i] })
	later := append(slices.Clone(leak), snapshot.Sample{At: now.Add(time.Hour), Free: 1000, Total: 1019})
	for name, list := range map[string][]snapshot.Sample{"holes": holes, "twice": twice, "totals unknown": unknown, "hours before today, in any order": hours, "one of tomorrow": later} {
		r := Forecast(list, 9, now)
		left, _ := r.Left(now)
		if r.Reason != Steady || (left-10*time.Hour).Abs() > time.Hour {
			t.Errorf("%s: %+v, want a steady fall that leaves 10 h", name, r)
		}
	}
	grown := slices.Clone(leak)
	for i := range grown[:len(grown)-3] {
		grown[i].Total = 507
	}
	if r := Forecast(grown, 9, now); r.Reason != TooFewSamples {
		t.Errorf("another subnet: %+v", r)
	}
}

// A warning does not come and go with what is foretold, and ends when addresses
// come back. It is the same whether the samples are added one by one or read.
func TestWarn(t *testing.T) {
	leak := func(ago float64) float64 { return min(1000, 20+20*(ago+24)) }
	samples := series(120, func(ago float64) float64 { return leak(ago - 24) })
	var w Series
	began, flips, last := time.Time{}, 0, false
	for i, s := range samples {
		w.Add(s)
		_, warn := w.Warn(9, 24*time.Hour, s.At)
		if warn != last {
			flips++
			last = warn
			if warn {
				began = s.At
			}
		}
		if i%97 == 0 {
			if _, again := Warn(samples[:i+1], 9, 24*time.Hour, s.At); again != warn {
				t.Errorf("%s: %v one by one, %v all at once", s.At, warn, again)
			}
		}
	}
	if flips != 1 || now.Sub(began) < 20*time.Hour {
		t.Errorf("it changed %d times, first %s before the end", flips, now.Sub(began))
	}
	back := append(samples[:len(samples)-6:len(samples)-6], samples[len(samples)-6:]...)
	for i := len(back) - 3; i < len(back); i++ {
		back[i].Free += 600
	}
	if r, warn := Warn(back, 9, 24*time.Hour, now); warn {
		t.Errorf("after 600 came back: %+v", r)
	}
}

// Whatever the samples are, a forecast ends, and what it says is whole.
func FuzzForecast(f *testing.F) {
	f.Add(uint64(1), 300, 9, 251)
	f.Add(uint64(2), 2500, 0, 0)
	f.Add(uint64(3), 20, -5, 4091)
	f.Fuzz(func(t *testing.T, seed uint64, n, need, total int) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var list []snapshot.Sample
		at, free := now, total
		for range min(max(n, 0), 3000) {
			at = at.Add(-time.Duration(rng.Int64N(int64(10 * time.Minute))))
			if rng.IntN(200) == 0 {
				at = at.Add(-time.Duration(rng.Int64N(int64(40 * 24 * time.Hour))))
			}
			free += rng.IntN(21) - 9
			list = append(list, snapshot.Sample{At: at, Free: free, Total: total})
		}
		r, _ := Warn(list, need, 24*time.Hour, now)
		if r.Falls() && (r.Empty.IsZero() || math.IsNaN(r.PerHour) || r.PerHour <= 0 || r.Since.IsZero()) {
			t.Errorf("%+v", r)
		}
	})
}
