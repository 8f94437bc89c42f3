package vpc

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

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
