package action

import (
	"cmp"
	"slices"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/network/leak"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
)

// Subject is what a plan needs to know of an incident.
type Subject struct {
	Cluster  string
	Check    checks.ID
	Resource string
	// Covers are the subnets or instances that the cause is about.
	Covers     []string
	Nodegroups []string
	// Cleared is when the cause was seen to be gone; zero while it is there.
	Cleared  time.Time
	Launches []outcome.Launch
	// Most is how many things a plan may change at most: the limit of an hour. 0
	// is as many as the remedy itself allows.
	Most int

	// Wearers are all interfaces that have the security groups of the endpoint
	// in question, or those of its nodes. They are a look of their own: a snapshot has not all of a VPC's.
	Wearers []snapshot.Interface
	// Roles are those that the operator named to be added as nodes.
	Roles []string
	// Sightings are what runs of eni-cleanup remember of the VPC's interfaces.
	Sightings map[string]leak.Sighting
}

// Look is one look at the world for one incident. It holds all checks, of which
// that of the incident is asked again.
type Look struct {
	Snapshot *snapshot.Snapshot
	Subject  Subject
	Checks   []checks.Check
}

// Whole asks whether all was read on which a plan of a remedy with these sources
// rests, at the cluster that it is for.
func (l Look) Whole(sources []snapshot.Source) *Refusal {
	s := l.Snapshot
	var blocked []snapshot.Failure
	for _, source := range sources {
		if !s.Has(source) {
			blocked = append(blocked, s.Why(source))
		}
	}
	switch {
	case len(blocked) > 0:
		return Unread(blocked...)
	case s.Cluster.Name != l.Subject.Cluster || s.Cluster.VPC == "" || s.Account == "" || s.Region == "" || s.Partition == "":
		return Missing(snapshot.Clusters, "the look is not at "+l.Subject.Cluster)
	}
	return nil
}

// Still asks the check that found the cause whether it is so now, at least with
// the given confidences.
func (l Look) Still(enough ...checks.Confidence) *Refusal {
	found, blocked := false, []snapshot.Failure(nil)
	for _, r := range l.ask() {
		switch {
		case r.Outcome == checks.Unknown:
			blocked = append(blocked, r.Blocked...)
		case r.Outcome == checks.Fail && r.Resource == l.Subject.Resource:
			found = true
			if !slices.Contains(enough, r.Confidence) {
				return Refuse(NotCertain, "%s finds it, but not with certainty (%s): something that cannot be seen could make it harmless.", l.Subject.Check, r.Confidence)
			}
		}
	}
	switch {
	case found:
		return nil
	case len(blocked) > 0:
		return Unread(blocked...)
	}
	return Refuse(NotSo, "%s does not find it any more at %s.", l.Subject.Check, l.Subject.Resource)
}

// Covered is what the check says that its failures at the incident's resource
// are about.
func (l Look) Covered() (ids []string) {
	for _, r := range l.ask() {
		if r.Outcome == checks.Fail && r.Resource == l.Subject.Resource {
			ids = append(ids, r.Covers...)
		}
	}
	return ids
}

// CauseGone asks the check whether the cause is gone.
func (l Look) CauseGone() *Refusal {
	var blocked []snapshot.Failure
	asked := false
	for _, r := range l.ask() {
		about := r.Resource == l.Subject.Resource || slices.ContainsFunc(r.Covers, func(id string) bool { return slices.Contains(l.Subject.Covers, id) })
		asked = true
		switch {
		case r.Outcome == checks.Fail && about:
			return Refuse(CauseIsThere, "%s still finds it at %s: a new instance would fail in the same way.", l.Subject.Check, r.Resource)
		case r.Outcome == checks.Unknown:
			blocked = append(blocked, r.Blocked...)
		}
	}
	switch {
	case len(blocked) > 0:
		return Unread(blocked...)
	case !asked:
		return Unread(snapshot.Failure{Source: snapshot.Source("check " + string(l.Subject.Check)), Reason: snapshot.NotRead, Message: "it judged nothing"})
	}
	return nil
}

// ask is what the incident's check finds, with the check's confidence where a
// finding has none of its own.
func (l Look) ask() (results []checks.Result) {
	for _, c := range l.Checks {
		if c.ID != l.Subject.Check {
			continue
		}
		for _, r := range checks.Eval([]checks.Check{c}, l.Snapshot) {
			r.Confidence = cmp.Or(r.Confidence, c.Confidence)
			results = append(results, r)
		}
	}
	return results
}

// ClusterTag is the tag by which Kubernetes knows a cluster's things.
func ClusterTag(cluster string) string { return "kubernetes.io/cluster/" + cluster }
