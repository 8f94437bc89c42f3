package iam

import (
	"fmt"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func AccessStale() check.Check {
	return withClasses(classStale, usingRoles(check.Check{
		ID:         checkid.IAMAccessStale,
		Title:      "The node role's access entry is of a role that was deleted",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Access, snapshot.Roles},
		After:      []checkid.ID{checkid.IAMAccessWrongType},
		AtLaunch:   true,
		Cause: "The node role was deleted and created again under its name after its access entry was made. EKS keeps the role's id with the entry, and the new role has another one: the entry admits nobody any more. " +
			"EKS makes the entry with a managed node group and does not remove it with the group's role.",
		Fix: "Delete the access entry and make it again, of the same type.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_AccessEntry.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html",
			"https://github.com/aws/containers-roadmap/issues/2631",
		},
		Run: func(s *facts.View) []finding.Finding {
			list, blind := s.RoleGroups()
			for _, c := range list {
				blind = append(blind, stale(c, s)...)
			}
			return blind
		},
	}))
}

// clocksDiffer is by how much the clocks of IAM and EKS may differ: an entry is made for a
// principal that there is.
const clocksDiffer = time.Minute

// staleEntry reports whether an access entry was made before the role that its ARN names now:
// "If you don't delete the access entry and ever recreate the IAM principal, even if it has the
// same ARN, the access entry won't work" (EKS API reference, AccessEntry, principalArn).
func staleEntry(e snapshot.AccessEntry, role time.Time) bool {
	return !e.Created.IsZero() && !role.IsZero() && e.Created.Add(clocksDiffer).Before(role)
}

func stale(c facts.RoleGroup, s *facts.View) []finding.Finding {
	a, why := accessOf(s, c)
	switch {
	case len(c.Suspects) == 0:
		return []finding.Finding{c.Pass(c.Name(), "all of its instances are Ready nodes")}
	case why != nil:
		return c.Blocked(*why)
	case !a.byEntry:
		return []finding.Finding{c.Pass("Access entries", "are not asked in the mode CONFIG_MAP")}
	case a.entry == nil:
		if blocked := a.entriesUnread(); len(blocked) > 0 {
			return c.Blocked(blocked...)
		}
		return []finding.Finding{c.Pass("Access entry of "+c.Name(), "none")}
	}
	role, gone, why := facts.ReadRole(s, c.Role)
	switch {
	case gone: // iam/profile-missing
		return []finding.Finding{c.Pass(c.Name(), "was deleted")}
	case why != nil:
		return c.Blocked(*why)
	case !staleEntry(*a.entry, role.Created):
		return []finding.Finding{c.Pass("Access entry of "+c.Name(), "is newer than the role")}
	}
	f := finding.Finding{
		Outcome: finding.Fail,
		Title:   phrase.Title("the access entry of %s is of a deleted role", c.Name()),
		Why: fmt.Sprintf("%s %s, so %s cannot join.",
			c.Role, staleWhy(s), phrase.Some(facts.IDs(c.Suspects), 3)),
		Evidence: []finding.Evidence{entryEvidence(*a.entry), createdEvidence(c.Role, role.Created), modeEvidence(s)},
		Fix: finding.Fix{
			Text:    "Delete the access entry and make it again. The nodes that wait join by themselves.",
			Command: command.Several([]string{deleteEntry(s, c.Role), create(c, s)}),
			Console: link.Access(s),
		},
	}
	f = staleDoubt(f, *a.entry, role.Created)
	if _, mapped := a.counts(); mapped {
		f.Confidence = finding.Likely // whether aws-auth counts beside such an entry is not documented
	}
	c.Witness(&f)
	return c.Judged(f)
}

func staleWhy(s *facts.View) string {
	return fmt.Sprintf("was created after its access entry in %s: EKS keeps the id of the role that the entry was made for, and that role was deleted", s.Cluster.Name)
}

func createdEvidence(role string, created time.Time) finding.Evidence {
	return finding.Evidence{What: "Role " + role, Value: "created " + created.UTC().Format("2006-01-02 15:04:05 UTC")}
}

// staleDoubt makes a finding likely where the entry was changed since the role was created:
// whether an update takes the new role's id is not documented.
func staleDoubt(f finding.Finding, e snapshot.AccessEntry, role time.Time) finding.Finding {
	if e.Modified.After(role) {
		f.Confidence = finding.Likely
	}
	return f
}
