package worldgen

import (
	"rollcall/local/simaws/resolver"
	"rollcall/local/simaws/route53"
	"rollcall/local/simaws/route53profiles"
	"rollcall/local/simaws/worldfile"
	"rollcall/shared/checkid"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// zonal tells that a NAT gateway of the nodes' VPC takes them out.
func zonal() func(*World) bool { return of(NATPerZone, OneNAT, Mixed) }

// ownNAT is a NAT gateway of the VPC, in a subnet or not.
func ownNAT() func(*World) bool { return of(NATPerZone, OneNAT, Mixed, RegionalNAT) }

// firstNAT is the NAT gateway behind the first route table.
func (w *World) firstNAT() *ec2types.NatGateway {
	return w.nat(*defaultRoute(w.table(w.Tables[0])).NatGatewayId)
}

// dropDefault takes the way out of a route table.
func dropDefault(t *ec2types.RouteTable) {
	t.Routes = without(t.Routes, func(r ec2types.Route) bool { return aws.ToString(r.DestinationCidrBlock) == "0.0.0.0/0" })
}

func (w *World) firstDefault() *ec2types.Route { return defaultRoute(w.table(w.Tables[0])) }

// blockPublicAccess switches VPC Block Public Access on, with nothing excluded.
func (w *World) blockPublicAccess(mode ec2types.InternetGatewayBlockMode) {
	w.File.EC2.VpcBlockPublicAccessOptions = &ec2types.VpcBlockPublicAccessOptions{InternetGatewayBlockMode: mode}
	w.File.EC2.VpcBlockPublicAccessExclusions = nil
}

// resolverFaults are what is in force in the nodes' VPC beside its resolver.
func resolverFaults() []Fault {
	return []Fault{
		{Name: "a DNS firewall blocks names of AWS", Check: checkid.DNSFirewall, applies: always, breaks: func(w *World) {
			w.firewall("ALLOW", "*.eks.amazonaws.com.")
		}},
		{Name: "a resolver rule forwards names of AWS", Check: checkid.DNSResolverRule, applies: not(of(EndpointsOnly, SharedVPC)), breaks: func(w *World) {
			w.resolverRule("rslvr-rr-0aws", "amazonaws.com.", "FORWARD")
		}},
		{Name: "a private hosted zone hides names of AWS", Check: checkid.DNSPrivateZone, applies: not(of(EndpointsOnly, SharedVPC)), breaks: func(w *World) {
			w.privateZone("Z01", region+".amazonaws.com.", "ec2."+region+".amazonaws.com.")
		}},
		{Name: "a Route 53 Profile brings a DNS firewall that blocks names of AWS", Check: checkid.DNSFirewall, applies: always, breaks: func(w *World) {
			w.firewall("ALLOW", "*.eks.amazonaws.com.")
			w.File.Route53Resolver.FirewallRuleGroupAssociations = nil
			w.byProfile("firewall-rule-group/rslvr-frg-01", `{"priority":101}`)
		}},
		{Name: "a Route 53 Profile brings a resolver rule that forwards names of AWS", Check: checkid.DNSResolverRule, applies: not(of(EndpointsOnly, SharedVPC)), breaks: func(w *World) {
			w.resolverRule("rslvr-rr-0aws", "amazonaws.com.", "FORWARD")
			w.File.Route53Resolver.ResolverRuleAssociations = nil
			w.byProfile("resolver-rule/rslvr-rr-0aws", "")
		}},
	}
}

// firewall makes a walled garden of the nodes' VPC: what is allowed, and nothing else.
func (w *World) firewall(action string, allowed ...string) {
	w.File.Route53Profiles = worldfile.ProfilesFile{}
	w.File.Route53Resolver = worldfile.ResolverFile{
		FirewallRuleGroupAssociations: []resolver.FirewallRuleGroupAssociation{{Id: "rslvr-frgassoc-01", FirewallRuleGroupId: "rslvr-frg-01", VpcId: w.vpc, Name: "garden", Priority: 101, Status: "COMPLETE"}},
		FirewallRules: map[string][]resolver.FirewallRule{"rslvr-frg-01": {
			{FirewallDomainListId: "rslvr-fdl-02", Name: "rest", Priority: 20, Action: "BLOCK", BlockResponse: "NODATA"},
			{FirewallDomainListId: "rslvr-fdl-01", Name: "allowed", Priority: 10, Action: action},
		}},
		FirewallDomains: map[string][]string{"rslvr-fdl-01": allowed, "rslvr-fdl-02": {"*."}},
	}
}

// resolverRule puts a rule into force in the nodes' VPC.
func (w *World) resolverRule(id, domain, kind string) {
	r := resolver.ResolverRule{Id: id, DomainName: domain, RuleType: kind, Name: "rule", Status: "COMPLETE"}
	if kind == "FORWARD" {
		r.ResolverEndpointId, r.TargetIps = "rslvr-out-01", []resolver.TargetAddress{{Ip: "192.168.200.2", Port: 53}}
	}
	f := &w.File.Route53Resolver
	f.ResolverRules = append(f.ResolverRules, r)
	f.ResolverRuleAssociations = append(f.ResolverRuleAssociations, resolver.ResolverRuleAssociation{Id: id + "-a", ResolverRuleId: id, VPCId: w.vpc, Status: "COMPLETE"})
}

// privateZone associates a private hosted zone with the nodes' VPC.
func (w *World) privateZone(id, domain string, names ...string) {
	f := &w.File.Route53
	f.HostedZones = map[string][]route53.HostedZoneSummary{w.vpc: {{HostedZoneId: id, Name: domain, Owner: route53.HostedZoneOwner{OwningAccount: account}}}}
	list := []route53.ResourceRecordSet{{Name: domain, Type: "SOA"}}
	for _, name := range names {
		list = append(list, route53.ResourceRecordSet{Name: name, Type: "A", ResourceRecords: []route53.ResourceRecord{{Value: "10.0.0.9"}}})
	}
	f.ResourceRecordSets = map[string][]route53.ResourceRecordSet{id: list}
}

// byProfile brings a resource of Route 53 Resolver into the nodes' VPC by a Profile.
func (w *World) byProfile(resource, properties string) {
	f := &w.File.Route53Profiles
	f.ProfileAssociations = []route53profiles.ProfileAssociation{{Id: "rpassoc-01", Name: "baseline", ProfileId: "rp-01", ResourceId: w.vpc, Status: "COMPLETE"}}
	if f.ProfileResourceAssociations == nil {
		f.ProfileResourceAssociations = map[string][]route53profiles.ProfileResourceAssociation{}
	}
	f.ProfileResourceAssociations["rp-01"] = append(f.ProfileResourceAssociations["rp-01"], route53profiles.ProfileResourceAssociation{
		Id: "rpr-01", Name: "shared", ProfileId: "rp-01", ResourceArn: "arn:aws:route53resolver:" + w.File.Region + ":" + w.File.Account + ":" + resource, ResourceProperties: properties, Status: "COMPLETE",
	})
}

func routeFaults() []Fault {
	fourOnly := not(inIPv6)
	natState := func(state ec2types.NatGatewayState, hole bool) func(*World) {
		return func(w *World) {
			w.firstNAT().State = state
			if hole {
				w.firstDefault().State = ec2types.RouteStateBlackhole
			}
		}
	}
	return []Fault{
		{Name: "no default route", Check: checkid.RouteNoEgress, reach: keepsTable, applies: both(fourOnly, of(Public, NATPerZone, OneNAT, RegionalNAT, NATInstance, Transit)),
			breaks: func(w *World) { dropDefault(w.table(w.Tables[0])) }},
		{Name: "no route to the internet at all", Check: checkid.RouteNoEgress, Or: []checkid.ID{checkid.RouteIPv6NoEgress}, reach: keepsTable, applies: both(inIPv6, of(Public, NATPerZone, OneNAT)),
			breaks: func(w *World) {
				t := w.table(w.Tables[0])
				dropDefault(t)
				t.Routes = without(t.Routes, func(r ec2types.Route) bool { return aws.ToString(r.DestinationIpv6CidrBlock) == "::/0" })
			}},
		{Name: "the subnets lost their table", Check: checkid.RouteNoEgress, reach: keepsTable, applies: both(fourOnly, of(Public, NATPerZone, OneNAT), func(w *World) bool { return !w.Shape.MainTable }),
			breaks: func(w *World) {
				// What is left is the main table, which has no route to the internet.
				w.table(w.Tables[0]).Associations = nil
			}},
		{Name: "NAT gateway deleted long ago", Check: checkid.RouteBlackhole, reach: keepsTable, applies: both(fourOnly, ownNAT()), breaks: func(w *World) {
			r := w.firstDefault()
			r.NatGatewayId, r.State = aws.String("nat-0dead"), ec2types.RouteStateBlackhole
		}},
		{Name: "internet gateway deleted", Check: checkid.RouteBlackhole, applies: both(fourOnly, of(Public)), breaks: func(w *World) {
			w.File.EC2.InternetGateways = without(w.File.EC2.InternetGateways, func(g ec2types.InternetGateway) bool { return *g.InternetGatewayId == w.gateway })
			for i := range w.File.EC2.RouteTables {
				if r := defaultRoute(&w.File.EC2.RouteTables[i]); r != nil && aws.ToString(r.GatewayId) == w.gateway {
					r.State = ec2types.RouteStateBlackhole
				}
			}
		}},
		{Name: "the transit gateway's row is a blackhole", Check: checkid.RouteBlackhole, applies: of(Transit), breaks: func(w *World) {
			for _, list := range w.File.EC2.TransitGatewayRoutes {
				for i := range list {
					if *list[i].DestinationCidrBlock == "0.0.0.0/0" {
						list[i].State = ec2types.TransitGatewayRouteStateBlackhole
						list[i].TransitGatewayAttachments = nil
					}
				}
			}
		}},
		{Name: "NAT instance gone", Check: checkid.RouteBlackhole, applies: of(NATInstance), breaks: func(w *World) {
			r := w.firstDefault()
			w.File.EC2.Instances = without(w.File.EC2.Instances, func(i ec2types.Instance) bool { return *i.InstanceId == *r.InstanceId })
			w.File.EC2.NetworkInterfaces = without(w.File.EC2.NetworkInterfaces, func(n ec2types.NetworkInterface) bool { return *n.NetworkInterfaceId == *r.NetworkInterfaceId })
			r.State, r.InstanceId, r.InstanceOwnerId = ec2types.RouteStateBlackhole, nil, nil
		}},
		{Name: "NAT gateway failed", Check: checkid.RouteNATUnusable, reach: keepsTable, applies: both(fourOnly, ownNAT()), breaks: natState(ec2types.NatGatewayStateFailed, false)},
		{Name: "NAT gateway just deleted", Check: checkid.RouteNATUnusable, reach: keepsTable, applies: both(fourOnly, ownNAT()), breaks: natState(ec2types.NatGatewayStateDeleted, true)},
		{Name: "NAT gateway pending", Check: checkid.RouteNATUnusable, reach: keepsTable, applies: both(fourOnly, ownNAT()), breaks: natState(ec2types.NatGatewayStatePending, false)},
		{Name: "private NAT gateway", Check: checkid.RouteNATUnusable, reach: keepsTable, applies: both(fourOnly, zonal()), breaks: func(w *World) {
			n := w.firstNAT()
			n.ConnectivityType = ec2types.ConnectivityTypePrivate
			n.NatGatewayAddresses = nil
		}},
		{Name: "NAT gateway's subnet without a route to the internet", Check: checkid.RouteNATNoInternet, applies: both(fourOnly, of(NATPerZone, OneNAT, Mixed, Transit)), breaks: func(w *World) {
			for i := range w.File.EC2.RouteTables {
				if r := defaultRoute(&w.File.EC2.RouteTables[i]); r != nil && r.GatewayId != nil {
					dropDefault(&w.File.EC2.RouteTables[i])
				}
			}
		}},
		{Name: "the regional NAT gateway's table without a route to the internet", Check: checkid.RouteNATNoInternet, applies: of(RegionalNAT), breaks: func(w *World) {
			dropDefault(w.table(*w.nat(w.nats[0]).RouteTableId))
		}},
		{Name: "no public addresses", Check: checkid.RouteIGWNoPublicIP, applies: both(fourOnly, of(Public)), breaks: func(w *World) {
			for _, id := range w.Subnets {
				w.subnet(id).MapPublicIpOnLaunch = aws.Bool(false)
			}
			w.young(func(i *ec2types.Instance) { i.PublicIpAddress = nil })
		}},
		{Name: "internet gateway detached", Check: checkid.RouteIGWDetached, applies: both(fourOnly, of(Public, NATPerZone, OneNAT, Mixed, RegionalNAT, NATInstance)), breaks: func(w *World) {
			find(w.File.EC2.InternetGateways, func(g *ec2types.InternetGateway) bool { return *g.InternetGatewayId == w.gateway }).Attachments = nil
			for i := range w.File.EC2.RouteTables {
				if r := defaultRoute(&w.File.EC2.RouteTables[i]); r != nil && aws.ToString(r.GatewayId) == w.gateway {
					r.State = ec2types.RouteStateBlackhole
				}
			}
		}},
		{Name: "VPC Block Public Access, both ways", Check: checkid.RouteBlockedPublicAccess, applies: of(Public, NATPerZone, OneNAT, RegionalNAT, NATInstance), breaks: func(w *World) {
			w.blockPublicAccess(ec2types.InternetGatewayBlockModeBlockBidirectional)
		}},
		{Name: "VPC Block Public Access, of what comes in", Check: checkid.RouteBlockedPublicAccess, applies: of(Public, NATInstance), breaks: func(w *World) {
			w.blockPublicAccess(ec2types.InternetGatewayBlockModeBlockIngress)
		}},
		{Name: "NAT instance checks its packets", Check: checkid.RouteNATInstanceSourceCheck, applies: of(NATInstance), breaks: func(w *World) {
			w.natInterface().SourceDestCheck = aws.Bool(true)
		}},
		{Name: "NAT instance stopped", Check: checkid.RouteNATInstanceSourceCheck, applies: of(NATInstance), breaks: func(w *World) {
			w.instance(*w.firstDefault().InstanceId).State = &ec2types.InstanceState{Name: ec2types.InstanceStateNameStopped, Code: aws.Int32(80)}
			w.firstDefault().State = ec2types.RouteStateBlackhole
		}},
		{Name: "the public endpoint admits others only", Check: checkid.RouteAPIPublicCIDR, applies: both(of(Public, NATPerZone, OneNAT, Mixed, RegionalNAT, Transit, NATInstance), func(w *World) bool { return w.Shape.Access == PublicAPI }),
			breaks: func(w *World) { w.eks().ResourcesVpcConfig.PublicAccessCidrs = []string{"198.51.100.0/24"} }},
		{Name: "no IPv6 route out", Check: checkid.RouteIPv6NoEgress, reach: keepsTable, applies: both(inIPv6, of(Public, NATPerZone, OneNAT, Mixed)), breaks: func(w *World) {
			t := w.table(w.Tables[0])
			t.Routes = without(t.Routes, func(r ec2types.Route) bool { return aws.ToString(r.DestinationIpv6CidrBlock) == "::/0" })
		}},
		{Name: "subnets without an IPv6 range", Check: checkid.RouteIPv6NoEgress, applies: inIPv6, breaks: func(w *World) {
			for _, id := range w.Subnets {
				w.subnet(id).Ipv6CidrBlockAssociationSet = nil
			}
		}},
	}
}

func (w *World) natInterface() *ec2types.NetworkInterface {
	id := *w.firstDefault().NetworkInterfaceId
	return find(w.File.EC2.NetworkInterfaces, func(n *ec2types.NetworkInterface) bool { return *n.NetworkInterfaceId == id })
}
