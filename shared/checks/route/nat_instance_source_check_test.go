package route

import (
	"net/netip"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestNatInstance(t *testing.T) {
	checktest.RunCases(t, NATInstanceSourceCheck(), natInstanceCases())
}

func natInstanceCases() []checktest.Case {
	fail := []string{"fail eni-0nat [subnet-0private] [i-0node] eni-0nat forwards nothing"}
	blind := func(_ *snapshot.Snapshot, _ *snapshot.Interface, i *snapshot.Instance) { i.ID = "i-0else" }
	on := func(_ *snapshot.Snapshot, e *snapshot.Interface, _ *snapshot.Instance) { e.SourceCheck = true }
	stopped := func(s *snapshot.Snapshot, _ *snapshot.Interface, i *snapshot.Instance) {
		i.State = "stopped"
		t := snapshottest.Table(s, snapshottest.PrivateRTB)
		t.Routes[1] = checktest.Gone(t.Routes[1])
	}
	return []checktest.Case{
		{"forwards", checktest.Forwarded(), []string{"pass rtb-0private [subnet-0private]"}},
		{"no NAT instance", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"source check on", checktest.Forwarded(on), fail},
		{"source check on, the instance is not among those read", checktest.Forwarded(on, blind), fail},
		{"stopped", checktest.Forwarded(stopped), fail},
		{"stopped, only the interface is read", checktest.Forwarded(stopped, blind), fail},
		{"attached to nothing", checktest.Forwarded(func(_ *snapshot.Snapshot, e *snapshot.Interface, _ *snapshot.Instance) {
			e.Status, e.Instance = "available", ""
		}), fail},
		{"starting: it will forward", checktest.Forwarded(func(_ *snapshot.Snapshot, _ *snapshot.Interface, i *snapshot.Instance) { i.State = "pending" }), []string{"pass rtb-0private [subnet-0private]"}},
		{"gone is route/blackhole", checktest.Change(checktest.Forwarded(stopped), func(s *snapshot.Snapshot) {
			s.Interfaces, s.Instances = nil, s.Instances[:1]
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"interfaces unread", checktest.Change(checktest.Forwarded(on, blind), checktest.Unread(snapshot.Interfaces)), []string{
			"unknown eni-0nat [subnet-0private] network interfaces: denied",
		}},
		{"interfaces unread, and the instance's own check is on", checktest.Change(checktest.Forwarded(func(_ *snapshot.Snapshot, _ *snapshot.Interface, i *snapshot.Instance) { i.SourceCheck = true }), checktest.Unread(snapshot.Interfaces)), fail},
		{"without a public address on this interface", checktest.Forwarded(func(_ *snapshot.Snapshot, e *snapshot.Interface, _ *snapshot.Instance) { e.PublicIP = netip.Addr{} }), []string{
			"unknown eni-0nat [subnet-0private] route tables: not read: eni-0nat: the appliance has no public address on this interface",
		}},
		{"another account's interface", checktest.Change(checktest.Forwarded(on, blind), func(s *snapshot.Snapshot) { s.Interfaces = nil }), []string{
			"unknown eni-0nat [subnet-0private] route tables: not read: eni-0nat: what is behind the network interface is not read",
		}},
		{"instances unread", checktest.Change(checktest.Forwarded(), checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

func TestNATInstanceFix(t *testing.T) {
	on := func(_ *snapshot.Snapshot, e *snapshot.Interface, _ *snapshot.Instance) { e.SourceCheck = true }
	stopped := func(_ *snapshot.Snapshot, _ *snapshot.Interface, i *snapshot.Instance) { i.State = "stopped" }
	for want, world := range map[string]*snapshot.Snapshot{
		"aws ec2 modify-network-interface-attribute --region us-west-2 --network-interface-id eni-0nat --no-source-dest-check": checktest.Forwarded(on),
		"aws ec2 start-instances --region us-west-2 --instance-ids i-0nat":                                                     checktest.Forwarded(on, stopped),
	} {
		if got := checktest.Failed(t, NATInstanceSourceCheck(), world).Fix.Command; got != want {
			t.Errorf("Command = %q, want %q", got, want)
		}
	}
	got := checktest.Failed(t, NATInstanceSourceCheck(), checktest.Forwarded(on))
	if want := "subnet-0private → rtb-0private 0.0.0.0/0 → eni-0nat (network interface of i-0nat, running): its source/destination check is on, so EC2 drops what it forwards"; checktest.Value(t, got, "Path to") != want {
		t.Errorf("path = %q, want %q", checktest.Value(t, got, "Path to"), want)
	}
}
