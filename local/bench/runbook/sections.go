package main

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/local/bench/runbook/automation"
)

// beyond is what the worlds cannot show of either side.
const beyond = `
The runbook has, and Rollcall does not:

- **The node from inside.** With the SSM agent online it asks systemd for kubelet and containerd (21), and tries the name server, the cluster's API and AWS's
  endpoints from the node (22). Rollcall reads what the node wrote to its console, and never logs in. The agent needs the network that a failing node often lacks.
- **The Reachability Analyzer** (23), when asked: AWS's own second opinion on the path to the EKS service, for a fee per analysis, over IPv4. Its result stands in
  the child execution: the final report has no input for it.
- **The cluster's own role** (3), the **control plane's interfaces** (5), **unsupported instance types** (8) and **Outposts** (17): Rollcall has no check of their
  own for these; it shows the health issues that EKS itself reports.

Rollcall has, and no step of the document describes:

- **Nobody starts it.** It looks at each launch, at all instances that share a cause at once, and closes the message when a node has joined.
- **Launches that never became an instance, and instances that have ended**: there is nothing to run the runbook on, or it stops there.
- **Endpoints beside a NAT gateway.** The runbook takes one of three branches; an interface endpoint that takes a service's name is not looked at once there is a
  NAT route.
- **What Kubernetes says**: nodes, their conditions, ` + "`aws-node`" + `, ` + "`aws-auth`" + `.
- **"Could not look"**: what a missing permission hides is named, and never passes.
`

// onlyOne tells which causes only one of the two names in the worlds.
func onlyOne(b *strings.Builder, rows []row) {
	b.WriteString("\n## What only one of them sees\n")
	var ours, theirs []string
	for _, r := range of(rows, broken) {
		_, level := r.best()
		_, named := r.named()
		id := r.truth()[0]
		if named && !level.found() && !slices.Contains(ours, id) {
			ours = append(ours, id)
		}
		if level.found() && !named && !slices.Contains(theirs, id) {
			theirs = append(theirs, id)
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	fmt.Fprintf(b, "\nIn at least one world only Rollcall names: %s.\n", links(ours))
	fmt.Fprintf(b, "\nIn at least one world only the runbook names: %s.\n", links(theirs))
	b.WriteString(beyond)
}

func brokenTable(b *strings.Builder, rows []row) {
	b.WriteString("\n## Each broken world\n\nThe runbook's column has the steps that warn, in the order of its report; **bold** is one that names the cause, *italic* one that shows a symptom of it.\n\n")
	b.WriteString("| world | cause | runbook | Rollcall |\n|---|---|---|---|\n")
	for _, r := range of(rows, broken) {
		fmt.Fprintf(b, "%s%s |\n", r.half(), r.ourCell())
	}
}

// half is a world's row without Rollcall's cell: what a test makes anew.
func (r row) half() string {
	if r.kind() == healthy {
		return fmt.Sprintf("| %s | %s | ", worldLink(r.name), steps(r.warnings()))
	}
	return fmt.Sprintf("| %s | %s | %s | ", worldLink(r.name), links(r.truth()[:1]), r.theirCell())
}

func worldLink(name string) string {
	return fmt.Sprintf("[%s](../local/worlds/corpus/%s.yaml)", name, name)
}

func (r row) theirCell() string {
	report, level := r.best()
	var order []string
	mark := map[string]string{} // the strongest of each step
	for _, f := range report.Findings {
		if !slices.Contains(order, f.Step) {
			order = append(order, f.Step)
		}
		switch {
		case names(f, r.truth()) && !f.Symptom:
			mark[f.Step] = "**"
		case names(f, r.truth()) && mark[f.Step] == "":
			mark[f.Step] = "*"
		}
	}
	var marked []string
	for _, step := range order {
		marked = append(marked, mark[step]+step+mark[step])
	}
	if level == noInstance && len(r.runs) == 0 {
		return "no instance to run it on"
	}
	if report.Stopped != "" {
		return strings.TrimSuffix(report.Stopped+": "+strings.Join(marked, ", "), ": ")
	}
	return steps(marked)
}

func steps(list []string) string {
	if len(list) == 0 {
		return "—"
	}
	return strings.Join(list, ", ")
}

func (r row) ourCell() string {
	first, named := r.named()
	var causes []string
	for _, in := range r.ours.Incidents {
		causes = append(causes, in.Cause)
	}
	switch {
	case first:
		return "first"
	case named:
		return "after " + links(causes[:1])
	}
	return links(causes)
}

// onlySymptom tells that Rollcall names a symptom and no cause.
func (r row) onlySymptom() bool {
	_, named := r.named()
	return !named && slices.ContainsFunc(r.ours.Incidents, func(i incident) bool { return i.Confidence == "symptom" })
}

func healthyTable(b *strings.Builder, rows []row) {
	b.WriteString("\n## Each healthy world\n\nEach is the nearest neighbour of a broken one: what tempts to a false alarm. Steps that warn, and causes that Rollcall names.\n\n")
	b.WriteString("| world | runbook | Rollcall |\n|---|---|---|\n")
	for _, r := range of(rows, healthy) {
		fmt.Fprintf(b, "%s%s |\n", r.half(), links(r.accused()))
	}
	notes(b, rows)
}

// notes tells which steps warn in healthy worlds, and how often.
func notes(b *strings.Builder, rows []row) {
	var list []string
	for _, s := range automation.Steps() {
		if n := count(of(rows, healthy), func(r row) bool { return slices.Contains(r.warnings(), s.Number) }); n > 0 {
			list = append(list, fmt.Sprintf("%s %d", s.Number, n))
		}
	}
	if len(list) > 0 {
		fmt.Fprintf(b, "\nHealthy worlds by the step that warns: %s.\n", strings.Join(list, ", "))
	}
}
