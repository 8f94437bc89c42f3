package diagnose

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

// aBurst is eight m5.4xlarge in a /24 ten minutes ago, the world's node among
// them, which took the subnet's last address.
func aBurst(s *snapshot.Snapshot) {
	n := w.Subnet(s, w.Private)
	n.CIDR, n.Free = netip.MustParsePrefix("10.42.192.0/24"), 0
	w.Instance(s, w.Node).Type = "m5.4xlarge"
	s.InstanceTypes = append(s.InstanceTypes, snapshot.InstanceType{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30, Hypervisor: "nitro", Architectures: []string{"x86_64"}})
	began := s.Time.Add(-10 * time.Minute)
	for i, id := range []string{"i-1", "i-2", "i-3", "i-4", "i-5", "i-6", "i-7", w.Node} {
		p := snapshot.Past{
			ID: id, Nodegroup: w.Nodegroup, Group: "eks-" + w.Nodegroup, Type: "m5.4xlarge", Zone: w.Zone, Subnet: w.Private, Spot: true,
			Started: began.Add(time.Duration(i) * time.Second),
		}
		if id != w.Node {
			p.End = snapshot.Joined
		}
		s.History = append(s.History, p)
	}
	s.Samples = []snapshot.Sample{{Subnet: w.Private, At: began.Add(-time.Minute), Free: 251, Total: 251}}
}

// aRefusal is a launch that EC2 refused for want of addresses, as the group's
// activities and the history tell it.
func aRefusal(s *snapshot.Snapshot) {
	at := s.Time.Add(-8 * time.Minute)
	s.Activities = append(s.Activities, snapshot.Activity{
		ID: "act-1", Group: "eks-" + w.Nodegroup, Status: "Failed", About: "Launching a new EC2 instance.  Status Reason: There are not enough free addresses in subnet '" + w.Private + "' to satisfy the requested number of instances. Launching EC2 instance failed.",
		Message: "There are not enough free addresses in subnet '" + w.Private + "' to satisfy the requested number of instances. Launching EC2 instance failed.",
		Started: at, Ended: at, Subnet: w.Private, Zone: w.Zone,
	})
	s.History = append(s.History, snapshot.Past{
		ID: "act-1", Nodegroup: w.Nodegroup, Group: "eks-" + w.Nodegroup, Zone: w.Zone, Subnet: w.Private, Spot: true,
		Started: at, End: snapshot.Refused, Cause: "launch/subnet-full",
	})
}

// A burst that exceeds its subnet is the one cause: that the subnet is empty,
// and that a launch was refused for it, are how it shows.
func TestBurstExplainsTheEmptySubnet(t *testing.T) {
	const cause = "spot/burst-exceeds-subnet " + w.Private
	tests := []struct {
		name   string
		faults []func(*snapshot.Snapshot)
		want   said
	}{
		{"registered and not Ready", []func(*snapshot.Snapshot){aBurst, unready}, said{
			Causes: []string{cause}, Hidden: []Hidden{{Check: "ip/subnet-exhausted", Because: "spot/burst-exceeds-subnet"}}, Symptoms: []checks.ID{"node/not-ready"},
		}},
		{"and a launch was refused", []func(*snapshot.Snapshot){aBurst, unready, aRefusal}, said{
			Causes: []string{cause}, Hidden: []Hidden{
				{Check: "launch/subnet-full", Because: "spot/burst-exceeds-subnet"}, {Check: "ip/subnet-exhausted", Because: "spot/burst-exceeds-subnet"},
			}, Symptoms: []checks.ID{"node/not-ready"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			w.Unjoin(s, w.Node)
			for _, f := range tt.faults {
				f(s)
			}
			got := short(Rank(checks.OfLaunches(), checks.Eval(checks.OfLaunches(), s), s))
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}
