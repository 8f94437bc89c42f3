package exact

import (
	"math"
	"testing"
)

// The tail against counting every way to draw.
func TestTailCountsAllWays(t *testing.T) {
	tests := []struct {
		name     string
		strata   []Stratum
		observed int
		want     float64
	}{
		{"nothing observed", []Stratum{{10, 2, 5}}, 0, 1},
		{"no strata", nil, 1, 0},
		{"tea: 4 of 4 among 8", []Stratum{{8, 4, 4}}, 4, 1.0 / 70},
		{"tea: 3 or more", []Stratum{{8, 4, 4}}, 3, 17.0 / 70},
		{"one of three, twice", []Stratum{{3, 1, 1}, {3, 1, 1}}, 2, 1.0 / 9},
		{"at least one of two strata", []Stratum{{3, 1, 1}, {2, 1, 1}}, 1, 1 - 2.0/3*0.5},
		{"all fail: it says nothing", []Stratum{{5, 5, 2}}, 2, 1},
		{"a stratum without failures adds nothing", []Stratum{{8, 4, 4}, {9, 0, 3}}, 4, 1.0 / 70},
		{"more than there can be", []Stratum{{8, 4, 4}}, 5, 0},
		{"nonsense does not break it", []Stratum{{2, 9, 9}, {-1, 1, 1}}, 2, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Tail(tt.strata, tt.observed); math.Abs(got-tt.want) > 1e-12 {
				t.Errorf("tail = %v, want %v", got, tt.want)
			}
		})
	}
}

// A normal approximation is good in the middle of 100,000 launches, and far
// out the tail is a small number, not zero, NaN or more than 1.
func TestTailOfManyLaunches(t *testing.T) {
	s := Stratum{Launches: 100000, Failed: 50000, Drawn: 50000}
	if got := Tail([]Stratum{s}, 25000); got < 0.5 || got > 0.51 {
		t.Errorf("the middle = %v, want a little more than a half", got)
	}
	if got := Tail([]Stratum{s, s}, 50000+1000); got <= 0 || got > 1e-15 {
		t.Errorf("9 deviations out = %v", got)
	}
	if got := Tail([]Stratum{s}, 50000); got != 0 && (math.IsNaN(got) || got > 1e-100) {
		t.Errorf("all of them = %v", got)
	}
}

// Clopper and Pearson's intervals as printed in tables.
func TestInterval(t *testing.T) {
	tests := []struct {
		some, n   int
		low, high float64
	}{
		{0, 0, 0, 1},
		{0, 10, 0, 0.3085},
		{10, 10, 0.6915, 1},
		{3, 14, 0.0466, 0.5080},
		{5, 10, 0.1871, 0.8129},
	}
	for _, tt := range tests {
		low, high := Interval(tt.some, tt.n)
		if math.Abs(low-tt.low) > 5e-4 || math.Abs(high-tt.high) > 5e-4 {
			t.Errorf("interval(%d, %d) = %.4f to %.4f, want %.4f to %.4f", tt.some, tt.n, low, high, tt.low, tt.high)
		}
	}
}

func FuzzTail(f *testing.F) {
	f.Add(8, 4, 4, 3, 3, 1, 1)
	f.Add(1000, 999, 500, 2, 2, 1, 400)
	f.Fuzz(func(t *testing.T, n1, f1, m1, n2, f2, m2, observed int) {
		for _, v := range []*int{&n1, &f1, &m1, &n2, &f2, &m2} {
			*v %= 2000
		}
		got := Tail([]Stratum{{n1, f1, m1}, {n2, f2, m2}}, observed)
		if math.IsNaN(got) || got < 0 || got > 1 {
			t.Errorf("tail = %v", got)
		}
	})
}
