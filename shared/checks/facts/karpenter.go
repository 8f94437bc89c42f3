package facts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

// AutoPoolTag names the NodePool on an instance of EKS Auto Mode
// (AmazonEKSComputePolicy).
const AutoPoolTag = "eks:kubernetes-node-pool-name"

// OfAutoMode tells that EKS Auto Mode made an instance: its image, user data and
// metadata options are EKS's, and nobody else may change them (EKS user guide, "Learn
// about Amazon EKS Auto Mode Managed instances").
func OfAutoMode(i *snapshot.Instance) bool { return i.OfAutoMode() }

// What is unread of Karpenter is told only where something names a NodePool:
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

// forbidden is Kubernetes' reason for refusing somebody whom it knows.
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

// Held tells that a condition has been as it is for some time, and is about the
// object as it is now. One that does not say since when has been so for ever.
func Held(s *View, c snapshot.ObservedCondition, generation int64, span time.Duration) bool {
	return c.Status != "" && c.Current(generation) && s.Time.Sub(c.Since) >= span
}
