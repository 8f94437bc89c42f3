package report

import (
	"rollcall/shared/checks"
	"rollcall/shared/spoke"
)

// AllClusters stands for the region in what is about no cluster in particular: the
// list of clusters cannot be read. No cluster has such a name (EKS: letters,
// digits, hyphens and underscores, the first a letter or digit).
const AllClusters = "(all)"

// Key names an incident: never by text, so that better words do not make a
// new incident.
type Key struct {
	// The zero Spoke is the hub's own account and region.
	Spoke    spoke.ID  `json:"spoke,omitzero"`
	Cluster  string    `json:"cluster"`
	Check    checks.ID `json:"check"`
	Resource string    `json:"resource"`
}

// Name is an incident's name at the command line.
func (k Key) Name() string { return k.Spoke.In(k.Cluster) + ":" + string(k.Check) + ":" + k.Resource }

// Of is the cluster of the incident.
func (k Key) Of() spoke.Cluster { return spoke.Cluster{ID: k.Spoke, Name: k.Cluster} }
