package page

import (
	"fmt"
	"strings"

	"rollcall/local/site/message"
	"rollcall/shared/checkid"
)

// families says what the families of checks are about, in the order of the list.
func families() map[checkid.Family]string {
	return map[checkid.Family]string{
		checkid.Route: "Routes", checkid.Endpoint: "VPC endpoints", checkid.SG: "Security groups", checkid.NACL: "Network ACLs", checkid.DNS: "DNS", checkid.IAM: "Roles and access", checkid.Instance: "The instance",
		checkid.Launch: "Launches that failed", checkid.Nodegroup: "Managed nodegroups", checkid.Cluster: "The cluster", checkid.Addon: "Add-ons", checkid.Node: "What Kubernetes says", checkid.IP: "Addresses",
		checkid.Spot: "Spot", checkid.Zone: "Zones and volumes", checkid.Karpenter: "Karpenter and EKS Auto Mode", checkid.CNI: "The network plugin",
	}
}

// Index is the list of all checks.
func (p Checks) Index() string {
	var b strings.Builder
	b.WriteString(generated + "# Checks\n\n")
	fmt.Fprintf(&b, "%d checks, each with its cause, its fix, what it reads and an example. `certain` means that the finding alone explains why a node could not join. ", len(p.List))
	b.WriteString("A check that could not read what it needs is *unknown*, never passed.\n")
	family := checkid.Family("")
	for _, c := range p.List {
		if c.ID.Family() != family {
			family = c.ID.Family()
			fmt.Fprintf(&b, "\n## %s\n\n| check | means | how sure | at launch |\n|---|---|---|---|\n", families()[family])
		}
		at := ""
		if c.AtLaunch {
			at = "yes"
		}
		fmt.Fprintf(&b, "| [`%s`](%s) | %s | %s | %s |\n", c.ID, Path(c.ID), message.Escape(c.Title), c.Confidence, at)
	}
	return b.String()
}
