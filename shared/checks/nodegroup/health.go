package nodegroup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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

func Health() check.Check {
	return check.Check{
		ID:         checkid.NodegroupHealth,
		Breaks:     check.Managed,
		Proof:      check.ByPassing,
		CoversToo:  check.Nodegroups,
		Title:      "EKS reports a health issue of a nodegroup",
		Confidence: finding.Certain,
		WatchedBy:  []check.Detector{check.NodegroupWatch},
		Needs:      []snapshot.Source{snapshot.Nodegroups},
		Uses:       []snapshot.Source{snapshot.Subnets},
		After:      behindNodegroups(),
		Cause:      "EKS lists a health issue of a managed nodegroup. All codes have a class, a meaning and a next step here. That instances did not join, or could not be launched, is a symptom: where their own cause is found, that is told. EKS keeps some issues long after they are over; a later launch that joined, or as many Ready nodes as are wanted, outweighs those.",
		Fix:        "It depends on the issue's code, which the finding names.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_Issue.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html#troubleshoot-managed-node-groups",
		},
		Run: func(s *facts.View) []finding.Finding {
			r := facts.NewRoster(s)
			var list []finding.Finding
			for _, n := range s.Nodegroups {
				list = append(list, health(r, n))
			}
			return list
		},
	}
}

func health(r facts.Roster, n snapshot.Nodegroup) finding.Finding {
	f := finding.Finding{Outcome: finding.Pass, Resource: n.Name, Covers: []string{n.Name}}
	if len(n.Issues) == 0 {
		f.Evidence = []finding.Evidence{{What: n.Name, Value: "is " + cmp.Or(n.Status, "without a status") + ", without a health issue"}}
		return f
	}
	issues, disproof := r.UndisprovedIssues(n)
	if len(issues) == 0 {
		f.Evidence = facts.StillSays(n, disproof)
		return f
	}
	if beingDeleted(r, n, issues) {
		f.Outcome = finding.Unknown
		f.Blocked = []snapshot.Failure{{Source: snapshot.Groups, Reason: snapshot.NotRead, Message: "the groups of " + n.Name + " were gone when they were read: it was deleted in the middle of the look"}}
		return f
	}
	first := issues[0]
	code := nodegroup.OfIssue(first.Code)
	f.Outcome = finding.Fail
	if code.Disproved && r.Unseen() {
		f.Confidence = finding.Likely // a launch that works would outweigh it
	}
	f.Title = fitting("nodegroup ", fmt.Sprintf("%s %s: %s", n.Name, phrase.Fares(n.Status), cmp.Or(phrase.Spoken(first.Code), "it has no code")))
	f.Why = reported(code, first)
	if more := codesOf(issues[1:]); len(more) > 0 {
		f.Why += fmt.Sprintf(" It reports %s too.", phrase.Some(more, 3))
	}
	f.Evidence = append([]finding.Evidence{{What: n.Name, Value: fmt.Sprintf("%s, min %d max %d desired %d", cmp.Or(n.Status, "no status"), n.Min, n.Max, n.Desired)}}, issue.IssueEvidence(issues)...)
	f.Fix = finding.Fix{Text: code.Next, Command: cmp.Or(code.Command, command.DescribeNodegroup(r.S, n.Name)), Console: link.Nodegroup(r.S, n.Name)}
	if onlyShow(r, n, issues) {
		r.AsSymptom(&f, n, issues)
		return f
	}
	if nearer := nearerThan(first.Code); nearer != nil && onlyShow(r, n, slices.DeleteFunc(slices.Clone(issues), func(i snapshot.Issue) bool { return i.Code == first.Code })) {
		f.Behind, f.Instances = nearer, waiting(r, n)
	}
	return f
}

// beingDeleted tells that a nodegroup's groups ended while it was looked at: it
// was read before them, and how it was then says nothing any more. A group that
// somebody deleted beside EKS has an issue of its own.
func beingDeleted(r facts.Roster, n snapshot.Nodegroup, issues []snapshot.Issue) bool {
	gone := func(i snapshot.Issue) bool { return i.Code == "AutoScalingGroupNotFound" }
	return r.S.Has(snapshot.Groups) && len(n.Groups) > 0 && !slices.ContainsFunc(issues, gone) &&
		!slices.ContainsFunc(r.S.Groups, func(g snapshot.Group) bool { return slices.Contains(n.Groups, g.Name) })
}

// fitting is a title with its first word, or without where that is too long.
func fitting(first, rest string) string {
	if whole := phrase.Title("%s%s", first, rest); whole == first+rest {
		return whole
	}
	return phrase.Title("%s", rest)
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
		text += " (" + phrase.Some(named, 3) + ")"
	}
	if text += "."; i.Message != "" && (!c.Known || c.Class == nodegroup.Other) {
		text += fmt.Sprintf(" Its message: %q.", strings.TrimSuffix(phrase.Clip(i.Message), "."))
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
// and are not. Where the nodes could not be read nobody knows them.
func waiting(r facts.Roster, n snapshot.Nodegroup) []string {
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

// onlyShow tells that all issues are how something else shows.
func onlyShow(r facts.Roster, n snapshot.Nodegroup, issues []snapshot.Issue) bool {
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
