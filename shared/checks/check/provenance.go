package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/network/filter"
	"rollcall/shared/network/path"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/nodegroup"
	"rollcall/shared/snapshot"
)

// Proof is how far it is proved that a cluster launched an instance. Tags, names,
// user data and the subnet prove nothing: whoever may start an instance sets them
// (EC2 user guide, "Tag restrictions": only keys that begin with "aws:" are AWS's own).
type Proof int

const (
	// Unowned: nothing of the cluster launched it.
	Unowned Proof = iota
	// Claimed: its tags say so, and what would prove it could not be read.
	Claimed
	// Proved: an Auto Scaling group, a NodeClaim, EKS or a registered node has it.
	Proved
)

// eksOperator is the service that manages the instances of EKS Auto Mode (EC2 API
// reference, OperatorResponse; EKS user guide, "Learn about Amazon EKS Auto Mode
// Managed instances").
const eksOperator = "eks.amazonaws.com"

// clustersNamed returns whether tags name the cluster, and whether they name another one.
func clustersNamed(tags map[string]string, cluster string) (this, other bool) {
	note := func(name string) { this, other = this || name == cluster, other || name != cluster }
	for key, value := range tags {
		switch key {
		case "eks:cluster-name", "eks:eks-cluster-name", "alpha.eksctl.io/cluster-name", "aws:eks:cluster-name":
			note(value)
		}
		for _, prefix := range []string{"kubernetes.io/cluster/", "k8s.io/cluster/"} {
			if name, is := strings.CutPrefix(key, prefix); is {
				note(name)
			}
		}
	}
	return this, other
}

// Owned reports whether an Auto Scaling group is the cluster's: EKS names it as a
// nodegroup's, or its own tags name the cluster. Whoever may tag a group may set
// these, which takes more than starting an instance.
func Owned(s *snapshot.Snapshot, g snapshot.Group) bool {
	this, _ := clustersNamed(g.Tags, s.Cluster.Name)
	return this || nodegroupHas(s, g.Name)
}

func nodegroupHas(s *snapshot.Snapshot, group string) bool {
	return slices.ContainsFunc(s.Nodegroups, func(n snapshot.Nodegroup) bool {
		return (n.Cluster == "" || n.Cluster == s.Cluster.Name) && slices.Contains(n.Groups, group)
	})
}

// LaunchesInto reports whether the cluster launches nodes into a subnet: a group or
// nodegroup of it has the subnet, or the class of a NodePool resolves to it.
func LaunchesInto(s *snapshot.Snapshot, subnet string) bool {
	return slices.ContainsFunc(s.Groups, func(g snapshot.Group) bool { return slices.Contains(g.Subnets, subnet) && Owned(s, g) }) ||
		slices.ContainsFunc(s.Nodegroups, func(n snapshot.Nodegroup) bool { return slices.Contains(n.Subnets, subnet) }) ||
		slices.Contains(AllPoolSubnets(s), subnet)
}

// ClaimedBy returns the NodeClaim that names an instance.
func ClaimedBy(s *snapshot.Snapshot, instance string) (name string, is bool) {
	i := slices.IndexFunc(s.NodeClaims, func(c snapshot.NodeClaim) bool { return c.Instance == instance })
	if i < 0 {
		return "", false
	}
	return s.NodeClaims[i].Name, true
}

// Provenance returns the instances of the scope of which it is not proved that the
// cluster launched them.
func Provenance(s *snapshot.Snapshot) (claimed, unowned []string) {
	v := NewView(s)
	group := map[string]string{}
	for _, a := range s.Activities {
		if a.Instance != "" {
			group[a.Instance] = a.Group
		}
	}
	for _, g := range s.Groups {
		for _, m := range g.Instances {
			group[m.ID] = g.Name
		}
		for _, id := range g.Warm {
			group[id] = g.Name
		}
	}
	for _, in := range v.Scoped() {
		switch v.proof(in, group[in.ID]) {
		case Claimed:
			claimed = append(claimed, in.ID)
		case Unowned:
			unowned = append(unowned, in.ID)
		}
	}
	return claimed, unowned
}

func (v *View) proof(in *snapshot.Instance, group string) Proof {
	s, l := v.Snapshot, v.Index()
	if group == "" {
		group = in.Tags["aws:autoscaling:groupName"]
	}
	_, named := ClaimedBy(s, in.ID)
	switch {
	case l.Nodes[in.ID] != nil, named, l.Launches[in.ID].Claim != nil, in.Operator == eksOperator:
		return Proved
	case group != "":
		return groupProof(s, group)
	case in.Tags[scheduling.PoolLabel] != "" || in.Tags[AutoPoolTag] != "":
		return v.poolProof(in)
	case !in.Ended():
		return Unowned
	case len(in.Tags) == 0:
		return Proved // EC2 takes the tags off: what was known of it before counts
	case slices.ContainsFunc(s.Nodegroups, func(n snapshot.Nodegroup) bool {
		return n.Name == in.Tags["eks:nodegroup-name"] && (in.Subnet == "" || slices.Contains(n.Subnets, in.Subnet))
	}):
		return Proved // its group does not list it any more
	}
	return Unowned
}

// groupProof judges the Auto Scaling group that launched an instance. One that was
// not read, or is gone, launched it all the same; so did one that names no cluster: who
// may make a group may tag it. One that names another cluster is not this one's.
func groupProof(s *snapshot.Snapshot, name string) Proof {
	i := slices.IndexFunc(s.Groups, func(g snapshot.Group) bool { return g.Name == name })
	if i < 0 || Owned(s, s.Groups[i]) {
		return Proved
	}
	if _, other := clustersNamed(s.Groups[i].Tags, s.Cluster.Name); other {
		return Claimed
	}
	return Proved
}

// poolProof judges an instance with the tags of a NodePool, which no NodeClaim names.
// Karpenter deletes the NodeClaim of one that ended: then the NodePool and the subnet
// count into which it launches; EC2 forgets the subnet some time after the end.
func (v *View) poolProof(in *snapshot.Instance) Proof {
	switch {
	case !v.Has(snapshot.NodeClaimsOf):
		return Claimed
	case !in.Ended():
		return Unowned
	case in.Subnet != "" && !slices.Contains(AllPoolSubnets(v.Snapshot), in.Subnet):
		return Claimed
	}
	pool := cmp.Or(in.Tags[scheduling.PoolLabel], in.Tags[AutoPoolTag])
	if slices.ContainsFunc(v.NodePools, func(p snapshot.NodePool) bool { return p.Name == pool }) {
		return Proved
	}
	return Claimed
}

// Within returns the snapshot with a scope from which instances are left out, and
// the subnets in which nothing but these is.
func Within(s *snapshot.Snapshot, out []string) *snapshot.Snapshot {
	left := map[string]bool{}
	for _, id := range out {
		left[id] = true
	}
	theirs, ours := map[string]bool{}, map[string]bool{}
	for _, in := range s.Instances {
		if left[in.ID] {
			theirs[in.Subnet] = true
		} else {
			ours[in.Subnet] = true
		}
	}
	c := *s
	c.Scope.Instances, c.Scope.Subnets = nil, nil
	for _, id := range s.Scope.Instances {
		if !left[id] {
			c.Scope.Instances = append(c.Scope.Instances, id)
		}
	}
	for _, id := range s.Scope.Subnets {
		if !theirs[id] || ours[id] || slices.Contains(s.Scope.Launchable, id) || LaunchesInto(s, id) {
			c.Scope.Subnets = append(c.Scope.Subnets, id)
		}
	}
	return &c
}

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
		return fmt.Sprintf("%s, started later (%s), is a Ready node", first.ID, ClockTime(first.Launched)), true
	case n.Desired > 0 && ready >= n.Desired && waits == 0:
		return fmt.Sprintf("it has %d Ready nodes of %d wanted, and none is waiting", ready, n.Desired), true
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
		return "EC2 reclaimed a new Spot instance before it was in service, which is not a failed launch", true
	}
	if named := instancesOf(i); c.Class == nodegroup.Join && len(named) > 0 && r.S.Has(snapshot.Nodes) &&
		!slices.ContainsFunc(named, func(id string) bool { return !r.Joined(id) }) {
		return Some(named, 3) + Verb(named, " is a Ready node", " are Ready nodes") + " now", true
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
func StillSays(n snapshot.Nodegroup, disproof []string) []Evidence {
	return []Evidence{{What: n.Name, Value: fmt.Sprintf("EKS still reports %s; %s", cmp.Or(n.Status, "the issue"), strings.Join(disproof, "; "))}}
}

// Shows reports whether an issue is only how something else shows: what the
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

// launchesName reports whether failed launches of a nodegroup's groups name all
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
func (r Roster) AsSymptom(f *Finding, n snapshot.Nodegroup, issues []snapshot.Issue) {
	f.Confidence = Symptom
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

// Placements is what the checks of filters, names and endpoints stand on: where
// the scope's nodes are, and with which security groups.
type Placements struct {
	S      *View
	Net    *path.Network
	Fw     *filter.Filters
	Starts *BootConfig
	Posts  []*Placement
}

// Placement is a place where nodes stand alike: the same subnet, the same security
// groups, the same kind of operating system. All of them have the same fate.
type Placement struct {
	Subnet  snapshot.Subnet // its ID is empty when it is not known where they were
	Groups  []string
	Windows bool
	// Suspects have not joined; well are Ready nodes, which nothing keeps out.
	// A subnet of the scope without instances has neither.
	Suspects, Well []*snapshot.Instance
	Paths          []path.Path
	// Blocked is why the post cannot be judged at all.
	Blocked []snapshot.Failure
}

// groupPlacements sorts the scope into posts.
func groupPlacements(s *View) *Placements {
	g := &Placements{S: s, Net: s.Network(), Fw: s.Filters(), Starts: s.Boot()}
	at := map[string]*Placement{}
	put := func(i *snapshot.Instance) *Placement {
		subnet := SubnetOf(g.S, i)
		key := fmt.Sprintf("%s %v %t", subnet, i.Groups, i.Windows)
		p := at[key]
		if p == nil {
			p = g.post(subnet)
			p.Groups, p.Windows = i.Groups, i.Windows
			at[key] = p
			g.Posts = append(g.Posts, p)
		}
		return p
	}
	suspects, well := s.Pending()
	for _, i := range suspects {
		p := put(i)
		p.Suspects = append(p.Suspects, i)
	}
	for _, i := range well {
		p := put(i)
		p.Well = append(p.Well, i)
	}
	for _, p := range g.Posts {
		if more := g.Starts.Describing(p.Suspects); len(more) > 0 && len(p.Blocked) == 0 {
			p.Paths, _ = g.Net.Needs(p.Subnet.ID, more...)
		}
	}
	for _, id := range s.Scope.Subnets {
		if !slices.ContainsFunc(g.Posts, func(p *Placement) bool { return p.Subnet.ID == id }) {
			g.Posts = append(g.Posts, g.post(id))
		}
	}
	slices.SortStableFunc(g.Posts, func(a, b *Placement) int { return strings.Compare(a.Subnet.ID, b.Subnet.ID) })
	return g
}

func (g *Placements) post(subnet string) *Placement {
	p := &Placement{}
	if subnet == "" {
		p.block(snapshot.Instances, "EC2 no longer reports its subnet")
		return p
	}
	known := false
	if p.Subnet, known = g.Net.Subnet(subnet); !known {
		p.Subnet.ID = subnet
		p.block(snapshot.Subnets, subnet+" is not among the subnets that EC2 lists")
		return p
	}
	if p.Paths, known = g.Net.Needs(subnet); !known {
		p.block(snapshot.RouteTables, fmt.Sprintf("no route table is known for %s", subnet))
	}
	return p
}

func (p *Placement) block(source snapshot.Source, message string) {
	p.Blocked = append(p.Blocked, NotRead(source, "%s", message))
}

// Idle reports whether all who stand there are Ready nodes.
func (p *Placement) Idle() bool { return len(p.Suspects) == 0 && len(p.Well) > 0 }

// contradicted reports whether a node that stands alike was launched after one of
// those that did not join, and is Ready: what keeps the one out did not keep
// the other, unless it was changed in between.
func (p *Placement) contradicted() bool {
	return slices.ContainsFunc(p.Suspects, func(i *snapshot.Instance) bool { return !i.Launched.IsZero() }) &&
		slices.ContainsFunc(p.Well, func(i *snapshot.Instance) bool { return i.Launched.After(Earliest(p.Suspects)) })
}

// Earliest is when the first of some instances was launched; zero if it is
// not known of any.
func Earliest(list []*snapshot.Instance) time.Time {
	var first time.Time
	for _, i := range list {
		if !i.Launched.IsZero() && (first.IsZero() || i.Launched.Before(first)) {
			first = i.Launched
		}
	}
	return first
}

// Empty reports whether no instance is there yet.
func (p *Placement) Empty() bool { return len(p.Suspects)+len(p.Well) == 0 }

// Place is what a verdict on a subnet covers: the subnet, or, where it
// is not known, the instances.
func (p *Placement) Place() []string {
	if p.Subnet.ID != "" {
		return []string{p.Subnet.ID}
	}
	return IDs(p.Suspects)
}

// Usable are a post's paths that routing does not already end: what filters
// do to the others makes no difference.
func (p *Placement) Usable() []path.Path {
	return slices.DeleteFunc(slices.Clone(p.Paths), func(p path.Path) bool {
		return p.Verdict != path.Reaches && p.Verdict != path.NeedsPublicIP && p.Verdict != path.LeavesView
	})
}

// Walks are the paths to some services, as evidence.
func (p *Placement) Walks(services []path.Service) []Evidence {
	var wanted []path.Path
	for _, w := range p.Paths {
		if slices.Contains(services, w.Service) {
			wanted = append(wanted, w)
		}
	}
	return Walked(wanted)
}

// Open are the posts that are to be judged: those with suspects of which all
// is known that must be. Ready nodes pass, and the rest is Unknown.
func (g *Placements) Open(v *Verdicts, name string) []*Placement {
	var list []*Placement
	for _, p := range g.Posts {
		v.Pass(name, IDs(p.Well))
		switch {
		case len(p.Suspects) == 0:
		case len(p.Blocked) > 0:
			v.Unknown(name, IDs(p.Suspects), p.Blocked...)
		default:
			list = append(list, p)
		}
	}
	return list
}

// AWSNode is what all such failures hang on.
const AWSNode = "kube-system/aws-node"

// podsByInstance are the aws-node pods on the instances' nodes.
func podsByInstance(s *View) map[string][]snapshot.Pod {
	on := map[string][]snapshot.Pod{}
	for _, p := range s.Pods {
		on[p.Node] = append(on[p.Node], p)
	}
	of := map[string][]snapshot.Pod{}
	for _, n := range s.Nodes {
		if n.Name != "" {
			of[n.Instance] = append(of[n.Instance], on[n.Name]...)
		}
	}
	return of
}

// UnsupportedByController is the newest event by which the VPC resource controller says that
// it does not support a node's instance type: no pod there gets a branch interface
// (amazon-vpc-resource-controller-k8s pkg/utils/events.go, "Unsupported"). Nil for none.
func UnsupportedByController(s *View, node string) *snapshot.NodeEvent {
	var newest *snapshot.NodeEvent
	for i := range s.NodeEvents {
		e := &s.NodeEvents[i]
		if e.Node == node && e.Reason == "Unsupported" && strings.Contains(strings.ToLower(e.Message), "not supported") && (newest == nil || e.Last.After(newest.Last)) {
			newest = e
		}
	}
	return newest
}

// PoolSubnets are the subnets into which a NodePool launches: those of its class,
// in the zones that its requirements allow. Known is false where that cannot be read.
func PoolSubnets(s *View, p snapshot.NodePool) (list []snapshot.ZonedSubnet, known bool) {
	class, read := Class(s, p.Class)
	if class == nil {
		return nil, read // without its class it launches nothing
	}
	all := class.Selected
	if len(all) == 0 {
		// Conditions are written before the subnets, and a class that found none has none.
		if !s.Has(snapshot.Subnets) || len(class.Subnets) == 0 {
			return nil, class.Conditions["SubnetsReady"].Status == "False"
		}
		all = selectedSubnets(s, class)
	}
	for _, n := range all {
		if PoolAllowsZone(p, n.Zone) {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b snapshot.ZonedSubnet) int {
		return cmp.Or(strings.Compare(a.Zone, b.Zone), strings.Compare(a.ID, b.ID))
	})
	return list, true
}

// AllPoolSubnets are the subnets of all NodePools that launch nodes.
func AllPoolSubnets(s *snapshot.Snapshot) []string {
	v := NewView(s)
	var ids []string
	for _, p := range s.NodePools {
		if p.Deleting {
			continue
		}
		list, _ := PoolSubnets(v, p)
		for _, n := range list {
			ids = append(ids, n.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// typeLabel is the requirement by which a NodePool names its instance types.
const typeLabel = "node.kubernetes.io/instance-type"

// PoolTypes are the instance types that a NodePool names, else those that its nodes
// are of: which of a hundred that would fit comes next is not known.
func PoolTypes(s *snapshot.Snapshot, p snapshot.NodePool) []string {
	var names []string
	for _, r := range p.Requirements {
		if r.Key == typeLabel && r.Operator == "In" {
			names = append(names, r.Values...)
		}
	}
	if len(names) == 0 {
		for _, c := range s.NodeClaims {
			if c.Pool == p.Name && c.Type != "" {
				names = append(names, c.Type)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// AllPoolTypes are those of all NodePools.
func AllPoolTypes(s *snapshot.Snapshot) []string {
	var names []string
	for _, p := range s.NodePools {
		names = append(names, PoolTypes(s, p)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// PoolAllowsZone reports whether the requirements of a NodePool leave a zone open.
func PoolAllowsZone(p snapshot.NodePool, zone string) bool {
	return scheduling.PoolAllows(p, snapshot.Requirement{Key: scheduling.ZoneLabel, Operator: "In", Values: []string{zone}})
}

// selectedSubnets are those of the cluster's VPC that one of the terms selects:
// by id, or by all of its tags, of which "*" takes any value
// (aws/karpenter-provider-aws pkg/providers/subnet/subnet.go, getFilterSets).
func selectedSubnets(s *View, class *snapshot.NodeClass) []snapshot.ZonedSubnet {
	var list []snapshot.ZonedSubnet
	for _, n := range s.Subnets {
		if slices.ContainsFunc(class.Subnets, func(t snapshot.SelectorTerm) bool { return selects(t, n) }) {
			list = append(list, snapshot.ZonedSubnet{ID: n.ID, Zone: n.Zone})
		}
	}
	return list
}

func selects(t snapshot.SelectorTerm, n snapshot.Subnet) bool {
	if t.ID != "" {
		return t.ID == n.ID
	}
	for key, want := range t.Tags {
		if value, has := n.Tags[key]; !has || want != "*" && value != want {
			return false
		}
	}
	return len(t.Tags) > 0
}

// Proxied is where the user data of one of the instances, or of the launch
// template that made it, names a proxy; empty for none. Nodes behind one need
// no way of their own to public addresses, and it can stand in the same VPC,
// where it needs no route. The template counts too: what an instance was told
// is not always read, and EKS adds to what the template says.
func (st *BootConfig) Proxied(list []*snapshot.Instance) (from string) {
	for _, i := range list {
		if n, ok := st.own[i.ID]; ok && st.ownData(n).Proxy {
			return st.S.UserData[n].From
		}
		if lt := st.Template(TemplateOf(i)); lt != nil && st.TemplateData(lt).Proxy {
			return lt.ID
		}
	}
	return ""
}

// RoleGroup is the instances of the scope that share a node role: one fault of the
// role is one finding.
type RoleGroup struct {
	Role           string // ARN
	Suspects, Well []*snapshot.Instance
}

// groupByRole sorts the scope by node role. Instances without a role are in none:
// they are iam/profile-missing's. Blind are those whose role cannot be told.
func groupByRole(s *View) (list []RoleGroup, blind []Finding) {
	suspects, well := s.Pending()
	index := map[string]int{}
	place := func(i *snapshot.Instance) *RoleGroup {
		role, why, known := roleOf(s, i)
		switch {
		case !known:
			blind = append(blind, Unread(i.ID, []string{i.ID}, why))
			return nil
		case role == "":
			return nil
		}
		if _, ok := index[role]; !ok {
			index[role] = len(list)
			list = append(list, RoleGroup{Role: role})
		}
		return &list[index[role]]
	}
	for _, i := range suspects {
		if c := place(i); c != nil {
			c.Suspects = append(c.Suspects, i)
		}
	}
	for _, i := range well {
		if c := place(i); c != nil {
			c.Well = append(c.Well, i)
		}
	}
	return list, Together(blind)
}

// Together makes one Unknown of those that are blocked by the same.
func Together(list []Finding) []Finding {
	var out []Finding
	for _, f := range list {
		i := slices.IndexFunc(out, func(o Finding) bool { return slices.Equal(o.Blocked, f.Blocked) })
		if i < 0 {
			out = append(out, f)
			continue
		}
		out[i].Covers = append(out[i].Covers, f.Covers...)
	}
	return out
}

// WithStarving is the group with the Ready nodes among its suspects whose pods get no
// address.
func (c RoleGroup) WithStarving(v *View) RoleGroup {
	is := map[*snapshot.Instance]bool{}
	for _, i := range v.Starving() {
		is[i] = true
	}
	c.Suspects = slices.Clone(c.Suspects)
	for _, i := range c.Well {
		if is[i] {
			c.Suspects = append(c.Suspects, i)
		}
	}
	c.Well = slices.DeleteFunc(slices.Clone(c.Well), func(i *snapshot.Instance) bool { return is[i] })
	return c
}

func (c RoleGroup) All() []string { return append(IDs(c.Suspects), IDs(c.Well)...) }

// Name is the role's name, which is how people know it.
func (c RoleGroup) Name() string { return LastPart(c.Role) }

// LastPart is the name at the end of an ARN with a path.
func LastPart(arn string) string { return arn[strings.LastIndexByte(arn, '/')+1:] }

// Failed is the failure of the role, which keeps its suspects from joining.
func (c RoleGroup) Failed() Finding {
	return Failed(c.Role, IDs(c.Suspects)...).Affecting(IDs(c.Suspects)...)
}

// Judged are the findings of a role group whose suspects fail: the Ready nodes pass.
func (c RoleGroup) Judged(f Finding) []Finding {
	return Passing([]Finding{f.Showing(c.Evidence())}, f.Resource, IDs(c.Well))
}

func (c RoleGroup) Pass(what, value string) Finding {
	return Passed(c.Role, c.All()...).Noting(what, value)
}

// Blocked is the Unknown of the suspects; the Ready nodes pass.
func (c RoleGroup) Blocked(failures ...snapshot.Failure) []Finding {
	var list []Finding
	if len(c.Suspects) > 0 {
		list = append(list, Unread(c.Role, IDs(c.Suspects), failures...))
	}
	return Passing(list, c.Role, IDs(c.Well))
}

func (c RoleGroup) Evidence() Evidence {
	return Evidence{What: "Node role", Value: fmt.Sprintf("%s, of %s", c.Role, Some(IDs(c.Suspects), 5))}
}

// WeakenByReadyNode weakens a verdict on who may join where a Ready node has the same
// role: it may come in by a way that is not seen here, or not for long.
func (c RoleGroup) WeakenByReadyNode(f *Finding) {
	if len(c.Well) == 0 {
		return
	}
	f.Confidence = Likely
	f.Evidence = append(f.Evidence, Evidence{What: c.Well[0].ID, Value: "has the same role and is a Ready node"})
}
