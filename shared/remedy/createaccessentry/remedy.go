// Package createaccessentry lets the role of nodes into a cluster that does not know it,
// as nodes and as nothing else.
package createaccessentry

import (
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
)

// Remedy is the remedy.
func Remedy() action.Remedy[Plan, Calls] {
	return action.Remedy[Plan, Calls]{
		Name:          optin.CreateAccessEntry,
		Cures:         "Nodes whose role the cluster does not know.",
		Sources:       []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Profiles, snapshot.Access, snapshot.Groups, snapshot.Nodegroups},
		Uses:          []snapshot.Source{snapshot.NodeClaimsOf},
		Plan:          func(l action.Look) (*Plan, *action.Refusal) { return look{l}.plan() },
		PersonDecides: personDecides,
		Applied:       applied,
		Words:         words,
		Do:            do,
		Grants:        grants,
	}
}

// Plan is an access entry to be made for the role of nodes.
type Plan struct {
	Principal string `json:"principal"` // a role's ARN
	Type      string `json:"type"`      // EC2_LINUX or EC2_WINDOWS
	// LaunchedBy is what of the cluster launched the instances that have the role:
	// "nodegroup workers", "Auto Scaling group a", "NodePool default".
	LaunchedBy []string `json:"launchedBy,omitempty"`
	// Tagged tells that of some of them tags alone say so, which whoever may start
	// an instance may set: a person decides, whatever the policy.
	Tagged bool `json:"tagged,omitempty"`
}
