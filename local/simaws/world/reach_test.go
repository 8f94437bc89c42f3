package world

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/worldfile"
)

func TestPaths(t *testing.T) {
	closedEndpoint := func(w *World) {
		w.securityGroups.Put("sg-closed", &ec2types.SecurityGroup{GroupId: aws.String("sg-closed")})
		w.endpoints.Put("vpce-1", &ec2types.VpcEndpoint{
			VpcEndpointId: aws.String("vpce-1"), VpcId: aws.String("vpc-0a1b2c3d4e5f60718"), ServiceName: aws.String("com.amazonaws.us-west-2.sts"),
			VpcEndpointType: ec2types.VpcEndpointTypeInterface, State: ec2types.StateAvailable, PrivateDnsEnabled: aws.Bool(true),
			Groups: []ec2types.SecurityGroupIdentifier{{GroupId: aws.String("sg-closed")}},
		})
	}
	cluster := func(w *World) *ekstypes.VpcConfigResponse { return w.clusters.Get("eks-workshop").ResourcesVpcConfig }
	tests := map[string]struct {
		world  string
		change func(*World)
		want   Path
	}{
		"a closed endpoint wins over NAT": {"healthy-nat", closedEndpoint, Path{"sts", "vpce-1", PathEndpointClosed}},
		"an endpoint without private DNS does not": {"healthy-nat", func(w *World) {
			closedEndpoint(w)
			w.endpoints.Get("vpce-1").PrivateDnsEnabled = aws.Bool(false)
		}, Path{}},
		"an endpoint that is not available": {"healthy-nat", func(w *World) {
			closedEndpoint(w)
			w.endpoints.Get("vpce-1").State = ec2types.StatePending
		}, Path{"sts", "vpce-1", PathEndpointState}},
		"no egress": {"healthy-nat", func(w *World) {
			w.securityGroups.Get("sg-0e50000000000000f").IpPermissionsEgress = nil
		}, Path{"api", "eks-workshop", PathEgressClosed}},
		"cluster does not admit": {"healthy-nat", func(w *World) {
			w.securityGroups.Get("sg-0e50000000000000f").IpPermissions = nil
		}, Path{"api", "eks-workshop", PathAPIClosed}},
		"private NAT gateway": {"healthy-nat", func(w *World) {
			w.natGateways.Get(storyNAT).ConnectivityType = ec2types.ConnectivityTypePrivate
		}, Path{"ec2", storyNAT, PathNATUnusable}},
		"gateway detached": {"healthy-igw", func(w *World) {
			w.internetGateways.Get("igw-0d40000000000000e").Attachments = nil
		}, Path{"ec2", "igw-0d40000000000000e", PathGatewayDetached}},
		"no access entry": {"healthy-nat", func(w *World) {
			w.accessEntries.Remove("eks-workshop/arn:aws:iam::111122223333:role/new_nodegroup_2")
		}, Path{"access", "arn:aws:iam::111122223333:role/new_nodegroup_2", PathNoAccess}},
		"access entry of the wrong type": {"healthy-nat", func(w *World) {
			w.accessEntries.Get("eks-workshop/arn:aws:iam::111122223333:role/new_nodegroup_2").Type = aws.String("STANDARD")
		}, Path{"access", "arn:aws:iam::111122223333:role/new_nodegroup_2", PathNoAccess}},
		"public endpoint, other addresses only": {"healthy-nat", func(w *World) {
			cluster(w).EndpointPrivateAccess, cluster(w).PublicAccessCidrs = false, []string{"192.0.2.0/24"}
		}, Path{"api", storyNAT, PathAPIPublicCIDRs}},
		"public endpoint, the NAT's address": {"healthy-nat", func(w *World) {
			cluster(w).EndpointPrivateAccess, cluster(w).PublicAccessCidrs = false, []string{"203.0.113.25/32"}
		}, Path{}},
		"S3 endpoint not in the table": {"healthy-endpoints", func(w *World) {
			w.endpoints.Get("vpce-0a0000000000000f3").RouteTableIds = nil
		}, Path{"s3", storyTable, PathNoRoute}},
		"a longer prefix wins": {"healthy-nat", func(w *World) {
			t := w.routeTables.Get(storyTable)
			t.Routes = append(t.Routes, ec2types.Route{DestinationCidrBlock: aws.String("52.0.0.0/8"), TransitGatewayId: aws.String("tgw-1"), State: ec2types.RouteStateActive})
		}, Path{"ec2", "tgw-1", PathUnknownTarget}},
		"a network ACL that lets out 443 and not the answers in": {"healthy-nat", func(w *World) {
			deny(w, false, linuxPort)
		}, Path{"api", "eks-workshop", PathACL}},
		"a network ACL that denies another port": {"healthy-nat", func(w *World) { deny(w, true, 80) }, Path{}},
		"names, with Amazon's resolver off": {"healthy-nat", func(w *World) {
			w.vpcAttributes["vpc-0a1b2c3d4e5f60718"] = worldfile.VpcAttributes{EnableDnsSupport: aws.Bool(false)}
		}, Path{"api", "vpc-0a1b2c3d4e5f60718", PathNoNames}},
		"names, with a resolver of one's own": {"healthy-nat", func(w *World) {
			w.vpcAttributes["vpc-0a1b2c3d4e5f60718"] = worldfile.VpcAttributes{EnableDnsSupport: aws.Bool(false)}
			w.dhcpOptions.Get("dopt-0f1e2d3c4b5a69788").DhcpConfigurations = []ec2types.DhcpConfiguration{{
				Key: aws.String("domain-name-servers"), Values: []ec2types.AttributeValue{{Value: aws.String("10.42.0.53")}},
			}}
		}, Path{}},
		"an endpoint's policy": {"healthy-endpoints", func(w *World) {
			w.endpoints.Get("vpce-0a0000000000000e3").PolicyDocument = aws.String(`{"Statement": [{"Effect": "Allow", "Action": ["ecr:Put*"], "Resource": "*"}]}`)
		}, Path{"ecr.dkr", "vpce-0a0000000000000e3", PathPolicy}},
		"an IPv6 cluster in a subnet without IPv6": {"healthy-nat", func(w *World) {
			w.clusters.Get("eks-workshop").KubernetesNetworkConfig.IpFamily = ekstypes.IpFamilyIpv6
		}, Path{"api", storySubnet, PathNoIPv6}},
		"peering is no way to the internet": {"healthy-nat", func(w *World) {
			r := &w.routeTables.Get(storyTable).Routes[1]
			r.NatGatewayId, r.VpcPeeringConnectionId = nil, aws.String("pcx-1")
		}, Path{"ec2", storyTable, PathNoRoute}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, tt.world)
			tt.change(w)
			w.Advance(w.Start().Add(2 * time.Minute))
			id := members(t, w)[0]
			if got, _ := broken(w.Paths(id)); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			want := ""
			if tt.want == (Path{}) {
				want = "True"
			}
			if got := readiness(t, w, id); got != want {
				t.Errorf("Ready: got %q, want %q", got, want)
			}
		})
	}
}

// deny puts a rule for one port before all others of the default network ACL.
func deny(w *World, egress bool, port int32) {
	acl := w.networkACLs.Get("acl-0f60000000000000a")
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
		want     Path
	}{
		"base-transit":                       {node, Path{}},
		"route-no-egress-transit":            {node, Path{"ec2", "tgw-rtb-0a500000000000001", PathNoRoute}},
		"route-no-egress-transit-back":       {node, Path{"ec2", "nat-0e900000000000001", PathNoRoute}},
		"route-nat-unusable-transit":         {node, Path{"ec2", "nat-0e900000000000001", PathNATUnusable}},
		"base-nat-instance":                  {node, Path{}},
		"route-nat-instance-source-check":    {node, Path{"ec2", "eni-0b800000000000001", PathNATInstance}},
		"base-other-vpc":                     {edge, Path{}},
		"route-api-private-unreachable":      {edge, Path{"api", "eks-workshop", PathNoRoute}},
		"route-api-private-unreachable-back": {edge, Path{"api", "eks-workshop", PathNoRoute}},
		"base-ipv6":                          {node, Path{}},
		"nacl-return-nat-closed":             {node, Path{"ec2", storyNAT, PathACL}},
		"endpoint-policy-denies-s3":          {node, Path{"s3", "vpce-0a0000000000000f3", PathPolicy}},
		"endpoint-policy-denies-s3-healthy":  {node, Path{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, "corpus/"+name)
			if len(w.Paths(tt.instance)) == 0 {
				t.Fatal("no paths")
			}
			if got, _ := broken(w.Paths(tt.instance)); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestRetryJoinsAfterTheFix(t *testing.T) {
	w, _ := open(t, "route")
	w.file.Nodes.Retry = true
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
