package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/network/path"
)

// refusal is the finding on all lots that the public endpoint does not admit:
// one list of ranges refuses them all.
func (c *scene) refusal(list []excluded) Finding {
	cluster := c.s.Cluster
	f := Finding{Outcome: Fail, Resource: cluster.Name}
	var from []string
	outside, partly := false, false
	for _, r := range list {
		f.Covers = append(f.Covers, r.lot.ids()...)
		f.Instances = append(f.Instances, r.instances...)
		f.Resources = append(f.Resources, r.lot.api().Resources()...)
		f.Evidence = append(f.Evidence, Evidence{What: "Path to " + path.API.Name(), Value: r.lot.api().String()})
		from = append(from, r.from...)
		outside = outside || r.lot.table.VPC != cluster.VPC
		partly = partly || r.partly
	}
	slices.Sort(from)
	from = slices.Compact(from)
	if partly {
		f.Confidence = Likely // a gateway with several addresses uses any of them
	}
	f.Evidence = append(f.Evidence,
		Evidence{What: "publicAccessCidrs", Value: cidrs(cluster.PublicAccessCIDRs)},
		Evidence{What: "Traffic leaves from", Value: some(from, 10)})
	f.Title = title("the API of %s does not admit %s", cluster.Name, some(from, 1))
	f.Why = fmt.Sprintf("Private access is off, so nodes in %s use the public endpoint. Their traffic leaves from %s; publicAccessCidrs has only %s.",
		some(f.Covers, 3), some(from, 3), cidrs(cluster.PublicAccessCIDRs))
	if cluster.EndpointPrivate {
		f.Why = fmt.Sprintf("Nodes in %s are outside of %s and use the public endpoint. Their traffic leaves from %s; publicAccessCidrs has only %s.",
			some(f.Covers, 3), cluster.VPC, some(from, 3), cidrs(cluster.PublicAccessCIDRs))
	}
	f.Fix = c.fixCIDR(from, outside)
	return f
}

// fixCIDR switches on private access, which needs no list of addresses; nodes
// in another VPC have no use for it, and their addresses are added.
func (c *scene) fixCIDR(from []string, outside bool) Fix {
	cluster := c.s.Cluster
	fix := Fix{Console: fmt.Sprintf("%s/eks/home?region=%s#/clusters/%s", consoleHost(c.s), c.s.Region, cluster.Name)}
	change := "endpointPrivateAccess=true"
	fix.Text = fmt.Sprintf("Private access keeps the nodes' traffic in %s. Or add %s to publicAccessCidrs.", cluster.VPC, some(from, 3))
	if outside {
		all := make([]string, 0, len(cluster.PublicAccessCIDRs)+len(from))
		for _, p := range cluster.PublicAccessCIDRs {
			all = append(all, p.String())
		}
		change = "publicAccessCidrs=" + strings.Join(append(all, from...), ",")
		fix.Text = fmt.Sprintf("Adds %s to those that are admitted.", some(from, 3))
	}
	fix.Command = aws(c.s, "eks update-cluster-config", "--name", cluster.Name, "--resources-vpc-config", change)
	return fix
}
