package checks

import (
	"cmp"
	"fmt"

	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func notReady() Check {
	return Check{
		ID:         "node/not-ready",
		Title:      "The node registered and is not Ready",
		Confidence: Symptom,
		Needs:      []snapshot.Source{snapshot.Nodes},
		After: []ID{
			"route/no-egress", "route/blackhole", "route/nat-unusable", "route/nat-no-internet", "route/igw-no-public-ip",
			"endpoint/missing", "ip/subnet-exhausted", "instance/ended-early",
		},
		Cause: "The kubelet reached the cluster, and the node's Ready condition is not True, or the cloud provider's taint node.cloudprovider.kubernetes.io/uninitialized is still on it. Mostly the network plugin (aws-node) did not start.",
		Fix:   "Read the condition's message. For a network plugin that is not ready: the aws-node pod on that node, its image pull, its permissions, and the free addresses of the subnet.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html"},
		Run: func(s *View) []Finding {
			l := s.Index()
			var ready []string
			var list []Finding
			for _, id := range s.Scope.Instances {
				n := l.nodes[id]
				switch {
				case n == nil, l.terminated(id), l.leaving(id):
				case n.Joined():
					ready = append(ready, id)
				case l.due(id):
					list = append(list, l.notReady(id, n))
				}
			}
			if len(ready) > 0 {
				list = append(list, Finding{Outcome: Pass, Resource: s.Cluster.Name, Covers: ready})
			}
			return list
		},
	}
}

func (l ledger) notReady(id string, n *snapshot.Node) Finding {
	status := cmp.Or(n.Ready.Status, "not reported")
	f := Finding{
		Outcome:   Fail,
		Resource:  id,
		Covers:    []string{id},
		Instances: []string{id},
		Resources: []string{id, n.Name},
		Title:     title("%s registered and is not Ready", id),
		Why:       fmt.Sprintf("%s registered as %s. Its condition Ready is %s", id, n.Name, status),
		Evidence:  []Evidence{{What: n.Name, Value: fmt.Sprintf("Ready is %s (%s): %s", status, cmp.Or(n.Ready.Reason, "no reason"), clip(n.Ready.Message))}},
		Fix: Fix{
			Text:    "Read the node's conditions and the pods on it, aws-node first.",
			Command: shell.All(shell.Command("kubectl", "describe", "node", n.Name), shell.Command("kubectl", "get", "pods", "-A", "-o", "wide", "--field-selector", "spec.nodeName="+n.Name)),
			Console: ec2Console(l.s, "InstanceDetails:instanceId="+id),
		},
	}
	if n.Ready.Reason != "" {
		f.Why += ": " + n.Ready.Reason
	}
	if n.Ready.Message != "" {
		f.Why += fmt.Sprintf(" (%q)", clip(n.Ready.Message))
	}
	f.Why += "."
	if n.Uninitialized {
		f.Why += " The cloud provider has not initialised it."
		f.Evidence = append(f.Evidence, Evidence{What: n.Name, Value: "has the taint node.cloudprovider.kubernetes.io/uninitialized"})
	}
	if i, known := l.instances[id]; known && i.State != "running" {
		f.Evidence = append(f.Evidence, Evidence{What: id, Value: "is " + i.State})
	}
	return f
}
