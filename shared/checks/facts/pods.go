package facts

import (
	"strings"

	"rollcall/shared/snapshot"
)

// AWSNode is what all such failures hang on.
const AWSNode = "kube-system/aws-node"

// podsByInstance are the aws-node pods on the instances' nodes.
func podsByInstance(s *View) map[string][]snapshot.Pod {
	on := map[string][]snapshot.Pod{}
	for _, p := range s.Pods {
		on[p.Node] = append(on[p.Node], p)
	}
	of := map[string][]snapshot.Pod{}
	for _, n := range s.Nodes {
		if n.Name != "" {
			of[n.Instance] = append(of[n.Instance], on[n.Name]...)
		}
	}
	return of
}

// UnsupportedByController is the newest event by which the VPC resource controller says that
// it does not support a node's instance type: no pod there gets a branch interface
// (amazon-vpc-resource-controller-k8s pkg/utils/events.go, "Unsupported"). Nil for none.
func UnsupportedByController(s *View, node string) *snapshot.NodeEvent {
	var newest *snapshot.NodeEvent
	for i := range s.NodeEvents {
		e := &s.NodeEvents[i]
		if e.Node == node && e.Reason == "Unsupported" && strings.Contains(strings.ToLower(e.Message), "not supported") && (newest == nil || e.Last.After(newest.Last)) {
			newest = e
		}
	}
	return newest
}
