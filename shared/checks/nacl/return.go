package nacl

import (
	"fmt"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/filter"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func Return() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.NACLReturn,
		Title:      "A network ACL denies the answers on their way back",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs: []snapshot.Source{
			snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.NATGateways, snapshot.NetworkACLs,
		},
		After:    []checkid.ID{checkid.NACLEgress},
		AtLaunch: true,
		Cause: "Network ACLs remember no connection: answers need a rule of their own, for the port that the client chose. Linux chooses from 32768-60999, Windows from 49152-65535, " +
			"a NAT gateway from 1024-65535. The first rule that matches denies these ports at the edge of a subnet on the way back. Where it denies a part of them, connections fail now and then.",
		Fix: "Add a rule with a lower number that allows the ports in the direction that is denied.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/nacl-ephemeral-ports.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/vpc-network-acls.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			g := s.Placements()
			return fences(g, true, naclReturnFinding)
		},
	})
}

func naclReturnFinding(g *facts.Placements, f *aclBlock) finding.Finding {
	hit := f.hits[0]
	for _, h := range f.hits {
		if h.verdict.Admits == filter.None {
			hit = h
			break
		}
	}
	services := facts.Ordered(f.services)
	why := fmt.Sprintf("%s of %s denies %s. Answers from %s to nodes in %s come back to ports %s, chosen by %s",
		f.acl.ID, phrase.Some(f.subnets(), 3), phrase.And(f.denied()), phrase.And(path.Names(services)), phrase.Some(f.covers(), 3), hit.ports, hit.whose)
	if hit.verdict.Admits == filter.Part {
		why += ": connections on the ports denied fail, the others work"
	}
	if f.chance {
		why += ". Interfaces in other subnets are not hit: it depends on which one answers"
	}
	shut := make([]string, len(hit.verdict.Shut))
	for i, p := range hit.verdict.Shut {
		shut[i] = p.String()
	}
	return naclFinding(g, f, phrase.Title("%s denies answers to ports %s", f.acl.ID, phrase.Some(shut, 2)), why+".")
}
