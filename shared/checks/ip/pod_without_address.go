package ip

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func PodWithoutAddress() check.Check {
	return check.Check{
		ID:         checkid.IPPodWithoutAddress,
		Title:      "Pods on Ready nodes wait for an address",
		Confidence: finding.Symptom,
		WatchedBy:  []check.Detector{check.JoinCheck, check.Sweep},
		Breaks:     check.Pods,
		Proof:      check.ByPassing,
		Starved:    true,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Nodes},
		Uses:       []snapshot.Source{snapshot.WaitingPods, snapshot.PodEventsOf, snapshot.PodsOnNodes},
		After: []checkid.ID{
			checkid.IPSubnetExhausted, checkid.IPFragmented, checkid.IPLeakedInterfaces, checkid.InstanceMaxPods, checkid.InstanceIMDS,
			checkid.IPBranchLeaked, checkid.IAMCNIRolePolicies, checkid.NodeCNINotReady, checkid.CNIEniconfig, checkid.CNIPodIdentityAgent,
		},
		Cause: "A Ready node took pods, and for minutes they have no sandbox: no address and no container. Mostly the network plugin has no address to give (FailedCreatePodSandBox: failed to assign an IP address to container): the node runs more pods than its interfaces have addresses for, its subnet is full or has no whole /28 block, or the plugin may not ask EC2 for more. " +
			"Pods that wait for a volume, for an image or for a branch interface are not counted.",
		Fix: "Read the events of one of the pods, then the log of aws-node on its node (/var/log/aws-routed-eni/ipamd.log).",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/troubleshooting.md",
		},
		Run: runPodWithoutAddress,
	}
}

// runPodWithoutAddress holds the rule:
//
//	the waiting pods were not read                                     Unknown
//	a pod has no sandbox on a Ready node for minutes, events unread    Unknown
//	a warning tells that it gets no sandbox                            Fail, a finding for each node
//	a warning tells that it waits for a volume                         Pass; Fail where that waits for metadata
//	no warning is about it, for a quarter of an hour                   Fail
//	none                                                               Pass
func runPodWithoutAddress(s *facts.View) []finding.Finding {
	var v finding.Verdicts
	if !s.Has(snapshot.WaitingPods) {
		v.Unknown(s.Cluster.Name, []string{s.Cluster.Name}, s.Why(snapshot.WaitingPods))
		return v.Findings()
	}
	if stuck := facts.StuckOnReady(s.Snapshot); len(stuck) > 0 && !s.Has(snapshot.PodEventsOf) {
		covers := []string{s.Cluster.Name}
		for _, w := range stuck {
			if w.Instance != "" {
				covers = append(covers, w.Instance)
			}
		}
		v.Unknown(s.Cluster.Name, covers, s.Why(snapshot.PodEventsOf))
		return v.Findings()
	}
	var nodes []string
	on := map[string][]facts.PodWait{}
	for _, w := range s.PodWaits() {
		if on[w.Node] == nil {
			nodes = append(nodes, w.Node)
		}
		on[w.Node] = append(on[w.Node], w)
	}
	failed := map[string]bool{}
	for _, node := range nodes {
		v.Fail(podsWithoutAddress(s, on[node]))
		failed[on[node][0].Instance] = true
	}
	well := []string{s.Cluster.Name}
	if len(nodes) > 0 {
		well = nil
	}
	for _, n := range s.Nodes {
		if n.Instance != "" && n.Joined() && !failed[n.Instance] {
			well = append(well, n.Instance)
		}
	}
	v.Pass(s.Cluster.Name, well, finding.Evidence{What: "Pods without a sandbox", Value: fmt.Sprintf("%d, none on the other Ready nodes for want of an address", len(s.StuckPods))})
	return v.Findings()
}

// podsWithoutAddress is the finding on one node's pods.
func podsWithoutAddress(s *facts.View, list []facts.PodWait) finding.Finding {
	first, names := list[0], make([]string, len(list))
	for i, w := range list {
		names[i] = w.Pod
		if w.Since.Before(first.Since) {
			first = w
		}
	}
	f := finding.Finding{
		Outcome: finding.Fail, Resource: first.Node, Covers: []string{first.Node}, Resources: []string{first.Node},
		Since: first.Since, Pods: names[:min(len(names), zones.MostPods)],
		Title: phrase.Title("%s %s for an address on %s", phrase.Subject(names, "pod"), phrase.Verb(names, "waits", "wait"), cmp.Or(first.Instance, first.Node)),
		Fix:   finding.Fix{Console: link.Cluster(s)},
	}
	if first.Instance != "" {
		f.Covers, f.Instances, f.Resources = []string{first.Instance}, []string{first.Instance}, append(f.Resources, first.Instance)
		if i := slices.IndexFunc(s.Instances, func(i snapshot.Instance) bool { return i.ID == first.Instance }); i >= 0 {
			f.Resources = append(f.Resources, s.Instances[i].Subnet)
		}
	}
	namespace, name, _ := strings.Cut(first.Pod, "/")
	f.Fix.Command = shell.Command("kubectl", "-n", namespace, "describe", "pod", name)
	f.Why = fmt.Sprintf("%s is Ready, and %s %s no sandbox there since %s: ", first.Node, phrase.Some(names, 2), phrase.Verb(names, "has", "have"), phrase.ClockTime(first.Since))
	switch {
	case first.Event.Reason == "":
		f.Title = phrase.Title("%s %s on %s, and no event says why", phrase.Subject(names, "pod"), phrase.Verb(names, "waits", "wait"), cmp.Or(first.Instance, first.Node))
		f.Why += "no address and no container. No warning is about them."
		f.Fix.Text = "Look at the kubelet and the container runtime of the node: they report nothing about the pods."
	case first.ForMetadata() && !first.ForNetwork():
		f.Title = phrase.Title("%s %s for instance metadata on %s", phrase.Subject(names, "pod"), phrase.Verb(names, "waits", "wait"), cmp.Or(first.Instance, first.Node))
		f.Why += "a volume cannot be mounted, because its driver cannot read the instance's metadata."
		f.Fix.Text = "Look at the metadata options of the instance: a driver that is not on the host's network needs a hop limit of 2 where tokens are required."
	case first.ForAddress():
		f.Why += "the network plugin has no address to give."
		f.Fix.Text = "Read the log of aws-node on the node (/var/log/aws-routed-eni/ipamd.log): it says what EC2 answered when the plugin asked for more addresses."
	case first.ForNetwork():
		f.Why += "the network plugin fails."
		f.Fix.Text = "Look at the pod of aws-node on the node and read its log: the plugin did not answer, or could not set the network up."
	default:
		f.Title = phrase.Title("%s %s for a sandbox on %s", phrase.Subject(names, "pod"), phrase.Verb(names, "waits", "wait"), cmp.Or(first.Instance, first.Node))
		f.Why += "the container runtime cannot make it."
		f.Fix.Text = "The event says what the container runtime met; its log is on the node (journalctl -u containerd)."
	}
	for i, w := range list {
		if i == 3 {
			f.Evidence = append(f.Evidence, finding.Evidence{What: "More pods", Value: fmt.Sprint(len(list) - i)})
			break
		}
		value := "no warning is about it"
		if w.Event.Reason != "" {
			value = w.Event.Reason + ": " + phrase.Clip(w.Event.Message)
		}
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Pod " + w.Pod, Value: value})
	}
	if n := slices.IndexFunc(s.NodePods, func(n snapshot.NodePods) bool { return n.Node == first.Node }); n >= 0 {
		f.Evidence = append(f.Evidence, finding.Evidence{What: first.Node, Value: fmt.Sprintf("runs %d pods with addresses of their own", s.NodePods[n].Addressed)})
	}
	return f
}
