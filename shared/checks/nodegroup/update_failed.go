package nodegroup

import (
	"cmp"
	"fmt"
	"rollcall/shared/checkid"
	"slices"
	"strings"
	"time"

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

func UpdateFailed() check.Check {
	return check.Check{
		ID:         checkid.NodegroupUpdateFailed,
		Breaks:     check.Managed,
		Proof:      check.ByPassing,
		CoversToo:  check.Nodegroups,
		Title:      "An update of a nodegroup failed",
		Confidence: finding.Certain,
		WatchedBy:  []check.Detector{check.NodegroupWatch},
		Needs:      []snapshot.Source{snapshot.Nodegroups, snapshot.Updates},
		After:      behindNodegroups(),
		Cause:      "The last update of the nodegroup's settings or version ended Failed, and none succeeded or goes on since: the nodegroup is not as somebody meant it to be, or half of its nodes are. All error codes have a class, a meaning and a next step here. An update that was cancelled is no fault, and after a week nobody waits for one that failed.",
		Fix:        "It depends on the error's code, which the finding names; then update again.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_ErrorDetail.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			r := facts.NewRoster(s)
			var list []finding.Finding
			for _, n := range s.Nodegroups {
				lack, lacks := s.Lacks(snapshot.Updates, n.Name)
				switch {
				case slices.ContainsFunc(n.Updates, func(u snapshot.Update) bool { return u.Status == nodegroup.InProgress }):
					// It is being updated again: what failed before is neither over nor
					// still the trouble.
				case lacks && lack.Reason == snapshot.NotRead:
					// Nothing has changed since they were read: nothing is said anew.
				case lacks:
					list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: n.Name, Covers: []string{n.Name}, Blocked: []snapshot.Failure{lack}})
				default:
					list = append(list, lastUpdate(r, n))
				}
			}
			return list
		},
	}
}

// waited is how long a failed update is told: an operator who has not updated
// again after a week has given it up.
const waited = 7 * 24 * time.Hour

// lastUpdate judges the newest update that has come to an end of its own.
func lastUpdate(r facts.Roster, n snapshot.Nodegroup) finding.Finding {
	f := finding.Finding{Outcome: finding.Pass, Resource: n.Name, Covers: []string{n.Name}, Evidence: []finding.Evidence{{What: n.Name, Value: "no update has failed"}}}
	for _, u := range n.Updates {
		line := finding.Evidence{What: "Update " + u.ID, Value: fmt.Sprintf("%s of %s: %s", cmp.Or(u.Type, "an update"), u.Created.UTC().Format(phrase.DayAndMinute+" UTC"), u.Status)}
		switch u.Status {
		case nodegroup.InProgress, nodegroup.Cancelled:
			continue
		case nodegroup.Successful:
			f.Evidence = []finding.Evidence{{What: n.Name, Value: fmt.Sprintf("is updated (%s of %s UTC)", cmp.Or(phrase.Spoken(u.Type), "update"), u.Created.UTC().Format(phrase.DayAndMinute))}}
			return f
		case nodegroup.Failed:
			if r.S.Time.Sub(u.Created) > waited {
				f.Evidence = []finding.Evidence{line, {What: n.Name, Value: "nobody has updated it since, for a week"}}
				return f
			}
			return updateFailed(r, n, u, line)
		}
		return finding.Finding{
			Outcome: finding.Unknown, Resource: n.Name, Covers: []string{n.Name},
			Blocked: []snapshot.Failure{{Source: snapshot.Updates, Reason: snapshot.Broken, Message: fmt.Sprintf("the status %q of update %s is not understood", u.Status, u.ID)}},
		}
	}
	return f
}

func updateFailed(r facts.Roster, n snapshot.Nodegroup, u snapshot.Update, line finding.Evidence) finding.Finding {
	f := finding.Finding{
		Outcome: finding.Fail, Resource: n.Name, Covers: []string{n.Name}, Evidence: []finding.Evidence{line},
		Title: phrase.Title("nodegroup %s failed to update", n.Name),
		Why:   fmt.Sprintf("The %s of %s that began at %s UTC failed.", cmp.Or(phrase.Spoken(u.Type), "update"), n.Name, u.Created.UTC().Format(phrase.DayAndMinute)),
		Fix: finding.Fix{
			Text:    "EKS gives no reason: look at the nodegroup and its group's scaling activities, and update again.",
			Command: command.AWS(r.S, "eks describe-update", "--name", r.S.Cluster.Name, "--nodegroup-name", n.Name, "--update-id", u.ID),
			Console: link.Nodegroup(r.S, n.Name),
		},
	}
	if len(u.Params) > 0 {
		f.Evidence = append(f.Evidence, finding.Evidence{What: "It was to set", Value: phrase.Clip(strings.Join(u.Params, ", "))})
	}
	f.Evidence = append(f.Evidence, issue.IssueEvidence(u.Errors)...)
	if len(u.Errors) == 0 {
		return f
	}
	first := u.Errors[0]
	code := nodegroup.OfUpdate(first.Code)
	f.Title = fitting("nodegroup ", fmt.Sprintf("%s failed to update: %s", n.Name, cmp.Or(phrase.Spoken(first.Code), "no code")))
	f.Why += " " + reported(code, first)
	if more := codesOf(u.Errors[1:]); len(more) > 0 {
		f.Why += fmt.Sprintf(" It reports %s too.", phrase.Some(more, 3))
	}
	f.Fix.Text = code.Next
	f.Fix.Command = cmp.Or(code.Command, f.Fix.Command)
	if code.Symptom {
		r.AsSymptom(&f, n, u.Errors)
	}
	return f
}
