package kubernetes

import (
	"context"
	"slices"
	"strconv"

	"rollcall/shared/gather/source"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// Karpenter's objects can be listed with the rights of deploy/clusterrole.yaml
// alone: of EKS's access policies those that read custom resources read Secrets
// too, or write (User Guide, "Review access policy permissions"). A cluster whose
// role is older than these rights answers as one without Karpenter would, for
// the API asks who may before it looks whether there is such a kind: that it
// may not is no fault where nothing tells of Karpenter, and the checks say it
// where something does.

// nodePools are what Karpenter and EKS Auto Mode make nodes for.
func nodePools() source.Source {
	return source.Source{
		Name: snapshot.NodePoolsOf,
		Kube: []spec.KubeRule{{Group: "karpenter.sh", Resources: []string{"nodepools"}, Verbs: []string{"list"}}},
		Read: withClient(func(ctx context.Context, _ *source.View, client *kube.Client) (source.Store, error) {
			list, err := client.NodePools(ctx)
			return source.Keep(source.Each(list, nodePool), granted(err, "NodePools"), func(x snapshot.NodePool) string { return x.Name },
				func(s *snapshot.Snapshot) *[]snapshot.NodePool { return &s.NodePools })
		}),
	}
}

// nodeClaims are the nodes that they ask for.
func nodeClaims() source.Source {
	return source.Source{
		Name:  snapshot.NodeClaimsOf,
		Needs: []snapshot.Source{snapshot.NodePoolsOf},
		Kube:  []spec.KubeRule{{Group: "karpenter.sh", Resources: []string{"nodeclaims"}, Verbs: []string{"list"}}},
		Read: ofPools(func(snapshot.NodePool) bool { return true }, func(ctx context.Context, client *kube.Client) (source.Store, error) {
			list, err := client.NodeClaims(ctx)
			return source.Keep(source.Each(list, nodeClaim), granted(err, "NodeClaims"), func(x snapshot.NodeClaim) string { return x.Name },
				func(s *snapshot.Snapshot) *[]snapshot.NodeClaim { return &s.NodeClaims })
		}),
	}
}

// ec2NodeClasses are of what Karpenter makes them.
func ec2NodeClasses() source.Source {
	return source.Source{
		Name:  snapshot.EC2NodeClassesOf,
		Needs: []snapshot.Source{snapshot.NodePoolsOf},
		Kube:  []spec.KubeRule{{Group: snapshot.KarpenterGroup, Resources: []string{"ec2nodeclasses"}, Verbs: []string{"list"}}},
		Read: ofPools(classOf(snapshot.KarpenterGroup), func(ctx context.Context, client *kube.Client) (source.Store, error) {
			list, err := client.EC2NodeClasses(ctx)
			return source.Keep(source.Each(list, nodeClass), granted(err, "EC2NodeClasses"), nodeClassName,
				func(s *snapshot.Snapshot) *[]snapshot.NodeClass { return &s.EC2NodeClasses })
		}),
	}
}

// autoNodeClasses are of what EKS Auto Mode makes them.
func autoNodeClasses() source.Source {
	return source.Source{
		Name:  snapshot.AutoNodeClassesOf,
		Needs: []snapshot.Source{snapshot.NodePoolsOf},
		Kube:  []spec.KubeRule{{Group: snapshot.AutoModeGroup, Resources: []string{"nodeclasses"}, Verbs: []string{"list"}}},
		Read: ofPools(classOf(snapshot.AutoModeGroup), func(ctx context.Context, client *kube.Client) (source.Store, error) {
			list, err := client.AutoNodeClasses(ctx)
			return source.Keep(source.Each(list, nodeClass), granted(err, "NodeClasses"), nodeClassName,
				func(s *snapshot.Snapshot) *[]snapshot.NodeClass { return &s.AutoNodeClasses })
		}),
	}
}

// poolEvents are what they report of launches that were refused and of pods that no
// NodePool takes. A cluster in which neither pods nor NodeClaims wait is not asked.
func poolEvents() source.Source {
	return source.Source{
		Name:  snapshot.PoolEventsOf,
		Needs: []snapshot.Source{snapshot.NodePoolsOf},
		After: []snapshot.Source{snapshot.NodeClaimsOf, snapshot.WaitingPods},
		Kube: []spec.KubeRule{
			{Namespace: "default", Resources: []string{"events"}, Verbs: []string{"list"}},
			{Resources: []string{"events"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			s := v.Snapshot
			if !s.Has(snapshot.NodePoolsOf) {
				return nil, v.Unread(snapshot.NodePoolsOf)
			}
			if len(s.NodePools) == 0 || !launching(s) {
				return source.Nothing, nil
			}
			list, err := client.PoolEvents(ctx)
			if err != nil {
				return nil, granted(err, "events")
			}
			// A cluster whose role is older than this right still tells of NodeClaims.
			pods, err := client.SchedulingEvents(ctx)
			if err != nil && !forbidden(err) {
				return nil, err
			}
			for _, e := range pods {
				if e.Reporter() != "default-scheduler" {
					list = append(list, e)
				}
			}
			return source.Keep(source.Each(list, poolEvent), nil, func(e snapshot.PoolEvent) string {
				return e.Kind + " " + e.Name + " " + e.Reason + " " + e.Last.String()
			},
				func(s *snapshot.Snapshot) *[]snapshot.PoolEvent { return &s.PoolEvents })
		}),
	}
}

// launching reports whether something waits for a launch, as far as was read: a pod
// that the scheduler found no node for, or a NodeClaim without an instance.
func launching(s *snapshot.Snapshot) bool {
	return !s.Has(snapshot.WaitingPods) ||
		slices.ContainsFunc(s.WaitingPods, func(w snapshot.WaitingPod) bool { return !w.Gated && w.Scheduled.Status == "False" }) ||
		slices.ContainsFunc(s.NodeClaims, func(c snapshot.NodeClaim) bool { return c.Instance == "" })
}

func poolEvent(e kube.Event) snapshot.PoolEvent {
	n := nodeEvent(e)
	out := snapshot.PoolEvent{Kind: e.InvolvedObject.Kind, Name: n.Node, Reason: n.Reason, Message: cutMessage(n.Message), First: e.FirstTimestamp, Last: n.Last}
	if e.InvolvedObject.Namespace != "" {
		out.Name = e.InvolvedObject.Namespace + "/" + n.Node
	}
	if out.First.IsZero() || out.First.After(out.Last) {
		out.First = out.Last
	}
	return out
}

// ofPools asks for nothing where no NodePool calls for it: a cluster without
// Karpenter is asked one question.
func ofPools(wanted func(snapshot.NodePool) bool, read func(context.Context, *kube.Client) (source.Store, error)) source.Read {
	return withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
		switch {
		case v.Snapshot.Has(snapshot.NodePoolsOf):
		case v.Snapshot.Why(snapshot.NodePoolsOf).Code == snapshot.NotCaptured:
			return read(ctx, client) // a capture may have these files without that one
		default:
			return nil, v.Unread(snapshot.NodePoolsOf)
		}
		for _, p := range v.Snapshot.NodePools {
			if wanted(p) {
				return read(ctx, client)
			}
		}
		return source.Nothing, nil
	})
}

func classOf(group string) func(snapshot.NodePool) bool {
	return func(p snapshot.NodePool) bool { return p.Class.Group == group }
}

// granted names the rights that a refused list takes.
func granted(err error, what string) error {
	if forbidden(err) {
		return source.NotGrantedError{What: what, Code: source.Forbidden}
	}
	return err
}

func nodePool(p kube.NodePool) snapshot.NodePool {
	template := p.Spec.Template
	return snapshot.NodePool{
		Name: p.Metadata.Name, Generation: p.Metadata.Generation, Deleting: !p.Metadata.DeletionTimestamp.IsZero(), Weight: p.Spec.Weight,
		Class: classRef(template.Spec.NodeClassRef), Limits: amounts(p.Spec.Limits), Used: amounts(p.Status.Resources),
		Replicas: p.Spec.Replicas, Labels: template.Metadata.Labels, Requirements: source.Each(template.Spec.Requirements, requirement),
		Taints:     source.Each(template.Spec.Taints, func(t kube.Taint) snapshot.Taint { return snapshot.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect} }),
		Conditions: observed(p.Status.Conditions),
	}
}

// nodePoolLabel is on every NodeClaim that a NodePool made (kubernetes-sigs/karpenter
// pkg/apis/v1/labels.go).
const nodePoolLabel = "karpenter.sh/nodepool"

// instanceTypeLabel comes with the launch (pkg/controllers/nodeclaim/lifecycle/launch.go,
// PopulateNodeClaimDetails).
const instanceTypeLabel = "node.kubernetes.io/instance-type"

func nodeClaim(c kube.NodeClaim) snapshot.NodeClaim {
	return snapshot.NodeClaim{
		Name: c.Metadata.Name, Generation: c.Metadata.Generation, Deleting: !c.Metadata.DeletionTimestamp.IsZero(),
		Pool: c.Metadata.Labels[nodePoolLabel], Class: classRef(c.Spec.NodeClassRef),
		Instance: instanceOf(c.Status.ProviderID), Node: c.Status.NodeName, Type: c.Metadata.Labels[instanceTypeLabel], Conditions: observed(c.Status.Conditions),
	}
}

func nodeClass(c kube.NodeClass) snapshot.NodeClass {
	var selected []snapshot.ZonedSubnet
	for _, n := range c.Status.Subnets {
		selected = append(selected, snapshot.ZonedSubnet{ID: n.ID, Zone: n.Zone})
	}
	public := ""
	if p := c.Spec.AssociatePublicIPAddress; p != nil {
		public = strconv.FormatBool(*p)
	}
	m := c.Spec.MetadataOptions
	return snapshot.NodeClass{
		Name: c.Metadata.Name, Generation: c.Metadata.Generation, Deleting: !c.Metadata.DeletionTimestamp.IsZero(),
		Subnets: source.Each(c.Spec.SubnetSelectorTerms, selectorTerm), Groups: source.Each(c.Spec.SecurityGroupSelectorTerms, selectorTerm),
		Images: source.Each(c.Spec.AMISelectorTerms, selectorTerm), Role: c.Spec.Role, Profile: c.Spec.InstanceProfile,
		Family: c.Spec.AMIFamily, UserData: c.Spec.UserData, PublicIP: public,
		Metadata:   snapshot.Metadata{Endpoint: m.HTTPEndpoint, HopLimit: m.HTTPPutResponseHopLimit, Tokens: m.HTTPTokens},
		Selected:   selected,
		Conditions: observed(c.Status.Conditions),
	}
}

func nodeClassName(c snapshot.NodeClass) string { return c.Name }

func classRef(r kube.NodeClassRef) snapshot.ClassRef {
	return snapshot.ClassRef{Group: r.Group, Kind: r.Kind, Name: r.Name}
}

func selectorTerm(t kube.SelectorTerm) snapshot.SelectorTerm {
	return snapshot.SelectorTerm{ID: t.ID, Name: t.Name, Alias: t.Alias, SSMParameter: t.SSMParameter, Owner: t.Owner, Tags: t.Tags}
}

func amounts(list map[string]kube.Quantity) snapshot.Amounts {
	if len(list) == 0 {
		return nil
	}
	out := make(snapshot.Amounts, len(list))
	for name, q := range list {
		out[name] = string(q)
	}
	return out
}

// maxMessage bounds what is kept of a condition's message, in runes: Karpenter
// cuts its own at 300, the API takes 32,768.
const maxMessage = 2000

func cutMessage(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	runes := []rune(message)
	return string(runes[:min(len(runes), maxMessage)])
}

func observed(list []kube.ObservedCondition) map[string]snapshot.ObservedCondition {
	if len(list) == 0 {
		return nil
	}
	out := make(map[string]snapshot.ObservedCondition, len(list))
	for _, c := range list {
		out[c.Type] = snapshot.ObservedCondition{
			Condition:  snapshot.Condition{Status: c.Status, Reason: c.Reason, Message: cutMessage(c.Message), Since: c.LastTransitionTime},
			Generation: c.ObservedGeneration,
		}
	}
	return out
}
