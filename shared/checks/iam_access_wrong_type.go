package checks

import (
	"fmt"
	"slices"

	"rollcall/shared/snapshot"
)

func accessWrongType() Check {
	return usingRoles(Check{
		ID:         "iam/access-wrong-type",
		Title:      "The node role's access entry is not of a node's type",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Access},
		AtLaunch:   true,
		Cause: "The node role has an access entry of a type that makes no nodes, mostly STANDARD, which is the default. It comes before what aws-auth says of the same role. " +
			"The type of an entry cannot be changed.",
		Fix: "Delete the access entry and make it again with the type EC2_LINUX (EC2_WINDOWS for Windows, EC2 for EKS Auto Mode).",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/migrating-access-entries.html",
		},
		Run: func(s *View) []Finding {
			list, blind := s.RoleGroups()
			for _, c := range list {
				blind = append(blind, c.wrongType(s)...)
			}
			return blind
		},
	})
}

func (c crew) wrongType(s *View) []Finding {
	a, why := accessOf(s, c)
	switch {
	case len(c.suspects) == 0:
		return []Finding{c.pass(c.name(), "all of its instances are Ready nodes")}
	case why != nil:
		return c.blocked(*why)
	case !a.byEntry:
		return []Finding{c.pass("Access entries", "are not asked in the mode CONFIG_MAP")}
	case a.entry == nil:
		unread := slices.DeleteFunc(slices.Clone(a.unread), func(f snapshot.Failure) bool { return f.Source != snapshot.Access })
		if len(unread) > 0 {
			return c.blocked(unread...)
		}
		return []Finding{c.pass("Access entry of "+c.name(), "none")}
	}
	want := c.entryKind(s)
	confidence := Certain
	switch {
	case a.entry.Type == want, a.entry.Type == "HYPERPOD_LINUX", a.entry.Type == "EC2_WINDOWS", a.entry.Type == "EC2_LINUX" && want == "EC2":
		return []Finding{c.pass("Access entry of "+c.name(), a.entry.Type)}
	case a.entry.Type == "EC2_LINUX": // Windows nodes register, and their kube-proxy lacks its rights
		confidence = Possible
	case a.entry.Type == "EC2": // may still be joined by an access policy
		confidence = Likely
	case !slices.Contains([]string{"STANDARD", "FARGATE_LINUX", "HYBRID_LINUX"}, a.entry.Type):
		return c.blocked(snapshot.Failure{
			Source: snapshot.Access, Reason: snapshot.NotRead, Message: fmt.Sprintf("the access entry of %s has the type %q, which is not known", c.role, a.entry.Type),
		})
	}
	f := Finding{
		Outcome: Fail,
		Title:   title("the access entry of %s is %s, not %s", c.name(), a.entry.Type, want),
		Why: fmt.Sprintf("%s has an access entry of type %s in %s. Only %s makes nodes of the role, so %s cannot join.",
			c.role, a.entry.Type, s.Cluster.Name, want, some(ids(c.suspects), 3)),
		Evidence: []Evidence{
			{What: "Access entry of " + c.role, Value: fmt.Sprintf("type %s, user %q, groups %q", a.entry.Type, a.entry.Username, a.entry.Groups)},
			modeEvidence(s),
		},
		Fix: Fix{Console: accessLink(s)},
	}
	f.Fix.Text, f.Fix.Command = c.retype(s)
	if m, mapped := a.counts(); mapped {
		f.Why += fmt.Sprintf(" aws-auth maps the role too (entry %d), but the access entry comes first.", m.Place)
	}
	c.witness(&f)
	if confidence == Possible || confidence == Likely {
		f.Confidence = confidence
	}
	return c.judged(f)
}

// retype is the fix for an entry of the wrong type: it cannot be changed.
func (c crew) retype(s *View) (text, command string) {
	return "Delete the access entry and make it again: its type cannot be changed. The nodes that wait join by themselves.",
		several([]string{
			aws(s, "eks delete-access-entry", "--cluster-name", s.Cluster.Name, "--principal-arn", c.role),
			c.create(s),
		})
}
