package route

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
)

// refusal is the finding on all lots that the public endpoint does not admit:
// one list of ranges refuses them all.
func refusal(c *routes.Scope, list []excluded) finding.Finding {
	cluster := c.S.Cluster
	f := finding.Finding{Outcome: finding.Fail, Resource: cluster.Name}
	var from []string
	outside, partly := false, false
	for _, r := range list {
		f.Covers = append(f.Covers, r.lot.IDs()...)
		f.Instances = append(f.Instances, r.instances...)
		f.Resources = append(f.Resources, r.lot.API().Resources()...)
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Path to " + path.API.Name(), Value: r.lot.API().String()})
		from = append(from, r.from...)
		outside = outside || r.lot.Table.VPC != cluster.VPC
		partly = partly || r.partly
	}
	slices.Sort(from)
	from = slices.Compact(from)
	if partly {
		f.Confidence = finding.Likely // a gateway with several addresses uses any of them
	}
	f.Evidence = append(f.Evidence,
		finding.Evidence{What: "publicAccessCidrs", Value: facts.Cidrs(cluster.PublicAccessCIDRs)},
		finding.Evidence{What: "Traffic leaves from", Value: phrase.Some(from, 10)})
	f.Title = phrase.Title("the API of %s does not admit %s", cluster.Name, phrase.Some(from, 1))
	f.Why = fmt.Sprintf("Private access is off, so nodes in %s use the public endpoint. Their traffic leaves from %s; publicAccessCidrs has only %s.",
		phrase.Some(f.Covers, 3), phrase.Some(from, 3), facts.Cidrs(cluster.PublicAccessCIDRs))
	if cluster.EndpointPrivate {
		f.Why = fmt.Sprintf("Nodes in %s are outside of %s and use the public endpoint. Their traffic leaves from %s; publicAccessCidrs has only %s.",
			phrase.Some(f.Covers, 3), cluster.VPC, phrase.Some(from, 3), facts.Cidrs(cluster.PublicAccessCIDRs))
	}
	f.Fix = fixCIDR(c, from, outside)
	return f
}

// fixCIDR switches on private access, which needs no list of addresses; nodes
// in another VPC have no use for it, and their addresses are added.
func fixCIDR(c *routes.Scope, from []string, outside bool) finding.Fix {
	cluster := c.S.Cluster
	fix := finding.Fix{Console: fmt.Sprintf("%s/eks/home?region=%s#/clusters/%s", link.Host(c.S), c.S.Region, cluster.Name)}
	change := "endpointPrivateAccess=true"
	fix.Text = fmt.Sprintf("Private access keeps the nodes' traffic in %s. Or add %s to publicAccessCidrs.", cluster.VPC, phrase.Some(from, 3))
	if outside {
		all := make([]string, 0, len(cluster.PublicAccessCIDRs)+len(from))
		for _, p := range cluster.PublicAccessCIDRs {
			all = append(all, p.String())
		}
		change = "publicAccessCidrs=" + strings.Join(append(all, from...), ",")
		fix.Text = fmt.Sprintf("Adds %s to those that are admitted.", phrase.Some(from, 3))
	}
	fix.Command = command.AWS(c.S, "eks update-cluster-config", "--name", cluster.Name, "--resources-vpc-config", change)
	return fix
}
