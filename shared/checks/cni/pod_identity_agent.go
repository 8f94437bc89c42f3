package cni

import (
	"fmt"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// agentAddon is the add-on of the Pod Identity agent, and the name of its DaemonSet.
const agentAddon = "eks-pod-identity-agent"

func PodIdentityAgent() check.Check {
	return check.Check{
		ID:         checkid.CNIPodIdentityAgent,
		Title:      "aws-node has its role by Pod Identity, and no agent runs",
		Confidence: finding.Certain,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Nodes, snapshot.Pods},
		Uses:       []snapshot.Source{snapshot.Addons, snapshot.PodsOnNodes, snapshot.WaitingPods, snapshot.PodEventsOf},
		After:      []checkid.ID{checkid.AnyJoinCause},
		Proof:      check.ByPassingUnmet,
		Cause: "The pod of aws-node was made with an EKS Pod Identity association: it asks the agent on its node for credentials (AWS_CONTAINER_CREDENTIALS_FULL_URI), and nothing else. The agent is the add-on eks-pod-identity-agent; where it does not run the plugin has no credentials, calls EC2 in vain and ends. " +
			"EKS Auto Mode has the agent built in.",
		Fix: "Install the add-on eks-pod-identity-agent, or see why its pod does not run.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html",
		},
		Run: runPodIdentityAgent,
	}
}

// runPodIdentityAgent holds the rule, of registered nodes that are not Ready, and of Ready
// ones whose pods get no address, whose aws-node has its credentials of the agent:
//
//	the agent's pod runs on the node                                        Pass
//	no pod of it is on the node, or it waits with a reason                  Fail
//	the node's pods were not listed: no add-on of it, or one that is broken  Fail, likely
//	that could not be told either                                           Unknown
func runPodIdentityAgent(s *facts.View) []finding.Finding {
	var v finding.Verdicts
	suspects, well := s.WithStarving()
	v.Pass(s.Cluster.Name, facts.IDs(well))
	var without []string
	sure, agent := finding.Likely, ""
	for _, i := range suspects {
		n := s.Index().Nodes[i.ID]
		if n == nil || !asksAgent(s, i) {
			v.Pass(s.Cluster.Name, []string{i.ID})
			continue
		}
		switch k := slices.IndexFunc(s.NodePods, func(p snapshot.NodePods) bool { return p.Node == n.Name }); {
		case k >= 0 && (s.NodePods[k].Agent == "Running" || s.NodePods[k].Agent == "Pending" || s.NodePods[k].Agent == "ContainerCreating"):
			v.Pass(s.Cluster.Name, []string{i.ID})
		case k >= 0:
			without, sure, agent = append(without, i.ID), finding.Certain, s.NodePods[k].Agent
		case s.Has(snapshot.Addons) && !installed(s):
			without = append(without, i.ID)
		case s.Has(snapshot.PodsOnNodes):
			v.Pass(s.Cluster.Name, []string{i.ID}) // others of its kind were listed
		default:
			v.Unknown(s.Cluster.Name, []string{i.ID}, s.Why(snapshot.PodsOnNodes))
		}
	}
	if len(without) > 0 {
		v.Fail(agentFinding(s, without, sure, agent))
	}
	return v.Findings()
}

// asksAgent tells that the pod of aws-node on an instance has its credentials of the agent.
func asksAgent(s *facts.View, i *snapshot.Instance) bool {
	return slices.ContainsFunc(s.PodsOf()[i.ID], func(p snapshot.Pod) bool { return p.Identity.ByAssociation })
}

// installed tells that the add-on is there and does not fail.
func installed(s *facts.View) bool {
	return slices.ContainsFunc(s.Addons, func(a snapshot.Addon) bool { return a.Name == agentAddon && a.Status == "ACTIVE" })
}

func agentFinding(s *facts.View, of []string, sure finding.Confidence, agent string) finding.Finding {
	node := s.Index().Nodes[of[0]].Name
	f := finding.Finding{
		Outcome: finding.Fail, Confidence: sure, Resource: agentAddon, Covers: of, Instances: of, Resources: []string{"kube-system/aws-node", node}, Pods: s.WaitingFor(of),
		Title: phrase.Title("aws-node on %s gets no credentials: no Pod Identity agent", phrase.Subject(of, "node")),
		Why:   fmt.Sprintf("aws-node on %s has its role by a Pod Identity association and asks the agent on its node for credentials. No pod of %s runs there.", node, agentAddon),
		Fix:   finding.Fix{Console: link.Cluster(s)},
	}
	k := slices.IndexFunc(s.Addons, func(a snapshot.Addon) bool { return a.Name == agentAddon })
	switch {
	case !s.Has(snapshot.Addons):
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Add-on " + agentAddon, Value: "not read"})
	case k < 0:
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Add-on " + agentAddon, Value: "not installed"})
	default:
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Add-on " + agentAddon, Value: s.Addons[k].Status})
	}
	if agent != "" {
		f.Why = fmt.Sprintf("aws-node on %s has its role by a Pod Identity association and asks the agent on its node for credentials. The pod of %s there does not run: %s.", node, agentAddon, agent)
		f.Evidence = append(f.Evidence, finding.Evidence{What: agentAddon + " on " + node, Value: agent})
	}
	if agent == "" && k < 0 && s.Has(snapshot.Addons) {
		f.Fix.Text = "Install the agent, or take the association away and let aws-node use the node's role or its service account's; then make its pods anew."
		f.Fix.Command = command.AWS(s, "eks create-addon", "--cluster-name", s.Cluster.Name, "--addon-name", agentAddon)
		return f
	}
	f.Fix.Text = fmt.Sprintf("See why the pod of %s does not run on %s: the command shows it.", agentAddon, node)
	f.Fix.Command = shell.Command("kubectl", "--namespace", "kube-system", "describe", "pods", "--selector", "app.kubernetes.io/name="+agentAddon)
	return f
}
