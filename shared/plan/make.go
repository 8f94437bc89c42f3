package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/network/leak"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
)

// Subject is what a plan needs to know of an incident.
type Subject struct {
	// Remedy is the one that is asked for.
	Remedy   Remedy
	Cluster  string
	Check    checks.ID
	Resource string
	// Covers are the subnets or instances that the cause is about.
	Covers     []string
	Nodegroups []string
	// Cleared is when the cause was seen to be gone; zero while it is there.
	Cleared  time.Time
	Launches []Launch
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

// Launch is an affected launch, as the incident has it.
type Launch struct {
	Instance string
	Started  time.Time
	Standing outcome.Standing
}

// Reason is a typed word for why there is no plan. The words are permanent:
// they stand in audit records.
type Reason string

// The reasons that are not one remedy's alone.
const (
	// CouldNotLook: something that the plan rests on was not read.
	CouldNotLook Reason = "could-not-look"
	// NotSo: the check that found the cause does not find it any more.
	NotSo Reason = "not-so"
	// NotCertain: it is found, but something unseen could make it harmless.
	NotCertain    Reason = "not-certain"
	NoSuchRemedy  Reason = "no-such-remedy"
	Gone          Reason = "gone"
	OtherVPC      Reason = "other-vpc"
	OtherAccount  Reason = "other-account"
	OtherCluster  Reason = "other-cluster"
	CauseIsThere  Reason = "cause-is-there"
	TooSoon       Reason = "too-soon"
	GroupScales   Reason = "group-scales"
	NotTheGroups  Reason = "not-the-groups"
	NothingToDo   Reason = "nothing-to-do"
	AlreadyThere  Reason = "already-there"
	AnotherChange Reason = "another-change"
)

// Refusal is why there is no plan.
type Refusal struct {
	Reason Reason
	// Says is a sentence for people.
	Says string
	// Blocked is what could not be looked at.
	Blocked []snapshot.Failure
	// Again is when it is worth trying again; zero where only a change helps.
	Again time.Time
}

func refuse(r Reason, format string, values ...any) *Refusal {
	return &Refusal{Reason: r, Says: fmt.Sprintf(format, values...)}
}

func unread(blocked ...snapshot.Failure) *Refusal {
	f := blocked[0]
	says := fmt.Sprintf("No plan is made where something could not be read: %s, %s", f.Source, f.Reason)
	if f.Call != "" {
		says += " (" + f.Call + ")"
	}
	return &Refusal{Reason: CouldNotLook, Says: says + ".", Blocked: blocked}
}

// Make plans a remedy for an incident from a fresh look, or says why not. All
// that a plan rests on must have been read in full; and the check that found
// the cause is asked again: what it does not find, with certainty, is not
// remedied. Replace alone is for a cause that is gone.
func Make(s *snapshot.Snapshot, of Subject) (Plan, *Refusal) {
	return makeWith(s, of, checks.All())
}

func makeWith(s *snapshot.Snapshot, of Subject, list []checks.Check) (Plan, *Refusal) {
	var blocked []snapshot.Failure
	for _, source := range own(of.Remedy) {
		if !s.Has(source) {
			blocked = append(blocked, s.Why(source))
		}
	}
	switch {
	case len(blocked) > 0:
		return Plan{}, unread(blocked...)
	case s.Cluster.Name != of.Cluster || s.Cluster.VPC == "" || s.Account == "" || s.Region == "" || s.Partition == "":
		return Plan{}, unread(snapshot.Failure{Source: snapshot.Clusters, Reason: snapshot.Broken, Message: "the look is not at " + of.Cluster})
	}
	p := Plan{
		Format: Format, Remedy: of.Remedy, Partition: s.Partition, Account: s.Account, Region: s.Region,
		Cluster: of.Cluster, Check: of.Check, Resource: of.Resource,
	}
	look := look{s: s, of: of, list: list}
	var no *Refusal
	switch of.Remedy {
	case AddNATRoute:
		p.Route, no = look.route()
	case ReplaceInstance:
		p.Replace, no = look.replace()
	case OpenEndpointSecurityGroup:
		p.Open, no = look.open()
	case CoverZones:
		p.Cover, no = look.cover()
	case DeleteLeakedInterfaces:
		p.Cleanup, no = look.cleanup()
	case CreateAccessEntry:
		p.Access, no = look.access()
	default:
		no = refuse(NoSuchRemedy, "%s is no remedy.", of.Remedy)
	}
	if no != nil {
		return Plan{}, no
	}
	return p, nil
}

// Sources are what a plan needs to be read: its own, and those of the check.
func Sources(r Remedy, check checks.ID) []snapshot.Source {
	list := own(r)
	for _, c := range checks.All() {
		if c.ID == check {
			list = slices.Concat(list, c.Needs, c.Uses)
		}
	}
	list = slices.DeleteFunc(list, func(x snapshot.Source) bool { return x == snapshot.LaunchHistory })
	slices.Sort(list)
	return slices.Compact(list)
}

// own are the sources without which a remedy is not planned, whatever its
// check needs.
func own(r Remedy) []snapshot.Source {
	switch r {
	case AddNATRoute:
		return []snapshot.Source{
			snapshot.Clusters, snapshot.VPCs, snapshot.Subnets, snapshot.RouteTables, snapshot.NATGateways,
			snapshot.InternetGateways, snapshot.Endpoints, snapshot.Groups,
		}
	case ReplaceInstance:
		return []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Groups, snapshot.Nodes, snapshot.Nodegroups}
	case OpenEndpointSecurityGroup:
		return []snapshot.Source{
			snapshot.Clusters, snapshot.VPCs, snapshot.Instances, snapshot.Subnets, snapshot.Endpoints, snapshot.SecurityGroups, snapshot.Groups, snapshot.Nodegroups,
		}
	case CoverZones:
		return []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.Groups, snapshot.Nodegroups, snapshot.Activities}
	case DeleteLeakedInterfaces:
		return []snapshot.Source{snapshot.Clusters, snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf}
	case CreateAccessEntry:
		return []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Profiles, snapshot.Access, snapshot.Groups, snapshot.Nodegroups}
	}
	return []snapshot.Source{snapshot.Clusters}
}

// look is one look at the world for one incident.
type look struct {
	s    *snapshot.Snapshot
	of   Subject
	list []checks.Check
}

// still asks the check that found the cause whether it is so now, at least with
// the given confidences.
func (l look) still(enough ...checks.Confidence) *Refusal {
	found, blocked := false, []snapshot.Failure(nil)
	for _, r := range l.ask() {
		switch {
		case r.Outcome == checks.Unknown:
			blocked = append(blocked, r.Blocked...)
		case r.Outcome == checks.Fail && r.Resource == l.of.Resource:
			found = true
			if !slices.Contains(enough, l.confidence(r)) {
				return refuse(NotCertain, "%s finds it, but not with certainty (%s): something that cannot be seen could make it harmless.", l.of.Check, l.confidence(r))
			}
		}
	}
	switch {
	case found:
		return nil
	case len(blocked) > 0:
		return unread(blocked...)
	}
	return refuse(NotSo, "%s does not find it any more at %s.", l.of.Check, l.of.Resource)
}

// covered is what the check says that its failures at the incident's resource
// are about.
func (l look) covered() (ids []string) {
	for _, r := range l.ask() {
		if r.Outcome == checks.Fail && r.Resource == l.of.Resource {
			ids = append(ids, r.Covers...)
		}
	}
	return ids
}

// gone asks the check whether the cause is gone.
func (l look) gone() *Refusal {
	var blocked []snapshot.Failure
	asked := false
	for _, r := range l.ask() {
		about := r.Resource == l.of.Resource || slices.ContainsFunc(r.Covers, func(id string) bool { return slices.Contains(l.of.Covers, id) })
		asked = true
		switch {
		case r.Outcome == checks.Fail && about:
			return refuse(CauseIsThere, "%s still finds it at %s: a new instance would fail in the same way.", l.of.Check, r.Resource)
		case r.Outcome == checks.Unknown:
			blocked = append(blocked, r.Blocked...)
		}
	}
	switch {
	case len(blocked) > 0:
		return unread(blocked...)
	case !asked:
		return unread(snapshot.Failure{Source: snapshot.Source("check " + string(l.of.Check)), Reason: snapshot.NotRead, Message: "it judged nothing"})
	}
	return nil
}

func (l look) ask() []checks.Result {
	var list []checks.Check
	for _, c := range l.list {
		if c.ID == l.of.Check {
			list = append(list, c)
		}
	}
	return checks.Eval(list, l.s)
}

func (l look) confidence(r checks.Result) checks.Confidence {
	for _, c := range l.list {
		if c.ID == r.Check {
			return cmp.Or(r.Confidence, c.Confidence)
		}
	}
	return r.Confidence
}

// ours is the tag by which Kubernetes knows a cluster's things.
func ours(cluster string) string { return "kubernetes.io/cluster/" + cluster }
