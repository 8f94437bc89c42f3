package kubestate

import (
	"fmt"
	"strconv"
	"strings"
)

// Minor is the cluster's minor version, 34 of 1.34.
func (k *Cluster) Minor() int {
	_, text, _ := strings.Cut(k.KubernetesVersion, ".")
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// Find is an object by namespace and name, nil where there is none.
func (k *Cluster) Find(plural, namespace, name string) map[string]any {
	for _, o := range k.Objects[plural] {
		if At(o, "metadata", "name") == name && (namespace == "" || At(o, "metadata", "namespace") == namespace) {
			return o
		}
	}
	return nil
}

func (k *Cluster) ClaimOf(p *SetPod) map[string]any {
	return k.Find("persistentvolumeclaims", p.Set.Namespace, p.Claim)
}

// ClaimProblem is why a pod's claim keeps it from every node, empty where it
// does not.
func (k *Cluster) ClaimProblem(p *SetPod) string {
	if p.Claim == "" {
		return ""
	}
	switch claim := k.ClaimOf(p); {
	case claim == nil:
		return fmt.Sprintf("persistentvolumeclaim %q not found", p.Claim)
	case At(claim, "spec", "volumeName") == nil:
		return "pod has unbound immediate PersistentVolumeClaims"
	case k.PersistentVolume(p) == nil:
		return fmt.Sprintf("persistentvolume %q not found", At(claim, "spec", "volumeName"))
	}
	return ""
}

// PersistentVolume is the volume that a pod's claim is bound to, nil for none.
func (k *Cluster) PersistentVolume(p *SetPod) map[string]any {
	if p.Claim == "" {
		return nil
	}
	name, _ := At(k.ClaimOf(p), "spec", "volumeName").(string)
	if name == "" {
		return nil
	}
	return k.Find("persistentvolumes", "", name)
}

// VolumeOf is the EBS volume behind a pod's claim, empty for none.
func (k *Cluster) VolumeOf(p *SetPod) string {
	id, _ := At(k.PersistentVolume(p), "spec", "csi", "volumeHandle").(string)
	return id
}

// InstanceNamed is the instance of the node with a name, empty for none.
func (k *Cluster) InstanceNamed(name any) string {
	for _, n := range k.Nodes.All() {
		if At(*n, "metadata", "name") == name {
			provider, _ := At(*n, "spec", "providerID").(string)
			return provider[strings.LastIndex(provider, "/")+1:]
		}
	}
	return ""
}

// PodsOf counts a node's pods.
func (k *Cluster) PodsOf(node map[string]any) int {
	n := 0
	for _, p := range k.Objects["pods"] {
		if At(p, "spec", "nodeName") == At(node, "metadata", "name") {
			n++
		}
	}
	return n
}
