package plan

import (
	"slices"
	"strings"

	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
)

// The reasons why no port is opened.
const (
	NotInterface Reason = "not-an-interface-endpoint"
	NotAvailable Reason = "not-available"
	SharedGroup  Reason = "shared-security-group"
	DefaultGroup Reason = "default-security-group"
	NodesGroup   Reason = "nodes-security-group"
	NoNodes      Reason = "no-nodes"
)

const https = 443

// open plans to admit 443 from the nodes' security group in one that only
// endpoints have.
func (l look) open() (*Open, *Refusal) {
	i := slices.IndexFunc(l.s.Endpoints, func(e snapshot.Endpoint) bool { return e.ID == l.of.Resource })
	if i < 0 {
		return nil, refuse(Gone, "There is no endpoint %s in %s.", l.of.Resource, l.s.Cluster.VPC)
	}
	e := l.s.Endpoints[i]
	switch {
	case e.VPC != l.s.Cluster.VPC:
		return nil, refuse(OtherVPC, "%s is in %s, the cluster in %s.", e.ID, e.VPC, l.s.Cluster.VPC)
	case !strings.EqualFold(e.Kind, "Interface"):
		return nil, refuse(NotInterface, "%s is of the kind %s, which has no security group.", e.ID, e.Kind)
	case !strings.EqualFold(e.State, "available"):
		return nil, refuse(NotAvailable, "%s is %s.", e.ID, e.State)
	case !e.PrivateDNS:
		return nil, refuse(NotSo, "%s does not take its service's name (private DNS is off): nodes do not meet it.", e.ID)
	case len(e.Groups) == 0:
		return nil, unread(snapshot.Failure{Source: snapshot.Endpoints, Reason: snapshot.Broken, Message: "no security group of " + e.ID + " is named"})
	}
	var first *Refusal
	var group snapshot.SecurityGroup
	for _, id := range slices.Sorted(slices.Values(e.Groups)) {
		g, no := l.onlyEndpoints(id, e)
		if no == nil {
			group = g
			break
		}
		if first == nil {
			first = no
		}
	}
	if group.ID == "" {
		return nil, first
	}
	from, no := l.nodesGroup()
	switch {
	case no != nil:
		return nil, no
	case from == group.ID:
		return nil, refuse(NodesGroup, "%s is the nodes' security group too.", from)
	case slices.ContainsFunc(group.Ingress, func(r snapshot.Rule) bool { return admits(r, from) }):
		return nil, refuse(AlreadyThere, "%s admits 443 from %s already.", group.ID, from)
	}
	if no := l.still(checks.Certain); no != nil {
		return nil, no
	}
	var endpoints []string
	for _, other := range l.s.Endpoints {
		if slices.Contains(other.Groups, group.ID) {
			endpoints = append(endpoints, other.ID)
		}
	}
	slices.Sort(endpoints)
	return &Open{VPC: e.VPC, SecurityGroup: group.ID, Endpoints: endpoints, Port: https, From: []string{from}}, nil
}

// onlyEndpoints gives a security group of an endpoint that nothing else has.
func (l look) onlyEndpoints(id string, e snapshot.Endpoint) (snapshot.SecurityGroup, *Refusal) {
	i := slices.IndexFunc(l.s.SecurityGroups, func(g snapshot.SecurityGroup) bool { return g.ID == id })
	if i < 0 {
		return snapshot.SecurityGroup{}, unread(snapshot.Failure{Source: snapshot.SecurityGroups, Reason: snapshot.Broken, Message: id + " is not among them"})
	}
	g := l.s.SecurityGroups[i]
	has := func(x snapshot.Instance) bool { return slices.Contains(x.Groups, id) }
	switch {
	case g.VPC != e.VPC:
		return g, refuse(OtherVPC, "%s is in %s.", id, g.VPC)
	case g.Name == "default":
		return g, refuse(DefaultGroup, "%s is the VPC's default security group, which much else may have.", id)
	case id == l.s.Cluster.SecurityGroup || slices.Contains(l.s.Cluster.SecurityGroups, id):
		return g, refuse(SharedGroup, "%s is the cluster's own security group.", id)
	case slices.ContainsFunc(l.s.Instances, has):
		return g, refuse(SharedGroup, "%s is a security group of instances too.", id)
	}
	for key := range g.Tags {
		if strings.HasPrefix(key, "kubernetes.io/cluster/") || key == "aws:eks:cluster-name" {
			return g, refuse(SharedGroup, "%s is tagged as a cluster's.", id)
		}
	}
	its := false
	for _, x := range l.of.Wearers {
		if !slices.Contains(x.Groups, id) {
			continue
		}
		if x.Kind != "vpc_endpoint" || x.VPC != e.VPC {
			return g, refuse(SharedGroup, "%s has %s too, and is no interface of an endpoint (%s).", x.ID, id, x.Kind)
		}
		its = its || len(e.Interfaces) == 0 || slices.Contains(e.Interfaces, x.ID)
	}
	if !its {
		// Not even the endpoint's own are among them: it was no full look.
		return g, unread(snapshot.Failure{Source: snapshot.Interfaces, Reason: snapshot.NotRead, Call: "ec2:DescribeNetworkInterfaces", Message: "who has " + id + " is not known"})
	}
	return g, nil
}

// nodesGroup is a security group that all the nodes of the incident have: the
// cluster's, where they have it, else the first by its id.
func (l look) nodesGroup() (string, *Refusal) {
	var common []string
	some := false
	for _, in := range l.s.Instances {
		if !slices.Contains(l.of.Covers, in.ID) || in.Ended() || in.VPC != l.s.Cluster.VPC || len(in.Groups) == 0 {
			continue
		}
		if _, tagged := in.Tags[ours(l.of.Cluster)]; !tagged {
			return "", refuse(OtherCluster, "%s is not tagged as %s's.", in.ID, l.of.Cluster)
		}
		if !some {
			common, some = slices.Sorted(slices.Values(in.Groups)), true
			continue
		}
		common = slices.DeleteFunc(common, func(id string) bool { return !slices.Contains(in.Groups, id) })
	}
	if !some {
		return "", refuse(NoNodes, "None of the instances runs any more, so their security groups are not known.")
	}
	if slices.Contains(common, l.s.Cluster.SecurityGroup) {
		return l.s.Cluster.SecurityGroup, nil
	}
	for _, id := range common {
		i := slices.IndexFunc(l.s.SecurityGroups, func(g snapshot.SecurityGroup) bool { return g.ID == id })
		if i >= 0 && l.s.SecurityGroups[i].Name != "default" && l.s.SecurityGroups[i].VPC == l.s.Cluster.VPC {
			return id, nil
		}
	}
	return "", refuse(NoNodes, "The instances have no security group in common but the VPC's default one.")
}

// admits tells that a rule lets tcp 443 in from a security group.
func admits(r snapshot.Rule, from string) bool {
	ports := r.Protocol == "-1" || (r.Protocol == "tcp" || r.Protocol == "6") && (r.From == -1 || r.From <= https && https <= r.To)
	return ports && slices.Contains(r.Groups, from)
}
