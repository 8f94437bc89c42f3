package main

import (
	"fmt"
	"slices"
	"strings"
)

// count are the messages of a program by what is known of them.
type count struct{ messages, row, nothing, healthy, open int }

func countOf(l listed) count {
	c := count{messages: len(l.messages)}
	for _, m := range l.messages {
		switch m.class.kind() {
		case classRow:
			c.row++
		case classNothing:
			c.nothing++
		case classHealthy:
			c.healthy++
		case classOpen:
			c.open++
		}
	}
	return c
}

// page is docs/messages.md: counts by program, the packages that were walked, the rules.
func page(all []listed) string {
	var b strings.Builder
	b.WriteString("<!-- Written by go run ./tools/messages walk -write. Do not edit. -->\n\n# Messages of the programs that a join passes through\n\n" +
		"What can the kubelet, containerd, the VPC CNI, Karpenter and the others print when a node does not join, and how much of it does `rollcall explain` know? " +
		"The counts come from their source code: a tool parses the pinned modules and lists each error, log line, event, condition and error code in the packages that a join passes through.\n\n" +
		"Each message is in one of three lists: it has a **row** (`rollcall explain` names a check or a meaning), it says **nothing** about a join, or it is **healthy** (a node without a fault prints it). " +
		"The lists in `tools/messages/lists` hold references: package, function, kind, level, a hash of the format, and the list. They hold no sentences. " +
		"Only the fixed parts of a message make it known: variable parts are filled with meaningless values, errors with \"some error\". " +
		"An error that a program prints in one fixed line is read as that line.\n\n" +
		"## Coverage\n\n| program | version | messages | rows | says nothing | healthy | open |\n|---|---|---:|---:|---:|---:|---:|\n")
	var sum count
	for _, l := range all {
		c := countOf(l)
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d |\n", l.name, short(l.version), c.messages, c.row, c.nothing, c.healthy, c.open)
		sum = count{sum.messages + c.messages, sum.row + c.row, sum.nothing + c.nothing, sum.healthy + c.healthy, sum.open + c.open}
	}
	fmt.Fprintf(&b, "| **all** | | **%d** | **%d** | **%d** | **%d** | **%d** |\n\n", sum.messages, sum.row, sum.nothing, sum.healthy, sum.open)
	b.WriteString("Versions are the newest that the Go module proxy has and that this repository's Go toolchain accepts. The proxy has only an early version of nodeadm. " +
		"The EBS CSI driver, cluster-autoscaler, node-termination-handler, the Pod Identity agent and newer nodeadm are not available as Go modules, and Bottlerocket, cloud-init and systemd are not written in Go: they are covered by their documentation, in the rows of `rollcall explain`, and are not counted here. " +
		"Files that Linux does not build are left out.\n\n" +
		"CI walks the modules again (`.ci/run messages`) and fails if a message is in no list. `go run ./tools/messages walk -new module@version` shows what a new version adds.\n\n## Packages\n\n")
	for _, l := range all {
		if l.module == "" {
			fmt.Fprintf(&b, "**%s**: %s.\n\n", l.name, l.packages[0].why)
			continue
		}
		fmt.Fprintf(&b, "**%s**, `%s` %s\n\n", l.name, l.module, l.version)
		for _, w := range l.packages {
			dirs := strings.Fields(w.dirs)
			if l.line == codeForm {
				dirs = []string{"types"}
			}
			fmt.Fprintf(&b, "- `%s`: %s\n", strings.Join(dirs, "`, `"), w.why)
		}
		b.WriteString("\n")
	}
	b.WriteString("## Why a message says nothing, or is healthy\n\nLog lines of level info and below, Normal events and conditions that turn good are healthy if their text does not mention a fault. The first matching rule of this table decides about all others.\n\n| rule | program | messages | why |\n|---|---|---:|---|\n")
	for _, r := range rules() {
		n := 0
		for _, l := range all {
			for _, m := range l.messages {
				if m.class == r.class+":"+class(r.name) {
					n++
				}
			}
		}
		fmt.Fprintf(&b, "| %s: %s | %s | %d | %s |\n", r.class, r.name, programsOf(r, all), n, r.why)
	}
	return b.String()
}

// programsOf names the programs for which a rule is.
func programsOf(r rule, all []listed) string {
	re := form(r.program)
	if re == nil {
		return "all"
	}
	var names []string
	for _, l := range all {
		if re.MatchString(l.name) {
			names = append(names, l.name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// short is a version without a commit's time and hash.
func short(version string) string {
	if parts := strings.Split(version, "-"); len(parts) == 3 && len(parts[2]) == 12 {
		return parts[1][:8]
	}
	return version
}
