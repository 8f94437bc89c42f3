package relay

import "slices"

// Path is what a relay asks of a cluster's API. That all of them together are the rules of
// deploy/clusterrole.yaml, no more and no less, a test holds (infra/clusterrole).
type Path struct {
	Group, Version, Namespace, Resource string
	// Name is of the one object that may be read; without it all may be listed.
	Name string
}

// Paths are all of them.
func Paths() []Path {
	return []Path{
		{Version: "v1", Resource: "nodes"},
		{Version: "v1", Resource: "pods"},
		{Version: "v1", Resource: "persistentvolumes"},
		{Version: "v1", Resource: "persistentvolumeclaims"},
		{Version: "v1", Namespace: "default", Resource: "events"},
		{Version: "v1", Resource: "events"},
		{Version: "v1", Namespace: "kube-system", Resource: "pods"},
		{Version: "v1", Namespace: "kube-system", Resource: "configmaps", Name: "aws-auth"},
		{Version: "v1", Namespace: "kube-system", Resource: "serviceaccounts", Name: "aws-node"},
		{Group: "apps", Version: "v1", Namespace: "kube-system", Resource: "daemonsets", Name: "aws-node"},
		{Group: "certificates.k8s.io", Version: "v1", Resource: "certificatesigningrequests"},
		{Group: "crd.k8s.amazonaws.com", Version: "v1alpha1", Resource: "eniconfigs"},
		{Group: "eks.amazonaws.com", Version: "v1", Resource: "nodeclasses"},
		{Group: "karpenter.k8s.aws", Version: "v1", Resource: "ec2nodeclasses"},
		{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"},
		{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"},
	}
}

// String is the path in a request (Kubernetes, "API concepts", "Resource URIs").
func (p Path) String() string {
	text := "/api/" + p.Version
	if p.Group != "" {
		text = "/apis/" + p.Group + "/" + p.Version
	}
	if p.Namespace != "" {
		text += "/namespaces/" + p.Namespace
	}
	text += "/" + p.Resource
	if p.Name != "" {
		text += "/" + p.Name
	}
	return text
}

// Keys are what a request of the path may say further: watch, which would not end, is not
// among them.
func (p Path) Keys() []string {
	if p.Name != "" {
		return nil
	}
	return []string{"limit", "continue", "fieldSelector", "labelSelector"}
}

// lookup finds a path by all of its text: nothing in it is resolved, unescaped or cleaned.
func lookup(text string) (Path, bool) {
	all := Paths()
	i := slices.IndexFunc(all, func(p Path) bool { return p.String() == text })
	if i < 0 {
		return Path{}, false
	}
	return all[i], true
}
