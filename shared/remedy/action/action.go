// Package action is what a remedy is made of: the look that a plan rests on, a
// refusal, the result of doing it, and the
// statements that allow it. It decides and says; it changes nothing, and
// imports nothing of AWS.
//
// Each remedy stands in a folder of its own beside this one, as a value Remedy;
// package remedies lists them.
package action

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/network/leak"
	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// OptIn is what an operator lets a remedy do.
type OptIn struct {
	// Clusters are those that have opted in to the remedy, Any those that have to
	// any, sorted.
	Clusters, Any []string
	// VPCs are those in which remedies may change the network, Roles the ARNs of the
	// roles that may be added as nodes.
	VPCs, Roles []string
}

// InVPCs narrows a grant by VPC; without a cluster or a VPC there is none.
//
// That ec2:Vpc (compared with ArnEquals) counts for route tables in CreateRoute
// and for security groups in AuthorizeSecurityGroupIngress stands in public lists
// made from the service authorization reference (github.com/udondan/iam-floyd,
// lib/generated/amazonec2.ts, ifVpc). It was not tried in AWS. A key that did not
// count would make AWS refuse the call: the remedy would fail and say so, not act
// more widely.
func (o OptIn) InVPCs(grant spec.Grant) []spec.Grant {
	if len(o.VPCs) == 0 || len(o.Clusters) == 0 {
		return nil
	}
	var vpcs []string
	for _, id := range o.VPCs {
		vpcs = append(vpcs, "arn:${Partition}:ec2:${Region}:${Account}:vpc/"+id)
	}
	grant.Conditions = map[string]map[string][]string{"ArnEquals": {"ec2:Vpc": vpcs}}
	return []spec.Grant{grant}
}

// ToGroups gives a grant on the Auto Scaling groups that are owned by the
// clusters that have opted in. A group is its cluster's by a tag whose key holds
// the cluster's name, and a statement holds only where all its keys do: there is
// one for each cluster. Remedies share them (Join).
//
// That aws:ResourceTag counts for groups in SetDesiredCapacity and
// TerminateInstanceInAutoScalingGroup is what the cluster autoscaler's policies
// rest on (aws:ResourceTag/k8s.io/cluster-autoscaler/CLUSTER). It was not tried in
// AWS.
func (o OptIn) ToGroups(call, why string) []spec.Grant {
	var grants []spec.Grant
	for _, cluster := range o.Clusters {
		grants = append(grants, spec.Grant{
			// The number makes ids unique: a cluster's name may hold what an id may not.
			Sid: Numbered("ChangeGroups", slices.Index(o.Any, cluster)), Why: why, Actions: []string{call},
			Resources:  []spec.Resource{"arn:${Partition}:autoscaling:${Region}:${Account}:autoScalingGroup:*"},
			Conditions: map[string]map[string][]string{"StringEquals": {"aws:ResourceTag/" + ClusterTag(cluster): {"owned"}}},
		})
	}
	return grants
}

// listed is how many clusters a statement names at most: with the longest names
// that EKS takes (100 characters) their ARNs are then 3,300 characters, so that
// a statement fits into a managed policy, which takes 6,144.
const listed = 20

// ByARN gives a grant on what is of the clusters that have opted in, and of no
// other: a statement holds for any of its resources. The form has %s for a
// cluster's name.
func (o OptIn) ByARN(form string, grant spec.Grant) []spec.Grant {
	var arns []spec.Resource
	for _, cluster := range o.Clusters {
		arns = append(arns, spec.Resource(strings.Replace(form, "%s", cluster, 1)))
	}
	var grants []spec.Grant
	for list := range slices.Chunk(arns, listed) {
		g := grant
		g.Sid, g.Resources = Numbered(grant.Sid, len(grants)), list
		grants = append(grants, g)
	}
	return grants
}

// Numbered is the id of the n-th statement of a kind, from 0.
func Numbered(sid string, n int) string { return sid + strconv.Itoa(n+1) }

// Join makes one statement of those of the same id, which remedies share: on the
// same resources, under the same conditions. Numbered ones come together, by their
// number.
func Join(grants []spec.Grant) []spec.Grant {
	var joined []spec.Grant
	for _, g := range grants {
		i := slices.IndexFunc(joined, func(x spec.Grant) bool { return x.Sid == g.Sid })
		if i < 0 {
			joined = append(joined, g)
			continue
		}
		joined[i].Actions = slices.Concat(joined[i].Actions, g.Actions)
		joined[i].Why += " " + g.Why
	}
	kind := func(g spec.Grant) string { return strings.TrimRight(g.Sid, "0123456789") }
	var kinds []string
	for _, g := range joined {
		kinds = append(kinds, kind(g))
	}
	slices.SortStableFunc(joined, func(a, b spec.Grant) int {
		return cmp.Or(
			cmp.Compare(slices.Index(kinds, kind(a)), slices.Index(kinds, kind(b))),
			cmp.Compare(len(a.Sid), len(b.Sid)), cmp.Compare(a.Sid, b.Sid),
		)
	})
	return joined
}

// The tags that Karpenter gives an instance with its launch, beside the
// cluster's: karpenter-provider-aws, pkg/providers/launchtemplate and instance.
const (
	nodePoolTag  = "karpenter.sh/nodepool"
	nodeClassTag = "karpenter.k8s.aws/ec2nodeclass"
)

// LaunchedBy is what of the cluster launched an instance: an Auto Scaling group
// that the cluster or one of its nodegroups owns, or a NodePool of Karpenter's.
// The cluster's tag alone proves nothing: whoever may start an instance may set
// it, and every other tag but those that begin with "aws:" (EC2 user guide, "Tag
// restrictions"). So a group counts that counts the instance itself, and a NodePool
// where a NodeClaim names the instance; proved is false where the NodeClaims could
// not be read, so that tags alone name the NodePool.
func (l Look) LaunchedBy(in snapshot.Instance) (by string, proved bool, _ *Refusal) {
	i := slices.IndexFunc(l.Snapshot.Groups, func(g snapshot.Group) bool {
		return slices.ContainsFunc(g.Instances, func(m snapshot.GroupInstance) bool { return m.ID == in.ID })
	})
	name := in.Tags["aws:autoscaling:groupName"]
	switch {
	case i >= 0:
		name = l.Snapshot.Groups[i].Name
	case name == "":
		pool := in.Tags[nodePoolTag]
		if pool == "" || in.Tags[nodeClassTag] == "" || in.Tags[ClusterTag(l.Subject.Cluster)] != "owned" || in.Tags["eks:eks-cluster-name"] != l.Subject.Cluster {
			return "", false, Refuse(remedy.NotLaunchedByIt, "%s has the tag of %s, but was launched by none of its Auto Scaling groups, nodegroups or NodePools: anybody could have set the tag.", in.ID, l.Subject.Cluster)
		}
		_, proved := check.ClaimedBy(l.Snapshot, in.ID)
		if !proved && l.Snapshot.Has(snapshot.NodeClaimsOf) {
			return "", false, Refuse(remedy.NotLaunchedByIt, "%s has the tags of NodePool %s, but no NodeClaim of %s names it: anybody could have set the tags.", in.ID, pool, l.Subject.Cluster)
		}
		return "NodePool " + pool, proved, nil
	case slices.ContainsFunc(l.Snapshot.Groups, func(g snapshot.Group) bool { return g.Name == name }):
		return "", false, Refuse(remedy.NotTheGroups, "%s does not have %s among its instances.", name, in.ID)
	default:
		return "", false, Unread(snapshot.Failure{Source: snapshot.Groups, Reason: snapshot.Broken, Message: name + " is not among them"})
	}
	n := slices.IndexFunc(l.Snapshot.Nodegroups, func(n snapshot.Nodegroup) bool { return slices.Contains(n.Groups, name) })
	switch {
	case n >= 0 && (l.Snapshot.Nodegroups[n].Cluster == "" || l.Snapshot.Nodegroups[n].Cluster == l.Subject.Cluster):
		return "nodegroup " + l.Snapshot.Nodegroups[n].Name, true, nil
	case l.Snapshot.Groups[i].Tags[ClusterTag(l.Subject.Cluster)] == "owned":
		return "Auto Scaling group " + name, true, nil
	}
	return "", false, Refuse(remedy.OtherCluster, "%s, which launched %s, is not tagged as owned by %s.", name, in.ID, l.Subject.Cluster)
}

// LaunchesInto reports whether it is proved that the cluster launches nodes into a
// subnet: a group or nodegroup of it has the subnet, the class of a NodePool resolves
// to it, or the cluster launched an instance that is in it.
func (l Look) LaunchesInto(subnet string) bool {
	return check.LaunchesInto(l.Snapshot, subnet) || slices.ContainsFunc(l.Snapshot.Instances, func(in snapshot.Instance) bool {
		if in.Subnet != subnet {
			return false
		}
		_, proved, no := l.LaunchedBy(in)
		return proved && no == nil
	})
}

// Subject is what a plan needs to know of an incident.
type Subject struct {
	Cluster  string
	Check    checkid.ID
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
	Checks   []check.Check
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
		return Missing(snapshot.Clusters, "the observation is not of "+l.Subject.Cluster)
	}
	return nil
}

// Still asks the check that found the cause whether it is so now, at least with
// the given confidences.
func (l Look) Still(enough ...finding.Confidence) *Refusal {
	found, blocked := false, []snapshot.Failure(nil)
	for _, r := range l.ask() {
		switch {
		case r.Outcome == finding.Unknown:
			blocked = append(blocked, r.Blocked...)
		case r.Outcome == finding.Fail && r.Resource == l.Subject.Resource:
			found = true
			if !slices.Contains(enough, r.Confidence) {
				return Refuse(remedy.NotCertain, "%s finds it, but not with certainty (%s): something that Rollcall cannot read could make it harmless.", l.Subject.Check, r.Confidence)
			}
		}
	}
	switch {
	case found:
		return nil
	case len(blocked) > 0:
		return Unread(blocked...)
	}
	return Refuse(remedy.NotSo, "%s no longer finds it at %s.", l.Subject.Check, l.Subject.Resource)
}

// Covered is what the check says that its failures at the incident's resource
// are about.
func (l Look) Covered() (ids []string) {
	for _, r := range l.ask() {
		if r.Outcome == finding.Fail && r.Resource == l.Subject.Resource {
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
		case r.Outcome == finding.Fail && about:
			return Refuse(remedy.CauseIsThere, "%s still finds it at %s: a new instance would fail the same way.", l.Subject.Check, r.Resource)
		case r.Outcome == finding.Unknown:
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
func (l Look) ask() (results []finding.Result) {
	for _, c := range l.Checks {
		if c.ID != l.Subject.Check {
			continue
		}
		for _, r := range check.Eval([]check.Check{c}, l.Snapshot) {
			r.Confidence = cmp.Or(r.Confidence, c.Confidence)
			results = append(results, r)
		}
	}
	return results
}

// ClusterTag is the tag by which Kubernetes knows a cluster's things.
func ClusterTag(cluster string) string { return "kubernetes.io/cluster/" + cluster }

// Refusal is why there is no plan.
type Refusal struct {
	Reason remedy.Reason
	// Says is a sentence for people.
	Says string
	// Blocked is what could not be looked at.
	Blocked []snapshot.Failure
	// Again is when it is worth trying again; zero where only a change helps.
	Again time.Time
}

// Refuse says why there is no plan: for people by a format and its values.
func Refuse(r remedy.Reason, format string, values ...any) *Refusal {
	return &Refusal{Reason: r, Says: fmt.Sprintf(format, values...)}
}

// Unread refuses what would rest on something that was not read.
func Unread(blocked ...snapshot.Failure) *Refusal {
	f := blocked[0]
	says := fmt.Sprintf("No plan without complete data; not read: %s, %s", f.Source, f.Reason)
	if f.Call != "" {
		says += " (" + f.Call + ")"
	}
	return &Refusal{Reason: remedy.CouldNotLook, Says: says + ".", Blocked: blocked}
}

// Missing refuses what would rest on a part of a source that its answer, which
// was read, does not hold: a message says which.
func Missing(source snapshot.Source, message string) *Refusal {
	return Unread(snapshot.Failure{Source: source, Reason: snapshot.Broken, Message: message})
}

// Remedy is all that is known of a remedy: P is its own part of a plan, C the
// calls of AWS by which it is done. What is nil or empty does not apply to it.
type Remedy[P, C any] struct {
	Name optin.Remedy

	// Sources are those without which it is not planned, whatever its check needs.
	Sources []snapshot.Source
	// Uses are read where they can be: they prove what else a person decides.
	Uses []snapshot.Source
	// More is what it is planned from beside them.
	More More

	// Plan plans it from a fresh look, or says why not.
	Plan func(Look) (*P, *Refusal)
	// Most is how many things one plan changes at most; 0: one.
	Most int
	// Left is how many things more would be planned, if one plan could hold any
	// number.
	Left func(Look) int
	// Quiet are its own reasons which say that there is nothing to do: they are
	// not reported.
	Quiet []remedy.Reason

	// Applied reports whether the world is now as a plan makes it. Known is false
	// where that could not be looked at.
	Applied func(P, *snapshot.Snapshot) (done, known bool)

	// Do does a plan. By the token EKS knows a call that it has had already.
	Do func(ctx context.Context, calls C, p P, at remedy.Place, token string) Result
	// Grants allow what Do calls, as narrowly as the settings have it.
	Grants func(OptIn) []spec.Grant
}

// Make plans the remedy, where all that a plan rests on was read, or says why not.
func (r Remedy[P, C]) Make(l Look) (*P, *Refusal) {
	if no := l.Whole(r.Sources); no != nil {
		return nil, no
	}
	return r.Plan(l)
}

// More is what is read for a remedy beside sources of a snapshot, which do not
// hold all of it.
type More struct {
	// GroupMembers are all instances of the cluster's Auto Scaling groups.
	GroupMembers bool
	// Sightings are what runs of eni-cleanup remember of the VPC's interfaces.
	Sightings bool
	// WearersOf are the security groups of which all interfaces are looked for.
	WearersOf func(*snapshot.Snapshot, Subject) []string
}

// Result is what came of doing a plan.
type Result struct {
	Status remedy.Status
	// Reason is AWS's code of an error.
	Reason string
	// Says is a sentence for people.
	Says string
	// Changed are the ids of what was changed, Requests AWS's request ids.
	Changed, Requests []string
}

// One is the result of a step of one call, which changes the thing of an id.
func One(id string, a Answer) Result {
	r := Result{Status: remedy.Done}
	if a.Request != "" {
		r.Requests = []string{a.Request}
	}
	switch a.Outcome {
	case Done:
		r.Changed = []string{id}
		return r
	case Uncertain:
		r.Status = remedy.Uncertain
		r.Says = "No response confirms whether it was done."
	case NoRole:
		r.Status = remedy.Failed
		r.Says = fmt.Sprintf("Nothing was changed: Rollcall cannot assume the remediator role (%s).", cmp.Or(a.Code, a.Message))
		r.Reason = string(remedy.RoleNotAssumed)
		return r
	default:
		r.Status = remedy.Failed
		r.Says = fmt.Sprintf("Nothing was changed: AWS returned %s: %s", a.Code, a.Message)
	}
	r.Reason = a.Code
	return r
}

// Outcome is what came of a change.
type Outcome string

// The outcomes. All but Done and Uncertain are sure to have changed nothing.
const (
	Done      Outcome = "done"
	WouldDo   Outcome = "would do" // in a dry run
	InUse     Outcome = "in use"
	NotThere  Outcome = "not there"
	Throttled Outcome = "throttled"
	Denied    Outcome = "denied"
	Refused   Outcome = "refused" // for another reason: see Code
	// NoRole: the role in which the call is made, another account's, could not be assumed.
	// The call was not sent.
	NoRole Outcome = "no role"
	// Uncertain: no answer came, or one that does not say whether it was done.
	Uncertain Outcome = "uncertain"
)

// Answer is AWS's answer to a change.
type Answer struct {
	Outcome Outcome
	// Request is AWS's request id; empty where no answer came.
	Request string
	// Code and Message are those of an error.
	Code, Message string
}

// NotAsked is the answer to a change that is not asked of AWS, as what is wanted
// is not what the remedy does.
func NotAsked(code, message string) Answer {
	return Answer{Outcome: Refused, Code: code, Message: message}
}
