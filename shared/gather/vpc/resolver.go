// Package vpc reads what the network of a cluster is made of: subnets, routes, gateways,
// endpoints, filters, interfaces and who holds addresses.
package vpc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"golang.org/x/sync/errgroup"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/network/path"
	"rollcall/shared/route53"
	"rollcall/shared/snapshot"
)

// Sources are what is read of a VPC. They are read only where one is known.
func Sources(e *ec2.Client, names Resolver, profiles Profiles, zones HostedZones, counted *tally) []source.Source {
	list := []source.Source{
		subnets(e), vpcs(e), publicAccess(e), routeTables(e), natGateways(e), internetGateways(e), egressOnlyGateways(e), endpoints(e),
		securityGroups(e), groupAssociations(e), networkACLs(e), vpcAttributes(e), dhcp(e), prefixLists(e), peerings(e), transitGateways(e), interfaces(e),
		dnsProfiles(profiles), resolverRules(names), privateZones(zones), dnsFirewall(names), reservations(e), usage(e, counted), unattached(e, counted), trunks(e, counted),
	}
	for n := range list {
		list[n].Read = inVPC(list[n].Read)
	}
	return append(list, creators(e, counted))
}

// inVPC reads only where a VPC is known.
func inVPC(read source.Read) source.Read {
	return func(ctx context.Context, v *source.View) (source.Store, error) {
		if len(v.VPCs) == 0 {
			return nil, source.ErrNoVPC
		}
		return read(ctx, v)
	}
}

// Resolver tells which rules and which DNS firewall are in force in a VPC.
type Resolver interface {
	FirewallAssociations(ctx context.Context, vpc, token string) ([]route53.FirewallAssociation, string, error)
	FirewallRules(ctx context.Context, group, token string) ([]route53.FirewallRule, string, error)
	FirewallDomains(ctx context.Context, list, token string) ([]string, string, error)
	Rules(ctx context.Context, token string) ([]route53.ResolverRule, string, error)
	RuleAssociations(ctx context.Context, vpc, token string) ([]route53.ResolverRuleAssociation, string, error)
}

var _ Resolver = (*route53.Resolver)(nil)

// whereNamesMatter reads only where an instance of the scope has not joined, and for a
// subnet of the scope in which none of its instances stands: an incident may cover it. A look
// at launches reads only where a name may lead over a private way: it asks for each launch, and
// Route 53 takes five requests a second of an account (Route 53 developer guide, "Quotas").
func whereNamesMatter(read source.Read) source.Read {
	return func(ctx context.Context, v *source.View) (source.Store, error) {
		stands := map[string]bool{}
		for _, in := range v.InScope() {
			stands[in.Subnet] = true
		}
		empty := slices.ContainsFunc(v.Snapshot.Scope.Subnets, func(id string) bool { return !stands[id] })
		launch := slices.Contains(v.Sources, snapshot.RouteTables) && !slices.Contains(v.Sources, snapshot.Nodes)
		if !empty && len(v.NotJoined()) == 0 || launch && !privateWays(v.Snapshot) {
			return source.Nothing, nil
		}
		return read(ctx, v)
	}
}

// privateWays reports whether a table leads to another private network, or an interface endpoint
// has no private DNS: a zone, a rule or a Profile may name what is there.
func privateWays(s *snapshot.Snapshot) bool {
	return slices.ContainsFunc(s.RouteTables, func(t snapshot.RouteTable) bool {
		return slices.ContainsFunc(t.Routes, func(r snapshot.Route) bool { return path.Elsewhere(r.Target.Kind) })
	}) || slices.ContainsFunc(s.Endpoints, func(e snapshot.Endpoint) bool {
		return strings.EqualFold(e.Kind, "Interface") && !e.PrivateDNS
	})
}

// resolverRules are those in force in the VPCs, without those that the resolver makes by
// itself.
func resolverRules(api Resolver) source.Source {
	return source.Source{
		Name:  snapshot.ResolverRulesOf,
		Needs: []snapshot.Source{snapshot.DNSProfilesOf},
		After: []snapshot.Source{snapshot.Nodes, snapshot.RouteTables, snapshot.Endpoints},
		Calls: []source.Call{{Action: "route53resolver:ListResolverRuleAssociations"}, {Action: "route53resolver:ListResolverRules"}},
		Read: whereNamesMatter(func(ctx context.Context, v *source.View) (source.Store, error) {
			local := map[string][]route53.ResolverRuleAssociation{}
			associated := false
			for _, vpc := range v.VPCs {
				list, err := source.Pages(ctx, "resolver rule associations", func(ctx context.Context, token string) ([]route53.ResolverRuleAssociation, string, error) {
					return api.RuleAssociations(ctx, vpc, token)
				})
				if err != nil {
					return nil, err
				}
				local[vpc] = slices.DeleteFunc(list, func(a route53.ResolverRuleAssociation) bool {
					return a.VPC != vpc || strings.HasPrefix(a.Rule, "rslvr-autodefined-") || a.Status != "COMPLETE"
				})
				associated = associated || len(local[vpc]) > 0 || len(broughtInto(v.Snapshot, vpc, resolverRuleARN)) > 0
			}
			if !associated {
				return source.Nothing, nil
			}
			rules, err := source.Pages(ctx, "resolver rules", api.Rules)
			if err != nil {
				return nil, err
			}
			var list []snapshot.ResolverRule
			for _, vpc := range v.VPCs {
				list = append(list, rulesInForce(v, vpc, local[vpc], rules)...)
			}
			slices.SortStableFunc(list, func(a, b snapshot.ResolverRule) int { return cmp.Compare(a.VPC, b.VPC) })
			return func(s *snapshot.Snapshot) { s.ResolverRules = list }, nil
		}),
	}
}

// How the resource part of an ARN begins (service authorization reference, Route 53 Resolver).
const (
	resolverRuleARN  = "resolver-rule/"
	firewallGroupARN = "firewall-rule-group/"
)

// rulesInForce returns the rules in force in a VPC, its own before those of its Profiles: for
// the same domain "the local DNS settings take precedence" (Route 53 developer guide, "How
// Route 53 Profile settings are prioritized"). A rule of a Profile that ListResolverRules
// does not return is another account's, and its domain is unknown.
func rulesInForce(v *source.View, vpc string, local []route53.ResolverRuleAssociation, rules []route53.ResolverRule) []snapshot.ResolverRule {
	find := func(id string) int {
		return slices.IndexFunc(rules, func(r route53.ResolverRule) bool { return r.ID == id })
	}
	var list []snapshot.ResolverRule
	for _, a := range local {
		if i := find(a.Rule); i >= 0 {
			list = append(list, resolverRule(vpc, rules[i]))
		}
	}
	slices.SortFunc(list, func(a, b snapshot.ResolverRule) int { return cmp.Compare(a.ID, b.ID) })
	for _, b := range broughtInto(v.Snapshot, vpc, resolverRuleARN) {
		r := snapshot.ResolverRule{ID: b.id, Name: b.name, VPC: vpc}
		if i := find(b.id); i >= 0 {
			r = resolverRule(vpc, rules[i])
		} else {
			r.Unread = &snapshot.Failure{
				Source: snapshot.ResolverRulesOf, Reason: snapshot.NotShown, Call: "route53resolver:ListResolverRules",
				Message: b.id + " of the Route 53 Profile " + b.profile + " is not shared with this account",
			}
		}
		r.Profile = b.profile
		list = append(list, r)
	}
	return list
}

func resolverRule(vpc string, r route53.ResolverRule) snapshot.ResolverRule {
	out := snapshot.ResolverRule{ID: r.ID, Name: r.Name, VPC: vpc, Domain: domain(r.Domain), Forward: r.Type == "FORWARD", Endpoint: r.Endpoint}
	for _, t := range r.Targets {
		out.Targets = append(out.Targets, cmp.Or(t.IP, t.IPv6))
	}
	return out
}

// domain is a name in lower case and without the dot at its end.
func domain(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// dnsFirewall is what DNS Firewall evaluates in the VPCs, in its order: rule groups by
// the priority of their association, in each the rules by theirs, the lowest first
// (Route 53 developer guide, "DNS Firewall rule groups and rules"). Those of Profiles are
// evaluated by their priority too ("Associate DNS Firewall rule groups to a Route 53
// Profile"); of one priority the VPC's own is first, as "the local DNS settings take
// precedence" ("How Route 53 Profile settings are prioritized").
func dnsFirewall(api Resolver) source.Source {
	return source.Source{
		Name:  snapshot.DNSFirewall,
		Needs: []snapshot.Source{snapshot.DNSProfilesOf},
		After: []snapshot.Source{snapshot.Nodes, snapshot.RouteTables, snapshot.Endpoints},
		Calls: []source.Call{
			{Action: "route53resolver:ListFirewallRuleGroupAssociations"},
			// A rule group or a list that is shared is another account's.
			{Action: "route53resolver:ListFirewallRules", Resources: []string{"arn:${Partition}:route53resolver:${Region}:*:firewall-rule-group/*"}},
			{Action: "route53resolver:ListFirewallDomains", Resources: []string{"arn:${Partition}:route53resolver:${Region}:*:firewall-domain-list/*"}},
		},
		Read: whereNamesMatter(func(ctx context.Context, v *source.View) (source.Store, error) {
			var all []snapshot.FirewallRule
			var unread error
			for _, vpc := range v.VPCs {
				groups, err := source.Pages(ctx, "firewall rule group associations", func(ctx context.Context, token string) ([]route53.FirewallAssociation, string, error) {
					return api.FirewallAssociations(ctx, vpc, token)
				})
				if err != nil {
					return nil, err
				}
				for _, g := range groupsInForce(v, vpc, groups) {
					list, failed, err := firewallRules(ctx, api, v, vpc, g)
					if err != nil {
						return nil, err
					}
					unread = errors.Join(unread, failed)
					all = append(all, list...)
				}
			}
			// AWS does not show what is in the lists that it manages (Route 53 developer
			// guide, "Managed Domain Lists"). Where no list at all could be read it may
			// be the permission.
			listed := slices.DeleteFunc(slices.Clone(all), func(r snapshot.FirewallRule) bool { return r.List == "" })
			if len(listed) > 0 && !slices.ContainsFunc(listed, func(r snapshot.FirewallRule) bool { return r.Unread == nil }) {
				return nil, unread
			}
			return func(s *snapshot.Snapshot) { s.FirewallRules = all }, nil
		}),
	}
}

// groupsInForce returns the rule groups in force in a VPC in the order of their priority.
func groupsInForce(v *source.View, vpc string, local []route53.FirewallAssociation) []brought {
	var list []brought
	for _, g := range local {
		if g.Status != "DELETING" {
			list = append(list, brought{id: g.Group, name: g.Name, priority: g.Priority})
		}
	}
	list = append(list, broughtInto(v.Snapshot, vpc, firewallGroupARN)...)
	slices.SortStableFunc(list, func(a, b brought) int { return cmp.Compare(a.priority, b.priority) })
	return list
}

func firewallRules(ctx context.Context, api Resolver, v *source.View, vpc string, g brought) (list []snapshot.FirewallRule, unread, err error) {
	rules, err := source.Pages(ctx, "firewall rules", func(ctx context.Context, token string) ([]route53.FirewallRule, string, error) {
		return api.FirewallRules(ctx, g.id, token)
	})
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(rules, func(a, b route53.FirewallRule) int { return cmp.Compare(a.Priority, b.Priority) })
	for _, r := range rules {
		out := snapshot.FirewallRule{VPC: vpc, Profile: g.profile, Group: g.id, GroupName: g.name, Name: r.Name, Action: r.Action, Response: r.BlockResponse, Type: r.Qtype, List: r.List}
		if r.List != "" {
			domains, err := source.Pages(ctx, "firewall domains", func(ctx context.Context, token string) ([]string, string, error) {
				return api.FirewallDomains(ctx, r.List, token)
			})
			if err != nil {
				out.Unread, unread = v.Source.Failure(err), err
			}
			out.Domains = source.Each(domains, domain)
		}
		list = append(list, out)
	}
	return list, unread, nil
}

// Profiles lists the Route 53 Profiles of VPCs, and their resources.
type Profiles interface {
	Associations(ctx context.Context, vpc, token string) ([]route53.ProfileAssociation, string, error)
	Resources(ctx context.Context, profile, token string) ([]route53.ProfileResource, string, error)
}

var _ Profiles = (*route53.Profiles)(nil)

// dnsProfiles are the Route 53 Profiles in force in the VPCs: one call for each VPC, and one
// for each Profile.
func dnsProfiles(api Profiles) source.Source {
	return source.Source{
		Name:  snapshot.DNSProfilesOf,
		After: []snapshot.Source{snapshot.Nodes, snapshot.RouteTables, snapshot.Endpoints},
		// The service authorization reference has no resource for these lists.
		Calls: []source.Call{{Action: "route53profiles:ListProfileAssociations"}, {Action: "route53profiles:ListProfileResourceAssociations"}},
		Read: whereNamesMatter(func(ctx context.Context, v *source.View) (source.Store, error) {
			var list []snapshot.DNSProfile
			resources := map[string][]snapshot.DNSProfileResource{}
			for _, vpc := range v.VPCs {
				in, err := source.Pages(ctx, "Route 53 Profiles", func(ctx context.Context, token string) ([]route53.ProfileAssociation, string, error) {
					return api.Associations(ctx, vpc, token)
				})
				if err != nil {
					return nil, err
				}
				slices.SortStableFunc(in, func(a, b route53.ProfileAssociation) int {
					return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Profile, b.Profile))
				})
				for _, a := range in {
					if a.VPC != vpc || !inForce(a.Status) {
						continue
					}
					if _, read := resources[a.Profile]; !read {
						if resources[a.Profile], err = profileResources(ctx, api, a.Profile); err != nil {
							return nil, err
						}
					}
					list = append(list, snapshot.DNSProfile{ID: a.Profile, VPC: vpc, Resources: resources[a.Profile]})
				}
			}
			return func(s *snapshot.Snapshot) { s.DNSProfiles = list }, nil
		}),
	}
}

// inForce reports whether an association of a Profile is in effect: it is while a priority
// changes.
func inForce(status string) bool { return status == "COMPLETE" || status == "UPDATING" }

// profileResources returns what a Profile holds, in the order in which the service lists it.
func profileResources(ctx context.Context, api Profiles, profile string) ([]snapshot.DNSProfileResource, error) {
	all, err := source.Pages(ctx, "resources of "+profile, func(ctx context.Context, token string) ([]route53.ProfileResource, string, error) {
		return api.Resources(ctx, profile, token)
	})
	if err != nil {
		return nil, err
	}
	list := []snapshot.DNSProfileResource{}
	for _, r := range all {
		if !inForce(r.Status) {
			continue
		}
		var properties struct {
			Priority int `json:"priority"`
		}
		if r.Properties != "" {
			if err := json.Unmarshal([]byte(r.Properties), &properties); err != nil {
				return nil, fmt.Errorf("read the properties of %s in %s: %w", r.ARN, profile, err)
			}
		}
		list = append(list, snapshot.DNSProfileResource{ARN: r.ARN, Name: r.Name, Priority: properties.Priority})
	}
	return list, nil
}

// brought is a resource in force in a VPC, by the Profile that brings it; empty for one that
// is associated with the VPC itself.
type brought struct {
	profile, id, name string
	priority          int
}

// broughtInto returns the resources of a kind that Profiles bring into a VPC, in the order of
// the Profiles. The kind is how the resource part of their ARNs begins: "resolver-rule/".
func broughtInto(s *snapshot.Snapshot, vpc, kind string) []brought {
	var list []brought
	for _, p := range s.DNSProfiles {
		if p.VPC != vpc {
			continue
		}
		for _, r := range p.Resources {
			if _, id, is := strings.Cut(r.ARN, ":"+kind); is {
				list = append(list, brought{p.ID, id, r.Name, r.Priority})
			}
		}
	}
	return list
}

// PublicAccess describes VPC Block Public Access.
type PublicAccess interface {
	DescribeVpcBlockPublicAccessOptions(context.Context, *ec2.DescribeVpcBlockPublicAccessOptionsInput, ...func(*ec2.Options)) (*ec2.DescribeVpcBlockPublicAccessOptionsOutput, error)
	DescribeVpcBlockPublicAccessExclusions(context.Context, *ec2.DescribeVpcBlockPublicAccessExclusionsInput, ...func(*ec2.Options)) (*ec2.DescribeVpcBlockPublicAccessExclusionsOutput, error)
}

// publicAccess is who blocks public access, and what is exempt. What is blocked is in
// the answers about VPCs and subnets: this is read only where something is.
func publicAccess(api PublicAccess) source.Source {
	return source.Source{
		Name:  snapshot.PublicAccessOf,
		After: []snapshot.Source{snapshot.VPCs, snapshot.Subnets},
		Calls: []source.Call{{Action: "ec2:DescribeVpcBlockPublicAccessOptions"}, {Action: "ec2:DescribeVpcBlockPublicAccessExclusions"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			// An answer of EC2 from before the feature has no mode.
			if !slices.ContainsFunc(v.Snapshot.VPCs, func(x snapshot.VPC) bool { return x.BlockMode != snapshot.BlockOff }) &&
				!slices.ContainsFunc(v.Snapshot.Subnets, func(x snapshot.Subnet) bool { return x.BlockMode != snapshot.BlockOff }) {
				return source.Nothing, nil
			}
			access, err := readPublicAccess(ctx, api)
			return func(s *snapshot.Snapshot) { s.PublicAccess = &access }, err
		},
	}
}

func readPublicAccess(ctx context.Context, api PublicAccess) (snapshot.PublicAccess, error) {
	var access snapshot.PublicAccess
	out, err := api.DescribeVpcBlockPublicAccessOptions(ctx, &ec2.DescribeVpcBlockPublicAccessOptionsInput{})
	if err != nil {
		return access, fmt.Errorf("describe vpc block public access options: %w", err)
	}
	if o := out.VpcBlockPublicAccessOptions; o != nil {
		access.Mode = snapshot.BlockMode(o.InternetGatewayBlockMode)
		access.Changing = o.State == types.VpcBlockPublicAccessStateUpdateInProgress
		access.ByPolicy = o.ManagedBy == types.ManagedByDeclarativePolicy
		access.NoExclusions = o.ExclusionsAllowed == types.VpcBlockPublicAccessExclusionsAllowedNotAllowed
	}
	in := &ec2.DescribeVpcBlockPublicAccessExclusionsInput{}
	for {
		out, err := api.DescribeVpcBlockPublicAccessExclusions(ctx, in)
		if err != nil {
			return access, fmt.Errorf("describe vpc block public access exclusions: %w", err)
		}
		access.Exclusions = append(access.Exclusions, source.Each(out.VpcBlockPublicAccessExclusions, exclusion)...)
		if more, err := ec2api.TurnPage(&in.NextToken, out.NextToken); err != nil || !more {
			return access, err
		}
	}
}

func exclusion(e types.VpcBlockPublicAccessExclusion) snapshot.Exclusion {
	// arn:aws:ec2:us-west-2:123456789012:subnet/subnet-0ab1
	_, id, _ := strings.Cut(aws.ToString(e.ResourceArn), "/")
	out := snapshot.Exclusion{ID: aws.ToString(e.ExclusionId), Resource: id, Egress: e.InternetGatewayExclusionMode == types.InternetGatewayExclusionModeAllowEgress}
	switch e.State {
	case types.VpcBlockPublicAccessExclusionStateCreateComplete, types.VpcBlockPublicAccessExclusionStateUpdateComplete:
		out.Active = true
	case types.VpcBlockPublicAccessExclusionStateCreateInProgress, types.VpcBlockPublicAccessExclusionStateUpdateInProgress,
		types.VpcBlockPublicAccessExclusionStateDeleteInProgress, types.VpcBlockPublicAccessExclusionStateDisableInProgress:
		out.Changing = true
	}
	return out
}

// Reservations lists the CIDR reservations of a subnet.
type Reservations interface {
	GetSubnetCidrReservations(context.Context, *ec2.GetSubnetCidrReservationsInput, ...func(*ec2.Options)) (*ec2.GetSubnetCidrReservationsOutput, error)
}

// reservations are the CIDR reservations of the subnets in which nodes may be
// launched, and of those of pods: a call for each.
func reservations(api Reservations) source.Source {
	return source.Source{
		Name:  snapshot.CIDRsKept,
		Needs: []snapshot.Source{snapshot.Subnets},
		After: []snapshot.Source{
			snapshot.ENIConfigsOf,    // which name subnets of pods
			snapshot.TransitGateways, // behind which are further subnets
		},
		Calls: []source.Call{{Action: "ec2:GetSubnetCidrReservations"}},
		Read:  source.Through(api, readReservations),
	}
}

// roleCNI is the tag of subnets from which the VPC CNI may take addresses for
// pods beside the node's own (amazon-vpc-cni-k8s, subnet discovery).
const roleCNI = "kubernetes.io/role/cni"

func readReservations(ctx context.Context, api Reservations, v *source.View) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.Subnets) {
		return nil, v.Unread(snapshot.Subnets)
	}
	subnets := addressed(v)
	lists := make([][]snapshot.Reservation, len(subnets))
	failures := make([]error, len(subnets))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(source.Parallel)
	for i, subnet := range subnets {
		g.Go(func() error {
			list, err := reservationsOf(gctx, api, subnet.ID)
			if err != nil && shared(v, subnet) {
				failures[i] = err // its owner may have them to itself
				return nil
			}
			lists[i] = list
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	list := source.Unique(slices.Concat(lists...), func(r snapshot.Reservation) string { return r.Subnet + " " + r.ID })
	return func(s *snapshot.Snapshot) {
		s.Reservations = list
		for i, err := range failures {
			if err != nil {
				s.Lack(snapshot.CIDRsKept, subnets[i].ID, *v.Source.Failure(err))
			}
		}
	}, nil
}

// addressed are the subnets whose addresses nodes and their pods take.
func addressed(v *source.View) []snapshot.Subnet {
	return slices.DeleteFunc(slices.Clone(v.Snapshot.Subnets), func(n snapshot.Subnet) bool {
		_, ofPods := n.Tags[roleCNI]
		ofConfig := slices.ContainsFunc(v.Snapshot.ENIConfigs, func(c snapshot.ENIConfig) bool { return c.Subnet == n.ID })
		return !n.CIDR.IsValid() || !ofPods && !ofConfig && !slices.Contains(v.Snapshot.Scope.Launchable, n.ID)
	})
}

// shared reports whether a subnet is another account's: its ARN names the owner.
func shared(v *source.View, n snapshot.Subnet) bool {
	const account = 4
	parts := strings.Split(n.ARN, ":")
	return len(parts) > account && v.Snapshot.Account != "" && parts[account] != "" && parts[account] != v.Snapshot.Account
}

func reservationsOf(ctx context.Context, api Reservations, subnet string) ([]snapshot.Reservation, error) {
	var list []snapshot.Reservation
	input := &ec2.GetSubnetCidrReservationsInput{SubnetId: aws.String(subnet)}
	for {
		out, err := api.GetSubnetCidrReservations(ctx, input)
		if err != nil {
			return nil, fmt.Errorf("get the cidr reservations of %s: %w", subnet, err)
		}
		for _, v := range out.SubnetIpv4CidrReservations {
			if !source.Prefix(v.Cidr).IsValid() {
				return nil, fmt.Errorf("get the cidr reservations of %s: %w", subnet, source.ErrHalf)
			}
			list = append(list, reservation(subnet, v))
		}
		more, err := ec2api.TurnPage(&input.NextToken, out.NextToken)
		if err != nil {
			return nil, fmt.Errorf("get the cidr reservations of %s: %w", subnet, err)
		}
		if !more {
			return list, nil
		}
	}
}

// reservation takes a type that is not known for the one that gives nothing.
func reservation(subnet string, v types.SubnetCidrReservation) snapshot.Reservation {
	return snapshot.Reservation{
		ID: aws.ToString(v.SubnetCidrReservationId), Subnet: subnet, CIDR: source.Prefix(v.Cidr),
		Explicit: v.ReservationType != types.SubnetCidrReservationTypePrefix,
	}
}

// routeTables are those of the VPCs.
func routeTables(api ec2.DescribeRouteTablesAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.RouteTables,
		Calls: []source.Call{{Action: "ec2:DescribeRouteTables"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.RouteTable, error) {
			return readRouteTables(ctx, api, v.VPCs)
		}, func(x snapshot.RouteTable) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.RouteTable { return &s.RouteTables }),
	}
}

func readRouteTables(ctx context.Context, api ec2.DescribeRouteTablesAPIClient, vpcs []string) ([]snapshot.RouteTable, error) {
	p := ec2.NewDescribeRouteTablesPaginator(api, &ec2.DescribeRouteTablesInput{Filters: ec2api.AnyOf("vpc-id", vpcs)})
	return ec2api.Pages(ctx, "route tables", p.HasMorePages, p.NextPage, func(out *ec2.DescribeRouteTablesOutput) []snapshot.RouteTable {
		return source.Each(out.RouteTables, routeTable)
	})
}

func routeTable(t types.RouteTable) snapshot.RouteTable {
	out := snapshot.RouteTable{
		ID:   aws.ToString(t.RouteTableId),
		VPC:  aws.ToString(t.VpcId),
		Name: ec2api.Tags(t.Tags)["Name"],
		Tags: ec2api.Tags(t.Tags),
	}
	for _, a := range t.Associations {
		if !routes(a) {
			continue
		}
		if aws.ToBool(a.Main) {
			out.Main = true
		}
		if id := aws.ToString(a.SubnetId); id != "" {
			out.Subnets = append(out.Subnets, id)
		}
	}
	slices.Sort(out.Subnets)
	for _, r := range t.Routes {
		out.Routes = append(out.Routes, route(r))
	}
	return out
}

// routes reports whether an association is in force, or about to be. One on its way
// out no longer routes; a state newer than this code is taken for a good one,
// so that no subnet is judged by a main table that it may not use.
func routes(a types.RouteTableAssociation) bool {
	if a.AssociationState == nil {
		return true
	}
	switch a.AssociationState.State {
	case types.RouteTableAssociationStateCodeDisassociating, types.RouteTableAssociationStateCodeDisassociated, types.RouteTableAssociationStateCodeFailed:
		return false
	}
	return true
}

func route(r types.Route) snapshot.Route {
	out := snapshot.Route{
		Destination: source.Prefix(r.DestinationCidrBlock),
		PrefixList:  aws.ToString(r.DestinationPrefixListId),
		Target:      target(r),
		State:       string(r.State),
		Origin:      string(r.Origin),
	}
	if !out.Destination.IsValid() {
		out.Destination = source.Prefix(r.DestinationIpv6CidrBlock)
	}
	return out
}

// target tells where a route leads. GatewayId carries several kinds, which
// only the id's prefix tells apart.
func target(r types.Route) snapshot.Target {
	gateway := aws.ToString(r.GatewayId)
	eni, instance := aws.ToString(r.NetworkInterfaceId), aws.ToString(r.InstanceId)
	switch {
	case gateway == "local":
		return snapshot.Target{Kind: snapshot.ToLocal, ID: "local"}
	case r.NatGatewayId != nil:
		return snapshot.Target{Kind: snapshot.ToNATGateway, ID: *r.NatGatewayId}
	case r.TransitGatewayId != nil:
		return snapshot.Target{Kind: snapshot.ToTransitGateway, ID: *r.TransitGatewayId}
	case r.VpcPeeringConnectionId != nil:
		return snapshot.Target{Kind: snapshot.ToPeering, ID: *r.VpcPeeringConnectionId}
	case r.EgressOnlyInternetGatewayId != nil:
		return snapshot.Target{Kind: snapshot.ToEgressOnly, ID: *r.EgressOnlyInternetGatewayId}
	case r.CarrierGatewayId != nil:
		return snapshot.Target{Kind: snapshot.ToCarrierGateway, ID: *r.CarrierGatewayId}
	case r.LocalGatewayId != nil:
		return snapshot.Target{Kind: snapshot.ToLocalGateway, ID: *r.LocalGatewayId}
	case r.CoreNetworkArn != nil:
		return snapshot.Target{Kind: snapshot.ToCoreNetwork, ID: *r.CoreNetworkArn}
	case eni != "" || instance != "":
		return snapshot.Target{Kind: snapshot.ToInterface, ID: eni, Instance: instance, Owner: aws.ToString(r.InstanceOwnerId)}
	}
	for p, kind := range map[string]snapshot.TargetKind{
		"igw-":  snapshot.ToInternetGateway,
		"vgw-":  snapshot.ToVPNGateway,
		"vpce-": snapshot.ToEndpoint,
		"eigw-": snapshot.ToEgressOnly,
		"nat-":  snapshot.ToNATGateway,
		"tgw-":  snapshot.ToTransitGateway,
	} {
		if strings.HasPrefix(gateway, p) {
			return snapshot.Target{Kind: kind, ID: gateway}
		}
	}
	return snapshot.Target{Kind: snapshot.ToUnknown, ID: gateway}
}

// targets are the ids that routes of one kind lead to.
func targets(s *snapshot.Snapshot, kind snapshot.TargetKind) []string {
	var ids []string
	for _, t := range s.RouteTables {
		for _, r := range t.Routes {
			if r.Target.Kind == kind {
				ids = append(ids, r.Target.ID)
			}
		}
	}
	return source.Distinct(ids)
}

// securityGroups are those of the VPCs, and those of other VPCs that something here
// uses: a group can be associated with further VPCs of its Region (EC2 API,
// AssociateSecurityGroupVpc).
func securityGroups(api ec2.DescribeSecurityGroupsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.SecurityGroups,
		After: []snapshot.Source{snapshot.LaunchTemplates, snapshot.Endpoints, snapshot.EC2NodeClassesOf},
		Calls: []source.Call{{Action: "ec2:DescribeSecurityGroups"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.SecurityGroup, error) {
			list, err := readSecurityGroups(ctx, api, "vpc-id", v.VPCs)
			other := otherGroups(v, list)
			if err != nil || len(other) == 0 {
				return list, err
			}
			more, err := readSecurityGroups(ctx, api, "group-id", other)
			return append(list, more...), err
		}, func(x snapshot.SecurityGroup) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.SecurityGroup { return &s.SecurityGroups }),
	}
}

// groupAssociations are the VPCs in which security groups of other VPCs may be used.
func groupAssociations(api ec2.DescribeSecurityGroupVpcAssociationsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.GroupAssociations,
		Needs: []snapshot.Source{snapshot.SecurityGroups},
		Calls: []source.Call{{Action: "ec2:DescribeSecurityGroupVpcAssociations"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			if !v.Snapshot.Has(snapshot.SecurityGroups) {
				return nil, v.Unread(snapshot.SecurityGroups)
			}
			var ids []string
			for _, g := range v.Snapshot.SecurityGroups {
				if !slices.Contains(v.VPCs, g.VPC) {
					ids = append(ids, g.ID)
				}
			}
			if len(ids) == 0 {
				return source.Nothing, nil
			}
			p := ec2.NewDescribeSecurityGroupVpcAssociationsPaginator(api, &ec2.DescribeSecurityGroupVpcAssociationsInput{Filters: ec2api.AnyOf("group-id", ids)})
			found, err := ec2api.Pages(ctx, "security group vpc associations", p.HasMorePages, p.NextPage, func(out *ec2.DescribeSecurityGroupVpcAssociationsOutput) []types.SecurityGroupVpcAssociation {
				return out.SecurityGroupVpcAssociations
			})
			return func(s *snapshot.Snapshot) {
				for i := range s.SecurityGroups {
					g := &s.SecurityGroups[i]
					g.Associated = map[string]string{}
					for _, a := range found {
						if aws.ToString(a.GroupId) == g.ID {
							g.Associated[aws.ToString(a.VpcId)] = string(a.State)
						}
					}
				}
			}, err
		},
	}
}

// otherGroups are the groups in use, or planned, that are not in the list.
func otherGroups(v *source.View, list []snapshot.SecurityGroup) []string {
	s := v.Snapshot
	ids := slices.Concat([]string{s.Cluster.SecurityGroup}, s.Cluster.SecurityGroups, v.SecurityGroups)
	for _, i := range s.Instances {
		ids = append(ids, i.Groups...)
	}
	for _, t := range s.LaunchTemplates {
		ids = append(ids, t.Groups...)
	}
	for _, c := range s.EC2NodeClasses {
		for _, t := range c.Groups {
			ids = append(ids, t.ID)
		}
	}
	for _, e := range s.Endpoints {
		ids = append(ids, e.Groups...)
	}
	ids = slices.DeleteFunc(source.Distinct(ids), func(id string) bool {
		return !strings.HasPrefix(id, "sg-") || slices.ContainsFunc(list, func(g snapshot.SecurityGroup) bool { return g.ID == id })
	})
	return ids[:min(len(ids), ec2api.MaxFilterValues)]
}

func readSecurityGroups(ctx context.Context, api ec2.DescribeSecurityGroupsAPIClient, filter string, values []string) ([]snapshot.SecurityGroup, error) {
	p := ec2.NewDescribeSecurityGroupsPaginator(api, &ec2.DescribeSecurityGroupsInput{Filters: ec2api.AnyOf(filter, values)})
	return ec2api.Pages(ctx, "security groups", p.HasMorePages, p.NextPage, func(out *ec2.DescribeSecurityGroupsOutput) []snapshot.SecurityGroup {
		return source.Each(out.SecurityGroups, securityGroup)
	})
}

func securityGroup(g types.SecurityGroup) snapshot.SecurityGroup {
	return snapshot.SecurityGroup{
		ID:      aws.ToString(g.GroupId),
		VPC:     aws.ToString(g.VpcId),
		Name:    aws.ToString(g.GroupName),
		Ingress: source.Each(g.IpPermissions, rule),
		Egress:  source.Each(g.IpPermissionsEgress, rule),
		Tags:    ec2api.Tags(g.Tags),
	}
}

func rule(p types.IpPermission) snapshot.Rule {
	out := snapshot.Rule{Protocol: aws.ToString(p.IpProtocol), From: -1, To: -1}
	// EC2 leaves the ports out where the rule is about all of them.
	if p.FromPort != nil {
		out.From = int(*p.FromPort)
	}
	if p.ToPort != nil {
		out.To = int(*p.ToPort)
	}
	for _, r := range p.IpRanges {
		out.CIDRs = ec2api.AppendValid(out.CIDRs, source.Prefix(r.CidrIp))
	}
	for _, r := range p.Ipv6Ranges {
		out.CIDRs = ec2api.AppendValid(out.CIDRs, source.Prefix(r.CidrIpv6))
	}
	for _, l := range p.PrefixListIds {
		out.PrefixLists = append(out.PrefixLists, aws.ToString(l.PrefixListId))
	}
	for _, g := range p.UserIdGroupPairs {
		out.Groups = append(out.Groups, aws.ToString(g.GroupId))
	}
	return out
}

// subnets are those of the VPCs.
func subnets(api ec2.DescribeSubnetsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.Subnets,
		Calls: []source.Call{{Action: "ec2:DescribeSubnets"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.Subnet, error) {
			return readSubnets(ctx, api, v.VPCs)
		}, func(x snapshot.Subnet) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.Subnet { return &s.Subnets }),
	}
}

func readSubnets(ctx context.Context, api ec2.DescribeSubnetsAPIClient, vpcs []string) ([]snapshot.Subnet, error) {
	p := ec2.NewDescribeSubnetsPaginator(api, &ec2.DescribeSubnetsInput{Filters: ec2api.AnyOf("vpc-id", vpcs)})
	return ec2api.Pages(ctx, "subnets", p.HasMorePages, p.NextPage, func(out *ec2.DescribeSubnetsOutput) []snapshot.Subnet {
		return source.Each(out.Subnets, subnet)
	})
}

// little is below what a check of addresses can find too few: a node takes that
// many at most with its first interface (facts.MostFirst).
const little = 64

// freeAgain reads once more how much is free in the subnets where it was little.
// The interfaces are described after the subnets, a large VPC's for a minute:
// addresses that were given back in between would be neither free nor held, and
// the subnet would be told as full with nothing that holds it. The permission is
// that of the subnets: where they were not read nothing is short.
func freeAgain(ctx context.Context, api ec2.DescribeSubnetsAPIClient, list []snapshot.Subnet) (source.Store, error) {
	var short []string
	for _, s := range list {
		// Of a subnet without IPv4 range EC2 says that 0 are free.
		if s.CIDR.IsValid() && s.Free < little {
			short = append(short, s.ID)
		}
	}
	free := map[string]int{}
	for chunk := range slices.Chunk(short, ec2api.MaxFilterValues) {
		p := ec2.NewDescribeSubnetsPaginator(api, &ec2.DescribeSubnetsInput{Filters: ec2api.AnyOf("subnet-id", chunk)})
		now, err := ec2api.Pages(ctx, "subnets", p.HasMorePages, ec2api.Fresh(p.NextPage), func(out *ec2.DescribeSubnetsOutput) []snapshot.Subnet {
			return source.Each(out.Subnets, subnet)
		})
		if err != nil {
			return nil, err
		}
		for _, s := range now {
			free[s.ID] = s.Free
		}
	}
	return func(s *snapshot.Snapshot) {
		for i := range s.Subnets {
			if n, ok := free[s.Subnets[i].ID]; ok {
				s.Subnets[i].Free = n
			}
		}
	}, nil
}

func subnet(s types.Subnet) snapshot.Subnet {
	out := snapshot.Subnet{
		ID:             aws.ToString(s.SubnetId),
		ARN:            aws.ToString(s.SubnetArn),
		VPC:            aws.ToString(s.VpcId),
		Zone:           aws.ToString(s.AvailabilityZone),
		ZoneID:         aws.ToString(s.AvailabilityZoneId),
		BlockMode:      blockMode(s.BlockPublicAccessStates),
		CIDR:           source.Prefix(s.CidrBlock),
		Free:           int(aws.ToInt32(s.AvailableIpAddressCount)),
		AssignPublicIP: aws.ToBool(s.MapPublicIpOnLaunch),
		AssignIPv6:     aws.ToBool(s.AssignIpv6AddressOnCreation),
		Tags:           ec2api.Tags(s.Tags),
	}
	out.Name = out.Tags["Name"]
	for _, a := range s.Ipv6CidrBlockAssociationSet {
		if a.Ipv6CidrBlockState != nil && a.Ipv6CidrBlockState.State != types.SubnetCidrBlockStateCodeAssociated {
			continue
		}
		if p := source.Prefix(a.Ipv6CidrBlock); p.IsValid() {
			out.IPv6 = append(out.IPv6, p)
		}
	}
	return out
}
