package karpenter

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestNodeClassNotReady(t *testing.T) {
	const notFound = "SubnetSelector did not match any Subnets"
	noSubnet := fails("SubnetsReady", "SubnetsNotFound", notFound, 20*time.Minute, 2)
	auto := func(s *snapshot.Snapshot) {
		s.NodePools[0].Class = ref(snapshot.AutoModeGroup, "gpu")
		s.AutoNodeClasses, s.EC2NodeClasses = s.EC2NodeClasses, nil
	}
	gone := func(s *snapshot.Snapshot) {
		s.EC2NodeClasses = nil
		s.NodePools[0].Conditions["NodeClassReady"] = condition(s, "False", "NodeClassNotFound", "NodeClass not found on cluster", time.Hour, 2)
	}
	used := func(s *snapshot.Snapshot) { s.NodePools[0].Used = snapshot.Amounts{"nodes": "2"} }
	byPool := func(status, reason, message string, ago time.Duration, generation int64) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			forbidden(snapshot.EC2NodeClassesOf)(s)
			s.NodePools[0].Conditions["NodeClassReady"] = condition(s, status, reason, message, ago, generation)
		}
	}
	const fail = "fail gpu [ec2nodeclass/gpu nodepool/gpu] [] NodePool gpu gets no nodes: EC2NodeClass gpu "
	pass := []string{"pass gpu [ec2nodeclass/gpu nodepool/gpu]"}
	checktest.RunCases(t, NodeClassNotReady(), []checktest.Case{
		{Name: "no Karpenter", World: snapshottest.PrivateWithNAT(), Want: []string{"pass prod [prod]"}},
		{Name: "ready", World: pooled(), Want: pass},
		{Name: "no subnet", World: pooled(noSubnet), Want: []string{fail + "finds no subnet"}},
		{Name: "a reason of tomorrow", World: pooled(fails("ReservationsReady", "NoReservation", "none", time.Hour, 2)), Want: []string{fail + "is not ready"}},
		{Name: "Ready alone says so", World: pooled(func(s *snapshot.Snapshot) {
			s.EC2NodeClasses[0].Conditions = map[string]snapshot.ObservedCondition{"Ready": condition(s, "False", "", "", time.Hour, 2)}
		}), Want: []string{fail + "is not ready"}},
		{Name: "Auto Mode", World: pooled(noSubnet, auto), Want: []string{"fail gpu [nodeclass/gpu nodepool/gpu] [] NodePool gpu gets no nodes: NodeClass gpu finds no subnet"}},
		{Name: "two pools of one class", World: pooled(noSubnet, func(s *snapshot.Snapshot) {
			s.NodePools = append(s.NodePools, snapshot.NodePool{Name: "cpu", Class: s.NodePools[0].Class})
		}), Want: []string{"fail gpu [ec2nodeclass/gpu nodepool/cpu nodepool/gpu] [] 2 NodePools get no nodes: EC2NodeClass gpu finds no subnet"}},
		{Name: "two classes of one name", World: pooled(noSubnet, func(s *snapshot.Snapshot) {
			s.NodePools = append(s.NodePools, snapshot.NodePool{Name: "auto", Class: ref(snapshot.AutoModeGroup, "gpu")})
			s.AutoNodeClasses = []snapshot.NodeClass{{Name: "gpu", Conditions: map[string]snapshot.ObservedCondition{"Ready": condition(s, "True", "Ready", "", time.Hour, 0)}}}
		}), Want: []string{"fail ec2nodeclass/gpu [ec2nodeclass/gpu nodepool/gpu] [] NodePool gpu gets no nodes: EC2NodeClass gpu finds no subnet", "pass nodeclass/gpu [nodeclass/gpu nodepool/auto]"}},

		// What a class that was just made, or changed, says.
		{Name: "for a minute", World: pooled(fails("SubnetsReady", "SubnetsNotFound", notFound, time.Minute, 2))},
		{Name: "of an older generation", World: pooled(fails("SubnetsReady", "SubnetsNotFound", notFound, time.Hour, 1))},
		{Name: "it does not say of which", World: pooled(fails("SubnetsReady", "SubnetsNotFound", notFound, time.Hour, 0)), Want: []string{fail + "finds no subnet"}},
		{Name: "its reason is of an older generation", World: pooled(noSubnet, func(s *snapshot.Snapshot) {
			s.EC2NodeClasses[0].Conditions["SubnetsReady"] = condition(s, "False", "SubnetsNotFound", notFound, time.Hour, 1)
		})},
		{Name: "Ready of an older generation", World: pooled(func(s *snapshot.Snapshot) {
			s.EC2NodeClasses[0].Conditions["Ready"] = condition(s, "True", "Ready", "", time.Hour, 1)
		})},
		{Name: "awaiting reconciliation", World: pooled(is("Unknown", "SubnetsReady", "AwaitingReconciliation", "object is awaiting reconciliation", 9*time.Minute, 2))},
		{Name: "awaiting it for long", World: pooled(is("Unknown", "InstanceProfileReady", "AwaitingReconciliation", "object is awaiting reconciliation", 10*time.Minute, 2)), Want: []string{fail + "is not ready"}},
		{Name: "no conditions yet", World: pooled(func(s *snapshot.Snapshot) { s.EC2NodeClasses[0].Conditions = nil })},

		// Nobody's trouble.
		{Name: "a class that nobody names", World: pooled(noSubnet, func(s *snapshot.Snapshot) { s.NodePools = nil }), Want: []string{"pass prod [prod]"}},
		{Name: "a class that is being deleted", World: pooled(noSubnet, func(s *snapshot.Snapshot) { s.EC2NodeClasses[0].Deleting = true })},
		{Name: "a pool that is being deleted", World: pooled(noSubnet, func(s *snapshot.Snapshot) { s.NodePools[0].Deleting = true })},
		{Name: "no class, and nobody uses the pool", World: pooled(gone)},
		{Name: "no class, and the pool has nodes", World: pooled(gone, used), Want: []string{fail + "does not exist"}},
		{Name: "no class, and a pod waits", World: pooled(gone, pending("train", noRoom, time.Minute, nil)), Want: []string{fail + "does not exist"}},
		{Name: "no class, and a claim is there", World: pooled(gone, func(s *snapshot.Snapshot) { s.NodeClaims = []snapshot.NodeClaim{{Name: "gpu-1", Pool: "gpu"}} }), Want: []string{fail + "does not exist"}},
		{Name: "made between two looks", World: pooled(used, func(s *snapshot.Snapshot) { s.EC2NodeClasses = nil })},
		{Name: "a class of another cloud", World: pooled(noSubnet, func(s *snapshot.Snapshot) { s.NodePools[0].Class = ref("karpenter.azure.com", "gpu") }), Want: []string{"pass gpu [ec2nodeclass/gpu nodepool/gpu]"}},
		{Name: "no class is named", World: pooled(func(s *snapshot.Snapshot) { s.NodePools[0].Class = snapshot.ClassRef{} })},

		// By what the NodePool says, where the classes may not be listed.
		{Name: "by the pool, well", World: pooled(byPool("True", "", "", time.Hour, 2)), Want: pass},
		{Name: "by the pool", World: pooled(byPool("False", "UnhealthyDependents", "SubnetsReady=False", time.Hour, 2)), Want: []string{fail + "is not ready"}},
		{Name: "by the pool, of an older generation", World: pooled(byPool("False", "UnhealthyDependents", "SubnetsReady=False", time.Hour, 1))},
		{Name: "by the pool, being deleted", World: pooled(byPool("False", "NodeClassTerminating", "NodeClass is Terminating", time.Hour, 2))},
		{Name: "by the pool, not known for a while", World: pooled(byPool("False", "NodeClassReadinessUnknown", "Node Class Readiness Unknown", 5*time.Minute, 2))},
		{Name: "by the pool, not known for long", World: pooled(byPool("False", "NodeClassReadinessUnknown", "Node Class Readiness Unknown", time.Hour, 2)), Want: []string{fail + "is not ready"}},
		{Name: "by the pool, no class and not used", World: pooled(byPool("False", "NodeClassNotFound", "NodeClass not found on cluster", time.Hour, 2))},
		{Name: "by the pool, no class", World: pooled(used, byPool("False", "NodeClassNotFound", "NodeClass not found on cluster", time.Hour, 2)), Want: []string{fail + "does not exist"}},

		// An older role: only where something tells of Karpenter is that said.
		{Name: "may not, and nothing names a pool", World: checktest.Change(snapshottest.PrivateWithNAT(), forbidden(snapshot.NodePoolsOf, snapshot.EC2NodeClassesOf))},
		{Name: "may not, and a node names one", World: checktest.Change(snapshottest.PrivateWithNAT(), ofKarpenter, forbidden(snapshot.NodePoolsOf)), Want: []string{"unknown prod [prod] nodepools: denied: listing takes the rights of deploy/clusterrole.yaml"}},
		{Name: "not captured, and a node names one", World: checktest.Change(snapshottest.PrivateWithNAT(), ofKarpenter, func(s *snapshot.Snapshot) {
			snapshottest.Without(s, snapshot.NodePoolsOf)
			s.Failures[snapshot.NodePoolsOf] = snapshot.Failure{Source: snapshot.NodePoolsOf, Reason: snapshot.NotRead, Code: "NotCaptured"}
		}), Want: []string{"unknown prod [prod] nodepools: not read: "}},
		{Name: "not captured, and Auto Mode is on, of which there is no node", World: checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			snapshottest.Without(s, snapshot.NodePoolsOf)
			s.Cluster.AutoMode = true
			s.Failures[snapshot.NodePoolsOf] = snapshot.Failure{Source: snapshot.NodePoolsOf, Reason: snapshot.NotRead, Code: "NotCaptured"}
		})},
	})
}

// What the class looks for stands beside what is there.
func TestNodeClassSaysWhatIsThere(t *testing.T) {
	s := pooled(fails("SubnetsReady", "SubnetsNotFound", "SubnetSelector did not match any Subnets", 20*time.Minute, 2), pending("train-0", noRoom, time.Hour, nil))
	for i := range s.Subnets {
		s.Subnets[i].Tags = map[string]string{"karpenter.sh/discovery": "prod"}
	}
	s.Subnets[0].Tags = nil
	r := checktest.Failed(t, NodeClassNotReady(), s)
	if got := checktest.Value(t, r, "Selects subnets by"); got != "tag karpenter.sh/discovery=prd" {
		t.Error(got)
	}
	if got := checktest.Value(t, r, s.Subnets[1].ID); !strings.HasSuffix(got, "karpenter.sh/discovery=prod") {
		t.Error(got)
	}
	if got := checktest.Value(t, r, s.Subnets[0].ID); !strings.HasSuffix(got, "no tag karpenter.sh/discovery") {
		t.Error(got)
	}
	if got := checktest.Value(t, r, "EC2NodeClass gpu"); got != "SubnetsReady is False, SubnetsNotFound: SubnetSelector did not match any Subnets (since "+s.Time.Add(-20*time.Minute).UTC().Format("15:04:05 UTC")+")" {
		t.Error(got)
	}
	if len(r.Pods) != 1 || !strings.Contains(r.Why, "Pod ml/train-0 waits for it, and fits no other NodePool.") {
		t.Errorf("pods %v: %s", r.Pods, r.Why)
	}
	if !strings.Contains(r.Fix.Command, "ec2 describe-subnets") {
		t.Error(r.Fix.Command)
	}
}

// Whoever may write an object's status writes these words.
func TestNodeClassCutsWhatOthersWrote(t *testing.T) {
	hostile := "<!channel> *x* `id` $(reboot)\n" + strings.Repeat("A", 30_000)
	s := pooled(fails("ValidationSucceeded", hostile, hostile, time.Hour, 2))
	r := checktest.Failed(t, NodeClassNotReady(), s)
	for _, text := range []string{r.Title, r.Why, r.Fix.Text, r.Fix.Command, r.Evidence[0].Value} {
		if len([]rune(text)) > 1200 {
			t.Errorf("%d runes: %.80s…", len([]rune(text)), text)
		}
	}
	if strings.Contains(r.Fix.Command, "reboot") || strings.Contains(r.Title, "channel") {
		t.Errorf("%s: %s", r.Title, r.Fix.Command)
	}
}
