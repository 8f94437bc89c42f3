package facts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/activity"
	"rollcall/shared/nodegroup"
	"rollcall/shared/snapshot"
)

// Roster is what our own eyes see of nodegroups. EKS takes a status back late,
// or never: DEGRADED only after a scale-out that worked, CREATE_FAILED not at
// all (containers-roadmap 2326 and 764).
type Roster struct {
	InstanceIndex
	attempts *Attempts
}

func NewRoster(s *View) Roster { return Roster{s.Index(), s.Attempts()} }

// Members are a nodegroup's live instances.
func (r Roster) Members(n snapshot.Nodegroup) []*snapshot.Instance {
	var list []*snapshot.Instance
	for i := range r.S.Instances {
		in := &r.S.Instances[i]
		if in.Ended() || r.Warm[in.ID] {
			continue
		}
		if in.Tags["eks:nodegroup-name"] == n.Name || slices.Contains(n.Groups, in.Tags["aws:autoscaling:groupName"]) {
			list = append(list, in)
		}
	}
	return list
}

func (r Roster) Joined(id string) bool {
	n := r.Nodes[id]
	return n != nil && n.Joined()
}

// Works is what shows that a nodegroup's launches work, whatever EKS still
// says: a launch that began after the trouble was first seen has joined, or
// there are as many Ready nodes as are wanted and no instance waits. Where
// nodes or instances could not be read nothing shows it; nor do no nodes at all.
func (r Roster) Works(n snapshot.Nodegroup, since time.Time) (text string, ok bool) {
	if !r.S.Has(snapshot.Nodes) || !r.S.Has(snapshot.Instances) {
		return "", false
	}
	ready, waits := 0, 0
	var first *snapshot.Instance
	for _, in := range r.Members(n) {
		if !r.Joined(in.ID) {
			waits++
			continue
		}
		ready++
		if !since.IsZero() && in.Launched.After(since) && (first == nil || in.Launched.Before(first.Launched)) {
			first = in
		}
	}
	switch {
	case first != nil:
		return fmt.Sprintf("%s, started later (%s), is a Ready node", first.ID, phrase.ClockTime(first.Launched)), true
	case n.Desired > 0 && ready >= n.Desired && waits == 0:
		return fmt.Sprintf("it has %d Ready nodes of %d wanted, and none waits", ready, n.Desired), true
	}
	return "", false
}

// Unseen reports whether nodes or instances, which could show that a nodegroup's launches
// work, were requested and could not be read.
func (r Roster) Unseen() bool {
	return slices.ContainsFunc([]snapshot.Source{snapshot.Nodes, snapshot.Instances}, func(source snapshot.Source) bool {
		_, failed := r.S.Failures[source]
		return failed
	})
}

// over is what shows that an issue is over. Only some can be disproved by a
// launch that works.
func (r Roster) over(n snapshot.Nodegroup, i snapshot.Issue) (text string, ok bool) {
	c := nodegroup.OfIssue(i.Code)
	if !c.Disproved {
		return "", false
	}
	// EKS lists what a group's activities say of an instance that ended under its
	// launch hook. One that EC2 took back had been launched.
	if activity.StatusOf("Cancelled", i.Message) == activity.TakenBack {
		return "EC2 took a new Spot instance back before it was in service, which is no failed launch", true
	}
	if named := instancesOf(i); c.Class == nodegroup.Join && len(named) > 0 && r.S.Has(snapshot.Nodes) &&
		!slices.ContainsFunc(named, func(id string) bool { return !r.Joined(id) }) {
		return phrase.Some(named, 3) + phrase.Verb(named, " is a Ready node", " are Ready nodes") + " now", true
	}
	return r.Works(n, i.Since)
}

// UndisprovedIssues are the issues that nothing disproves, those that name a cause
// first; disproof is what shows that the others are over.
func (r Roster) UndisprovedIssues(n snapshot.Nodegroup) (list []snapshot.Issue, disproof []string) {
	for _, i := range n.Issues {
		if text, over := r.over(n, i); over {
			if !slices.Contains(disproof, text) {
				disproof = append(disproof, text)
			}
			continue
		}
		list = append(list, i)
	}
	slices.SortStableFunc(list, func(a, b snapshot.Issue) int {
		if x, y := r.Shows(n, a), r.Shows(n, b); x != y {
			if x {
				return 1
			}
			return -1
		}
		return strings.Compare(a.Code, b.Code)
	})
	return list, disproof
}

// StillSays is the evidence of a pass that EKS does not agree with, on the one
// line that a closed incident has room for.
func StillSays(n snapshot.Nodegroup, disproof []string) []finding.Evidence {
	return []finding.Evidence{{What: n.Name, Value: fmt.Sprintf("EKS still says %s; %s", cmp.Or(n.Status, "the issue"), strings.Join(disproof, "; "))}}
}

// Shows tells that an issue is only how something else shows: what the
// instances, the group's own activities or the subnets tell is nearer to the
// cause.
func (r Roster) Shows(n snapshot.Nodegroup, i snapshot.Issue) bool {
	c := nodegroup.OfIssue(i.Code)
	switch {
	case c.Symptom:
		return true
	case r.launchesName(n, i):
		return true // the failed launches tell the same, and told it earlier
	case !c.Disproved:
		return false
	case c.Class == nodegroup.Address:
		return r.S.Has(snapshot.Subnets) // ip/subnet-exhausted counts them
	}
	return slices.ContainsFunc(r.attempts.List, func(t Attempt) bool { return slices.Contains(n.Groups, t.Group) })
}

// launchesName tells that failed launches of a nodegroup's groups name all
// that an issue names: a subnet, for instance, that was deleted.
func (r Roster) launchesName(n snapshot.Nodegroup, i snapshot.Issue) bool {
	return len(i.Resources) > 0 && !slices.ContainsFunc(i.Resources, func(id string) bool {
		return !slices.ContainsFunc(r.attempts.List, func(t Attempt) bool {
			named := t.Verdict.Named
			return slices.Contains(n.Groups, t.Group) && slices.Contains([]string{named.Subnet, named.AMI, named.SecurityGroup, named.Template, named.Profile}, id)
		})
	})
}

// AsSymptom makes a finding one of a symptom: of the instances that the issues
// name, as far as they are in scope and not Ready, or else of the nodegroup's
// groups, which could not even launch ("DUMMY_…" stands for an instance that
// never was), and its subnets.
func (r Roster) AsSymptom(f *finding.Finding, n snapshot.Nodegroup, issues []snapshot.Issue) {
	f.Confidence = finding.Symptom
	for _, i := range issues {
		for _, id := range instancesOf(i) {
			if slices.Contains(r.S.Scope.Instances, id) && r.Instances[id] != nil && !r.Joined(id) {
				f.Instances = append(f.Instances, id)
			}
		}
	}
	if !slices.ContainsFunc(issues, func(i snapshot.Issue) bool { return len(instancesOf(i)) > 0 }) {
		f.Resources = slices.Concat([]string{n.Name}, n.Groups, n.Subnets)
	}
}

// instancesOf are the instances that an issue names.
func instancesOf(i snapshot.Issue) []string {
	var list []string
	for _, id := range i.Resources {
		if strings.HasPrefix(id, "i-") {
			list = append(list, id)
		}
	}
	return list
}
