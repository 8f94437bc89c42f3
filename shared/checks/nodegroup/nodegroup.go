// Package nodegroup holds the checks of nodegroup: what EKS says of node groups.
package nodegroup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/cluster"
	"rollcall/shared/nodegroup"
	"rollcall/shared/snapshot"
)

// Checks are the checks of the family.
func Checks() []check.Check {
	return []check.Check{
		check.New(checkid.NodegroupHealth, judgeHealth, snapshot.Nodegroups).Using(snapshot.Subnets),
		check.New(checkid.NodegroupStatus, judgeStatus, snapshot.Nodegroups).Using(snapshot.Updates,
			snapshot.Subnets),
		check.New(checkid.NodegroupUpdateFailed, judgeUpdateFailed, snapshot.Nodegroups, snapshot.Updates),
	}
}

func judgeHealth(s *check.View) []check.Finding {
	r := check.NewRoster(s)
	var list []check.Finding
	for _, n := range s.Nodegroups {
		list = append(list, health(r, n))
	}
	return list
}

func health(r check.Roster, n snapshot.Nodegroup) check.Finding {
	f := check.Passed(n.Name, n.Name)
	if len(n.Issues) == 0 {
		f.Evidence = []check.Evidence{{What: n.Name, Value: "is " + cmp.Or(n.Status, "without a status") + ", without a health issue"}}
		return f
	}
	issues, disproof := r.UndisprovedIssues(n)
	if len(issues) == 0 {
		f.Evidence = check.StillSays(n, disproof)
		return f
	}
	if beingDeleted(r, n, issues) {
		f.Outcome = check.Unknown
		f.Blocked = []snapshot.Failure{check.NotRead(snapshot.Groups, "the groups of %s no longer existed when they were read: it was deleted meanwhile", n.Name)}
		return f
	}
	first := issues[0]
	code := nodegroup.OfIssue(first.Code)
	f.Outcome = check.Fail
	if code.Disproved && r.Unseen() {
		f.Confidence = check.Likely // a launch that works would outweigh it
	}
	f.Title = fitting("nodegroup ", fmt.Sprintf("%s %s: %s", n.Name, check.Fares(n.Status), cmp.Or(check.Spoken(first.Code), "it has no code")))
	f.Why = reported(code, first)
	if more := codesOf(issues[1:]); len(more) > 0 {
		f.Why += fmt.Sprintf(" It reports %s too.", check.Some(more, 3))
	}
	f.Evidence = append([]check.Evidence{{What: n.Name, Value: fmt.Sprintf("%s, min %d max %d desired %d", cmp.Or(n.Status, "no status"), n.Min, n.Max, n.Desired)}}, cluster.IssueEvidence(issues)...)
	f.Fix = check.Fix{Text: code.Next, Command: cmp.Or(code.Command, r.S.DescribeNodegroup(n.Name)), Console: r.S.NodegroupLink(n.Name)}
	if onlyShow(r, n, issues) {
		r.AsSymptom(&f, n, issues)
		return f
	}
	if nearer := nearerThan(first.Code); nearer != nil && onlyShow(r, n, slices.DeleteFunc(slices.Clone(issues), func(i snapshot.Issue) bool { return i.Code == first.Code })) {
		f.NarrowedAfter, f.Instances = nearer, waiting(r, n)
	}
	return f
}

// beingDeleted reports whether a nodegroup's groups ended while it was looked at: it
// was read before them, and how it was then says nothing any more. A group that
// was deleted beside EKS has an issue of its own.
func beingDeleted(r check.Roster, n snapshot.Nodegroup, issues []snapshot.Issue) bool {
	gone := func(i snapshot.Issue) bool { return i.Code == "AutoScalingGroupNotFound" }
	return r.S.Has(snapshot.Groups) && len(n.Groups) > 0 && !slices.ContainsFunc(issues, gone) &&
		!slices.ContainsFunc(r.S.Groups, func(g snapshot.Group) bool { return slices.Contains(n.Groups, g.Name) })
}

// fitting is a title with its first word, or without where that is too long.
func fitting(first, rest string) string {
	if whole := check.Title("%s%s", first, rest); whole == first+rest {
		return whole
	}
	return check.Title("%s", rest)
}

// reported is what EKS reports, in sentences: the code as it is, for whoever
// looks it up, what it means, and what it names.
func reported(c nodegroup.Code, i snapshot.Issue) string {
	text := "EKS reports " + cmp.Or(i.Code, "an issue without a code")
	switch {
	case c.Known:
		text += ": " + c.Meaning
	case i.Code != "":
		text += ", a code that Rollcall does not know"
	}
	if named := slices.DeleteFunc(slices.Clone(i.Resources), func(id string) bool { return strings.HasPrefix(id, "DUMMY_") }); len(named) > 0 {
		text += " (" + check.Some(named, 3) + ")"
	}
	if text += "."; i.Message != "" && (!c.Known || c.Class == nodegroup.Other) {
		text += fmt.Sprintf(" Its message: %q.", strings.TrimSuffix(check.Clip(i.Message), "."))
	}
	return text
}

// nearerThan are the checks that find, in what they read, the very thing that a
// code complains of: the same fault under two names, where they find it for the
// nodegroup's instances. Nil for a code of which no check finds the reason.
func nearerThan(code string) []checkid.ID {
	switch code {
	case "AccessDenied":
		return []checkid.ID{checkid.IAMAccessMissing, checkid.IAMAccessWrongARN, checkid.IAMAccessWrongType, checkid.IAMAWSAuthInvalid}
	case "Ec2SubnetInvalidConfiguration":
		return []checkid.ID{checkid.RouteIGWNoPublicIP}
	case "Ec2SubnetMissingIpv6Assignment":
		return []checkid.ID{checkid.RouteIPv6NoEgress}
	case "IamNodeRoleNotFound", "IamInstanceProfileNotFound":
		return []checkid.ID{checkid.IAMProfileMissing}
	case "KubernetesLabelInvalid":
		return []checkid.ID{checkid.InstanceForbiddenNodeLabel}
	}
	return nil
}

// waiting are a nodegroup's instances of the scope that should be Ready nodes
// and are not. Where the nodes could not be read it is empty.
func waiting(r check.Roster, n snapshot.Nodegroup) []string {
	if !r.S.Has(snapshot.Nodes) {
		return nil
	}
	var list []string
	for _, in := range r.Members(n) {
		if slices.Contains(r.S.Scope.Instances, in.ID) && r.Due(in.ID) && !r.Joined(in.ID) {
			list = append(list, in.ID)
		}
	}
	return list
}

// onlyShow reports whether all issues are how something else shows.
func onlyShow(r check.Roster, n snapshot.Nodegroup, issues []snapshot.Issue) bool {
	return !slices.ContainsFunc(issues, func(i snapshot.Issue) bool { return !r.Shows(n, i) })
}

func codesOf(list []snapshot.Issue) []string {
	var codes []string
	for _, i := range list {
		codes = append(codes, cmp.Or(i.Code, "no code"))
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

func judgeStatus(s *check.View) []check.Finding {
	r := check.NewRoster(s)
	var list []check.Finding
	for _, n := range s.Nodegroups {
		if f, judged := status(r, n); judged {
			list = append(list, f)
		}
	}
	return list
}

// status judges a nodegroup's status; one that is on its way, and not for too
// long, is neither well nor ill.
func status(r check.Roster, n snapshot.Nodegroup) (f check.Finding, judged bool) {
	f = check.Passed(n.Name, n.Name).Noting(n.Name, "is "+n.Status)
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
			f.Evidence = check.StillSays(n, disproof)
			return f, true
		}
	default:
		return check.Unread(n.Name, []string{n.Name}, check.Broken(snapshot.Nodegroups, "the status %q of nodegroup %s is unknown to Rollcall", n.Status, n.Name)), true
	}
	return bad(r, n), true
}

// bad is the finding on a status that says that something failed.
func bad(r check.Roster, n snapshot.Nodegroup) check.Finding {
	f := check.Failed(n.Name, n.Name).
		Titled("nodegroup %s %s", n.Name, check.Fares(n.Status)).
		Because("EKS reports that nodegroup %s is %s.", n.Name, n.Status).
		Notingf(n.Name, "%s, min %d max %d desired %d", n.Status, n.Min, n.Max, n.Desired).
		Showing(cluster.IssueEvidence(n.Issues)...).
		Command(r.S.DescribeNodegroup(n.Name)).Console(r.S.NodegroupLink(n.Name))
	if n.Status != nodegroup.DeleteFailed && r.Unseen() {
		f.Confidence = check.Likely // Ready nodes would outweigh it
	}
	switch n.Status {
	case nodegroup.CreateFailed:
		f.Fix.Text = "EKS does not retry: remove the cause, delete the nodegroup, and recreate it."
	case nodegroup.DeleteFailed:
		f.Fix.Text = "Find what blocks it (a security group or a role in use, a policy that denies the deletion), and delete it again."
	default:
		f.Fix.Text = "Read its group's scaling activities. EKS clears DEGRADED only after a launch that succeeds."
	}
	if len(n.Issues) == 0 {
		f.Why += " It reports no issue that explains it."
		return f
	}
	issues, _ := r.UndisprovedIssues(n)
	f.Why += fmt.Sprintf(" It reports %s.", check.Some(codesOf(n.Issues), 3))
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

func stuckFinding(r check.Roster, n snapshot.Nodegroup) (check.Finding, bool) {
	at, usual := began(n)
	lasts := r.S.Time.Sub(at)
	if at.IsZero() || lasts <= usual {
		return check.Finding{}, false
	}
	f := check.Failed(n.Name, n.Name).
		Titled("nodegroup %s has been %s since %s", n.Name, n.Status, check.ClockTime(at)).
		Because("Nodegroup %s has been %s since %s; that takes at most %s.", n.Name, n.Status, at.UTC().Format(check.DayAndMinute+" UTC"), check.Minutes(usual)).
		Notingf(n.Name, "%s, min %d max %d desired %d", n.Status, n.Min, n.Max, n.Desired).
		Showing(cluster.IssueEvidence(n.Issues)...).
		ToFix("Check what it waits for: nodes that do not join, pods that cannot be evicted (kubectl get pdb -A), instances that do not end.").
		Command(cmp.Or(describeUpdate(r, n), r.S.DescribeNodegroup(n.Name))).Console(r.S.NodegroupLink(n.Name))
	if issues, _ := r.UndisprovedIssues(n); len(issues) > 0 && onlyShow(r, n, issues) {
		r.AsSymptom(&f, n, issues)
	}
	return f, true
}

func describeUpdate(r check.Roster, n snapshot.Nodegroup) string {
	if len(n.Updates) == 0 || n.Updates[0].ID == "" {
		return ""
	}
	return r.S.AWSCommand("eks describe-update", "--name", r.S.Cluster.Name, "--nodegroup-name", n.Name, "--update-id", n.Updates[0].ID)
}

func judgeUpdateFailed(s *check.View) []check.Finding {
	r := check.NewRoster(s)
	var list []check.Finding
	for _, n := range s.Nodegroups {
		lack, lacks := s.Lacks(snapshot.Updates, n.Name)
		switch {
		case slices.ContainsFunc(n.Updates, func(u snapshot.Update) bool { return u.Status == nodegroup.InProgress }):
			// It is being updated again: what failed before is neither over nor
			// still the trouble.
		case lacks && lack.Reason == snapshot.NotRead:
			// Nothing has changed since they were read: nothing is said anew.
		case lacks:
			list = append(list, check.Unread(n.Name, []string{n.Name}, lack))
		default:
			list = append(list, lastUpdate(r, n))
		}
	}
	return list
}

// waited is how long a failed update is reported: an operator who has not updated
// again after a week has given it up.
const waited = 7 * 24 * time.Hour

// lastUpdate judges the newest update that has come to an end of its own.
func lastUpdate(r check.Roster, n snapshot.Nodegroup) check.Finding {
	f := check.Passed(n.Name, n.Name).Noting(n.Name, "no update has failed")
	for _, u := range n.Updates {
		line := check.Evidence{What: "Update " + u.ID, Value: fmt.Sprintf("%s of %s: %s", cmp.Or(u.Type, "an update"), u.Created.UTC().Format(check.DayAndMinute+" UTC"), u.Status)}
		switch u.Status {
		case nodegroup.InProgress, nodegroup.Cancelled:
			continue
		case nodegroup.Successful:
			f.Evidence = []check.Evidence{{What: n.Name, Value: fmt.Sprintf("is updated (%s of %s UTC)", cmp.Or(check.Spoken(u.Type), "update"), u.Created.UTC().Format(check.DayAndMinute))}}
			return f
		case nodegroup.Failed:
			if r.S.Time.Sub(u.Created) > waited {
				f.Evidence = []check.Evidence{line, {What: n.Name, Value: "it has not been updated for a week"}}
				return f
			}
			return updateFailed(r, n, u, line)
		}
		return check.Unread(n.Name, []string{n.Name}, check.Broken(snapshot.Updates, "the status %q of update %s is unknown to Rollcall", u.Status, u.ID))
	}
	return f
}

func updateFailed(r check.Roster, n snapshot.Nodegroup, u snapshot.Update, line check.Evidence) check.Finding {
	f := check.Failed(n.Name, n.Name).
		Titled("nodegroup %s failed to update", n.Name).
		Because("The %s of %s that began at %s UTC failed.", cmp.Or(check.Spoken(u.Type), "update"), n.Name, u.Created.UTC().Format(check.DayAndMinute)).
		Showing(line).
		ToFix("EKS gives no reason: check the nodegroup and its group's scaling activities, and update again.").
		Command(r.S.AWSCommand("eks describe-update", "--name", r.S.Cluster.Name, "--nodegroup-name", n.Name, "--update-id", u.ID)).
		Console(r.S.NodegroupLink(n.Name))
	if len(u.Params) > 0 {
		f = f.Noting("It was to set", check.Clip(strings.Join(u.Params, ", ")))
	}
	f = f.Showing(cluster.IssueEvidence(u.Errors)...)
	if len(u.Errors) == 0 {
		return f
	}
	first := u.Errors[0]
	code := nodegroup.OfUpdate(first.Code)
	f.Title = fitting("nodegroup ", fmt.Sprintf("%s failed to update: %s", n.Name, cmp.Or(check.Spoken(first.Code), "no code")))
	f.Why += " " + reported(code, first)
	if more := codesOf(u.Errors[1:]); len(more) > 0 {
		f.Why += fmt.Sprintf(" It reports %s too.", check.Some(more, 3))
	}
	f.Fix.Text = code.Next
	f.Fix.Command = cmp.Or(code.Command, f.Fix.Command)
	if code.Symptom {
		r.AsSymptom(&f, n, u.Errors)
	}
	return f
}
