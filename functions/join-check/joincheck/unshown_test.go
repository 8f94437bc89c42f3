package joincheck

import (
	"slices"
	"testing"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/diagnose"
	"rollcall/shared/snapshot"
)

// TestANodeWhoseInstanceIsNotShown: a Ready node of an instance that EC2 does not
// show (of another account, in a shared VPC) is not well by silence.
func TestANodeWhoseInstanceIsNotShown(t *testing.T) {
	const foreign = "i-0f00000000000f00d"
	b := bench(t, stagetest.Options{World: healthy.World, Over: healthy.Over + `
kubernetes:
  eks-workshop:
    Nodes:
      - metadata: {name: ip-10-42-99-9.us-west-2.compute.internal, creationTimestamp: "2026-11-12T09:14:05Z"}
        spec: {providerID: "aws:///us-west-2a/` + foreign + `"}
        status: {conditions: [{type: Ready, status: "True", reason: KubeletReady}]}
`})
	o := sweep(t, b)
	i := slices.IndexFunc(o.Diagnosis.Unknown, func(u diagnose.Unknown) bool { return slices.Contains(u.Covers, foreign) })
	if i < 0 || len(o.Diagnosis.Unknown[i].Blocked) != 1 || o.Diagnosis.Unknown[i].Blocked[0].Reason != snapshot.NotShown || o.Diagnosis.Unknown[i].Check != "node/not-registered" {
		t.Fatalf("unknown %+v, want that %s is not shown", o.Diagnosis.Unknown, foreign)
	}
	if len(stagetest.Causes(o)) > 0 || len(o.Blind) > 0 {
		t.Errorf("causes %v, blind %+v", stagetest.Causes(o), o.Blind)
	}
}

// TestANodeClaimWhoseInstanceIsNotShown: so is a NodeClaim that launched an instance past
// the join time ago. One that has just launched its instance, or is being deleted, is not
// reported.
func TestANodeClaimWhoseInstanceIsNotShown(t *testing.T) {
	for name, tt := range map[string]struct {
		launched, more string
		want           bool
	}{
		"launched long ago": {"2026-11-20T14:40:00Z", "", true},
		"just launched":     {"2026-11-20T15:08:00Z", "", false},
		"being deleted":     {"2026-11-20T14:40:00Z", `, deletionTimestamp: "2026-11-20T15:07:00Z"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := bench(t, stagetest.Options{World: healthy.World, ClusterRole: true, Over: healthy.Over + `
kubernetes:
  eks-workshop:
    NodePools:
      - metadata: {name: general}
        spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}}
    NodeClaims:
      - metadata: {name: general-x7k2p, labels: {karpenter.sh/nodepool: general}, creationTimestamp: "` + tt.launched + `"` + tt.more + `}
        spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}
        status:
          providerID: aws:///us-west-2a/i-0f00000000000f00d
          conditions: [{type: Launched, status: "True", reason: Launched, lastTransitionTime: "` + tt.launched + `"}]
`})
			o := sweep(t, b)
			unseen := slices.ContainsFunc(o.Diagnosis.Unknown, func(u diagnose.Unknown) bool {
				return u.Check == "node/not-registered" && slices.Contains(u.Covers, "i-0f00000000000f00d") && u.Blocked[0].Reason == snapshot.NotShown
			})
			if unseen != tt.want {
				t.Errorf("unknown %+v, want %v that the instance is not shown", o.Diagnosis.Unknown, tt.want)
			}
		})
	}
}
