package facts

import (
	"cmp"
	"slices"
	"strings"

	"rollcall/shared/node/scheduling"
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
