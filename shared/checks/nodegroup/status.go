package nodegroup

import (
	"cmp"
	"fmt"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/issue"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/nodegroup"
	"rollcall/shared/snapshot"
)

func Status() check.Check {
	return check.Check{
		ID:         checkid.NodegroupStatus,
		Breaks:     check.Managed,
		Proof:      check.ByPassing,
		CoversToo:  check.Nodegroups,
		Title:      "A nodegroup failed, is degraded, or does not get on",
		Confidence: finding.Certain,
		WatchedBy:  []check.Detector{check.NodegroupWatch},
		Needs:      []snapshot.Source{snapshot.Nodegroups},
		Uses:       []snapshot.Source{snapshot.Updates, snapshot.Subnets},
		After:      append(behindNodegroups(), checkid.NodegroupHealth),
		Cause:      "The nodegroup is CREATE_FAILED, DELETE_FAILED or DEGRADED, or it is CREATING, UPDATING or DELETING for longer than that takes: 40 minutes to be made, 45 to be deleted, half an hour for a change of its settings, and for a change of its version an hour and 15 minutes for each node. Where EKS lists an issue, that is told and not the status. EKS takes a bad status back late, or never: a later launch that joined, or as many Ready nodes as are wanted, outweighs it.",
		Fix:        "Read the nodegroup's updates and its group's scaling activities; a nodegroup that could not be made has to be deleted and made again.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			r := facts.NewRoster(s)
			var list []finding.Finding
			for _, n := range s.Nodegroups {
				if f, judged := status(r, n); judged {
					list = append(list, f)
				}
			}
			return list
		},
	}
}

// status judges a nodegroup's status; one that is on its way, and not for too
// long, is neither well nor ill.
func status(r facts.Roster, n snapshot.Nodegroup) (f finding.Finding, judged bool) {
	f = finding.Finding{Outcome: finding.Pass, Resource: n.Name, Covers: []string{n.Name}, Evidence: []finding.Evidence{{What: n.Name, Value: "is " + n.Status}}}
	switch n.Status {
	case nodegroup.Active:
		return f, true
	case nodegroup.Creating, nodegroup.Updating, nodegroup.Deleting:
		return stuckFinding(r, n)
	case nodegroup.DeleteFailed:
	case nodegroup.CreateFailed, nodegroup.Degraded:
		issues, disproof := r.UndisprovedIssues(n)
		if text, works := r.Works(n, n.Since); len(n.Issues) == 0 && works {
			disproof = []string{text}
		}
		if len(issues) == 0 && len(disproof) > 0 {
			f.Evidence = facts.StillSays(n, disproof)
			return f, true
		}
	default:
		return finding.Finding{
			Outcome: finding.Unknown, Resource: n.Name, Covers: []string{n.Name},
			Blocked: []snapshot.Failure{{Source: snapshot.Nodegroups, Reason: snapshot.Broken, Message: fmt.Sprintf("the status %q of nodegroup %s is not understood", n.Status, n.Name)}},
		}, true
	}
	return bad(r, n), true
}

// bad is the finding on a status that says that something failed.
func bad(r facts.Roster, n snapshot.Nodegroup) finding.Finding {
	f := finding.Finding{
		Outcome: finding.Fail, Resource: n.Name, Covers: []string{n.Name},
		Title:    phrase.Title("nodegroup %s %s", n.Name, phrase.Fares(n.Status)),
		Why:      fmt.Sprintf("EKS says that nodegroup %s is %s.", n.Name, n.Status),
		Evidence: append([]finding.Evidence{{What: n.Name, Value: fmt.Sprintf("%s, min %d max %d desired %d", n.Status, n.Min, n.Max, n.Desired)}}, issue.IssueEvidence(n.Issues)...),
		Fix:      finding.Fix{Command: command.DescribeNodegroup(r.S, n.Name), Console: link.Nodegroup(r.S, n.Name)},
	}
	if n.Status != nodegroup.DeleteFailed && r.Unseen() {
		f.Confidence = finding.Likely // Ready nodes would outweigh it
	}
	switch n.Status {
	case nodegroup.CreateFailed:
		f.Fix.Text = "EKS does not try again: remove the cause, delete the nodegroup, and make it again."
	case nodegroup.DeleteFailed:
		f.Fix.Text = "Find what keeps it (a security group or a role in use, a policy that denies the deletion), and delete it again."
	default:
		f.Fix.Text = "Read its group's scaling activities. EKS takes DEGRADED back only after a launch that works."
	}
	if len(n.Issues) == 0 {
		f.Why += " It reports no issue that would say why."
		return f
	}
	issues, _ := r.UndisprovedIssues(n)
	f.Why += fmt.Sprintf(" It reports %s.", phrase.Some(codesOf(n.Issues), 3))
	if len(issues) > 0 && onlyShow(r, n, issues) {
		r.AsSymptom(&f, n, issues)
	}
	return f
}

// How long EKS takes. Each is well over what is usual, because nothing is
// wrong with a nodegroup that only takes its time.
const (
	// AWS's own waiter gives up on a new nodegroup after 80 looks, one each 30
	// seconds; EKS itself says CREATE_FAILED after some 20 minutes.
	creating = 40 * time.Minute
	// The launch hook that ends a node lasts up to 1800 seconds, and AWS's
	// waiter for a deletion (40 looks) 20 minutes.
	deleting = 45 * time.Minute
	// Settings are set within seconds; new sizes take as long as a launch.
	configuring = 30 * time.Minute
	// A node that cannot be drained holds an update of the version for 15
	// minutes, and one at a time is the default.
	updating, drained = time.Hour, 15 * time.Minute
)

// began is when the status that a nodegroup is on its way from was left, as
// far as anything tells, and how long the way may take.
func began(n snapshot.Nodegroup) (at time.Time, usual time.Duration) {
	switch n.Status {
	case nodegroup.Creating:
		if n.Created.IsZero() {
			return n.Since, creating
		}
		return n.Created, creating
	case nodegroup.Deleting:
		// The call that deletes it is its last change (AWS's example of
		// delete-nodegroup shows that EKS notes its time): Rollcall may see the
		// nodegroup for the first time long after.
		if !n.Modified.IsZero() && n.Modified.Before(n.Since) {
			return n.Modified, deleting
		}
		return n.Since, deleting
	}
	usual = updating + time.Duration(max(n.Desired, n.Max))*drained
	for _, u := range n.Updates {
		if u.Status != nodegroup.InProgress {
			continue
		}
		if u.Type == "ConfigUpdate" {
			usual = configuring
		}
		return u.Created, usual
	}
	return n.Since, usual
}

func stuckFinding(r facts.Roster, n snapshot.Nodegroup) (finding.Finding, bool) {
	at, usual := began(n)
	lasts := r.S.Time.Sub(at)
	if at.IsZero() || lasts <= usual {
		return finding.Finding{}, false
	}
	f := finding.Finding{
		Outcome: finding.Fail, Resource: n.Name, Covers: []string{n.Name},
		Title:    phrase.Title("nodegroup %s has been %s since %s", n.Name, n.Status, phrase.ClockTime(at)),
		Why:      fmt.Sprintf("Nodegroup %s has been %s since %s; that takes at most %s.", n.Name, n.Status, at.UTC().Format(phrase.DayAndMinute+" UTC"), phrase.Minutes(usual)),
		Evidence: append([]finding.Evidence{{What: n.Name, Value: fmt.Sprintf("%s, min %d max %d desired %d", n.Status, n.Min, n.Max, n.Desired)}}, issue.IssueEvidence(n.Issues)...),
		Fix: finding.Fix{
			Text:    "Look at what it waits for: nodes that do not join, pods that cannot be moved (kubectl get pdb -A), instances that do not end.",
			Command: cmp.Or(describeUpdate(r, n), command.DescribeNodegroup(r.S, n.Name)),
			Console: link.Nodegroup(r.S, n.Name),
		},
	}
	if issues, _ := r.UndisprovedIssues(n); len(issues) > 0 && onlyShow(r, n, issues) {
		r.AsSymptom(&f, n, issues)
	}
	return f, true
}

func describeUpdate(r facts.Roster, n snapshot.Nodegroup) string {
	if len(n.Updates) == 0 || n.Updates[0].ID == "" {
		return ""
	}
	return command.AWS(r.S, "eks describe-update", "--name", r.S.Cluster.Name, "--nodegroup-name", n.Name, "--update-id", n.Updates[0].ID)
}
