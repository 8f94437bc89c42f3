package checks

import (
	"fmt"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func naclEgress() Check {
	return walking(Check{
		ID:         "nacl/egress",
		Title:      "A network ACL denies 443 on the way out",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		Needs: []snapshot.Source{
			snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.NATGateways, snapshot.NetworkACLs,
		},
		AtLaunch: true,
		Cause: "The first rule that matches denies 443 at the edge of a subnet on the way to what a node must reach: out of the node's own subnet, " +
			"into and out of the NAT gateway's, or into the subnets where an endpoint or the control plane answers. Within one subnet network ACLs judge nothing.",
		Fix: "Add a rule with a lower number that allows 443 in the direction that is denied.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/vpc-network-acls.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/nacl-rules.html",
		},
		Run: func(s *View) []Finding {
			g := s.Placements()
			return g.fences(false, naclEgressFinding)
		},
	})
}

func naclEgressFinding(g *ground, f *fence) Finding {
	direction := "into"
	if f.hits[0].egress {
		direction = "out of"
	}
	services := ordered(f.services)
	why := fmt.Sprintf("%s of %s denies %s. Nodes in %s cannot reach %s.",
		f.acl.ID, some(f.subnets(), 3), and(f.denied()), some(f.covers(), 3), and(path.Names(services)))
	if f.chance {
		why = fmt.Sprintf("%s of %s denies %s. Nodes in %s reach %s only through the interfaces in other subnets: it depends on which one answers.",
			f.acl.ID, some(f.subnets(), 3), and(f.denied()), some(f.covers(), 3), and(path.Names(services)))
	}
	return g.naclFinding(f, title("%s denies 443 %s %s", f.acl.ID, direction, some(f.subnets(), 1)), why)
}

func (g *ground) naclFinding(f *fence, title, why string) Finding {
	return Finding{
		Outcome: Fail, Confidence: weaker(f.confidence, Certain),
		Resource: f.acl.ID, Covers: f.covers(), Instances: f.instances(),
		Resources: append([]string{f.acl.ID}, f.subnets()...),
		Title:     title, Why: why, Evidence: f.evidence(), Fix: f.fix(g.s),
	}
}
