package karpenter

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func checkOf(id checkid.ID) check.Check { return checktest.One(Checks(), id) }

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
	const fail = "fail gpu [ec2nodeclass/gpu nodepool/gpu] [] NodePool gpu cannot launch: EC2NodeClass gpu "
	pass := []string{"pass gpu [ec2nodeclass/gpu nodepool/gpu]"}
	checktest.RunCases(t, checkOf(checkid.KarpenterNodeclassNotReady), []checktest.Case{
		{Name: "no Karpenter", World: snapshottest.PrivateWithNAT(), Want: []string{"pass prod [prod]"}},
		{Name: "ready", World: pooled(), Want: pass},
		{Name: "no subnet", World: pooled(noSubnet), Want: []string{fail + "matches no subnets"}},
		{Name: "a reason of tomorrow", World: pooled(fails("ReservationsReady", "NoReservation", "none", time.Hour, 2)), Want: []string{fail + "is not ready"}},
		{Name: "Ready alone says so", World: pooled(func(s *snapshot.Snapshot) {
			s.EC2NodeClasses[0].Conditions = map[string]snapshot.ObservedCondition{"Ready": condition(s, "False", "", "", time.Hour, 2)}
		}), Want: []string{fail + "is not ready"}},
		{Name: "Auto Mode", World: pooled(noSubnet, auto), Want: []string{"fail gpu [nodeclass/gpu nodepool/gpu] [] NodePool gpu cannot launch: NodeClass gpu matches no subnets"}},
		{Name: "two pools of one class", World: pooled(noSubnet, func(s *snapshot.Snapshot) {
			s.NodePools = append(s.NodePools, snapshot.NodePool{Name: "cpu", Class: s.NodePools[0].Class})
		}), Want: []string{"fail gpu [ec2nodeclass/gpu nodepool/cpu nodepool/gpu] [] 2 NodePools cannot launch: EC2NodeClass gpu matches no subnets"}},
		{Name: "two classes of one name", World: pooled(noSubnet, func(s *snapshot.Snapshot) {
			s.NodePools = append(s.NodePools, snapshot.NodePool{Name: "auto", Class: ref(snapshot.AutoModeGroup, "gpu")})
			s.AutoNodeClasses = []snapshot.NodeClass{{Name: "gpu", Conditions: map[string]snapshot.ObservedCondition{"Ready": condition(s, "True", "Ready", "", time.Hour, 0)}}}
		}), Want: []string{"fail ec2nodeclass/gpu [ec2nodeclass/gpu nodepool/gpu] [] NodePool gpu cannot launch: EC2NodeClass gpu matches no subnets", "pass nodeclass/gpu [nodeclass/gpu nodepool/auto]"}},

		// What a class that was just made, or changed, says.
		{Name: "for a minute", World: pooled(fails("SubnetsReady", "SubnetsNotFound", notFound, time.Minute, 2))},
		{Name: "of an older generation", World: pooled(fails("SubnetsReady", "SubnetsNotFound", notFound, time.Hour, 1))},
		{Name: "it does not say of which", World: pooled(fails("SubnetsReady", "SubnetsNotFound", notFound, time.Hour, 0)), Want: []string{fail + "matches no subnets"}},
		{Name: "its reason is of an older generation", World: pooled(noSubnet, func(s *snapshot.Snapshot) {
			s.EC2NodeClasses[0].Conditions["SubnetsReady"] = condition(s, "False", "SubnetsNotFound", notFound, time.Hour, 1)
		})},
		{Name: "Ready of an older generation", World: pooled(func(s *snapshot.Snapshot) {
			s.EC2NodeClasses[0].Conditions["Ready"] = condition(s, "True", "Ready", "", time.Hour, 1)
		})},
		{Name: "awaiting reconciliation", World: pooled(is("Unknown", "SubnetsReady", "AwaitingReconciliation", "object is awaiting reconciliation", 9*time.Minute, 2))},
		{Name: "awaiting it for long", World: pooled(is("Unknown", "InstanceProfileReady", "AwaitingReconciliation", "object is awaiting reconciliation", 10*time.Minute, 2)), Want: []string{fail + "is not ready"}},
		{Name: "no conditions yet", World: pooled(func(s *snapshot.Snapshot) { s.EC2NodeClasses[0].Conditions = nil })},

		// No fault.
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

		// An older role: only where something shows Karpenter is that reported.
		{Name: "may not, and nothing names a pool", World: checktest.Change(snapshottest.PrivateWithNAT(), forbidden(snapshot.NodePoolsOf, snapshot.EC2NodeClassesOf))},
		{Name: "may not, and a node names one", World: checktest.Change(snapshottest.PrivateWithNAT(), ofKarpenter, forbidden(snapshot.NodePoolsOf)), Want: []string{"unknown prod [prod] nodepools: denied: listing needs the permissions of deploy/clusterrole.yaml"}},
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
	r := checktest.Failed(t, checkOf(checkid.KarpenterNodeclassNotReady), s)
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
	if len(r.Pods) != 1 || !strings.Contains(r.Why, "Pod ml/train-0 is waiting for it, and no other NodePool can run it.") {
		t.Errorf("pods %v: %s", r.Pods, r.Why)
	}
	if want := "--resources '<subnet>' --tags Key=karpenter.sh/discovery,Value=prd"; !strings.Contains(r.Fix.Command, want) {
		t.Errorf("the command that tags a subnet is %q", r.Fix.Command)
	}
	// A tag that others select by is not taken from them without a word.
	if want := "1 subnet has karpenter.sh/discovery=prod. If the class should use it, change its term. If not, tag each <subnet> that nothing else selects."; r.Fix.Text != want {
		t.Error(r.Fix.Text)
	}
	s.Subnets[0].Tags = map[string]string{"karpenter.sh/discovery": "dev"} // which of both was meant is not known
	if r := checktest.Failed(t, checkOf(checkid.KarpenterNodeclassNotReady), s); strings.Contains(r.Fix.Text, "karpenter.sh/discovery=") {
		t.Error(r.Fix.Text)
	}
	// Where no tag selects one subnet, there is nothing to set.
	for name, terms := range map[string][]snapshot.SelectorTerm{
		"by id": {{ID: "subnet-0ab1"}}, "one of two": {{Tags: map[string]string{"a": "b"}}, {Tags: map[string]string{"c": "d"}}},
		"by what the shorthand cannot hold": {{Tags: map[string]string{"a": "b,Value=c"}}},
	} {
		s.EC2NodeClasses[0].Subnets = terms
		if r := checktest.Failed(t, checkOf(checkid.KarpenterNodeclassNotReady), s); !strings.Contains(r.Fix.Command, "ec2 describe-subnets") {
			t.Errorf("%s: %s", name, r.Fix.Command)
		}
	}
}

// Whoever may write an object's status writes these words.
func TestNodeClassCutsWhatOthersWrote(t *testing.T) {
	hostile := "<!channel> *x* `id` $(reboot)\n" + strings.Repeat("A", 30_000)
	s := pooled(fails("ValidationSucceeded", hostile, hostile, time.Hour, 2))
	r := checktest.Failed(t, checkOf(checkid.KarpenterNodeclassNotReady), s)
	for _, text := range []string{r.Title, r.Why, r.Fix.Text, r.Fix.Command, r.Evidence[0].Value} {
		if len([]rune(text)) > 1200 {
			t.Errorf("%d runes: %.80s…", len([]rune(text)), text)
		}
	}
	if strings.Contains(r.Fix.Command, "reboot") || strings.Contains(r.Title, "channel") {
		t.Errorf("%s: %s", r.Title, r.Fix.Command)
	}
}

func TestNodePoolLimit(t *testing.T) {
	limit := func(limits, used snapshot.Amounts) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.NodePools[0].Limits, s.NodePools[0].Used = limits, used }
	}
	cpu := limit(snapshot.Amounts{"cpu": "100", "memory": "1000Gi"}, snapshot.Amounts{"cpu": "100", "memory": "400Gi"})
	waits := pending("train", noRoom, 10*time.Minute, snapshot.Amounts{"cpu": "2"})
	selects := func(key, value string) func(*snapshot.WaitingPod) {
		return func(w *snapshot.WaitingPod) { w.Selector = map[string]string{key: value} }
	}
	pool := func(change func(*snapshot.NodePool)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { change(&s.NodePools[0]) }
	}
	requires := func(key, operator string, values ...string) func(*snapshot.Snapshot) {
		return pool(func(p *snapshot.NodePool) {
			p.Requirements = append(p.Requirements, snapshot.Requirement{Key: key, Operator: operator, Values: values})
		})
	}
	another := func(change func(*snapshot.NodePool)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			p := snapshot.NodePool{Name: "spare", Generation: 2, Class: s.NodePools[0].Class}
			change(&p)
			s.NodePools = append(s.NodePools, p)
		}
	}
	most := func(limits, used string) func(*snapshot.Snapshot) {
		return limit(snapshot.Amounts{"cpu": limits}, snapshot.Amounts{"cpu": used})
	}
	small := pending("train", noRoom, time.Hour, nil)
	described := func(name string, cpus, mib int) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.InstanceTypes = append(s.InstanceTypes, snapshot.InstanceType{Name: name, CPUs: cpus, MemoryMiB: mib})
		}
	}
	says := func(message string, ago time.Duration) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.PoolEvents = append(s.PoolEvents, snapshot.PoolEvent{Kind: "Pod", Name: "ml/train", Reason: "FailedScheduling", Message: "Failed to schedule pod, " + message, Last: s.Time.Add(-ago)})
		}
	}
	const likely = "fail (likely) gpu [nodepool/gpu] [] NodePool gpu has reached its limit: "
	const fail = "fail gpu [nodepool/gpu] [] NodePool gpu has reached its limit: "
	pass := []string{"pass gpu [nodepool/gpu]"}
	checktest.RunCases(t, checkOf(checkid.KarpenterNodepoolLimit), []checktest.Case{
		{Name: "no Karpenter", World: snapshottest.PrivateWithNAT(), Want: []string{"pass prod [prod]"}},
		{Name: "no limit", World: pooled(waits), Want: pass},
		{Name: "reached", World: pooled(cpu, waits), Want: []string{fail + "100 of 100 cpu"}},
		{Name: "reached, and nobody waits", World: pooled(cpu), Want: pass},
		{Name: "more than is allowed", World: pooled(limit(snapshot.Amounts{"memory": "1Ti"}, snapshot.Amounts{"memory": "1025Gi"}), waits), Want: []string{fail + "1025Gi of 1Ti memory"}},
		{Name: "nodes are counted", World: pooled(limit(snapshot.Amounts{"nodes": "3"}, snapshot.Amounts{"nodes": "3"}), waits), Want: []string{fail + "3 of 3 nodes"}},
		{Name: "nothing is allowed", World: pooled(limit(snapshot.Amounts{"cpu": "0"}, nil), waits), Want: []string{fail + "0 of 0 cpu"}},
		{Name: "nobody has counted yet", World: pooled(limit(snapshot.Amounts{"cpu": "100"}, nil), waits), Want: pass},
		{Name: "a limit that is no amount", World: pooled(limit(snapshot.Amounts{"cpu": "many"}, snapshot.Amounts{"cpu": "7"}), waits), Want: pass},

		// What is left is less than the next node needs, as far as that is proved.
		{Name: "less than the pod asks for", World: pooled(limit(snapshot.Amounts{"cpu": "100"}, snapshot.Amounts{"cpu": "98500m"}), waits), Want: []string{fail + "98500m of 100 cpu"}},
		{Name: "as much as the pod asks for", World: pooled(limit(snapshot.Amounts{"cpu": "100"}, snapshot.Amounts{"cpu": "98"}), waits), Want: pass},
		{Name: "two containers ask", World: pooled(limit(snapshot.Amounts{"cpu": "100"}, snapshot.Amounts{"cpu": "97"}), pending("train", noRoom, 10*time.Minute, snapshot.Amounts{"cpu": "2"}, func(w *snapshot.WaitingPod) {
			w.Requests = append(w.Requests, snapshot.Amounts{"cpu": "1500m"})
		})), Want: []string{fail + "97 of 100 cpu"}},
		{Name: "less than one CPU", World: pooled(limit(snapshot.Amounts{"cpu": "100"}, snapshot.Amounts{"cpu": "99.5"}), pending("train", noRoom, 10*time.Minute, nil)), Want: []string{fail + "99.5 of 100 cpu"}},
		{Name: "less than its smallest node", World: pooled(limit(snapshot.Amounts{"cpu": "100"}, snapshot.Amounts{"cpu": "96"}), requires("karpenter.k8s.aws/instance-cpu", "In", "16", "8"), waits), Want: []string{fail + "96 of 100 cpu"}},
		{Name: "less than what is above", World: pooled(limit(snapshot.Amounts{"cpu": "100"}, snapshot.Amounts{"cpu": "96"}), requires("eks.amazonaws.com/instance-cpu", "Gt", "4"), waits), Want: []string{fail + "96 of 100 cpu"}},
		{Name: "its smallest node fits", World: pooled(limit(snapshot.Amounts{"cpu": "100"}, snapshot.Amounts{"cpu": "92"}), requires("karpenter.k8s.aws/instance-cpu", "In", "16", "8"), waits), Want: pass},
		{Name: "GPUs, and it asks for none", World: pooled(limit(snapshot.Amounts{"nvidia.com/gpu": "4"}, snapshot.Amounts{"nvidia.com/gpu": "4"}), waits), Want: pass},
		{Name: "GPUs", World: pooled(limit(snapshot.Amounts{"nvidia.com/gpu": "4"}, snapshot.Amounts{"nvidia.com/gpu": "4"}), pending("train", noRoom, 10*time.Minute, snapshot.Amounts{"nvidia.com/gpu": "1"})), Want: []string{fail + "4 of 4 nvidia.com/gpu"}},

		// What the smallest node takes that the pool may launch for the pod.
		{Name: "less than its smallest type", World: pooled(most("48", "46"), requires("node.kubernetes.io/instance-type", "In", "m6i.xlarge", "m6i.2xlarge"), small), Want: []string{fail + "46 of 48 cpu"}},
		{Name: "its smallest type fits", World: pooled(most("48", "44"), requires("node.kubernetes.io/instance-type", "In", "m6i.xlarge", "m6i.2xlarge"), small), Want: pass},
		{Name: "its smallest type is excluded", World: pooled(most("48", "44"), requires("node.kubernetes.io/instance-type", "In", "m6i.xlarge", "m6i.2xlarge"), requires("karpenter.k8s.aws/instance-size", "NotIn", "xlarge"), small), Want: []string{fail + "44 of 48 cpu"}},
		{Name: "its smallest type is too small for the pod", World: pooled(most("48", "44"), requires("node.kubernetes.io/instance-type", "In", "m6i.xlarge", "m6i.4xlarge"), pending("train", noRoom, time.Hour, snapshot.Amounts{"cpu": "6"})), Want: []string{fail + "44 of 48 cpu"}},
		{Name: "a type that is described", World: pooled(most("48", "41"), requires("node.kubernetes.io/instance-type", "In", "odd.thing"), described("odd.thing", 8, 4096), small), Want: []string{fail + "41 of 48 cpu"}},
		{Name: "a type of which nothing is known", World: pooled(most("48", "46"), requires("node.kubernetes.io/instance-type", "In", "odd.thing"), small), Want: pass},
		{Name: "less than its smallest size", World: pooled(most("48", "46"), requires("karpenter.k8s.aws/instance-size", "In", "xlarge", "2xlarge"), small), Want: []string{fail + "46 of 48 cpu"}},
		{Name: "its smallest size fits", World: pooled(most("48", "46"), requires("karpenter.k8s.aws/instance-size", "In", "large", "2xlarge"), small), Want: pass},
		{Name: "sizes of types that count cores", World: pooled(most("48", "23"), requires("karpenter.k8s.aws/instance-size", "In", "12xlarge"), small), Want: pass},
		{Name: "the size that the pod selects", World: pooled(most("48", "46"), pending("train", noRoom, time.Hour, nil, selects("karpenter.k8s.aws/instance-size", "xlarge"))), Want: []string{fail + "46 of 48 cpu"}},
		{Name: "less than at least", World: pooled(most("48", "46"), requires("eks.amazonaws.com/instance-cpu", "Gte", "4"), small), Want: []string{fail + "46 of 48 cpu"}},
		{Name: "at most is no least", World: pooled(most("48", "46"), requires("eks.amazonaws.com/instance-cpu", "Lte", "4"), small), Want: pass},
		{Name: "a family", World: pooled(most("48", "47"), requires("karpenter.k8s.aws/instance-family", "In", "m5"), small), Want: []string{likely + "47 of 48 cpu"}},
		{Name: "a family that fits", World: pooled(most("48", "46"), requires("karpenter.k8s.aws/instance-family", "In", "m5"), small), Want: pass},
		{Name: "a family that is newer", World: pooled(most("48", "47"), requires("karpenter.k8s.aws/instance-family", "In", "m5", "m99q"), small), Want: pass},
		{Name: "a category, its old generations excluded", World: pooled(most("160", "154"), requires("karpenter.k8s.aws/instance-category", "In", "p"), requires("karpenter.k8s.aws/instance-generation", "In", "3"), small), Want: []string{likely + "154 of 160 cpu"}},
		{Name: "a category and an architecture", World: pooled(most("48", "47"), requires("karpenter.k8s.aws/instance-category", "In", "c"), requires("karpenter.k8s.aws/instance-generation", "In", "6"), requires("kubernetes.io/arch", "In", "amd64"), small), Want: []string{likely + "47 of 48 cpu"}},
		{Name: "the other architecture has less", World: pooled(most("48", "47"), requires("karpenter.k8s.aws/instance-category", "In", "c"), requires("karpenter.k8s.aws/instance-generation", "In", "6"), small), Want: pass},
		{Name: "memory of a type", World: pooled(limit(snapshot.Amounts{"memory": "64Gi"}, snapshot.Amounts{"memory": "60Gi"}), requires("node.kubernetes.io/instance-type", "In", "m6i.xlarge"), small), Want: []string{fail + "60Gi of 64Gi memory"}},
		{Name: "memory that a node has", World: pooled(limit(snapshot.Amounts{"memory": "64Gi"}, snapshot.Amounts{"memory": "40Gi"}), requires("karpenter.k8s.aws/instance-memory", "Gt", "32767"), small), Want: []string{fail + "40Gi of 64Gi memory"}},
		{Name: "memory that fits", World: pooled(limit(snapshot.Amounts{"memory": "64Gi"}, snapshot.Amounts{"memory": "48Gi"}), requires("node.kubernetes.io/instance-type", "In", "m6i.xlarge"), small), Want: pass},
		{Name: "GPUs of a type", World: pooled(limit(snapshot.Amounts{"nvidia.com/gpu": "8"}, snapshot.Amounts{"nvidia.com/gpu": "4"}), requires("karpenter.k8s.aws/instance-gpu-count", "In", "8"), small), Want: []string{fail + "4 of 8 nvidia.com/gpu"}},

		// Karpenter's own word.
		{Name: "Karpenter says so", World: pooled(most("48", "40"), small, says("all available instance types exceed limits for nodepool (NodePool=gpu)", time.Minute)), Want: []string{fail + "40 of 48 cpu"}},
		{Name: "Karpenter says so, of the older form", World: pooled(most("48", "40"), small, says(`incompatible with nodepool "arm", did not tolerate arch=arm64:NoSchedule; all available instance types exceed limits for nodepool "gpu"`, time.Minute)), Want: []string{fail + "40 of 48 cpu"}},
		{Name: "Karpenter says it of nodes", World: pooled(limit(snapshot.Amounts{"nodes": "3"}, snapshot.Amounts{"nodes": "2"}), small, says("node limits have been exhausted for nodepool (NodePool=gpu)", time.Minute)), Want: []string{fail + "2 of 3 nodes"}},
		{Name: "Karpenter says it of another pool", World: pooled(most("48", "40"), small, says("all available instance types exceed limits for nodepool (NodePool=gpu-large)", time.Minute)), Want: pass},
		{Name: "Karpenter said so", World: pooled(most("48", "40"), small, says("all available instance types exceed limits for nodepool (NodePool=gpu)", 20*time.Minute)), Want: pass},
		{Name: "Karpenter says something else", World: pooled(most("48", "40"), small, says("no instance type satisfied resources", time.Minute)), Want: pass},
		{Name: "Karpenter says so of what the table of types tells", World: pooled(most("48", "47"), requires("karpenter.k8s.aws/instance-family", "In", "m5"), small, says("all available instance types exceed limits for nodepool (NodePool=gpu)", time.Minute)), Want: []string{fail + "47 of 48 cpu"}},

		// Pods that wait for something else.
		{Name: "for four minutes", World: pooled(cpu, pending("train", noRoom, 4*time.Minute, nil)), Want: pass},
		{Name: "gated", World: pooled(cpu, pending("train", noRoom, time.Hour, nil, func(w *snapshot.WaitingPod) { w.Gated = true })), Want: pass},
		{Name: "a node takes it", World: pooled(cpu, pending("train", "", time.Hour, nil, func(w *snapshot.WaitingPod) { w.Scheduled = snapshot.Condition{Status: "True"} })), Want: pass},
		{Name: "for its volume", World: pooled(cpu, pending("train", "0/3 nodes are available: 3 node(s) had volume node affinity conflict.", time.Hour, nil)), Want: pass},
		{Name: "for another pod", World: pooled(cpu, pending("train", "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match pod anti-affinity rules.", time.Hour, nil)), Want: pass},
		{Name: "for another pool", World: pooled(cpu, pending("train", noRoom, time.Hour, nil, selects("karpenter.sh/nodepool", "other"))), Want: pass},
		{Name: "for this pool", World: pooled(cpu, pending("train", noRoom, time.Hour, nil, selects("karpenter.sh/nodepool", "gpu"))), Want: []string{fail + "100 of 100 cpu"}},
		{Name: "for a label that its nodes lack", World: pooled(cpu, pending("train", noRoom, time.Hour, nil, selects("team", "ml"))), Want: pass},
		{Name: "for a label that they have", World: pooled(cpu, pool(func(p *snapshot.NodePool) { p.Labels = map[string]string{"team": "ml"} }), pending("train", noRoom, time.Hour, nil, selects("team", "ml"))), Want: []string{fail + "100 of 100 cpu"}},
		{Name: "for a zone", World: pooled(cpu, pending("train", noRoom, time.Hour, nil, selects("topology.kubernetes.io/zone", "us-west-2a"))), Want: []string{fail + "100 of 100 cpu"}},
		{Name: "for a zone that the pool leaves out", World: pooled(cpu, requires("topology.kubernetes.io/zone", "In", "us-west-2b"), pending("train", noRoom, time.Hour, nil, selects("topology.kubernetes.io/zone", "us-west-2a"))), Want: pass},
		{Name: "for what the pool excludes", World: pooled(cpu, requires("kubernetes.io/arch", "NotIn", "arm64"), pending("train", noRoom, time.Hour, nil, selects("kubernetes.io/arch", "arm64"))), Want: pass},
		{Name: "it does not tolerate the taint", World: pooled(cpu, waits, pool(func(p *snapshot.NodePool) { p.Taints = []snapshot.Taint{{Key: "gpu", Effect: "NoSchedule"}} })), Want: pass},
		{Name: "it tolerates the taint", World: pooled(cpu, pool(func(p *snapshot.NodePool) { p.Taints = []snapshot.Taint{{Key: "gpu", Effect: "NoSchedule"}} }), pending("train", noRoom, time.Hour, nil, func(w *snapshot.WaitingPod) {
			w.Tolerations = []snapshot.Toleration{{Key: "gpu", Operator: "Exists"}}
		})), Want: []string{fail + "100 of 100 cpu"}},
		{Name: "a DaemonSet's, for one node", World: pooled(cpu, pending("train", noRoom, time.Hour, nil, func(w *snapshot.WaitingPod) {
			w.Terms = []snapshot.NodeTerm{{Fields: []snapshot.Requirement{{Key: "metadata.name", Operator: "In", Values: []string{"n1"}}}}}
		})), Want: pass},

		// Another pool.
		{Name: "another pool takes it", World: pooled(cpu, waits, another(func(*snapshot.NodePool) {})), Want: []string{"pass gpu [nodepool/gpu]", "pass spare [nodepool/spare]"}},
		{Name: "another pool does not", World: pooled(cpu, waits, another(func(p *snapshot.NodePool) { p.Taints = []snapshot.Taint{{Key: "x", Effect: "NoExecute"}} })), Want: []string{fail + "100 of 100 cpu", "pass spare [nodepool/spare]"}},
		{Name: "another pool is full too", World: pooled(cpu, waits, another(func(p *snapshot.NodePool) {
			p.Limits, p.Used = snapshot.Amounts{"nodes": "1"}, snapshot.Amounts{"nodes": "1"}
		})),
			Want: []string{fail + "100 of 100 cpu", "fail spare [nodepool/spare] [] NodePool spare has reached its limit: 1 of 1 nodes"}},
		{Name: "another pool is being deleted", World: pooled(cpu, waits, another(func(p *snapshot.NodePool) { p.Deleting = true })), Want: []string{fail + "100 of 100 cpu"}},
		{Name: "the pool is being deleted", World: pooled(cpu, waits, pool(func(p *snapshot.NodePool) { p.Deleting = true }))},
		{Name: "its class is not ready", World: pooled(cpu, waits, fails("SubnetsReady", "SubnetsNotFound", "", time.Hour, 2))},

		{Name: "pods not read, and nothing left", World: pooled(cpu, checktest.Unread(snapshot.WaitingPods)), Want: []string{"unknown gpu [nodepool/gpu] waiting pods: denied"}},
		{Name: "pods not read", World: pooled(limit(snapshot.Amounts{"cpu": "100"}, snapshot.Amounts{"cpu": "10"}), checktest.Unread(snapshot.WaitingPods))},
		{Name: "may not, and nothing names a pool", World: checktest.Change(snapshottest.PrivateWithNAT(), forbidden(snapshot.NodePoolsOf))},
		{Name: "may not, and a node names one", World: checktest.Change(snapshottest.PrivateWithNAT(), ofKarpenter, forbidden(snapshot.NodePoolsOf)), Want: []string{"unknown prod [prod] nodepools: denied: listing needs the permissions of deploy/clusterrole.yaml"}},
	})
}

// What is asked for and what is left stand in the finding.
func TestNodePoolLimitSaysWhatIsAskedFor(t *testing.T) {
	long := noRoom + strings.Repeat(" <!here>", 5000)
	s := pooled(func(s *snapshot.Snapshot) {
		s.NodePools[0].Limits, s.NodePools[0].Used = snapshot.Amounts{"cpu": "100", "memory": "1Ti"}, snapshot.Amounts{"cpu": "98", "memory": "400Gi"}
	}, pending("b", long, time.Hour, snapshot.Amounts{"cpu": "4", "memory": "8Gi"}), pending("a", noRoom, time.Hour, snapshot.Amounts{"cpu": "6"}))
	r := checktest.Failed(t, checkOf(checkid.KarpenterNodepoolLimit), s)
	if want := "Pod ml/a and 1 more are waiting for a node of NodePool gpu, whose limit leaves too little for one: its nodes have 98 of 100 cpu. No other NodePool can run the pods."; r.Why != want {
		t.Errorf("got  %s\nwant %s", r.Why, want)
	}
	if got := checktest.Value(t, r, "ml/b"); !strings.HasPrefix(got, "waiting since ") || !strings.Contains(got, ", requests 4 cpu and 8Gi memory: ") || len([]rune(got)) > 700 {
		t.Error(got)
	}
	if got := checktest.Value(t, r, "Limit of cpu"); got != "98 of 100, 2 left; a node for ml/b has at least 4" {
		t.Error(got)
	}
	if r.Fix.Command != "kubectl edit nodepool gpu" {
		t.Error(r.Fix.Command)
	}
}

// The objects of these worlds: a NodePool "gpu" with a class of the same name.
func ref(group, name string) snapshot.ClassRef {
	kind := "EC2NodeClass"
	if group == snapshot.AutoModeGroup {
		kind = "NodeClass"
	}
	return snapshot.ClassRef{Group: group, Kind: kind, Name: name}
}

// condition has been as it is for some time, in the object's generation.
func condition(s *snapshot.Snapshot, status, reason, message string, ago time.Duration, generation int64) snapshot.ObservedCondition {
	return snapshot.ObservedCondition{Condition: snapshot.Condition{Status: status, Reason: reason, Message: message, Since: s.Time.Add(-ago)}, Generation: generation}
}

func pooled(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	ready := condition(s, "True", "Ready", "", time.Hour, 2)
	s.NodePools = []snapshot.NodePool{{Name: "gpu", Generation: 2, Class: ref(snapshot.KarpenterGroup, "gpu"), Conditions: map[string]snapshot.ObservedCondition{"NodeClassReady": ready}}}
	s.EC2NodeClasses = []snapshot.NodeClass{{Name: "gpu", Generation: 2,
		Subnets:    []snapshot.SelectorTerm{{Tags: map[string]string{"karpenter.sh/discovery": "prd"}}},
		Conditions: map[string]snapshot.ObservedCondition{"Ready": ready, "SubnetsReady": ready}}}
	for _, change := range changes {
		change(s)
	}
	return s
}

// fails makes a condition of the class false, and Ready with it.
func fails(name, reason, message string, ago time.Duration, generation int64) func(*snapshot.Snapshot) {
	return is("False", name, reason, message, ago, generation)
}

func is(status, name, reason, message string, ago time.Duration, generation int64) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.EC2NodeClasses[0].Conditions["Ready"] = condition(s, status, "UnhealthyDependents", name+"="+status, ago, generation)
		s.EC2NodeClasses[0].Conditions[name] = condition(s, status, reason, message, ago, generation)
	}
}

// pending adds a pod that the scheduler has found no node for.
func pending(name, message string, ago time.Duration, requests snapshot.Amounts, changes ...func(*snapshot.WaitingPod)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		w := snapshot.WaitingPod{Namespace: "ml", Name: name, Created: s.Time.Add(-ago), Scheduled: snapshot.Condition{Status: "False", Reason: "Unschedulable", Message: message, Since: s.Time.Add(-ago)}}
		if requests != nil {
			w.Requests = []snapshot.Amounts{requests}
		}
		for _, change := range changes {
			change(&w)
		}
		s.WaitingPods = append(s.WaitingPods, w)
	}
}

const noRoom = "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."

// forbidden is what a cluster says whose role is older than these rights.
func forbidden(sources ...snapshot.Source) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for _, source := range sources {
			snapshottest.Without(s, source)
			s.Failures[source] = snapshot.Failure{Source: source, Reason: snapshot.NotRead, Code: "Forbidden", Message: "listing needs the permissions of deploy/clusterrole.yaml"}
		}
	}
}

func ofKarpenter(s *snapshot.Snapshot) {
	s.Nodes[0].Labels = map[string]string{"karpenter.sh/nodepool": "gpu"}
}
