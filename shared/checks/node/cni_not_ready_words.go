package node

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// cniNotReadyFinding is one finding over all nodes: what most of them have leads.
func cniNotReadyFinding(l facts.InstanceIndex, list []trouble) finding.Finding {
	counts := map[string]int{}
	for _, t := range list {
		counts[t.what]++
	}
	first := slices.MaxFunc(list, func(a, b trouble) int {
		return cmp.Or(cmp.Compare(one(a.sure), one(b.sure)), cmp.Compare(counts[a.what], counts[b.what]), strings.Compare(b.what+b.id, a.what+a.id))
	})
	f := finding.Finding{Outcome: finding.Fail, Resource: facts.AWSNode}
	const limit = 5
	for n, t := range list {
		f.Covers = append(f.Covers, t.id)
		if n < limit {
			f.Evidence = append(f.Evidence, finding.Evidence{What: t.node.Name, Value: t.said})
		}
	}
	if len(list) > limit {
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Nodes", Value: fmt.Sprintf("and %d more", len(list)-limit)})
	}
	f.Evidence = append(f.Evidence, finding.Evidence{What: first.node.Name, Value: "Ready is " + cmp.Or(first.node.Ready.Status, "not reported") + ": " + phrase.Clip(first.node.Ready.Message)})
	f.Instances = slices.Clone(f.Covers)
	f.Resources = []string{first.node.Name}
	if !first.sure {
		// Another plugin may be meant to do it, or the pod may still come up.
		f.Confidence = finding.Likely
	}
	f.Title = phrase.Title("%s: aws-node does not come up (%s)", phrase.Subject(f.Covers, "node"), first.what)
	f.Why = fmt.Sprintf("%s registered, and its network is not ready: %s.", first.node.Name, first.said)
	f.Fix = finding.Fix{
		Text:    "Read the pod's events and its log.",
		Command: shell.Command("kubectl", "-n", "kube-system", "get", "pods", "-l", "k8s-app=aws-node", "-o", "wide", "--field-selector", "spec.nodeName="+first.node.Name),
		Console: link.EC2(l.S, "InstanceDetails:instanceId="+first.id),
	}
	switch {
	case l.S.CNI == nil:
		f.Title = phrase.Title("%s: no network plugin; there is no DaemonSet aws-node", phrase.Subject(f.Covers, "node"))
		f.Fix.Text = "Install the add-on vpc-cni. Where another network plugin is meant to do it, look at that one's pods on the node."
		f.Fix.Command = command.AWS(l.S, "eks create-addon", "--cluster-name", l.S.Cluster.Name, "--addon-name", "vpc-cni")
	case first.pod == nil:
		f.Fix.Text = "Look at why the DaemonSet puts no pod on the node: its node selector, affinity and tolerations, and a quota of pods."
		f.Fix.Command = "kubectl -n kube-system describe daemonset aws-node"
	case imageFails(first):
		f.Fix.Text = "The image cannot be pulled: look at the node's way to ECR and S3, the node role's ECR actions, and the image's registry and region."
		f.Fix.Command = describePod(first.pod)
		if !slices.ContainsFunc(list, func(t trouble) bool { return !imageFails(t) }) {
			f.Behind = imageCauses()
		}
	default:
		f.Fix.Text = "Read the log: mostly the plugin cannot reach EC2's API, lacks an IAM action, or finds no free address."
		f.Fix.Command = shell.All(describePod(first.pod),
			shell.Command("kubectl", "-n", cmp.Or(first.pod.Namespace, "kube-system"), "logs", first.pod.Name, "-c", "aws-node", "--tail", "50"))
	}
	return f
}

// imageFails tells that the pod never ran: the kubelet's reasons ErrImagePull,
// ImagePullBackOff, InvalidImageName and their like (pkg/kubelet/images/types.go
// of Kubernetes).
func imageFails(t trouble) bool { return strings.Contains(t.what, "Image") }

// imageCauses are what keeps an image from being pulled: the way to the
// registry, and the node's own role. The pod runs in the node's network: that
// there is no address for pods is no reason, nor is its own identity.
func imageCauses() []checkid.ID { return []checkid.ID{checkid.AnyJoinCause, checkid.IAMRolePolicies} }

func describePod(p *snapshot.Pod) string {
	return shell.Command("kubectl", "-n", cmp.Or(p.Namespace, "kube-system"), "describe", "pod", p.Name)
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
