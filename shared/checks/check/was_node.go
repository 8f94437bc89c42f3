package check

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/network/filter"
	"rollcall/shared/network/leak"
	"rollcall/shared/network/path"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/outcome"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

// View is a snapshot as the checks see it: what several of them derive from it
// is derived once, when the first asks. One view serves one goroutine, and
// what it gives out is read only.
type View struct {
	*snapshot.Snapshot
	known struct {
		network    Fact[*path.Network]
		filters    Fact[*filter.Filters]
		index      Fact[InstanceIndex]
		scoped     Fact[[]*snapshot.Instance]
		ready      Fact[map[string]bool]
		joined     Fact[joined]
		boot       Fact[*BootConfig]
		placements Fact[*Placements]
		roleGroups Fact[groupedRoles]
		attempts   Fact[*Attempts]
		leaks      Fact[Leaks]
		pods       Fact[map[string][]snapshot.Pod]
		waits      Fact[[]PodWait]
	}
	// others are the facts of packages that build on this one, by name.
	others map[string]*Fact[any]
}

// Derive gives a fact of a package that builds on this one: it is derived when the
// first asks. The name is the package's and the fact's, and has one type.
func Derive[T any](v *View, name string, derive func(*View) T) T {
	f := v.others[name]
	if f == nil {
		f = &Fact[any]{}
		v.others[name] = f
	}
	return f.Get(func() any { return derive(v) }).(T)
}

// Fact is one derived fact. built counts how often it was derived.
type Fact[T any] struct {
	value T
	built int
}

// Get derives the fact once. One whose derivation panics is derived
// anew, and panics anew, for each that asks.
func (f *Fact[T]) Get(derive func() T) T {
	if f.built == 0 {
		f.value = derive()
		f.built++
	}
	return f.value
}

// joined are the scope's instances that have not joined and could have, and
// those that are Ready nodes.
type joined struct{ suspects, well []*snapshot.Instance }

// groupedRoles are the scope's instances by node role. Blind are those whose
// role cannot be told.
type groupedRoles struct {
	list       []RoleGroup
	unreadable []Finding
}

// NewView is a view of a snapshot that does not change any more.
func NewView(s *snapshot.Snapshot) *View { return &View{Snapshot: s, others: map[string]*Fact[any]{}} }

// Network is the way of packets.
func (v *View) Network() *path.Network {
	return v.known.network.Get(func() *path.Network { return path.New(v.Snapshot) })
}

// Filters are the security groups and network ACLs.
func (v *View) Filters() *filter.Filters {
	return v.known.filters.Get(func() *filter.Filters { return filter.New(v.Snapshot) })
}

// Index is what is known of the scope's instances, by id.
func (v *View) Index() InstanceIndex {
	return v.known.index.Get(func() InstanceIndex { return newInstanceIndex(v) })
}

// Scoped are the instances of the scope that EC2 described.
func (v *View) Scoped() []*snapshot.Instance {
	return v.known.scoped.Get(func() []*snapshot.Instance { return slices.Clip(scoped(v)) })
}

// Ready are the instances that are Ready nodes.
func (v *View) Ready() map[string]bool {
	return v.known.ready.Get(func() map[string]bool { return joinedNodes(v) })
}

// Pending are the instances of the scope that have not joined and could have,
// and those that are Ready nodes.
func (v *View) Pending() (suspects, well []*snapshot.Instance) {
	j := v.known.joined.Get(func() joined {
		suspects, well := v.Index().Pending()
		return joined{slices.Clip(suspects), slices.Clip(well)}
	})
	return j.suspects, j.well
}

// Boot is how the scope's instances were started.
func (v *View) Boot() *BootConfig {
	return v.known.boot.Get(func() *BootConfig { return newBootConfig(v) })
}

// Placements are the scope's nodes by subnet and security groups.
func (v *View) Placements() *Placements {
	return v.known.placements.Get(func() *Placements { return groupPlacements(v) })
}

// RoleGroups are the scope's instances by node role. Blind are those whose
// role cannot be told.
func (v *View) RoleGroups() (list []RoleGroup, blind []Finding) {
	g := v.known.roleGroups.Get(func() groupedRoles {
		list, blind := groupByRole(v)
		return groupedRoles{slices.Clip(list), slices.Clip(blind)}
	})
	return g.list, g.unreadable
}

// Attempts are the launches that failed.
func (v *View) Attempts() *Attempts {
	return v.known.attempts.Get(func() *Attempts { return newAttempts(v) })
}

// PodsOf are the pods of aws-node on each instance's node.
func (v *View) PodsOf() map[string][]snapshot.Pod {
	return v.known.pods.Get(func() map[string][]snapshot.Pod { return podsByInstance(v) })
}

// Leaks are the interfaces that dead nodes left behind.
func (v *View) Leaks() Leaks { return v.known.leaks.Get(func() Leaks { return newLeaks(v) }) }

// Derived is how often each fact was derived, by name.
func (v *View) Derived() map[string]int {
	built := map[string]int{
		"network": v.known.network.built, "filters": v.known.filters.built, "instance index": v.known.index.built,
		"scoped": v.known.scoped.built, "ready": v.known.ready.built, "joined": v.known.joined.built, "boot": v.known.boot.built,
		"placements": v.known.placements.built, "role groups": v.known.roleGroups.built,
		"attempts": v.known.attempts.built, "leaks": v.known.leaks.built, "pods": v.known.pods.built,
		"pod waits": v.known.waits.built,
	}
	for name, f := range v.others {
		built[name] = f.built
	}
	return built
}

// Past is whether an instance was a node before it ended.
type Past string

const (
	// Unclear is the past of an instance whose node objects or events were not
	// read, or were kept too short a time, or fit another instance as well.
	Unclear Past = ""
	Served  Past = "served"
	// Never is the past of an instance of which nothing shows that it was a node,
	// although everything that would was read.
	Never Past = "never"
)

const (
	// EventsKept is how long Kubernetes keeps events (kube-apiserver --event-ttl, an
	// hour; EKS leaves it at that).
	EventsKept = time.Hour
	// removalLag is how far the removal of a node object and the end of its instance
	// are apart: Karpenter drains and deletes a node before it ends the instance, the
	// cloud controller and the node controller find an ended one minutes later.
	removalLag = 10 * time.Minute
	// lateEnd is by how much later Karpenter may end what has not registered in time.
	lateEnd = 5 * time.Minute
	// tie is by how much one of two instances must fit a node's end better to be that
	// node.
	tie = 2 * time.Minute
)

// Past returns whether an instance was a node: by its node object, by what is set on
// it with the registration, by events, by how long it lived. An instance that still
// runs was one where it has, or had, a node object.
func (l InstanceIndex) Past(i *snapshot.Instance) Past {
	lived, known := l.lived(i)
	recent := l.S.Time.Sub(l.EndOf(i)) <= EventsKept
	switch {
	case l.registered(i):
		return Served
	case !i.Ended(), l.Warm[i.ID]:
		return Unclear
	case known && lived < outcome.Shortest, l.uncreated(i.ID):
		return Never
	case lived > EventsKept:
		// Its registration is older than any event, and nothing that failed to join is
		// kept for that long: Karpenter, cluster-autoscaler and people give up sooner.
		return Served
	case known && pooled(i) && lived > registrationTimeout+lateEnd:
		return Served // Karpenter and EKS Auto Mode end what has not registered by then (TimedOut)
	}
	if past, fits := l.gone[i.ID]; fits {
		return past
	}
	_, timedOut := TimedOut(i, l.started(i))
	switch {
	case timedOut, recent && l.S.Has(snapshot.Nodes) && l.S.Has(snapshot.NodeEventsOf):
		return Never
	}
	return Unclear
}

// uncreated reports whether EKS says of an instance that it could not register (EKS API
// reference, Issue, NodeCreationFailure). EC2 may have forgotten it, and events too. Of
// nodes that registered and were not Ready EKS says "Unhealthy nodes in the kubernetes
// cluster" (stackoverflow.com/questions/65807859, where no CNI was installed).
func (l InstanceIndex) uncreated(id string) bool {
	return slices.ContainsFunc(l.S.Nodegroups, func(n snapshot.Nodegroup) bool {
		return slices.ContainsFunc(n.Issues, func(is snapshot.Issue) bool {
			return is.Code == "NodeCreationFailure" && slices.Contains(is.Resources, id) && !strings.Contains(strings.ToLower(is.Message), "unhealthy")
		})
	})
}

// registered reports whether something names the instance as a node.
func (l InstanceIndex) registered(i *snapshot.Instance) bool {
	return l.Nodes[i.ID] != nil || i.NodeClaim() != "" || karpenterName(i) != "" || l.claimed[i.ID] ||
		slices.ContainsFunc(l.S.NodeEvents, func(e snapshot.NodeEvent) bool {
			return joining(e.Reason) && names(e.Node, i) && l.during(e, i)
		})
}

// during reports whether an event of a node falls into an instance's life; the
// removal of the node may follow the end. Another instance may have the address
// later.
func (l InstanceIndex) during(e snapshot.NodeEvent, i *snapshot.Instance) bool {
	lag := 5 * time.Second // of clocks that differ
	if removing(e.Reason) {
		lag = removalLag
	}
	return !e.Last.Before(i.Launched) && (!i.Ended() || !e.Last.After(l.EndOf(i).Add(lag)))
}

// registrations returns the instances that a NodeClaim or an interface shows to have
// been nodes: a claim has the node's name from the registration on
// (kubernetes-sigs/karpenter pkg/controllers/nodeclaim/lifecycle/registration.go), and
// aws-node, a pod, tags the interfaces that it attaches (amazon-vpc-cni-k8s
// pkg/awsutils).
func registrations(s *View) map[string]bool {
	of := map[string]bool{}
	claim := func(c *snapshot.NodeClaim, instance string) {
		if c != nil && (c.Node != "" || c.Conditions["Registered"].Status == "True") {
			of[instance] = true
		}
	}
	for i := range s.NodeClaims {
		claim(&s.NodeClaims[i], s.NodeClaims[i].Instance)
	}
	for _, launch := range s.Launches {
		claim(launch.Claim, launch.Instance)
	}
	for _, e := range s.Interfaces {
		of[e.Tags[leak.TagInstance]] = true
	}
	return of
}

// joining reports whether only a node that has registered has events of a reason.
func joining(reason string) bool {
	switch reason {
	case "RegisteredNode", "NodeReady", "NodeNotReady", "NodeSchedulable", "NodeNotSchedulable", "DisruptionTerminating", "DisruptionBlocked",
		"Unconsolidatable", "FailedDraining", "Synced":
		// The last is of cloud-provider's node controller, those before it of Karpenter
		// (kubernetes-sigs/karpenter pkg/events/reason.go).
		return true
	}
	return removing(reason)
}

// removing reports whether events of a reason tell of the end of a node object:
// Kubernetes' node lifecycle controller, and that of cloud-provider.
func removing(reason string) bool { return reason == "RemovingNode" || reason == "DeletingNode" }

// names reports whether a node's name is that of an instance: its private DNS name,
// one that is made of its id (resource names), or the one that Karpenter wrote on it.
func names(node string, i *snapshot.Instance) bool {
	host, _, _ := strings.Cut(node, ".")
	return node != "" && (node == i.PrivateDNS || host == i.ID || node == karpenterName(i) ||
		i.PrivateIP.Is4() && host == "ip-"+strings.ReplaceAll(i.PrivateIP.String(), ".", "-"))
}

// karpenterName is the node's name in the tag Name of an instance of Karpenter, which
// sets it with karpenter.sh/nodeclaim (snapshot.Instance.NodeClaim) unless the class
// has a Name of its own.
func karpenterName(i *snapshot.Instance) string {
	name := i.Tags["Name"]
	if host, _, full := strings.Cut(name, "."); i.ByKarpenter() && full && (strings.HasPrefix(host, "ip-") || host == i.ID) {
		return name
	}
	return ""
}

// pooled reports whether Karpenter or EKS Auto Mode launched an instance.
func pooled(i *snapshot.Instance) bool { return i.ByKarpenter() || i.OfAutoMode() }

// started is when an instance's launch began.
func (l InstanceIndex) started(i *snapshot.Instance) time.Time {
	if launch, ok := l.Launches[i.ID]; ok && !launch.Started.IsZero() {
		return launch.Started
	}
	return i.Launched
}

// lived is how long an ended instance lived. Where EC2 gives no time of the end it
// is the least that is possible, as EC2 lists a terminated instance for an hour.
func (l InstanceIndex) lived(i *snapshot.Instance) (span time.Duration, known bool) {
	if at := i.StateReason.When; !at.IsZero() {
		return at.Sub(l.started(i)), true
	}
	return l.S.Time.Sub(l.started(i)) - time.Hour, false
}

// goneNode is a node of which only events are left.
type goneNode struct {
	first, last, removed time.Time
}

// off is how far a node's end is from that of an instance whose node it may have
// been.
func (n goneNode) off(l InstanceIndex, i *snapshot.Instance) (apart time.Duration, fits bool) {
	end := l.EndOf(i)
	at := n.removed
	if at.IsZero() {
		at = n.last
	}
	apart = end.Sub(at).Abs()
	return apart, !n.first.Before(i.Launched) && !n.last.After(end.Add(removalLag)) && (n.removed.IsZero() || apart <= removalLag)
}

// ofAnother reports whether a node that is not named after an instance is named after
// another one. EC2 forgets the address of an instance that it has terminated.
func ofAnother(node string, i *snapshot.Instance) bool {
	return strings.HasPrefix(node, "i-") || strings.HasPrefix(node, "ip-") && (i.PrivateDNS != "" || i.PrivateIP.IsValid())
}

// gonePasts pairs the nodes of which only events are left with the ended instances
// that nothing names, each with the one whose end is nearest. One that fits
// a node nearly as well as another stays unclear.
func (l InstanceIndex) gonePasts() map[string]Past {
	nodes := l.goneNodes()
	if len(nodes) == 0 {
		return nil
	}
	type pair struct {
		node, instance string
		apart          time.Duration
	}
	var pairs []pair
	for id, i := range l.Instances {
		if !i.Ended() || l.registered(i) {
			continue
		}
		for name, n := range nodes {
			if apart, fits := n.off(l, i); fits && !ofAnother(name, i) {
				pairs = append(pairs, pair{name, id, apart})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		if a.apart != b.apart {
			return int(a.apart - b.apart)
		}
		return strings.Compare(a.instance+a.node, b.instance+b.node)
	})
	pasts, taken := map[string]Past{}, map[string]time.Duration{}
	for _, p := range pairs {
		apart, is := taken[p.node]
		switch {
		case pasts[p.instance] == Served:
		case !is:
			pasts[p.instance], taken[p.node] = Served, p.apart
		case p.apart-apart < tie:
			pasts[p.instance] = Unclear
		}
	}
	return pasts
}

// goneNodes are the nodes that events name, and neither a node object nor an instance
// that is known by its name.
func (l InstanceIndex) goneNodes() map[string]goneNode {
	nodes, known := map[string]goneNode{}, map[string]bool{}
	for _, n := range l.S.Nodes {
		known[n.Name] = true
	}
	for _, e := range l.S.NodeEvents {
		if !joining(e.Reason) || known[e.Node] {
			continue
		}
		n, seen := nodes[e.Node]
		if !seen && slices.ContainsFunc(l.S.Instances, func(i snapshot.Instance) bool { return names(e.Node, &i) }) {
			known[e.Node] = true
			continue
		}
		if n.first.IsZero() || e.Last.Before(n.first) {
			n.first = e.Last
		}
		if e.Last.After(n.last) {
			n.last = e.Last
		}
		if removing(e.Reason) {
			n.removed = e.Last
		}
		nodes[e.Node] = n
	}
	return nodes
}

// Trace is what Kubernetes' events show of an instance that has ended: when it
// registered and was Ready, and whether it was a node.
func Trace(s *snapshot.Snapshot, i *snapshot.Instance) (registered, ready time.Time, past Past) {
	l := NewView(s).Index()
	for _, e := range s.NodeEvents {
		if !names(e.Node, i) || !l.during(e, i) {
			continue
		}
		switch e.Reason {
		case "RegisteredNode":
			registered = e.Last
		case "NodeReady":
			ready = e.Last
		}
	}
	return registered, ready, l.Past(i)
}

// GroupRules are the rules of groups in one direction, as evidence.
func (g *Placements) GroupRules(groups []string, egress bool) []Evidence {
	direction := "Inbound"
	if egress {
		direction = "Outbound"
	}
	var list []Evidence
	const limit = 5
	for _, id := range groups[:min(len(groups), limit)] {
		what := fmt.Sprintf("%s rules of %s", direction, id)
		if group, known := g.Fw.Group(id); known && group.Name != "" {
			what += " (" + group.Name + ")"
		}
		list = append(list, Evidence{What: what, Value: TenOf(g.Fw.Rules([]string{id}, egress))})
	}
	return list
}

// Admitted sorts a post's suspects by whether groups let them in on a port:
// whom nothing admits, and who cannot be judged, with why. All others are in.
func (g *Placements) Admitted(p *Placement, groups []string, port int) (shut, blind []*snapshot.Instance, why []snapshot.Failure, by []string) {
	judge := func(ranges ...netip.Prefix) (Outcome, []snapshot.Failure, []string) {
		o, failures, by := OutcomeOf(g.Fw.Inbound(groups, Peer(ranges, p.Groups), TCP, port))
		if o != Fail {
			return o, failures, by
		}
		// A rule may refer to a group that EC2 no longer names, or that was deleted since the
		// instance ended: before that its rules had to go (EC2 API reference,
		// DeleteSecurityGroup).
		if len(p.Groups) == 0 {
			return Unknown, []snapshot.Failure{NotRead(snapshot.Instances, "EC2 no longer reports the instance's security groups")}, nil
		}
		if gone := g.deleted(p.Groups); len(gone) > 0 && !slices.ContainsFunc(p.Suspects, func(i *snapshot.Instance) bool { return !i.Ended() }) {
			return Unknown, []snapshot.Failure{NotRead(snapshot.SecurityGroups, "deleted: %s", strings.Join(gone, ", "))}, nil
		}
		return o, failures, by
	}
	// Nearly always all addresses of the subnet fare alike.
	if p.Subnet.CIDR.IsValid() {
		switch o, _, by := judge(p.Subnet.CIDR); o {
		case Pass:
			return nil, nil, nil, by
		case Fail:
			return p.Suspects, nil, nil, nil
		}
	}
	for _, i := range p.Suspects {
		a, known := nodeAddress(i)
		var ranges []netip.Prefix
		if known {
			ranges = append(ranges, a)
		}
		switch o, failures, rules := judge(ranges...); o {
		case Pass:
			by = Adding(by, rules...)
		case Fail:
			shut = append(shut, i)
		default:
			blind = append(blind, i)
			why = Adding(why, failures...)
		}
	}
	return shut, blind, why, by
}

// deleted are the groups that the account no longer has.
func (g *Placements) deleted(groups []string) []string {
	return slices.DeleteFunc(slices.Clone(groups), func(id string) bool {
		return slices.ContainsFunc(g.S.SecurityGroups, func(have snapshot.SecurityGroup) bool { return have.ID == id })
	})
}

// SgBlock is a security group that keeps posts out, in the making.
type SgBlock struct {
	Group string
	// doubted reports whether a Ready node speaks against it.
	doubted   bool
	Posts     []*Placement
	Instances []*snapshot.Instance
	Services  []path.Service
	Resources []string
}

// Bar adds to the one of the list that has the group.
func Bar(list []*SgBlock, group string) (*SgBlock, []*SgBlock) {
	i := slices.IndexFunc(list, func(b *SgBlock) bool { return b.Group == group })
	if i >= 0 {
		return list[i], list
	}
	b := &SgBlock{Group: group}
	return b, append(list, b)
}

func (b *SgBlock) Add(p *Placement, shut []*snapshot.Instance, services ...path.Service) {
	if !slices.Contains(b.Posts, p) { // who is shut out depends on the group alone
		b.Posts = append(b.Posts, p)
		b.doubted = b.doubted || p.contradicted()
		b.Instances = append(b.Instances, shut...)
	}
	b.Services = Adding(b.Services, services...)
}

// Confidence is what is left of one when a Ready node speaks against it.
func (b *SgBlock) Confidence(c Confidence) Confidence {
	if b.doubted && c == Certain {
		return Likely
	}
	return c
}

// Subnets are where the posts are.
func (b *SgBlock) Subnets() []string {
	var list []string
	for _, p := range b.Posts {
		list = Adding(list, p.Subnet.ID)
	}
	return list
}

// Groups are the security groups of the nodes, set by set.
func (b *SgBlock) Groups() []string {
	var list []string
	for _, p := range b.Posts {
		list = Adding(list, p.Groups...)
	}
	return list
}

// Ordered are the services in the catalogue's order.
func Ordered(list []path.Service) []path.Service {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b path.Service) int { return rankOf(a) - rankOf(b) })
	return list
}

// rankOf is a service's place among those that a node needs.
func rankOf(s path.Service) int {
	if i := slices.Index(path.Needed(), s); i >= 0 {
		return i
	}
	return len(path.Needed())
}

// Foreign says how it came about that nodes lack the cluster's security
// group, if they do: it is what EKS adds where a launch template names none.
func (g *Placements) Foreign(b *SgBlock) string {
	own := g.S.Cluster.SecurityGroup
	if own == "" || slices.Contains(b.Groups(), own) {
		return ""
	}
	for _, p := range b.Posts {
		for _, i := range p.Suspects {
			for _, t := range g.S.LaunchTemplates {
				if t.ID == i.Template.ID && t.ID != "" && len(t.Groups) > 0 && !slices.Contains(t.Groups, own) {
					return fmt.Sprintf(" Launch template %s sets %s, so the nodes do not have the cluster's %s.", t.ID, strings.Join(t.Groups, ", "), own)
				}
			}
		}
	}
	return fmt.Sprintf(" The nodes do not have the cluster's own group %s.", own)
}

// A pod has a sandbox within seconds; the kubelet tries again about every 10 s. One that
// no warning is about may wait for a large volume: that takes longer to be strange.
const (
	stuckFor   = 5 * time.Minute
	silentFor  = 15 * time.Minute
	noSandbox  = "FailedCreatePodSandBox" // kubernetes pkg/kubelet/events/event.go
	noAddress  = "failed to assign an ip address"
	noMount    = "FailedMount"
	noAttached = "FailedAttachVolume"
)

// PodWait is a pod that has no sandbox on a Ready node, for minutes and not for a volume,
// except where the volume's driver waits for the instance's metadata.
type PodWait struct {
	snapshot.StuckPod
	Instance string // empty for a node that is no EC2 instance
	// Event tells why; without a reason no warning is about the pod.
	Event snapshot.PodEvent
}

// ForNetwork reports whether the network plugin did not give the pod an address: the runtime
// names it ("failed to setup network for sandbox", containerd pkg/cri/server/sandbox_run.go).
func (w PodWait) ForNetwork() bool {
	text := strings.ToLower(w.Event.Message)
	return slices.ContainsFunc([]string{"cni", "network for sandbox", "networkplugin", noAddress}, func(part string) bool { return strings.Contains(text, part) })
}

// ForAddress reports whether the plugin had none to give (amazon-vpc-cni-k8s
// cmd/routed-eni-cni-plugin/cni.go, "add cmd: failed to assign an IP address to container").
func (w PodWait) ForAddress() bool {
	return strings.Contains(strings.ToLower(w.Event.Message), noAddress)
}

// ForMetadata reports whether a driver of the pod's volume cannot read the instance's metadata:
// "operation error ec2imds: GetMetadata" (aws-sdk-go-v2 feature/ec2/imds, ServiceID),
// "EC2MetadataError" (aws-sdk-go aws/ec2metadata/service.go).
func (w PodWait) ForMetadata() bool {
	text := strings.ToLower(w.Event.Message)
	return slices.ContainsFunc([]string{"ec2imds", "ec2 imds", "ec2metadata", "instance metadata", "169.254.169.254"}, func(part string) bool { return strings.Contains(text, part) })
}

// PodWaits are the pods that wait on Ready nodes.
func (v *View) PodWaits() []PodWait {
	return v.known.waits.Get(func() []PodWait { return podWaits(v, stuckFor) })
}

// PodsWithoutAddress are the pods that wait on Ready nodes for an address, as far as is known
// of them: from the first warning that says so on, and after minutes also where no warning
// could be read. A check waits for longer, as the network plugin may just be starting; who
// is hurt meanwhile is known.
func (v *View) PodsWithoutAddress() []PodWait {
	return slices.DeleteFunc(podWaits(v, 0), func(w PodWait) bool {
		if w.Event.Reason == "" {
			return v.Time.Sub(w.Since) < stuckFor
		}
		return !w.ForNetwork()
	})
}

func podWaits(v *View, least time.Duration) []PodWait {
	events := map[string][]snapshot.PodEvent{}
	for _, e := range v.PodEvents {
		events[e.Pod] = append(events[e.Pod], e)
	}
	var list []PodWait
	for _, w := range stuckOnReady(v.Snapshot, least) {
		var sandbox, volume snapshot.PodEvent
		for _, e := range events[w.Pod] {
			switch e.Reason {
			case noSandbox:
				sandbox = e
			case noMount, noAttached:
				volume = e
			}
		}
		switch {
		case sandbox.Reason != "" && !volume.Last.After(sandbox.Last):
			w.Event = sandbox
		case PodWait{Event: volume}.ForMetadata():
			w.Event = volume
		case volume.Reason != "" || v.Has(snapshot.PodEventsOf) && v.Time.Sub(w.Since) < silentFor:
			continue
		}
		list = append(list, w)
	}
	return list
}

// StuckOnReady are the pods that have no sandbox on a Ready node for minutes, whatever for.
func StuckOnReady(s *snapshot.Snapshot) []PodWait { return stuckOnReady(s, stuckFor) }

func stuckOnReady(s *snapshot.Snapshot, least time.Duration) []PodWait {
	ready := map[string]snapshot.Node{}
	for _, n := range s.Nodes {
		if n.Joined() {
			ready[n.Name] = n
		}
	}
	var list []PodWait
	for _, p := range s.StuckPods {
		if n, is := ready[p.Node]; is && s.Time.Sub(p.Since) >= least {
			list = append(list, PodWait{StuckPod: p, Instance: n.Instance})
		}
	}
	return list
}

// Starving are the Ready nodes of the scope whose pods the network plugin gives no address.
func (v *View) Starving() []*snapshot.Instance { return v.withPods(PodWait.ForNetwork) }

// WithoutMetadata are the Ready nodes of the scope whose pods wait for the instance's
// metadata.
func (v *View) WithoutMetadata() []*snapshot.Instance { return v.withPods(PodWait.ForMetadata) }

func (v *View) withPods(wait func(PodWait) bool) []*snapshot.Instance {
	waits := map[string]bool{}
	for _, w := range v.PodWaits() {
		waits[w.Instance] = waits[w.Instance] || wait(w)
	}
	return slices.DeleteFunc(slices.Clone(v.Scoped()), func(i *snapshot.Instance) bool { return !waits[i.ID] })
}

// WithStarving are the suspects and, with them, the Ready nodes whose pods get no
// address; well are the other Ready nodes.
func (v *View) WithStarving() (suspects, well []*snapshot.Instance) {
	suspects, well = v.Pending()
	starving := v.Starving()
	return slices.Concat(suspects, starving), Except(well, starving)
}

// mostWaiting is how many pods a finding names.
const mostWaiting = 20

// WaitingFor are the pods that wait on some instances.
func (v *View) WaitingFor(instances []string) []string {
	var pods []string
	for _, w := range v.PodWaits() {
		if slices.Contains(instances, w.Instance) && len(pods) < mostWaiting {
			pods = append(pods, w.Pod)
		}
	}
	return pods
}

// SubnetOf is the subnet of an instance. EC2 forgets that of a terminated one;
// its group's activity still names it, and where a group has one subnet, or the
// class of a NodePool one in the instance's zone, there is no choice.
func SubnetOf(s *View, i *snapshot.Instance) string {
	if i.Subnet != "" {
		return i.Subnet
	}
	for _, a := range s.Activities {
		if a.Instance == i.ID && a.Subnet != "" {
			return a.Subnet
		}
	}
	for _, g := range s.Groups {
		if g.Name == i.Tags["aws:autoscaling:groupName"] && len(g.Subnets) == 1 {
			return g.Subnets[0]
		}
	}
	pool := cmp.Or(i.Tags[scheduling.PoolLabel], i.Tags[AutoPoolTag])
	for _, p := range s.NodePools {
		if p.Name != pool {
			continue
		}
		var here []string
		list, _ := PoolSubnets(s, p)
		for _, n := range list {
			if n.Zone == i.Zone {
				here = append(here, n.ID)
			}
		}
		if len(here) == 1 {
			return here[0]
		}
	}
	return ""
}

// Pending are the instances of the scope that have not joined and could have: what
// they run with may be the cause. One that has ended is among them only if it never was
// a node (Past), however it ended. Instances of warm pools, those that were ended on
// request within their time to join, and those that EC2 took back are none:
// spot/reclaimed-before-join reports these. Well are the Ready nodes.
func (l InstanceIndex) Pending() (suspects, well []*snapshot.Instance) {
	for _, i := range l.S.Scoped() {
		n := l.Nodes[i.ID]
		switch {
		case n != nil && n.Joined():
			well = append(well, i)
		case l.Warm[i.ID]:
		case i.Ended():
			if l.failedToJoin(i) {
				suspects = append(suspects, i)
			}
		case !l.TakenBack(i):
			suspects = append(suspects, i)
		}
	}
	return suspects, well
}

// failedToJoin reports whether an instance that has ended had its time to become a
// node, or was not let have it, and never was one. What ended by itself is judged by
// its own reason (instance/ended-early, launch/…).
func (l InstanceIndex) failedToJoin(i *snapshot.Instance) bool {
	launch, remembered := l.Launches[i.ID]
	if !remembered || l.Past(i) != Never {
		return false
	}
	lived, known := l.lived(i)
	if l.TakenBack(i) {
		return known && lived > outcome.Longest
	}
	if i.StateReason.Code != UserInitiated && i.StateReason.Code != "" {
		return false
	}
	return !l.Wanted[i.ID] || known && !i.StateReason.When.Before(launch.Due)
}

// IDs are the instances' ids.
func IDs(list []*snapshot.Instance) []string {
	out := make([]string, len(list))
	for i, in := range list {
		out[i] = in.ID
	}
	return out
}

// UserInitiated is the code both of a person's call and of a group's scale-in.
const UserInitiated = activity.UserInitiated

// Except are the instances of a list that are in none of the others.
func Except(list []*snapshot.Instance, others ...[]*snapshot.Instance) []*snapshot.Instance {
	out := map[*snapshot.Instance]bool{}
	for _, o := range others {
		for _, i := range o {
			out[i] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(i *snapshot.Instance) bool { return out[i] })
}

// warned is how long an interruption warning counts. EC2 gives two minutes;
// hibernating takes longer, and what EC2 describes lags behind.
const warned = 10 * time.Minute

// TakenBack reports whether EC2 took an instance back, or has warned that it does: by
// EC2's reason, by the warning, or by a rebalance recommendation after which its
// group ended it. A recommendation alone takes nothing back. What had already
// missed roll call for a cause that was found is not excused by a warning.
func (l InstanceIndex) TakenBack(i *snapshot.Instance) bool {
	if i.Ended() && l.Reason(i).Class == checkid.ID(checkid.SpotReclaimedBeforeJoin) {
		return true
	}
	launch, at := l.Launches[i.ID], l.EndOf(i)
	switch {
	case launch.Cause != "" && !at.Before(launch.Due):
		return false
	case !launch.Noticed.IsZero() && !at.Before(launch.Noticed) && at.Sub(launch.Noticed) <= warned:
		return true
	}
	return l.Rebalanced(i) && l.Activity[i.ID] != "" && activity.Rebalancing(l.Activity[i.ID])
}

// Rebalanced reports whether an instance ended after EC2 had recommended to replace
// it: perhaps its group did.
func (l InstanceIndex) Rebalanced(i *snapshot.Instance) bool {
	recommended := l.Launches[i.ID].Rebalance
	return i.Ended() && !recommended.IsZero() && !l.EndOf(i).Before(recommended)
}

// Leaving reports whether EC2 takes back an instance of which only the id is known
// here.
func (l InstanceIndex) Leaving(id string) bool {
	i, known := l.Instances[id]
	return known && l.TakenBack(i)
}

func (l InstanceIndex) Reason(i *snapshot.Instance) activity.Verdict {
	return activity.ClassifyReason(i.StateReason.Code, i.StateReason.Message)
}

// EndOf is when an instance ended; now, for one that has not, or of which EC2
// does not say.
func (l InstanceIndex) EndOf(i *snapshot.Instance) time.Time {
	if i.Ended() && !i.StateReason.When.IsZero() {
		return i.StateReason.When
	}
	return l.S.Time
}

// Unschedulable are the pods that a new node could help, and that the scheduler
// has found none for since some time: for whom the volume, another pod or a
// spread decides is none of them. nil where the pods were not read.
func Unschedulable(s *View, span time.Duration) []*snapshot.WaitingPod {
	var list []*snapshot.WaitingPod
	for i := range s.WaitingPods {
		w := &s.WaitingPods[i]
		if w.Gated || w.Scheduled.Status != "False" || w.Scheduled.Reason != "Unschedulable" || s.Time.Sub(w.Since()) < span {
			continue
		}
		if slices.ContainsFunc(scheduling.Obstacles(w.Scheduled.Message), func(o scheduling.Obstacle) bool {
			return o.Kind != scheduling.TooSmall && o.Kind != scheduling.NotSelected && o.Kind != scheduling.Tainted && o.Kind != scheduling.Cordoned
		}) {
			continue
		}
		list = append(list, w)
	}
	return list
}

// Walked is the path to each service, one line for those that share one.
func Walked(paths []path.Path) []Evidence {
	var served Groups[path.Service]
	for _, p := range paths {
		served.Add(p.String(), p.Service)
	}
	var list []Evidence
	for way, services := range served.All() {
		list = append(list, Evidence{What: "Path to " + And(path.Names(services)), Value: way})
	}
	return list
}
