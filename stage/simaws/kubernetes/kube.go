package kubernetes

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/stage/simaws/ids"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/worldfile"
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

// place finds a node for a pod by the scheduler's filters, in their order, and
// binds it. Where there is none the pod says why, in the scheduler's words, and
// nil is returned.
func place(w *state.State, k *kubestate.Cluster, p *kubestate.SetPod) map[string]any {
	why, helpless := map[string]int{}, 0
	all := 0
	var fits []*map[string]any
	claimProblem := k.ClaimProblem(p)
	for _, n := range k.Nodes.All() {
		all++
		reason, preemptible := "", false
		if claimProblem == "" {
			reason, preemptible = unfit(w, k, p, *n)
		}
		switch {
		case claimProblem != "":
		case reason == "":
			fits = append(fits, n)
		default:
			why[reason]++
			if !preemptible {
				helpless++
			}
		}
	}
	if claimProblem != "" || len(fits) == 0 {
		waits(w, k, p, unschedulable(k, all, why, helpless, claimProblem))
		return nil
	}
	// Where the volume already is, else where the fewest pods are.
	v := w.Volumes.Get(k.VolumeOf(p))
	slices.SortStableFunc(fits, func(a, b *map[string]any) int {
		return cmp.Or(elsewhere(v, k, *a)-elsewhere(v, k, *b), k.PodsOf(*a)-k.PodsOf(*b))
	})
	node := *fits[0]
	if spec, ok := p.Object["spec"].(map[string]any); ok {
		spec["nodeName"] = kubestate.At(node, "metadata", "name")
	}
	kubestate.SetCondition(p.Object, "PodScheduled", "True", "", "", w.Now)
	k.Touch(p.Object)
	k.Say(p.Object, "Pod", "default-scheduler", "Scheduled", "Normal",
		fmt.Sprintf("Successfully assigned %s/%s to %v", p.Set.Namespace, p.Name, kubestate.At(node, "metadata", "name")), w.Now)
	return node
}

// elsewhere is 0 where a volume is attached to a node's instance, or to none.
func elsewhere(v *ec2types.Volume, k *kubestate.Cluster, node map[string]any) int {
	if v == nil || len(v.Attachments) == 0 || aws.ToString(v.Attachments[0].InstanceId) == k.InstanceNamed(kubestate.At(node, "metadata", "name")) {
		return 0
	}
	return 1
}

// waits leaves a pod Pending, and says why where that is new.
func waits(w *state.State, k *kubestate.Cluster, p *kubestate.SetPod, message string) {
	if p.SchedulerMessage == message {
		return
	}
	p.SchedulerMessage = message
	kubestate.SetCondition(p.Object, "PodScheduled", "False", "Unschedulable", message, w.Now)
	k.Touch(p.Object)
	k.Say(p.Object, "Pod", "default-scheduler", "FailedScheduling", "Warning", message, w.Now)
	scheduleLater(w, k, p)
}

// unfit is the first reason for which a pod cannot be on a node, empty where it
// can, and whether ending other pods could help.
func unfit(w *state.State, k *kubestate.Cluster, p *kubestate.SetPod, node map[string]any) (reason string, preemptible bool) {
	spec, _ := node["spec"].(map[string]any)
	if spec["unschedulable"] == true {
		return "node(s) were unschedulable", false
	}
	if t := untolerated(p.Set.Tolerations, node); t != "" {
		if k.Minor() >= newWords {
			return "node(s) had untolerated taint(s)", false
		}
		return "node(s) had untolerated taint {" + t + "}", false
	}
	for key, value := range p.Set.NodeSelector {
		if kubestate.At(node, "metadata", "labels", key) != value {
			return "node(s) didn't match Pod's node affinity/selector", false
		}
	}
	if room, err := strconv.Atoi(fmt.Sprint(kubestate.At(node, "status", "allocatable", "pods"))); err == nil && k.PodsOf(node) >= room {
		return "Too many pods", true
	}
	if v := k.PersistentVolume(p); v != nil && !reachable(v, node) {
		if k.Minor() >= newWords {
			return "node(s) didn't match PersistentVolume's node affinity", false
		}
		return "node(s) had volume node affinity conflict", false
	}
	return "", false
}

const (
	// newWords is the minor version from which the scheduler says "didn't match
	// PersistentVolume's node affinity" and names no taints.
	newWords = 35
	// claimsVersion is the one from which it also says that no resource claims can
	// be given up (dynamic resource allocation is on from there).
	claimsVersion = 34
)

// unschedulable is the scheduler's message.
func unschedulable(k *kubestate.Cluster, all int, why map[string]int, helpless int, claimProblem string) string {
	if all == 0 {
		return "no nodes available to schedule pods"
	}
	var reasons []string
	for _, r := range slices.Sorted(maps.Keys(why)) {
		reasons = append(reasons, fmt.Sprintf("%d %s", why[r], r))
	}
	slices.Sort(reasons)
	if claimProblem != "" {
		reasons, helpless = []string{claimProblem}, all
	}
	text := fmt.Sprintf("0/%d nodes are available: %s.", all, strings.Join(reasons, ", "))
	if k.Minor() >= claimsVersion {
		text += " no new claims to deallocate,"
	}
	var help []string
	if helpless > 0 {
		help = append(help, fmt.Sprintf("%d Preemption is not helpful for scheduling", helpless))
	}
	if all > helpless {
		help = append(help, fmt.Sprintf("%d No preemption victims found for incoming pod", all-helpless))
	}
	slices.Sort(help)
	return text + fmt.Sprintf(" preemption: 0/%d nodes are available: %s.", all, strings.Join(help, ", "))
}

// untolerated is the first taint of a node that keeps a pod away, as "key: value".
func untolerated(tolerations []worldfile.Toleration, node map[string]any) string {
	list, _ := kubestate.At(node, "spec", "taints").([]any)
	for _, t := range list {
		key, _ := kubestate.At(t, "key").(string)
		value, _ := kubestate.At(t, "value").(string)
		effect, _ := kubestate.At(t, "effect").(string)
		if effect == "PreferNoSchedule" {
			continue
		}
		if !slices.ContainsFunc(tolerations, func(o worldfile.Toleration) bool {
			return (o.Key == key || o.Key == "" && o.Operator == "Exists") && (o.Effect == "" || o.Effect == effect) && (o.Operator == "Exists" || o.Value == value)
		}) {
			return key + ": " + value
		}
	}
	return ""
}

// reachable reports whether a PersistentVolume's node affinity admits a node.
func reachable(volume, node map[string]any) bool {
	terms, _ := kubestate.At(volume, "spec", "nodeAffinity", "required", "nodeSelectorTerms").([]any)
	if terms == nil {
		return true
	}
	return slices.ContainsFunc(terms, func(term any) bool {
		list, _ := kubestate.At(term, "matchExpressions").([]any)
		return !slices.ContainsFunc(list, func(e any) bool {
			key, _ := kubestate.At(e, "key").(string)
			values, _ := kubestate.At(e, "values").([]any)
			have := kubestate.At(node, "metadata", "labels", key)
			switch kubestate.At(e, "operator") {
			case "In":
				return !slices.Contains(values, have)
			case "NotIn":
				return slices.Contains(values, have)
			case "Exists":
				return have == nil
			case "DoesNotExist":
				return have != nil
			}
			return true // an operator that is not known admits nothing
		})
	})
}

const (
	// recreateTime is how long a StatefulSet's controller takes to make a pod
	// again that went with its node.
	recreateTime = time.Second
	// attachTime is how long a volume takes to be attached and the pod to run.
	attachTime = 8 * time.Second
	// retrySchedule is how long the scheduler leaves a pod that does not fit, where
	// nothing happens that could make it fit (kube-scheduler's
	// podMaxInUnschedulablePodsDuration).
	retrySchedule = 5 * time.Minute
)

// LoadSets makes the sets' pods, and places those that fit: they run since
// before the start.
func LoadSets(w *state.State, f *worldfile.File) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(f.Kubernetes)) {
		k := w.Kubernetes[name]
		if k == nil {
			continue // said when the objects were loaded
		}
		for _, set := range f.Kubernetes[name].Sets {
			if err := addSet(w, k, set); err != nil {
				errs = append(errs, fmt.Errorf("kubernetes.%s.sets: %w", name, err))
			}
		}
		placeAtStart(w, k)
	}
	return errors.Join(errs...)
}

// addSet makes a set's pods.
func addSet(w *state.State, k *kubestate.Cluster, set worldfile.SetFile) error {
	if set.Name == "" {
		return errors.New("a set has no name")
	}
	set.Namespace, set.Replicas = cmp.Or(set.Namespace, "default"), cmp.Or(set.Replicas, 1)
	for i := range set.Replicas {
		p := &kubestate.SetPod{Set: set, Claim: set.Claim, Name: fmt.Sprintf("%s-%d", set.Name, i)}
		if set.Claim != "" && set.Replicas > 1 {
			p.Claim = fmt.Sprintf("%s-%s-%d", set.Claim, set.Name, i)
		}
		k.Sets = append(k.Sets, p)
		createPod(w, k, p)
	}
	return nil
}

// AddSet is a user applying a StatefulSet to a cluster.
func AddSet(w *state.State, k *kubestate.Cluster, set worldfile.SetFile) error {
	if err := addSet(w, k, set); err != nil {
		return err
	}
	Schedule(w, k)
	return nil
}

// placeAtStart places pods at once, volumes and all.
func placeAtStart(w *state.State, k *kubestate.Cluster) {
	for _, p := range k.Sets {
		if node := place(w, k, p); node != nil {
			startPod(w, k, p, p.Object)
		}
	}
}

// createPod makes a set's pod. It waits for the scheduler.
func createPod(w *state.State, k *kubestate.Cluster, p *kubestate.SetPod) {
	container := map[string]any{"name": p.Set.Name, "image": p.Set.Name + ":1"}
	spec := map[string]any{"containers": []any{container}, "schedulerName": "default-scheduler", "restartPolicy": "Always"}
	if p.Claim != "" {
		spec["volumes"] = []any{map[string]any{"name": "data", "persistentVolumeClaim": map[string]any{"claimName": p.Claim}}}
		container["volumeMounts"] = []any{map[string]any{"name": "data", "mountPath": "/data"}}
	}
	if len(p.Set.NodeSelector) > 0 {
		selector := map[string]any{}
		for key, value := range p.Set.NodeSelector {
			selector[key] = value
		}
		spec["nodeSelector"] = selector
	}
	var tolerations []any
	for _, t := range p.Set.Tolerations {
		m := map[string]any{}
		for key, value := range map[string]string{"key": t.Key, "operator": t.Operator, "value": t.Value, "effect": t.Effect} {
			if value != "" {
				m[key] = value
			}
		}
		tolerations = append(tolerations, m)
	}
	if tolerations != nil {
		spec["tolerations"] = tolerations
	}
	p.SchedulerMessage = ""
	p.Object = map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{
			"name": p.Name, "namespace": p.Set.Namespace, "creationTimestamp": kubestate.Time(w.Now), "uid": w.IDs.UUID(),
			"labels":          map[string]any{"app": p.Set.Name, "statefulset.kubernetes.io/pod-name": p.Name},
			"ownerReferences": []any{map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": p.Set.Name, "controller": true}},
		},
		"spec": spec, "status": map[string]any{"phase": "Pending", "qosClass": "BestEffort"},
	}
	k.Objects["pods"] = append(k.Objects["pods"], p.Object)
	k.Touch(p.Object)
}

// Schedule places the pods that wait, each on a node that fits.
func Schedule(w *state.State, k *kubestate.Cluster) {
	for _, p := range k.Sets {
		if p.Object == nil || kubestate.At(p.Object, "spec", "nodeName") != nil {
			continue
		}
		if place(w, k, p) == nil {
			continue
		}
		object := p.Object
		w.After(attachTime, func() { startPod(w, k, p, object) })
	}
}

// scheduleLater has the scheduler look once more if a pod still waits then.
func scheduleLater(w *state.State, k *kubestate.Cluster, p *kubestate.SetPod) {
	object := p.Object
	w.After(retrySchedule, func() {
		if p.Object == nil || kubestate.At(p.Object, "metadata", "uid") != kubestate.At(object, "metadata", "uid") || kubestate.At(p.Object, "spec", "nodeName") != nil {
			return
		}
		p.SchedulerMessage = "" // it is said again
		Schedule(w, k)
	})
}

// startPod attaches a placed pod's volume and runs it. A volume that is still
// attached elsewhere makes it wait.
func startPod(w *state.State, k *kubestate.Cluster, p *kubestate.SetPod, object map[string]any) {
	if p.Object == nil || kubestate.At(p.Object, "metadata", "uid") != kubestate.At(object, "metadata", "uid") || kubestate.At(p.Object, "status", "phase") != "Pending" {
		return
	}
	id := k.InstanceNamed(kubestate.At(p.Object, "spec", "nodeName"))
	in := w.Instances.Get(id)
	if in == nil {
		return // the node went meanwhile
	}
	if v := w.Volumes.Get(k.VolumeOf(p)); v != nil && !slices.ContainsFunc(v.Attachments, func(a ec2types.VolumeAttachment) bool { return aws.ToString(a.InstanceId) == id }) {
		if err := w.AttachVolume(v, id, ""); err != nil {
			k.Say(p.Object, "Pod", "attachdetach-controller", "FailedAttachVolume", "Warning",
				fmt.Sprintf("AttachVolume.Attach failed for volume %q : rpc error: code = Internal desc = Could not attach volume %q to node %q: %v", kubestate.At(k.ClaimOf(p), "spec", "volumeName"), aws.ToString(v.VolumeId), id, err), w.Now)
			w.After(attachTime, func() { startPod(w, k, p, object) })
			return
		}
		k.Say(p.Object, "Pod", "attachdetach-controller", "SuccessfulAttachVolume", "Normal", fmt.Sprintf("AttachVolume.Attach succeeded for volume %q", kubestate.At(k.ClaimOf(p), "spec", "volumeName")), w.Now)
	}
	conditions := kubestate.At(p.Object, "status", "conditions")
	kubestate.PodRuns(p.Object, cmp.Or(freePodAddress(w, k, id), aws.ToString(in.PrivateIpAddress)), w.Now)
	if status, ok := p.Object["status"].(map[string]any); ok {
		status["conditions"] = conditions
	}
	for _, kind := range []string{"Initialized", "ContainersReady", "Ready"} {
		kubestate.SetCondition(p.Object, kind, "True", "", "", w.Now)
	}
	k.Touch(p.Object)
}

// freePodAddress is an address of a node's interfaces that no pod has.
func freePodAddress(w *state.State, k *kubestate.Cluster, instance string) string {
	for _, eni := range w.InterfacesOf(instance) {
		for i, a := range eni.PrivateIpAddresses {
			taken := slices.ContainsFunc(k.Objects["pods"], func(p map[string]any) bool {
				return kubestate.At(p, "status", "podIP") == aws.ToString(a.PrivateIpAddress)
			})
			if i > 0 && !taken {
				return aws.ToString(a.PrivateIpAddress)
			}
		}
	}
	return ""
}

// dropSetPods ends the sets' pods on a node; their controller makes them again.
func dropSetPods(w *state.State, k *kubestate.Cluster, node map[string]any) {
	gone := map[string]bool{}
	for _, p := range k.Sets {
		if p.Object == nil || kubestate.At(p.Object, "spec", "nodeName") != kubestate.At(node, "metadata", "name") {
			continue
		}
		uid, _ := kubestate.At(p.Object, "metadata", "uid").(string)
		gone[uid] = true
		p.Object = nil
		w.After(recreateTime, func() {
			createPod(w, k, p)
			Schedule(w, k)
		})
	}
	if len(gone) == 0 {
		return
	}
	k.Objects["pods"] = slices.DeleteFunc(k.Objects["pods"], func(p map[string]any) bool {
		uid, _ := kubestate.At(p, "metadata", "uid").(string)
		return gone[uid]
	})
	k.Version++
}

// Drain is EKS emptying a node before it ends it: nothing comes to it any more,
// and the sets' pods leave it. Their volumes leave it too.
func Drain(w *state.State, instance string) {
	k, n := w.NodeOf(instance)
	if n == nil || len(k.Sets) == 0 {
		return
	}
	if spec, ok := (*n)["spec"].(map[string]any); ok {
		spec["unschedulable"] = true
	}
	kubestate.Taint(*n, "node.kubernetes.io/unschedulable", "NoSchedule")
	k.Touch(*n)
	dropSetPods(w, k, *n)
	w.DetachVolumes(instance)
}

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
