package kubernetes

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"rollcall/shared/gather/source"
	"rollcall/shared/kube"
	"rollcall/shared/network/branch"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// stuckPods are the pods that a node took and that have no sandbox. The kubelet writes
// that into the condition PodReadyToStartContainers, since Kubernetes 1.29; before, and
// where it did not yet, that each container is being created shows it
// (kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle, "Pod network readiness").
func stuckPods(list []kube.WaitingPod) []snapshot.StuckPod {
	var stuck []snapshot.StuckPod
	for _, p := range list {
		w := waitingPod(p)
		if p.Spec.NodeName == "" || p.Spec.HostNetwork || !p.Metadata.DeletionTimestamp.IsZero() || w.AsksFor(branch.Resource) || !withoutSandbox(p) {
			continue
		}
		stuck = append(stuck, snapshot.StuckPod{Pod: w.Key(), Node: p.Spec.NodeName, Since: w.Since()})
	}
	slices.SortFunc(stuck, func(a, b snapshot.StuckPod) int { return strings.Compare(a.Pod, b.Pod) })
	return stuck
}

func withoutSandbox(p kube.WaitingPod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == "PodReadyToStartContainers" || c.Type == "PodHasNetwork" { // its name before 1.28
			return c.Status == "False"
		}
	}
	return !slices.ContainsFunc(slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses), func(c kube.ContainerStatus) bool {
		return c.State.Waiting == nil || c.State.Waiting.Reason != "ContainerCreating" && c.State.Waiting.Reason != "PodInitializing"
	})
}

// podEvents are the warnings about stuck pods, which alone tell why. Where no pod is
// stuck, nothing is asked.
func podEvents() source.Source {
	return source.Source{
		Name:  snapshot.PodEventsOf,
		Needs: []snapshot.Source{snapshot.WaitingPods},
		Kube: []spec.KubeRule{
			{Resources: []string{"events"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			if !v.Snapshot.Has(snapshot.WaitingPods) {
				return nil, v.Unread(snapshot.WaitingPods)
			}
			if len(v.Snapshot.StuckPods) == 0 {
				return source.Nothing, nil
			}
			list, err := client.PodWarnings(ctx)
			if err != nil {
				return nil, err
			}
			events := newest(list, v.Snapshot.StuckPods)
			return func(s *snapshot.Snapshot) { s.PodEvents = events }, nil
		}),
	}
}

// newest are the newest warnings of each reason about stuck pods.
func newest(list []kube.Event, stuck []snapshot.StuckPod) []snapshot.PodEvent {
	type key struct{ pod, reason string }
	of := map[key]snapshot.PodEvent{}
	for _, e := range list {
		n := nodeEvent(e)
		k := key{e.InvolvedObject.Namespace + "/" + n.Node, n.Reason}
		_, is := slices.BinarySearchFunc(stuck, k.pod, func(p snapshot.StuckPod, pod string) int { return strings.Compare(p.Pod, pod) })
		if is && !n.Last.Before(of[k].Last) {
			of[k] = snapshot.PodEvent{Pod: k.pod, Reason: n.Reason, Message: n.Message, Last: n.Last}
		}
	}
	var events []snapshot.PodEvent
	for _, e := range of {
		events = append(events, e)
	}
	slices.SortFunc(events, func(a, b snapshot.PodEvent) int {
		return cmp.Or(strings.Compare(a.Pod, b.Pod), strings.Compare(a.Reason, b.Reason))
	})
	return events
}

// mostNodes are the nodes whose pods are listed: nodes of a kind are alike.
const mostNodes = 5

// podsOnNodes are the pods of nodes that have stuck pods, and of those that are not Ready
// and whose aws-node has its credentials of the Pod Identity agent: without an agent on
// the same node it gets none.
func podsOnNodes() source.Source {
	return source.Source{
		Name:  snapshot.PodsOnNodes,
		Needs: []snapshot.Source{snapshot.Nodes},
		After: []snapshot.Source{snapshot.WaitingPods, snapshot.Pods},
		Kube: []spec.KubeRule{
			{Resources: []string{"pods"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			if !v.Snapshot.Has(snapshot.Nodes) {
				return nil, v.Unread(snapshot.Nodes)
			}
			var all []snapshot.NodePods
			for _, node := range nodesToList(v.Snapshot) {
				list, err := client.PodsOn(ctx, node)
				if err != nil {
					return nil, err
				}
				all = append(all, podsOf(node, list))
			}
			return func(s *snapshot.Snapshot) { s.NodePods = all }, nil
		}),
	}
}

func nodesToList(s *snapshot.Snapshot) []string {
	var names []string
	add := func(name string) {
		if len(names) < mostNodes && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, p := range s.Pods {
		if p.Identity.ByAssociation && slices.ContainsFunc(s.Nodes, func(n snapshot.Node) bool { return n.Name == p.Node && n.Ready.Status != "True" }) {
			add(p.Node)
		}
	}
	for _, p := range s.StuckPods {
		add(p.Node)
	}
	return names
}

// agent begins the names of the pods of the Pod Identity agent's DaemonSet
// (github.com/aws/eks-pod-identity-agent, charts/eks-pod-identity-agent).
const agent = "eks-pod-identity-agent"

func podsOf(node string, list []kube.Pod) snapshot.NodePods {
	of := snapshot.NodePods{Node: node}
	for _, p := range list {
		if !p.Spec.HostNetwork && p.Status.Phase == "Running" {
			of.Addressed++
		}
		if strings.HasPrefix(p.Metadata.Name, agent) && p.Metadata.Namespace == "kube-system" && of.Agent != "Running" {
			of.Agent = cmp.Or(p.Status.Phase, "Pending")
			for _, c := range p.Status.ContainerStatuses {
				if w := c.State.Waiting; w != nil && w.Reason != "" {
					of.Agent = w.Reason
				}
			}
		}
	}
	return of
}

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
