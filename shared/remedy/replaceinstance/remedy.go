// Package replaceinstance ends instances that missed the roll call while a cause was
// there, through their Auto Scaling groups, which launch others in their place.
package replaceinstance

import (
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
)

// Remedy is the remedy.
func Remedy() action.Remedy[Plan, Calls] {
	return action.Remedy[Plan, Calls]{
		Name:       optin.ReplaceInstance,
		Cures:      "Instances that did not join while a cause was there that is gone now.",
		AfterCause: true,
		Sources:    []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Groups, snapshot.Nodes, snapshot.Nodegroups},
		Plan:       func(l action.Look) (*Plan, *action.Refusal) { return look{l}.plan() },
		Most:       Most,
		Left:       func(l action.Look) int { return look{l}.left() },
		Things:     func(p Plan) int { return max(len(p.Instances), 1) },
		Applied:    applied,
		Words:      words,
		Do:         do,
		Grants:     grants,
	}
}

// Plan are instances to be ended through their Auto Scaling groups, which
// launch others in their place.
type Plan struct {
	Instances []Replaced `json:"instances"`
}

// Replaced is one of them.
type Replaced struct {
	Instance  string `json:"instance"`
	Group     string `json:"group"`
	Nodegroup string `json:"nodegroup,omitempty"`
	Zone      string `json:"zone,omitempty"`
}
