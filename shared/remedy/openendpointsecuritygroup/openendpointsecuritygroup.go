// Package openendpointsecuritygroup admits the nodes at an endpoint whose security
// group does not let them in.
package openendpointsecuritygroup

import (
	"context"
	"slices"
	"strings"

	"rollcall/shared/checks/finding"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// Remedy is the remedy.
func Remedy() action.Remedy[remedy.OpenEndpointSecurityGroup, Calls] {
	return action.Remedy[remedy.OpenEndpointSecurityGroup, Calls]{
		Name: optin.OpenEndpointSecurityGroup,
		Sources: []snapshot.Source{
			snapshot.Clusters, snapshot.VPCs, snapshot.Instances, snapshot.Subnets, snapshot.Endpoints, snapshot.SecurityGroups, snapshot.Groups, snapshot.Nodegroups,
		},
		Uses:    []snapshot.Source{snapshot.NodeClaimsOf},
		More:    action.More{WearersOf: wearersOf},
		Plan:    func(l action.Look) (*remedy.OpenEndpointSecurityGroup, *action.Refusal) { return look{l}.plan() },
		Applied: applied,
		Do:      do,
		Grants:  grants,
	}
}

// Calls are what the remedy asks of AWS.
type Calls interface {
	// AdmitTCP admits one port in a security group from others, in one call: all of
	// it or nothing.
	AdmitTCP(ctx context.Context, group string, port int, from []string) action.Answer
}

func do(ctx context.Context, calls Calls, p remedy.OpenEndpointSecurityGroup, _ remedy.Place, _ string) action.Result {
	return action.One(p.SecurityGroup, calls.AdmitTCP(ctx, p.SecurityGroup, p.Port, p.From))
}

func grants(o action.OptIn) []spec.Grant {
	return o.InVPCs(spec.Grant{
		Sid: "OpenEndpoints", Why: "open-endpoint-security-group allows nodes to reach endpoints, in the VPCs that the operator named.",
		Actions: []string{"ec2:AuthorizeSecurityGroupIngress"}, Resources: []spec.Resource{"arn:${Partition}:ec2:${Region}:${Account}:security-group/*"},
	})
}

// The reasons why no port is opened.
const (
	NotInterface remedy.Reason = "not-an-interface-endpoint"
	NotAvailable remedy.Reason = "not-available"
	SharedGroup  remedy.Reason = "shared-security-group"
	DefaultGroup remedy.Reason = "default-security-group"
	NoNodes      remedy.Reason = "no-nodes"
	// OutsideHosts: hosts that are not the cluster's have the nodes' group too.
	OutsideHosts remedy.Reason = "hosts-outside-the-cluster"
)

const https = 443

// look is one look at the world, for this remedy.
type look struct{ action.Look }

// plan plans to admit 443 from the nodes' security group in one that only
// endpoints have.
func (l look) plan() (*remedy.OpenEndpointSecurityGroup, *action.Refusal) {
	i := slices.IndexFunc(l.Snapshot.Endpoints, func(e snapshot.Endpoint) bool { return e.ID == l.Subject.Resource })
	if i < 0 {
		return nil, action.Refuse(remedy.Gone, "There is no endpoint %s in %s.", l.Subject.Resource, l.Snapshot.Cluster.VPC)
	}
	e := l.Snapshot.Endpoints[i]
	vpc := slices.IndexFunc(l.Snapshot.VPCs, func(v snapshot.VPC) bool { return v.ID == e.VPC })
	switch {
	case e.VPC != l.Snapshot.Cluster.VPC:
		return nil, action.Refuse(remedy.OtherVPC, "%s is in %s, the cluster in %s.", e.ID, e.VPC, l.Snapshot.Cluster.VPC)
	case vpc < 0 || l.Snapshot.VPCs[vpc].Owner == "":
		return nil, action.Missing(snapshot.VPCs, "whose "+e.VPC+" is was not read")
	case l.Snapshot.VPCs[vpc].Owner != l.Snapshot.Account:
		return nil, action.Refuse(remedy.SharedVPC, "%s belongs to another account (%s).", e.VPC, l.Snapshot.VPCs[vpc].Owner)
	case !strings.EqualFold(e.Kind, "Interface"):
		return nil, action.Refuse(NotInterface, "%s is of type %s, which has no security group.", e.ID, e.Kind)
	case !strings.EqualFold(e.State, "available"):
		return nil, action.Refuse(NotAvailable, "%s is %s.", e.ID, e.State)
	case !e.PrivateDNS:
		return nil, action.Refuse(remedy.NotSo, "%s does not answer for its service's name (private DNS is off): nodes do not use it.", e.ID)
	case len(e.Groups) == 0:
		return nil, action.Missing(snapshot.Endpoints, "no security group of "+e.ID+" is named")
	}
	var first *action.Refusal
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
	from, unproved, no := l.nodesGroup()
	switch {
	case no != nil:
		return nil, no
	case slices.ContainsFunc(group.Ingress, func(r snapshot.Rule) bool { return admits(r, from) }):
		return nil, action.Refuse(remedy.AlreadyThere, "%s already allows 443 from %s.", group.ID, from)
	}
	if no := l.Still(finding.Certain); no != nil {
		return nil, no
	}
	var endpoints []string
	for _, other := range l.Snapshot.Endpoints {
		if slices.Contains(other.Groups, group.ID) {
			endpoints = append(endpoints, other.ID)
		}
	}
	slices.Sort(endpoints)
	return &remedy.OpenEndpointSecurityGroup{VPC: e.VPC, SecurityGroup: group.ID, Endpoints: endpoints, Port: https, From: []string{from}, Unproved: unproved}, nil
}

// onlyEndpoints gives a security group of an endpoint that nothing else has.
func (l look) onlyEndpoints(id string, e snapshot.Endpoint) (snapshot.SecurityGroup, *action.Refusal) {
	i := slices.IndexFunc(l.Snapshot.SecurityGroups, func(g snapshot.SecurityGroup) bool { return g.ID == id })
	if i < 0 {
		return snapshot.SecurityGroup{}, action.Missing(snapshot.SecurityGroups, id+" is not among them")
	}
	g := l.Snapshot.SecurityGroups[i]
	has := func(x snapshot.Instance) bool { return slices.Contains(x.Groups, id) }
	switch {
	case g.VPC != e.VPC:
		return snapshot.SecurityGroup{}, action.Refuse(remedy.OtherVPC, "%s is in %s.", id, g.VPC)
	case g.Name == "default":
		return snapshot.SecurityGroup{}, action.Refuse(DefaultGroup, "%s is the VPC's default security group, which other resources may use.", id)
	case id == l.Snapshot.Cluster.SecurityGroup || slices.Contains(l.Snapshot.Cluster.SecurityGroups, id):
		return snapshot.SecurityGroup{}, action.Refuse(SharedGroup, "%s is the cluster's own security group.", id)
	case slices.ContainsFunc(l.Snapshot.Instances, has):
		return snapshot.SecurityGroup{}, action.Refuse(SharedGroup, "%s is a security group of instances too.", id)
	}
	for key := range g.Tags {
		if strings.HasPrefix(key, "kubernetes.io/cluster/") || key == "aws:eks:cluster-name" {
			return snapshot.SecurityGroup{}, action.Refuse(SharedGroup, "%s is tagged as a cluster's.", id)
		}
	}
	its := false
	for _, x := range l.Subject.Wearers {
		if !slices.Contains(x.Groups, id) {
			continue
		}
		if x.Kind != "vpc_endpoint" || x.VPC != e.VPC {
			return snapshot.SecurityGroup{}, action.Refuse(SharedGroup, "%s has %s too, and is not an endpoint's interface (%s).", x.ID, id, x.Kind)
		}
		its = its || len(e.Interfaces) == 0 || slices.Contains(e.Interfaces, x.ID)
	}
	if !its {
		// Not even the endpoint's own are among them: it was no full look.
		return snapshot.SecurityGroup{}, action.Unread(snapshot.Failure{Source: snapshot.Interfaces, Reason: snapshot.NotRead, Call: "ec2:DescribeNetworkInterfaces", Message: "who has " + id + " is not known"})
	}
	return g, nil
}

// nodesGroup is a security group that all the nodes of the incident have, and no
// host beside the cluster's: whoever has it is to be let in. The cluster's own
// comes first, then one that is tagged as owned by it, then the first by its id.
// Unproved are its instances that only their tags call the cluster's.
func (l look) nodesGroup() (_ string, unproved []string, _ *action.Refusal) {
	common, no := l.inCommon()
	if no != nil {
		return "", nil, no
	}
	first := action.Refuse(NoNodes, "The instances have no security group in common but the VPC's default one.")
	for _, rank := range []func(snapshot.SecurityGroup) bool{l.clustersOwn, l.taggedOurs, func(snapshot.SecurityGroup) bool { return true }} {
		for _, id := range common {
			i := slices.IndexFunc(l.Snapshot.SecurityGroups, func(g snapshot.SecurityGroup) bool { return g.ID == id })
			if i < 0 || !rank(l.Snapshot.SecurityGroups[i]) || l.Snapshot.SecurityGroups[i].Name == "default" || l.Snapshot.SecurityGroups[i].VPC != l.Snapshot.Cluster.VPC {
				continue
			}
			switch unproved, no := l.clustersHosts(id); {
			case no == nil:
				return id, unproved, nil
			case no.Reason == remedy.CouldNotLook:
				return "", nil, no
			case first.Reason == NoNodes:
				first = no
			}
		}
	}
	return "", nil, first
}

// inCommon are the security groups that all the running nodes of the incident
// have, by their ids.
func (l look) inCommon() ([]string, *action.Refusal) {
	var common []string
	some := false
	for _, in := range l.nodes() {
		if _, tagged := in.Tags[action.ClusterTag(l.Subject.Cluster)]; !tagged {
			return nil, action.Refuse(remedy.OtherCluster, "%s is not tagged as %s's.", in.ID, l.Subject.Cluster)
		}
		if !some {
			common, some = slices.Sorted(slices.Values(in.Groups)), true
			continue
		}
		common = slices.DeleteFunc(common, func(id string) bool { return !slices.Contains(in.Groups, id) })
	}
	if !some {
		return nil, action.Refuse(NoNodes, "None of the instances is running any longer, so their security groups are unknown.")
	}
	return common, nil
}

// nodes are the running instances of the incident in the cluster's VPC.
func (l look) nodes() (list []snapshot.Instance) {
	for _, in := range l.Snapshot.Instances {
		if slices.Contains(l.Subject.Covers, in.ID) && !in.Ended() && in.VPC == l.Snapshot.Cluster.VPC && len(in.Groups) > 0 {
			list = append(list, in)
		}
	}
	return list
}

// clustersOwn: EKS made it for the cluster, and says so.
func (l look) clustersOwn(g snapshot.SecurityGroup) bool {
	return g.ID == l.Snapshot.Cluster.SecurityGroup
}

// taggedOurs: EKS's tag, or the one that eksctl and Terraform set.
func (l look) taggedOurs(g snapshot.SecurityGroup) bool {
	return g.Tags["aws:eks:cluster-name"] == l.Subject.Cluster || g.Tags[action.ClusterTag(l.Subject.Cluster)] == "owned"
}

// clustersHosts asks whether the cluster's hosts alone have a security group:
// its control plane, its nodes, and what the VPC CNI made for them.
func (l look) clustersHosts(id string) (unproved []string, _ *action.Refusal) {
	seen := map[string]bool{}
	for _, x := range l.Subject.Wearers {
		if !slices.Contains(x.Groups, id) {
			continue
		}
		its, proved := l.clustersInterface(x)
		if !its {
			host := x.Instance
			if host == "" {
				host = strings.TrimSpace(x.Kind + " " + x.Description)
			}
			return nil, action.Refuse(OutsideHosts, "%s (%s) has %s too, and is not known to belong to %s: the endpoint would be open to it.", x.ID, host, id, l.Subject.Cluster)
		}
		if !proved {
			unproved = append(unproved, x.Instance)
		}
		seen[x.Instance] = true
	}
	for _, in := range l.nodes() {
		if !seen[in.ID] {
			// Not even the nodes' own are among them: it was no full look.
			return nil, action.Unread(snapshot.Failure{Source: snapshot.Interfaces, Reason: snapshot.NotRead, Call: "ec2:DescribeNetworkInterfaces", Message: "who has " + id + " is not known"})
		}
	}
	slices.Sort(unproved)
	return slices.Compact(unproved), nil
}

// clustersInterface reports whether an interface is of the cluster. That of an
// instance is if an Auto Scaling group or a nodegroup of the cluster counts the
// instance, if it is a node, or if it is in the incident and was launched by the
// cluster: a tag alone is anybody's. Proved is false where tags alone name its
// NodePool.
func (l look) clustersInterface(x snapshot.Interface) (its, proved bool) {
	if x.Instance == "" {
		// EKS makes the control plane's in its own name, which no user can.
		plane := x.RequesterManaged && x.Description == "Amazon EKS "+l.Subject.Cluster
		cni := x.Tags["cluster.k8s.amazonaws.com/name"] == l.Subject.Cluster || x.Tags[action.ClusterTag(l.Subject.Cluster)] == "owned"
		return plane || cni, true // one that is attached to nothing reaches nothing
	}
	if slices.ContainsFunc(l.Snapshot.Nodes, func(n snapshot.Node) bool { return n.Instance == x.Instance }) {
		return true, true
	}
	in := snapshot.Instance{ID: x.Instance}
	if i := slices.IndexFunc(l.Snapshot.Instances, func(in snapshot.Instance) bool { return in.ID == x.Instance }); i >= 0 {
		in = l.Snapshot.Instances[i]
	}
	_, proved, no := l.LaunchedBy(in)
	return no == nil, proved
}

// admits reports whether a rule lets tcp 443 in from a security group.
func admits(r snapshot.Rule, from string) bool {
	ports := r.Protocol == "-1" || (r.Protocol == "tcp" || r.Protocol == "6") && (r.From == -1 || r.From <= https && https <= r.To)
	return ports && slices.Contains(r.Groups, from)
}

func applied(o remedy.OpenEndpointSecurityGroup, s *snapshot.Snapshot) (done, known bool) {
	return slices.ContainsFunc(s.SecurityGroups, func(g snapshot.SecurityGroup) bool {
		return g.ID == o.SecurityGroup && !slices.ContainsFunc(o.From, func(from string) bool {
			return !slices.ContainsFunc(g.Ingress, func(r snapshot.Rule) bool { return admits(r, from) })
		})
	}), s.Has(snapshot.SecurityGroups)
}

// wearersOf are the security groups of the endpoint, and of the instances that
// do not reach it: who has them is what the plan rests on.
func wearersOf(s *snapshot.Snapshot, of action.Subject) (groups []string) {
	for _, e := range s.Endpoints {
		if e.ID == of.Resource {
			groups = append(groups, e.Groups...)
		}
	}
	for _, in := range s.Instances {
		if slices.Contains(of.Covers, in.ID) {
			groups = append(groups, in.Groups...)
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}
