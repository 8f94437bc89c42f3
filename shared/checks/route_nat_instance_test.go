package checks

import (
	"net/netip"
	"testing"

	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// forwarded is a private subnet whose way out is a NAT instance in the public
// one, which works; changes break it.
func forwarded(changes ...func(*snapshot.Snapshot, *snapshot.Interface, *snapshot.Instance)) *snapshot.Snapshot {
	r := snapshottest.To("0.0.0.0/0", snapshot.ToInterface, "eni-0nat")
	r.Target.Instance = "i-0nat"
	s := change(snapshottest.PrivateWithNAT(), late, routes(snapshottest.PrivateRTB, snapshottest.Local(), r))
	e := snapshot.Interface{
		ID: "eni-0nat", VPC: snapshottest.VPC, Subnet: snapshottest.Public, Status: "in-use", Kind: "interface", Instance: "i-0nat",
		PublicIP: netip.MustParseAddr("203.0.113.20"), Groups: []string{"sg-0nat"},
	}
	i := snapshot.Instance{ID: "i-0nat", State: "running", Subnet: snapshottest.Public, VPC: snapshottest.VPC, Interfaces: []string{"eni-0nat"}, PublicIP: e.PublicIP}
	for _, f := range changes {
		f(s, &e, &i)
	}
	s.Interfaces, s.Instances = append(s.Interfaces, e), append(s.Instances, i)
	return s
}

func TestNatInstance(t *testing.T) { runCases(t, natInstance(), natInstanceCases()) }

func natInstanceCases() []testCase {
	fail := []string{"fail eni-0nat [subnet-0private] [i-0node] eni-0nat forwards nothing"}
	blind := func(_ *snapshot.Snapshot, _ *snapshot.Interface, i *snapshot.Instance) { i.ID = "i-0else" }
	on := func(_ *snapshot.Snapshot, e *snapshot.Interface, _ *snapshot.Instance) { e.SourceCheck = true }
	stopped := func(s *snapshot.Snapshot, _ *snapshot.Interface, i *snapshot.Instance) {
		i.State = "stopped"
		t := snapshottest.Table(s, snapshottest.PrivateRTB)
		t.Routes[1] = gone(t.Routes[1])
	}
	return []testCase{
		{"forwards", forwarded(), []string{"pass rtb-0private [subnet-0private]"}},
		{"no NAT instance", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"source check on", forwarded(on), fail},
		{"source check on, the instance is not among those read", forwarded(on, blind), fail},
		{"stopped", forwarded(stopped), fail},
		{"stopped, only the interface is read", forwarded(stopped, blind), fail},
		{"attached to nothing", forwarded(func(_ *snapshot.Snapshot, e *snapshot.Interface, _ *snapshot.Instance) {
			e.Status, e.Instance = "available", ""
		}), fail},
		{"starting: it will forward", forwarded(func(_ *snapshot.Snapshot, _ *snapshot.Interface, i *snapshot.Instance) { i.State = "pending" }), []string{"pass rtb-0private [subnet-0private]"}},
		{"gone is route/blackhole", change(forwarded(stopped), func(s *snapshot.Snapshot) {
			s.Interfaces, s.Instances = nil, s.Instances[:1]
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"interfaces unread", change(forwarded(on, blind), unread(snapshot.Interfaces)), []string{
			"unknown eni-0nat [subnet-0private] network interfaces: denied",
		}},
		{"interfaces unread, and the instance's own check is on", change(forwarded(func(_ *snapshot.Snapshot, _ *snapshot.Interface, i *snapshot.Instance) { i.SourceCheck = true }), unread(snapshot.Interfaces)), fail},
		{"without a public address on this interface", forwarded(func(_ *snapshot.Snapshot, e *snapshot.Interface, _ *snapshot.Instance) { e.PublicIP = netip.Addr{} }), []string{
			"unknown eni-0nat [subnet-0private] route tables: not read: eni-0nat: the appliance has no public address on this interface",
		}},
		{"another account's interface", change(forwarded(on, blind), func(s *snapshot.Snapshot) { s.Interfaces = nil }), []string{
			"unknown eni-0nat [subnet-0private] route tables: not read: eni-0nat: what is behind the network interface is not read",
		}},
		{"instances unread", change(forwarded(), unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

func TestNATInstanceFix(t *testing.T) {
	on := func(_ *snapshot.Snapshot, e *snapshot.Interface, _ *snapshot.Instance) { e.SourceCheck = true }
	stopped := func(_ *snapshot.Snapshot, _ *snapshot.Interface, i *snapshot.Instance) { i.State = "stopped" }
	for want, world := range map[string]*snapshot.Snapshot{
		"aws ec2 modify-network-interface-attribute --region us-west-2 --network-interface-id eni-0nat --no-source-dest-check": forwarded(on),
		"aws ec2 start-instances --region us-west-2 --instance-ids i-0nat":                                                     forwarded(on, stopped),
	} {
		if got := failed(t, natInstance(), world).Fix.Command; got != want {
			t.Errorf("Command = %q, want %q", got, want)
		}
	}
	got := failed(t, natInstance(), forwarded(on))
	if want := "subnet-0private → rtb-0private 0.0.0.0/0 → eni-0nat (network interface of i-0nat, running): its source/destination check is on, so EC2 drops what it forwards"; value(t, got, "Path to") != want {
		t.Errorf("path = %q, want %q", value(t, got, "Path to"), want)
	}
}
