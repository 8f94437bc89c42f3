package world

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/reach"
	"rollcall/local/simaws/resolver"
	"rollcall/local/simaws/route53profiles"
	"rollcall/local/simaws/worldfile"
)

func TestPaths(t *testing.T) {
	closedEndpoint := func(w *World) {
		w.SecurityGroups.Put("sg-closed", &ec2types.SecurityGroup{GroupId: aws.String("sg-closed")})
		w.Endpoints.Put("vpce-1", &ec2types.VpcEndpoint{
			VpcEndpointId: aws.String("vpce-1"), VpcId: aws.String("vpc-0a1b2c3d4e5f60718"), ServiceName: aws.String("com.amazonaws.us-west-2.sts"),
			VpcEndpointType: ec2types.VpcEndpointTypeInterface, State: ec2types.StateAvailable, PrivateDnsEnabled: aws.Bool(true),
			Groups: []ec2types.SecurityGroupIdentifier{{GroupId: aws.String("sg-closed")}},
		})
	}
	cluster := func(w *World) *ekstypes.VpcConfigResponse {
		return w.State.Clusters.Get("eks-workshop").ResourcesVpcConfig
	}
	tests := map[string]struct {
		world  string
		change func(*World)
		want   reach.Path
	}{
		"a closed endpoint wins over NAT": {"healthy-nat", closedEndpoint, reach.Path{Service: "sts", Via: "vpce-1", Fault: reach.EndpointClosed}},
		"an endpoint without private DNS does not": {"healthy-nat", func(w *World) {
			closedEndpoint(w)
			w.Endpoints.Get("vpce-1").PrivateDnsEnabled = aws.Bool(false)
		}, reach.Path{}},
		"an endpoint that is not available": {"healthy-nat", func(w *World) {
			closedEndpoint(w)
			w.Endpoints.Get("vpce-1").State = ec2types.StatePending
		}, reach.Path{Service: "sts", Via: "vpce-1", Fault: reach.EndpointState}},
		"no egress": {"healthy-nat", func(w *World) {
			w.SecurityGroups.Get("sg-0e50000000000000f").IpPermissionsEgress = nil
		}, reach.Path{Service: "api", Via: "eks-workshop", Fault: reach.EgressClosed}},
		"cluster does not admit": {"healthy-nat", func(w *World) {
			w.SecurityGroups.Get("sg-0e50000000000000f").IpPermissions = nil
		}, reach.Path{Service: "api", Via: "eks-workshop", Fault: reach.APIClosed}},
		"private NAT gateway": {"healthy-nat", func(w *World) {
			w.NATGateways.Get(storyNAT).ConnectivityType = ec2types.ConnectivityTypePrivate
		}, reach.Path{Service: "ec2", Via: storyNAT, Fault: reach.NATUnusable}},
		"gateway detached": {"healthy-igw", func(w *World) {
			w.InternetGateways.Get("igw-0d40000000000000e").Attachments = nil
		}, reach.Path{Service: "ec2", Via: "igw-0d40000000000000e", Fault: reach.GatewayDetached}},
		"no access entry": {"healthy-nat", func(w *World) {
			w.AccessEntries.Remove("eks-workshop/arn:aws:iam::111122223333:role/new_nodegroup_2")
		}, reach.Path{Service: "access", Via: "arn:aws:iam::111122223333:role/new_nodegroup_2", Fault: reach.NoAccess}},
		"access entry of the wrong type": {"healthy-nat", func(w *World) {
			w.AccessEntries.Get("eks-workshop/arn:aws:iam::111122223333:role/new_nodegroup_2").Type = aws.String("STANDARD")
		}, reach.Path{Service: "access", Via: "arn:aws:iam::111122223333:role/new_nodegroup_2", Fault: reach.NoAccess}},
		"public endpoint, other addresses only": {"healthy-nat", func(w *World) {
			cluster(w).EndpointPrivateAccess, cluster(w).PublicAccessCidrs = false, []string{"192.0.2.0/24"}
		}, reach.Path{Service: "api", Via: storyNAT, Fault: reach.APIPublicCIDRs}},
		"public endpoint, the NAT's address": {"healthy-nat", func(w *World) {
			cluster(w).EndpointPrivateAccess, cluster(w).PublicAccessCidrs = false, []string{"203.0.113.25/32"}
		}, reach.Path{}},
		"S3 endpoint not in the table": {"healthy-endpoints", func(w *World) {
			w.Endpoints.Get("vpce-0a0000000000000f3").RouteTableIds = nil
		}, reach.Path{Service: "s3", Via: storyTable, Fault: reach.NoRoute}},
		"a longer prefix wins": {"healthy-nat", func(w *World) {
			t := w.RouteTables.Get(storyTable)
			t.Routes = append(t.Routes, ec2types.Route{DestinationCidrBlock: aws.String("52.0.0.0/8"), TransitGatewayId: aws.String("tgw-1"), State: ec2types.RouteStateActive})
		}, reach.Path{Service: "ec2", Via: "tgw-1", Fault: reach.UnknownTarget}},
		"a network ACL that lets out 443 and not the answers in": {"healthy-nat", func(w *World) {
			deny(w, false, reach.LinuxPort)
		}, reach.Path{Service: "api", Via: "eks-workshop", Fault: reach.ACL}},
		"a network ACL that denies another port": {"healthy-nat", func(w *World) { deny(w, true, 80) }, reach.Path{}},
		"names, with Amazon's resolver off": {"healthy-nat", func(w *World) {
			w.VPCAttributes["vpc-0a1b2c3d4e5f60718"] = worldfile.VpcAttributes{EnableDnsSupport: aws.Bool(false)}
		}, reach.Path{Service: "api", Via: "vpc-0a1b2c3d4e5f60718", Fault: reach.NoNames}},
		"names, with a resolver of one's own": {"healthy-nat", func(w *World) {
			w.VPCAttributes["vpc-0a1b2c3d4e5f60718"] = worldfile.VpcAttributes{EnableDnsSupport: aws.Bool(false)}
			w.DhcpOptions.Get("dopt-0f1e2d3c4b5a69788").DhcpConfigurations = []ec2types.DhcpConfiguration{{
				Key: aws.String("domain-name-servers"), Values: []ec2types.AttributeValue{{Value: aws.String("10.42.0.53")}},
			}, {Key: aws.String("domain-name"), Values: []ec2types.AttributeValue{{Value: aws.String("us-west-2.compute.internal")}}}}
		}, reach.Path{}},
		"a name that a Profile's DNS firewall blocks": {"healthy-nat", func(w *World) {
			garden(w, 101)
		}, reach.Path{Service: "sts", Via: storyNAT, Fault: reach.NoNames}},
		"a name that the VPC's own rule group allows before the Profile's": {"healthy-nat", func(w *World) {
			garden(w, 101)
			allowAll(w, 100)
		}, reach.Path{}},
		"a name that the VPC's own rule group allows at the Profile's priority": {"healthy-nat", func(w *World) {
			garden(w, 101)
			allowAll(w, 101)
		}, reach.Path{}},
		"a name that the VPC's own rule group allows after the Profile's": {"healthy-nat", func(w *World) {
			garden(w, 101)
			allowAll(w, 102)
		}, reach.Path{Service: "sts", Via: storyNAT, Fault: reach.NoNames}},
		"a name that a Profile's rule forwards": {"healthy-nat", func(w *World) {
			forwards(w, "sts.us-west-2.amazonaws.com.", "COMPLETE")
		}, reach.Path{Service: "sts", Via: storyNAT, Fault: reach.NoNames}},
		"a Profile's rule that is being deleted": {"healthy-nat", func(w *World) {
			forwards(w, "sts.us-west-2.amazonaws.com.", "DELETING")
		}, reach.Path{}},
		"the VPC's own rule for the domain of a Profile's": {"healthy-nat", func(w *World) {
			forwards(w, "sts.us-west-2.amazonaws.com.", "COMPLETE")
			system(w, "sts.us-west-2.amazonaws.com.")
		}, reach.Path{}},
		"the VPC's own rule for more than a Profile's": {"healthy-nat", func(w *World) {
			forwards(w, "sts.us-west-2.amazonaws.com.", "COMPLETE")
			system(w, "amazonaws.com.")
		}, reach.Path{Service: "sts", Via: storyNAT, Fault: reach.NoNames}},
		"an endpoint's policy": {"healthy-endpoints", func(w *World) {
			w.Endpoints.Get("vpce-0a0000000000000e3").PolicyDocument = aws.String(`{"Statement": [{"Effect": "Allow", "Action": ["ecr:Put*"], "Resource": "*"}]}`)
		}, reach.Path{Service: "ecr.dkr", Via: "vpce-0a0000000000000e3", Fault: reach.Policy}},
		"an IPv6 cluster in a subnet without IPv6": {"healthy-nat", func(w *World) {
			w.State.Clusters.Get("eks-workshop").KubernetesNetworkConfig.IpFamily = ekstypes.IpFamilyIpv6
		}, reach.Path{Service: "api", Via: storySubnet, Fault: reach.NoIPv6}},
		"peering is no way to the internet": {"healthy-nat", func(w *World) {
			r := &w.RouteTables.Get(storyTable).Routes[1]
			r.NatGatewayId, r.VpcPeeringConnectionId = nil, aws.String("pcx-1")
		}, reach.Path{Service: "ec2", Via: storyTable, Fault: reach.NoRoute}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, tt.world)
			tt.change(w)
			w.Advance(w.Start().Add(2 * time.Minute))
			id := members(t, w)[0]
			if got, _ := reach.Broken(w.Paths(id)); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			want := ""
			if tt.want == (reach.Path{}) {
				want = "True"
			}
			if got := readiness(t, w, id); got != want {
				t.Errorf("Ready: got %q, want %q", got, want)
			}
		})
	}
}

// profile brings a resource of Route 53 Resolver into the VPC by a Profile.
func profile(w *World, resource, properties, status string) {
	w.State.File.Route53Profiles = worldfile.ProfilesFile{
		ProfileAssociations: []route53profiles.ProfileAssociation{{ProfileId: "rp-1", ResourceId: "vpc-0a1b2c3d4e5f60718", Status: "COMPLETE"}},
		ProfileResourceAssociations: map[string][]route53profiles.ProfileResourceAssociation{"rp-1": {{
			ResourceArn: "arn:aws:route53resolver:us-west-2:444455556666:" + resource, ResourceProperties: properties, Status: status,
		}}},
	}
}

// garden has a Profile bring a DNS firewall that blocks STS.
func garden(w *World, priority int) {
	profile(w, "firewall-rule-group/rslvr-frg-1", fmt.Sprintf(`{"priority":%d}`, priority), "COMPLETE")
	f := &w.State.File.Route53Resolver
	f.FirewallRules = map[string][]resolver.FirewallRule{"rslvr-frg-1": {{FirewallDomainListId: "rslvr-fdl-1", Action: "BLOCK"}}}
	f.FirewallDomains = map[string][]string{"rslvr-fdl-1": {"sts.us-west-2.amazonaws.com."}}
}

// allowAll associates a rule group with the VPC that allows every name.
func allowAll(w *World, priority int) {
	f := &w.State.File.Route53Resolver
	f.FirewallRuleGroupAssociations = []resolver.FirewallRuleGroupAssociation{{FirewallRuleGroupId: "rslvr-frg-2", VpcId: "vpc-0a1b2c3d4e5f60718", Priority: priority}}
	f.FirewallRules["rslvr-frg-2"] = []resolver.FirewallRule{{FirewallDomainListId: "rslvr-fdl-2", Action: "ALLOW"}}
	f.FirewallDomains["rslvr-fdl-2"] = []string{"*."}
}

// forwards has a Profile bring a rule that forwards a domain.
func forwards(w *World, domain, status string) {
	profile(w, "resolver-rule/rslvr-rr-1", "", status)
	f := &w.State.File.Route53Resolver
	f.ResolverRules = append(f.ResolverRules, resolver.ResolverRule{Id: "rslvr-rr-1", DomainName: domain, RuleType: "FORWARD"})
}

// system associates a rule with the VPC by which its resolver answers for a domain.
func system(w *World, domain string) {
	f := &w.State.File.Route53Resolver
	f.ResolverRules = append(f.ResolverRules, resolver.ResolverRule{Id: "rslvr-rr-2", DomainName: domain, RuleType: "SYSTEM"})
	f.ResolverRuleAssociations = append(f.ResolverRuleAssociations, resolver.ResolverRuleAssociation{ResolverRuleId: "rslvr-rr-2", VPCId: "vpc-0a1b2c3d4e5f60718", Status: "COMPLETE"})
}

// deny puts a rule for one port before all others of the default network ACL.
func deny(w *World, egress bool, port int32) {
	acl := w.NetworkACLs.Get("acl-0f60000000000000a")
	acl.Entries = append(acl.Entries, ec2types.NetworkAclEntry{
		RuleNumber: aws.Int32(1), Egress: aws.Bool(egress), Protocol: aws.String("6"), RuleAction: ec2types.RuleActionDeny,
		CidrBlock: aws.String("0.0.0.0/0"), PortRange: &ec2types.PortRange{From: aws.Int32(port), To: aws.Int32(port)},
	})
}

// TestFarPaths follows the corpus' worlds in which the way leads through other
// VPCs and instances.
func TestFarPaths(t *testing.T) {
	const node, edge = "i-0a700000000000001", "i-0b900000000000001"
	tests := map[string]struct {
		instance string
		want     reach.Path
	}{
		"base-transit":                       {node, reach.Path{}},
		"route-no-egress-transit":            {node, reach.Path{Service: "ec2", Via: "tgw-rtb-0a500000000000001", Fault: reach.NoRoute}},
		"route-no-egress-transit-back":       {node, reach.Path{Service: "ec2", Via: "nat-0e900000000000001", Fault: reach.NoRoute}},
		"route-nat-unusable-transit":         {node, reach.Path{Service: "ec2", Via: "nat-0e900000000000001", Fault: reach.NATUnusable}},
		"base-nat-instance":                  {node, reach.Path{}},
		"route-nat-instance-source-check":    {node, reach.Path{Service: "ec2", Via: "eni-0b800000000000001", Fault: reach.NATInstance}},
		"base-other-vpc":                     {edge, reach.Path{}},
		"route-api-private-unreachable":      {edge, reach.Path{Service: "api", Via: "eks-workshop", Fault: reach.NoRoute}},
		"route-api-private-unreachable-back": {edge, reach.Path{Service: "api", Via: "eks-workshop", Fault: reach.NoRoute}},
		"base-ipv6":                          {node, reach.Path{}},
		"nacl-return-nat-closed":             {node, reach.Path{Service: "ec2", Via: storyNAT, Fault: reach.ACL}},
		"endpoint-policy-denies-s3":          {node, reach.Path{Service: "s3", Via: "vpce-0a0000000000000f3", Fault: reach.Policy}},
		"endpoint-policy-denies-s3-healthy":  {node, reach.Path{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, "corpus/"+name)
			if len(w.Paths(tt.instance)) == 0 {
				t.Fatal("no paths")
			}
			if got, _ := reach.Broken(w.Paths(tt.instance)); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestRetryJoinsAfterTheFix(t *testing.T) {
	w, _ := open(t, "route")
	w.File.Nodes.Retry = true
	scale(t, w, 1)
	w.Advance(w.Start().Add(3 * time.Minute))
	id := members(t, w)[0]
	if got := readiness(t, w, id); got != "" {
		t.Fatalf("Ready before the fix: %q", got)
	}
	if _, err := w.Call("ec2:CreateRoute", []byte(`{"routeTableId": "`+storyTable+`", "destinationCidrBlock": "0.0.0.0/0", "natGatewayId": "`+storyNAT+`"}`)); err != nil {
		t.Fatal(err)
	}
	w.Advance(w.Now().Add(2 * time.Minute))
	if got := readiness(t, w, id); got != "True" {
		t.Errorf("Ready after the fix: got %q, want True", got)
	}
}
