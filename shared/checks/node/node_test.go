package node

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

func checkOf(id checkid.ID) check.Check { return checktest.One(Checks(), id) }

func TestCases(t *testing.T) {
	checktest.RunTable(t, Checks(), map[checkid.ID][]checktest.Case{
		checkid.NodeCNINotReady:   cniNotReadyCases(),
		checkid.NodeCSRPending:    csrPendingCases(),
		checkid.NodeNotReady:      notReadyCases(),
		checkid.NodeNotRegistered: notRegisteredCases(),
		checkid.NodeUninitialized: {
			{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
			{"not Ready, and initialized", checktest.Change(checktest.Missed(), checktest.NotReadyNode("x")), []string{"pass prod [i-0node]"}},
			{"no node", checktest.Missed(), nil},
			{"tainted", checktest.Change(snapshottest.PrivateWithNAT(), tainted), []string{
				"fail workers [i-0node] [i-0node] i-0node is not initialized by the cloud provider",
			}},
			{"tainted, not due", checktest.Change(snapshottest.PrivateWithNAT(), tainted, checktest.NotDueYet), nil},
			{"terminated", checktest.Change(snapshottest.PrivateWithNAT(), tainted, func(s *snapshot.Snapshot) { s.Instances[0].State = "terminated" }), nil},
			{"two of a group", checktest.Change(snapshottest.PrivateWithNAT(), checktest.LaunchedToo("i-0second", 10*time.Minute), func(s *snapshot.Snapshot) { snapshottest.Join(s, "i-0second") }, tainted), []string{
				"fail workers [i-0node i-0second] [i-0node i-0second] 2 nodes are not initialized by the cloud provider",
			}},
			{"instances unread", checktest.Change(snapshottest.PrivateWithNAT(), tainted, checktest.Unread(snapshot.Instances)), []string{
				"fail i-0node [i-0node] [i-0node] i-0node is not initialized by the cloud provider",
			}},
			{"unread", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.Nodes)), []string{"unknown prod [] nodes: denied"}},
		},
	})
}

const cniDown = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"

// awsNodePod puts a pod of aws-node with the containers on the worlds' node.
func awsNodePod(containers ...snapshot.Container) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Pods = []snapshot.Pod{{Namespace: "kube-system", Name: "aws-node-x", Node: "i-0node.internal", Phase: "Pending", Containers: containers}}
	}
}

func cniNotReadyCases() []checktest.Case {
	fail := func(confidence, what string) []string {
		return []string{"fail " + confidence + "kube-system/aws-node [i-0node] [i-0node] i-0node: aws-node does not start (" + what + ")"}
	}
	down := checktest.NotReadyNode(cniDown)
	pull := snapshot.Container{Name: "aws-vpc-cni-init", Init: true, State: "waiting", Reason: "ImagePullBackOff", Message: "Back-off pulling image"}
	noCNI := func(s *snapshot.Snapshot) { s.CNI = nil }
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"no node", checktest.Missed(), nil},
		{"its image cannot be pulled", checktest.Change(checktest.Missed(), down, awsNodePod(pull)), fail("", "ImagePullBackOff")},
		{"it crashes", checktest.Change(checktest.Missed(), down, awsNodePod(snapshot.Container{Name: "aws-node", State: "waiting", Reason: "CrashLoopBackOff", Last: "Error", LastMessage: "ipamd failed"})), fail("", "CrashLoopBackOff")},
		{"it ended", checktest.Change(checktest.Missed(), down, awsNodePod(snapshot.Container{Name: "aws-node", State: "terminated", Reason: "Error", ExitCode: 1})), fail("", "Error")},
		{"it restarts", checktest.Change(checktest.Missed(), down, awsNodePod(snapshot.Container{Name: "aws-node", State: "running", Restarts: 3, Last: "OOMKilled"})), fail("", "OOMKilled")},
		{"it is running and not ready", checktest.Change(checktest.Missed(), down, awsNodePod(snapshot.Container{Name: "aws-node", State: "running"})), fail("(likely) ", "not ready")},
		{"it still starts", checktest.Change(checktest.Missed(), down, awsNodePod(snapshot.Container{Name: "aws-node", State: "waiting", Reason: "PodInitializing"})), fail("(likely) ", "PodInitializing")},
		{"its init container is done, it runs and is ready", checktest.Change(checktest.Missed(), down, awsNodePod(
			snapshot.Container{Name: "aws-vpc-cni-init", Init: true, State: "terminated", Reason: "Completed"},
			snapshot.Container{Name: "aws-node", State: "running", Ready: true},
		), func(s *snapshot.Snapshot) { s.Pods[0].Phase = "Running" }), nil},
		{"no containers yet", checktest.Change(checktest.Missed(), down, awsNodePod()), fail("(likely) ", "Pending")},
		{"no pod on the node", checktest.Change(checktest.Missed(), down), fail("(likely) ", "no pod")},
		{"no DaemonSet", checktest.Change(checktest.Missed(), down, noCNI), []string{
			"fail (likely) kube-system/aws-node [i-0node] [i-0node] i-0node: no network plugin; there is no DaemonSet aws-node",
		}},
		{"no DaemonSet, and none is needed", checktest.Change(checktest.Missed(), down, noCNI, func(s *snapshot.Snapshot) { s.Cluster.AutoMode = true }), nil},
		{"not Ready for another reason", checktest.Change(checktest.Missed(), checktest.NotReadyNode("PLEG is not healthy"), awsNodePod(pull)), nil},
		{"not due", checktest.Change(checktest.Missed(), down, awsNodePod(pull), checktest.NotDueYet), nil},
		{"two nodes: what is sure leads", checktest.Change(checktest.Missed(), down, awsNodePod(pull), checktest.LaunchedToo("i-0second", 10*time.Minute), func(s *snapshot.Snapshot) {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "second", Instance: "i-0second", Ready: s.Nodes[0].Ready})
		}), []string{"fail kube-system/aws-node [i-0node i-0second] [i-0node i-0second] 2 nodes: aws-node does not start (ImagePullBackOff)"}},
		{"pods unread", checktest.Change(checktest.Missed(), down, checktest.Unread(snapshot.Pods)), []string{"unknown prod [] pods: denied"}},
	}
}

func TestCNINotReadyWords(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.NodeCNINotReady), checktest.Change(checktest.Missed(), checktest.NotReadyNode(cniDown), awsNodePod(snapshot.Container{Name: "aws-node", State: "waiting", Reason: "CrashLoopBackOff", Last: "Error", LastMessage: "ipamd failed"})))
	want := "i-0node.internal registered, and its network is not ready: container aws-node: CrashLoopBackOff; it exited before with Error: ipamd failed."
	if got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
	if !strings.Contains(got.Fix.Command, "kubectl -n kube-system describe pod aws-node-x") {
		t.Errorf("Command = %q, want the pod", got.Fix.Command)
	}
}

// An image is pulled over the node's own network: a lack of addresses for pods
// explains it only where another node's plugin got to run.
func TestAnImageIsPulledWithoutAnAddressForPods(t *testing.T) {
	pull := snapshot.Container{Name: "aws-vpc-cni-init", Init: true, State: "waiting", Reason: "ImagePullBackOff"}
	crash := snapshot.Container{Name: "aws-node", State: "waiting", Reason: "CrashLoopBackOff"}
	second := func(c snapshot.Container) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			checktest.LaunchedToo("i-0second", 10*time.Minute)(s)
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "second", Instance: "i-0second", Ready: s.Nodes[0].Ready})
			s.Pods = append(s.Pods, snapshot.Pod{Namespace: "kube-system", Name: "aws-node-y", Node: "second", Phase: "Pending", Containers: []snapshot.Container{c}})
		}
	}
	for name, test := range map[string]struct {
		s     *snapshot.Snapshot
		image bool
	}{
		"the image":            {checktest.Change(checktest.Missed(), checktest.NotReadyNode(cniDown), awsNodePod(pull)), true},
		"the image, on both":   {checktest.Change(checktest.Missed(), checktest.NotReadyNode(cniDown), awsNodePod(pull), second(pull)), true},
		"it crashes":           {checktest.Change(checktest.Missed(), checktest.NotReadyNode(cniDown), awsNodePod(crash)), false},
		"it crashes on one":    {checktest.Change(checktest.Missed(), checktest.NotReadyNode(cniDown), awsNodePod(pull), second(crash)), false},
		"the other one's pull": {checktest.Change(checktest.Missed(), checktest.NotReadyNode(cniDown), awsNodePod(crash), second(pull)), false},
	} {
		t.Run(name, func(t *testing.T) {
			behind := checktest.Failed(t, checkOf(checkid.NodeCNINotReady), test.s).NarrowedAfter
			if narrowed := behind != nil; narrowed != test.image {
				t.Fatalf("it is narrowed to %v, want %v", behind, test.image)
			}
			if test.image && (slices.Contains(behind, "ip/fragmented") || !catalog.Meaning(checkid.RouteNoEgress).Among(behind) || !slices.Contains(behind, "iam/role-policies")) {
				t.Errorf("behind %v; want the way out and the node's role, and no address", behind)
			}
		})
	}
}

// asked adds a request for a serving certificate.
func asked(user string, ago time.Duration, changes ...func(*snapshot.CSR)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		c := snapshot.CSR{Name: "csr-vgrfh", Signer: "kubernetes.io/kubelet-serving", Username: user, Created: s.Time.Add(-ago)}
		for _, f := range changes {
			f(&c)
		}
		s.CSRs = append(s.CSRs, c)
	}
}

func csrPendingCases() []checktest.Case {
	const node = "system:node:i-0node.internal"
	approved := func(c *snapshot.CSR) { c.Approved = true }
	fail := []string{"fail i-0node [i-0node] [] i-0node waits for its serving certificate"}
	pass := []string{"pass prod [i-0node]"}
	return []checktest.Case{
		{"none", snapshottest.PrivateWithNAT(), pass},
		{"approved", checktest.Change(snapshottest.PrivateWithNAT(), asked(node, time.Hour, approved)), pass},
		{"denied is an answer", checktest.Change(snapshottest.PrivateWithNAT(), asked(node, time.Hour, func(c *snapshot.CSR) { c.Denied = true })), pass},
		{"a Ready node's waits: it joined all the same", checktest.Change(snapshottest.PrivateWithNAT(), asked(node, time.Hour)), fail},
		{"a node that is not Ready: it is not so for this", checktest.Change(checktest.Missed(), checktest.NotReadyNode("x"), asked(node, time.Hour)), fail},
		{"on its way", checktest.Change(snapshottest.PrivateWithNAT(), asked(node, time.Minute)), pass},
		{"a date that EKS does not give is not old", checktest.Change(snapshottest.PrivateWithNAT(), asked(node, 0, func(c *snapshot.CSR) { c.Created = time.Time{} })), pass},
		{"a later one was approved", checktest.Change(snapshottest.PrivateWithNAT(), asked(node, time.Hour), asked(node, time.Minute, approved)), pass},
		{"another signer", checktest.Change(snapshottest.PrivateWithNAT(), asked(node, time.Hour, func(c *snapshot.CSR) { c.Signer = "kubernetes.io/kube-apiserver-client-kubelet" })), pass},
		{"a node role that is mapped twice", checktest.Change(snapshottest.PrivateWithNAT(), asked("test", time.Hour)), []string{
			"pass prod [i-0node]",
			"fail test [prod] [] A kubelet requests its certificate as test",
		}},
		{"unread", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.CSRs)), []string{"unknown prod [] certificate signing requests: denied"}},
	}
}

func TestCSRPendingFix(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.NodeCSRPending), checktest.Change(snapshottest.PrivateWithNAT(), asked("test", time.Hour)))
	if !strings.Contains(got.Fix.Text, "mapping of the node role to test") || got.Fix.Command != "kubectl describe csr -- csr-vgrfh && kubectl get csr -o 'jsonpath={.spec.usages}' -- csr-vgrfh" {
		t.Errorf("Fix = %+v", got.Fix)
	}
}

// claimed is a world whose node is a NodeClaim's, Ready for some time, and what
// Karpenter still waits for.
func claimed(reason, message string, ago time.Duration, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	n := &s.Nodes[0]
	n.Ready.Since = s.Time.Add(-ago)
	condition := func(status, reason, message string, generation int64) snapshot.ObservedCondition {
		return snapshot.ObservedCondition{Condition: snapshot.Condition{Status: status, Reason: reason, Message: message, Since: s.Time.Add(-ago - time.Minute)}, Generation: generation}
	}
	status := "Unknown"
	if reason == "Initialized" {
		status = "True"
	}
	s.NodePools = []snapshot.NodePool{{Name: "gpu"}}
	s.NodeClaims = []snapshot.NodeClaim{{Name: "gpu-x7k2p", Generation: 1, Pool: "gpu", Instance: snapshottest.Node, Node: n.Name, Conditions: map[string]snapshot.ObservedCondition{
		"Launched": condition("True", "Launched", "", 1), "Registered": condition("True", "Registered", "", 1), "Initialized": condition(status, reason, message, 1),
	}}}
	for _, change := range changes {
		change(s)
	}
	return s
}

func TestNotInitialized(t *testing.T) {
	const taint = `StartupTaint "node.cilium.io/agent-not-ready=true:NoExecute" still exists`
	const resource = `Resource "nvidia.com/gpu" was requested but not registered`
	claim := func(change func(*snapshot.NodeClaim)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { change(&s.NodeClaims[0]) }
	}
	set := func(name, status string) func(*snapshot.Snapshot) {
		return claim(func(c *snapshot.NodeClaim) {
			held := c.Conditions[name]
			held.Status = status
			c.Conditions[name] = held
		})
	}
	name := snapshottest.PrivateWithNAT().Nodes[0].Name
	host, _, _ := strings.Cut(name, ".")
	fail := "fail gpu [nodeclaim/gpu-x7k2p] [] " + host + " is not initialized: "
	startup := checktest.Case{Name: "a startup taint was not removed", World: claimed("StartupTaintsExist", taint, 5*time.Minute), Want: []string{fail + "a startup taint was not removed"}}
	if len([]rune(name))+40 > 70 {
		t.Fatalf("the world's node has too long a name: %s", name)
	}
	checktest.RunCases(t, checkOf(checkid.NodeNotInitialized), []checktest.Case{
		{Name: "no Karpenter", World: snapshottest.PrivateWithNAT(), Want: []string{"pass prod [prod]"}},
		{Name: "initialized", World: claimed("Initialized", "", time.Hour), Want: []string{"pass gpu [nodeclaim/gpu-x7k2p]"}},
		startup,
		{Name: "for four minutes", World: claimed("StartupTaintsExist", taint, 4*time.Minute)},
		{Name: "a taint of its start", World: claimed("KnownEphemeralTaintsExist", `KnownEphemeralTaint "node.cloudprovider.kubernetes.io/uninitialized:NoSchedule" still exists`, time.Hour), Want: []string{fail + "a taint from its start was not removed"}},
		{Name: "a resource", World: claimed("ResourceNotRegistered", resource, 10*time.Minute), Want: []string{fail + "a requested resource is missing"}},
		{Name: "a driver that is being compiled", World: claimed("ResourceNotRegistered", resource, 9*time.Minute)},
		{Name: "no pool", World: claimed("StartupTaintsExist", taint, time.Hour, claim(func(c *snapshot.NodeClaim) { c.Pool = "" })), Want: []string{"fail gpu-x7k2p [nodeclaim/gpu-x7k2p] [] " + host + " is not initialized: a startup taint was not removed"}},

		{Name: "the node is not Ready", World: claimed("StartupTaintsExist", taint, time.Hour, func(s *snapshot.Snapshot) { s.Nodes[0].Ready.Status = "False" })},
		{Name: "Karpenter waits for the node", World: claimed("NodeNotReady", "Node status is NotReady", time.Hour)},
		{Name: "it has not looked", World: claimed("AwaitingReconciliation", "object is awaiting reconciliation", time.Hour)},
		{Name: "no node registered", World: claimed("NodeNotFound", "Node not registered with cluster", time.Hour, set("Registered", "Unknown"))},
		{Name: "it is being deleted", World: claimed("StartupTaintsExist", taint, time.Hour, claim(func(c *snapshot.NodeClaim) { c.Deleting = true }))},
		{Name: "its node is gone", World: claimed("StartupTaintsExist", taint, time.Hour, claim(func(c *snapshot.NodeClaim) { c.Node = "another" }))},
		{Name: "of an older generation", World: claimed("StartupTaintsExist", taint, time.Hour, claim(func(c *snapshot.NodeClaim) { c.Generation = 2 }))},
		{Name: "nodes not read", World: claimed("StartupTaintsExist", taint, time.Hour, checktest.Unread(snapshot.Nodes))},
		{Name: "may not, and nothing names a pool", World: checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.NodeClaimsOf))},
		{Name: "may not", World: claimed("StartupTaintsExist", taint, time.Hour, checktest.Unread(snapshot.NodeClaimsOf)), Want: []string{"unknown prod [prod] nodeclaims: denied"}},
	})
}

// A burst is one finding, and hostile words are cut and begin no command.
func TestNotInitializedIsOneFinding(t *testing.T) {
	hostile := "`$(reboot)` <!channel> " + strings.Repeat("é", 20_000)
	s := claimed("StartupTaintsExist", hostile, time.Hour)
	for _, id := range []string{"a", "b"} {
		n := s.Nodes[0]
		n.Name = "node-" + id
		s.Nodes = append(s.Nodes, n)
		c := s.NodeClaims[0]
		c.Name, c.Node, c.Instance = "gpu-"+id, n.Name, "i-0"+id
		s.NodeClaims = append(s.NodeClaims, c)
	}
	r := checktest.Failed(t, checkOf(checkid.NodeNotInitialized), s)
	if r.Title != "3 nodes are not initialized: a startup taint was not removed" || len(r.Covers) != 3 || !strings.HasSuffix(r.Why, " So are 2 more.") {
		t.Errorf("%s (%v): %.2000s", r.Title, r.Covers, r.Why)
	}
	for _, e := range append(r.Evidence, r.Evidence[0]) {
		if len([]rune(e.Value)) > 700 {
			t.Errorf("%d runes of evidence", len([]rune(e.Value)))
		}
	}
	if len([]rune(r.Why)) > 900 || strings.Contains(r.Fix.Command, "reboot") {
		t.Errorf("%d runes, %s", len([]rune(r.Why)), r.Fix.Command)
	}
}

// unready is a node that registered, with the given condition.
func unready(c snapshot.Condition) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	s.Nodes[0].Ready = c
	return s
}

func notReadyCases() []checktest.Case {
	fail := []string{"fail i-0node [i-0node] [i-0node] i-0node registered and is not Ready"}
	down := snapshot.Condition{Status: "False", Reason: "KubeletNotReady", Message: "cni plugin not initialized"}
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"not Ready", unready(down), fail},
		{"Unknown is not Ready", unready(snapshot.Condition{Status: "Unknown"}), fail},
		{"no condition yet", unready(snapshot.Condition{}), fail},
		{"Ready, and not initialized", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.Nodes[0].Uninitialized = true }), fail},
		{"not due", checktest.Change(unready(down), func(s *snapshot.Snapshot) { s.Launches[0].Due = s.Time.Add(time.Second) }), nil},
		{"never registered is node/not-registered", checktest.Missed(), nil},
		{"it registered anew, its old node is still there", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			old := s.Nodes[0]
			old.Name, old.Created, old.Ready = "zz-old", old.Created.Add(-time.Hour), down
			s.Nodes = append(s.Nodes, old)
		}), []string{"pass prod [i-0node]"}},
		{"stopped under it", checktest.Change(unready(down), func(s *snapshot.Snapshot) { s.Instances[0].State = "stopped" }), fail},
		{"terminated: the node goes too", checktest.Change(unready(down), func(s *snapshot.Snapshot) { s.Instances[0].State = "terminated" }), nil},
		{"instances unread", checktest.Change(unready(down), checktest.Unread(snapshot.Instances)), fail},
		{"nodes unread", checktest.Change(unready(down), checktest.Unread(snapshot.Nodes)), []string{"unknown prod [] nodes: denied"}},
	}
}

func TestNotReadyWords(t *testing.T) {
	s := unready(snapshot.Condition{Status: "False", Reason: "KubeletNotReady", Message: "cni plugin not initialized"})
	s.Nodes[0].Uninitialized = true
	got := checktest.Failed(t, checkOf(checkid.NodeNotReady), s)
	want := `i-0node registered as i-0node.internal. Its condition Ready is False: KubeletNotReady ("cni plugin not initialized"). The cloud provider has not initialized it.`
	if got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
}

func notRegisteredCases() []checktest.Case {
	fail := []string{"fail i-0node [i-0node] [i-0node] i-0node has not registered as a node"}
	launched := func(ago time.Duration) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Launches[0].Started = s.Time.Add(-ago)
			s.Launches[0].Due = s.Launches[0].Started.Add(5 * time.Minute)
		}
	}
	lifecycle := func(state string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Groups = []snapshot.Group{{Instances: []snapshot.GroupInstance{{ID: snapshottest.Node, Lifecycle: state}}}}
		}
	}
	return []checktest.Case{
		{"registered", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"registered, not Ready", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.Nodes[0].Ready.Status = "False" }), []string{"pass prod [i-0node]"}},
		{"due", checktest.Missed(), fail},
		{"due this second", checktest.Change(checktest.Missed(), launched(5*time.Minute)), fail},
		{"not due: nothing is said, and nothing is closed", checktest.Change(checktest.Missed(), launched(5*time.Minute-time.Second)), nil},
		{"a node that is no EC2 instance is not it", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Nodes = []snapshot.Node{{Name: "fargate-1"}} }), fail},
		{"ended: it cannot register", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Instances[0].State = "terminated" }), nil},
		{"in a warm pool", checktest.Change(checktest.Missed(), lifecycle("Warmed:Running")), nil},
		{"retained after its end", checktest.Change(checktest.Missed(), lifecycle("Terminating:Retained")), nil},
		{"retained in the warm pool", checktest.Change(checktest.Missed(), lifecycle("Warmed:Terminating:Retained")), nil},
		{"its root volume is being replaced", checktest.Change(checktest.Missed(), lifecycle("ReplacingRootVolume:Wait")), nil},
		{"its root volume was replaced", checktest.Change(checktest.Missed(), lifecycle("RootVolumeReplaced")), nil},
		{"its end waits for a hook", checktest.Change(checktest.Missed(), lifecycle("Terminating:Wait")), fail},
		{"nobody waited for it", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Launches = nil }), nil},
		{"nodes unread", checktest.Change(checktest.Missed(), checktest.Unread(snapshot.Nodes)), []string{"unknown prod [] nodes: denied"}},
	}
}

func TestNotRegisteredWords(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.NodeNotRegistered), checktest.Missed())
	expect.Equal(t, "Why", got.Why, "i-0node (m5.large) should have been a node 5 min after its launch at 14:50:00 UTC. No node of prod has its id.")
}

func TestNotRegisteredSaysWhatWasLearned(t *testing.T) {
	s := snapshottest.PrivateWithNAT()
	snapshottest.Unjoin(s, snapshottest.Node)
	s.Launches[0].Samples, s.Launches[0].Usual = 192, 80*time.Second
	s.Launches[0].Due = s.Launches[0].Started.Add(2 * time.Minute)
	got := checktest.Failed(t, checkOf(checkid.NodeNotRegistered), s)
	if want := "95 of 100 nodes of workers are Ready within 1 min 20 s (192 joins); it had 2 min."; !strings.HasSuffix(got.Why, want) {
		t.Errorf("Why = %q, want %q at its end", got.Why, want)
	}
}

func tainted(s *snapshot.Snapshot) {
	for i := range s.Nodes {
		s.Nodes[i].Uninitialized = true
	}
}

func TestUninitializedWords(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.NodeUninitialized), checktest.Change(snapshottest.PrivateWithNAT(), tainted))
	if want := "Its name is not the instance's private DNS name, ip-10-42-192-10.us-west-2.compute.internal."; !strings.HasSuffix(got.Why, want) {
		t.Errorf("Why = %q, want it to end with %q", got.Why, want)
	}
}
