package messagecheck

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	// counted are quantities of things that a dialog and a message both tell.
	counted = regexp.MustCompile(`\b([\d,]+) (interface|node|instance|address|route|pod|volume)(?:e?s)?\b`)
	// change is "from 2 to 3".
	change = regexp.MustCompile(`\bfrom [\d,]+ to [\d,]+\b`)
	ids    = regexp.MustCompile(`\b(?:subnet|rtb|nat|eni|vpc|vol|sg|igw|i)-[0-9a-f]{4,17}\b`)
	given  = regexp.MustCompile(`\b(?:can delete|will delete|deletes) ([\d,]+) interfaces?\b`)
)

// asked holds what a dialog asks against the message that it stands in: what is approved
// there is what is offered above, as many of the same things.
func asked(lines []Line) (found []string) {
	var fix string
	var all strings.Builder
	commands := 0
	for _, l := range lines {
		if l.Label == Asked {
			continue
		}
		all.WriteString(l.Text + "\n")
		if l.Label == "Fix" {
			fix += l.Text + "\n"
		}
		if l.Copied {
			commands += strings.Count(l.Text, "aws ec2 delete-network-interface ")
		}
	}
	if m := given.FindStringSubmatch(fix); m != nil && commands > 0 && amount(m[1]) != commands {
		found = append(found, fmt.Sprintf("%q, and there are commands for %d", m[0], commands))
	}
	for _, l := range lines {
		if l.Label != Asked || fix == "" {
			continue
		}
		told := map[string][]string{}
		for _, m := range counted.FindAllStringSubmatch(fix, -1) {
			told[m[2]] = append(told[m[2]], m[1])
		}
		for _, m := range counted.FindAllStringSubmatch(l.Text, -1) {
			if n := told[m[2]]; len(n) > 0 && !slices.Contains(n, m[1]) {
				found = append(found, fmt.Sprintf("the dialog asks of %q, and the message offers %s of them", m[0], strings.Join(n, ", ")))
			}
		}
		if steps := change.FindAllString(fix, -1); len(steps) > 0 {
			for _, step := range change.FindAllString(l.Text, -1) {
				if !slices.Contains(steps, step) {
					found = append(found, fmt.Sprintf("the dialog asks of a change %q, and the message offers %q", step, steps))
				}
			}
		}
		for _, id := range ids.FindAllString(l.Text, -1) {
			if !strings.Contains(all.String(), id) {
				found = append(found, fmt.Sprintf("the dialog asks of %s, of which the message tells nothing", id))
			}
		}
	}
	return found
}
