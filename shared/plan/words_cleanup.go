package plan

import "fmt"

func (p Plan) cleanupWords(c Cleanup) words {
	w := words{
		title: fmt.Sprintf("Delete %s left behind in %s", count(len(c.Interfaces), "interface"), c.Subnet),
		steps: []string{fmt.Sprintf("eni-cleanup deletes %s in %s, each by all of its rules: %s come back.", few(c.Interfaces, "interface"), c.Subnet, count(c.Addresses, "address"))},
		undo:  []string{"A deleted network interface cannot be brought back; the VPC CNI makes new ones when nodes need them."},
		cost:  "None.",
	}
	for _, id := range c.Interfaces {
		w.commands = append(w.commands, p.aws("ec2 delete-network-interface", "--network-interface-id", id))
	}
	return w
}
