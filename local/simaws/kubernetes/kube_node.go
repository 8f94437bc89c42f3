package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/state"
)

// NodeObject is the Node that a kubelet creates when it registers, as kubectl
// prints it. It is not Ready yet.
func NodeObject(w *state.State, in *ec2types.Instance) map[string]any {
	id := aws.ToString(in.InstanceId)
	name := state.NodeName(in)
	zone := aws.ToString(in.Placement.AvailabilityZone)
	arch := "amd64"
	if in.Architecture == ec2types.ArchitectureValuesArm64 {
		arch = "arm64"
	}
	labels := map[string]any{
		"beta.kubernetes.io/arch":                  arch,
		"beta.kubernetes.io/instance-type":         string(in.InstanceType),
		"beta.kubernetes.io/os":                    "linux",
		"failure-domain.beta.kubernetes.io/region": w.Region,
		"failure-domain.beta.kubernetes.io/zone":   zone,
		"k8s.io/cloud-provider-aws":                w.IDs.Hex(32),
		"kubernetes.io/arch":                       arch,
		"kubernetes.io/hostname":                   name,
		"kubernetes.io/os":                         "linux",
		"node.kubernetes.io/instance-type":         string(in.InstanceType),
		"topology.k8s.aws/zone-id":                 aws.ToString(in.Placement.AvailabilityZoneId),
		"topology.kubernetes.io/region":            w.Region,
		"topology.kubernetes.io/zone":              zone,
	}
	if slices.ContainsFunc(w.Volumes.All(), func(v *ec2types.Volume) bool { return !state.IsManaged(v.Operator) }) && !state.IsAutoMode(in) {
		labels["topology.ebs.csi.aws.com/zone"] = zone // the CSI driver's own
	}
	kubelet := "v1.34.1-eks-113cf36"
	var taints []any
	if ng := w.NodegroupOf(id); ng != nil {
		labels["eks.amazonaws.com/nodegroup"] = aws.ToString(ng.NodegroupName)
		labels["eks.amazonaws.com/nodegroup-image"] = aws.ToString(in.ImageId)
		labels["eks.amazonaws.com/capacityType"] = string(ng.CapacityType)
		labels["eks.amazonaws.com/sourceLaunchTemplateId"] = state.TagValue(in.Tags, "aws:ec2launchtemplate:id")
		labels["eks.amazonaws.com/sourceLaunchTemplateVersion"] = state.TagValue(in.Tags, "aws:ec2launchtemplate:version")
		for k, v := range ng.Labels {
			labels[k] = v
		}
		for _, t := range ng.Taints {
			taints = append(taints, nodegroupTaint(t))
		}
		r := ng.Joining()
		kubelet = kubeletVersion(r.Release, r.Version)
	}
	for key, value := range flagLabels(w, id) {
		labels[key] = value
	}
	taints = append(taints, flagTaints(w, id)...)
	cpu, memory, pods := nodeCapacity(w, in)
	image, kernel := "Amazon Linux 2023.9.20251027", "6.12.46-66.121.amzn2023."
	if state.IsAutoMode(in) {
		for k, v := range autoModeLabels(in) {
			labels[k] = v
		}
		pods, image, kernel = autoModePods, "Bottlerocket (EKS Auto, Standard) 2026.11.3 (aws-k8s-1.34-standard)", "6.12.53."
	}
	capacity := map[string]any{"cpu": cpu, "ephemeral-storage": "20893676Ki", "hugepages-1Gi": "0", "hugepages-2Mi": "0", "memory": memory, "pods": pods}
	node := map[string]any{
		"apiVersion": "v1",
		"kind":       "Node",
		"metadata": map[string]any{
			"annotations": map[string]any{
				"alpha.kubernetes.io/provided-node-ip":                   aws.ToString(in.PrivateIpAddress),
				"node.alpha.kubernetes.io/ttl":                           "0",
				"volumes.kubernetes.io/controller-managed-attach-detach": "true",
			},
			"creationTimestamp": kubestate.Time(w.Now),
			"labels":            labels,
			"name":              name,
			"uid":               w.IDs.UUID(),
		},
		"spec": map[string]any{"providerID": "aws:///" + zone + "/" + id},
		"status": map[string]any{
			"addresses": []any{
				map[string]any{"address": aws.ToString(in.PrivateIpAddress), "type": "InternalIP"},
				map[string]any{"address": name, "type": "InternalDNS"},
				map[string]any{"address": name, "type": "Hostname"},
			},
			"allocatable": capacity,
			"capacity":    capacity,
			"conditions":  []any{},
			"nodeInfo": map[string]any{
				"architecture": arch, "bootID": w.IDs.UUID(), "containerRuntimeVersion": "containerd://2.1.4",
				"kernelVersion":    kernel + map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch],
				"kubeProxyVersion": kubelet, "kubeletVersion": kubelet, "machineID": "ec2" + w.IDs.Hex(29), "operatingSystem": "linux",
				"osImage": image, "systemUUID": "ec2" + w.IDs.UUID()[3:],
			},
		},
	}
	if taints != nil {
		node["spec"] = map[string]any{"providerID": "aws:///" + zone + "/" + id, "taints": taints}
	}
	for _, c := range [][3]string{
		{"MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
		{"DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
		{"PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
	} {
		kubestate.SetCondition(node, c[0], "False", c[1], c[2], w.Now)
	}
	kubestate.SetReady(node, false, "KubeletNotReady", CNIMissing, w.Now)
	return node
}

// kubeletVersion makes v1.34.1-eks-113cf36 out of 1.34.1-20251112.
func kubeletVersion(release, version string) string {
	v, _, _ := strings.Cut(release, "-")
	if v == "" {
		v = version + ".0"
	}
	return "v" + v + "-eks-113cf36"
}

// nodeCapacity is cpu, memory and the pods that the VPC CNI's formula allows:
// interfaces x (addresses - 1) + 2.
func nodeCapacity(w *state.State, in *ec2types.Instance) (cpu, memory, pods string) {
	info := w.InstanceTypes.Get(string(in.InstanceType))
	if info == nil || info.NetworkInfo == nil || info.VCpuInfo == nil || info.MemoryInfo == nil {
		return "2", "8000000Ki", "29"
	}
	enis, per := aws.ToInt32(info.NetworkInfo.MaximumNetworkInterfaces), aws.ToInt32(info.NetworkInfo.Ipv4AddressesPerInterface)
	// A node sees about 4% less than the type's memory.
	kib := aws.ToInt64(info.MemoryInfo.SizeInMiB) * 1024 * 96 / 100
	return fmt.Sprint(aws.ToInt32(info.VCpuInfo.DefaultVCpus)), fmt.Sprintf("%dKi", kib), fmt.Sprint(enis*(per-1) + 2)
}

// nodegroupTaint is a taint of a nodegroup as Kubernetes writes it.
func nodegroupTaint(t ekstypes.Taint) map[string]any {
	effect := map[ekstypes.TaintEffect]string{
		ekstypes.TaintEffectNoSchedule: "NoSchedule", ekstypes.TaintEffectNoExecute: "NoExecute", ekstypes.TaintEffectPreferNoSchedule: "PreferNoSchedule",
	}[t.Effect]
	out := map[string]any{"key": aws.ToString(t.Key), "effect": effect}
	if t.Value != nil {
		out["value"] = *t.Value
	}
	return out
}
