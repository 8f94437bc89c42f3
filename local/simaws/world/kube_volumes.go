package world

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// The tags that the EBS CSI driver gives a volume that it makes.
const (
	tagVolumeName     = "kubernetes.io/created-for/pv/name"
	tagClaimName      = "kubernetes.io/created-for/pvc/name"
	tagClaimNamespace = "kubernetes.io/created-for/pvc/namespace"
)

// minor is the cluster's minor version, 34 of 1.34.
func (k *cluster) minor() int {
	_, text, _ := strings.Cut(k.kubernetesVersion, ".")
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// find is an object by namespace and name, nil where there is none.
func (k *cluster) find(plural, namespace, name string) map[string]any {
	for _, o := range k.objects[plural] {
		if at(o, "metadata", "name") == name && (namespace == "" || at(o, "metadata", "namespace") == namespace) {
			return o
		}
	}
	return nil
}

func (k *cluster) claimOf(p *setPod) map[string]any {
	return k.find("persistentvolumeclaims", p.set.Namespace, p.claim)
}

// claimProblem is why a pod's claim keeps it from every node, empty where it
// does not.
func (k *cluster) claimProblem(p *setPod) string {
	if p.claim == "" {
		return ""
	}
	switch claim := k.claimOf(p); {
	case claim == nil:
		return fmt.Sprintf("persistentvolumeclaim %q not found", p.claim)
	case at(claim, "spec", "volumeName") == nil:
		return "pod has unbound immediate PersistentVolumeClaims"
	case k.persistentVolume(p) == nil:
		return fmt.Sprintf("persistentvolume %q not found", at(claim, "spec", "volumeName"))
	}
	return ""
}

// persistentVolume is the volume that a pod's claim is bound to, nil for none.
func (k *cluster) persistentVolume(p *setPod) map[string]any {
	if p.claim == "" {
		return nil
	}
	name, _ := at(k.claimOf(p), "spec", "volumeName").(string)
	if name == "" {
		return nil
	}
	return k.find("persistentvolumes", "", name)
}

// volumeOf is the EBS volume behind a pod's claim, empty for none.
func (k *cluster) volumeOf(p *setPod) string {
	id, _ := at(k.persistentVolume(p), "spec", "csi", "volumeHandle").(string)
	return id
}

// instanceNamed is the instance of the node with a name, empty for none.
func (k *cluster) instanceNamed(name any) string {
	for _, n := range k.nodes.all() {
		if at(*n, "metadata", "name") == name {
			provider, _ := at(*n, "spec", "providerID").(string)
			return provider[strings.LastIndex(provider, "/")+1:]
		}
	}
	return ""
}

// podsOf counts a node's pods.
func (k *cluster) podsOf(node map[string]any) int {
	n := 0
	for _, p := range k.objects["pods"] {
		if at(p, "spec", "nodeName") == at(node, "metadata", "name") {
			n++
		}
	}
	return n
}

// provisionVolumes makes the objects that the EBS CSI driver's provisioner made
// with a cluster's volumes.
func (w *World) provisionVolumes(k *cluster) {
	for _, v := range w.volumes.all() {
		name := tagValue(v.Tags, tagVolumeName)
		if name == "" || tagValue(v.Tags, "kubernetes.io/cluster/"+k.name) != "owned" {
			continue
		}
		namespace, claim := tagValue(v.Tags, tagClaimNamespace), tagValue(v.Tags, tagClaimName)
		size := fmt.Sprintf("%dGi", aws.ToInt32(v.Size))
		made := kubeTime(aws.ToTime(v.CreateTime))
		if k.find("persistentvolumes", "", name) != nil {
			continue // the file says how it is
		}
		k.objects["persistentvolumes"] = append(k.objects["persistentvolumes"], w.persistentVolume(v, name, namespace, claim, size, made))
		if claim != "" && k.find("persistentvolumeclaims", namespace, claim) == nil {
			k.objects["persistentvolumeclaims"] = append(k.objects["persistentvolumeclaims"], map[string]any{
				"apiVersion": "v1", "kind": "PersistentVolumeClaim",
				"metadata": map[string]any{
					"name": claim, "namespace": namespace, "creationTimestamp": made, "uid": strings.TrimPrefix(name, "pvc-"), "finalizers": []any{"kubernetes.io/pvc-protection"},
					"annotations": map[string]any{"pv.kubernetes.io/bind-completed": "yes", "volume.kubernetes.io/storage-provisioner": "ebs.csi.aws.com"},
				},
				"spec":   map[string]any{"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": size}}, "storageClassName": "gp3", "volumeMode": "Filesystem", "volumeName": name},
				"status": map[string]any{"phase": "Bound", "accessModes": []any{"ReadWriteOnce"}, "capacity": map[string]any{"storage": size}},
			})
		}
		k.version++
	}
}

func (w *World) persistentVolume(v *ec2types.Volume, name, namespace, claim, size, made string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolume",
		"metadata": map[string]any{
			"name": name, "creationTimestamp": made, "uid": nameID(name), "annotations": map[string]any{"pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com"},
			"finalizers": []any{"external-provisioner.volume.kubernetes.io/finalizer", "kubernetes.io/pv-protection", "external-attacher/ebs-csi-aws-com"},
		},
		"spec": map[string]any{
			"accessModes": []any{"ReadWriteOnce"}, "capacity": map[string]any{"storage": size},
			"claimRef": map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim, "uid": strings.TrimPrefix(name, "pvc-")},
			"csi":      map[string]any{"driver": "ebs.csi.aws.com", "fsType": "ext4", "volumeHandle": aws.ToString(v.VolumeId)},
			"nodeAffinity": map[string]any{"required": map[string]any{"nodeSelectorTerms": []any{map[string]any{"matchExpressions": []any{
				map[string]any{"key": "topology.kubernetes.io/zone", "operator": "In", "values": []any{aws.ToString(v.AvailabilityZone)}},
			}}}}},
			"persistentVolumeReclaimPolicy": "Delete", "storageClassName": "gp3", "volumeMode": "Filesystem",
		},
		"status": map[string]any{"phase": "Bound"},
	}
}

// taint adds a taint to a node that does not have it.
func taint(node map[string]any, key, effect string) {
	spec, ok := node["spec"].(map[string]any)
	if !ok {
		return
	}
	list, _ := spec["taints"].([]any)
	if !slices.ContainsFunc(list, func(t any) bool { return at(t, "key") == key }) {
		spec["taints"] = append(slices.Clone(list), map[string]any{"effect": effect, "key": key})
	}
}

// untaint takes a taint away.
func untaint(node map[string]any, key string) {
	spec, ok := node["spec"].(map[string]any)
	if !ok {
		return
	}
	list, _ := spec["taints"].([]any)
	list = slices.DeleteFunc(slices.Clone(list), func(t any) bool { return at(t, "key") == key })
	if len(list) == 0 {
		delete(spec, "taints")
		return
	}
	spec["taints"] = list
}
