package instance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

// consoleCause is one failure of one group.
type consoleCause struct {
	owner  string
	hits   []consoleHit
	unread []*snapshot.Instance // of the same template, and no node either
}

func (c *consoleCause) row() string { return c.hits[0].match.ID }

func (c *consoleCause) all() []string {
	var list []string
	for _, h := range c.hits {
		list = append(list, h.instance.ID)
	}
	return append(list, facts.IDs(c.unread)...)
}

// leads tells that no other failure of the same owner has more instances. An
// incident is known by its check and resource: only one can have the owner's.
func (c *consoleCause) leads(all []*consoleCause) bool {
	return !slices.ContainsFunc(all, func(other *consoleCause) bool {
		if other == c || other.owner != c.owner {
			return false
		}
		return cmp.Or(cmp.Compare(len(c.all()), len(other.all())), cmp.Compare(other.row(), c.row())) < 0
	})
}

func consoleErrorFinding(l facts.InstanceIndex, c *consoleCause, leads bool) finding.Finding {
	first := c.hits[0]
	all := c.all()
	resource := c.owner
	if !leads {
		resource = slices.Min(all)
	}
	f := finding.Finding{
		Outcome: finding.Fail, Resource: resource, Covers: all, Instances: slices.Clone(all),
		Title: phrase.Title("%s: %s", phrase.Subject(all, "instance"), first.match.Title),
		Why:   fmt.Sprintf("The console of %s tells: %s (%s). %s", first.instance.ID, first.match.Title, first.match.ID, first.match.Means),
		Fix:   fixConsole(l, first),
	}
	if !first.match.Certain {
		f.Confidence = finding.Likely
	}
	if !first.match.Unanswered {
		// The line proves something of its own: what is only likely of the
		// network does not outweigh it.
		f.Behind = []checkid.ID{checkid.AnyJoinCause}
	}
	const limit = 3
	for n, h := range c.hits {
		if n == limit {
			break
		}
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Console of " + h.instance.ID, Value: phrase.Clip(h.match.Line)})
	}
	if len(all) > 1 {
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Consoles", Value: fmt.Sprintf("%d of %d were read; all of them say it", len(c.hits), len(all))})
	}
	return f
}

func fixConsole(l facts.InstanceIndex, h consoleHit) finding.Fix {
	fix := finding.Fix{
		Text:    strings.ReplaceAll(withoutWhatIs(l.S, h.instance, h.match.Next), "<region>", l.S.Region),
		Command: command.AWS(l.S, "ec2 get-console-output", "--latest", "--output", "text", "--instance-id", h.instance.ID),
		Console: link.EC2(l.S, "InstanceDetails:instanceId="+h.instance.ID),
	}
	if h.match.Check != "" {
		fix.Text += " See " + string(h.match.Check) + "."
	}
	return fix
}
