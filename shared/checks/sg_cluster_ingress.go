package checks

import (
	"fmt"
	"slices"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func clusterIngress() Check {
	return walking(Check{
		ID:         "sg/cluster-ingress",
		Title:      "The cluster's security groups do not admit the nodes",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
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
		Run: runClusterIngress,
	})
}

func runClusterIngress(s *View) []Finding {
	g := s.Placements()
	var v verdicts
	var found []*barred
	name := s.Cluster.Name
	for _, p := range g.open(&v, name) {
		i := slices.IndexFunc(p.paths, func(w path.Path) bool { return w.Service == path.API })
		if i < 0 || p.paths[i].Means != path.ByPrivateAPI {
			v.pass(name, ids(p.suspects), Evidence{What: "Path to the cluster API", Value: "not by the private endpoint"})
			continue
		}
		w := p.paths[i]
		stop, known := g.end(w)
		if !known || len(stop.Groups) == 0 {
			v.unknown(name, ids(p.suspects), snapshot.Failure{Source: snapshot.Clusters, Reason: snapshot.NotRead, Message: "EKS names no security group of " + name})
			continue
		}
		shut, blind, why, by := g.admitted(p, stop.Groups, https)
		if w.Verdict == path.LeavesView {
			// Another address may arrive than the one that left.
			blind = append(blind, shut...)
			if len(shut) > 0 {
				why = adding(why, snapshot.Failure{Source: snapshot.RouteTables, Reason: snapshot.NotRead, Message: fmt.Sprintf("%s: %s", w.At, w.Reason)})
			}
			shut = nil
		}
		v.unknown(name, ids(blind), why...)
		v.pass(name, ids(except(p.suspects, shut, blind)), Evidence{What: "Admitted by", Value: tenOf(by)})
		if len(shut) > 0 {
			b, list := bar(found, stop.Groups[0])
			b.add(p, shut, path.API)
			b.resources = adding(b.resources, stop.Groups...)
			found = list
		}
	}
	for _, b := range found {
		v.fail(g.clusterIngress(b))
	}
	return v.findings()
}

// except are the instances of a list that are in none of the others.
func except(list []*snapshot.Instance, others ...[]*snapshot.Instance) []*snapshot.Instance {
	out := map[*snapshot.Instance]bool{}
	for _, o := range others {
		for _, i := range o {
			out[i] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(i *snapshot.Instance) bool { return out[i] })
}

func (g *ground) clusterIngress(b *barred) Finding {
	groups := b.groups()
	return Finding{
		Outcome: Fail, Confidence: weaker(b.confidence(Certain), Certain), Resource: b.group, Covers: ids(b.instances), Instances: ids(b.instances),
		Resources: append(slices.Clone(b.resources), groups...),
		Title:     title("%s does not admit 443 from %s", b.group, some(groups, 2)),
		Why: fmt.Sprintf("Nodes in %s reach the cluster API by its private endpoint, and come from %s. No inbound rule of %s admits tcp 443 from them.%s",
			some(b.subnets(), 3), and(groups), and(b.resources), g.foreign(b)),
		Evidence: append(g.groupRules(b.resources, false), b.posts[0].walks(b.services)...),
		Fix: Fix{
			Text:    fmt.Sprintf("Admit 443 from %s in %s.", groups[0], b.group),
			Command: admit(g.s, b.group, https, groups[0]), Console: groupLink(g.s, b.group),
		},
	}
}
