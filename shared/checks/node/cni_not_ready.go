package node

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func CNINotReady() check.Check {
	return check.Check{
		ID:         checkid.NodeCNINotReady,
		Starved:    true,
		Title:      "The network plugin does not come up on the node",
		Confidence: finding.Certain,
		Needs:      []snapshot.Source{snapshot.Nodes, snapshot.AWSNode, snapshot.Pods},
		Uses:       []snapshot.Source{snapshot.WaitingPods, snapshot.PodEventsOf},
		After:      []checkid.ID{checkid.AnyJoinCause, checkid.SpotBurstExceedsSubnet, checkid.IPLeakedInterfaces, checkid.IPSubnetExhausted, checkid.IPFragmented, checkid.IAMCNIRolePolicies, checkid.IAMRolePolicies, checkid.IAMSTSEndpoint, checkid.CNIVersion, checkid.CNIIPv6, checkid.CNIEniconfig, checkid.CNIPodIdentityAgent, checkid.InstanceIMDS},
		Cause:      "The node registered, its network is not ready, and the pod aws-node on it fails: its image cannot be pulled, or it ends with an error. A node without a network plugin takes no pods.",
		Fix:        "Read why the pod waits or ended, and its log: the image pull needs ECR and S3, the plugin needs EC2's API, its IAM actions and free addresses.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/troubleshooting.md",
		},
		Run: runCNINotReady,
	}
}

// trouble is a node whose network plugin does not work.
type trouble struct {
	id   string // of the instance
	node *snapshot.Node
	pod  *snapshot.Pod
	// what is the container's reason, e.g. ImagePullBackOff; said is in full.
	what, said string
	sure       bool
}

func runCNINotReady(s *facts.View) []finding.Finding {
	l := s.Index()
	pods := map[string]*snapshot.Pod{}
	for i := range s.Pods {
		if strings.HasPrefix(s.Pods[i].Name, "aws-node") {
			pods[s.Pods[i].Node] = &s.Pods[i]
		}
	}
	starving := map[string]bool{}
	for _, i := range s.Starving() {
		starving[i.ID] = true
	}
	var ready []string
	var list []trouble
	for _, id := range s.Scope.Instances {
		n := l.Nodes[id]
		switch {
		case n == nil, l.Terminated(id), l.Leaving(id):
		case n.Joined() && starving[id]:
			// Its network counts as ready: the plugin's configuration was written before.
			if t, found := troubleOf(pods[n.Name]); found && t.sure {
				t.id, t.node = id, n
				list = append(list, t)
				continue
			}
			ready = append(ready, id)
		case n.Joined():
			ready = append(ready, id)
		case !l.Due(id), !networkDown(n):
		case s.CNI == nil && s.Cluster.AutoMode: // the plugin is part of the system there
		case s.CNI == nil:
			list = append(list, trouble{id: id, node: n, what: "no aws-node", said: "the cluster has no DaemonSet aws-node"})
		default:
			if t, found := troubleOf(pods[n.Name]); found {
				t.id, t.node = id, n
				list = append(list, t)
			}
		}
	}
	var findings []finding.Finding
	if len(ready) > 0 {
		findings = append(findings, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: ready})
	}
	if len(list) > 0 {
		findings = append(findings, cniNotReadyFinding(l, list))
	}
	return findings
}

// networkDown tells that a node waits for its network plugin. Kubernetes has
// no code for it: the reason is KubeletNotReady for all kinds, and the message
// is the container runtime's ("container runtime network not ready:
// NetworkReady=false reason:NetworkPluginNotReady message:Network plugin
// returns error: cni plugin not initialized").
func networkDown(n *snapshot.Node) bool {
	text := strings.ToLower(n.Ready.Message)
	return slices.ContainsFunc([]string{"networkready=false", "networkpluginnotready", "cni plugin not initialized", "cni config uninitialized", "network plugin is not ready"}, func(part string) bool {
		return strings.Contains(text, part)
	})
}

// troubleOf is what is wrong with a pod of aws-node; nil is a pod that is not
// there. A pod that is well is no trouble.
func troubleOf(p *snapshot.Pod) (trouble, bool) {
	if p == nil {
		return trouble{what: "no pod", said: "no pod of aws-node is on the node"}, true
	}
	t := trouble{pod: p}
	for _, c := range p.Containers {
		switch {
		case c.State == "waiting" && starting(c.Reason):
			if t.what == "" {
				t.what, t.said = cmp.Or(c.Reason, "waiting"), ofContainer(c, c.Reason, c.Message)
			}
		case c.State == "waiting":
			t.what, t.said, t.sure = c.Reason, ofContainer(c, c.Reason, c.Message), true
			if c.Last != "" {
				t.said += fmt.Sprintf("; it ended before with %s: %s", c.Last, cmp.Or(phrase.Clip(c.LastMessage), "no message"))
			}
			return t, true
		case c.State == "terminated" && (c.ExitCode != 0 || !c.Init):
			t.what, t.said, t.sure = cmp.Or(c.Reason, "Error"), ofContainer(c, fmt.Sprintf("%s, exit code %d", cmp.Or(c.Reason, "ended"), c.ExitCode), c.Message), true
			return t, true
		case c.State == "running" && !c.Ready && !c.Init && c.Restarts > 0:
			t.what, t.said, t.sure = cmp.Or(c.Last, "restarting"), ofContainer(c, fmt.Sprintf("restarted, the last time after %s", cmp.Or(c.Last, "an end without a reason")), c.LastMessage), true
			return t, true
		case c.State == "running" && !c.Ready && !c.Init && t.what == "":
			t.what, t.said = "not ready", ofContainer(c, "runs and is not ready", c.Message)
		}
	}
	if t.what == "" && (p.Phase == "Failed" || p.Phase == "Pending") {
		t.what, t.said, t.sure = p.Phase, fmt.Sprintf("pod %s is %s: %s", p.Name, p.Phase, cmp.Or(phrase.Clip(p.Message), "no message")), p.Phase == "Failed"
	}
	return t, t.what != ""
}

// starting tells the reasons that a container has while it is well on its way.
func starting(reason string) bool {
	return reason == "" || reason == "ContainerCreating" || reason == "PodInitializing"
}

func ofContainer(c snapshot.Container, reason, message string) string {
	text := fmt.Sprintf("container %s: %s", c.Name, cmp.Or(reason, "waiting"))
	if message != "" {
		text += ": " + phrase.Clip(message)
	}
	return text
}
