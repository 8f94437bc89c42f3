package kubeapi

import "slices"

// Kind is a resource type that is served.
type Kind struct {
	Plural, Singular, Kind string
	Group, Version         string
	Namespaced             bool
	Short                  []string
	// Custom kinds are there only in clusters with their definition.
	Custom bool
}

func (k Kind) groupVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// kinds lists what is served: what a capture of a cluster holds, and who may do what.
func kinds() []Kind {
	return []Kind{
		{Plural: "configmaps", Singular: "configmap", Kind: "ConfigMap", Version: "v1", Namespaced: true, Short: []string{"cm"}},
		{Plural: "events", Singular: "event", Kind: "Event", Version: "v1", Namespaced: true, Short: []string{"ev"}},
		{Plural: "nodes", Singular: "node", Kind: "Node", Version: "v1", Short: []string{"no"}},
		{Plural: "persistentvolumeclaims", Singular: "persistentvolumeclaim", Kind: "PersistentVolumeClaim", Version: "v1", Namespaced: true, Short: []string{"pvc"}},
		{Plural: "persistentvolumes", Singular: "persistentvolume", Kind: "PersistentVolume", Version: "v1", Short: []string{"pv"}},
		{Plural: "pods", Singular: "pod", Kind: "Pod", Version: "v1", Namespaced: true, Short: []string{"po"}},
		{Plural: "serviceaccounts", Singular: "serviceaccount", Kind: "ServiceAccount", Version: "v1", Namespaced: true, Short: []string{"sa"}},
		{Plural: "daemonsets", Singular: "daemonset", Kind: "DaemonSet", Group: "apps", Version: "v1", Namespaced: true, Short: []string{"ds"}},
		{Plural: "certificatesigningrequests", Singular: "certificatesigningrequest", Kind: "CertificateSigningRequest",
			Group: "certificates.k8s.io", Version: "v1", Short: []string{"csr"}},
		{Plural: "clusterroles", Singular: "clusterrole", Kind: "ClusterRole", Group: "rbac.authorization.k8s.io", Version: "v1"},
		{Plural: "clusterrolebindings", Singular: "clusterrolebinding", Kind: "ClusterRoleBinding", Group: "rbac.authorization.k8s.io", Version: "v1"},
		{Plural: "roles", Singular: "role", Kind: "Role", Group: "rbac.authorization.k8s.io", Version: "v1", Namespaced: true},
		{Plural: "rolebindings", Singular: "rolebinding", Kind: "RoleBinding", Group: "rbac.authorization.k8s.io", Version: "v1", Namespaced: true},
		{Plural: "eniconfigs", Singular: "eniconfig", Kind: "ENIConfig", Group: "crd.k8s.amazonaws.com", Version: "v1alpha1", Custom: true},
		{Plural: "nodepools", Singular: "nodepool", Kind: "NodePool", Group: "karpenter.sh", Version: "v1", Custom: true},
		{Plural: "nodeclaims", Singular: "nodeclaim", Kind: "NodeClaim", Group: "karpenter.sh", Version: "v1", Custom: true},
		{Plural: "ec2nodeclasses", Singular: "ec2nodeclass", Kind: "EC2NodeClass", Group: "karpenter.k8s.aws", Version: "v1", Custom: true, Short: []string{"ec2nc"}},
		{Plural: "nodeclasses", Singular: "nodeclass", Kind: "NodeClass", Group: "eks.amazonaws.com", Version: "v1", Custom: true},
	}
}

func findKind(group, version, plural string) (Kind, bool) {
	for _, k := range kinds() {
		if k.Group == group && k.Version == version && k.Plural == plural {
			return k, true
		}
	}
	return Kind{}, false
}

// groups lists the API groups of kinds beside the core one.
func groups(kinds []Kind) []string {
	var out []string
	for _, k := range kinds {
		if k.Group != "" && !slices.Contains(out, k.Group) {
			out = append(out, k.Group)
		}
	}
	return out
}
