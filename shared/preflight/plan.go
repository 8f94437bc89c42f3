package preflight

import "rollcall/shared/snapshot"

// Kind is what is to be made.
type Kind string

// The kinds.
const (
	Nodegroup      Kind = "nodegroup"
	LaunchTemplate Kind = "launch template"
	NodePool       Kind = "NodePool"
	Subnet         Kind = "subnet"
)

// Plan is what is to be made, as its file says it.
type Plan struct {
	Kind Kind
	Name string
	// Cluster is the one that the file names.
	Cluster string
	// In are the subnets in which nodes of a launch template would stand, where
	// somebody names them.
	In []string

	// One of these is there, by the kind.
	Nodegroup *NodegroupPlan
	Template  *TemplatePlan
	Pools     *PoolsPlan
	Subnet    *SubnetPlan
}

// Exists tells that what is judged is there, and nodes of it are still to come.
func (p Plan) Exists() bool {
	return p.Template != nil && p.Template.data == nil || p.Subnet != nil && p.Subnet.made == nil
}

// maker is what differs between the kinds.
type maker interface {
	// first and second are what to read before the nodes are put into the
	// snapshot; announce comes between them.
	first() []snapshot.Source
	announce(*Draft)
	second() []snapshot.Source
	// settle says of what the nodes would be made, and where they would stand.
	settle(*Draft)
	// choose says which image and which of the types, once those were described.
	choose(*Draft)
	// admit adds what is made beside the nodes, once all was read.
	admit(*Draft)
	refuse(*refusing)
}

func (p Plan) maker() maker {
	switch {
	case p.Template != nil:
		return p.Template
	case p.Pools != nil:
		return p.Pools
	case p.Subnet != nil:
		return p.Subnet
	}
	return p.Nodegroup
}
