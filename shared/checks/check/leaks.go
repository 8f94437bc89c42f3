package check

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"rollcall/shared/network/address"
	"rollcall/shared/network/filter"
	"rollcall/shared/network/leak"
	"rollcall/shared/network/path"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

// Leaks are the interfaces that dead nodes left behind, by subnet.
type Leaks struct {
	S       *View
	Ground  leak.Ground
	Subnets map[string]*SubnetLeaks
}

// SubnetLeaks is what is left behind in one subnet.
type SubnetLeaks struct {
	// Own are those that name this cluster, or none; oldest first.
	Own []leak.Verdict
	// Others is how many name another cluster: that one's business.
	Others int
	// Spared are the reasons why further idle ones are not left behind.
	Spared map[leak.Reason]int
}

// newLeaks judges the idle interfaces. An interface is left behind once its
// owner is dead, and the VPC CNI's own grace is over: for what is said the
// setting does not count, only for what is deleted.
func newLeaks(s *View) Leaks {
	l := Leaks{S: s, Subnets: map[string]*SubnetLeaks{}, Ground: leak.Ground{
		Now: s.Time, Account: cmp.Or(s.Account, accountIn(s.Cluster.ARN)), VPC: s.Cluster.VPC,
		Clusters: []string{s.Cluster.Name}, Grace: leak.LeastGrace, Creators: map[string]snapshot.Creator{},
	}}
	for _, c := range s.Creators {
		l.Ground.Creators[c.Instance] = c
	}
	for _, i := range s.Idle {
		if i.VPC != s.Cluster.VPC || leak.Owner(i) == "" {
			continue
		}
		here := l.Subnets[i.Subnet]
		if here == nil {
			here = &SubnetLeaks{Spared: map[leak.Reason]int{}}
			l.Subnets[i.Subnet] = here
		}
		v := leak.Judge(i, l.Ground)
		switch {
		// Its owner is dead; who wants to delete it must know how old it is.
		case !v.Dead() && v.Why != leak.NoDate:
			here.Spared[v.Why]++
		case v.Cluster != "" && v.Cluster != s.Cluster.Name:
			here.Others++
		default:
			here.Own = append(here.Own, v)
		}
	}
	for _, here := range l.Subnets {
		slices.SortFunc(here.Own, func(a, b leak.Verdict) int {
			return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.Interface.ID, b.Interface.ID))
		})
	}
	return l
}

func accountIn(arn string) string {
	const field = 4
	if parts := strings.Split(arn, ":"); len(parts) > field {
		return parts[field]
	}
	return ""
}

// Addresses is how many IPv4 addresses the cluster's own leaks hold.
func (l *SubnetLeaks) Addresses() int {
	n := 0
	for _, v := range l.Own {
		n += len(v.Interface.PrivateIPs)
		for _, p := range v.Interface.Prefixes {
			if p.IsValid() && p.Addr().Is4() {
				n += 1 << (32 - p.Bits())
			}
		}
	}
	return n
}

// Blocks is how many prefixes they hold: each is a whole block that comes back.
func (l *SubnetLeaks) Blocks() int {
	n := 0
	for _, v := range l.Own {
		n += len(slices.DeleteFunc(slices.Clone(v.Interface.Prefixes), func(p netip.Prefix) bool { return !p.IsValid() || !p.Addr().Is4() }))
	}
	return n
}

// Owners are the dead nodes.
func (l *SubnetLeaks) Owners() []string {
	var ids []string
	for _, v := range l.Own {
		ids = append(ids, v.Owner)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Leaked is how many addresses dead nodes of the cluster hold, by subnet; false
// where that could not be read.
func Leaked(s *snapshot.Snapshot) (bySubnet map[string]int, known bool) { return NewView(s).leaked() }

func (v *View) leaked() (bySubnet map[string]int, known bool) {
	if !v.Has(snapshot.Unattached) || !v.Has(snapshot.CreatorsOf) {
		return nil, false
	}
	bySubnet = map[string]int{}
	for id, here := range v.Leaks().Subnets {
		bySubnet[id] = here.Addresses()
	}
	return bySubnet, true
}

// LeakedAddresses is how many addresses of a subnet dead nodes of the cluster
// hold; none where that could not be read.
func LeakedAddresses(s *View, subnet string) int {
	leaked, _ := s.leaked()
	return leaked[subnet]
}

// NextNode is what one more node takes at start out of a subnet, and whose type
// that is: of the scope's instances there, else of all types that were read,
// the one that takes least.
type NextNode struct {
	Kind  string
	Count int
	// Block reports whether it takes a whole block too.
	Block bool
	// Sure reports whether aws-node's settings were read.
	Sure bool
}

func (l Leaks) Wants(subnet string) NextNode {
	settings := address.Defaults()
	w := NextNode{Count: MostFirst, Sure: l.S.Has(snapshot.AWSNode)}
	if w.Sure {
		settings = address.SettingsOf(l.S.CNI)
	}
	if l.S.Cluster.IPv6 || settings.IPv6 {
		return NextNode{Count: 1, Sure: w.Sure}
	}
	if slices.ContainsFunc(l.S.ENIConfigs, func(c snapshot.ENIConfig) bool { return c.Subnet == subnet }) {
		settings.Elsewhere = false // it is there that the pods are
	}
	if !l.S.Has(snapshot.InstanceTypes) {
		return w // more than any type takes
	}
	here := map[string]bool{}
	for _, i := range l.S.Scoped() {
		if i.Subnet == subnet && !i.Ended() {
			here[i.Type] = true
		}
	}
	types := slices.DeleteFunc(slices.Clone(l.S.InstanceTypes), func(t snapshot.InstanceType) bool { return !here[t.Name] })
	if len(types) == 0 {
		types = l.S.InstanceTypes
	}
	for _, t := range types {
		if n := settings.AtStart(t).First; w.Kind == "" || n < w.Count {
			w.Kind, w.Count = t.Name, n
		}
	}
	w.Block = settings.Prefixes && w.Count > 1
	return w
}

// MostFirst is as much as the first interface of any type takes (64 of an
// r8i.96xlarge, amazon-vpc-cni-k8s, pkg/vpc/vpc_ip_resource_limit.go).
const MostFirst = 64

// StrayBranches are the branch interfaces in a subnet whose trunk is gone: each holds one
// address. None where that could not be read.
func StrayBranches(s *View, subnet string) []string {
	var ids []string
	for _, stray := range s.StrayBranches {
		if stray.Subnet == subnet {
			ids = append(ids, stray.ID)
		}
	}
	return ids
}

// endpointAddress is one place where the far end of a path answers: an interface of an
// endpoint or of the control plane, in its subnet, or the internet. Which one
// of several a connection meets is not known.
type endpointAddress struct {
	Subnet string // empty for the internet
	Ranges []netip.Prefix
}

// End is the last stop of a path: where the connection ends. It is false when
// the path leaves what is read before that.
func (g *Placements) End(p path.Path) (path.Stop, bool) {
	stops := g.Net.Stops(p)
	if len(stops) == 0 || !stops[len(stops)-1].Ends {
		return path.Stop{}, false
	}
	return stops[len(stops)-1], true
}

// EndpointAddresses are the doors of a path's end.
func (g *Placements) EndpointAddresses(p path.Path, stop path.Stop) []endpointAddress {
	if len(stop.Subnets) == 0 {
		return []endpointAddress{{Ranges: g.Reach(p, stop)}}
	}
	var doors []endpointAddress
	for _, id := range stop.Subnets {
		d := endpointAddress{Subnet: id}
		subnet, known := g.Net.Subnet(id)
		if known {
			for _, r := range stop.Ranges {
				if subnet.CIDR.IsValid() && subnet.CIDR.Overlaps(r) && r.Bits() >= subnet.CIDR.Bits() {
					d.Ranges = append(d.Ranges, r)
				}
			}
			if len(d.Ranges) == 0 && subnet.CIDR.IsValid() {
				d.Ranges = []netip.Prefix{subnet.CIDR}
			}
		}
		doors = append(doors, d)
	}
	return doors
}

// Reach is what a stop without a subnet answers on. "Everywhere" means the
// public addresses, and for a gateway endpoint those of its prefix list. Nodes
// have IPv4 addresses in every cluster; IPv6 counts where there is nothing else.
func (g *Placements) Reach(p path.Path, stop path.Stop) []netip.Prefix {
	if p.Means == path.ByGateway && p.Row.PrefixList != "" && g.S.Has(snapshot.PrefixListEntries) {
		for _, l := range g.S.PrefixLists {
			if l.ID == p.Row.PrefixList && len(l.CIDRs) > 0 {
				return l.CIDRs
			}
		}
	}
	var four, six []netip.Prefix
	for _, r := range stop.Ranges {
		switch {
		case !r.IsValid():
		case r.Addr().Is6() && r.Bits() == 0:
			six = append(six, filter.Internet6()...)
		case r.Addr().Is6():
			six = append(six, r)
		case r.Bits() == 0:
			four = append(four, filter.Internet()...)
		default:
			four = append(four, r)
		}
	}
	if len(four) > 0 {
		return four
	}
	return six
}

// EndsPublic reports whether a path ends at public addresses.
func EndsPublic(p path.Path) bool { return p.Means == path.ByInternet || p.Means == path.ByGateway }

// nodeAddress is the address that a node talks from.
func nodeAddress(i *snapshot.Instance) (netip.Prefix, bool) {
	a := i.PrivateIP
	if !a.IsValid() && len(i.IPv6) > 0 {
		a = i.IPv6[0]
	}
	if !a.IsValid() {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(a, a.BitLen()), true
}

// VPCRanges are the IPv4 ranges of a VPC, as far as they were read.
func (g *Placements) VPCRanges(id string) []netip.Prefix {
	for _, v := range g.S.VPCs {
		if v.ID == id {
			return v.CIDRs
		}
	}
	return nil
}

// TenOf writes what a person would have looked up, at most ten.
func TenOf(list []string) string {
	const limit = 10
	if more := len(list) - limit; more > 0 {
		list = append(slices.Clone(list[:limit]), "and more")
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, "; ")
}

func There(e snapshot.Endpoint) bool {
	return path.Available(e) || strings.HasPrefix(strings.ToLower(e.State), "pending")
}

// What joining needs of filters.
const (
	TCP       = filter.TCP
	Udp       = filter.UDP
	HTTPSPort = 443
	DNSPort   = 53
	// KubeletPort is where the control plane reaches a node's kubelet, for logs
	// and exec (EKS user guide, "Amazon EKS security group requirements").
	KubeletPort = 10250
)

// Anywhere is all of IPv4.
func Anywhere() netip.Prefix { return netip.PrefixFrom(netip.IPv4Unspecified(), 0) }

func Peer(ranges []netip.Prefix, groups []string) filter.Peer {
	return filter.Peer{Ranges: ranges, Groups: groups}
}

// OutcomeOf is what an answer is worth: all is a pass, none is a failure, and
// a part does not tell, because which address counts is not known.
func OutcomeOf(a filter.Answer) (Outcome, []snapshot.Failure, []string) {
	switch a.Admits {
	case filter.All:
		return Pass, nil, a.By
	case filter.None:
		return Fail, nil, nil
	case filter.Part:
		return Unknown, []snapshot.Failure{NotRead(snapshot.SecurityGroups, "only some of the addresses in question are allowed (%s), and which one counts is unknown", TenOf(a.By))}, nil
	}
	return Unknown, a.Unread, nil
}

// LetsOut judges groups for one door. Where it is not known, groups that let
// out to anywhere let out there too.
func (g *Placements) LetsOut(groups []string, d endpointAddress, far []string, port int) (Outcome, []snapshot.Failure, []string) {
	o, why, by := OutcomeOf(g.Fw.Outbound(groups, Peer(d.Ranges, far), TCP, port))
	if o == Unknown && len(d.Ranges) == 0 {
		if everywhere, _, by := OutcomeOf(g.Fw.Outbound(groups, Peer([]netip.Prefix{Anywhere()}, far), TCP, port)); everywhere == Pass {
			return Pass, nil, by
		}
	}
	return o, why, by
}

// The families of images that EKS supports. Each has its own way to join.
const (
	FamilyAL2          = "Amazon Linux 2"
	FamilyAL2023       = "Amazon Linux 2023"
	FamilyBottlerocket = "Bottlerocket"
	FamilyUbuntu       = "Ubuntu"
	FamilyWindows      = "Windows"
)

// Family is the kind of an instance's image, by the image's name, else by the
// node group's AMI type; empty when neither tells. Stock reports whether the image
// is Amazon's own: nothing about a cluster can be in it.
func (st *BootConfig) Family(i *snapshot.Instance) (family string, stock bool) {
	group, _ := st.Nodegroup(i)
	ofEKS := group != nil && group.AMIType != "" && group.AMIType != "CUSTOM"
	if image := st.Images[i.AMI]; image != nil {
		stock = image.OwnerAlias == "amazon"
		if family = imageFamily(image.Name); family != "" {
			return family, stock || ofEKS
		}
	}
	if ofEKS {
		return typeFamily(group.AMIType), true
	}
	if i.Windows {
		return FamilyWindows, stock
	}
	return "", false
}

// imageFamily knows the names that EKS, Bottlerocket and Canonical give.
func imageFamily(name string) string {
	prefixed := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	switch {
	case prefixed("amazon-eks-node-al2023-", "amazon-eks-al2023-"):
		return FamilyAL2023
	case prefixed("amazon-eks-node-", "amazon-eks-gpu-node-", "amazon-eks-arm64-node-"):
		return FamilyAL2
	case prefixed("bottlerocket-"):
		return FamilyBottlerocket
	case prefixed("ubuntu-eks"):
		return FamilyUbuntu
	case prefixed("Windows_Server-") && strings.Contains(name, "EKS"):
		return FamilyWindows
	}
	return ""
}

func typeFamily(amiType string) string {
	for prefix, family := range map[string]string{"AL2_": FamilyAL2, "AL2023_": FamilyAL2023, "BOTTLEROCKET_": FamilyBottlerocket, "WINDOWS_": FamilyWindows} {
		if strings.HasPrefix(amiType, prefix) {
			return family
		}
	}
	return ""
}

// InstanceIndex is what is known of the scope's instances, by instance id.
type InstanceIndex struct {
	S         *View
	Instances map[string]*snapshot.Instance
	Nodes     map[string]*snapshot.Node
	Launches  map[string]snapshot.ExpectedJoin
	// Wanted were ended by their group on a request to the group.
	Wanted map[string]bool
	// Activity is the cause of the activity that ended it.
	Activity map[string]string
	// Warm wait in a warm pool, ended in one, or are held otherwise by their group: they
	// are not expected to join.
	Warm map[string]bool
	// claimed are those that a NodeClaim or an interface shows to have been nodes, gone
	// the pasts of those that have ended and may be the instances of nodes of which
	// only events are left.
	claimed map[string]bool
	gone    map[string]Past
}

func newInstanceIndex(s *View) InstanceIndex {
	l := InstanceIndex{
		S:         s,
		Instances: make(map[string]*snapshot.Instance, len(s.Instances)),
		Nodes:     make(map[string]*snapshot.Node, len(s.Nodes)),
		Launches:  make(map[string]snapshot.ExpectedJoin, len(s.Launches)),
		Wanted:    map[string]bool{},
		Activity:  map[string]string{},
		Warm:      map[string]bool{},
	}
	for i := range s.Instances {
		l.Instances[s.Instances[i].ID] = &s.Instances[i]
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if have := l.Nodes[n.Instance]; n.Instance != "" && (have == nil || better(n, have)) {
			l.Nodes[n.Instance] = n
		}
	}
	for _, launch := range s.Launches {
		l.Launches[launch.Instance] = launch
	}
	warmed := map[string]time.Time{}
	for _, a := range s.Activities {
		into, warm := activity.WarmPool(a.About)
		switch {
		case a.Instance == "":
		case warm && !a.Started.Before(warmed[a.Instance]):
			l.Warm[a.Instance], warmed[a.Instance] = into, a.Started
		case strings.HasPrefix(a.About, "Terminating"):
			l.Activity[a.Instance] = a.Cause
			if activity.Asked(a.Cause) {
				l.Wanted[a.Instance] = true
			}
		}
	}
	for _, g := range s.Groups {
		for _, id := range g.Warm {
			l.Warm[id] = true
		}
		for _, i := range g.Instances {
			if g.Parked(i.ID) {
				l.Warm[i.ID] = true
			}
		}
	}
	l.claimed = registrations(s)
	l.gone = l.gonePasts()
	return l
}

// better tells which of two nodes of one instance counts: one that registered
// anew under another name leaves its old node behind for a while.
func better(n, than *snapshot.Node) bool {
	if n.Joined() != than.Joined() {
		return n.Joined()
	}
	return n.Created.After(than.Created)
}

// Reaches reports whether the activities that were read go back far enough to hold
// the end of an instance: without a group of its own there is none, and with
// one they go back to its launch. Only the newest are read, and those of a
// group that is gone are gone too.
func (l InstanceIndex) Reaches(i *snapshot.Instance) bool {
	group := i.Tags["aws:autoscaling:groupName"]
	if group == "" || l.Activity[i.ID] != "" {
		return true
	}
	return slices.ContainsFunc(l.S.Activities, func(a snapshot.Activity) bool {
		return a.Group == group && (a.Instance == i.ID || !a.Started.After(i.Launched))
	})
}

// Lost are the instances of the scope that EC2 does not list.
func (l InstanceIndex) Lost() []string {
	var ids []string
	for _, id := range l.S.Scope.Instances {
		if _, known := l.Instances[id]; !known {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Terminated reports whether EC2 has terminated an instance: its node goes too.
func (l InstanceIndex) Terminated(id string) bool {
	i, known := l.Instances[id]
	return known && i.State == "terminated"
}

// Due reports whether an instance's time to join is over. Without a memory of its
// launch it is never due.
func (l InstanceIndex) Due(id string) bool {
	launch, ok := l.Launches[id]
	return ok && !l.S.Time.Before(launch.Due)
}

// scoped are the instances of the scope that EC2 described.
func scoped(s *View) []*snapshot.Instance {
	wanted := make(map[string]bool, len(s.Scope.Instances))
	for _, id := range s.Scope.Instances {
		wanted[id] = true
	}
	list := make([]*snapshot.Instance, 0, len(wanted))
	for i := range s.Instances {
		if wanted[s.Instances[i].ID] {
			list = append(list, &s.Instances[i])
		}
	}
	return list
}

// joinedNodes are the instances that are Ready nodes.
func joinedNodes(s *View) map[string]bool {
	joined := map[string]bool{}
	for _, n := range s.Nodes {
		if n.Instance != "" && n.Joined() {
			joined[n.Instance] = true
		}
	}
	return joined
}

// AutoPoolTag names the NodePool on an instance of EKS Auto Mode
// (AmazonEKSComputePolicy).
const AutoPoolTag = "eks:kubernetes-node-pool-name"

// OfAutoMode reports whether EKS Auto Mode made an instance: its image, user data and
// metadata options are EKS's, and no user may change them (EKS user guide, "Learn
// about Amazon EKS Auto Mode Managed instances").
func OfAutoMode(i *snapshot.Instance) bool { return i.OfAutoMode() }

// What is unread of Karpenter is reported only where something names a NodePool:
// the API refuses a list before it looks whether there is such a kind, so that
// a cluster without Karpenter answers the same.

// KarpenterUnread is why one of Karpenter's sources that something in the
// cluster hangs on could not be read; false where it was, and where nothing tells
// of Karpenter. The others are read for the sake of the first.
func KarpenterUnread(s *View, sources ...snapshot.Source) ([]snapshot.Failure, bool) {
	// The refusal says nothing where nothing names Karpenter, unless pods wait: it may be
	// Karpenter that has no node for them.
	waits := s.Why(snapshot.NodePoolsOf).Code == forbidden && slices.ContainsFunc(s.WaitingPods, func(p snapshot.WaitingPod) bool { return p.Scheduled.Status == "False" })
	if !NamesPool(s) && !waits {
		return nil, false
	}
	var list []snapshot.Failure
	for i, source := range sources {
		if s.Has(source) {
			continue
		}
		f := s.Why(source)
		switch {
		case f.Code == forbidden && NamesPool(s):
			// Here something hangs on it: a right that is missing, and is to be given.
			f.Reason = snapshot.Denied
		case f.Code == forbidden && i == 0, f.Code == snapshot.NotCaptured && named(s) && (i == 0 || s.Has(sources[0])):
		case f.Reason == snapshot.NotRead:
			continue // what kept it from being read has a failure of its own
		}
		list = append(list, f)
	}
	return list, len(list) > 0
}

// forbidden is Kubernetes' reason for refusing an authenticated caller.
const forbidden = "Forbidden"

// NamesPool reports whether an instance, a node, a NodeClaim or a NodePool itself says that
// Karpenter or EKS Auto Mode makes nodes here.
func NamesPool(s *View) bool {
	return s.Cluster.AutoMode || named(s)
}

// named reports whether anything but the cluster's mode names a NodePool.
func named(s *View) bool {
	return len(s.NodePools)+len(s.NodeClaims)+len(s.EC2NodeClasses)+len(s.AutoNodeClasses) > 0 ||
		slices.ContainsFunc(s.Instances, func(i snapshot.Instance) bool { return i.Tags[scheduling.PoolLabel] != "" || i.Tags[AutoPoolTag] != "" }) ||
		slices.ContainsFunc(s.Nodes, func(n snapshot.Node) bool { return n.Labels[scheduling.PoolLabel] != "" })
}

// ClassKey and PoolKey and ClaimKey are how kubectl names the objects: what an
// incident covers must not be taken for a nodegroup of the same name.
func ClassKey(r snapshot.ClassRef) string { return ClassKind(r) + "/" + r.Name }
func PoolKey(name string) string          { return snapshot.PoolKey(name) }
func ClaimKey(name string) string         { return "nodeclaim/" + name }

// ClassKind is the kind of a class as kubectl takes it.
func ClassKind(r snapshot.ClassRef) string {
	switch r.Group {
	case snapshot.KarpenterGroup:
		return "ec2nodeclass"
	case snapshot.AutoModeGroup:
		return "nodeclass"
	}
	return strings.ToLower(cmp.Or(r.Kind, "nodeclass"))
}

// Class is the class that a reference names; known is false where the classes of
// its group were not read.
func Class(s *View, r snapshot.ClassRef) (class *snapshot.NodeClass, known bool) {
	list, source := s.EC2NodeClasses, snapshot.EC2NodeClassesOf
	switch r.Group {
	case snapshot.KarpenterGroup:
	case snapshot.AutoModeGroup:
		list, source = s.AutoNodeClasses, snapshot.AutoNodeClassesOf
	default:
		return nil, false
	}
	for i := range list {
		if list[i].Name == r.Name {
			return &list[i], true
		}
	}
	return nil, s.Has(source)
}

// ClassSettles is how long a condition of a class must have been False: one that has just
// been made may wait for a role or a tag of the same deployment.
const ClassSettles = 2 * time.Minute

// Held reports whether a condition has been as it is for some time, and is about the
// object as it is now. One that does not say since when has been so for ever.
func Held(s *View, c snapshot.ObservedCondition, generation int64, span time.Duration) bool {
	return c.Status != "" && c.Current(generation) && s.Time.Sub(c.Since) >= span
}

// NameServers are the name servers that a VPC's DHCP options give to its
// instances.
type NameServers struct {
	Options snapshot.DHCPOptions
	// Amazon reports whether Amazon's resolver is among them, first that it is the
	// one that is asked first.
	Amazon, First bool
	// Own are the other ones; odd are values that are no address.
	Own []netip.Addr
	Odd []string
	// Blocked is why they are not known.
	Blocked *snapshot.Failure
}

// NameServers finds a VPC's name servers. Amazon's resolver has a name, two
// link-local addresses, and the second address of each of the VPC's ranges
// (VPC user guide, "Understanding Amazon DNS"). What goes there is not seen by
// security groups or network ACLs.
func (g *Placements) NameServers(vpc string) NameServers {
	for _, source := range []snapshot.Source{snapshot.VPCs, snapshot.DHCP} {
		if !g.S.Has(source) {
			why := g.S.Why(source)
			return NameServers{Blocked: &why}
		}
	}
	for _, v := range g.S.VPCs {
		if v.ID != vpc {
			continue
		}
		for _, o := range g.S.DHCPOptions {
			if o.ID == v.DHCP {
				return servers(v, o)
			}
		}
		return NameServers{Blocked: &snapshot.Failure{Source: snapshot.DHCP, Reason: snapshot.NotRead, Message: fmt.Sprintf("the DHCP options %s of %s are not among those that EC2 lists", v.DHCP, vpc)}}
	}
	return NameServers{Blocked: &snapshot.Failure{Source: snapshot.VPCs, Reason: snapshot.NotRead, Message: vpc + " is not among the VPCs that EC2 lists"}}
}

func servers(v snapshot.VPC, o snapshot.DHCPOptions) NameServers {
	n := NameServers{Options: o}
	for i, text := range o.DomainNameServers {
		text = strings.TrimSpace(text)
		a, err := netip.ParseAddr(text)
		switch {
		case strings.EqualFold(text, "AmazonProvidedDNS"), err == nil && amazons(v, a):
			n.Amazon = true
			n.First = n.First || i == 0
		case err != nil:
			n.Odd = append(n.Odd, text)
		default:
			n.Own = append(n.Own, a)
		}
	}
	return n
}

// amazons reports whether an address is Amazon's resolver.
func amazons(v snapshot.VPC, a netip.Addr) bool {
	switch a.String() {
	case "169.254.169.253", "fd00:ec2::253":
		return true
	}
	for _, c := range v.CIDRs {
		if c.IsValid() && c.Masked().Addr().Next().Next() == a {
			return true
		}
	}
	return false
}

// NoSuchEntity is IAM's code for what was deleted.
const NoSuchEntity = "NoSuchEntity"

// roleOf is the ARN of an instance's role: empty where it has none. EKS makes
// the instance profile of a managed node group from the group's role, so that
// tells the role where the profile cannot be read.
func roleOf(s *View, i *snapshot.Instance) (role string, why snapshot.Failure, known bool) {
	group := nodegroupRole(s, i)
	if i.Profile == "" {
		// EC2 forgets the profile of an instance that has ended.
		if i.Ended() {
			return group, snapshot.Failure{}, true
		}
		return "", snapshot.Failure{}, true
	}
	if p, ok := ProfileOf(s, i.Profile); ok {
		if len(p.Roles) == 0 {
			return "", snapshot.Failure{}, true
		}
		return p.Roles[0], snapshot.Failure{}, true
	}
	why, lacks := s.Lacks(snapshot.Profiles, i.Profile)
	switch {
	case lacks && why.Code == NoSuchEntity:
		return "", snapshot.Failure{}, true
	case group != "":
		return group, snapshot.Failure{}, true
	case lacks:
		return "", why, false
	case !s.Has(snapshot.Profiles):
		return "", s.Why(snapshot.Profiles), false
	}
	return "", NotRead(snapshot.Profiles, "%s is not among the instance profiles that were read", i.Profile), false
}

func ProfileOf(s *View, arn string) (snapshot.Profile, bool) {
	if !s.Has(snapshot.Profiles) {
		return snapshot.Profile{}, false
	}
	i := slices.IndexFunc(s.Profiles, func(p snapshot.Profile) bool { return p.ARN == arn })
	if i < 0 {
		return snapshot.Profile{}, false
	}
	return s.Profiles[i], true
}

func nodegroupRole(s *View, i *snapshot.Instance) string {
	name := i.Tags["eks:nodegroup-name"]
	for _, g := range s.Nodegroups {
		if name != "" && g.Name == name && g.Cluster == s.Cluster.Name {
			return g.Role
		}
	}
	return ""
}

// ReadRole is a role with its policies. Gone reports whether IAM has no such role
// any more; otherwise why tells what kept it from being read.
func ReadRole(s *View, arn string) (role snapshot.Role, gone bool, why *snapshot.Failure) {
	if f, lacks := s.Lacks(snapshot.Roles, arn); lacks {
		if f.Code == NoSuchEntity {
			return snapshot.Role{}, true, nil
		}
		return snapshot.Role{}, false, &f
	}
	if !s.Has(snapshot.Roles) {
		f := s.Why(snapshot.Roles)
		return snapshot.Role{}, false, &f
	}
	for _, r := range s.Roles {
		if r.ARN == arn {
			return r, false, nil
		}
	}
	return snapshot.Role{}, false, &snapshot.Failure{Source: snapshot.Roles, Reason: snapshot.NotRead, Message: arn + " is not among the roles that were read"}
}
