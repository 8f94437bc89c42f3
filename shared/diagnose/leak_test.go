package diagnose

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

// aLeak is interfaces of a dead node with ten addresses each, in the world's
// private subnet, which is a /24.
func aLeak(interfaces int) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		const dead = "i-0dead00000000dead"
		w.Subnet(s, w.Private).CIDR = netip.MustParsePrefix("10.42.192.0/24")
		s.Creators = []snapshot.Creator{{Instance: dead, State: "terminated"}}
		for k := range interfaces {
			i := snapshot.Interface{
				ID: fmt.Sprintf("eni-0%d", k), Account: s.Account, VPC: w.VPC, Subnet: w.Private, Status: "available", Kind: "interface", Description: "aws-K8S-" + dead,
				Tags: map[string]string{leak.TagInstance: dead, leak.TagCluster: w.ClusterName, leak.TagCreated: s.Time.Add(-time.Hour).Format(time.RFC3339)},
			}
			for a := range 10 {
				i.PrivateIPs = append(i.PrivateIPs, netip.AddrFrom4([4]byte{10, 42, 192, byte(4 + 10*k + a)}))
			}
			s.Idle = append(s.Idle, i)
		}
	}
}

// pluginDown is a node whose network plugin finds no address.
func pluginDown(s *snapshot.Snapshot) {
	unready(s)
	n := &s.Nodes[len(s.Nodes)-1]
	n.Ready.Message = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"
	s.Pods = append(s.Pods, snapshot.Pod{Namespace: "kube-system", Name: "aws-node-x", Node: n.Name, Phase: "Running", Containers: []snapshot.Container{
		{Name: "aws-node", State: "waiting", Reason: "CrashLoopBackOff", Last: "Error", LastMessage: "no free address"},
	}})
}

// wants sets how many nodes the group wants.
func wants(desired int) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Groups[0].Desired = desired }
}

// growsTo sets how many nodes the group may have.
func growsTo(most int) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Groups[0].Max = most }
}

func uncleaned(s *snapshot.Snapshot) { s.CNI.Env["DISABLE_LEAKED_ENI_CLEANUP"] = "true" }

// What dead nodes left behind is the one cause where giving it back cures what
// is wrong; where it would not, it is none.
func TestLeakExplainsTheShortage(t *testing.T) {
	const (
		leaked    = "ip/leaked-interfaces " + w.Private
		exhausted = "ip/subnet-exhausted " + w.Private
	)
	type list = []func(*snapshot.Snapshot)
	behind := func(ids ...checks.ID) (all []Hidden) {
		for _, id := range ids {
			all = append(all, Hidden{Check: id, Because: "ip/leaked-interfaces"})
		}
		return all
	}
	tests := []struct {
		name   string
		faults list
		want   said
	}{
		{"the subnet is empty", list{full, unready, aLeak(6)}, said{
			Causes: []string{leaked}, Hidden: behind("ip/subnet-exhausted"), Symptoms: []checks.ID{"node/not-ready"},
		}},
		{"the network plugin finds no address", list{full, pluginDown, aLeak(6)}, said{
			Causes: []string{leaked}, Hidden: behind("node/cni-not-ready", "ip/subnet-exhausted"), Symptoms: []checks.ID{"node/not-ready"},
		}},
		{"launches are refused", list{full, unready, aLeak(6), aRefusal, wants(3)}, said{
			Causes: []string{leaked}, Hidden: behind("launch/subnet-full", "ip/subnet-exhausted"), Symptoms: []checks.ID{"node/not-ready"},
		}},
		{"a few are free, and not enough for a node", list{tight, unready, aLeak(1)}, said{
			Causes: []string{leaked}, Hidden: behind("ip/subnet-exhausted"), Symptoms: []checks.ID{"node/not-ready"},
		}},
		{"a small leak in a subnet that is too small", list{full, unready, aLeak(1), func(s *snapshot.Snapshot) { s.Idle[0].PrivateIPs = s.Idle[0].PrivateIPs[:3] }}, said{
			Causes: []string{exhausted, leaked}, Symptoms: []checks.ID{"node/not-ready"}, // the leak is advice
		}},
		{"a leak that cures one node, and thirty are refused", list{full, unready, aLeak(1), aRefusal, wants(30)}, said{
			Causes: []string{leaked, "launch/subnet-full " + w.Private}, Hidden: behind("ip/subnet-exhausted"), Symptoms: []checks.ID{"node/not-ready"},
		}},
		{"a burst of far more than the leak", list{aBurst, unready, aLeak(1)}, said{
			Causes: []string{"spot/burst-exceeds-subnet " + w.Private, leaked}, Hidden: []Hidden{{Check: "ip/subnet-exhausted", Because: "spot/burst-exceeds-subnet"}}, Symptoms: []checks.ID{"node/not-ready"},
		}},
		{"a burst that had fit without the leak", list{aBurst, unready, aLeak(24)}, said{
			Causes: []string{leaked}, Hidden: behind("ip/subnet-exhausted", "spot/burst-exceeds-subnet"), Symptoms: []checks.ID{"node/not-ready"},
		}},
		{"much is leaked and nothing short", list{aLeak(6)}, said{Causes: []string{leaked}, Symptoms: nil}},
		{"little is leaked and nothing short", list{aLeak(1)}, said{Causes: []string{leaked}}}, // advice
		{"why it leaks", list{full, unready, aLeak(6), uncleaned}, said{
			Causes: []string{leaked}, Contributing: []checks.ID{"ip/leak-cause"}, Hidden: behind("ip/subnet-exhausted"), Symptoms: []checks.ID{"node/not-ready"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			w.Subnet(s, w.Private).Free = 100
			if len(tt.want.Symptoms) > 0 {
				w.Unjoin(s, w.Node)
			}
			for _, f := range tt.faults {
				f(s)
			}
			if diff := cmp.Diff(tt.want, short(diagnosis(s))); diff != "" {
				t.Errorf("diagnosis (-want +got):\n%s", diff)
			}
		})
	}
}

// A leak that is much is told although no node suffers yet; one that is little
// is not.
func TestLeakIsToldByItsSize(t *testing.T) {
	for n, want := range map[int]checks.Confidence{1: checks.Advice, 6: checks.Likely} {
		s := w.PrivateWithNAT()
		w.Subnet(s, w.Private).Free = 100
		aLeak(n)(s)
		d := diagnosis(s)
		if len(d.Causes) != 1 || d.Causes[0].Confidence != want {
			t.Errorf("%d interfaces: causes %+v, want one that is %s", n, d.Causes, want)
		}
	}
}

// What the groups may still launch is the leak's matter where it fits with the
// leaked addresses, and one of its own where it does not.
func TestLeakExplainsWhatWillNotFit(t *testing.T) {
	list := checks.OfAddresses()
	for most, want := range map[int]said{
		7: {Causes: []string{"ip/leaked-interfaces " + w.Private}, // 6 x 20 = 120 of 30 + 100
			Hidden: []Hidden{{Check: "ip/scale-out-will-not-fit", Because: "ip/leaked-interfaces"}}},
		20: {Causes: []string{"ip/scale-out-will-not-fit " + w.Private, "ip/leaked-interfaces " + w.Private}},
	} {
		s := w.PrivateWithNAT()
		w.Subnet(s, w.Private).Free = 30
		growsTo(most)(s)
		aLeak(10)(s)
		if diff := cmp.Diff(want, short(Rank(list, checks.Eval(list, s), s))); diff != "" {
			t.Errorf("%d nodes: diagnosis (-want +got):\n%s", most, diff)
		}
	}
}
