package world

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
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

// setPod is a pod that the world's scheduler places.
type setPod struct {
	set SetFile
	// claim is the name of its claim, empty without one.
	claim  string
	name   string
	object map[string]any
	// told is what the scheduler last said of it.
	told string
}

// loadSets makes the sets' pods, and places those that fit: they run since
// before the start.
func (w *World) loadSets(f *File) error {
	var errs []error
	for _, name := range sortedKeys(f.Kubernetes) {
		k := w.kubernetes[name]
		if k == nil {
			continue // said when the objects were loaded
		}
		for _, set := range f.Kubernetes[name].Sets {
			if set.Name == "" {
				errs = append(errs, fmt.Errorf("kubernetes.%s.sets: a set has no name", name))
				continue
			}
			set.Namespace, set.Replicas = cmp.Or(set.Namespace, "default"), cmp.Or(set.Replicas, 1)
			for i := range set.Replicas {
				p := &setPod{set: set, claim: set.Claim, name: fmt.Sprintf("%s-%d", set.Name, i)}
				if set.Claim != "" && set.Replicas > 1 {
					p.claim = fmt.Sprintf("%s-%s-%d", set.Claim, set.Name, i)
				}
				k.sets = append(k.sets, p)
				w.createPod(k, p)
			}
		}
		w.placeAtStart(k)
	}
	return errors.Join(errs...)
}

// placeAtStart places pods at once, volumes and all.
func (w *World) placeAtStart(k *cluster) {
	for _, p := range k.sets {
		if node := w.place(k, p); node != nil {
			w.startPod(k, p, p.object)
		}
	}
}

// createPod makes a set's pod. It waits for the scheduler.
func (w *World) createPod(k *cluster, p *setPod) {
	container := map[string]any{"name": p.set.Name, "image": p.set.Name + ":1"}
	spec := map[string]any{"containers": []any{container}, "schedulerName": "default-scheduler", "restartPolicy": "Always"}
	if p.claim != "" {
		spec["volumes"] = []any{map[string]any{"name": "data", "persistentVolumeClaim": map[string]any{"claimName": p.claim}}}
		container["volumeMounts"] = []any{map[string]any{"name": "data", "mountPath": "/data"}}
	}
	if len(p.set.NodeSelector) > 0 {
		selector := map[string]any{}
		for key, value := range p.set.NodeSelector {
			selector[key] = value
		}
		spec["nodeSelector"] = selector
	}
	var tolerations []any
	for _, t := range p.set.Tolerations {
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
	p.told = ""
	p.object = map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{
			"name": p.name, "namespace": p.set.Namespace, "creationTimestamp": kubeTime(w.now), "uid": w.ids.uuid(),
			"labels":          map[string]any{"app": p.set.Name, "statefulset.kubernetes.io/pod-name": p.name},
			"ownerReferences": []any{map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": p.set.Name, "controller": true}},
		},
		"spec": spec, "status": map[string]any{"phase": "Pending", "qosClass": "BestEffort"},
	}
	k.objects["pods"] = append(k.objects["pods"], p.object)
	k.touch(p.object)
}

// schedule places the pods that wait, each on a node that fits.
func (w *World) schedule(k *cluster) {
	for _, p := range k.sets {
		if p.object == nil || at(p.object, "spec", "nodeName") != nil {
			continue
		}
		if w.place(k, p) == nil {
			continue
		}
		object := p.object
		w.after(attachTime, func() { w.startPod(k, p, object) })
	}
}

// scheduleLater has the scheduler look once more if a pod still waits then.
func (w *World) scheduleLater(k *cluster, p *setPod) {
	object := p.object
	w.after(retrySchedule, func() {
		if p.object == nil || at(p.object, "metadata", "uid") != at(object, "metadata", "uid") || at(p.object, "spec", "nodeName") != nil {
			return
		}
		p.told = "" // it is said again
		w.schedule(k)
	})
}

// startPod attaches a placed pod's volume and runs it. A volume that is still
// attached elsewhere makes it wait.
func (w *World) startPod(k *cluster, p *setPod, object map[string]any) {
	if p.object == nil || at(p.object, "metadata", "uid") != at(object, "metadata", "uid") || at(p.object, "status", "phase") != "Pending" {
		return
	}
	id := k.instanceNamed(at(p.object, "spec", "nodeName"))
	in := w.instances.get(id)
	if in == nil {
		return // the node went meanwhile
	}
	if v := w.volumes.get(k.volumeOf(p)); v != nil && !slices.ContainsFunc(v.Attachments, func(a ec2types.VolumeAttachment) bool { return aws.ToString(a.InstanceId) == id }) {
		if err := w.attachVolume(v, id, ""); err != nil {
			k.say(p.object, "Pod", "attachdetach-controller", "FailedAttachVolume", "Warning",
				fmt.Sprintf("AttachVolume.Attach failed for volume %q : rpc error: code = Internal desc = Could not attach volume %q to node %q: %v", at(k.claimOf(p), "spec", "volumeName"), aws.ToString(v.VolumeId), id, err), w.now)
			w.after(attachTime, func() { w.startPod(k, p, object) })
			return
		}
		k.say(p.object, "Pod", "attachdetach-controller", "SuccessfulAttachVolume", "Normal", fmt.Sprintf("AttachVolume.Attach succeeded for volume %q", at(k.claimOf(p), "spec", "volumeName")), w.now)
	}
	conditions := at(p.object, "status", "conditions")
	podRuns(p.object, cmp.Or(w.freePodAddress(k, id), aws.ToString(in.PrivateIpAddress)), w.now)
	if status, ok := p.object["status"].(map[string]any); ok {
		status["conditions"] = conditions
	}
	for _, kind := range []string{"Initialized", "ContainersReady", "Ready"} {
		setCondition(p.object, kind, "True", "", "", w.now)
	}
	k.touch(p.object)
}

// freePodAddress is an address of a node's interfaces that no pod has.
func (w *World) freePodAddress(k *cluster, instance string) string {
	for _, eni := range w.interfacesOf(instance) {
		for i, a := range eni.PrivateIpAddresses {
			taken := slices.ContainsFunc(k.objects["pods"], func(p map[string]any) bool { return at(p, "status", "podIP") == aws.ToString(a.PrivateIpAddress) })
			if i > 0 && !taken {
				return aws.ToString(a.PrivateIpAddress)
			}
		}
	}
	return ""
}

// dropSetPods ends the sets' pods on a node; their controller makes them again.
func (w *World) dropSetPods(k *cluster, node map[string]any) {
	gone := map[string]bool{}
	for _, p := range k.sets {
		if p.object == nil || at(p.object, "spec", "nodeName") != at(node, "metadata", "name") {
			continue
		}
		uid, _ := at(p.object, "metadata", "uid").(string)
		gone[uid] = true
		p.object = nil
		w.after(recreateTime, func() {
			w.createPod(k, p)
			w.schedule(k)
		})
	}
	if len(gone) == 0 {
		return
	}
	k.objects["pods"] = slices.DeleteFunc(k.objects["pods"], func(p map[string]any) bool {
		uid, _ := at(p, "metadata", "uid").(string)
		return gone[uid]
	})
	k.version++
}

// drain is EKS emptying a node before it ends it: nothing comes to it any more,
// and the sets' pods leave it. Their volumes leave it too.
func (w *World) drain(instance string) {
	k, n := w.nodeOf(instance)
	if n == nil || len(k.sets) == 0 {
		return
	}
	if spec, ok := (*n)["spec"].(map[string]any); ok {
		spec["unschedulable"] = true
	}
	taint(*n, "node.kubernetes.io/unschedulable", "NoSchedule")
	k.touch(*n)
	w.dropSetPods(k, *n)
	w.detachVolumes(instance)
}
