package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// score is what came of a package's mutants.
type score struct {
	Package string
	All     int // mutants, with those that the sample left out
	Tried   int // without the excused
	Killed  int
	// TimedOut are those with which the tests did not end. They count as noticed.
	TimedOut int
	Lived    int
	Excused  int
	Took     time.Duration
}

func (s *score) add(r result) {
	if r.Reason != "" {
		s.Excused++
		return
	}
	s.Tried++
	switch r.Fate {
	case killed:
		s.Killed++
	case timedOut:
		s.TimedOut++
	case lived:
		s.Lived++
	}
}

// Of100 is how many of 100 were noticed. Where there is nothing to notice, all
// of it was.
func (s score) Of100() float64 {
	if s.Tried == 0 {
		return 100
	}
	return 100 * float64(s.Killed+s.TimedOut) / float64(s.Tried)
}

func (s score) String() string {
	return fmt.Sprintf("%s: %.1f of 100 (%d of %d noticed, %d of them by a time limit; %d excused)",
		s.Package, s.Of100(), s.Killed+s.TimedOut, s.Tried, s.TimedOut, s.Excused)
}

func printScores(out io.Writer, scores []score, o options) {
	fmt.Fprintf(out, "\nOf each change of the code, whether a test fails (least score %.0f):\n", o.Least)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "score\ttried\tfailed\ttimed out\tlived\texcused\ttook\t  package")
	total := score{Package: "all"}
	line := func(s score) {
		note := ""
		if s.Tried+s.Excused < s.All {
			note = fmt.Sprintf(" (a sample of %d of %d, seed %d)", s.Tried+s.Excused, s.All, o.Seed)
		}
		fmt.Fprintf(t, "%.1f\t%d\t%d\t%d\t%d\t%d\t%s\t  %s%s\n", s.Of100(), s.Tried, s.Killed, s.TimedOut, s.Lived, s.Excused, s.Took.Round(time.Second), s.Package, note)
	}
	for _, s := range scores {
		line(s)
		total.All += s.Tried + s.Excused
		total.Tried += s.Tried
		total.Killed += s.Killed
		total.TimedOut += s.TimedOut
		total.Lived += s.Lived
		total.Excused += s.Excused
		total.Took += s.Took
	}
	if len(scores) > 1 {
		line(total)
	}
	_ = t.Flush() // to a terminal
}
