package checks

import (
	"slices"
	"strings"
	"testing"
	"time"

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

func TestCniNotReady(t *testing.T) { runCases(t, cniNotReady(), cniNotReadyCases()) }

func cniNotReadyCases() []testCase {
	fail := func(confidence, what string) []string {
		return []string{"fail " + confidence + "kube-system/aws-node [i-0node] [i-0node] i-0node: aws-node does not come up (" + what + ")"}
	}
	down := notReadyNode(cniDown)
	pull := snapshot.Container{Name: "aws-vpc-cni-init", Init: true, State: "waiting", Reason: "ImagePullBackOff", Message: "Back-off pulling image"}
	noCNI := func(s *snapshot.Snapshot) { s.CNI = nil }
	return []testCase{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"no node", missed(), nil},
		{"its image cannot be pulled", change(missed(), down, awsNodePod(pull)), fail("", "ImagePullBackOff")},
		{"it crashes", change(missed(), down, awsNodePod(snapshot.Container{Name: "aws-node", State: "waiting", Reason: "CrashLoopBackOff", Last: "Error", LastMessage: "ipamd failed"})), fail("", "CrashLoopBackOff")},
		{"it ended", change(missed(), down, awsNodePod(snapshot.Container{Name: "aws-node", State: "terminated", Reason: "Error", ExitCode: 1})), fail("", "Error")},
		{"it restarts", change(missed(), down, awsNodePod(snapshot.Container{Name: "aws-node", State: "running", Restarts: 3, Last: "OOMKilled"})), fail("", "OOMKilled")},
		{"it runs and is not ready", change(missed(), down, awsNodePod(snapshot.Container{Name: "aws-node", State: "running"})), fail("(likely) ", "not ready")},
		{"it still starts", change(missed(), down, awsNodePod(snapshot.Container{Name: "aws-node", State: "waiting", Reason: "PodInitializing"})), fail("(likely) ", "PodInitializing")},
		{"its init container is done, it runs and is ready", change(missed(), down, awsNodePod(
			snapshot.Container{Name: "aws-vpc-cni-init", Init: true, State: "terminated", Reason: "Completed"},
			snapshot.Container{Name: "aws-node", State: "running", Ready: true},
		), func(s *snapshot.Snapshot) { s.Pods[0].Phase = "Running" }), nil},
		{"no containers yet", change(missed(), down, awsNodePod()), fail("(likely) ", "Pending")},
		{"no pod on the node", change(missed(), down), fail("(likely) ", "no pod")},
		{"no DaemonSet", change(missed(), down, noCNI), []string{
			"fail (likely) kube-system/aws-node [i-0node] [i-0node] i-0node: no network plugin; there is no DaemonSet aws-node",
		}},
		{"no DaemonSet, and none is needed", change(missed(), down, noCNI, func(s *snapshot.Snapshot) { s.Cluster.AutoMode = true }), nil},
		{"not Ready for another reason", change(missed(), notReadyNode("PLEG is not healthy"), awsNodePod(pull)), nil},
		{"not due", change(missed(), down, awsNodePod(pull), notDueYet), nil},
		{"two nodes: what is sure leads", change(missed(), down, awsNodePod(pull), launchedToo("i-0second", 10*time.Minute), func(s *snapshot.Snapshot) {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "second", Instance: "i-0second", Ready: s.Nodes[0].Ready})
		}), []string{"fail kube-system/aws-node [i-0node i-0second] [i-0node i-0second] 2 nodes: aws-node does not come up (ImagePullBackOff)"}},
		{"pods unread", change(missed(), down, unread(snapshot.Pods)), []string{"unknown prod [] pods: denied"}},
	}
}

func TestCNINotReadyWords(t *testing.T) {
	got := failed(t, cniNotReady(), change(missed(), notReadyNode(cniDown), awsNodePod(snapshot.Container{Name: "aws-node", State: "waiting", Reason: "CrashLoopBackOff", Last: "Error", LastMessage: "ipamd failed"})))
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
			launchedToo("i-0second", 10*time.Minute)(s)
			s.Nodes = append(s.Nodes, snapshot.Node{Name: "second", Instance: "i-0second", Ready: s.Nodes[0].Ready})
			s.Pods = append(s.Pods, snapshot.Pod{Namespace: "kube-system", Name: "aws-node-y", Node: "second", Phase: "Pending", Containers: []snapshot.Container{c}})
		}
	}
	for name, test := range map[string]struct {
		s     *snapshot.Snapshot
		image bool
	}{
		"the image":            {change(missed(), notReadyNode(cniDown), awsNodePod(pull)), true},
		"the image, on both":   {change(missed(), notReadyNode(cniDown), awsNodePod(pull), second(pull)), true},
		"it crashes":           {change(missed(), notReadyNode(cniDown), awsNodePod(crash)), false},
		"it crashes on one":    {change(missed(), notReadyNode(cniDown), awsNodePod(pull), second(crash)), false},
		"the other one's pull": {change(missed(), notReadyNode(cniDown), awsNodePod(crash), second(pull)), false},
	} {
		t.Run(name, func(t *testing.T) {
			behind := failed(t, cniNotReady(), test.s).Behind
			if narrowed := behind != nil; narrowed != test.image {
				t.Fatalf("it is narrowed to %v, want %v", behind, test.image)
			}
			if test.image && (slices.Contains(behind, "ip/fragmented") || !noEgress().Among(behind) || !slices.Contains(behind, "iam/role-policies")) {
				t.Errorf("behind %v; want the way out and the node's role, and no address", behind)
			}
		})
	}
}
