package snapshot

import "cmp"

// The tags that name what an instance belongs to. EC2 Auto Scaling and EKS set the
// first two on every instance that they launch, Karpenter the third.
const (
	groupTag     = "aws:autoscaling:groupName"
	nodegroupTag = "eks:nodegroup-name"
	nodepoolTag  = "karpenter.sh/nodepool"
	// autoPoolTag is EKS Auto Mode's (the AWS managed policy AmazonEKSComputePolicy
	// lets it set this and no tag of Karpenter's).
	autoPoolTag = "eks:kubernetes-node-pool-name"
	// eksctlTag is on the group that eksctl makes for a self-managed nodegroup, and on its
	// instances: CloudFormation gives a stack's tags to both (eksctl
	// pkg/apis/eksctl.io/v1alpha5/types.go, NodeGroupNameTag; CloudFormation user guide,
	// "Resource tag", PropagateAtLaunch).
	eksctlTag = "alpha.eksctl.io/nodegroup-name"
	// claimTag is not among the tags of a launch (aws/karpenter-provider-aws
	// pkg/utils/utils.go, GetTags), and nobody may set it on a class
	// (pkg/apis/v1/labels.go, RestrictedTagPatterns): Karpenter sets it when the
	// NodeClaim has its node's name (pkg/controllers/nodeclaim/tagging/controller.go,
	// isTaggable), which it gets when the node registers. One call a second.
	claimTag = "karpenter.sh/nodeclaim"
)

// Owner is the name of what launched the instance: its EKS nodegroup, else
// its node pool of Karpenter or EKS Auto Mode, else eksctl's nodegroup, else its Auto
// Scaling group, else empty. Launch records, causes and capacities name it alike.
func (i Instance) Owner() string { return cmp.Or(ownerIn(i.Tags), i.Tags[groupTag]) }

// Owner is the owner of the group's instances.
func (g Group) Owner() string { return cmp.Or(ownerIn(g.Tags), g.Name) }

func ownerIn(tags map[string]string) string {
	return cmp.Or(tags[nodegroupTag], tags[nodepoolTag], tags[autoPoolTag], tags[eksctlTag])
}

// ByKarpenter tells that Karpenter launched the instance, and not EKS Auto Mode,
// which sets other tags.
func (i Instance) ByKarpenter() bool { return i.Tags[nodepoolTag] != "" }

// NodeClaim is the instance's NodeClaim of Karpenter. It is empty until the node
// has registered, whatever came of it then.
func (i Instance) NodeClaim() string { return i.Tags[claimTag] }

// PoolKey is how kubectl names a NodePool: what is about one must not be taken for
// a nodegroup of the same name.
func PoolKey(name string) string { return "nodepool/" + name }

// RoleKey is how a role is named that launches for nobody whose name is known.
func RoleKey(name string) string { return "role/" + name }

// LauncherOf is what launches instances that carry these tags: their Auto Scaling
// group, else their NodePool by its PoolKey, else their nodegroup; empty for none
// of these.
func LauncherOf(tags map[string]string) string {
	pool := cmp.Or(tags[nodepoolTag], tags[autoPoolTag])
	switch {
	case tags[groupTag] != "":
		return tags[groupTag]
	case pool != "":
		return PoolKey(pool)
	}
	return tags[nodegroupTag]
}

// OfAutoMode tells that EKS Auto Mode made the instance (AmazonEKSComputePolicy).
func (i Instance) OfAutoMode() bool { return i.Tags[autoPoolTag] != "" }

// Ended tells that the instance has stopped or is about to.
func (i Instance) Ended() bool {
	switch i.State {
	case "shutting-down", "terminated", "stopping", "stopped":
		return true
	}
	return false
}

// Joined tells that the node can take pods: Ready, and initialised by the
// cloud provider.
func (n Node) Joined() bool { return n.Ready.Status == "True" && !n.Uninitialized }

// Has tells that a source was read in full.
func (s *Snapshot) Has(source Source) bool {
	_, failed := s.Failures[source]
	return s.Read[source] && !failed
}

// Why is why a source that was needed is not there.
func (s *Snapshot) Why(source Source) Failure {
	if f, ok := s.Failures[source]; ok {
		return f
	}
	return Failure{Source: source, Reason: NotRead, Message: "nobody asked for it"}
}

// Lacks is why a single item of a source is not there although the source was
// read: the user data of one instance, one role.
func (s *Snapshot) Lacks(source Source, key string) (Failure, bool) {
	f, lacks := s.Missing[source][key]
	return f, lacks
}

// Lack notes that a single item of a source could not be read.
func (s *Snapshot) Lack(source Source, key string, f Failure) {
	if s.Missing == nil {
		s.Missing = map[Source]map[string]Failure{}
	}
	if s.Missing[source] == nil {
		s.Missing[source] = map[string]Failure{}
	}
	s.Missing[source][key] = f
}
