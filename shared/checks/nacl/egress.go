package nacl

import (
	"fmt"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func Egress() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.NACLEgress,
		Title:      "A network ACL denies outbound 443",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
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
		Run: func(s *facts.View) []finding.Finding {
			g := s.Placements()
			return fences(g, false, naclEgressFinding)
		},
	})
}

func naclEgressFinding(g *facts.Placements, f *aclBlock) finding.Finding {
	direction := "into"
	if f.hits[0].egress {
		direction = "out of"
	}
	services := facts.Ordered(f.services)
	why := fmt.Sprintf("%s of %s denies %s. Nodes in %s cannot reach %s.",
		f.acl.ID, phrase.Some(f.subnets(), 3), phrase.And(f.denied()), phrase.Some(f.covers(), 3), phrase.And(path.Names(services)))
	if f.chance {
		why = fmt.Sprintf("%s of %s denies %s. Nodes in %s reach %s only through the interfaces in other subnets: it depends on which one answers.",
			f.acl.ID, phrase.Some(f.subnets(), 3), phrase.And(f.denied()), phrase.Some(f.covers(), 3), phrase.And(path.Names(services)))
	}
	return naclFinding(g, f, phrase.Title("%s denies 443 %s %s", f.acl.ID, direction, phrase.Some(f.subnets(), 1)), why)
}

func naclFinding(g *facts.Placements, f *aclBlock, title, why string) finding.Finding {
	return finding.Finding{
		Outcome: finding.Fail, Confidence: finding.Weaker(f.confidence, finding.Certain),
		Resource: f.acl.ID, Covers: f.covers(), Instances: f.instances(),
		Resources: append([]string{f.acl.ID}, f.subnets()...),
		Title:     title, Why: why, Evidence: f.evidence(), Fix: f.fix(g.S),
	}
}
