package facts

import (
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
