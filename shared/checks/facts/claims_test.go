package facts

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
)

var claimedAt = time.Date(2026, 11, 20, 14, 48, 0, 0, time.UTC)

// unregistered is a NodeClaim whose node has not registered.
func unregistered(name, instance string) snapshot.NodeClaim {
	says := func(status, reason, message string) snapshot.ObservedCondition {
		return snapshot.ObservedCondition{Condition: snapshot.Condition{Status: status, Reason: reason, Message: message, Since: claimedAt}}
	}
	return snapshot.NodeClaim{Name: name, Instance: instance, Conditions: map[string]snapshot.ObservedCondition{
		"Launched": says("True", "Launched", ""), "Registered": says("Unknown", "NodeNotFound", "Node not registered with cluster"),
		"Initialized": says("Unknown", "NodeNotFound", ""), "Ready": says("Unknown", "ReconcilingDependents", "Initialized=Unknown, Registered=Unknown"),
	}}
}

func TestClaimEvidence(t *testing.T) {
	const says = "Launched since 14:48:00 UTC; not Registered since 14:48:00 UTC: NodeNotFound (Node not registered with cluster); not Initialized since 14:48:00 UTC: NodeNotFound"
	const end = " after its launch: Karpenter ends an instance whose node has not registered 15 minutes after its NodeClaim was made, and deletes the NodeClaim"
	remembered := unregistered("gpu-a", "i-1")
	ended := func(lived time.Duration, code string, tags ...string) snapshot.Instance {
		in := snapshot.Instance{ID: "i-1", State: "terminated", Launched: claimedAt, Tags: map[string]string{}, StateReason: snapshot.StateReason{Code: code, When: claimedAt.Add(lived)}}
		for i := 0; i < len(tags); i += 2 {
			in.Tags[tags[i]] = tags[i+1]
		}
		return in
	}
	const user, pool = "Client.UserInitiatedShutdown", "karpenter.sh/nodepool"
	for name, tt := range map[string]struct {
		s    snapshot.Snapshot
		ids  []string
		want []finding.Evidence
	}{
		"its NodeClaim":     {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{unregistered("gpu-a", "i-1"), unregistered("gpu-b", "")}}, []string{"i-1", "i-2"}, []finding.Evidence{{What: "NodeClaim gpu-a", Value: says}}},
		"no conditions":     {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{{Name: "gpu-a", Instance: "i-1"}}}, []string{"i-1"}, []finding.Evidence{{What: "NodeClaim gpu-a", Value: "has no conditions yet"}}},
		"of no NodeClaim":   {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{unregistered("gpu-a", "i-9")}}, []string{"i-1"}, nil},
		"of a burst, three": {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{{Name: "a", Instance: "i-1"}, {Name: "b", Instance: "i-2"}, {Name: "c", Instance: "i-3"}, {Name: "d", Instance: "i-4"}}}, []string{"i-0", "i-1", "i-2", "i-3", "i-4"}, []finding.Evidence{{What: "NodeClaim a", Value: "has no conditions yet"}, {What: "NodeClaim b", Value: "has no conditions yet"}, {What: "NodeClaim c", Value: "has no conditions yet"}}},
		"remembered, and ended by Karpenter": {
			snapshot.Snapshot{Instances: []snapshot.Instance{ended(14*time.Minute+58*time.Second, user, pool, "gpu")}, Launches: []snapshot.ExpectedJoin{{Instance: "i-1", Started: claimedAt, Claim: &remembered, ClaimSeen: claimedAt.Add(10 * time.Minute)}}}, []string{"i-1"},
			[]finding.Evidence{{What: "NodeClaim gpu-a", Value: says + "; so it was at 14:58:00 UTC, and is gone since"}, {What: "End of i-1", Value: "14m58s" + end}},
		},
		"ended by Karpenter, and nobody remembers": {snapshot.Snapshot{Instances: []snapshot.Instance{ended(14*time.Minute, user, pool, "gpu")}}, []string{"i-1"}, []finding.Evidence{{What: "End of i-1", Value: "14m0s" + end}}},
		"ended by EKS Auto Mode":                   {snapshot.Snapshot{Instances: []snapshot.Instance{ended(16*time.Minute, user, AutoPoolTag, "gpu")}}, []string{"i-1"}, []finding.Evidence{{What: "End of i-1", Value: "16m0s" + end}}},
		"ended before that":                        {snapshot.Snapshot{Instances: []snapshot.Instance{ended(14*time.Minute-time.Second, user, pool, "gpu")}}, []string{"i-1"}, nil},
		"ended after that":                         {snapshot.Snapshot{Instances: []snapshot.Instance{ended(16*time.Minute+time.Second, user, pool, "gpu")}}, []string{"i-1"}, nil},
		"it had registered":                        {snapshot.Snapshot{Instances: []snapshot.Instance{ended(15*time.Minute, user, pool, "gpu", "karpenter.sh/nodeclaim", "gpu-a")}}, []string{"i-1"}, nil},
		"taken back":                               {snapshot.Snapshot{Instances: []snapshot.Instance{ended(15*time.Minute, "Server.SpotInstanceTermination", pool, "gpu")}}, []string{"i-1"}, nil},
		"of no NodePool":                           {snapshot.Snapshot{Instances: []snapshot.Instance{ended(15*time.Minute, user)}}, []string{"i-1"}, nil},
	} {
		if diff := cmp.Diff(tt.want, ClaimEvidence(&tt.s, tt.ids)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
