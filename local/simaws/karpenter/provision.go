package karpenter

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/local/simaws/kubestate"
)

// failedTime is how long Karpenter does not say again that a pod fits no NodePool
// (KC provisioning/scheduling/events.go).
const failedTime = 5 * time.Minute

// heldWaiting tells that a pod waits which no NodeClaim is for.
func (c *Controller) heldWaiting() bool { return len(c.heldPods()) > 0 }

// heldPods are the pods that the scheduler has given up on and that no NodeClaim is
// for (KC pkg/utils/pod, IsProvisionable).
func (c *Controller) heldPods() []map[string]any {
	var out []map[string]any
	for _, p := range c.k.Objects["pods"] {
		if scheduled := conditionOf(p, "PodScheduled"); scheduled.status != no || scheduled.reason != "Unschedulable" || text(p, "spec", "nodeName") != "" {
			continue
		}
		uid := text(p, "metadata", "uid")
		if uid == "" || slices.ContainsFunc(c.claims, func(x *claim) bool { return !x.ending && slices.Contains(x.pods, uid) }) || ofDaemonSet(p) {
			continue
		}
		out = append(out, p)
	}
	return out
}

func ofDaemonSet(p map[string]any) bool {
	owners, _ := kubestate.At(p, "metadata", "ownerReferences").([]any)
	return slices.ContainsFunc(owners, func(o any) bool { return text(o, "kind") == "DaemonSet" })
}

// heldProvision makes NodeClaims for the pods that wait: those of one NodePool that
// want the same nodes share one. The pods of this world ask for no CPU and memory.
func (c *Controller) heldProvision() {
	type batch struct {
		pool map[string]any
		pods []map[string]any
	}
	batches := map[string]*batch{}
	pools := c.heldReadyPools()
	for _, p := range c.heldPods() {
		pool, why := c.heldPoolFor(p, pools)
		if pool == nil {
			if why != "" {
				c.heldUnfit(p, why)
			}
			continue
		}
		key := text(pool, "metadata", "name") + fmt.Sprint(podSelector(p))
		if batches[key] == nil {
			batches[key] = &batch{pool: pool}
		}
		batches[key].pods = append(batches[key].pods, p)
	}
	for _, key := range slices.Sorted(maps.Keys(batches)) {
		c.heldCreate(batches[key].pool, batches[key].pods)
	}
}

// heldReadyPools are the NodePools that may launch, the heaviest first: the others are
// passed over, of which only a log tells (KC provisioning/provisioner.go, NewScheduler).
func (c *Controller) heldReadyPools() []map[string]any {
	var out []map[string]any
	for _, o := range c.k.Objects["nodepools"] {
		if conditionOf(o, "Ready").status == yes && specOf[poolSpec](o).Replicas == nil {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b map[string]any) int {
		if x, y := specOf[poolSpec](a).Weight, specOf[poolSpec](b).Weight; x != y {
			return y - x
		}
		return strings.Compare(text(a, "metadata", "name"), text(b, "metadata", "name"))
	})
	return out
}

// heldPoolFor is the first NodePool that a pod fits, or why it fits none; without any
// NodePool nothing is said.
func (c *Controller) heldPoolFor(p map[string]any, pools []map[string]any) (map[string]any, string) {
	var why []string
	for _, o := range pools {
		spec, name := specOf[poolSpec](o), text(o, "metadata", "name")
		offerings := c.heldOfferings(c.classes[spec.Template.Spec.NodeClassRef.Name], poolLabels(name, spec), wantsOf(p, spec))
		switch t := untolerated(p, spec.Template.Spec.Taints); {
		case t != "":
			why = append(why, fmt.Sprintf("incompatible with nodepool %q, did not tolerate taint %s", name, t))
		case len(offerings) == 0:
			why = append(why, fmt.Sprintf("incompatible with nodepool %q, no instance type satisfied resources and requirements", name))
		case c.heldLimited(name, spec.Limits, offerings[0].kind):
			// serrors.Wrap writes what it is about behind the error (KC v1.14
			// provisioning/scheduling/scheduler.go, addToNewNodeClaim).
			why = append(why, fmt.Sprintf("all available instance types exceed limits for nodepool (NodePool=%s)", name))
		default:
			return o, ""
		}
	}
	return nil, strings.Join(why, "; ")
}

func (c *Controller) heldUnfit(p map[string]any, why string) {
	uid := text(p, "metadata", "uid")
	if at, told := c.failed[uid]; told && c.w.Now.Sub(at) < failedTime {
		return
	}
	c.failed[uid] = c.w.Now
	c.heldSay("Pod", p, "FailedScheduling", "Warning", "Failed to schedule pod, "+why)
}

func poolLabels(name string, spec poolSpec) map[string]string {
	labels := maps.Clone(spec.Template.Metadata.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[labelPool], labels[labelClass] = name, spec.Template.Spec.NodeClassRef.Name
	return labels
}

// wantsOf are the requirements of a NodePool and of a pod's node selector.
func wantsOf(p map[string]any, spec poolSpec) []requirement {
	wants := slices.Clone(spec.Template.Spec.Requirements)
	selector := podSelector(p)
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		wants = append(wants, requirement{Key: key, Operator: "In", Values: []string{selector[key]}})
	}
	return wants
}

func podSelector(p map[string]any) map[string]string {
	out := map[string]string{}
	selector, _ := kubestate.At(p, "spec", "nodeSelector").(map[string]any)
	for key, value := range selector {
		out[key] = fmt.Sprint(value)
	}
	return out
}

// untolerated is the first taint that keeps a pod away, as Kubernetes writes it.
func untolerated(p map[string]any, taints []taint) string {
	tolerations, _ := kubestate.At(p, "spec", "tolerations").([]any)
	for _, t := range taints {
		if t.Effect != "PreferNoSchedule" && !slices.ContainsFunc(tolerations, func(o any) bool {
			key, operator, effect := text(o, "key"), text(o, "operator"), text(o, "effect")
			return (key == t.Key || key == "" && operator == "Exists") && (effect == "" || effect == t.Effect) && (operator == "Exists" || text(o, "value") == t.Value)
		}) {
			return t.Key + "=" + t.Value + ":" + t.Effect
		}
	}
	return ""
}

// heldCreate makes the NodeClaim of pods (KC provisioning/scheduling/nodeclaimtemplate.go).
func (c *Controller) heldCreate(pool map[string]any, pods []map[string]any) {
	spec, name := specOf[poolSpec](pool), text(pool, "metadata", "name")
	labels, wants := poolLabels(name, spec), wantsOf(pods[0], spec)
	types := typesOf(c.heldOfferings(c.classes[spec.Template.Spec.NodeClassRef.Name], labels, wants))
	x := &claim{name: name + "-" + suffix(c.w.IDs.Hex(10)), pool: name, class: spec.Template.Spec.NodeClassRef.Name, labels: labels, wants: wants,
		startup: spec.Template.Spec.StartupTaints}
	for _, p := range pods {
		x.pods = append(x.pods, text(p, "metadata", "uid"))
	}
	shown := append(slices.Clone(wants), requirement{Key: labelType, Operator: "In", Values: types}, requirement{Key: labelPool, Operator: "In", Values: []string{name}})
	x.object = map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": kindClaim,
		"metadata": map[string]any{
			"name": x.name, "generateName": name + "-", "uid": c.w.IDs.UUID(), "generation": int64(1), "creationTimestamp": kubestate.Time(c.w.Now),
			"labels": plainOf(labels), "finalizers": []any{"karpenter.sh/termination"}, "annotations": map[string]any{},
			"ownerReferences": []any{map[string]any{"apiVersion": "karpenter.sh/v1", "kind": kindPool, "name": name, "uid": text(pool, "metadata", "uid"),
				"blockOwnerDeletion": true}},
		},
		"spec": map[string]any{
			"nodeClassRef": plainOf(spec.Template.Spec.NodeClassRef), "requirements": plainOf(shown), "expireAfter": "720h",
			"resources": map[string]any{"requests": map[string]any{"pods": fmt.Sprint(len(pods))}},
		},
		"status": map[string]any{},
	}
	own, _ := x.object["spec"].(map[string]any)
	if len(spec.Template.Spec.Taints) > 0 {
		own["taints"] = plainOf(spec.Template.Spec.Taints)
	}
	if len(spec.Template.Spec.StartupTaints) > 0 {
		own["startupTaints"] = plainOf(spec.Template.Spec.StartupTaints)
	}
	c.heldInit(kindClaim, x.object)
	c.claims = append(c.claims, x)
	c.k.Objects["nodeclaims"] = append(c.k.Objects["nodeclaims"], x.object)
	c.k.Touch(x.object)
	for _, p := range pods {
		c.heldSay("Pod", p, "Nominated", "Normal", "Pod should schedule on: nodeclaim/"+x.name)
	}
}

// suffix is what the API server adds to a generated name: five of the letters and
// digits that make no words (k8s.io/apimachinery pkg/util/rand).
func suffix(digits string) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	var b strings.Builder
	for i := 0; i+2 <= len(digits) && b.Len() < 5; i += 2 {
		n := 0
		_, _ = fmt.Sscanf(digits[i:i+2], "%x", &n) // they are digits
		b.WriteByte(alphabet[n%len(alphabet)])
	}
	return b.String()
}
