package joincheck

import (
	"fmt"
	"testing"
	"time"

	"rollcall/local/simaws"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// TestKarpentersTag: where the function may not read the nodes, Karpenter's tag
// tells who joined, and who did not.
func TestKarpentersTag(t *testing.T) {
	const world = `
timeline: []
ec2:
  Instances:
`
	instance := func(id string, launched, more string) string {
		return fmt.Sprintf("    - {InstanceId: %s, InstanceType: m5.large, SubnetId: subnet-0c30000000000000d, LaunchTime: %s%s}\n", id, launched, more)
	}
	const (
		pool   = "{Key: karpenter.sh/nodepool, Value: gpu}, {Key: eks:eks-cluster-name, Value: eks-workshop}, {Key: kubernetes.io/cluster/eks-workshop, Value: owned}"
		bare   = ", Tags: [" + pool + "]"
		tagged = ", Tags: [" + pool + ", {Key: karpenter.sh/nodeclaim, Value: gpu-x7k2p}]"
		ended  = ", State: {Name: terminated, Code: 48}, StateReason: {Code: Client.UserInitiatedShutdown, Message: 'Client.UserInitiatedShutdown: User initiated shutdown'}, StateTransitionReason: 'User initiated (%s GMT)'"
	)
	over := world +
		instance("i-0a700000000000001", "2026-11-20T14:50:00Z", tagged) +
		instance("i-0a700000000000007", "2026-11-20T12:00:00Z", tagged) + // long a node: it needs no record
		instance("i-0a700000000000002", "2026-11-20T14:50:00Z", bare) +
		instance("i-0a700000000000003", "2026-11-20T14:40:00Z", bare) +
		instance("i-0a700000000000004", "2026-11-20T14:30:00Z", bare+fmt.Sprintf(ended, "2026-11-20 14:44:50")) +
		instance("i-0a700000000000005", "2026-11-20T14:30:00Z", tagged+fmt.Sprintf(ended, "2026-11-20 14:50:00")) +
		instance("i-0a700000000000006", "2026-11-20T14:30:00Z", bare+fmt.Sprintf(ended, "2026-11-20 14:37:00"))
	b := bench(t, stagetest.Options{World: healthy.World, Over: over, Faults: []simaws.FaultRule{{Call: "kubernetes:list nodes", Deny: true}}})
	for id, started := range map[string]string{
		"i-0a700000000000002": "2026-11-20T14:50:00Z", "i-0a700000000000003": "2026-11-20T14:40:00Z", "i-0a700000000000004": "2026-11-20T14:30:00Z",
		"i-0a700000000000005": "2026-11-20T14:30:00Z", "i-0a700000000000006": "2026-11-20T14:30:00Z",
	} {
		at, err := time.Parse(time.RFC3339, started)
		if err != nil {
			t.Fatal(err)
		}
		l := store.LaunchRecord{Launch: outcome.Launch{Instance: id, Started: at, Status: outcome.Waiting}, Cluster: stagetest.Cluster, Due: at.Add(5 * time.Minute)}
		if _, err := b.Store.CreateLaunch(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	o := sweep(t, b)
	stands := map[string]outcome.LaunchStatus{}
	for _, l := range o.Launches {
		stands[l.Instance] = l.Status
		if !l.Ready.IsZero() || (l.Status == outcome.Joined) == l.Tagged.IsZero() {
			t.Errorf("%s: Ready %v, tagged %v; nobody saw a node", l.Instance, l.Ready, l.Tagged)
		}
	}
	for id, want := range map[string]struct {
		stands outcome.LaunchStatus
		end    snapshot.End
		blind  bool
	}{
		"i-0a700000000000001": {outcome.Joined, snapshot.Joined, false},
		"i-0a700000000000002": {outcome.Missed, snapshot.Open, true},
		"i-0a700000000000003": {outcome.Missed, snapshot.Open, false},
		"i-0a700000000000004": {outcome.Gone, snapshot.NotJoined, false},
		"i-0a700000000000005": {outcome.Joined, snapshot.Joined, false},
		"i-0a700000000000006": {outcome.Gone, snapshot.Unclear, false},
	} {
		l, ok := b.Launch(id)
		if stands[id] != want.stands || !ok || l.Status != want.stands || l.End != want.end || (l.Blind != "") != want.blind {
			t.Errorf("%s is reported as %q; its record (%v) %q, end %q (%s), blind %q; want %+v", id, stands[id], ok, l.Status, l.End, l.Why, l.Blind, want)
		}
	}
	if _, recorded := b.Launch("i-0a700000000000007"); recorded || stands["i-0a700000000000007"] != "" {
		t.Errorf("a node of three hours is %q, recorded %v", stands["i-0a700000000000007"], recorded)
	}
	// Who joined is asked for no more.
	b.Advance(5 * time.Minute)
	for _, l := range sweep(t, b).Launches {
		if l.Status == outcome.Joined {
			t.Errorf("%s is called again", l.Instance)
		}
	}
}
