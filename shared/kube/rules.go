package kube

import "rollcall/shared/fn"

// Rules are the Kubernetes rights that the reader needs in each watched
// cluster, a rule for each request that it makes. The manifest and the README
// are made from them. A list cannot be narrowed to names, but to a namespace.
func Rules() []fn.KubeRule {
	return []fn.KubeRule{
		{Group: "", Resources: []string{"nodes"}, Verbs: []string{"list"}},
		{Group: "", Resources: []string{"pods"}, Verbs: []string{"list"}}, // those that wait, of all namespaces
		{Group: "", Resources: []string{"persistentvolumes"}, Verbs: []string{"list"}},
		{Group: "", Resources: []string{"persistentvolumeclaims"}, Verbs: []string{"list"}},
		{Group: "certificates.k8s.io", Resources: []string{"certificatesigningrequests"}, Verbs: []string{"list"}},
		{Group: "crd.k8s.amazonaws.com", Resources: []string{"eniconfigs"}, Verbs: []string{"list"}}, // where custom networking is on
		{Namespace: "default", Group: "", Resources: []string{"events"}, Verbs: []string{"list"}},    // about nodes
		{Namespace: "kube-system", Group: "", Resources: []string{"pods"}, Verbs: []string{"list"}},
		{Namespace: "kube-system", Group: "apps", Resources: []string{"daemonsets"}, Names: []string{"aws-node"}, Verbs: []string{"get"}},
		{Namespace: "kube-system", Group: "", Resources: []string{"serviceaccounts"}, Names: []string{"aws-node"}, Verbs: []string{"get"}},
		{Namespace: "kube-system", Group: "", Resources: []string{"configmaps"}, Names: []string{"aws-auth"}, Verbs: []string{"get"}},
	}
}
