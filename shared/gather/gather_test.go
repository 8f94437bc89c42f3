package gather

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/askonce"
	"rollcall/shared/backoff"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/cloudwatchlogs"
	"rollcall/shared/config"
	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/stage/platform/wire"
	"rollcall/tools/expect"
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
	expect.OK(t, err)
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
	expect.Same(t, "snapshot", got, want, gathertest.Addresses)
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
			expect.OK(t, err)
			want := map[snapshot.Source]snapshot.Failure{broken: {Source: broken, Reason: test.reason, Call: call, Code: test.code, Message: "no."}}
			expect.Same(t, fmt.Sprintf("%s %s: failures", call, test.code), s.Failures, want)
			for _, other := range network {
				if other != broken && !s.Read[other] {
					t.Errorf("%s %s: %s was not read either", call, test.code, other)
				}
			}
			for _, result := range check.Eval(checks.All(), s) {
				i := slices.IndexFunc(checks.All(), func(c check.Check) bool { return c.ID == result.Check })
				if slices.Contains(checks.All()[i].Needs, broken) && result.Outcome != finding.Unknown {
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
	r.timeout = 200 * time.Millisecond
	s, err := r.Read(context.Background(), query(snapshot.Endpoints, snapshot.RouteTables))
	expect.OK(t, err)
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
	expect.OK(t, err)
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
	expect.OK(t, err)
	f := s.Failures[snapshot.Nodes]
	if f.Reason == "" || s.Read[snapshot.Nodes] {
		t.Errorf("nodes read %v, failure %+v", s.Read[snapshot.Nodes], f)
	}
}

// logs are the deliveries and log groups of an account. Each event is a page of its own.
type logs struct {
	sources      []cloudwatchlogs.DeliverySource
	deliveries   []cloudwatchlogs.Delivery
	destinations map[string]string
	events       map[string][]string
	refused      map[string]string // codes, by operation
	asked        []string
	filter       cloudwatchlogs.Filter
	endless      bool
}

func (l *logs) call(operation string) error {
	l.asked = append(l.asked, operation)
	if code := l.refused[operation]; code != "" {
		return &smithy.OperationError{ServiceID: "CloudWatch Logs", OperationName: operation, Err: &smithy.GenericAPIError{Code: code, Message: "no"}}
	}
	return nil
}

func (l *logs) DescribeDeliverySources(_ context.Context, token string) ([]cloudwatchlogs.DeliverySource, string, error) {
	if err := l.call("DescribeDeliverySources"); err != nil {
		return nil, "", err
	}
	n := len(token)
	if l.endless || n+1 < len(l.sources) {
		return l.sources[min(n, len(l.sources)-1):][:1], token + "x", nil
	}
	return l.sources[min(n, len(l.sources)):], "", nil
}

func (l *logs) DescribeDeliveries(context.Context, string) ([]cloudwatchlogs.Delivery, string, error) {
	return l.deliveries, "", l.call("DescribeDeliveries")
}

func (l *logs) DescribeDeliveryDestinations(context.Context, string) ([]cloudwatchlogs.DeliveryDestination, string, error) {
	var list []cloudwatchlogs.DeliveryDestination
	for arn, to := range l.destinations {
		d := cloudwatchlogs.DeliveryDestination{ARN: arn}
		d.Configuration.Resource = to
		list = append(list, d)
	}
	return list, "", l.call("DescribeDeliveryDestinations")
}

func (l *logs) FilterLogEvents(_ context.Context, f cloudwatchlogs.Filter) ([]cloudwatchlogs.Event, string, error) {
	l.filter = f
	if err := l.call("FilterLogEvents"); err != nil {
		return nil, "", err
	}
	list, n := l.events[f.Group], len(f.Next)
	if n >= len(list) {
		return nil, "", nil
	}
	return []cloudwatchlogs.Event{{At: f.Start.Add(time.Duration(n) * time.Second), Message: list[n]}}, f.Next + "x", nil
}

const autoCluster = "arn:aws:eks:us-west-2:111122223333:cluster/prod"

// delivered is an account whose cluster has two types of logs delivered.
func delivered(change func(*logs)) *logs {
	const group = "arn:aws:logs:us-west-2:111122223333:log-group:/aws/vendedlogs/eks/prod:*"
	l := &logs{
		sources: []cloudwatchlogs.DeliverySource{
			{Name: "other", Resources: []string{"arn:aws:eks:us-west-2:111122223333:cluster/dev"}, LogType: "AUTO_MODE_COMPUTE_LOGS"},
			{Name: "compute", Resources: []string{autoCluster}, LogType: "AUTO_MODE_COMPUTE_LOGS"},
			{Name: "gateway", Resources: []string{autoCluster}, LogType: "APPLICATION_LOGS"},
			{Name: "ipam", Resources: []string{autoCluster}, LogType: "AUTO_MODE_IPAM_LOGS"},
		},
		deliveries:   []cloudwatchlogs.Delivery{{Source: "other", Destination: "d1"}, {Source: "ipam", Destination: "d2"}, {Source: "compute", Destination: "d1"}, {Source: "gateway", Destination: "d1"}},
		destinations: map[string]string{"d1": group, "d2": "arn:aws:s3:::logs"},
		events:       map[string][]string{"/aws/vendedlogs/eks/prod": {`{"level":"INFO","message":"found gpu-a"}`, `{"level":"ERROR","message":"no gpu-a"}`, `{"level":"WARN","message":"late gpu-a"}`}},
		refused:      map[string]string{},
	}
	change(l)
	return l
}

// classify knows one text.
func classify(line string) checkid.ID {
	if line == "no gpu-a" {
		return checkid.LaunchAMI
	}
	return ""
}

// pending is a cluster of EKS Auto Mode whose NodeClaim waits for its launch.
func pending() *snapshot.Snapshot {
	s := &snapshot.Snapshot{Time: time.Date(2026, 11, 20, 15, 8, 0, 0, time.UTC), Failures: map[snapshot.Source]snapshot.Failure{}, Read: map[snapshot.Source]bool{snapshot.NodeClaimsOf: true}}
	s.Cluster.AutoMode, s.Cluster.ARN = true, autoCluster
	s.NodeClaims = []snapshot.NodeClaim{{Name: "gpu-a", Class: snapshot.ClassRef{Group: snapshot.AutoModeGroup}, Conditions: map[string]snapshot.ObservedCondition{
		"Launched": {Condition: snapshot.Condition{Status: "Unknown", Since: s.Time.Add(-4 * time.Minute)}},
	}}}
	return s
}

func TestReadLogs(t *testing.T) {
	const group = "/aws/vendedlogs/eks/prod"
	to := "arn:aws:logs:us-west-2:111122223333:log-group:" + group + ":*"
	failure := func(call string, reason snapshot.Reason, code string) *snapshot.Failure {
		return &snapshot.Failure{Source: snapshot.AutoModeLogsOf, Call: call, Reason: reason, Code: code, Message: "no"}
	}
	start := pending().Time.Add(-6 * time.Minute)
	records := []snapshot.LogRecord{
		{At: start.Add(time.Second), Type: "AUTO_MODE_COMPUTE_LOGS", Level: "ERROR", Text: "no gpu-a", Cause: checkid.LaunchAMI, Names: []string{"gpu-a"}},
		{At: start.Add(2 * time.Second), Type: "AUTO_MODE_COMPUTE_LOGS", Level: "WARN", Text: "late gpu-a", Names: []string{"gpu-a"}},
	}
	compute := snapshot.LogDelivery{Type: "AUTO_MODE_COMPUTE_LOGS", Destination: to, Group: group}
	ipam := snapshot.LogDelivery{Type: "AUTO_MODE_IPAM_LOGS", Destination: "arn:aws:s3:::logs"}
	with := func(d snapshot.LogDelivery, change func(*snapshot.LogDelivery)) snapshot.LogDelivery {
		change(&d)
		return d
	}
	refuse := func(operation, code string) func(*logs) { return func(l *logs) { l.refused[operation] = code } }
	for name, tt := range map[string]struct {
		change     func(*logs)
		deliveries []snapshot.LogDelivery
		records    []snapshot.LogRecord
		failure    *snapshot.Failure
		asked      string
		cut        bool
	}{
		"a log group and a bucket": {func(*logs) {}, []snapshot.LogDelivery{compute, ipam}, records, nil, "SSSSDWFFFF", false},
		"no delivery":              {func(l *logs) { l.deliveries = nil }, nil, nil, nil, "SSSSD", false},
		"no source":                {func(l *logs) { l.sources = nil }, nil, nil, nil, "S", false},
		"another account's": {func(l *logs) { delete(l.destinations, "d1") }, []snapshot.LogDelivery{with(compute, func(d *snapshot.LogDelivery) { d.Destination, d.Group = "d1", "" }), ipam},
			nil, nil, "SSSSDW", false},
		"a group of its name in another account": {func(l *logs) { l.destinations["d1"] = strings.Replace(to, "1111", "9999", 1) },
			[]snapshot.LogDelivery{with(compute, func(d *snapshot.LogDelivery) { d.Destination, d.Group = strings.Replace(to, "1111", "9999", 1), "" }), ipam}, nil, nil, "SSSSDW", false},
		"a group of its name in another Region": {func(l *logs) { l.destinations["d1"] = strings.Replace(to, "west", "east", 1) },
			[]snapshot.LogDelivery{with(compute, func(d *snapshot.LogDelivery) { d.Destination, d.Group = strings.Replace(to, "west", "east", 1), "" }), ipam}, nil, nil, "SSSSDW", false},
		"a group that nobody named": {func(l *logs) { l.destinations["d1"] = "arn:aws:logs:us-west-2:111122223333:log-group:mine" },
			[]snapshot.LogDelivery{{Type: compute.Type, Destination: "arn:aws:logs:us-west-2:111122223333:log-group:mine", Group: "mine", Unnamed: true}, ipam}, nil, nil, "SSSSDW", false},
		"both in one group": {func(l *logs) { l.destinations["d2"] = to }, []snapshot.LogDelivery{compute, with(compute, func(d *snapshot.LogDelivery) { d.Type = ipam.Type })}, records, nil, "SSSSDWFFFF", false},
		"the group is gone": {refuse("FilterLogEvents", "ResourceNotFoundException"), []snapshot.LogDelivery{with(compute, func(d *snapshot.LogDelivery) { d.Gone = true }), ipam}, nil, nil, "SSSSDWF", false},
		"a refused group": {refuse("FilterLogEvents", "AccessDeniedException"),
			[]snapshot.LogDelivery{with(compute, func(d *snapshot.LogDelivery) {
				d.Failure = failure("logs:FilterLogEvents", snapshot.Denied, "AccessDeniedException")
			}), ipam},
			nil, failure("logs:FilterLogEvents", snapshot.Denied, "AccessDeniedException"), "SSSSDWF", false},
		"a throttled list": {refuse("DescribeDeliveries", "ThrottlingException"), nil, nil, failure("logs:DescribeDeliveries", snapshot.Throttled, "ThrottlingException"), "SSSSD", false},
		"refused sources":  {refuse("DescribeDeliverySources", "AccessDeniedException"), nil, nil, failure("logs:DescribeDeliverySources", snapshot.Denied, "AccessDeniedException"), "S", false},
		"refused places":   {refuse("DescribeDeliveryDestinations", "AccessDeniedException"), nil, nil, failure("logs:DescribeDeliveryDestinations", snapshot.Denied, "AccessDeniedException"), "SSSSDW", false},
		"a list without end": {func(l *logs) { l.endless = true }, nil, nil, &snapshot.Failure{Source: snapshot.AutoModeLogsOf, Call: "logs:FilterLogEvents", Reason: snapshot.NotRead, Message: "there are more than are read"},
			"SSSSSSSSSS", false},
		"more pages than are read": {func(l *logs) { l.events[group] = append(l.events[group], "", "", "") }, []snapshot.LogDelivery{compute, ipam}, records, nil, "SSSSDWFFFFF", true},
	} {
		l, s := delivered(tt.change), pending()
		(&Reader{timeout: time.Second}).ReadingLogs(l, config.LogGroups{"/aws/*"}, classify).readLogs(t.Context(), s)
		want := &snapshot.AutoModeLogs{Names: []string{"gpu-a"}, Deliveries: tt.deliveries, Records: tt.records, Cut: tt.cut}
		expect.Same(t, name, s.AutoModeLogs, want)
		failures := map[snapshot.Source]snapshot.Failure{}
		if tt.failure != nil {
			failures[snapshot.AutoModeLogsOf] = *tt.failure
		}
		if diff := cmp.Diff(failures, s.Failures); diff != "" || s.Has(snapshot.AutoModeLogsOf) != (tt.failure == nil) {
			t.Errorf("%s: failures (-want +got):\n%s", name, diff)
		}
		expect.Equal(t, fmt.Sprintf("%s: asked", name), letters(l.asked), tt.asked)
	}
}

// letters are the calls: of sources, deliveries, where they go, and filters.
func letters(calls []string) (text string) {
	for _, c := range calls {
		text += map[string]string{"DescribeDeliverySources": "S", "DescribeDeliveries": "D", "DescribeDeliveryDestinations": "W", "FilterLogEvents": "F"}[c]
	}
	return text
}

func TestLogsAreAskedForTheLaunchAlone(t *testing.T) {
	l, s := delivered(func(l *logs) {
		for i := range 4 {
			l.events["/aws/vendedlogs/eks/prod"][min(i, 2)] = fmt.Sprintf("ERROR %d gpu-a", i)
		}
	}), pending()
	r := (&Reader{timeout: time.Second}).ReadingLogs(l, config.LogGroups{"/aws/*"}, classify)
	r.readLogs(t.Context(), s)
	n := len(l.asked)
	if r.readLogs(t.Context(), s); len(l.asked) != n {
		t.Errorf("the logs are read twice: %v", l.asked)
	}
	want := cloudwatchlogs.Filter{Group: "/aws/vendedlogs/eks/prod", Pattern: `?"gpu-a"`, Start: s.Time.Add(-6 * time.Minute), End: s.Time, Most: 100, Next: "xxx"}
	expect.Same(t, "the last filter", l.filter, want)
	for name, change := range map[string]func(*Reader, *snapshot.Snapshot){
		"off": func(r *Reader, _ *snapshot.Snapshot) {
			*r = *(&Reader{timeout: time.Second}).ReadingLogs(l, nil, classify)
		},
		"no EKS Auto Mode":        func(_ *Reader, s *snapshot.Snapshot) { s.Cluster.AutoMode = false },
		"nothing waits":           func(_ *Reader, s *snapshot.Snapshot) { s.NodeClaims = nil },
		"NodeClaims are not read": func(_ *Reader, s *snapshot.Snapshot) { delete(s.Read, snapshot.NodeClaimsOf) },
	} {
		l.asked = nil
		r, s := (&Reader{timeout: time.Second}).ReadingLogs(l, config.LogGroups{"/aws/*"}, classify), pending()
		change(r, s)
		if r.readLogs(t.Context(), s); len(l.asked) > 0 || s.AutoModeLogs != nil || len(s.Failures) > 0 || s.Read[snapshot.AutoModeLogsOf] {
			t.Errorf("%s: asked %v, read %+v", name, l.asked, s.AutoModeLogs)
		}
	}
}

// TestCaptureWithoutLogs: a capture without logs reports nothing of them.
func TestCaptureWithoutLogs(t *testing.T) {
	s := pending()
	(&Reader{timeout: time.Second}).ReadingLogs(delivered(func(l *logs) { l.refused["DescribeDeliverySources"] = "NotCaptured" }), config.LogGroups{"/aws/*"}, classify).readLogs(t.Context(), s)
	if f := s.Failures[snapshot.AutoModeLogsOf]; s.AutoModeLogs != nil || f.Reason != snapshot.NotRead {
		t.Errorf("read %+v, failed %+v", s.AutoModeLogs, f)
	}
}

func TestManyRecordsAreCut(t *testing.T) {
	l, s := delivered(func(l *logs) { l.destinations["d2"] = l.destinations["d1"] }), pending()
	r := (&Reader{timeout: time.Second}).ReadingLogs(l, config.LogGroups{"/aws/*"}, classify)
	found := &snapshot.AutoModeLogs{}
	for i := range 19 {
		found.Records = append(found.Records, snapshot.LogRecord{Text: fmt.Sprint(i)})
	}
	r.readLogs(t.Context(), s)
	search := snapshot.AutoModeLogs{Records: append(found.Records, s.AutoModeLogs.Records...)}
	if capped(&search); len(search.Records) != 20 || !search.Cut || search.Records[19].Text != "no gpu-a" {
		t.Errorf("%d records, cut %v", len(search.Records), search.Cut)
	}
	if capped(found); found.Cut {
		t.Error("nineteen are cut")
	}
}

func TestAutoModeLogsGrants(t *testing.T) {
	env := func(value string) func(string) string {
		return func(name string) string {
			return map[string]string{"AWS_REGION": "us-west-2", string(config.AutoModeLogs): value}[name]
		}
	}
	for _, off := range []string{"", "off"} {
		if grants, err := AutoModeLogs(env(off)); err != nil || grants != nil {
			t.Errorf("%q grants %+v, %v", off, grants, err)
		}
	}
	grants, err := AutoModeLogs(env("/aws/vendedlogs/eks/*,mine"))
	if err != nil || len(grants) != 2 || grants[0].Why == "" || grants[1].Why == "" {
		t.Fatalf("%+v, %v", grants, err)
	}
	for i := range grants {
		grants[i].Why = ""
	}
	want := []spec.Grant{
		{
			Sid: "FindAutoModeLogs", Actions: []string{"logs:DescribeDeliveries", "logs:DescribeDeliveryDestinations", "logs:DescribeDeliverySources"},
			Resources: []spec.Resource{"*"}, Conditions: map[string]map[string][]string{"StringEquals": {"aws:RequestedRegion": {"${Region}"}}},
		},
		{
			Sid: "ReadAutoModeLogs", Actions: []string{"logs:FilterLogEvents"},
			Resources: []spec.Resource{"arn:${Partition}:logs:${Region}:${Account}:log-group:/aws/vendedlogs/eks/*:*", "arn:${Partition}:logs:${Region}:${Account}:log-group:mine:*"},
		},
	}
	expect.Same(t, "grants", grants, want)
	var bad *config.SettingError
	if _, err := AutoModeLogs(env("on")); !errors.As(err, &bad) || bad.Variable != config.AutoModeLogs {
		t.Errorf("a bad setting: %v", err)
	}
}

// crowd is a change to the world by which n instances of one group, started
// from one launch template, wait to join.
func crowd(n int) string {
	var b strings.Builder
	b.WriteString("kubernetes: {eks-workshop: {joined: []}}\nec2:\n  Instances:\n")
	for i := range n {
		fmt.Fprintf(&b, "    - {InstanceId: i-%017x, SubnetId: subnet-0b20000000000000%s, InstanceType: m5.large, ImageId: ami-0a1e2d3c4b5a69788, IamInstanceProfile: {Arn: %q}, Tags: [{Key: aws:autoscaling:groupName, Value: eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f}, {Key: eks:nodegroup-name, Value: default}, {Key: aws:ec2launchtemplate:id, Value: lt-0crowd}, {Key: aws:ec2launchtemplate:version, Value: \"1\"}]}\n",
			0xabc0000+i, []string{"a", "b", "c"}[i%3], "arn:aws:iam::111122223333:instance-profile/eks-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f")
	}
	return b.String()
}

// lookAt takes a look at everything about n waiting instances and returns how
// often each action was called in it.
func lookAt(t *testing.T, n int) (*snapshot.Snapshot, map[string]int, []string) {
	t.Helper()
	p := start(t, load(t, crowd(n)), wire.NoFaults{}, "")
	instances, failed := p.FindIn(t.Context(), workshopVPC)
	if failed != nil {
		t.Fatal(failed)
	}
	now := p.world.Now()
	q := Query{Account: "111122223333", Region: "us-west-2", Time: now, Cluster: "eks-workshop", Nodegroups: []string{"default"}, Sources: snapshot.All()}
	for _, in := range instances {
		if in.Template.ID == "lt-0crowd" {
			q.Instances = append(q.Instances, in)
			q.Scope.Instances = append(q.Scope.Instances, in.ID)
			q.Launches = append(q.Launches, snapshot.ExpectedJoin{Instance: in.ID, Due: now.Add(-time.Minute)})
		}
	}
	if len(q.Instances) != n {
		t.Fatalf("found %d instances, want %d", len(q.Instances), n)
	}
	groups, failed := p.Groups(t.Context(), []string{"eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f"})
	if failed != nil {
		t.Fatal(failed)
	}
	q.Groups = groups
	before := len(p.aws.Calls())
	s, err := p.Read(t.Context(), q)
	expect.OK(t, err)
	calls := map[string]int{}
	for _, c := range p.aws.Calls()[before:] {
		calls[c.Action()]++
	}
	return s, calls, p.asked
}

// TestCallsOfOneLook holds how many calls a look at everything takes, and that
// a thousand instances take more only where the API takes no thousand ids.
func TestCallsOfOneLook(t *testing.T) {
	_, one, asked := lookAt(t, 1)
	_, ten, _ := lookAt(t, 10)
	s, many, askedOfMany := lookAt(t, 1000)
	for source, f := range s.Failures {
		t.Errorf("%s: %+v", source, f)
	}
	total := func(calls map[string]int) (n int) {
		for _, c := range calls {
			n += c
		}
		return n
	}
	gathertest.Same(t, "AWS calls of a look at 1, 10 and 1,000 instances", []int{total(one), total(ten), total(many)}, []int{52, 54, 64})
	gathertest.Same(t, "Kubernetes calls", []int{len(asked), len(askedOfMany)}, []int{11, 11})
	more := map[string]int{}
	for action, n := range many {
		if n != one[action] {
			more[action] = n
		}
	}
	// 100 ids a call; two consoles in place of one, each asked for in both ways, as it is empty; 1,000
	// interfaces a page, the nodes' own among them.
	want := map[string]int{"ec2:DescribeInstanceStatus": 10, "ec2:DescribeNetworkInterfaces": 3, "ec2:GetConsoleOutput": 4}
	if diff := cmp.Diff(want, more); diff != "" {
		t.Errorf("calls that grow with the instances (-want +got):\n%s\nall: %v", diff, many)
	}
	if len(s.UserData) != 1 || len(s.UserData[0].Instances) != 1000 || len(s.Missing[snapshot.UserDataOf]) != 0 {
		t.Errorf("user data of %d origins, missing %d; want one that all share", len(s.UserData), len(s.Missing[snapshot.UserDataOf]))
	}
}

// TestFindFindsAll holds what each way of finding instances and groups finds.
func TestFindFindsAll(t *testing.T) {
	p := open(t, `
ec2:
  Instances:
    - {InstanceId: i-0ended, State: {Name: terminated, Code: 48}, SubnetId: subnet-0b20000000000000a, Tags: [{Key: kubernetes.io/cluster/eks-workshop, Value: owned}]}
    - {InstanceId: i-0bare, SubnetId: subnet-0b20000000000000a}
autoscaling:
  AutoScalingGroups:
    - {AutoScalingGroupName: by-hand, MinSize: 0, MaxSize: 0, DesiredCapacity: 0, VPCZoneIdentifier: subnet-0b20000000000000a, Tags: [{Key: k8s.io/cluster/eks-workshop, Value: owned, ResourceId: by-hand}]}
    - {AutoScalingGroupName: other, MinSize: 0, MaxSize: 0, DesiredCapacity: 0, VPCZoneIdentifier: subnet-0b20000000000000a, Tags: [{Key: "eks:cluster-name", Value: other, ResourceId: other}]}
`)
	ids := func(list []snapshot.Instance, failed *snapshot.Failure) []string {
		t.Helper()
		if failed != nil {
			t.Fatal(failed)
		}
		return names(list, func(in snapshot.Instance) string { return in.ID })
	}
	if got := ids(p.FindTagged(t.Context(), "eks-workshop")); slices.Contains(got, "i-0ended") || slices.Contains(got, "i-0bare") || len(got) != 3 {
		t.Errorf("tagged and live: %q", got)
	}
	if got := ids(p.FindTaggedAll(t.Context(), "eks-workshop")); !slices.Contains(got, "i-0ended") || slices.Contains(got, "i-0bare") || len(got) != 4 {
		t.Errorf("tagged: %q", got)
	}
	if got := ids(p.FindIn(t.Context(), workshopVPC)); !slices.Contains(got, "i-0bare") || len(got) < 4 {
		t.Errorf("in the VPC: %q", got)
	}
	groups, failed := p.GroupsOf(t.Context(), "eks-workshop")
	if failed != nil {
		t.Fatal(failed)
	}
	gathertest.Same(t, "groups", names(groups, func(g snapshot.Group) string { return g.Name }), []string{"by-hand", "eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f", "eks-new_nodegroup_2-e2ca4e02-248f-cb7e-45a7-6fa9b0230007"})
	if _, failed := p.FindIn(t.Context(), ""); failed == nil {
		t.Error("without a VPC all instances of the region were asked for")
	}
}

// What is not asked for because the cluster could not be read is not said to
// have failed: the one permission that is missing is.
func TestClusterThatCannotBeRead(t *testing.T) {
	r, _ := reader(t, func(s *wire.Server) {
		wire.Handle(s, "eks", "DescribeCluster", answer(func(*eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
			return nil, &wire.Error{Code: "AccessDeniedException", Status: 403, Message: "not allowed"}
		}))
	})
	s, err := r.Read(t.Context(), query(snapshot.Nodes, snapshot.Subnets))
	expect.OK(t, err)
	for source, want := range map[snapshot.Source]snapshot.Reason{
		snapshot.Clusters: snapshot.Denied, snapshot.Nodes: snapshot.NotRead, snapshot.Subnets: snapshot.NotRead,
	} {
		if got := s.Failures[source]; got.Reason != want || got.Message == "" {
			t.Errorf("%s: %q (%s), want %q and why", source, got.Reason, got.Message, want)
		}
		if s.Has(source) {
			t.Errorf("%s counts as read", source)
		}
	}
}

func TestClusterOf(t *testing.T) {
	for _, test := range []struct {
		tags map[string]string
		want string
	}{
		{map[string]string{"eks:cluster-name": "prod", "kubernetes.io/cluster/other": "owned"}, "prod"},
		{map[string]string{"aws:eks:cluster-name": "prod"}, "prod"},
		{map[string]string{"kubernetes.io/cluster/b": "owned", "kubernetes.io/cluster/a": "shared"}, "a"},
		{map[string]string{"k8s.io/cluster-autoscaler/prod": "owned", "k8s.io/cluster-autoscaler/enabled": "true"}, "prod"},
		{map[string]string{"k8s.io/cluster-autoscaler/enabled": "true"}, ""},
		{map[string]string{"k8s.io/cluster-autoscaler/node-template/label/x": "y"}, ""},
		{map[string]string{"kubernetes.io/cluster/": "owned"}, ""},
		{nil, ""},
	} {
		if got, ok := ClusterOf(test.tags); got != test.want || ok != (test.want != "") {
			t.Errorf("ClusterOf(%v) = %q, %v; want %q", test.tags, got, ok, test.want)
		}
	}
}

// toCluster is a way to a cluster's API that counts the requests, and fails on demand.
type toCluster struct {
	asked int
	err   error
	body  string
}

func (c *toCluster) RoundTrip(req *http.Request) (*http.Response, error) {
	c.asked++
	if c.err != nil {
		return nil, c.err
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(c.body)), Request: req}, nil
}

// A Kubernetes API that does not answer one reader of a sweep is not asked by the next,
// who fails as the first did; nor in the next sweep that knows it, as long as it has
// the same endpoint. What AWS answers is read all the same.
func TestSilentAPIIsAskedOnce(t *testing.T) {
	p := open(t, "")
	c := &toCluster{err: errors.New("cut")}
	const endpoint = "https://prod.invalid"
	read := func(contact *Contact) *snapshot.Snapshot {
		t.Helper()
		r := p.Reader.WithEndpoints(func(string) (string, []byte, http.RoundTripper, bool) { return endpoint, nil, c, true }).Contacting(contact)
		s, err := r.Read(t.Context(), addressQuery(p, snapshot.Nodes, snapshot.WaitingPods, snapshot.Subnets))
		if err != nil || !s.Has(snapshot.Subnets) {
			t.Fatal(err, s.Failures)
		}
		return s
	}
	sweep := NewContact(nil)
	first := read(sweep)
	asked := c.asked
	outcome, silence := sweep.Outcome()
	if outcome != backoff.Silent || asked == 0 {
		t.Fatalf("%s after %d requests, want silent", outcome, asked)
	}
	expect.Same(t, "silence", silence, backoff.Silence{Endpoint: endpoint, Reason: snapshot.Unreachable, Message: "the connection was cut before the answer"})
	if diff := cmp.Diff(first.Failures, read(sweep).Failures); diff != "" || c.asked != asked {
		t.Errorf("asked %d times more; failures (-first +second):\n%s", c.asked-asked, diff)
	}
	later := NewContact(&silence)
	if diff := cmp.Diff(first.Failures, read(later).Failures); diff != "" || c.asked != asked {
		t.Errorf("the next sweep asked %d times; failures (-first +next):\n%s", c.asked-asked, diff)
	}
	if outcome, _ := later.Outcome(); outcome != backoff.NotAsked {
		t.Errorf("%s, want not asked", outcome)
	}
	c.err, c.body = nil, `{"items": []}`
	for name, known := range map[string]*backoff.Silence{"nothing is known": nil, "another endpoint": {Endpoint: "https://other.invalid", Reason: snapshot.Unreachable}} {
		again := NewContact(known)
		if s := read(again); !s.Has(snapshot.Nodes) {
			t.Errorf("%s: %v", name, s.Failures)
		}
		if outcome, _ := again.Outcome(); outcome != backoff.Answered {
			t.Errorf("%s: %q, want answered", name, outcome)
		}
	}
}

// That the reader is not let in, or one of several lists failed, is no silence.
func TestOnlySilenceIsSilence(t *testing.T) {
	for name, f := range map[string]snapshot.Failure{
		"denied": {Source: snapshot.Nodes, Reason: snapshot.Denied}, "broken": {Source: snapshot.Nodes, Reason: snapshot.Broken}, "throttled": {Source: snapshot.Nodes, Reason: snapshot.Throttled},
	} {
		c := NewContact(nil)
		c.failed(f)
		if outcome, _ := c.Outcome(); outcome != backoff.NotAsked {
			t.Errorf("%s: %s", name, outcome)
		}
	}
	var none *Contact
	none.failed(snapshot.Failure{Reason: snapshot.Unreachable})
	none.answered()
	if err := none.unanswered("x"); err != nil {
		t.Error(err)
	}
}

// Readers of one sweep ask AWS and the cluster the same once, but for how much is free
// in a subnet that is short: that is asked again by each.
func TestReadersShareAnswers(t *testing.T) {
	p := open(t, scarce)
	c := &toCluster{body: `{"items": []}`}
	once := &askonce.Once{}
	known := p.ec2.Options()
	cfg := once.Client(aws.Config{Region: known.Region, BaseEndpoint: known.BaseEndpoint, Credentials: known.Credentials})
	for range 2 {
		r := New(cfg).WithEndpoints(func(string) (string, []byte, http.RoundTripper, bool) { return "https://prod.invalid", nil, c, true }).Sharing(once.Cluster)
		s, err := r.Read(t.Context(), addressQuery(p, snapshot.Subnets, snapshot.Unattached, snapshot.Nodes))
		if err != nil || len(s.Failures) > 0 {
			t.Fatal(err, s.Failures)
		}
	}
	got := map[string]int{"DescribeCluster": countOf(p, "DescribeCluster"), "DescribeNetworkInterfaces": countOf(p, "DescribeNetworkInterfaces"), "DescribeSubnets": countOf(p, "DescribeSubnets"), "nodes": c.asked}
	expect.Same(t, "requests", got, map[string]int{"DescribeCluster": 1, "DescribeNetworkInterfaces": 1, "DescribeSubnets": 3, "nodes": 1})
}

// messages decode those that they know, as STS does.
type messages struct {
	known map[string]string
	err   error
	asked []string
}

func (m *messages) DecodeAuthorizationMessage(_ context.Context, in *sts.DecodeAuthorizationMessageInput, _ ...func(*sts.Options)) (*sts.DecodeAuthorizationMessageOutput, error) {
	m.asked = append(m.asked, aws.ToString(in.EncodedMessage))
	text, known := m.known[aws.ToString(in.EncodedMessage)]
	switch {
	case m.err != nil:
		return nil, m.err
	case !known:
		return nil, &smithy.OperationError{ServiceID: "STS", OperationName: "DecodeAuthorizationMessage", Err: &smithy.GenericAPIError{Code: "InvalidAuthorizationMessageException", Message: "Message is not valid"}}
	}
	return &sts.DecodeAuthorizationMessageOutput{DecodedMessage: aws.String(text)}, nil
}

func decoding(m *messages) *Reader {
	return &Reader{timeout: time.Second, decoder: &decoder{api: m, done: map[string]snapshot.DecodedMessage{}}}
}

const simple = `{"allowed":false,"explicitDeny":false,"matchedStatements":{"items":[]},"context":{"action":"ec2:RunInstances","resource":"arn:aws:ec2:us-west-2:111122223333:instance/*"}}`

func TestDecode(t *testing.T) {
	denied := &smithy.OperationError{ServiceID: "STS", OperationName: "DecodeAuthorizationMessage", Err: &smithy.GenericAPIError{Code: "AccessDenied", Message: "no"}}
	failure := func(reason snapshot.Reason, code, message string) *snapshot.Failure {
		return &snapshot.Failure{Source: snapshot.DenialsOf, Call: "sts:DecodeAuthorizationMessage", Reason: reason, Code: code, Message: message}
	}
	for name, tt := range map[string]struct {
		sts  *messages
		want snapshot.DecodedMessage
		// asked is how often STS is asked by two looks.
		asked int
	}{
		"decoded":            {&messages{known: map[string]string{"m": simple}}, snapshot.DecodedMessage{Denial: &snapshot.Denial{Action: "ec2:RunInstances", Resource: "arn:aws:ec2:us-west-2:111122223333:instance/*"}}, 1},
		"another account's":  {&messages{}, snapshot.DecodedMessage{Failure: failure(snapshot.Broken, "InvalidAuthorizationMessageException", "Message is not valid")}, 1},
		"denied":             {&messages{err: denied}, snapshot.DecodedMessage{Failure: failure(snapshot.Denied, "AccessDenied", "no")}, 2},
		"in time":            {&messages{err: context.DeadlineExceeded}, snapshot.DecodedMessage{Failure: failure(snapshot.TimedOut, "", "no answer in time")}, 2},
		"in a form of later": {&messages{known: map[string]string{"m": "<denied/>"}}, snapshot.DecodedMessage{Failure: failure(snapshot.Broken, "", "the answer could not be read")}, 2},
	} {
		r := decoding(tt.sts)
		tt.want.Encoded = "m"
		r.Decode(t.Context(), "m")
		if diff := cmp.Diff(tt.want, r.Decode(t.Context(), "m")); diff != "" || len(tt.sts.asked) != tt.asked {
			t.Errorf("%s: STS was asked %d times, want %d (-want +got):\n%s", name, len(tt.sts.asked), tt.asked, diff)
		}
	}
	off := (&Reader{}).Decoding(false).Decode(t.Context(), "m")
	expect.Same(t, "off", off.Failure, failure(snapshot.Denied, "", "the setting decodeDenied is off"))
}

// TestDecodedIsForgotten: a reader lives as long as its process.
func TestDecodedIsForgotten(t *testing.T) {
	m := &messages{known: map[string]string{}}
	r := decoding(m)
	for i := range 3 * keptDecoded {
		r.Decode(t.Context(), string(rune('a'+i)))
		if n := len(r.decoder.done); n > keptDecoded {
			t.Fatalf("%d messages are kept", n)
		}
	}
}

func TestDecodeActivities(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	failed := func(group, message string, ago time.Duration) snapshot.Activity {
		return snapshot.Activity{Group: group, Status: "Failed", About: "Launching a new EC2 instance.", Started: now.Add(-ago),
			Message: "You are not authorized to perform this operation. Encoded authorization failure message: " + message + ". Launching EC2 instance failed."}
	}
	s := &snapshot.Snapshot{Time: now, Read: map[snapshot.Source]bool{snapshot.Activities: true}, Activities: []snapshot.Activity{
		failed("a", "older", 2*time.Minute), failed("a", "newest", time.Minute), failed("a", "oldest", 3*time.Minute),
		failed("b", "cut...", time.Minute), failed("b", "whole", 2*time.Minute), failed("c", "lastHour", 61*time.Minute),
		failed("d", "third", 4*time.Minute), failed("e", "fourth", 5*time.Minute),
		{Group: "f", About: "Terminating EC2 instance: i-1", Message: "Encoded authorization failure message: ended", Started: now},
		{Group: "g", About: "Launching a new EC2 instance.", Message: "no", Started: now},
	}}
	m := &messages{known: map[string]string{"newest": simple}}
	r := decoding(m)
	for range 2 {
		r.decodeActivities(t.Context(), s)
	}
	expect.Same(t, "STS was asked", m.asked, []string{"newest", "whole", "third"})
	var decoded []string
	for _, d := range s.Denials {
		if d.Denial != nil {
			decoded = append(decoded, d.Encoded)
		}
	}
	if diff := cmp.Diff([]string{"newest"}, decoded); diff != "" || !s.Read[snapshot.DenialsOf] {
		t.Errorf("decoded (read %v, -want +got):\n%s", s.Read[snapshot.DenialsOf], diff)
	}
	for name, r := range map[string]*Reader{"off": {}, "unread": decoding(m)} {
		s := &snapshot.Snapshot{Time: now, Read: map[snapshot.Source]bool{snapshot.Activities: name == "off"}, Activities: s.Activities}
		if r.decodeActivities(t.Context(), s); s.Read[snapshot.DenialsOf] || s.Denials != nil || len(m.asked) != 3 {
			t.Errorf("%s: messages are decoded: %+v", name, s.Denials)
		}
	}
}

// TestEachMessageIsDecoded: those of one group may be of two policies. What one look
// leaves the next ones decode.
func TestEachMessageIsDecoded(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	look := func() *snapshot.Snapshot {
		s := &snapshot.Snapshot{Time: now, Read: map[snapshot.Source]bool{snapshot.Activities: true}}
		for n, message := range []string{"a1", "a2", "b1", "a2", "a3", "b2"} {
			s.Activities = append(s.Activities, snapshot.Activity{Group: message[:1], Status: "Failed", About: "Launching a new EC2 instance.", Started: now.Add(-time.Duration(n) * time.Minute),
				Message: "You are not authorized to perform this operation. Encoded authorization failure message: " + message + ". Launching EC2 instance failed."})
		}
		return s
	}
	m := &messages{known: map[string]string{"a1": simple, "a2": simple, "a3": simple, "b1": simple, "b2": simple}}
	r := decoding(m)
	for i, want := range [][]string{{"a1", "b1", "a2"}, {"a1", "b1", "a2", "a3", "b2"}, {"a1", "b1", "a2", "a3", "b2"}} {
		s := look()
		r.decodeActivities(t.Context(), s)
		var got []string
		for _, d := range s.Denials {
			if d.Denial != nil {
				got = append(got, d.Encoded)
			}
		}
		expect.Same(t, fmt.Sprintf("look %d", i+1), got, want)
	}
	expect.Same(t, "STS was asked", m.asked, []string{"a1", "b1", "a2", "a3", "b2"})
}

func TestDecodeDenied(t *testing.T) {
	env := func(value string) func(string) string {
		return func(name string) string {
			return map[string]string{"AWS_REGION": "us-west-2", string(config.DecodeDenied): value}[name]
		}
	}
	for _, off := range []string{"", "off"} {
		if grants, err := DecodeDenied(env(off)); err != nil || grants != nil {
			t.Errorf("%q grants %+v, %v", off, grants, err)
		}
	}
	grants, err := DecodeDenied(env("on"))
	if err != nil || len(grants) != 1 {
		t.Fatalf("%+v, %v", grants, err)
	}
	g := grants[0]
	if g.Sid == "" || g.Why == "" || !cmp.Equal(g.Actions, []string{"sts:DecodeAuthorizationMessage"}) || !cmp.Equal(g.Resources, []spec.Resource{"*"}) ||
		!cmp.Equal(g.Conditions, map[string]map[string][]string{"StringEquals": {"aws:RequestedRegion": {"${Region}"}}}) {
		t.Errorf("the grant is %+v", g)
	}
	var bad *config.SettingError
	if _, err := DecodeDenied(env("perhaps")); !errors.As(err, &bad) {
		t.Errorf("the setting %q is taken: %v", "perhaps", err)
	}
}

func TestFindByGroupAndID(t *testing.T) {
	r, s := reader(t, func(s *wire.Server) {
		wire.Handle(s, "ec2", "DescribeInstances", answer(func(in *ec2.DescribeInstancesInput) (*ec2.DescribeInstancesOutput, error) {
			one := func(id string) types.Reservation {
				return types.Reservation{Instances: []types.Instance{{InstanceId: aws.String(id), State: &types.InstanceState{Name: types.InstanceStateNameTerminated},
					StateTransitionReason: aws.String("User initiated (2026-11-20 14:59:58 GMT)"), StateReason: &types.StateReason{Code: aws.String("Client.UserInitiatedShutdown"), Message: aws.String("x")}}}}
			}
			if *in.Filters[0].Name == "tag:aws:autoscaling:groupName" {
				if in.NextToken == nil {
					return &ec2.DescribeInstancesOutput{NextToken: aws.String("2"), Reservations: []types.Reservation{one("i-3")}}, nil
				}
				return &ec2.DescribeInstancesOutput{Reservations: []types.Reservation{one("i-1")}}, nil
			}
			expect.Same(t, "asked by id", in.Filters[0].Values, []string{"i-2"})
			return &ec2.DescribeInstancesOutput{Reservations: []types.Reservation{one("i-2")}}, nil
		}))
	})
	got, failed := r.Find(context.Background(), []string{"i-1", "i-2"}, []string{"asg"})
	if failed != nil {
		t.Fatal(failed)
	}
	var ids []string
	for _, in := range got {
		ids = append(ids, in.ID)
	}
	expect.Same(t, "ids", ids, []string{"i-1", "i-2", "i-3"})
	want := snapshot.StateReason{Code: "Client.UserInitiatedShutdown", Message: "x", When: time.Date(2026, 11, 20, 14, 59, 58, 0, time.UTC)}
	expect.Same(t, "state reason", got[0].StateReason, want)
	if n := len(s.Calls()); n != 3 {
		t.Errorf("%d calls, want 3", n)
	}
}

func TestGroupsWithWarmPool(t *testing.T) {
	r, _ := reader(t, func(s *wire.Server) {
		wire.Handle(s, "autoscaling", "DescribeAutoScalingGroups", answer(func(*autoscaling.DescribeAutoScalingGroupsInput) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
			return &autoscaling.DescribeAutoScalingGroupsOutput{AutoScalingGroups: []astypes.AutoScalingGroup{
				{AutoScalingGroupName: aws.String("pool"), MinSize: aws.Int32(0), MaxSize: aws.Int32(3), DesiredCapacity: aws.Int32(1), VPCZoneIdentifier: aws.String("subnet-b, subnet-a"), WarmPoolConfiguration: &astypes.WarmPoolConfiguration{},
					Instances: []astypes.Instance{{InstanceId: aws.String("i-2"), LifecycleState: astypes.LifecycleStateInService, HealthStatus: aws.String("Healthy")}}},
				{AutoScalingGroupName: aws.String("plain")},
			}}, nil
		}))
		wire.Handle(s, "autoscaling", "DescribeWarmPool", answer(func(in *autoscaling.DescribeWarmPoolInput) (*autoscaling.DescribeWarmPoolOutput, error) {
			if *in.AutoScalingGroupName != "pool" {
				t.Errorf("asked for the warm pool of %s, which has none", *in.AutoScalingGroupName)
			}
			return &autoscaling.DescribeWarmPoolOutput{Instances: []astypes.Instance{{InstanceId: aws.String("i-1")}}}, nil
		}))
	})
	got, failed := r.Groups(context.Background(), []string{"pool", "plain"})
	if failed != nil {
		t.Fatal(failed)
	}
	want := []snapshot.Group{
		{Name: "plain"},
		{Name: "pool", Max: 3, Desired: 1, Subnets: []string{"subnet-a", "subnet-b"}, WarmPool: true, Warm: []string{"i-1"},
			Instances: []snapshot.GroupInstance{{ID: "i-2", Lifecycle: "InService", Health: "Healthy"}}},
	}
	expect.Same(t, "groups", got, want, cmpopts.EquateEmpty())
}

const full = "subnet-0b20000000000000a"

// scarce is the leaky world with a subnet that has nothing left.
const scarce = leaky + `
  Subnets:
    - {SubnetId: ` + full + `, AvailableIpAddressCount: 0}
`

// between does something before the first call of an action, and refuses another
// from then on.
type between struct {
	once   sync.Once
	action string
	do     func()
	mu     sync.Mutex
	begun  bool
	refuse string
}

func (b *between) Before(_ context.Context, c *wire.Call) error {
	b.mu.Lock()
	refused := b.begun && c.Operation == b.refuse
	b.mu.Unlock()
	if refused {
		return wire.Throttled
	}
	if c.Operation == b.action {
		b.once.Do(func() {
			b.do()
			b.mu.Lock()
			b.begun = true
			b.mu.Unlock()
		})
	}
	return nil
}

// Addresses that are given back while a look is going on are free in it: a subnet
// that was read before and interfaces that were read after would make one that is
// full although nothing holds its addresses.
func TestFreedWhileLooking(t *testing.T) {
	for name, sources := range map[string][]snapshot.Source{
		"counted":    {snapshot.Usage, snapshot.Unattached},
		"unattached": {snapshot.Subnets, snapshot.Unattached},
	} {
		t.Run(name, func(t *testing.T) {
			f := &between{action: "DescribeNetworkInterfaces"}
			p := start(t, load(t, scarce), f, "")
			f.do = func() {
				if _, err := p.world.Call("ec2:DeleteNetworkInterface", []byte(`{"NetworkInterfaceId":"eni-0dead"}`)); err != nil {
					t.Error(err)
				}
			}
			s, err := p.Read(t.Context(), addressQuery(p, sources...))
			if err != nil || len(s.Failures) > 0 {
				t.Fatal(err, s.Failures)
			}
			if slices.ContainsFunc(s.Idle, func(i snapshot.Interface) bool { return i.ID == "eni-0dead" }) {
				t.Fatal("the interface was read before it was deleted")
			}
			if got := freeOf(s, full); got != 2 {
				t.Errorf("%d addresses free in %s, want the 2 of the interface that went", got, full)
			}
			if got := countOf(p, "DescribeSubnets"); got != 2 {
				t.Errorf("subnets were described %d times, want 2", got)
			}
		})
	}
}

// Where nothing is short the subnets are described once.
func TestPlentyIsReadOnce(t *testing.T) {
	p := open(t, leaky)
	if _, err := p.Read(t.Context(), addressQuery(p, snapshot.Usage, snapshot.Unattached)); err != nil {
		t.Fatal(err)
	}
	if got := countOf(p, "DescribeSubnets"); got != 1 {
		t.Errorf("subnets were described %d times, want 1", got)
	}
}

// Without the second reading it is not known whether what is held and what is free are
// of one moment.
func TestFreeNotReadAgain(t *testing.T) {
	p := start(t, load(t, scarce), &between{action: "DescribeNetworkInterfaces", do: func() {}, refuse: "DescribeSubnets"}, "")
	s, err := p.Read(t.Context(), addressQuery(p, snapshot.Usage))
	expect.OK(t, err)
	if f := s.Failures[snapshot.Usage]; f.Reason != snapshot.Throttled || f.Call != "ec2:DescribeSubnets" {
		t.Errorf("usage: %+v, want ec2:DescribeSubnets throttled", f)
	}
}

func freeOf(s *snapshot.Snapshot, subnet string) int {
	i := slices.IndexFunc(s.Subnets, func(x snapshot.Subnet) bool { return x.ID == subnet })
	if i < 0 {
		return -1
	}
	return s.Subnets[i].Free
}
