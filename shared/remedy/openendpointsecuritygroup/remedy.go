// Package openendpointsecuritygroup admits the nodes at an endpoint whose security
// group does not let them in.
package openendpointsecuritygroup

import (
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
)

// Remedy is the remedy.
func Remedy() action.Remedy[Plan, Calls] {
	return action.Remedy[Plan, Calls]{
		Name:  optin.OpenEndpointSecurityGroup,
		Cures: "Endpoints whose security group does not let the nodes in.",
		Sources: []snapshot.Source{
			snapshot.Clusters, snapshot.VPCs, snapshot.Instances, snapshot.Subnets, snapshot.Endpoints, snapshot.SecurityGroups, snapshot.Groups, snapshot.Nodegroups,
		},
		Uses:          []snapshot.Source{snapshot.NodeClaimsOf},
		More:          action.More{WearersOf: wearersOf},
		Plan:          func(l action.Look) (*Plan, *action.Refusal) { return look{l}.plan() },
		VPC:           func(p Plan) string { return p.VPC },
		PersonDecides: func(p Plan) string { return action.Unproved(p.Unproved) },
		Applied:       applied,
		Words:         words,
		Do:            do,
		Grants:        grants,
	}
}

// Plan is a port to be opened in an endpoint's security group, to the
// security groups of nodes.
type Plan struct {
	VPC           string   `json:"vpc"`
	SecurityGroup string   `json:"securityGroup"`
	Endpoints     []string `json:"endpoints"`
	Port          int      `json:"port"`
	From          []string `json:"from"` // security groups
	// Unproved are instances with one of these that only their tags call the
	// cluster's: a person decides, whatever the policy.
	Unproved []string `json:"unproved,omitempty"`
}
