package snapshot

import "time"

// Trunk is a trunk interface: what the branch interfaces of a node's pods go over.
type Trunk struct {
	ID       string
	Instance string // that it is attached to; empty for none
	Subnet   string
	// Branches is how many branch interfaces name it as theirs.
	Branches int
}

// StrayBranch is a branch interface that nothing is attached to and whose trunk is
// not there.
type StrayBranch struct{ ID, Subnet string }

// BranchWait is a pod that a node took and that has not been given the branch
// interface that it asks for.
type BranchWait struct {
	Pod   string // "namespace/name"
	Node  string
	Since time.Time // when the node took it
}
