package kubernetes

import (
	"context"
	"slices"
	"strings"

	"rollcall/shared/spec"

	"rollcall/shared/gather/source"
	"rollcall/shared/kube"
	"rollcall/shared/network/branch"
	"rollcall/shared/snapshot"
)

// podsWaiting are the pods of all namespaces that no node has taken.
func podsWaiting() source.Source {
	return source.Source{
		Name: snapshot.WaitingPods,
		Kube: []spec.KubeRule{
			{Resources: []string{"pods"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			list, err := client.WaitingPods(ctx)
			keep, err := source.Keep(waitingPods(list), err, snapshot.WaitingPod.Key, func(s *snapshot.Snapshot) *[]snapshot.WaitingPod { return &s.WaitingPods })
			if err != nil {
				return nil, err
			}
			return func(s *snapshot.Snapshot) {
				keep(s)
				s.BranchWaits, s.StuckPods = branchWaits(list), stuckPods(list)
			}, nil
		}),
	}
}

func waitingPods(list []kube.WaitingPod) []snapshot.WaitingPod {
	list = slices.DeleteFunc(slices.Clone(list), func(p kube.WaitingPod) bool { return p.Spec.NodeName != "" })
	return source.Each(list, waitingPod)
}

// branchWaits are the pods that a node took and that no container of runs, for they
// ask for a branch interface and have none: the controller writes into an annotation
// which one it gave them (amazon-vpc-resource-controller-k8s
// pkg/provider/branch/provider.go, CreateAndAnnotateResources).
func branchWaits(list []kube.WaitingPod) []snapshot.BranchWait {
	var waits []snapshot.BranchWait
	for _, p := range list {
		w := waitingPod(p)
		if p.Spec.NodeName == "" || !w.AsksFor(branch.Resource) || p.Metadata.Annotations[branch.Resource] != "" {
			continue
		}
		waits = append(waits, snapshot.BranchWait{Pod: w.Key(), Node: p.Spec.NodeName, Since: w.Since()})
	}
	slices.SortFunc(waits, func(a, b snapshot.BranchWait) int { return strings.Compare(a.Pod, b.Pod) })
	return waits
}

func waitingPod(p kube.WaitingPod) snapshot.WaitingPod {
	out := snapshot.WaitingPod{
		Namespace: p.Metadata.Namespace, Name: p.Metadata.Name, Created: p.Metadata.CreationTimestamp,
		Selector: p.Spec.NodeSelector, Gated: len(p.Spec.SchedulingGates) > 0,
	}
	for _, o := range p.Metadata.OwnerReferences {
		if o.Controller {
			out.Owner = o.Kind + " " + o.Name
		}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == "PodScheduled" {
			out.Scheduled = snapshot.Condition{Status: c.Status, Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime}
		}
	}
	if r := p.Spec.Affinity.NodeAffinity.Required; r != nil {
		out.Terms = source.Each(r.Terms, func(t kube.NodeSelectorTerm) snapshot.NodeTerm {
			return snapshot.NodeTerm{Labels: source.Each(t.Labels, requirement), Fields: source.Each(t.Fields, requirement)}
		})
	}
	for _, t := range p.Spec.Tolerations {
		out.Tolerations = append(out.Tolerations, snapshot.Toleration{Key: t.Key, Operator: t.Operator, Value: t.Value, Effect: t.Effect})
	}
	for _, c := range p.Spec.Containers {
		if asks := amounts(c.Resources.Requests); asks != nil {
			out.Requests = append(out.Requests, asks)
		}
	}
	for _, v := range p.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			out.Claims = append(out.Claims, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			out.Claims = append(out.Claims, p.Metadata.Name+"-"+v.Name)
		}
	}
	out.Claims = source.Distinct(out.Claims)
	return out
}

func requirement(r kube.Requirement) snapshot.Requirement {
	return snapshot.Requirement{Key: r.Key, Operator: r.Operator, Values: r.Values}
}
