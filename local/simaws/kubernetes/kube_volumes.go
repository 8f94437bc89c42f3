package kubernetes

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/state"
)

// The tags that the EBS CSI driver gives a volume that it makes.
const (
	tagVolumeName     = "kubernetes.io/created-for/pv/name"
	tagClaimName      = "kubernetes.io/created-for/pvc/name"
	tagClaimNamespace = "kubernetes.io/created-for/pvc/namespace"
)

// provisionVolumes makes the objects that the EBS CSI driver's provisioner made
// with a cluster's volumes.
func provisionVolumes(w *state.State, k *kubestate.Cluster) {
	for _, v := range w.Volumes.All() {
		name := state.TagValue(v.Tags, tagVolumeName)
		if name == "" || state.TagValue(v.Tags, "kubernetes.io/cluster/"+k.Name) != "owned" {
			continue
		}
		namespace, claim := state.TagValue(v.Tags, tagClaimNamespace), state.TagValue(v.Tags, tagClaimName)
		size := fmt.Sprintf("%dGi", aws.ToInt32(v.Size))
		made := kubestate.Time(aws.ToTime(v.CreateTime))
		if k.Find("persistentvolumes", "", name) != nil {
			continue // the file says how it is
		}
		k.Objects["persistentvolumes"] = append(k.Objects["persistentvolumes"], persistentVolume(w, v, name, namespace, claim, size, made))
		if claim != "" && k.Find("persistentvolumeclaims", namespace, claim) == nil {
			k.Objects["persistentvolumeclaims"] = append(k.Objects["persistentvolumeclaims"], map[string]any{
				"apiVersion": "v1", "kind": "PersistentVolumeClaim",
				"metadata": map[string]any{
					"name": claim, "namespace": namespace, "creationTimestamp": made, "uid": strings.TrimPrefix(name, "pvc-"), "finalizers": []any{"kubernetes.io/pvc-protection"},
					"annotations": map[string]any{"pv.kubernetes.io/bind-completed": "yes", "volume.kubernetes.io/storage-provisioner": "ebs.csi.aws.com"},
				},
				"spec":   map[string]any{"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": size}}, "storageClassName": "gp3", "volumeMode": "Filesystem", "volumeName": name},
				"status": map[string]any{"phase": "Bound", "accessModes": []any{"ReadWriteOnce"}, "capacity": map[string]any{"storage": size}},
			})
		}
		k.Version++
	}
}

func persistentVolume(w *state.State, v *ec2types.Volume, name, namespace, claim, size, made string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolume",
		"metadata": map[string]any{
			"name": name, "creationTimestamp": made, "uid": ids.OfName(name), "annotations": map[string]any{"pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com"},
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
