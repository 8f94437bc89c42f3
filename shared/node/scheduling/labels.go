package scheduling

// Labels of nodes: kubernetes.io/docs/reference/labels-annotations-taints,
// karpenter.sh/docs/concepts/scheduling, docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html.
const (
	ZoneLabel  = "topology.kubernetes.io/zone"
	HostLabel  = "kubernetes.io/hostname"
	PoolLabel  = "karpenter.sh/nodepool"
	GroupLabel = "eks.amazonaws.com/nodegroup"
)
