package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/nodegroup"
	"rollcall/shared/snapshot"
)

func nodegroupUpdateFailed() Check {
	return Check{
		ID:         "nodegroup/update-failed",
		Title:      "An update of a nodegroup failed",
		Confidence: Certain,
		Needs:      []snapshot.Source{snapshot.Nodegroups, snapshot.Updates},
		After:      behindNodegroups(),
		Cause:      "The last update of the nodegroup's settings or version ended Failed, and none succeeded or goes on since: the nodegroup is not as somebody meant it to be, or half of its nodes are. All error codes have a class, a meaning and a next step here. An update that was cancelled is no fault, and after a week nobody waits for one that failed.",
		Fix:        "It depends on the error's code, which the finding names; then update again.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_ErrorDetail.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html",
		},
		Run: func(s *View) []Finding {
			r := newRoster(s)
			var list []Finding
			for _, n := range s.Nodegroups {
				lack, lacks := s.Lacks(snapshot.Updates, n.Name)
				switch {
				case slices.ContainsFunc(n.Updates, func(u snapshot.Update) bool { return u.Status == nodegroup.InProgress }):
					// It is being updated again: what failed before is neither over nor
					// still the trouble.
				case lacks && lack.Reason == snapshot.NotRead:
					// Nothing has changed since they were read: nothing is said anew.
				case lacks:
					list = append(list, Finding{Outcome: Unknown, Resource: n.Name, Covers: []string{n.Name}, Blocked: []snapshot.Failure{lack}})
				default:
					list = append(list, r.lastUpdate(n))
				}
			}
			return list
		},
	}
}

// dayAndMinute is exact enough for something that a person began.
const dayAndMinute = "2006-01-02 15:04"

// waited is how long a failed update is told: an operator who has not updated
// again after a week has given it up.
const waited = 7 * 24 * time.Hour

// lastUpdate judges the newest update that has come to an end of its own.
func (r roster) lastUpdate(n snapshot.Nodegroup) Finding {
	f := Finding{Outcome: Pass, Resource: n.Name, Covers: []string{n.Name}, Evidence: []Evidence{{What: n.Name, Value: "no update has failed"}}}
	for _, u := range n.Updates {
		line := Evidence{What: "Update " + u.ID, Value: fmt.Sprintf("%s of %s: %s", cmp.Or(u.Type, "an update"), u.Created.UTC().Format(time.DateTime), u.Status)}
		switch u.Status {
		case nodegroup.InProgress, nodegroup.Cancelled:
			continue
		case nodegroup.Successful:
			f.Evidence = []Evidence{{What: n.Name, Value: fmt.Sprintf("is updated (%s of %s UTC)", cmp.Or(spoken(u.Type), "update"), u.Created.UTC().Format(dayAndMinute))}}
			return f
		case nodegroup.Failed:
			if r.s.Time.Sub(u.Created) > waited {
				f.Evidence = []Evidence{line, {What: n.Name, Value: "nobody has updated it since, for a week"}}
				return f
			}
			return r.updateFailed(n, u, line)
		}
		return Finding{
			Outcome: Unknown, Resource: n.Name, Covers: []string{n.Name},
			Blocked: []snapshot.Failure{{Source: snapshot.Updates, Reason: snapshot.Broken, Message: fmt.Sprintf("the status %q of update %s is not understood", u.Status, u.ID)}},
		}
	}
	return f
}

func (r roster) updateFailed(n snapshot.Nodegroup, u snapshot.Update, line Evidence) Finding {
	f := Finding{
		Outcome: Fail, Resource: n.Name, Covers: []string{n.Name}, Evidence: []Evidence{line},
		Title: title("nodegroup %s failed to update", n.Name),
		Why:   fmt.Sprintf("The %s of %s that began at %s UTC failed.", cmp.Or(spoken(u.Type), "update"), n.Name, u.Created.UTC().Format(dayAndMinute)),
		Fix: Fix{
			Text:    "EKS gives no reason: look at the nodegroup and its group's scaling activities, and update again.",
			Command: aws(r.s, "eks describe-update", "--name", r.s.Cluster.Name, "--nodegroup-name", n.Name, "--update-id", u.ID),
			Console: nodegroupLink(r.s, n.Name),
		},
	}
	if len(u.Params) > 0 {
		f.Evidence = append(f.Evidence, Evidence{What: "It was to set", Value: clip(strings.Join(u.Params, ", "))})
	}
	f.Evidence = append(f.Evidence, issueEvidence(u.Errors)...)
	if len(u.Errors) == 0 {
		return f
	}
	first := u.Errors[0]
	code := nodegroup.OfUpdate(first.Code)
	f.Title = fitting("nodegroup ", fmt.Sprintf("%s failed to update: %s", n.Name, cmp.Or(spoken(first.Code), "no code")))
	f.Why += " " + reported(code, first)
	if more := codesOf(u.Errors[1:]); len(more) > 0 {
		f.Why += fmt.Sprintf(" It reports %s too.", some(more, 3))
	}
	f.Fix.Text = code.Next
	f.Fix.Command = cmp.Or(code.Command, f.Fix.Command)
	if code.Symptom {
		r.asSymptom(&f, n, u.Errors)
	}
	return f
}
