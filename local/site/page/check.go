// Package page writes the pages of the documentation that follow from the code: one for
// each check, their list, the command, the functions' permissions, and what texts mean.
package page

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/local/site/example"
	"rollcall/local/site/message"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/snapshot"
)

// generated stands on every page that is written here.
const generated = "<!-- Written by make generate. Do not edit. -->\n\n"

// root leads from a check's page to the repository.
const root = "../../../"

// Checks is what the pages of the checks are made of.
type Checks struct {
	List []check.Check
	// Permissions are those that reading a source takes.
	Permissions func(snapshot.Source) []string
	// Worlds counts those of the corpus that are made for a check, broken and healthy.
	Worlds map[checkid.ID]int
}

// Path is where a check's page stands, below docs/checks.
func Path(id checkid.ID) string { return string(id) + ".md" }

// FileOf is the check's code.
func FileOf(id checkid.ID) string {
	family, name, _ := strings.Cut(string(id), "/")
	return "shared/checks/" + family + "/" + strings.ReplaceAll(name, "-", "_") + ".go"
}

// Example is the section of a check's page that shows what is said of it; it takes a look
// at a world, so that a test can leave it as it is.
func Example(c check.Check, e example.Example, found bool) string {
	var b strings.Builder
	b.WriteString("## Example\n\n")
	switch {
	case !found && slices.Contains(c.Needs, snapshot.LaunchHistory) || !found && c.ID.Family() == checkid.Spot:
		b.WriteString("It goes by the launches of days, which no single world of the corpus has. [The stories](../../stories.md) show a Spot report and its messages.\n")
		return b.String()
	case !found && c.ID.Family() == checkid.IP:
		b.WriteString("It goes by days of the subnet, or stands beside another finding. [The stories](../../stories.md) show a message about a subnet that was emptied.\n")
		return b.String()
	case !found:
		b.WriteString("It is evidence beside another cause, and has no message of its own.\n")
		return b.String()
	}
	lead := map[example.Shown]string{
		example.Posted:  "What is posted about this world of the corpus:",
		example.Beside:  "It has no message of its own here: it stands in the thread of another cause, whose message this is. The world:",
		example.Advised: "It is no incident, so nothing is posted; `rollcall diagnose` prints it, last. The world:",
	}[e.Shown]
	fmt.Fprintf(&b, "%s [%s](%slocal/worlds/corpus/%s.yaml). %s\n\n", lead, e.World, root, e.World, message.Escape(e.About))
	b.WriteString("<div class=\"message\">\n\n" + strings.TrimSpace(e.Message) + "\n\n</div>\n")
	return b.String()
}

// Between takes the example out of a page that stands.
func Between(page string) (string, bool) {
	_, rest, found := strings.Cut(page, "\n## Example\n")
	if !found {
		return "", false
	}
	text, _, found := strings.Cut(rest, "\n## ")
	return "## Example\n" + text, found
}

// Check is a check's page.
func (p Checks) Check(c check.Check, example string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n`%s`\n\n", generated, message.Escape(c.Title), c.ID)
	fmt.Fprintf(&b, "%s\n\n**Fix.** %s\n\n", prose(c.Cause), prose(c.Fix))
	if c.Remedy != "" {
		fmt.Fprintf(&b, "Rollcall can do it where you let it: the remedy [`%s`](../../remedies.md#%s).\n\n", c.Remedy, c.Remedy)
	}
	b.WriteString("## How sure, and how it is told\n\n")
	fmt.Fprintf(&b, "- %s\n- %s\n", sure(c), who(c))
	if c.Confidence != checks.Advice {
		fmt.Fprintf(&b, "- %s\n- %s\n", urgent(c), ends(c))
	}
	b.WriteString("\n" + strings.TrimSpace(example) + "\n\n## What it reads\n\n")
	b.WriteString(p.table(c))
	unread := "the check says *unknown* and names the permission that is missing"
	if c.Optional {
		unread = "no verdict changes: a symptom without a cause lists the check as not checked, with the permission"
	}
	fmt.Fprintf(&b, "\nWhere one of them could not be read, %s.\n", unread)
	if explaining := checks.Explaining(p.List, c); len(explaining) > 0 {
		b.WriteString("\n## What explains it\n\nWhere one of these fails for the same instances, it is the cause, and this one is hidden behind it: ")
		b.WriteString(p.links(explaining) + ".\n")
	}
	b.WriteString("\n## Sources\n\n")
	for _, l := range c.Links {
		fmt.Fprintf(&b, "- <%s>\n", l)
	}
	file := FileOf(c.ID)
	fmt.Fprintf(&b, "- [%s](%s%s)", file, root, file)
	if n := p.Worlds[c.ID]; n > 0 {
		fmt.Fprintf(&b, ", held on %d of [the corpus's worlds](%slocal/worlds/corpus)", n, root)
	}
	b.WriteString("\n")
	return b.String()
}

// table is what a check reads, and with which permissions.
func (p Checks) table(c check.Check) string {
	var b strings.Builder
	b.WriteString("| what | permissions |\n|---|---|\n")
	row := func(s snapshot.Source, note string) {
		var actions []string
		for _, a := range slices.Sorted(slices.Values(p.Permissions(s))) {
			actions = append(actions, "`"+a+"`")
		}
		fmt.Fprintf(&b, "| %s%s | %s |\n", s, note, strings.Join(actions, ", "))
	}
	for _, s := range c.Needs {
		row(s, "")
	}
	for _, s := range c.Uses {
		row(s, ", where it decides")
	}
	return b.String()
}

func (p Checks) links(ids []checkid.ID) string {
	var list []string
	for _, id := range ids {
		text := "`" + string(id) + "`"
		if slices.ContainsFunc(p.List, func(c check.Check) bool { return c.ID == id }) {
			text = "[" + text + "](../" + Path(id) + ")"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

func sure(c check.Check) string {
	switch c.Confidence {
	case checks.Certain:
		return "**Certain**: the finding alone explains the failure."
	case checks.Likely:
		return "**Likely**: it explains the failure, and something else still could. A certain cause comes before it."
	case checks.Possible:
		return "**Possible**: it may matter. A certain or likely cause comes before it."
	case checks.Symptom:
		return "**A symptom**: it says that something is wrong, and not why. A cause hides it."
	}
	return "**Advice**: nothing fails because of it. It is no incident, and nobody is called."
}

// who tells which function finds it, and when.
func who(c check.Check) string {
	var list []string
	if c.AtLaunch && c.IsWatchedBy(check.JoinCheck) {
		list = append(list, "launch-watch within seconds of the launch")
	}
	for _, d := range check.Detectors() {
		if !c.IsWatchedBy(d) {
			continue
		}
		list = append(list, map[check.Detector]string{
			check.JoinCheck:      "join-check when a launch is late",
			check.Sweep:          "join-check's sweep every five minutes, whether or not an instance is in trouble",
			check.NodegroupWatch: "nodegroup-watch when a nodegroup changes, and every five minutes",
			check.SubnetWatch:    "subnet-watch every five minutes",
			check.ZoneWatch:      "zone-watch every five minutes, and when a nodegroup changes",
			check.SpotReport:     "spot-report every hour",
		}[d])
	}
	return "Found by " + strings.Join(list, "; by ") + "."
}

// urgent is incident.Severity in words.
func urgent(c check.Check) string {
	switch {
	case c.Proof == check.Impossible:
		return "Critical: it is about instances that are gone."
	case c.Breaks == check.Launching:
		return "Critical: the group gets no instances."
	case c.Breaks == check.Addresses:
		return "A warning while it is only foreseen, critical once launches or nodes are affected."
	case c.Breaks == check.Pods:
		return "Critical while pods wait for it, else a warning."
	case c.Breaks == check.Managed:
		return "A warning, critical once new instances do not become Ready."
	}
	if c.Confidence == checks.Certain {
		return "A warning until a launch meets it, then critical."
	}
	return "A warning until an instance that should be a node is late, then critical."
}

// ends tells what closes its incident.
func ends(c check.Check) string {
	switch c.Proof {
	case check.ByPassing:
		return "The incident closes when the check passes."
	case check.ByPassingUnmet:
		return "The incident closes when the check passes; if launches were affected, when a new node has joined."
	case check.Impossible:
		return "The incident closes when later launches join."
	}
	return "The incident closes when the check passes and a new node has joined."
}

// prose is a text of the catalogue, in which nothing is meant as HTML.
func prose(text string) string { return strings.ReplaceAll(text, "<", "&lt;") }
