package kube

import "rollcall/shared/fn"

// Rules are the Kubernetes rights that the reader needs in each watched
// cluster. The ClusterRole manifest and the README are made from them.
func Rules() []fn.KubeRule {
	return []fn.KubeRule{
		{Group: "", Resources: []string{"nodes"}, Verbs: []string{"list"}},
	}
}
