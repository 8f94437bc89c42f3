package snapshot

import "time"

// The API groups of the classes: Karpenter that somebody runs in the cluster,
// and EKS Auto Mode. Both can be in one cluster.
const (
	KarpenterGroup = "karpenter.k8s.aws"
	AutoModeGroup  = "eks.amazonaws.com"
)

// NodePool is a NodePool of Karpenter or EKS Auto Mode.
type NodePool struct {
	Name       string
	Generation int64
	// Deleting tells that somebody deletes it.
	Deleting bool
	// Weight is which pool is tried first: the heaviest.
	Weight int
	Class  ClassRef
	// Limits are what its nodes may have together, Used what they have, those
	// that are being launched among them: amounts as Kubernetes writes them
	// ("100", "400Gi"), by resource. "nodes" counts nodes.
	Limits, Used Amounts
	// Replicas is how many nodes a static pool keeps; nil for one that serves pods.
	Replicas *int
	// Labels, Requirements and Taints are those of the nodes that it makes.
	Labels       map[string]string
	Requirements []Requirement
	Taints       []Taint
	Conditions   map[string]ObservedCondition
}

// Amounts are quantities as Kubernetes writes them, by resource.
type Amounts map[string]string

// ClassRef names the class of which a NodePool makes its nodes.
type ClassRef struct{ Group, Kind, Name string }

// NodeClaim is a node that Karpenter or EKS Auto Mode has asked for.
type NodeClaim struct {
	Name       string
	Generation int64
	Deleting   bool
	Pool       string // its NodePool; empty for one that somebody made by hand
	Class      ClassRef
	// Instance is empty until one is launched, Node until it registers; Type is the
	// instance's.
	Instance   string
	Node       string
	Type       string
	Conditions map[string]ObservedCondition
}

// PoolEvent is a Kubernetes event about a NodeClaim, a NodePool, or a pod that could
// not be scheduled.
type PoolEvent struct {
	Kind    string // NodeClaim, NodePool, Pod
	Name    string // of a pod "namespace/name"
	Reason  string // InsufficientCapacityError, NoCompatibleInstanceTypes, FailedScheduling, …
	Message string
	// First and Last are when it was seen first and last.
	First, Last time.Time
}

// NodeClass is a class: an EC2NodeClass of Karpenter, or a NodeClass of EKS Auto
// Mode.
type NodeClass struct {
	Name       string
	Generation int64
	Deleting   bool
	// Subnets, Groups and Images select what nodes are made of.
	Subnets, Groups, Images []SelectorTerm
	Role, Profile           string
	// Family is of what kind its images are, where no alias says so: AL2023,
	// Bottlerocket, Custom. UserData is its own part.
	Family   string
	UserData string
	Metadata Metadata
	// PublicIP is what it says of a public address: "true", "false" or empty.
	PublicIP string
	// Selected are the subnets that it found, as far as it says so.
	Selected   []ZonedSubnet
	Conditions map[string]ObservedCondition
}

// Unauthorized is the condition by which EKS Auto Mode says that the cluster does not admit
// nodes of the class's role: "Role … is unauthorized to join nodes to the cluster".
func (c NodeClass) Unauthorized() (ObservedCondition, bool) {
	is := c.Conditions["InstanceProfileReady"]
	return is, is.Status == "False" && is.Reason == "UnauthorizedNodeRole"
}

// ZonedSubnet is a subnet and its zone.
type ZonedSubnet struct{ ID, Zone string }

// SelectorTerm is one way to be selected by a class: all that it names must hold.
type SelectorTerm struct {
	ID, Name, Alias, SSMParameter string
	// Owner is of images: an account, self or amazon; empty for the last two.
	Owner string
	Tags  map[string]string
}

// SelectedImages are the images that a term selects: their ids.
type SelectedImages struct {
	Term   SelectorTerm
	Images []string
}

// ObservedCondition is a condition of an object, and of which generation of it.
type ObservedCondition struct {
	Condition
	Generation int64 // 0 where it does not say
}

// Current tells that a condition is about the object as it is now, and no word
// on what it was before somebody changed it.
func (c ObservedCondition) Current(generation int64) bool {
	return c.Generation == 0 || c.Generation >= generation
}
