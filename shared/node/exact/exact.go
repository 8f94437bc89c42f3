// Package exact is the statistics of few launches: Fisher's exact test over strata, and
// the interval of Clopper and Pearson.
package exact

import (
	"math"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// Stratum is launches that can be compared with each other.
type Stratum struct {
	Launches int
	Failed   int // of all launches
	Drawn    int // how many of them are those that are judged
}

// negligible is what a probability may be off by: far below any bound that
// is used here, and far above where float64 ends.
const negligible = 1e-40

// Tail is the chance that at least observed of the drawn ones are among the
// failed, if within each stratum every launch is as likely to be: Fisher's
// exact test over strata, one-sided. The sum's distribution is the convolution
// of one hypergeometric distribution for each stratum.
func Tail(strata []Stratum, observed int) float64 {
	if observed <= 0 {
		return 1
	}
	sum := distribution{p: []float64{1}}
	for _, s := range strata {
		sum = sum.plus(hypergeometric(s), observed)
	}
	return math.Min(1, sum.atLeast(observed))
}

// distribution is the probabilities of low, low+1, …
type distribution struct {
	low int
	p   []float64
}

// hypergeometric is how many of the drawn are among the failed. It is worked
// out in logarithms: the binomials of 100,000 launches overflow otherwise.
func hypergeometric(s Stratum) distribution {
	n, f, m := s.Launches, min(s.Failed, s.Launches), min(s.Drawn, s.Launches)
	if n <= 0 || f <= 0 || m <= 0 {
		return distribution{p: []float64{1}}
	}
	if m == 1 {
		share := float64(f) / float64(n)
		return distribution{p: []float64{1 - share, share}}
	}
	choose := func(n, k int) float64 { return combin.LogGeneralizedBinomial(float64(n), float64(k)) }
	low, high := max(0, m+f-n), min(m, f)
	d := distribution{low: low, p: make([]float64, high-low+1)}
	all := choose(n, m)
	for x := range d.p {
		d.p[x] = math.Exp(choose(f, low+x) + choose(n-f, m-low-x) - all)
	}
	return d.trimmed()
}

// plus is the distribution of the sum. What is at least most is kept as most:
// the tail needs no more.
func (d distribution) plus(o distribution, most int) distribution {
	low := min(d.low+o.low, most)
	high := min(d.low+o.low+len(d.p)+len(o.p)-2, most)
	sum := distribution{low: low, p: make([]float64, high-low+1)}
	for i, a := range d.p {
		for j, b := range o.p {
			sum.p[min(d.low+i+o.low+j, most)-low] += a * b
		}
	}
	return sum.trimmed()
}

// trimmed is the distribution without its negligible ends.
func (d distribution) trimmed() distribution {
	for len(d.p) > 1 && d.p[0] < negligible {
		d.low, d.p = d.low+1, d.p[1:]
	}
	for len(d.p) > 1 && d.p[len(d.p)-1] < negligible {
		d.p = d.p[:len(d.p)-1]
	}
	return d
}

// atLeast is the chance of k or more.
func (d distribution) atLeast(k int) float64 {
	var sum float64
	for i := len(d.p) - 1; i >= 0 && d.low+i >= k; i-- {
		sum += d.p[i]
	}
	return sum
}

// Interval bounds the share of which some of n were seen: Clopper and
// Pearson's exact interval, 95 %.
func Interval(some, n int) (low, high float64) {
	const half = 0.025
	low, high = 0, 1
	if n <= 0 {
		return low, high
	}
	k, all := float64(some), float64(n)
	if some > 0 {
		low = distuv.Beta{Alpha: k, Beta: all - k + 1}.Quantile(half)
	}
	if some < n {
		high = distuv.Beta{Alpha: k + 1, Beta: all - k}.Quantile(1 - half)
	}
	return low, high
}
