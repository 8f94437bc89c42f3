package gather

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// leaky is a world with interfaces in several states, and a reservation.
const leaky = `
ec2:
  NetworkInterfaces:
    - {NetworkInterfaceId: eni-0dead, SubnetId: subnet-0b20000000000000a, VpcId: vpc-0a1b2c3d4e5f60718, Status: available, Description: aws-K8S-i-0dead00000000dead, PrivateIpAddress: 10.42.96.20, PrivateIpAddresses: [{PrivateIpAddress: 10.42.96.20, Primary: true}, {PrivateIpAddress: 10.42.96.21}], TagSet: [{Key: node.k8s.amazonaws.com/instance_id, Value: i-0dead00000000dead}]}
    - {NetworkInterfaceId: eni-0live, SubnetId: subnet-0b20000000000000a, VpcId: vpc-0a1b2c3d4e5f60718, Status: available, Description: aws-K8S-i-0d0000000000000a1, PrivateIpAddress: 10.42.96.22}
    - {NetworkInterfaceId: eni-0root, SubnetId: subnet-0b20000000000000a, VpcId: vpc-0a1b2c3d4e5f60718, Status: available, PrivateIpAddress: 10.42.96.23, TagSet: [{Key: node.k8s.amazonaws.com/instance_id, Value: i-0beef00000000beef}]}
    - {NetworkInterfaceId: eni-0wild, SubnetId: subnet-0b20000000000000a, VpcId: vpc-0a1b2c3d4e5f60718, Status: available, PrivateIpAddress: 10.42.96.24, TagSet: [{Key: node.k8s.amazonaws.com/instance_id, Value: "i-*"}]}
  SubnetCidrReservations:
    - {SubnetCidrReservationId: scr-01, SubnetId: subnet-0b20000000000000a, Cidr: 10.42.97.0/28, ReservationType: prefix}
    - {SubnetCidrReservationId: scr-02, SubnetId: subnet-0b20000000000000b, Cidr: 10.42.129.0/28, ReservationType: explicit}
`

func countOf(p *place, name string) (n int) {
	for _, c := range p.aws.Calls() {
		if c.Operation == name {
			n++
		}
	}
	return n
}

func addressQuery(p *place, sources ...snapshot.Source) Query {
	return Query{
		Account: "111122223333", Region: "us-west-2", Time: p.world.Now(), Cluster: "eks-workshop",
		Scope: snapshot.Scope{Launchable: []string{"subnet-0b20000000000000a", "subnet-0gone"}}, Sources: sources,
	}
}

// One description of the VPC tells who holds addresses, and what is idle; the
// creators are asked for once, and a tag that is no id not at all.
func TestUsage(t *testing.T) {
	p := open(t, leaky)
	s, err := p.Read(t.Context(), addressQuery(p, snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf))
	if err != nil || len(s.Failures) > 0 {
		t.Fatal(err, s.Failures)
	}
	same(t, "idle", names(s.Idle, func(i snapshot.Interface) string { return i.ID }), []string{"eni-0dead", "eni-0live", "eni-0root", "eni-0wild"})
	same(t, "creators", s.Creators, []snapshot.Creator{{Instance: "i-0beef00000000beef"}, {Instance: "i-0d0000000000000a1", State: "running", Attached: true}, {Instance: "i-0dead00000000dead"}})
	same(t, "reservations", s.Reservations, []snapshot.Reservation{{ID: "scr-01", Subnet: "subnet-0b20000000000000a", CIDR: netip.MustParsePrefix("10.42.97.0/28")}})
	for action, want := range map[string]int{"DescribeNetworkInterfaces": 1, "DescribeInstances": 1, "GetSubnetCidrReservations": 1} {
		if got := countOf(p, action); got != want {
			t.Errorf("%d calls of %s, want %d", got, action, want)
		}
	}
	if i := slices.IndexFunc(s.Uses, func(u snapshot.Use) bool { return u.Subnet == "subnet-0b20000000000000a" }); i < 0 || s.Uses[i].Held < 5 || s.Uses[i].Kept != 16 {
		t.Errorf("uses %+v", s.Uses)
	}
}

// Who does not count asks for what is available alone.
func TestUnattachedAlone(t *testing.T) {
	p := open(t, leaky)
	s, err := p.Read(t.Context(), addressQuery(p, snapshot.CreatorsOf))
	if err != nil || len(s.Failures) > 0 || len(s.Idle) != 4 || len(s.Creators) != 3 || s.Has(snapshot.Usage) {
		t.Fatal(err, s.Failures, s.Idle, s.Creators)
	}
	if countOf(p, "DescribeNetworkInterfaces") != 1 || countOf(p, "GetSubnetCidrReservations") != 0 {
		t.Error("more was asked than for the unattached interfaces")
	}
}

// Several clusters of a VPC count it once in a sweep; a reservation that the
// first did not know makes the second count anew; the next sweep counts again.
func TestOneCountForASweep(t *testing.T) {
	p := open(t, leaky)
	all := []snapshot.Source{snapshot.Usage, snapshot.Unattached}
	look := func(r *Reader, subnet string) *snapshot.Snapshot {
		t.Helper()
		q := addressQuery(p, all...)
		q.Scope.Launchable = []string{subnet}
		s, err := r.Read(t.Context(), q)
		if err != nil || len(s.Failures) > 0 {
			t.Fatal(err, s.Failures)
		}
		return s
	}
	sweep := p.Counting()
	first := look(sweep, "subnet-0b20000000000000a")
	same(t, "the second cluster's", look(sweep, "subnet-0b20000000000000c").Uses, first.Uses)
	if n := countOf(p, "DescribeNetworkInterfaces"); n != 1 {
		t.Errorf("%d descriptions, want 1", n)
	}
	look(sweep, "subnet-0b20000000000000b")
	if n := countOf(p, "DescribeNetworkInterfaces"); n != 2 {
		t.Errorf("%d descriptions, want another for the reservation that was not known", n)
	}
	look(p.Counting(), "subnet-0b20000000000000a")
	look(p.Reader, "subnet-0b20000000000000a")
	look(p.Reader, "subnet-0b20000000000000a")
	if n := countOf(p, "DescribeNetworkInterfaces"); n != 5 {
		t.Errorf("%d descriptions, want one for each sweep, and for each look of a reader that remembers none", n)
	}
}

// A failed count fails both sources, with one call and its name; without the
// reservations nothing is counted, and what is idle is read all the same.
func TestCountThatFails(t *testing.T) {
	for action, want := range map[string][]snapshot.Source{
		"ec2:DescribeNetworkInterfaces": {snapshot.CreatorsOf, snapshot.Unattached, snapshot.Usage},
		"ec2:GetSubnetCidrReservations": {snapshot.CIDRsKept, snapshot.Usage},
		"ec2:DescribeSubnets":           {snapshot.CIDRsKept, snapshot.Subnets, snapshot.Usage},
	} {
		p := openFaulty(t, leaky, refuse(action), "")
		s, err := p.Read(t.Context(), addressQuery(p, snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf))
		if err != nil {
			t.Fatal(err)
		}
		var got []snapshot.Source
		for source := range s.Failures {
			got = append(got, source)
		}
		slices.Sort(got)
		slices.Sort(want)
		same(t, action+" refused", got, want)
		if n := countOf(p, "DescribeNetworkInterfaces"); n != 1 {
			t.Errorf("%s refused: %d descriptions, want 1", action, n)
		}
	}
}

// A page that is lost, or that leads to itself, is no end.
func TestHalfACountIsNone(t *testing.T) {
	for name, pages := range map[string][]*ec2.DescribeNetworkInterfacesOutput{
		"a lost page":            {{NextToken: ptr("2")}},
		"a page of its own":      {{NextToken: ptr("2")}, {NextToken: ptr("2")}},
		"an empty one, then one": {{NextToken: ptr("2")}, {NetworkInterfaces: []types.NetworkInterface{{NetworkInterfaceId: ptr("eni-1"), Status: "available"}}}},
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
			NetworkInterfaceId: ptr(fmt.Sprintf("eni-%017x", m.given)), SubnetId: ptr("subnet-a"), VpcId: ptr("vpc-1"), Status: types.NetworkInterfaceStatusInUse,
			Description: ptr("aws-K8S-i-0123456789abcdef0"), TagSet: []types.Tag{{Key: ptr("node.k8s.amazonaws.com/instance_id"), Value: ptr("i-0123456789abcdef0")}},
		}
		for k := range 10 {
			ip := netip.AddrFrom4([4]byte{10, 0, byte(m.given >> 5), byte(m.given<<3 + k)})
			n.PrivateIpAddresses = append(n.PrivateIpAddresses, types.NetworkInterfacePrivateIpAddress{PrivateIpAddress: ptr(ip.String())})
		}
		out.NetworkInterfaces = append(out.NetworkInterfaces, n)
		m.given++
	}
	if m.given < m.total {
		out.NextToken = ptr(fmt.Sprint(m.given))
	}
	return out, nil
}

func counted(t testing.TB, total int) *many {
	m := &many{total: total}
	v := source.View{VPCs: []string{"vpc-1"}, Snapshot: &snapshot.Snapshot{
		Read:    map[snapshot.Source]bool{snapshot.Subnets: true, snapshot.CIDRsKept: true},
		Subnets: []snapshot.Subnet{{ID: "subnet-a", CIDR: netip.MustParsePrefix("10.0.0.0/16")}},
	}}
	c, err := newTally(m, nil).count(t.Context(), &v)
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
		return &ec2.GetSubnetCidrReservationsOutput{NextToken: ptr("2"), SubnetIpv4CidrReservations: []types.SubnetCidrReservation{{SubnetCidrReservationId: ptr("scr-1"), Cidr: ptr("10.0.0.16/28"), ReservationType: "prefix"}}}, nil
	}
	return &ec2.GetSubnetCidrReservationsOutput{SubnetIpv4CidrReservations: []types.SubnetCidrReservation{{SubnetCidrReservationId: ptr("scr-2"), Cidr: ptr("10.0.0.32/28"), ReservationType: "a type to come"}}}, nil
}

// ENIConfigs do something only where custom networking is on.
func TestENIConfigsAreAskedForWhereTheyCount(t *testing.T) {
	for change, want := range map[string]int{"name: plain\n": 0, crowded: 1} {
		p := open(t, change)
		s, err := p.Read(t.Context(), addressQuery(p, snapshot.ENIConfigsOf))
		if err != nil || !s.Has(snapshot.ENIConfigsOf) || len(s.ENIConfigs) != want {
			t.Errorf("%v, %+v, %+v", err, s.ENIConfigs, s.Failures)
		}
		asked := 0
		for _, operation := range p.asked {
			if operation == "list eniconfigs" {
				asked++
			}
		}
		if asked != want {
			t.Errorf("asked %q, want ENIConfigs %d times", p.asked, want)
		}
	}
	// Who lacks the right is told no fault: EKS's own policies do not give it.
	p := openFaulty(t, crowded, wire.NoFaults{}, "eniconfigs")
	s, err := p.Read(t.Context(), addressQuery(p, snapshot.ENIConfigsOf))
	if f := s.Failures[snapshot.ENIConfigsOf]; err != nil || f.Reason != snapshot.NotRead || !strings.Contains(f.Message, "deploy/clusterrole.yaml") {
		t.Errorf("%v, %+v", err, f)
	}
}
