package check

// Breaks is what a cause breaks: what waits for it to be mended, and how urgent
// it is before any launch has met it.
type Breaks string

// What causes break.
const (
	Joining   Breaks = ""          // launched instances do not become nodes
	Launching Breaks = "launching" // groups get no instances at all
	Addresses Breaks = "addresses" // a subnet has none for nodes and pods
	Pods      Breaks = "pods"      // pods cannot start, or not where their volumes are
	Managed   Breaks = "managed"   // something that EKS runs, and says so itself
)

// ByItself tells that it is a failure of its own, whether nodes join or not.
func (b Breaks) ByItself() bool { return b == Addresses || b == Pods || b == Managed }

// Proof is what proves that a cause is gone.
type Proof string

// The proofs.
const (
	ByJoining Proof = "" // a node that was launched since has joined
	// ByPassing: that the check passes now is all the proof, and no node is
	// waited for.
	ByPassing Proof = "passing"
	// ByPassingUnmet is ByPassing as long as no launch has met the cause.
	ByPassingUnmet Proof = "passing, unmet"
	// Impossible: it is about what is gone, nothing of it can pass later.
	Impossible Proof = "impossible"
)

// Thing is a kind of thing that can cease to exist.
type Thing string

// The things that findings cover, beside instances and subnets.
const (
	Nodegroups Thing = "nodegroups"
	Groups     Thing = "auto scaling groups"
	Addons     Thing = "add-ons"
	NodePools  Thing = "node pools" // their classes and NodeClaims too
)
