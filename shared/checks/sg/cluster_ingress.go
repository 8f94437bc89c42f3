package sg

import (
	"fmt"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func ClusterIngress() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.SGClusterIngress,
		Title:      "The cluster's security groups do not admit the nodes",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs: []snapshot.Source{
			snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.SecurityGroups,
		},
		AtLaunch: true,
		Cause: "The cluster's private endpoint wins, and no rule of the security groups on the control plane's interfaces admits 443 from the nodes. " +
			"It is so when nodes have security groups of their own and nobody let those in.",
		Fix: "Admit 443 from the nodes' security group in the cluster's, or give the nodes the cluster's group.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
		},
		Run: RunClusterIngress,
	})
}

func RunClusterIngress(s *facts.View) []finding.Finding {
	g := s.Placements()
	var v finding.Verdicts
	var found []*facts.SgBlock
	name := s.Cluster.Name
	for _, p := range g.Open(&v, name) {
		i := slices.IndexFunc(p.Paths, func(w path.Path) bool { return w.Service == path.API })
		if i < 0 || p.Paths[i].Means != path.ByPrivateAPI {
			v.Pass(name, facts.IDs(p.Suspects), finding.Evidence{What: "Path to the cluster API", Value: "not by the private endpoint"})
			continue
		}
		w := p.Paths[i]
		stop, known := g.End(w)
		if !known || len(stop.Groups) == 0 {
			v.Unknown(name, facts.IDs(p.Suspects), snapshot.Failure{Source: snapshot.Clusters, Reason: snapshot.NotRead, Message: "EKS names no security group of " + name})
			continue
		}
		shut, blind, why, by := g.Admitted(p, stop.Groups, facts.HTTPSPort)
		if w.Verdict == path.LeavesView {
			// Another address may arrive than the one that left.
			blind = append(blind, shut...)
			if len(shut) > 0 {
				why = finding.Adding(why, snapshot.Failure{Source: snapshot.RouteTables, Reason: snapshot.NotRead, Message: fmt.Sprintf("%s: %s", w.At, w.Reason)})
			}
			shut = nil
		}
		v.Unknown(name, facts.IDs(blind), why...)
		v.Pass(name, facts.IDs(facts.Except(p.Suspects, shut, blind)), finding.Evidence{What: "Admitted by", Value: facts.TenOf(by)})
		if len(shut) > 0 {
			b, list := facts.Bar(found, stop.Groups[0])
			b.Add(p, shut, path.API)
			b.Resources = finding.Adding(b.Resources, stop.Groups...)
			found = list
		}
	}
	for _, b := range found {
		v.Fail(clusterIngressFinding(g, b))
	}
	return v.Findings()
}

func clusterIngressFinding(g *facts.Placements, b *facts.SgBlock) finding.Finding {
	groups := b.Groups()
	return finding.Finding{
		Outcome: finding.Fail, Confidence: finding.Weaker(b.Confidence(finding.Certain), finding.Certain), Resource: b.Group, Covers: facts.IDs(b.Instances), Instances: facts.IDs(b.Instances),
		Resources: append(slices.Clone(b.Resources), groups...),
		Title:     phrase.Title("%s does not admit 443 from %s", b.Group, phrase.Some(groups, 2)),
		Why: fmt.Sprintf("Nodes in %s reach the cluster API by its private endpoint, and come from %s. No inbound rule of %s admits tcp 443 from them.%s",
			phrase.Some(b.Subnets(), 3), phrase.And(groups), phrase.And(b.Resources), g.Foreign(b)),
		Evidence: append(g.GroupRules(b.Resources, false), b.Posts[0].Walks(b.Services)...),
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Admit 443 from %s in %s.", groups[0], b.Group),
			Command: command.Admit(g.S, b.Group, facts.HTTPSPort, groups[0]), Console: link.SecurityGroup(g.S, b.Group),
		},
	}
}
