// Package addnatroute adds a default route to a NAT gateway to a route table that has
// only what leads within the VPC.
package addnatroute

import (
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
)

// Remedy is the remedy.
func Remedy() action.Remedy[Plan, Calls] {
	return action.Remedy[Plan, Calls]{
		Name:  optin.AddNATRoute,
		Cures: "Subnets of nodes whose route table has no route to the internet.",
		Sources: []snapshot.Source{
			snapshot.Clusters, snapshot.VPCs, snapshot.Subnets, snapshot.RouteTables, snapshot.NATGateways,
			snapshot.InternetGateways, snapshot.Endpoints, snapshot.Groups, snapshot.Nodegroups, snapshot.Instances,
		},
		Uses:          []snapshot.Source{snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf},
		Plan:          func(l action.Look) (*Plan, *action.Refusal) { return look{l}.plan() },
		Quiet:         []action.Reason{HasDefault},
		VPC:           func(p Plan) string { return p.VPC },
		PersonDecides: func(p Plan) string { return action.Unproved(p.Unproved) },
		Applied:       applied,
		Words:         words,
		Do:            do,
		Grants:        grants,
	}
}

// Plan is a default route to be added to a route table.
type Plan struct {
	VPC         string `json:"vpc"`
	Table       string `json:"table"`
	Destination string `json:"destination"` // 0.0.0.0/0
	NAT         string `json:"nat"`
	NATZone     string `json:"natZone,omitempty"` // empty: regional
	// Zones are those of the subnets that use the table.
	Zones   []string `json:"zones,omitempty"`
	Subnets []string `json:"subnets,omitempty"`
	// ManagedBy is what made the table, by its tags: "CloudFormation stack vpc".
	ManagedBy string `json:"managedBy,omitempty"`
	// Unproved are those of the subnets of which it is not proved that the cluster
	// launches nodes there: a person decides, whatever the policy.
	Unproved []string `json:"unproved,omitempty"`
}
