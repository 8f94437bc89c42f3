// Package addnatroute adds a default route to a NAT gateway to a route table that has
// only what leads within the VPC.
package addnatroute

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rollcall/shared/checks"
	"rollcall/shared/network/path"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/call"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// Remedy is the remedy.
func Remedy() action.Remedy[Plan, Calls] {
	return action.Remedy[Plan, Calls]{
		Name:  optin.AddNATRoute,
		Cures: "Subnets of nodes whose route table has no route to the internet.",
		Sources: []snapshot.Source{
			snapshot.Clusters, snapshot.VPCs, snapshot.Subnets, snapshot.RouteTables, snapshot.NATGateways,
			snapshot.InternetGateways, snapshot.Endpoints, snapshot.Groups, snapshot.Nodegroups, snapshot.Instances,
		},
		Uses:          []snapshot.Source{snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf},
		Plan:          func(l action.Look) (*Plan, *action.Refusal) { return look{l}.plan() },
		Quiet:         []action.Reason{HasDefault},
		VPC:           func(p Plan) string { return p.VPC },
		PersonDecides: func(p Plan) string { return action.Unproved(p.Unproved) },
		Applied:       applied,
		Words:         words,
		Do:            do,
		Grants:        grants,
	}
}

// Plan is a default route to be added to a route table.
type Plan struct {
	VPC         string `json:"vpc"`
	Table       string `json:"table"`
	Destination string `json:"destination"` // 0.0.0.0/0
	NAT         string `json:"nat"`
	NATZone     string `json:"natZone,omitempty"` // empty: regional
	// Zones are those of the subnets that use the table.
	Zones   []string `json:"zones,omitempty"`
	Subnets []string `json:"subnets,omitempty"`
	// ManagedBy is what made the table, by its tags: "CloudFormation stack vpc".
	ManagedBy string `json:"managedBy,omitempty"`
	// Unproved are those of the subnets of which it is not proved that the cluster
	// launches nodes there: a person decides, whatever the policy.
	Unproved []string `json:"unproved,omitempty"`
}

// Calls are what the remedy asks of AWS.
type Calls interface {
	// CreateRoute adds a route to a table. EC2 refuses another route for the same
	// destination (RouteAlreadyExists); it never replaces one.
	CreateRoute(ctx context.Context, table, destination, nat string) call.Answer
}

func do(ctx context.Context, calls Calls, p Plan, _ action.Place, _ string) action.Result {
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
	MainTable      action.Reason = "main-table"
	HasDefault     action.Reason = "has-default-route"
	Blackhole      action.Reason = "blackhole-default-route"
	LeadsElsewhere action.Reason = "leads-elsewhere"
	PublicSubnet   action.Reason = "public-subnet"
	Isolated       action.Reason = "isolated-on-purpose"
	NATStandsHere  action.Reason = "nat-stands-here"
	ServesOthers   action.Reason = "serves-others"
	NoNAT          action.Reason = "no-working-nat"
)

// look is one look at the world, for this remedy.
type look struct{ action.Look }

// plan plans a default route to a NAT gateway, for a table that has only what
// leads within the VPC.
func (l look) plan() (*Plan, *action.Refusal) {
	i := slices.IndexFunc(l.Snapshot.RouteTables, func(t snapshot.RouteTable) bool { return t.ID == l.Subject.Resource })
	if i < 0 {
		return nil, action.Refuse(action.Gone, "There is no route table %s in %s.", l.Subject.Resource, l.Snapshot.Cluster.VPC)
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
	if no := l.Still(checks.Certain); no != nil {
		return nil, no
	}
	return &Plan{
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
		return action.Refuse(action.OtherVPC, "%s is in %s, the cluster in %s.", t.ID, t.VPC, l.Snapshot.Cluster.VPC)
	case vpc < 0:
		return action.Missing(snapshot.VPCs, t.VPC+" is not among them")
	case l.Snapshot.VPCs[vpc].Owner != l.Snapshot.Account:
		return action.Refuse(action.SharedVPC, "%s is another account's (%s), whose network it is.", t.VPC, l.Snapshot.VPCs[vpc].Owner)
	case t.Main:
		// Every subnet without an association of its own uses it, those too that
		// are made tomorrow.
		return action.Refuse(MainTable, "%s is the VPC's main table: every subnet without an association of its own would get a route to the internet.", t.ID)
	case len(t.Subnets) == 0:
		return action.Refuse(action.NothingToDo, "No subnet is associated with %s.", t.ID)
	case isolated(t.Name, t.Tags):
		return action.Refuse(Isolated, "%s is named or tagged as having no route to the internet on purpose.", t.ID)
	}
	for key := range t.Tags {
		if other, ok := strings.CutPrefix(key, "kubernetes.io/cluster/"); ok && other != l.Subject.Cluster {
			return action.Refuse(action.OtherCluster, "%s is tagged as cluster %s's.", t.ID, other)
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
			return action.Refuse(Blackhole, "%s has %s, a blackhole: that is a route to be replaced, which is for a person to decide.", t.ID, path.Row(r))
		case r.Destination.IsValid() && r.Destination.Bits() <= 1:
			return action.Refuse(HasDefault, "%s has a default route: %s.", t.ID, path.Row(r))
		case r.Target.Kind != snapshot.ToLocal && r.Target.Kind != snapshot.ToEndpoint:
			return action.Refuse(LeadsElsewhere, "%s has %s: what is reached over that network cannot be seen from here.", t.ID, path.Row(r))
		case r.Target.Kind == snapshot.ToEndpoint && r.PrefixList == "":
			// A firewall's or a Gateway Load Balancer's endpoint inspects traffic.
			return action.Refuse(LeadsElsewhere, "%s has %s: traffic is led through an appliance on purpose.", t.ID, path.Row(r))
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
			return nil, nil, action.Refuse(Isolated, "%s uses %s and is named or tagged as having no route to the internet on purpose.", id, t.ID)
		case accountIn(s.ARN) != "" && accountIn(s.ARN) != l.Snapshot.Account:
			return nil, nil, action.Refuse(action.SharedVPC, "%s is another account's.", id)
		case !covered && !proved:
			return nil, nil, action.Refuse(ServesOthers, "%s uses %s too, and %s launches no nodes there: it would get a route to the internet as well.", id, t.ID, l.Subject.Cluster)
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
		return nil, nil, action.Refuse(action.NotSo, "None of the subnets of the incident uses %s any more.", t.ID)
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

func applied(r Plan, s *snapshot.Snapshot) (done, known bool) {
	return slices.ContainsFunc(s.RouteTables, func(t snapshot.RouteTable) bool {
		return t.ID == r.Table && slices.ContainsFunc(t.Routes, func(x snapshot.Route) bool {
			return x.Destination.String() == r.Destination && x.Target.ID == r.NAT
		})
	}), s.Has(snapshot.RouteTables)
}

func words(r Plan, at action.Place) action.Words {
	command := func(call string, more ...string) string {
		return at.AWS("ec2 "+call, "--route-table-id", r.Table, "--destination-cidr-block", r.Destination, more)
	}
	return action.Words{
		Title:    fmt.Sprintf("Add %s → %s to %s", r.Destination, r.NAT, r.Table),
		Steps:    []string{fmt.Sprintf("Create the route %s → %s in %s%s.", r.Destination, r.NAT, r.Table, routeUsers(r)) + unproved(r)},
		Commands: []string{command("create-route", "--nat-gateway-id", r.NAT)},
		Undo:     []string{command("delete-route")},
		Cost:     routeCost(r),
	}
}

// unproved warns of subnets into which the cluster is not known to launch.
func unproved(r Plan) string {
	if len(r.Unproved) == 0 {
		return ""
	}
	return fmt.Sprintf(" Only instances with the cluster's tag are in %s: that the cluster launches nodes there is not proved.", action.And(r.Unproved))
}

// routeUsers are the subnets that use the table. One that is not yet anybody's,
// as a record of another version may hold it, has none to name.
func routeUsers(r Plan) string {
	in := ""
	if r.VPC != "" {
		in = " in " + r.VPC
	}
	if len(r.Subnets) == 0 {
		return in
	}
	zones := ""
	if len(r.Zones) > 0 {
		zones = " (" + action.And(r.Zones) + ")"
	}
	return fmt.Sprintf(", which %s%s%s %s", action.Few(r.Subnets, "subnet"), zones, in, verb(len(r.Subnets), "uses", "use"))
}

// routeCost names the prices of us-east-1: NAT gateway $0.045 for each GB (VPC
// pricing), between zones of a region $0.01 for each GB each way (EC2 pricing,
// data transfer). AWS's own pages were not read for it; guides of 2026 that quote
// them agree (basavytix.com/blog/aws-nat-gateway-pricing, cloudburn.io/blog/
// aws-nat-gateway-pricing). Other regions have others: Singapore $0.059.
func routeCost(r Plan) string {
	cost := "NAT gateway: each GB through it is charged (about $0.045)."
	var others []string
	for _, zone := range r.Zones {
		if zone != r.NATZone {
			others = append(others, zone)
		}
	}
	switch {
	case r.NATZone == "":
	case len(others) > 0 && slices.Contains(r.Zones, r.NATZone):
		cost += fmt.Sprintf(" %s is in %s: from %s each GB costs about $0.01 more each way, and they have no route to the internet while %s is down.", r.NAT, r.NATZone, action.And(others), r.NATZone)
	case len(others) > 0:
		cost += fmt.Sprintf(" %s is in another zone (%s, not %s): each GB costs about $0.01 more each way, and there is no route to the internet while %s is down.", r.NAT, r.NATZone, action.And(others), r.NATZone)
	default:
		cost += " Same zone: nothing more for crossing zones."
	}
	if r.ManagedBy != "" {
		cost += fmt.Sprintf(" %s was made by %s, which may take the route out again: add it there too.", r.Table, r.ManagedBy)
	}
	return cost
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
