package detect

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks/check"
	"rollcall/shared/diagnosis"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// oneGroup is a cluster with the nodegroup workers, the NodePool gpu, and one Ready node of
// workers.
func oneGroup() *snapshot.Snapshot {
	s := &snapshot.Snapshot{Time: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)}
	s.Cluster.Name = "prod"
	s.Read = map[snapshot.Source]bool{snapshot.WaitingPods: true, snapshot.Nodes: true, snapshot.Groups: true, snapshot.NodePoolsOf: true, snapshot.PodEventsOf: true}
	s.Groups = []snapshot.Group{{Name: "eks-workers-1", Max: 5, Zones: []string{"us-west-2a", "us-west-2b"}, Tags: map[string]string{"eks:nodegroup-name": "workers", "eks:cluster-name": "prod"}}}
	s.Nodegroups = []snapshot.Nodegroup{{Name: "workers", Max: 5, Groups: []string{"eks-workers-1"}, Labels: map[string]string{"team": "shop"}}}
	s.NodePools = []snapshot.NodePool{{Name: "gpu", Taints: []snapshot.Taint{{Key: "nvidia.com/gpu", Effect: "NoSchedule"}}}}
	s.Instances = []snapshot.Instance{{ID: "i-0aaa1111bbbb2222c", Subnet: "subnet-0ab1", Zone: "us-west-2a", State: "running"}}
	s.Nodes = []snapshot.Node{{Name: "ip-10-0-0-1", Instance: "i-0aaa1111bbbb2222c", Zone: "us-west-2a", Ready: snapshot.Condition{Status: "True"}}}
	return s
}

// unscheduled is a pod that the scheduler finds no node for.
func unscheduled(name, owner, message string, change func(*snapshot.WaitingPod)) snapshot.WaitingPod {
	p := snapshot.WaitingPod{Namespace: "shop", Name: name, Owner: owner, Scheduled: snapshot.Condition{Status: "False", Reason: "Unschedulable", Message: message}}
	if change != nil {
		change(&p)
	}
	return p
}

// Which pods wait for a node, which sources could run them, and which wait for something else.
func TestWaiting(t *testing.T) {
	const full = "0/1 nodes are available: 1 Insufficient cpu."
	work := func(owner string, pods int, fits ...string) report.WaitingWorkload {
		return report.WaitingWorkload{Workload: diagnosis.Workload{Namespace: "shop", Owner: owner, Pods: pods}, Fits: fits}
	}
	unsure := func(owner string, of ...string) report.WaitingWorkload {
		w := work(owner, 1)
		w.Unsure = of
		return w
	}
	for name, test := range map[string]struct {
		pods []snapshot.WaitingPod
		want []report.WaitingWorkload
	}{
		"none":                {nil, nil},
		"not unschedulable":   {[]snapshot.WaitingPod{{Namespace: "shop", Name: "web-1"}, unscheduled("web-2", "", "", func(p *snapshot.WaitingPod) { p.Scheduled.Reason = "SchedulerError" })}, nil},
		"gated":               {[]snapshot.WaitingPod{unscheduled("web-1", "", full, func(p *snapshot.WaitingPod) { p.Gated = true })}, nil},
		"waits for its claim": {[]snapshot.WaitingPod{unscheduled("db-0", "StatefulSet db", "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.", nil)}, nil},
		"of a Deployment, by the name of its ReplicaSet": {
			[]snapshot.WaitingPod{unscheduled("web-7d4b9c5f68-x2x1z", "ReplicaSet web-7d4b9c5f68", full, nil), unscheduled("web-7d4b9c5f68-b5b2k", "ReplicaSet web-7d4b9c5f68", full, nil)},
			[]report.WaitingWorkload{work("Deployment web", 2, "workers")},
		},
		"of a ReplicaSet that nobody's Deployment made": {[]snapshot.WaitingPod{unscheduled("legacy-1", "ReplicaSet legacy", full, nil)}, []report.WaitingWorkload{work("ReplicaSet legacy", 1, "workers")}},
		"of nothing":           {[]snapshot.WaitingPod{unscheduled("once", "", full, nil)}, []report.WaitingWorkload{work("Pod once", 1, "workers")}},
		"selects other labels": {[]snapshot.WaitingPod{unscheduled("web-1", "Job web", full, func(p *snapshot.WaitingPod) { p.Selector = map[string]string{"team": "other"} })}, []report.WaitingWorkload{work("Job web", 1)}},
		"selects a label that only nodes show": {
			[]snapshot.WaitingPod{unscheduled("web-1", "Job web", full, func(p *snapshot.WaitingPod) {
				p.Selector = map[string]string{"node.kubernetes.io/instance-type": "m5.large"}
			})},
			[]report.WaitingWorkload{unsure("Job web", "workers")},
		},
		"tolerates the pool's taint": {
			[]snapshot.WaitingPod{unscheduled("web-1", "Job web", full, func(p *snapshot.WaitingPod) { p.Tolerations = []snapshot.Toleration{{Operator: "Exists"}} })},
			[]report.WaitingWorkload{work("Job web", 1, "gpu", "workers")},
		},
		"asks for a GPU": {
			[]snapshot.WaitingPod{unscheduled("train-1", "Job train", "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.", func(p *snapshot.WaitingPod) {
				p.Requests = []snapshot.Amounts{{"nvidia.com/gpu": "1"}}
			})},
			[]report.WaitingWorkload{unsure("Job train", "workers")},
		},
		"its volume is elsewhere": {
			[]snapshot.WaitingPod{unscheduled("db-0", "StatefulSet db", "0/1 nodes are available: 1 node(s) had volume node affinity conflict.", nil)},
			[]report.WaitingWorkload{unsure("StatefulSet db", "workers")},
		},
		"one zone of two": {
			[]snapshot.WaitingPod{unscheduled("web-1", "Job web", full, func(p *snapshot.WaitingPod) {
				p.Selector = map[string]string{"topology.kubernetes.io/zone": "us-west-2b"}
			})},
			[]report.WaitingWorkload{unsure("Job web", "workers")},
		},
		"most pods first": {
			[]snapshot.WaitingPod{unscheduled("a", "Job a", full, nil), unscheduled("b", "Job b", full, nil), unscheduled("b2", "Job b", full, nil)},
			[]report.WaitingWorkload{work("Job b", 2, "workers"), work("Job a", 1, "workers")},
		},
	} {
		s := oneGroup()
		s.WaitingPods = test.pods
		got := waiting(check.NewView(s))
		if diff := cmp.Diff(test.want, got.Workloads); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff([]report.NodeSource{{Name: "workers", Group: "eks-workers-1"}, {Name: "gpu", Launches: true}}, got.Sources); diff != "" {
			t.Errorf("%s: sources (-want +got):\n%s", name, diff)
		}
	}
}

// Pods that a node took wait for an address only where the network plugin gives none.
func TestWaitingOnANode(t *testing.T) {
	s := oneGroup()
	since := s.Time.Add(-20 * time.Minute)
	s.StuckPods = []snapshot.StuckPod{
		{Pod: "shop/db-0", Owner: "StatefulSet db", Node: "ip-10-0-0-1", Since: since},
		{Pod: "shop/web-1", Owner: "Job web", Node: "ip-10-0-0-1", Since: since},
		{Pod: "shop/young", Owner: "Job young", Node: "ip-10-0-0-1", Since: s.Time.Add(-5 * time.Second)},
		{Pod: "shop/web-2", Owner: "Job web", Node: "ip-10-0-0-1", Since: s.Time.Add(-40 * time.Second)},
		{Pod: "shop/pulls", Owner: "Job pulls", Node: "ip-10-0-0-1", Since: s.Time.Add(-40 * time.Second)},
	}
	s.PodEvents = []snapshot.PodEvent{
		{Pod: "shop/db-0", Reason: "FailedMount", Message: "MountVolume failed", Last: s.Time},
		{Pod: "shop/web-1", Reason: "FailedCreatePodSandBox", Message: "add cmd: failed to assign an IP address to container", Last: s.Time},
		{Pod: "shop/web-2", Reason: "FailedCreatePodSandBox", Message: "add cmd: failed to assign an IP address to container", Last: s.Time},
		{Pod: "shop/pulls", Reason: "FailedCreatePodSandBox", Message: "failed to get sandbox image", Last: s.Time},
	}
	work := func(owner string, pods int) report.WaitingWorkload {
		return report.WaitingWorkload{Workload: diagnosis.Workload{Namespace: "shop", Owner: owner, Pods: pods}, On: []string{"i-0aaa1111bbbb2222c", "subnet-0ab1"}}
	}
	if diff := cmp.Diff([]report.WaitingWorkload{work("Job web", 2)}, waiting(check.NewView(s)).Workloads); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Without warnings only the time tells.
	s.PodEvents = nil
	if diff := cmp.Diff([]report.WaitingWorkload{work("Job web", 1), work("StatefulSet db", 1)}, waiting(check.NewView(s)).Workloads); diff != "" {
		t.Errorf("no warnings read (-want +got):\n%s", diff)
	}
}

// Pods that were not read are unknown, those that were not to be read are not.
func TestWaitingUnread(t *testing.T) {
	s := oneGroup()
	delete(s.Read, snapshot.WaitingPods)
	if got := waiting(check.NewView(s)); got != nil {
		t.Errorf("nobody was to read pods: %+v", got)
	}
	denied := snapshot.Failure{Source: snapshot.WaitingPods, Reason: snapshot.Denied, Call: "kubernetes: list pods"}
	s.Failures = map[snapshot.Source]snapshot.Failure{snapshot.WaitingPods: denied}
	if got := waiting(check.NewView(s)); got == nil || got.Unread == nil || *got.Unread != denied {
		t.Errorf("the denied permission is not named: %+v", got)
	}
}

// A cause's pods are reported with their owners.
func TestWithWorkloads(t *testing.T) {
	s := oneGroup()
	s.WaitingPods = []snapshot.WaitingPod{unscheduled("db-0", "StatefulSet db", "", nil), unscheduled("db-1", "StatefulSet db", "", nil)}
	s.StuckPods = []snapshot.StuckPod{{Pod: "shop/web-1", Owner: "Job web"}}
	got := withWorkloads(check.NewView(s), []diagnosis.Cause{{Pods: []string{"shop/web-1", "shop/db-0", "shop/db-1"}}})
	want := []diagnosis.Workload{{Namespace: "shop", Owner: "StatefulSet db", Pods: 2}, {Namespace: "shop", Owner: "Job web", Pods: 1}}
	if diff := cmp.Diff(want, got[0].Workloads); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
