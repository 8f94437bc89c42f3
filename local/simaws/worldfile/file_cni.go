package worldfile

// CNIRules say what the VPC CNI does that aws-node's settings do not. Its own
// cleanup, once an hour on every node, does not run in a world: worlds with
// leaks are those in which it is off, or no node is left.
type CNIRules struct {
	// ReadyWithoutAddresses lets a node become Ready though its subnet has no
	// address for pods: the CNI comes up, and its pods wait
	// (amazon-vpc-cni-k8s issue 1570). Without it the CNI ends, again and again,
	// and the node is not Ready.
	ReadyWithoutAddresses bool
	// AttachSeconds is how long an interface is available before ipamd has
	// attached it; it is attached at once where 0.
	AttachSeconds float64
	// Leaves are interfaces that stay when nodes end; the first that fits a node
	// is its.
	Leaves []Leave
	// Workloads are pods that come to nodes.
	Workloads []Workload
}

// Leave has nodes end while ipamd gives interfaces back: between the detach and
// the delete (amazon-vpc-cni-k8s issues 608 and 1223). All but the first
// interface stay, available, with their addresses and tags.
type Leave struct {
	// Nodegroup or AutoScalingGroup says whose nodes are meant; all where both
	// are empty.
	Nodegroup        string
	AutoScalingGroup string
	// Share, 0 to 1, is how many of them. Each node's id decides its fate.
	Share float64
}

// Workload is a Deployment whose pods spread evenly over the nodes of a group.
type Workload struct {
	Name string
	// Nodegroup is where its pods run; everywhere where empty.
	Nodegroup string
	// PerNode is how many of its pods each Ready node gets.
	PerNode int
}
