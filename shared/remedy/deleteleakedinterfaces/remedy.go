// Package deleteleakedinterfaces gives back the addresses of interfaces that dead
// nodes left behind. remediate plans it; eni-cleanup deletes them, each by all of
// its own rules.
package deleteleakedinterfaces

import (
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
)

// Remedy is the remedy.
func Remedy() action.Remedy[Plan, any] {
	return action.Remedy[Plan, any]{
		Name:      optin.DeleteLeakedInterfaces,
		Cures:     "Subnets whose addresses are held by interfaces of nodes that are gone.",
		Elsewhere: "eni-cleanup",
		Sources:   []snapshot.Source{snapshot.Clusters, snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf},
		More:      action.More{Sightings: true},
		Plan:      func(l action.Look) (*Plan, *action.Refusal) { return look{l}.plan() },
		Words:     words,
	}
}

// Plan are interfaces that dead nodes left behind. eni-cleanup deletes
// them, each by all of its own rules.
type Plan struct {
	VPC        string   `json:"vpc"`
	Subnet     string   `json:"subnet"`
	Interfaces []string `json:"interfaces"`
	Addresses  int      `json:"addresses"`
}
