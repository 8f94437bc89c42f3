package facts

import (
	"slices"
	"strings"
	"time"

	"rollcall/shared/network/leak"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
)

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
