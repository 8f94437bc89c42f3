package facts

import (
	"slices"
	"strings"
	"time"

	"rollcall/shared/snapshot"
)

// WasNode tells that an instance has a node, or had one: Kubernetes keeps
// events about a node for an hour after the node itself is gone, and Karpenter
// names the NodeClaim on the instance of one that has registered.
func (l InstanceIndex) WasNode(i *snapshot.Instance) bool {
	return l.Nodes[i.ID] != nil || i.NodeClaim() != "" || slices.ContainsFunc(l.S.NodeEvents, func(e snapshot.NodeEvent) bool {
		return joining(e.Reason) && names(e.Node, i) && !e.Last.Before(i.Launched)
	})
}

// joining tells the reasons of events that only a registered node has.
func joining(reason string) bool {
	switch reason {
	case "RegisteredNode", "NodeReady", "NodeNotReady", "NodeSchedulable", "NodeNotSchedulable", "RemovingNode", "DeletingNode":
		return true
	}
	return false
}

// names tells that a node's name is that of an instance: its private DNS name,
// or one that is made of its id (resource names).
func names(node string, i *snapshot.Instance) bool {
	host, _, _ := strings.Cut(node, ".")
	return node != "" && (node == i.PrivateDNS || host == i.ID ||
		i.PrivateIP.Is4() && host == "ip-"+strings.ReplaceAll(i.PrivateIP.String(), ".", "-"))
}

// PerhapsNode tells that some node registered while the instance lived, and
// that neither the nodes nor the other instances have its name: EC2 forgets
// the private name of an instance that it has terminated.
func (l InstanceIndex) PerhapsNode(i *snapshot.Instance, until time.Time) bool {
	if i.PrivateDNS != "" {
		return false
	}
	return slices.ContainsFunc(l.S.NodeEvents, func(e snapshot.NodeEvent) bool {
		return joining(e.Reason) && !e.Last.Before(i.Launched) && !e.Last.After(until) &&
			!slices.ContainsFunc(l.S.Nodes, func(n snapshot.Node) bool { return n.Name == e.Node }) &&
			!slices.ContainsFunc(l.S.Instances, func(other snapshot.Instance) bool { return names(e.Node, &other) })
	})
}

// until is when an instance cannot have registered any more: its end, and a
// little for clocks that differ.
func until(s *View, i *snapshot.Instance) time.Time {
	const apart = 5 * time.Second
	if at := i.StateReason.When; i.Ended() && !at.IsZero() && at.Before(s.Time) {
		return at.Add(apart)
	}
	return s.Time
}

// Trace is what Kubernetes' events still tell of an instance whose node is gone
// with it: when it registered and was Ready, where they say so. Perhaps tells
// that some node registered meanwhile of which nobody knows whose it was.
func Trace(s *snapshot.Snapshot, i *snapshot.Instance) (registered, ready time.Time, perhaps bool) {
	v := NewView(s)
	for _, e := range s.NodeEvents {
		if !names(e.Node, i) || e.Last.Before(i.Launched) {
			continue
		}
		switch e.Reason {
		case "RegisteredNode":
			registered = e.Last
		case "NodeReady":
			ready = e.Last
		}
	}
	return registered, ready, ready.IsZero() && v.Index().PerhapsNode(i, until(v, i))
}
