package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/local/platform/lambdaruntime"
)

// pricePerGBSecond is Lambda's for arm64 in us-east-1 (aws.amazon.com/lambda/pricing).
const pricePerGBSecond = 0.0000133334

// chosen says why each function has the memory that it has.
const chosen = `Chosen: 256 MB, the knee for most. With 128 MB a function takes up to half as long again for half the price, and a press in Slack, a launch and its message are what people wait for. eni-cleanup, subnet-watch and
spot-report have more for what this small world does not show: 100,000 interfaces to count ([leaks.md](leaks.md)), 300,000 launches to judge and charts to draw ([load.md](load.md)). change-check waits for
CloudTrail's two calls a second whatever its memory. slack-actions answers in time at every size.
`

// write is the page.
func write(all []measured, how string, rounds int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<!-- Written by make lambda-times. -->
# What the functions take on Lambda's CPU

A function has a share of a core in proportion to its memory: memory / %d MB ([Lambda's guide](https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html)); 256 MB are %.0f %% of one core.
Here each function's real program ran with that share (%s), with %d ms on every call of AWS and Kubernetes, one after the other, on the world of the
[sample events](../events/in): a launch into a broken subnet, what follows from it to the approval in Slack, and each sweep. Medians of %d cold starts (a new process,
from its start to its answer) and of the warm invocations, in milliseconds; in brackets the slowest. The programs are this machine's (amd64), not Lambda's arm64, and the share is
held from the first instruction: Lambda is kinder to a function's start.

Other figures of the README and of this documentation were measured with whole cores and calls over loopback, unless they say that they come from this page.

`, lambdaruntime.MemoryOfOneCPU, 100*lambdaruntime.CPUShare(256), how, latency.Milliseconds(), rounds)
	own := slices.DeleteFunc(slices.Clone(all), func(m measured) bool { return !m.own })
	b.WriteString("## At its own memory\n\n| function | memory (MB) | cold | warm | resident (MB) | $ for 1,000 warm |\n|---|---|---|---|---|---|\n")
	for _, m := range own {
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %d | %.4f |\n", m.function, m.memory, span(m.cold), span(m.warm), m.resident, 1000*cost(m))
	}
	if len(own) == len(all) {
		return b.String()
	}
	b.WriteString("\n## At other sizes\n\nCold / warm, and what 1,000 warm invocations cost. Waiting for calls costs memory too: past the point where the work is no longer what takes the time, more memory costs more and saves little.\n\n" + chosen + "\n| function |")
	for _, size := range sizes() {
		fmt.Fprintf(&b, " %d MB |", size)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(sizes())) + "\n")
	for _, m := range own {
		fmt.Fprintf(&b, "| %s |", m.function)
		for _, size := range sizes() {
			i := slices.IndexFunc(all, func(x measured) bool { return !x.own && x.function == m.function && x.memory == size })
			if i < 0 {
				b.WriteString(" |")
				continue
			}
			fmt.Fprintf(&b, " %d / %d, $%.4f |", median(all[i].cold).Milliseconds(), median(all[i].warm).Milliseconds(), 1000*cost(all[i]))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// cost is what a warm invocation costs, in dollars, without the request.
func cost(m measured) float64 {
	return median(m.warm).Seconds() * float64(m.memory) / 1024 * pricePerGBSecond
}

// span is the median and the slowest.
func span(list []time.Duration) string {
	if len(list) == 0 {
		return "not measured"
	}
	return fmt.Sprintf("%d (%d)", median(list).Milliseconds(), slices.Max(list).Milliseconds())
}

func median(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.SortedFunc(slices.Values(list), cmp.Compare)
	return sorted[len(sorted)/2]
}
