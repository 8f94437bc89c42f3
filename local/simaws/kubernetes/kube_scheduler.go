package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

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
	if p.Told == message {
		return
	}
	p.Told = message
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

// reachable tells whether a PersistentVolume's node affinity admits a node.
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
