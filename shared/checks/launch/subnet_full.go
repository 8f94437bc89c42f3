package launch

import (
	"fmt"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
)

func SubnetFull() check.Check {
	c := launchCheck(launchSpec{
		id:       checkid.LaunchSubnetFull,
		shortage: true,
		title:    "The subnet has no free address for another instance",
		cause:    "EC2 found no free address in the subnet when the group launched into it. ip/subnet-exhausted then says how many are free and what a node takes.",
		fix:      "Free addresses (leaked network interfaces, unused load balancers), let the group launch into another subnet, or add a secondary CIDR with new subnets.",
		links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
		},
		headline: "the subnet has no free address",
		resource: func(_ *facts.Attempts, t facts.Attempt) string { return t.Subnet },
		repair:   freeAddresses,
	})
	c.After = append(c.After, checkid.SpotBurstExceedsSubnet, checkid.IPLeakedInterfaces)
	return c
}

// freeAddresses lists what holds addresses of the subnet without use.
func freeAddresses(a *facts.Attempts, f launchFault) finding.Fix {
	subnets := f.subnets()
	if len(subnets) == 0 {
		return finding.Fix{}
	}
	return finding.Fix{
		Text: fmt.Sprintf("Delete what holds addresses of %s without use (the command lists interfaces that nothing is attached to), or let the group launch into another subnet.", subnets[0]),
		Command: AWSCommand(a, "ec2", "describe-network-interfaces", "--filters",
			"Name=subnet-id,Values="+subnets[0], "Name=status,Values=available"),
		Console: link.VPC(a.S, "SubnetDetails:subnetId="+subnets[0]),
	}
}
