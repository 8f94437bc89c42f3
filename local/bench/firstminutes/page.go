package main

import (
	"fmt"
	"strings"
	"time"
)

// write is the page, on a machine with so many cores.
func write(done []step, warm bool, cores int) string {
	var b strings.Builder
	caches := "with nothing of Go's or npm's downloaded or built before"
	if warm {
		caches = "with Go's and npm's caches full"
	}
	var all time.Duration
	for _, st := range done {
		all += st.took
	}
	fmt.Fprintf(&b, `# The first ten minutes

What somebody does who has just heard of Rollcall, from an empty folder and %s, on %d cores, timed (`+"`make first-minutes`"+` does it again and writes this page): **%s** in all. There are no AWS credentials; what asks an AWS asks the [stage](stage.md) that the demo left up.

| | command | took | exit status | what it says |
|---|---|---|---|---|
`, caches, cores, inWords(all))
	for _, st := range done {
		says := strings.ReplaceAll(st.says, "|", "\\|")
		if st.says != "" && st.after < st.took*9/10 {
			says = fmt.Sprintf("after %s: %s", inWords(st.after), says)
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %d | %s |\n", st.what, st.command, inWords(st.took), st.exit, says)
	}
	return b.String()
}

// inWords is a time as people say it.
func inWords(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
}
