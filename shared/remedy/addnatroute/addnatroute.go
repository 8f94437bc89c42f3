// Package addnatroute adds a default route to a NAT gateway to a route table that has
// only what leads within the VPC.
package addnatroute

import (
	"context"
	"maps"
	"slices"
	"strings"

	"rollcall/shared/checks/finding"
	"rollcall/shared/network/path"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// Remedy is the remedy.
func Remedy() action.Remedy[remedy.AddNATRoute, Calls] {
	return action.Remedy[remedy.AddNATRoute, Calls]{
		Name: optin.AddNATRoute,
		Sources: []snapshot.Source{
			snapshot.Clusters, snapshot.VPCs, snapshot.Subnets, snapshot.RouteTables, snapshot.NATGateways,
			snapshot.InternetGateways, snapshot.Endpoints, snapshot.Groups, snapshot.Nodegroups, snapshot.Instances,
		},
		Uses:    []snapshot.Source{snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf},
		Plan:    func(l action.Look) (*remedy.AddNATRoute, *action.Refusal) { return look{l}.plan() },
		Quiet:   []remedy.Reason{HasDefault},
		Applied: applied,
		Do:      do,
		Grants:  grants,
	}
}

// Calls are what the remedy asks of AWS.
type Calls interface {
	// CreateRoute adds a route to a table. EC2 refuses another route for the same
	// destination (RouteAlreadyExists); it never replaces one.
	CreateRoute(ctx context.Context, table, destination, nat string) action.Answer
}

func do(ctx context.Context, calls Calls, p remedy.AddNATRoute, _ remedy.Place, _ string) action.Result {
	return action.One(p.Table, calls.CreateRoute(ctx, p.Table, p.Destination, p.NAT))
}

func grants(o action.OptIn) []spec.Grant {
	return o.InVPCs(spec.Grant{
		Sid: "AddRoutes", Why: "add-nat-route adds a default route to a NAT gateway, in the VPCs that the operator named.",
		Actions: []string{"ec2:CreateRoute"}, Resources: []spec.Resource{"arn:${Partition}:ec2:${Region}:${Account}:route-table/*"},
	})
}

// The reasons why no route is added.
const (
	MainTable      remedy.Reason = "main-table"
	HasDefault     remedy.Reason = "has-default-route"
	Blackhole      remedy.Reason = "blackhole-default-route"
	LeadsElsewhere remedy.Reason = "leads-elsewhere"
	PublicSubnet   remedy.Reason = "public-subnet"
	Isolated       remedy.Reason = "isolated-on-purpose"
	NATStandsHere  remedy.Reason = "nat-stands-here"
	ServesOthers   remedy.Reason = "serves-others"
	NoNAT          remedy.Reason = "no-working-nat"
)

// look is one look at the world, for this remedy.
type look struct{ action.Look }

// plan plans a default route to a NAT gateway, for a table that has only what
// leads within the VPC.
func (l look) plan() (*remedy.AddNATRoute, *action.Refusal) {
	i := slices.IndexFunc(l.Snapshot.RouteTables, func(t snapshot.RouteTable) bool { return t.ID == l.Subject.Resource })
	if i < 0 {
		return nil, action.Refuse(remedy.Gone, "There is no route table %s in %s.", l.Subject.Resource, l.Snapshot.Cluster.VPC)
	}
	t := l.Snapshot.RouteTables[i]
	if no := l.mayTake(t); no != nil {
		return nil, no
	}
	if no := rows(t); no != nil {
		return nil, no
	}
	zones, unproved, no := l.subnetsOf(t)
	if no != nil {
		return nil, no
	}
	for _, nat := range l.Snapshot.NATGateways {
		if slices.Contains(t.Subnets, nat.Subnet) && nat.State != "deleted" && nat.State != "failed" {
			return nil, action.Refuse(NATStandsHere, "%s stands in %s, which uses %s: a default route to a NAT gateway there would lead in a circle.", nat.ID, nat.Subnet, t.ID)
		}
	}
	nat := l.nat(t.VPC, zones)
	if nat == nil {
		return nil, action.Refuse(NoNAT, "%s has no public NAT gateway that is available and itself reaches the internet.", t.VPC)
	}
	if no := l.Still(finding.Certain); no != nil {
		return nil, no
	}
	return &remedy.AddNATRoute{
		VPC: t.VPC, Table: t.ID, Destination: everywhere, NAT: nat.ID, NATZone: nat.Zone,
		Zones: zones, Subnets: slices.Sorted(slices.Values(t.Subnets)), ManagedBy: managedBy(t.Tags),
		Unproved: unproved,
	}, nil
}

const everywhere = "0.0.0.0/0"

// mayTake asks whose the table is.
func (l look) mayTake(t snapshot.RouteTable) *action.Refusal {
	vpc := slices.IndexFunc(l.Snapshot.VPCs, func(v snapshot.VPC) bool { return v.ID == t.VPC })
	switch {
	case t.VPC != l.Snapshot.Cluster.VPC:
		return action.Refuse(remedy.OtherVPC, "%s is in %s, the cluster in %s.", t.ID, t.VPC, l.Snapshot.Cluster.VPC)
	case vpc < 0:
		return action.Missing(snapshot.VPCs, t.VPC+" is not among them")
	case l.Snapshot.VPCs[vpc].Owner != l.Snapshot.Account:
		return action.Refuse(remedy.SharedVPC, "%s is another account's (%s), whose network it is.", t.VPC, l.Snapshot.VPCs[vpc].Owner)
	case t.Main:
		// Every subnet without an association of its own uses it, those too that
		// are made tomorrow.
		return action.Refuse(MainTable, "%s is the VPC's main table: every subnet without an association of its own would get a route to the internet.", t.ID)
	case len(t.Subnets) == 0:
		return action.Refuse(remedy.NothingToDo, "No subnet is associated with %s.", t.ID)
	case isolated(t.Name, t.Tags):
		return action.Refuse(Isolated, "The name or tags of %s mark it as without a route to the internet on purpose.", t.ID)
	}
	for key := range t.Tags {
		if other, ok := strings.CutPrefix(key, "kubernetes.io/cluster/"); ok && other != l.Subject.Cluster {
			return action.Refuse(remedy.OtherCluster, "%s is tagged as cluster %s's.", t.ID, other)
		}
	}
	return nil
}

// rows asks whether the table has only what leads within the VPC. Half of the
// internet is a default route too (0.0.0.0/1 and 128.0.0.0/1).
func rows(t snapshot.RouteTable) *action.Refusal {
	for _, r := range t.Routes {
		switch {
		case r.Destination.IsValid() && r.Destination.Bits() <= 1 && r.State == "blackhole":
			return action.Refuse(Blackhole, "%s has %s, a blackhole: replacing a route is a person's decision.", t.ID, path.Row(r))
		case r.Destination.IsValid() && r.Destination.Bits() <= 1:
			return action.Refuse(HasDefault, "%s has a default route: %s.", t.ID, path.Row(r))
		case r.Target.Kind != snapshot.ToLocal && r.Target.Kind != snapshot.ToEndpoint:
			return action.Refuse(LeadsElsewhere, "%s has %s: what it reaches over that network is unknown.", t.ID, path.Row(r))
		case r.Target.Kind == snapshot.ToEndpoint && r.PrefixList == "":
			// A firewall's or a Gateway Load Balancer's endpoint inspects traffic.
			return action.Refuse(LeadsElsewhere, "%s has %s: traffic is routed through an appliance on purpose.", t.ID, path.Row(r))
		case !r.Destination.IsValid() && r.PrefixList == "":
			return action.Missing(snapshot.RouteTables, "a row of "+t.ID+" has no destination")
		}
	}
	return nil
}

// subnetsOf asks of every subnet that uses the table whether it should have a
// way out. It gives their zones, and those of the incident of which it is not proved
// that the cluster launches there: an instance with the cluster's tag proves nothing.
func (l look) subnetsOf(t snapshot.RouteTable) (zones, unproved []string, _ *action.Refusal) {
	served := false
	for _, id := range t.Subnets {
		i := slices.IndexFunc(l.Snapshot.Subnets, func(s snapshot.Subnet) bool { return s.ID == id })
		if i < 0 {
			return nil, nil, action.Missing(snapshot.Subnets, id+" is not among them")
		}
		s := l.Snapshot.Subnets[i]
		_, elb := s.Tags["kubernetes.io/role/elb"]
		covered, proved := slices.Contains(l.Subject.Covers, id), l.LaunchesInto(id)
		switch {
		case s.AssignPublicIP || elb:
			return nil, nil, action.Refuse(PublicSubnet, "%s uses %s and is a public subnet: its default route is an internet gateway.", id, t.ID)
		case isolated(s.Name, s.Tags):
			return nil, nil, action.Refuse(Isolated, "%s uses %s, and its name or tags mark it as without a route to the internet on purpose.", id, t.ID)
		case accountIn(s.ARN) != "" && accountIn(s.ARN) != l.Snapshot.Account:
			return nil, nil, action.Refuse(remedy.SharedVPC, "%s is another account's.", id)
		case !covered && !proved:
			return nil, nil, action.Refuse(ServesOthers, "%s uses %s too, and %s launches no nodes there: it would get a route to the internet, too.", id, t.ID, l.Subject.Cluster)
		}
		served = served || covered
		if !proved {
			unproved = append(unproved, id)
		}
		if !slices.Contains(zones, s.Zone) {
			zones = append(zones, s.Zone)
		}
	}
	if !served {
		return nil, nil, action.Refuse(remedy.NotSo, "None of the incident's subnets uses %s any longer.", t.ID)
	}
	slices.Sort(zones)
	slices.Sort(unproved)
	return zones, unproved, nil
}

// nat is the NAT gateway to lead to, of those that work: one of the table's zones
// first, a regional one is at home in all; nil for none.
func (l look) nat(vpc string, zones []string) (nat *snapshot.NATGateway) {
	net := path.New(l.Snapshot)
	for _, zone := range zones {
		nats := net.WorkingNATs(vpc, zone)
		if len(nats) == 0 {
			return nil
		}
		nat = &nats[0]
		if nat.RouteTable != "" || nat.Zone == zone && zone != "" {
			return nat
		}
	}
	return nat
}

// isolated tells a thing that its makers call without a route to the internet: the AWS CDK's
// tag, and the names that CDK ("Isolated") and Terraform's VPC module ("intra")
// give.
func isolated(name string, tags map[string]string) bool {
	for _, text := range []string{name, tags["Name"], tags["aws-cdk:subnet-type"], tags["aws-cdk:subnet-name"]} {
		text = strings.ToLower(text)
		if strings.Contains(text, "isolated") || slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("-_/. ", r) }), "intra") {
			return true
		}
	}
	return false
}

// accountIn is the account in an ARN.
func accountIn(arn string) string {
	parts := strings.Split(arn, ":")
	if len(parts) < 6 {
		return ""
	}
	return parts[4]
}

// managedBy says what made a thing, as far as its tags tell: by the first of
// them, as two often say the same in two ways (ManagedBy, Terraform).
func managedBy(tags map[string]string) string {
	if stack := tags["aws:cloudformation:stack-name"]; stack != "" {
		return "CloudFormation stack " + stack
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		value := tags[key]
		switch strings.ToLower(strings.NewReplacer("-", "", "_", "", ":", "").Replace(key)) {
		case "managedby", "createdby", "provisioner", "iac":
			if strings.EqualFold(value, "terraform") || strings.EqualFold(value, "opentofu") || strings.EqualFold(value, "pulumi") {
				return value
			}
		case "terraform":
			return "Terraform"
		}
	}
	return ""
}

func applied(r remedy.AddNATRoute, s *snapshot.Snapshot) (done, known bool) {
	return slices.ContainsFunc(s.RouteTables, func(t snapshot.RouteTable) bool {
		return t.ID == r.Table && slices.ContainsFunc(t.Routes, func(x snapshot.Route) bool {
			return x.Destination.String() == r.Destination && x.Target.ID == r.NAT
		})
	}), s.Has(snapshot.RouteTables)
}
