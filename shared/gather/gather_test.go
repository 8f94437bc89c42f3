package gather

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
	"rollcall/shared/checks"
	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
)

// wholeVPC answers all network calls with one of each, in two pages where the call
// has pages.
func wholeVPC(s *wire.Server) {
	wire.Handle(s, "eks", "DescribeCluster", answer(func(in *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
		return &eks.DescribeClusterOutput{Cluster: &ekstypes.Cluster{
			Name: in.Name, Status: ekstypes.ClusterStatusActive, Version: aws.String("1.34"),
			Endpoint:             aws.String("https://127.0.0.1:1"),
			CertificateAuthority: &ekstypes.Certificate{Data: aws.String("Y2E=")},
			ResourcesVpcConfig:   &ekstypes.VpcConfigResponse{VpcId: aws.String("vpc-1"), EndpointPublicAccess: true, PublicAccessCidrs: []string{"0.0.0.0/0"}},
		}}, nil
	}))
	wire.Handle(s, "ec2", "DescribeSubnets", answer(func(in *ec2.DescribeSubnetsInput) (*ec2.DescribeSubnetsOutput, error) {
		if in.NextToken == nil {
			return &ec2.DescribeSubnetsOutput{NextToken: aws.String("2"), Subnets: []types.Subnet{{SubnetId: aws.String("subnet-b"), VpcId: aws.String("vpc-1"), AvailabilityZone: aws.String("us-west-2b"), CidrBlock: aws.String("10.42.1.0/24"), AvailableIpAddressCount: aws.Int32(250), MapPublicIpOnLaunch: aws.Bool(true)}}}, nil
		}
		return &ec2.DescribeSubnetsOutput{Subnets: []types.Subnet{{SubnetId: aws.String("subnet-a"), VpcId: aws.String("vpc-1"), AvailabilityZone: aws.String("us-west-2a"), CidrBlock: aws.String("10.42.0.0/24"), Tags: []types.Tag{{Key: aws.String("Name"), Value: aws.String("public a")}}}}}, nil
	}))
	wire.Handle(s, "ec2", "DescribeVpcs", answer(func(*ec2.DescribeVpcsInput) (*ec2.DescribeVpcsOutput, error) {
		return &ec2.DescribeVpcsOutput{Vpcs: []types.Vpc{{VpcId: aws.String("vpc-1"), CidrBlock: aws.String("10.42.0.0/16"), CidrBlockAssociationSet: []types.VpcCidrBlockAssociation{
			{CidrBlock: aws.String("10.42.0.0/16"), CidrBlockState: &types.VpcCidrBlockState{State: types.VpcCidrBlockStateCodeAssociated}},
			{CidrBlock: aws.String("100.64.0.0/16"), CidrBlockState: &types.VpcCidrBlockState{State: types.VpcCidrBlockStateCodeDisassociated}},
		}}}}, nil
	}))
	wire.Handle(s, "ec2", "DescribeRouteTables", answer(func(*ec2.DescribeRouteTablesInput) (*ec2.DescribeRouteTablesOutput, error) {
		return &ec2.DescribeRouteTablesOutput{RouteTables: []types.RouteTable{{
			RouteTableId: aws.String("rtb-1"), VpcId: aws.String("vpc-1"),
			Associations: []types.RouteTableAssociation{
				{Main: aws.Bool(true), AssociationState: &types.RouteTableAssociationState{State: types.RouteTableAssociationStateCodeAssociated}},
				{SubnetId: aws.String("subnet-b"), AssociationState: &types.RouteTableAssociationState{State: types.RouteTableAssociationStateCodeAssociated}},
				{SubnetId: aws.String("subnet-c"), AssociationState: &types.RouteTableAssociationState{State: types.RouteTableAssociationStateCodeDisassociating}},
			},
			Routes: []types.Route{
				{DestinationCidrBlock: aws.String("10.42.0.0/16"), GatewayId: aws.String("local"), State: types.RouteStateActive},
				{DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String("nat-1"), State: types.RouteStateBlackhole},
				{DestinationPrefixListId: aws.String("pl-1"), GatewayId: aws.String("vpce-1"), State: types.RouteStateActive},
				{DestinationIpv6CidrBlock: aws.String("::/0"), EgressOnlyInternetGatewayId: aws.String("eigw-1"), State: types.RouteStateActive},
				{DestinationCidrBlock: aws.String("192.168.0.0/16"), GatewayId: aws.String("zzz-1"), State: types.RouteStateActive},
			},
		}}}, nil
	}))
	wire.Handle(s, "ec2", "DescribeNatGateways", answer(func(*ec2.DescribeNatGatewaysInput) (*ec2.DescribeNatGatewaysOutput, error) {
		return &ec2.DescribeNatGatewaysOutput{NatGateways: []types.NatGateway{{
			NatGatewayId: aws.String("nat-1"), VpcId: aws.String("vpc-1"), SubnetId: aws.String("subnet-a"), State: types.NatGatewayStateAvailable,
			NatGatewayAddresses: []types.NatGatewayAddress{{PublicIp: aws.String("203.0.113.7")}},
		}}}, nil
	}))
	wire.Handle(s, "ec2", "DescribeInternetGateways", answer(func(*ec2.DescribeInternetGatewaysInput) (*ec2.DescribeInternetGatewaysOutput, error) {
		return &ec2.DescribeInternetGatewaysOutput{InternetGateways: []types.InternetGateway{{InternetGatewayId: aws.String("igw-1"), Attachments: []types.InternetGatewayAttachment{{State: "available", VpcId: aws.String("vpc-1")}, {State: "detaching", VpcId: aws.String("vpc-2")}}}}}, nil
	}))
	wire.Handle(s, "ec2", "DescribeEgressOnlyInternetGateways", answer(func(*ec2.DescribeEgressOnlyInternetGatewaysInput) (*ec2.DescribeEgressOnlyInternetGatewaysOutput, error) {
		return &ec2.DescribeEgressOnlyInternetGatewaysOutput{EgressOnlyInternetGateways: []types.EgressOnlyInternetGateway{{EgressOnlyInternetGatewayId: aws.String("eigw-1"), Attachments: []types.InternetGatewayAttachment{{State: types.AttachmentStatusAttached, VpcId: aws.String("vpc-1")}}}}}, nil
	}))
	wire.Handle(s, "ec2", "DescribeVpcEndpoints", answer(func(*ec2.DescribeVpcEndpointsInput) (*ec2.DescribeVpcEndpointsOutput, error) {
		return &ec2.DescribeVpcEndpointsOutput{VpcEndpoints: []types.VpcEndpoint{{VpcEndpointId: aws.String("vpce-1"), VpcId: aws.String("vpc-1"), ServiceName: aws.String("com.amazonaws.us-west-2.s3"), VpcEndpointType: types.VpcEndpointTypeGateway, State: types.StateAvailable, RouteTableIds: []string{"rtb-1"}}}}, nil
	}))
	wire.Handle(s, "ec2", "DescribeInstanceTypes", answer(func(in *ec2.DescribeInstanceTypesInput) (*ec2.DescribeInstanceTypesOutput, error) {
		var out ec2.DescribeInstanceTypesOutput
		for _, name := range in.InstanceTypes {
			out.InstanceTypes = append(out.InstanceTypes, types.InstanceTypeInfo{InstanceType: name, NetworkInfo: &types.NetworkInfo{MaximumNetworkInterfaces: aws.Int32(3), Ipv4AddressesPerInterface: aws.Int32(10)}})
		}
		return &out, nil
	}))
}

var network = []snapshot.Source{snapshot.Subnets, snapshot.VPCs, snapshot.RouteTables, snapshot.NATGateways, snapshot.InternetGateways, snapshot.EgressOnly, snapshot.Endpoints, snapshot.InstanceTypes}

func query(sources ...snapshot.Source) Query {
	return Query{Account: "111122223333", Region: "us-west-2", Time: time.Unix(0, 0), Cluster: "prod", Sources: sources,
		Instances: []snapshot.Instance{{ID: "i-1", Type: "m5.large"}, {ID: "i-2", Type: "m5.large"}}}
}

func TestReadNetwork(t *testing.T) {
	r, _ := reader(t, wholeVPC)
	s, err := r.Read(context.Background(), query(network...))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Failures) > 0 {
		t.Fatalf("failures %v", s.Failures)
	}
	prefix := netip.MustParsePrefix
	want := &snapshot.Snapshot{
		Subnets: []snapshot.Subnet{
			{ID: "subnet-a", VPC: "vpc-1", Zone: "us-west-2a", CIDR: prefix("10.42.0.0/24"), Name: "public a", Tags: map[string]string{"Name": "public a"}},
			{ID: "subnet-b", VPC: "vpc-1", Zone: "us-west-2b", CIDR: prefix("10.42.1.0/24"), Free: 250, AssignPublicIP: true},
		},
		VPCs: []snapshot.VPC{{ID: "vpc-1", CIDRs: []netip.Prefix{prefix("10.42.0.0/16")}}},
		RouteTables: []snapshot.RouteTable{{ID: "rtb-1", VPC: "vpc-1", Main: true, Subnets: []string{"subnet-b"}, Routes: []snapshot.Route{
			{Destination: prefix("10.42.0.0/16"), Target: snapshot.Target{Kind: snapshot.ToLocal, ID: "local"}, State: "active"},
			{Destination: prefix("0.0.0.0/0"), Target: snapshot.Target{Kind: snapshot.ToNATGateway, ID: "nat-1"}, State: "blackhole"},
			{PrefixList: "pl-1", Target: snapshot.Target{Kind: snapshot.ToEndpoint, ID: "vpce-1"}, State: "active"},
			{Destination: prefix("::/0"), Target: snapshot.Target{Kind: snapshot.ToEgressOnly, ID: "eigw-1"}, State: "active"},
			{Destination: prefix("192.168.0.0/16"), Target: snapshot.Target{Kind: snapshot.ToUnknown, ID: "zzz-1"}, State: "active"},
		}}},
		NATGateways:      []snapshot.NATGateway{{ID: "nat-1", VPC: "vpc-1", Subnet: "subnet-a", State: "available", Public: true, Addresses: []snapshot.NATAddress{{IP: netip.MustParseAddr("203.0.113.7")}}, Zone: "us-west-2a"}},
		InternetGateways: []snapshot.InternetGateway{{ID: "igw-1", Attached: []string{"vpc-1"}}},
		EgressOnly:       []snapshot.EgressOnlyGateway{{ID: "eigw-1", Attached: []string{"vpc-1"}}},
		Endpoints:        []snapshot.Endpoint{{ID: "vpce-1", VPC: "vpc-1", Service: "com.amazonaws.us-west-2.s3", Kind: "Gateway", State: "available", RouteTables: []string{"rtb-1"}}},
		InstanceTypes:    []snapshot.InstanceType{{Name: "m5.large", Interfaces: 3, IPv4PerInterface: 10}},
	}
	got := &snapshot.Snapshot{Subnets: s.Subnets, VPCs: s.VPCs, RouteTables: s.RouteTables, NATGateways: s.NATGateways, InternetGateways: s.InternetGateways, EgressOnly: s.EgressOnly, Endpoints: s.Endpoints, InstanceTypes: s.InstanceTypes}
	if diff := cmp.Diff(want, got, gathertest.Addresses); diff != "" {
		t.Errorf("snapshot (-want +got):\n%s", diff)
	}
}

// TestFailedSourceMakesUnknown is the law: what could not be read is named,
// the rest is read all the same, and no check that needed it passes.
func TestFailedSourceMakesUnknown(t *testing.T) {
	for _, test := range []struct {
		code   string
		status int
		reason snapshot.Reason
	}{
		{"UnauthorizedOperation", 403, snapshot.Denied},
		{"RequestLimitExceeded", 503, snapshot.Throttled},
		{"InternalError", 500, snapshot.Broken},
		{"Unavailable", 503, snapshot.Unreachable},
	} {
		for _, broken := range network {
			call := one(broken).Call()
			r, _ := faulty(t, wholeVPC, wire.FaultFunc(func(_ context.Context, c *wire.Call) error {
				if c.Action() != call {
					return nil
				}
				return &wire.Error{Code: test.code, Message: "no. Encoded authorization failure message: abc", Status: test.status}
			}))
			s, err := r.Read(context.Background(), query(network...))
			if err != nil {
				t.Fatal(err)
			}
			want := map[snapshot.Source]snapshot.Failure{broken: {Source: broken, Reason: test.reason, Call: call, Code: test.code, Message: "no."}}
			if diff := cmp.Diff(want, s.Failures); diff != "" {
				t.Errorf("%s %s: failures (-want +got):\n%s", call, test.code, diff)
			}
			for _, other := range network {
				if other != broken && !s.Read[other] {
					t.Errorf("%s %s: %s was not read either", call, test.code, other)
				}
			}
			for _, result := range checks.Eval(checks.All(), s) {
				i := slices.IndexFunc(checks.All(), func(c checks.Check) bool { return c.ID == result.Check })
				if slices.Contains(checks.All()[i].Needs, broken) && result.Outcome != checks.Unknown {
					t.Errorf("%s %s: %s is %s", call, test.code, result.Check, result.Outcome)
				}
			}
		}
	}
}

// TestSilentSourceIsNamed holds that a service that does not answer takes
// neither the others nor the time to say so.
func TestSilentSourceIsNamed(t *testing.T) {
	r, _ := faulty(t, wholeVPC, wire.FaultFunc(func(ctx context.Context, c *wire.Call) error {
		if c.Action() == "ec2:DescribeVpcEndpoints" {
			<-ctx.Done()
		}
		return nil
	}))
	r.patience = 200 * time.Millisecond
	s, err := r.Read(context.Background(), query(snapshot.Endpoints, snapshot.RouteTables))
	if err != nil {
		t.Fatal(err)
	}
	f := s.Failures[snapshot.Endpoints]
	if f.Reason != snapshot.TimedOut || f.Call != "ec2:DescribeVpcEndpoints" || !s.Read[snapshot.RouteTables] {
		t.Errorf("failures %+v, read %v; want that the endpoints alone timed out", s.Failures, s.Read)
	}
}

func TestReadUnknownCluster(t *testing.T) {
	r, _ := reader(t, func(s *wire.Server) {
		wire.Handle(s, "eks", "DescribeCluster", answer(func(*eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
			return nil, &wire.Error{Code: "ResourceNotFoundException", Message: "No cluster found for name: prod.", Status: 404}
		}))
	})
	if _, err := r.Read(context.Background(), query()); !errors.Is(err, ErrNoCluster) {
		t.Errorf("error %v, want ErrNoCluster", err)
	}
}

// A reminder names no account: the look takes it from the cluster's own ARN,
// and never another's in place of the one that was named.
func TestReadKnowsTheAccount(t *testing.T) {
	named := func(arn string) func(*wire.Server) {
		return func(s *wire.Server) {
			wire.Handle(s, "eks", "DescribeCluster", answer(func(*eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
				return &eks.DescribeClusterOutput{Cluster: &ekstypes.Cluster{Name: aws.String("prod"), Arn: aws.String(arn)}}, nil
			}))
		}
	}
	const arn = "arn:aws:eks:us-west-2:444455556666:cluster/prod"
	for name, test := range map[string]struct{ asked, arn, want string }{
		"not named":        {"", arn, "444455556666"},
		"named":            {"111122223333", arn, "111122223333"},
		"not known at all": {"", "", ""},
		"no ARN":           {"", "prod", ""},
	} {
		r, _ := reader(t, named(test.arn))
		q := query()
		q.Account = test.asked
		s, err := r.Read(context.Background(), q)
		if err != nil || s.Account != test.want {
			t.Errorf("%s: account %q, %v; want %q", name, s.Account, err, test.want)
		}
	}
}

// TestReadWithoutTheCluster holds that a denied DescribeCluster does not blind
// the network: the instances tell their VPC.
func TestReadWithoutTheCluster(t *testing.T) {
	r, _ := faulty(t, wholeVPC, wire.FaultFunc(func(_ context.Context, c *wire.Call) error {
		if c.Action() == "eks:DescribeCluster" {
			return wire.Denied
		}
		return nil
	}))
	q := query(snapshot.RouteTables, snapshot.Nodes)
	q.VPC = "vpc-1"
	s, err := r.Read(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Read[snapshot.RouteTables] {
		t.Error("the route tables were not read")
	}
	if f := s.Failures[snapshot.Clusters]; f.Reason != snapshot.Denied || f.Call != "eks:DescribeCluster" {
		t.Errorf("cluster failure %+v", f)
	}
	if _, failed := s.Failures[snapshot.Nodes]; !failed || s.Read[snapshot.Nodes] {
		t.Error("without the cluster's endpoint the nodes count as read")
	}
}

func TestUnreachableKubernetesIsNamed(t *testing.T) {
	r, _ := reader(t, wholeVPC)
	s, err := r.Read(context.Background(), query(snapshot.Nodes))
	if err != nil {
		t.Fatal(err)
	}
	f := s.Failures[snapshot.Nodes]
	if f.Reason == "" || s.Read[snapshot.Nodes] {
		t.Errorf("nodes read %v, failure %+v", s.Read[snapshot.Nodes], f)
	}
}
