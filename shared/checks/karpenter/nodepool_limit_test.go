package karpenter

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

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
	const fail = "fail gpu [nodepool/gpu] [] NodePool gpu has reached its limit: "
	pass := []string{"pass gpu [nodepool/gpu]"}
	checktest.RunCases(t, NodePoolLimit(), []checktest.Case{
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
		{Name: "may not, and a node names one", World: checktest.Change(snapshottest.PrivateWithNAT(), ofKarpenter, forbidden(snapshot.NodePoolsOf)), Want: []string{"unknown prod [prod] nodepools: denied: listing takes the rights of deploy/clusterrole.yaml"}},
	})
}

// What is asked for and what is left stand in the finding.
func TestNodePoolLimitSaysWhatIsAskedFor(t *testing.T) {
	long := noRoom + strings.Repeat(" <!here>", 5000)
	s := pooled(func(s *snapshot.Snapshot) {
		s.NodePools[0].Limits, s.NodePools[0].Used = snapshot.Amounts{"cpu": "100", "memory": "1Ti"}, snapshot.Amounts{"cpu": "98", "memory": "400Gi"}
	}, pending("b", long, time.Hour, snapshot.Amounts{"cpu": "4", "memory": "8Gi"}), pending("a", noRoom, time.Hour, snapshot.Amounts{"cpu": "6"}))
	r := checktest.Failed(t, NodePoolLimit(), s)
	if want := "Pod ml/a and 1 more wait for a node of NodePool gpu, whose limit leaves too little for one: its nodes have 98 of 100 cpu. The pods fit no other NodePool."; r.Why != want {
		t.Errorf("got  %s\nwant %s", r.Why, want)
	}
	if got := checktest.Value(t, r, "ml/b"); !strings.HasPrefix(got, "waits since ") || !strings.Contains(got, ", asks for 4 cpu and 8Gi memory: ") || len([]rune(got)) > 700 {
		t.Error(got)
	}
	if got := checktest.Value(t, r, "Limit of cpu"); got != "98 of 100" {
		t.Error(got)
	}
	if r.Fix.Command != "kubectl edit nodepool gpu" {
		t.Error(r.Fix.Command)
	}
}
