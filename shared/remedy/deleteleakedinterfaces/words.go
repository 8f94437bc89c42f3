package deleteleakedinterfaces

import (
	"fmt"

	"rollcall/shared/remedy/action"
)

func words(c Plan, at action.Place) action.Words {
	w := action.Words{
		Title: fmt.Sprintf("Delete %s left behind in %s", action.Count(len(c.Interfaces), "interface"), c.Subnet),
		Steps: []string{fmt.Sprintf("eni-cleanup deletes %s in %s, each by all of its rules: %s come back.", action.Few(c.Interfaces, "interface"), c.Subnet, action.Count(c.Addresses, "address"))},
		Undo:  []string{"A deleted network interface cannot be brought back; the VPC CNI makes new ones when nodes need them."},
		Cost:  "None.",
	}
	for _, id := range c.Interfaces {
		w.Commands = append(w.Commands, at.AWS("ec2 delete-network-interface", "--network-interface-id", id))
	}
	return w
}
