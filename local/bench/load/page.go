package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/shared/snapshot"
)

// page is what a run gives.
type page struct {
	options  options
	launches int
	ran      time.Duration
	uses     []use
	outcomes map[snapshot.End]int
	wrong    []string
}

// hours of a month, as AWS's own calculator counts.
const month = 730

func (p page) text() string {
	var b strings.Builder
	hour := float64(p.launches) * 60 / float64(p.options.minutes)
	fmt.Fprintf(&b, "# Load\n\n%d launches in %d minutes of stage time (%.0f an hour), and %s until all was settled.\n\n", p.launches, p.options.minutes, hour, p.ran.Round(time.Minute))
	b.WriteString("| outcome | launches |\n|---|---|\n")
	for _, end := range slices.Sorted(maps.Keys(p.outcomes)) {
		fmt.Fprintf(&b, "| %s | %d |\n", end, p.outcomes[end])
	}
	fmt.Fprintf(&b, "| none, two, or a wrong one | %d |\n\n", len(p.wrong))
	for _, w := range p.wrong[:min(len(p.wrong), 10)] {
		fmt.Fprintf(&b, "- %s\n", w)
	}
	scale := hour / float64(p.launches) // of this run to an hour
	fmt.Fprintf(&b, "| what | per 1,000 launches | price of a million | a month at %.0f an hour | |\n|---|---|---|---|---|\n", hour)
	total := 0.0
	for _, u := range p.uses {
		price, cost := "", ""
		if u.price > 0 {
			dollars := u.count * u.price * scale * month
			total += dollars
			price, cost = fmt.Sprintf("$%.4g", u.price*1e6), fmt.Sprintf("$%.2f", dollars)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", u.what, figure(u.count*1000/float64(p.launches)), price, cost, u.note)
	}
	fmt.Fprintf(&b, "| **together** | | | **$%.2f** | $%.4f per 1,000 launches |\n", total, total/(hour*month)*1000)
	return b.String()
}

func figure(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
