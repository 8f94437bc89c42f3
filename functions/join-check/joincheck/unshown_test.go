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
