package world

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// place finds a node for a pod by the scheduler's filters, in their order, and
// binds it. Where there is none the pod says why, in the scheduler's words, and
// nil is returned.
func (w *World) place(k *cluster, p *setPod) map[string]any {
	why, helpless := map[string]int{}, 0
	all := 0
	var fits []*map[string]any
	claimProblem := k.claimProblem(p)
	for _, n := range k.nodes.all() {
		all++
		reason, preemptible := "", false
		if claimProblem == "" {
			reason, preemptible = w.unfit(k, p, *n)
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
		w.waits(k, p, k.unschedulable(all, why, helpless, claimProblem))
		return nil
	}
	// Where the volume already is, else where the fewest pods are.
	v := w.volumes.get(k.volumeOf(p))
	slices.SortStableFunc(fits, func(a, b *map[string]any) int {
		return cmp.Or(elsewhere(v, k, *a)-elsewhere(v, k, *b), k.podsOf(*a)-k.podsOf(*b))
	})
	node := *fits[0]
	if spec, ok := p.object["spec"].(map[string]any); ok {
		spec["nodeName"] = at(node, "metadata", "name")
	}
	setCondition(p.object, "PodScheduled", "True", "", "", w.now)
	k.touch(p.object)
	k.say(p.object, "Pod", "default-scheduler", "Scheduled", "Normal",
		fmt.Sprintf("Successfully assigned %s/%s to %v", p.set.Namespace, p.name, at(node, "metadata", "name")), w.now)
	return node
}

// elsewhere is 0 where a volume is attached to a node's instance, or to none.
func elsewhere(v *ec2types.Volume, k *cluster, node map[string]any) int {
	if v == nil || len(v.Attachments) == 0 || aws.ToString(v.Attachments[0].InstanceId) == k.instanceNamed(at(node, "metadata", "name")) {
		return 0
	}
	return 1
}

// waits leaves a pod Pending, and says why where that is new.
func (w *World) waits(k *cluster, p *setPod, message string) {
	if p.told == message {
		return
	}
	p.told = message
	setCondition(p.object, "PodScheduled", "False", "Unschedulable", message, w.now)
	k.touch(p.object)
	k.say(p.object, "Pod", "default-scheduler", "FailedScheduling", "Warning", message, w.now)
	w.scheduleLater(k, p)
}

// unfit is the first reason for which a pod cannot be on a node, empty where it
// can, and whether ending other pods could help.
func (w *World) unfit(k *cluster, p *setPod, node map[string]any) (reason string, preemptible bool) {
	spec, _ := node["spec"].(map[string]any)
	if spec["unschedulable"] == true {
		return "node(s) were unschedulable", false
	}
	if t := untolerated(p.set.Tolerations, node); t != "" {
		if k.minor() >= newWords {
			return "node(s) had untolerated taint(s)", false
		}
		return "node(s) had untolerated taint {" + t + "}", false
	}
	for key, value := range p.set.NodeSelector {
		if at(node, "metadata", "labels", key) != value {
			return "node(s) didn't match Pod's node affinity/selector", false
		}
	}
	if room, err := strconv.Atoi(fmt.Sprint(at(node, "status", "allocatable", "pods"))); err == nil && k.podsOf(node) >= room {
		return "Too many pods", true
	}
	if v := k.persistentVolume(p); v != nil && !reachable(v, node) {
		if k.minor() >= newWords {
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
func (k *cluster) unschedulable(all int, why map[string]int, helpless int, claimProblem string) string {
	if all == 0 {
		return "no nodes available to schedule pods"
	}
	var reasons []string
	for _, r := range sortedKeys(why) {
		reasons = append(reasons, fmt.Sprintf("%d %s", why[r], r))
	}
	slices.Sort(reasons)
	if claimProblem != "" {
		reasons, helpless = []string{claimProblem}, all
	}
	text := fmt.Sprintf("0/%d nodes are available: %s.", all, strings.Join(reasons, ", "))
	if k.minor() >= claimsVersion {
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
func untolerated(tolerations []Toleration, node map[string]any) string {
	list, _ := at(node, "spec", "taints").([]any)
	for _, t := range list {
		key, _ := at(t, "key").(string)
		value, _ := at(t, "value").(string)
		effect, _ := at(t, "effect").(string)
		if effect == "PreferNoSchedule" {
			continue
		}
		if !slices.ContainsFunc(tolerations, func(o Toleration) bool {
			return (o.Key == key || o.Key == "" && o.Operator == "Exists") && (o.Effect == "" || o.Effect == effect) && (o.Operator == "Exists" || o.Value == value)
		}) {
			return key + ": " + value
		}
	}
	return ""
}

// reachable tells whether a PersistentVolume's node affinity admits a node.
func reachable(volume, node map[string]any) bool {
	terms, _ := at(volume, "spec", "nodeAffinity", "required", "nodeSelectorTerms").([]any)
	if terms == nil {
		return true
	}
	return slices.ContainsFunc(terms, func(term any) bool {
		list, _ := at(term, "matchExpressions").([]any)
		return !slices.ContainsFunc(list, func(e any) bool {
			key, _ := at(e, "key").(string)
			values, _ := at(e, "values").([]any)
			have := at(node, "metadata", "labels", key)
			switch at(e, "operator") {
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
