package joincheck

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/checkid"
	"rollcall/shared/diagnose"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// claimed is a world with an instance of Karpenter in a subnet without a route to the internet,
// and its NodeClaim.
const claimed = `
timeline: []
ec2:
  Instances:
    - {InstanceId: i-0a700000000000001, InstanceType: m5.large, SubnetId: subnet-0c30000000000000d, LaunchTime: 2026-11-20T14:50:00Z, Tags: [{Key: karpenter.sh/nodepool, Value: gpu}, {Key: eks:eks-cluster-name, Value: eks-workshop}, {Key: kubernetes.io/cluster/eks-workshop, Value: owned}]}
kubernetes:
  eks-workshop:
    NodePools:
      - metadata: {name: gpu, generation: 1}
        spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}}}}
    EC2NodeClasses:
      - metadata: {name: gpu, generation: 1}
        status: {conditions: [{type: Ready, status: "True", reason: Ready, observedGeneration: 1}]}
    NodeClaims:
      - metadata: {name: gpu-x7k2p, generation: 1, labels: {karpenter.sh/nodepool: gpu}}
        spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}}
        status:
          providerID: aws:///us-west-2a/i-0a700000000000001
          conditions:
            - {type: Launched, status: "True", reason: Launched, lastTransitionTime: "2026-11-20T14:50:02Z"}
            - {type: Registered, status: Unknown, reason: NodeNotFound, message: Node not registered with cluster, lastTransitionTime: "2026-11-20T14:49:58Z"}
`

// TestNodeClaimIsEvidence: what the NodeClaim says stands beside the cause, and
// still does when Karpenter has ended the instance and deleted it.
func TestNodeClaimIsEvidence(t *testing.T) {
	const id = "i-0a700000000000001"
	b := bench(t, stagetest.Options{World: "route.yaml", ClusterRole: true, Over: claimed})
	evidence := func(o report.Observation) (all []string) {
		i := slices.IndexFunc(o.Diagnosis.Causes, func(c diagnose.Cause) bool {
			return c.Check == checkid.RouteNoEgress && slices.Contains(c.Instances, id)
		})
		if i < 0 {
			t.Fatalf("causes %v, want route/no-egress of %s", stagetest.Causes(o), id)
		}
		for _, e := range o.Diagnosis.Causes[i].Evidence {
			all = append(all, e.What+": "+e.Value)
		}
		return all
	}
	const says = "NodeClaim gpu-x7k2p: Launched since 14:50:02 UTC; not Registered since 14:49:58 UTC: NodeNotFound (Node not registered with cluster)"
	if got := evidence(sweep(t, b)); !slices.Contains(got, says) {
		t.Errorf("evidence %q, want %q", got, says)
	}
	l, _ := b.Launch(id)
	if l.Status != outcome.Missed || l.Claim == nil || l.Claim.Name != "gpu-x7k2p" {
		t.Fatalf("record %+v, want one that missed the roll, with its NodeClaim", l)
	}
	// Karpenter ends it, deletes the NodeClaim, and launches none.
	over, _, _ := strings.Cut(claimed, "    NodeClaims:")
	over = strings.Replace(over, "LaunchTime:", "State: {Name: terminated, Code: 48}, StateReason: {Code: Client.UserInitiatedShutdown, Message: 'Client.UserInitiatedShutdown: User initiated shutdown'}, "+
		"StateTransitionReason: 'User initiated (2026-11-20 15:04:57 GMT)', LaunchTime:", 1)
	b = bench(t, stagetest.Options{World: "route.yaml", ClusterRole: true, Over: over})
	b.Advance(10 * time.Minute)
	if _, err := b.Store.CreateLaunch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	got := evidence(sweep(t, b))
	if !slices.ContainsFunc(got, func(e string) bool {
		return strings.HasPrefix(e, says+"; so it was at ") && strings.HasSuffix(e, ", and is gone since")
	}) {
		t.Errorf("evidence %q, want what the NodeClaim said", got)
	}
	if !slices.ContainsFunc(got, func(e string) bool {
		return strings.HasPrefix(e, "End of "+id+": 14m57s after its launch: Karpenter ends")
	}) {
		t.Errorf("evidence %q, want why it ended", got)
	}
	if l, _ := b.Launch(id); l.End != snapshot.NotJoined || l.Cause != checkid.RouteNoEgress || l.Claim == nil {
		t.Errorf("record %+v, want one that did not join for its route", l)
	}
}
