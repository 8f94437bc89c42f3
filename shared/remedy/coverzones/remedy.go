// Package coverzones raises the desired count of a group, so that each of its zones has a
// node.
package coverzones

import (
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
)

// Remedy is the remedy.
func Remedy() action.Remedy[Plan, Calls] {
	return action.Remedy[Plan, Calls]{
		Name:    optin.CoverZones,
		Cures:   "Volumes in a zone in which a nodegroup has no node.",
		Sources: []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.Groups, snapshot.Nodegroups, snapshot.Activities, snapshot.ZonalShifts, snapshot.AutoshiftsOf},
		More:    action.More{GroupMembers: true},
		Plan:    func(l action.Look) (*Plan, *action.Refusal) { return look{l}.plan() },
		Applied: applied,
		Words:   words,
		Do:      do,
		Grants:  grants,
	}
}

// Plan is a desired count to be raised.
type Plan struct {
	Nodegroup string `json:"nodegroup,omitempty"` // a managed nodegroup, or
	Group     string `json:"group,omitempty"`     // an Auto Scaling group without one
	From      int    `json:"from"`
	To        int    `json:"to"`
	Max       int    `json:"max"`
	// Zones are those that it is to cover, Without those that have no node now.
	Zones   []string `json:"zones,omitempty"`
	Without []string `json:"without,omitempty"`
	// Autoscaler tells that the cluster autoscaler sets the count too.
	Autoscaler bool `json:"autoscaler,omitempty"`
}
