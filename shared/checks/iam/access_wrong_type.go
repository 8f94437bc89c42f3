package iam

import (
	"fmt"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func AccessWrongType() check.Check {
	return withClasses(classWrongType, usingRoles(check.Check{
		ID:         checkid.IAMAccessWrongType,
		Title:      "The node role's access entry is not of a node's type",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Access},
		AtLaunch:   true,
		Cause: "The node role has an access entry of a type that makes no nodes, mostly STANDARD, which is the default. It comes before what aws-auth says of the same role. " +
			"The type of an entry cannot be changed.",
		Fix: "Delete the access entry and make it again with the type EC2_LINUX (EC2_WINDOWS for Windows, EC2 for EKS Auto Mode).",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-class.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/migrating-access-entries.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			list, blind := s.RoleGroups()
			for _, c := range list {
				blind = append(blind, wrongType(c, s)...)
			}
			return blind
		},
	}))
}

func wrongType(c facts.RoleGroup, s *facts.View) []finding.Finding {
	a, why := accessOf(s, c)
	switch {
	case len(c.Suspects) == 0:
		return []finding.Finding{c.Pass(c.Name(), "all of its instances are Ready nodes")}
	case why != nil:
		return c.Blocked(*why)
	case !a.byEntry:
		return []finding.Finding{c.Pass("Access entries", "are not asked in the mode CONFIG_MAP")}
	case a.entry == nil:
		if unread := a.entriesUnread(); len(unread) > 0 {
			return c.Blocked(unread...)
		}
		return []finding.Finding{c.Pass("Access entry of "+c.Name(), "none")}
	}
	want := entryKind(c, s)
	confidence := finding.Certain
	switch {
	case a.entry.Type == want, a.entry.Type == "HYPERPOD_LINUX", a.entry.Type == "EC2_WINDOWS", a.entry.Type == "EC2_LINUX" && want == "EC2":
		return []finding.Finding{c.Pass("Access entry of "+c.Name(), a.entry.Type)}
	case a.entry.Type == "EC2_LINUX": // Windows nodes register, and their kube-proxy lacks its rights
		confidence = finding.Possible
	case a.entry.Type == "EC2": // may still be joined by an access policy
		confidence = finding.Likely
	case !knownType(a.entry.Type):
		return c.Blocked(unknownType(c.Role, a.entry.Type))
	}
	f := finding.Finding{
		Outcome: finding.Fail,
		Title:   phrase.Title("access entry of %s is %s, not %s", c.Name(), a.entry.Type, want),
		Why: fmt.Sprintf("%s has an access entry of type %s in %s. Only %s makes nodes of the role, so %s cannot join.",
			c.Role, a.entry.Type, s.Cluster.Name, want, phrase.Some(facts.IDs(c.Suspects), 3)),
		Evidence: []finding.Evidence{
			{What: "Access entry of " + c.Role, Value: fmt.Sprintf("type %s, user %q, groups %q", a.entry.Type, a.entry.Username, a.entry.Groups)},
			modeEvidence(s),
		},
		Fix: finding.Fix{Console: link.Access(s)},
	}
	f.Fix.Text, f.Fix.Command = retype(c, s)
	if m, mapped := a.counts(); mapped {
		f.Why += fmt.Sprintf(" aws-auth maps the role too (entry %d), but the access entry comes first.", m.Place)
	}
	c.Witness(&f)
	if confidence == finding.Possible || confidence == finding.Likely {
		f.Confidence = confidence
	}
	return c.Judged(f)
}

// retype is the fix for an entry of the wrong type: it cannot be changed.
func retype(c facts.RoleGroup, s *facts.View) (text, line string) {
	return "Delete the access entry and make it again: its type cannot be changed. The nodes that wait join by themselves.",
		command.Several([]string{deleteEntry(s, c.Role), create(c, s)})
}

func knownType(kind string) bool {
	return nodeType(kind) || slices.Contains([]string{"STANDARD", "FARGATE_LINUX", "HYBRID_LINUX"}, kind)
}

func unknownType(role, kind string) snapshot.Failure {
	return snapshot.Failure{Source: snapshot.Access, Reason: snapshot.NotRead, Message: fmt.Sprintf("the access entry of %s has the type %q, which is not known", role, kind)}
}
