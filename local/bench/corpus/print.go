package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// print writes a line for each world, and a table by group.
func print(out io.Writer, verdicts []verdict) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tworld\texpected\tfound")
	for _, v := range verdicts {
		mark := "ok"
		if v.Wrong != "" {
			mark = "WRONG"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", mark, v.Name, expected(v.subject), findings(v.Found))
	}
	w.Flush()
	for _, v := range verdicts {
		if v.Wrong != "" {
			fmt.Fprintf(out, "\nWRONG %s: %s\n", v.Name, v.Wrong)
		}
	}
	fmt.Fprintln(out)
	printGroups(out, verdicts)
}

func expected(s subject) string {
	var names []string
	for _, e := range s.Expect.Incidents {
		names = append(names, strings.Join(append([]string{e.Cause}, e.Or...), " or "))
	}
	switch {
	case len(names) > 0:
		return strings.Join(names, ", ")
	case s.Expect.Unknown:
		return "cannot be told"
	}
	return "healthy"
}

func findings(f found) string {
	var names []string
	for _, i := range f.Incidents {
		if i.Confidence != "certain" {
			i.Cause += " (" + i.Confidence + ")"
		}
		names = append(names, i.Cause)
	}
	switch {
	case len(names) > 0:
		return strings.Join(names, ", ")
	case f.status == 2:
		return "could not tell"
	}
	return "healthy"
}

// tally counts a group of checks.
type tally struct {
	broken, named, healthy, alarms, blind int
}

func printGroups(out io.Writer, verdicts []verdict) {
	groups := map[string]*tally{}
	var all tally
	for _, v := range verdicts {
		name, _, _ := strings.Cut(v.Check, "/")
		if name == "" {
			name = "(several)"
		}
		if groups[name] == nil {
			groups[name] = &tally{}
		}
		for _, t := range []*tally{groups[name], &all} {
			t.count(v)
		}
	}
	var names []string
	for name := range groups {
		names = append(names, name)
	}
	slices.Sort(names)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "group\tbroken worlds\tcause named first\thealthy worlds\tfalse alarms\tcould not tell\t")
	for _, name := range names {
		groups[name].print(w, name)
	}
	all.print(w, "all")
	w.Flush()
}

func (t *tally) count(v verdict) {
	switch {
	case v.Expect.Unknown:
		t.blind++
	case v.healthy():
		t.healthy++
	default:
		t.broken++
		if v.Named {
			t.named++
		}
	}
	if v.Blind && !v.Expect.Unknown {
		t.blind++
	}
	t.alarms += len(v.Alarms)
}

func (t *tally) print(w io.Writer, name string) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t\n", name, t.broken, t.named, t.healthy, t.alarms, t.blind)
}

// printUnseen lists the reports that no world retells, and why.
func printUnseen(out io.Writer, list []unseen) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(out, "\nReports whose cause no API shows, or that are not judged yet:")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, u := range list {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", u.ID, u.Why, u.URL)
	}
	w.Flush()
}

func printRemembered(out io.Writer, list []remembered) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(out, "\nChecks of what Rollcall remembers, which these worlds cannot show, and what does:")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range list {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", r.Check, r.Why, strings.Join(r.Proof, ", "))
	}
	w.Flush()
}
