package joincheck

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/checkid"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// TestSweepSeesKarpenter: a NodePool that gets no nodes makes no event; the sweep
// finds it, and that no instance is in trouble does not keep it from being told.
func TestSweepSeesKarpenter(t *testing.T) {
	b := bench(t, stagetest.Options{World: healthy.World, ClusterRole: true, Over: healthy.Over + `
kubernetes:
  eks-workshop:
    NodePools:
      - metadata: {name: gpu, generation: 1}
        spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}}}}
    EC2NodeClasses:
      - metadata: {name: gpu, generation: 1}
        status: {conditions: [{type: SubnetsReady, status: "False", reason: SubnetsNotFound, message: none, observedGeneration: 1}, {type: Ready, status: "False", reason: UnhealthyDependents, observedGeneration: 1}]}
`})
	o := sweep(t, b)
	if got := stagetest.Causes(o)[string(checkid.KarpenterNodeclassNotReady)]; got != "gpu" || len(o.Launches) > 0 || len(o.Blind) > 0 {
		t.Errorf("because of %v, launches %+v, blind %v", stagetest.Causes(o), o.Launches, o.Blind)
	}
	for _, source := range []snapshot.Source{snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf} {
		if !slices.Contains(o.Read, source) {
			t.Errorf("%s was not read", source)
		}
	}
}

// TestOlderRights: a cluster whose role does not have Karpenter's objects loses
// nothing; that they may not be listed is said where a node tells of Karpenter.
func TestOlderRights(t *testing.T) {
	const node = `
kubernetes:
  eks-workshop:
    joined: [i-0d0000000000000b2, i-0d0000000000000c3]
    Nodes:
      - metadata: {name: ip-10-42-96-10, labels: {karpenter.sh/nodepool: gpu}, creationTimestamp: "2026-11-20T10:00:00Z"}
        spec: {providerID: "aws:///us-west-2a/i-0d0000000000000a1"}
        status: {conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-11-20T10:01:00Z"}]}
`
	for name, tt := range map[string]struct {
		over string
		want []checkid.ID
	}{
		"nothing tells of Karpenter": {"", nil},
		"a node does":                {node, []checkid.ID{checkid.KarpenterNodeclassNotReady, checkid.KarpenterNodepoolLimit, checkid.NodeNotInitialized}},
	} {
		t.Run(name, func(t *testing.T) {
			b := bench(t, stagetest.Options{World: healthy.World, Over: healthy.Over + tt.over}) // with an access policy of EKS
			o := sweep(t, b)
			var got []checkid.ID
			for _, u := range o.Diagnosis.Unknown {
				got = append(got, u.Check)
				for _, f := range u.Blocked {
					if f.Reason != snapshot.Denied || f.Source != snapshot.NodePoolsOf && f.Source != snapshot.NodeClaimsOf || !strings.Contains(f.Message, "deploy/clusterrole.yaml") {
						t.Errorf("%s is unknown for %+v", u.Check, f)
					}
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" || len(o.Blind) > 0 || len(stagetest.Causes(o)) > 0 {
				t.Errorf("blind %v, causes %v, unknown (-want +got):\n%s", o.Blind, stagetest.Causes(o), diff)
			}
		})
	}
}

// TestKarpenterObjectsThatAreGone: what an incident is about is gone with the
// object, and nothing is gone that could not be listed.
func TestKarpenterObjectsThatAreGone(t *testing.T) {
	class := snapshot.ClassRef{Group: snapshot.KarpenterGroup, Kind: "EC2NodeClass", Name: "kept"}
	s := &snapshot.Snapshot{
		Read:       map[snapshot.Source]bool{snapshot.NodePoolsOf: true, snapshot.NodeClaimsOf: true, snapshot.Groups: true},
		NodePools:  []snapshot.NodePool{{Name: "kept", Class: class}, {Name: "going", Deleting: true, Class: snapshot.ClassRef{Group: snapshot.KarpenterGroup, Name: "unused"}}},
		NodeClaims: []snapshot.NodeClaim{{Name: "kept"}, {Name: "going", Deleting: true}},
	}
	about := func(check checkid.ID, covers ...string) incident.Incident {
		return incident.Incident{Key: report.Key{Check: check}, State: incident.Open, Covers: covers}
	}
	r := roll{sweep: true, incidents: []incident.Incident{
		about(checkid.KarpenterNodeclassNotReady, "ec2nodeclass/kept", "ec2nodeclass/unused", "nodeclass/kept", "nodepool/kept", "nodepool/going"),
		about(checkid.NodeNotInitialized, "nodeclaim/kept", "nodeclaim/going", "nodeclaim/gone", "something/else"),
		// A nodegroup of the same name is no object of Karpenter's.
		about(checkid.NodegroupHealth, "going"),
	}}
	want := []string{"ec2nodeclass/unused", "nodeclass/kept", "nodepool/going", "nodeclaim/going", "nodeclaim/gone"}
	if diff := cmp.Diff(want, absent(s, r)); diff != "" {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
	s.Read = map[snapshot.Source]bool{snapshot.Groups: true}
	if got := absent(s, r); len(got) > 0 {
		t.Errorf("gone %q, and nobody could look", got)
	}
}
