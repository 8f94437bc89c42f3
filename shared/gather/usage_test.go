package gather

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"rollcall/local/platform/wire"
	"rollcall/shared/gather/gathertest"
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
	gathertest.Same(t, "idle", names(s.Idle, func(i snapshot.Interface) string { return i.ID }), []string{"eni-0dead", "eni-0live", "eni-0root", "eni-0wild"})
	gathertest.Same(t, "creators", s.Creators, []snapshot.Creator{{Instance: "i-0beef00000000beef"}, {Instance: "i-0d0000000000000a1", State: "running", Attached: true}, {Instance: "i-0dead00000000dead"}})
	gathertest.Same(t, "reservations", s.Reservations, []snapshot.Reservation{{ID: "scr-01", Subnet: "subnet-0b20000000000000a", CIDR: netip.MustParsePrefix("10.42.97.0/28")}})
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
	gathertest.Same(t, "the second cluster's", look(sweep, "subnet-0b20000000000000c").Uses, first.Uses)
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
		gathertest.Same(t, action+" refused", got, want)
		if n := countOf(p, "DescribeNetworkInterfaces"); n != 1 {
			t.Errorf("%s refused: %d descriptions, want 1", action, n)
		}
	}
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
