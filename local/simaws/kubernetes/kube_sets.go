package kubernetes

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

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

// AddSet is somebody applying a StatefulSet to a cluster.
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
	p.Told = ""
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
		p.Told = "" // it is said again
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
