package vpc

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/gather/source"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
	"rollcall/stage/platform/wire"
	"rollcall/tools/expect"
)

// A gateway that lists the VPC is off it only where EC2 says so.
func TestInternetGatewayAttached(t *testing.T) {
	for state, want := range map[types.AttachmentStatus]int{
		"available": 1, "attached": 1, "": 1, "newer": 1, "attaching": 0, "detaching": 0, "detached": 0,
	} {
		got := internetGateway(types.InternetGateway{Attachments: []types.InternetGatewayAttachment{{State: state, VpcId: aws.String("vpc-1")}}})
		if len(got.Attached) != want {
			t.Errorf("state %q: attached to %q, want %d", state, got.Attached, want)
		}
	}
}

// told answers DescribeInstances call by call.
type told struct {
	pages []any // *ec2.DescribeInstancesOutput or error
	asked [][]string
}

func (a *told) DescribeInstances(_ context.Context, in *ec2.DescribeInstancesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	a.asked = append(a.asked, in.Filters[0].Values)
	if len(a.asked) > len(a.pages) {
		return &ec2.DescribeInstancesOutput{}, nil
	}
	if err, failed := a.pages[len(a.asked)-1].(error); failed {
		return nil, err
	}
	return a.pages[len(a.asked)-1].(*ec2.DescribeInstancesOutput), nil
}

func page(next string, instances ...types.Instance) *ec2.DescribeInstancesOutput {
	out := &ec2.DescribeInstancesOutput{}
	if len(instances) > 0 {
		out.Reservations = []types.Reservation{{Instances: instances}}
	}
	if next != "" {
		out.NextToken = new(next)
	}
	return out
}

func running(id string) types.Instance {
	return types.Instance{InstanceId: new(id), State: &types.InstanceState{Name: types.InstanceStateNameRunning}}
}

const owner = "i-0123456789abcdef0"

// An answer that is not whole never says that EC2 does not know an instance:
// an interface of a node that lives would be deleted for it.
func TestCreatorsAreWholeOrNone(t *testing.T) {
	denied := &wire.Error{Code: "UnauthorizedOperation", Status: 403, Message: "no"}
	throttled := &wire.Error{Code: "RequestLimitExceeded", Status: 503, Message: "slow"}
	tests := map[string]struct {
		pages []any
		fails bool
		state string
	}{
		"running":                        {[]any{page("", running(owner))}, false, "running"},
		"not known to EC2":               {[]any{page("")}, false, ""},
		"denied":                         {[]any{denied}, true, ""},
		"throttled":                      {[]any{throttled}, true, ""},
		"the second page is lost":        {[]any{page("2"), throttled}, true, ""},
		"an empty page, then the answer": {[]any{page("2"), page("3"), page("", running(owner))}, false, "running"},
		"a page that leads to itself":    {[]any{page("2"), page("2"), page("2")}, true, ""},
		"the third page is lost":         {[]any{page("2"), page("3"), throttled}, true, ""},
		"the whole batch is refused":     {[]any{&wire.Error{Code: "InvalidInstanceID.NotFound", Status: 400, Message: "i-1"}}, true, ""},
		"reset":                          {[]any{errors.New("connection reset by peer")}, true, ""},
		"timed out":                      {[]any{context.DeadlineExceeded}, true, ""},
		"a page of nobody's instances":   {[]any{page("2", running("i-0ffffffffffffffff")), throttled}, true, ""},
		"without a state":                {[]any{page("", types.Instance{InstanceId: new(owner)})}, true, ""},
		"with an empty state":            {[]any{page("", types.Instance{InstanceId: new(owner), State: &types.InstanceState{}})}, true, ""},
		"without an id":                  {[]any{page("", types.Instance{State: &types.InstanceState{Name: types.InstanceStateNameTerminated}})}, true, ""},
		"another instance":               {[]any{page("", running("i-0ffffffffffffffff"))}, false, ""},
		"a state to come":                {[]any{page("", types.Instance{InstanceId: new(owner), State: &types.InstanceState{Name: "hibernated"}})}, false, "hibernated"},
	}
	for name, test := range tests {
		s := &snapshot.Snapshot{
			Read: map[snapshot.Source]bool{snapshot.Unattached: true},
			Idle: []snapshot.Interface{{ID: "eni-1", Description: "aws-K8S-" + owner}},
		}
		keep, err := creators(&told{pages: test.pages}, NewTally(nil, nil)).ReadFrom(t.Context(), source.View{Snapshot: s})
		if (err != nil) != test.fails {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		if err == nil {
			keep(s)
			gathertest.Same(t, name, s.Creators, []snapshot.Creator{{Instance: owner, State: test.state}})
		}
	}
}

// Without the interfaces there is no role to look up, and none is gone.
func TestCreatorsOfUnreadInterfaces(t *testing.T) {
	if _, err := creators(&told{}, NewTally(nil, nil)).ReadFrom(t.Context(), source.View{Snapshot: &snapshot.Snapshot{}}); err == nil {
		t.Error("no error although the interfaces were not read")
	}
}

// 200 ids a call, each asked once.
func TestCreatorsInBatches(t *testing.T) {
	a := &told{}
	s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.Unattached: true}}
	for i := range 1002 {
		id := fmt.Sprintf("i-%017x", i/2)
		s.Idle = append(s.Idle, snapshot.Interface{Description: "aws-K8S-" + id, Tags: map[string]string{leak.TagInstance: id}})
	}
	keep, err := creators(a, NewTally(nil, nil)).ReadFrom(t.Context(), source.View{Snapshot: s})
	expect.OK(t, err)
	keep(s)
	var sizes []int
	for _, ids := range a.asked {
		sizes = append(sizes, len(ids))
	}
	gathertest.Same(t, "ids by call", sizes, []int{200, 200, 101})
	gathertest.Same(t, "creators", len(s.Creators), 501)
}

// attachedTo describes a VPC in which instances have an interface each, and
// the owner has left one behind.
type attachedTo []types.NetworkInterface

func (a attachedTo) DescribeNetworkInterfaces(context.Context, *ec2.DescribeNetworkInterfacesInput, ...func(*ec2.Options)) (*ec2.DescribeNetworkInterfacesOutput, error) {
	return &ec2.DescribeNetworkInterfacesOutput{NetworkInterfaces: a}, nil
}

func on(instance, account string) types.NetworkInterface {
	return types.NetworkInterface{
		NetworkInterfaceId: new("eni-2"), OwnerId: new(account), Status: types.NetworkInterfaceStatusInUse,
		Attachment: &types.NetworkInterfaceAttachment{InstanceId: new(instance)},
	}
}

// Whoever has an interface attached lives, whatever EC2 says of the instance;
// and an answer that does not know it is no answer.
func TestCreatorsThatHaveInterfaces(t *testing.T) {
	const account = "111122223333"
	idle := types.NetworkInterface{NetworkInterfaceId: new("eni-1"), OwnerId: new(account), Status: types.NetworkInterfaceStatusAvailable, Description: new("aws-K8S-" + owner)}
	ended := types.Instance{InstanceId: new(owner), State: &types.InstanceState{Name: types.InstanceStateNameTerminated}}
	tests := map[string]struct {
		others []types.NetworkInterface
		page   any
		fails  bool
		want   snapshot.Creator
	}{
		"nothing for anybody":                {[]types.NetworkInterface{on(owner, account)}, page(""), true, snapshot.Creator{}},
		"another account's machine":          {[]types.NetworkInterface{on(owner, "999988887777")}, page(""), false, snapshot.Creator{Instance: owner}},
		"terminated, and its interface seen": {[]types.NetworkInterface{on(owner, account)}, page("", ended), false, snapshot.Creator{Instance: owner, State: "terminated", Attached: true}},
		"somebody else's interface":          {[]types.NetworkInterface{on("i-0ffffffffffffffff", account)}, page("", ended), false, snapshot.Creator{Instance: owner, State: "terminated"}},
		"an attachment to nothing":           {[]types.NetworkInterface{on("", account)}, page(""), false, snapshot.Creator{Instance: owner}},
	}
	for name, test := range tests {
		counted := NewTally(attachedTo(append(test.others, idle)), nil)
		v := source.View{VPCs: []string{"vpc-1"}, Snapshot: &snapshot.Snapshot{
			Account: account, Idle: []snapshot.Interface{networkInterface(idle)},
			Read: map[snapshot.Source]bool{snapshot.Unattached: true, snapshot.Subnets: true, snapshot.CIDRsKept: true, snapshot.Usage: true},
		}}
		if _, err := usage(nil, counted).ReadFrom(t.Context(), v); err != nil {
			t.Fatal(err)
		}
		keep, err := creators(&told{pages: []any{test.page}}, counted).ReadFrom(t.Context(), v)
		if (err != nil) != test.fails {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		if err == nil {
			keep(v.Snapshot)
			gathertest.Same(t, name, v.Snapshot.Creators, []snapshot.Creator{test.want})
		}
	}
}

func TestTenantsOf(t *testing.T) {
	for name, test := range map[string]struct {
		i    snapshot.Interface
		want []string
	}{
		"nobody's":          {snapshot.Interface{Description: "mine"}, nil},
		"the VPC CNI's":     {snapshot.Interface{Tags: map[string]string{leak.TagCluster: "prod"}}, []string{"prod"}},
		"an empty name":     {snapshot.Interface{Tags: map[string]string{leak.TagCluster: "", "kubernetes.io/cluster/": "owned"}}, nil},
		"of a controller":   {snapshot.Interface{Tags: map[string]string{"kubernetes.io/cluster/dev": "owned"}}, []string{"dev"}},
		"the control plane": {snapshot.Interface{Description: "Amazon EKS theirs", RequesterManaged: true}, []string{"theirs"}},
		"as EC2 tells it":   {snapshot.Interface{Description: "Amazon EKS theirs", Attached: true}, []string{"theirs"}},
		"another product's": {snapshot.Interface{Description: "Amazon EKSless"}, nil},
		"no cluster's":      {snapshot.Interface{Description: "Amazon EKS "}, nil},
	} {
		if got := tenantsOf(test.i); len(got)+len(test.want) > 0 {
			gathertest.Same(t, name, got, test.want)
		}
	}
}

func TestHollowAnswersOfVPC(t *testing.T) {
	gathertest.Converts(t, subnet)
	gathertest.Converts(t, vpcOf)
	gathertest.Converts(t, routeTable)
	gathertest.Converts(t, natGateway)
	gathertest.Converts(t, internetGateway)
	gathertest.Converts(t, egressOnly)
	gathertest.Converts(t, endpoint)
	gathertest.Converts(t, securityGroup)
	gathertest.Converts(t, networkACL)
	gathertest.Converts(t, dhcpOptions)
	gathertest.Converts(t, peering)
	gathertest.Converts(t, attachment)
	gathertest.Converts(t, func(r types.TransitGatewayRoute) snapshot.TransitRoute { return transitRoute("t", r) })
	gathertest.Converts(t, networkInterface)
	gathertest.Converts(t, func(v types.SubnetCidrReservation) snapshot.Reservation { return reservation("subnet-a", v) })
}

// TestUnknownValues holds that values newer than this code are not taken for
// good ones.
func TestUnknownValues(t *testing.T) {
	if got := attachment(types.TransitGatewayAttachment{Association: &types.TransitGatewayAttachmentAssociation{State: "a state to come", TransitGatewayRouteTableId: new("tgw-rtb-1")}}); got.Table != "" {
		t.Errorf("a table that may not be in use: %q", got.Table)
	}
	if aclEntry(types.NetworkAclEntry{RuleAction: "an action to come"}).Allow {
		t.Error("an unknown action of a network ACL allows")
	}
	if got := endpoint(types.VpcEndpoint{State: "A state to come"}); got.State == "available" {
		t.Errorf("endpoint in state %q", got.State)
	}
}

// An interface that a service runs in the account, such as one of an EKS Auto
// Mode node, is AWS's own, though the requester does not show it.
func TestManagedInterfaceIsNobodysToDelete(t *testing.T) {
	for name, tt := range map[string]struct {
		of   types.NetworkInterface
		want bool
	}{
		"the account's own":      {types.NetworkInterface{}, false},
		"requester-managed":      {types.NetworkInterface{RequesterManaged: aws.Bool(true)}, true},
		"managed by EKS":         {types.NetworkInterface{RequesterManaged: aws.Bool(false), Operator: &types.OperatorResponse{Managed: aws.Bool(true), Principal: aws.String("eks.amazonaws.com")}}, true},
		"with an operator, free": {types.NetworkInterface{Operator: &types.OperatorResponse{Managed: aws.Bool(false)}}, false},
	} {
		expect.Equal(t, name, networkInterface(tt.of).RequesterManaged, tt.want)
	}
}

// A page that is lost, or that leads to itself, is no end.
func TestHalfACountIsNone(t *testing.T) {
	for name, pages := range map[string][]*ec2.DescribeNetworkInterfacesOutput{
		"a lost page":            {{NextToken: new("2")}},
		"a page of its own":      {{NextToken: new("2")}, {NextToken: new("2")}},
		"an empty one, then one": {{NextToken: new("2")}, {NetworkInterfaces: []types.NetworkInterface{{NetworkInterfaceId: new("eni-1"), Status: "available"}}}},
	} {
		var got []string
		err := eachInterface(t.Context(), &paged{pages: pages}, nil, func(i snapshot.Interface) { got = append(got, i.ID) })
		if ok := name == "an empty one, then one"; (err == nil) != ok || ok && len(got) != 1 {
			t.Errorf("%s: %v, read %q", name, err, got)
		}
	}
}

// paged gives its pages one after the other, and then fails.
type paged struct {
	pages []*ec2.DescribeNetworkInterfacesOutput
	calls int
}

func (p *paged) DescribeNetworkInterfaces(context.Context, *ec2.DescribeNetworkInterfacesInput, ...func(*ec2.Options)) (*ec2.DescribeNetworkInterfacesOutput, error) {
	if p.calls++; p.calls > len(p.pages) {
		return nil, &wire.Error{Code: "InternalError", Status: 500, Message: "lost"}
	}
	return p.pages[p.calls-1], nil
}

// many makes as many interfaces as are wanted, a page at a time.
type many struct {
	total, given int
	// most is the most memory in use when a page was asked for.
	most uint64
}

func (m *many) DescribeNetworkInterfaces(_ context.Context, in *ec2.DescribeNetworkInterfacesInput, _ ...func(*ec2.Options)) (*ec2.DescribeNetworkInterfacesOutput, error) {
	if m.given%10_000 == 0 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		m.most = max(m.most, stats.HeapAlloc)
	}
	out := &ec2.DescribeNetworkInterfacesOutput{}
	for range int(*in.MaxResults) {
		n := types.NetworkInterface{
			NetworkInterfaceId: new(fmt.Sprintf("eni-%017x", m.given)), SubnetId: new("subnet-a"), VpcId: new("vpc-1"), Status: types.NetworkInterfaceStatusInUse,
			Description: new("aws-K8S-i-0123456789abcdef0"), TagSet: []types.Tag{{Key: new("node.k8s.amazonaws.com/instance_id"), Value: new("i-0123456789abcdef0")}},
		}
		for k := range 10 {
			ip := netip.AddrFrom4([4]byte{10, 0, byte(m.given >> 5), byte(m.given<<3 + k)})
			n.PrivateIpAddresses = append(n.PrivateIpAddresses, types.NetworkInterfacePrivateIpAddress{PrivateIpAddress: new(ip.String())})
		}
		out.NetworkInterfaces = append(out.NetworkInterfaces, n)
		m.given++
	}
	if m.given < m.total {
		out.NextToken = new(fmt.Sprint(m.given))
	}
	return out, nil
}

func counted(t testing.TB, total int) *many {
	m := &many{total: total}
	v := source.View{VPCs: []string{"vpc-1"}, Snapshot: &snapshot.Snapshot{
		Read:    map[snapshot.Source]bool{snapshot.Subnets: true, snapshot.CIDRsKept: true},
		Subnets: []snapshot.Subnet{{ID: "subnet-a", CIDR: netip.MustParsePrefix("10.0.0.0/16")}},
	}}
	c, err := NewTally(m, nil).count(t.Context(), &v)
	if err != nil || len(c.uses) != 1 || c.uses[0].Interfaces != total {
		t.Fatalf("%v, %+v", err, c.uses)
	}
	return m
}

// 100,000 interfaces take no more memory than 10,000: one page is held at a
// time, and of an interface that is in use nothing is kept.
func TestCountHoldsOnePage(t *testing.T) {
	few, most := counted(t, 10_000).most, counted(t, 100_000).most
	if most > few+(8<<20) {
		t.Errorf("%d MiB in use for 100,000 interfaces, %d MiB for 10,000", most>>20, few>>20)
	}
}

func BenchmarkCount100000(b *testing.B) {
	b.ReportAllocs()
	var most uint64
	for b.Loop() {
		most = max(most, counted(b, 100_000).most)
	}
	b.ReportMetric(float64(most)/(1<<20), "MiB-in-use")
}

// A subnet of another account whose owner keeps its reservations to himself
// does not blind the others.
func TestReservationsOfASharedSubnet(t *testing.T) {
	subnets := []snapshot.Subnet{
		{ID: "subnet-0mine", CIDR: netip.MustParsePrefix("10.0.0.0/24"), ARN: "arn:aws:ec2:us-west-2:111122223333:subnet/subnet-0mine"},
		{ID: "subnet-0shared", CIDR: netip.MustParsePrefix("10.0.1.0/24"), ARN: "arn:aws:ec2:us-west-2:444455556666:subnet/subnet-0shared"},
	}
	for refused, want := range map[string]bool{"subnet-0shared": true, "subnet-0mine": false} {
		v := source.View{Snapshot: &snapshot.Snapshot{
			Account: "111122223333", Read: map[snapshot.Source]bool{snapshot.Subnets: true}, Subnets: subnets,
			Scope: snapshot.Scope{Launchable: []string{"subnet-0mine", "subnet-0shared"}},
		}}
		keep, err := reservations(keeper(refused)).ReadFrom(t.Context(), v)
		if (err == nil) != want {
			t.Fatalf("%s refused: %v", refused, err)
		}
		if err == nil {
			keep(v.Snapshot)
			if _, lacks := v.Snapshot.Lacks(snapshot.CIDRsKept, refused); !lacks || len(v.Snapshot.Reservations) != 2 || !v.Snapshot.Reservations[1].Explicit {
				t.Errorf("%s refused: %+v, missing %+v", refused, v.Snapshot.Reservations, v.Snapshot.Missing)
			}
		}
	}
}

// keeper refuses one subnet; others have two reservations, on two pages.
type keeper string

func (k keeper) GetSubnetCidrReservations(_ context.Context, in *ec2.GetSubnetCidrReservationsInput, _ ...func(*ec2.Options)) (*ec2.GetSubnetCidrReservationsOutput, error) {
	switch {
	case strings.Contains(*in.SubnetId, string(k)):
		return nil, &wire.Error{Code: "UnauthorizedOperation", Status: 403, Message: "no"}
	case in.NextToken == nil:
		return &ec2.GetSubnetCidrReservationsOutput{NextToken: new("2"), SubnetIpv4CidrReservations: []types.SubnetCidrReservation{{SubnetCidrReservationId: new("scr-1"), Cidr: new("10.0.0.16/28"), ReservationType: "prefix"}}}, nil
	}
	return &ec2.GetSubnetCidrReservationsOutput{SubnetIpv4CidrReservations: []types.SubnetCidrReservation{{SubnetCidrReservationId: new("scr-2"), Cidr: new("10.0.0.32/28"), ReservationType: "a type to come"}}}, nil
}

func TestVPCsWithATransitGateway(t *testing.T) {
	s := &snapshot.Snapshot{
		Subnets: []snapshot.Subnet{{ID: "subnet-0a", VPC: "vpc-0a"}},
		Attachments: []snapshot.Attachment{
			{ID: "tgw-attach-01", Kind: "vpc", Resource: "vpc-0a"},
			{ID: "tgw-attach-02", Kind: "vpc", Resource: "vpc-0far"},
			{ID: "tgw-attach-03", Kind: "vpn", Resource: "vpn-0a"},
		},
	}
	gathertest.Same(t, "those whose subnets were read", attachedVPCs(s), []string{"vpc-0a"})
}

func TestTrunksOf(t *testing.T) {
	branch := func(id, trunk, status string) snapshot.Interface {
		return snapshot.Interface{ID: id, Kind: "branch", Subnet: "subnet-b", Status: status, Tags: map[string]string{"vpcresources.k8s.aws/trunk-eni-id": trunk}}
	}
	trunks, strays := trunksOf([]snapshot.Interface{
		branch("eni-b1", "eni-t1", "in-use"),
		{ID: "eni-t1", Kind: "trunk", Instance: "i-1", Subnet: "subnet-a"},
		branch("eni-b2", "eni-t1", "in-use"),
		branch("eni-b2", "eni-t1", "in-use"), // a page may bring one again
		branch("eni-b3", "eni-t1", "available"),
		{ID: "eni-t2", Kind: "trunk", Subnet: "subnet-a"},
		branch("eni-b9", "eni-gone", "available"),
		branch("eni-b4", "eni-gone", "available"),
		branch("eni-b5", "eni-gone", "in-use"), // its trunk may be the next page's
		{ID: "eni-other", Kind: "interface", Status: "available"},
	})
	expect.Same(t, "trunks", trunks, []snapshot.Trunk{{ID: "eni-t1", Instance: "i-1", Subnet: "subnet-a", Branches: 3}, {ID: "eni-t2", Subnet: "subnet-a"}})
	expect.Same(t, "strays", strays, []snapshot.StrayBranch{{ID: "eni-b4", Subnet: "subnet-b"}, {ID: "eni-b9", Subnet: "subnet-b"}})
}

// TestBranching: trunks are asked for only where something shows them.
func TestBranching(t *testing.T) {
	for name, tt := range map[string]struct {
		s    snapshot.Snapshot
		want bool
	}{
		"nothing":               {snapshot.Snapshot{}, false},
		"off":                   {snapshot.Snapshot{CNI: &snapshot.CNI{Env: map[string]string{"ENABLE_POD_ENI": "false"}}}, false},
		"on":                    {snapshot.Snapshot{CNI: &snapshot.CNI{Env: map[string]string{"ENABLE_POD_ENI": "true"}}}, true},
		"a node carries some":   {snapshot.Snapshot{Nodes: []snapshot.Node{{}, {Branches: 9}}}, true},
		"a pod waits on a node": {snapshot.Snapshot{BranchWaits: []snapshot.BranchWait{{Pod: "a/b"}}}, true},
		"a pod asks for one":    {snapshot.Snapshot{WaitingPods: []snapshot.WaitingPod{{Requests: []snapshot.Amounts{{"vpc.amazonaws.com/pod-eni": "1"}}}}}, true},
		"a pod asks for CPU":    {snapshot.Snapshot{WaitingPods: []snapshot.WaitingPod{{Requests: []snapshot.Amounts{{"cpu": "1"}}}}}, false},
	} {
		expect.Equal(t, name, branching(&tt.s), tt.want)
	}
}

// A subnet whose association is being made must not be judged by the main table.
func TestRouteTableAssociations(t *testing.T) {
	for state, want := range map[types.RouteTableAssociationStateCode]bool{
		"associated": true, "associating": true, "a state to come": true,
		"disassociating": false, "disassociated": false, "failed": false,
	} {
		got := routeTable(types.RouteTable{Associations: []types.RouteTableAssociation{{
			SubnetId: aws.String("subnet-1"), AssociationState: &types.RouteTableAssociationState{State: state},
		}}})
		if (len(got.Subnets) == 1) != want {
			t.Errorf("association in state %q: subnets %q, want it counted: %t", state, got.Subnets, want)
		}
	}
}

// Private names for inbound resolvers do not lead the VPC's nodes to S3.
func TestEndpointForInboundResolversOnly(t *testing.T) {
	for only, want := range map[bool]bool{true: false, false: true} {
		got := endpoint(types.VpcEndpoint{
			PrivateDnsEnabled: aws.Bool(true),
			DnsOptions:        &types.DnsOptions{PrivateDnsOnlyForInboundResolverEndpoint: aws.Bool(only)},
		})
		if got.PrivateDNS != want {
			t.Errorf("inbound only %t: private DNS %t, want %t", only, got.PrivateDNS, want)
		}
	}
}
