package node

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/route"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

const cniDown = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"

// awsNodePod puts a pod of aws-node with the containers on the worlds' node.
func awsNodePod(containers ...snapshot.Container) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Pods = []snapshot.Pod{{Namespace: "kube-system", Name: "aws-node-x", Node: "i-0node.internal", Phase: "Pending", Containers: containers}}
	}
}

func TestCniNotReady(t *testing.T) { checktest.RunCases(t, CNINotReady(), cniNotReadyCases()) }

func cniNotReadyCases() []checktest.Case {
	fail := func(confidence, what string) []string {
		return []string{"fail " + confidence + "kube-system/aws-node [i-0node] [i-0node] i-0node: aws-node does not come up (" + what + ")"}
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
		{"it runs and is not ready", checktest.Change(checktest.Missed(), down, awsNodePod(snapshot.Container{Name: "aws-node", State: "running"})), fail("(likely) ", "not ready")},
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
		}), []string{"fail kube-system/aws-node [i-0node i-0second] [i-0node i-0second] 2 nodes: aws-node does not come up (ImagePullBackOff)"}},
		{"pods unread", checktest.Change(checktest.Missed(), down, checktest.Unread(snapshot.Pods)), []string{"unknown prod [] pods: denied"}},
	}
}

func TestCNINotReadyWords(t *testing.T) {
	got := checktest.Failed(t, CNINotReady(), checktest.Change(checktest.Missed(), checktest.NotReadyNode(cniDown), awsNodePod(snapshot.Container{Name: "aws-node", State: "waiting", Reason: "CrashLoopBackOff", Last: "Error", LastMessage: "ipamd failed"})))
	want := "i-0node.internal registered, and its network is not ready: container aws-node: CrashLoopBackOff; it ended before with Error: ipamd failed."
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
			behind := checktest.Failed(t, CNINotReady(), test.s).Behind
			if narrowed := behind != nil; narrowed != test.image {
				t.Fatalf("it is narrowed to %v, want %v", behind, test.image)
			}
			if test.image && (slices.Contains(behind, "ip/fragmented") || !route.NoEgress().Among(behind) || !slices.Contains(behind, "iam/role-policies")) {
				t.Errorf("behind %v; want the way out and the node's role, and no address", behind)
			}
		})
	}
}
