package node

import (
	"cmp"
	"fmt"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func NotReady() check.Check {
	return check.Check{
		ID:         checkid.NodeNotReady,
		Starved:    true,
		Title:      "The node registered and is not Ready",
		Confidence: finding.Symptom,
		Needs:      []snapshot.Source{snapshot.Nodes},
		After: []checkid.ID{
			checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable, checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP,
			checkid.EndpointMissing, checkid.IPSubnetExhausted, checkid.InstanceEndedEarly,
		},
		Cause: "The kubelet reached the cluster, and the node's Ready condition is not True, or the cloud provider's taint node.cloudprovider.kubernetes.io/uninitialized is still on it. Mostly the network plugin (aws-node) did not start.",
		Fix:   "Read the condition's message. For a network plugin that is not ready: the aws-node pod on that node, its image pull, its permissions, and the free addresses of the subnet.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html"},
		Run: func(s *facts.View) []finding.Finding {
			l := s.Index()
			var ready []string
			var list []finding.Finding
			for _, id := range s.Scope.Instances {
				n := l.Nodes[id]
				switch {
				case n == nil, l.Terminated(id), l.Leaving(id):
				case n.Joined():
					ready = append(ready, id)
				case l.Due(id):
					list = append(list, notReadyFinding(l, id, n))
				}
			}
			if len(ready) > 0 {
				list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: ready})
			}
			return list
		},
	}
}

func notReadyFinding(l facts.InstanceIndex, id string, n *snapshot.Node) finding.Finding {
	status := cmp.Or(n.Ready.Status, "not reported")
	f := finding.Finding{
		Outcome:   finding.Fail,
		Resource:  id,
		Covers:    []string{id},
		Instances: []string{id},
		Resources: []string{id, n.Name},
		Title:     phrase.Title("%s registered and is not Ready", id),
		Why:       fmt.Sprintf("%s registered as %s. Its condition Ready is %s", id, n.Name, status),
		Evidence:  []finding.Evidence{{What: n.Name, Value: fmt.Sprintf("Ready is %s (%s): %s", status, cmp.Or(n.Ready.Reason, "no reason"), phrase.Clip(n.Ready.Message))}},
		Fix: finding.Fix{
			Text:    "Read the node's conditions and the pods on it, aws-node first.",
			Command: shell.All(shell.Command("kubectl", "describe", "node", n.Name), shell.Command("kubectl", "get", "pods", "-A", "-o", "wide", "--field-selector", "spec.nodeName="+n.Name)),
			Console: link.EC2(l.S, "InstanceDetails:instanceId="+id),
		},
	}
	if n.Ready.Reason != "" {
		f.Why += ": " + n.Ready.Reason
	}
	if n.Ready.Message != "" {
		f.Why += fmt.Sprintf(" (%q)", phrase.Clip(n.Ready.Message))
	}
	f.Why += "."
	if n.Uninitialized {
		f.Why += " The cloud provider has not initialised it."
		f.Evidence = append(f.Evidence, finding.Evidence{What: n.Name, Value: "has the taint node.cloudprovider.kubernetes.io/uninitialized"})
	}
	if i, known := l.Instances[id]; known && i.State != "running" {
		f.Evidence = append(f.Evidence, finding.Evidence{What: id, Value: "is " + i.State})
	}
	return f
}
