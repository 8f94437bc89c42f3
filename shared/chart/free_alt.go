package chart

import (
	"fmt"
	"strings"

	"rollcall/shared/snapshot"
)

// FreeAlt is the picture in words, for those who cannot see it.
func FreeAlt(samples []snapshot.Sample, of FreeOf) string {
	line := of.line(samples)
	if len(line.samples) == 0 {
		return fmt.Sprintf("Free addresses of %s, %s: nobody looked.", of.Subnet, during(of.From, of.To))
	}
	first, last, least := line.samples[0], line.samples[len(line.samples)-1], line.samples[0]
	for _, s := range line.samples {
		if s.Free < least.Free {
			least = s
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Free addresses of %s, %s: from %s to %s", of.Subnet, during(of.From, of.To), number(first.Free), number(last.Free))
	if last.Total > 0 {
		fmt.Fprintf(&b, " of %s", number(last.Total))
	}
	if least.Free < first.Free && least.Free < last.Free {
		fmt.Fprintf(&b, ", and %s at least, at %s", number(least.Free), least.At.UTC().Format("2 Jan 15:04"))
	}
	b.WriteString(".")
	for _, f := range of.Cleaned {
		if !f.At.Before(of.From) && !f.At.After(of.To) && f.Addresses > 0 {
			fmt.Fprintf(&b, " Cleaned up at %s: +%s.", f.At.UTC().Format("2 Jan 15:04"), number(f.Addresses))
		}
	}
	if of.Runway.Falls() {
		words := endWords(of)
		fmt.Fprintf(&b, " %s%s UTC.", strings.ToUpper(words[:1]), words[1:])
	}
	return b.String()
}
