// Package kubernetes holds the sources that are read of a cluster's own API, each
// with its right in the cluster.
package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/gather/source"
	"rollcall/shared/kube"
	"rollcall/shared/network/address"
	"rollcall/shared/network/branch"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// Sources are all of them.
func Sources() []source.Source {
	return []source.Source{
		nodes(), pods(), awsNodes(), awsAuth(), csrs(), nodeEvents(), eniConfigs(), persistentVolumes(), claims(), podsWaiting(), podEvents(), podsOnNodes(),
		nodePools(), nodeClaims(), ec2NodeClasses(), autoNodeClasses(), poolEvents(),
	}
}

// awsNode is the VPC CNI's container.
const awsNode = "aws-node"

// withClient reads with the client of the cluster's API, where there is one.
func withClient(read func(context.Context, *source.View, *kube.Client) (source.Store, error)) source.Read {
	return func(ctx context.Context, v *source.View) (source.Store, error) {
		if v.Connect != nil {
			return nil, v.Connect
		}
		return read(ctx, v, v.Kube)
	}
}

// forbidden reports whether an error is the refusal of an authenticated caller.
func forbidden(err error) bool {
	var status *kube.StatusError
	return errors.As(err, &status) && status.Code == http.StatusForbidden
}

// awsAuth is the ConfigMap that maps roles to users.
func awsAuth() source.Source {
	return source.Source{
		Name: snapshot.AWSAuthMap,
		Kube: []spec.KubeRule{
			{Namespace: "kube-system", Resources: []string{"configmaps"}, Names: []string{"aws-auth"}, Verbs: []string{"get"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			return readAWSAuth(ctx, client)
		}),
	}
}

func readAWSAuth(ctx context.Context, client *kube.Client) (source.Store, error) {
	m, err := client.AWSAuth(ctx)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return source.Nothing, nil
	}
	return func(s *snapshot.Snapshot) {
		s.AWSAuth = &snapshot.AWSAuth{MapRoles: m.Data["mapRoles"], MapUsers: m.Data["mapUsers"]}
	}, nil
}

// awsNodes is the VPC CNI's DaemonSet, with the role of its service account.
func awsNodes() source.Source {
	return source.Source{
		Name: snapshot.AWSNode,
		Kube: []spec.KubeRule{
			{Namespace: "kube-system", Group: "apps", Resources: []string{"daemonsets"}, Names: []string{"aws-node"}, Verbs: []string{"get"}},
			{Namespace: "kube-system", Resources: []string{"serviceaccounts"}, Names: []string{"aws-node"}, Verbs: []string{"get"}},
		},
		Read: withClient(readCNI),
	}
}

// roleAnnotation names the IAM role of a service account (IRSA).
const roleAnnotation = "eks.amazonaws.com/role-arn"

// readCNI reads the DaemonSet and its service account. Without the second its
// role is not known, and none would look like the node's own.
func readCNI(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
	set, err := client.CNIDaemonSet(ctx)
	if err != nil {
		return nil, err
	}
	if set == nil {
		return source.Nothing, nil
	}
	account, err := client.CNIServiceAccount(ctx)
	if err != nil {
		return nil, source.CallError{Call: source.Request(v.Source.Kube[1]), Err: err}
	}
	found := cni(*set, account)
	return func(s *snapshot.Snapshot) { s.CNI = &found }, nil
}

func cni(set kube.DaemonSet, account *kube.ServiceAccount) snapshot.CNI {
	out := snapshot.CNI{Desired: set.Status.DesiredNumberScheduled, Ready: set.Status.NumberReady, Env: map[string]string{}}
	for _, c := range set.Spec.Template.Spec.Containers {
		if c.Name != awsNode {
			continue
		}
		out.Image = c.Image
		for _, e := range c.Env {
			out.Env[e.Name] = e.Value
		}
	}
	if account != nil {
		out.Role = strings.TrimSpace(account.Metadata.Annotations[roleAnnotation])
	}
	return out
}

// pods are those of aws-node.
func pods() source.Source {
	return source.Source{
		Name: snapshot.Pods,
		Kube: []spec.KubeRule{
			{Namespace: "kube-system", Resources: []string{"pods"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			list, err := client.CNIPods(ctx)
			return source.Keep(source.Each(list, pod), err, func(x snapshot.Pod) string { return x.Namespace + "/" + x.Name }, func(s *snapshot.Snapshot) *[]snapshot.Pod { return &s.Pods })
		}),
	}
}

func pod(p kube.Pod) snapshot.Pod {
	out := snapshot.Pod{
		Namespace: p.Metadata.Namespace,
		Name:      p.Metadata.Name,
		Node:      p.Spec.NodeName,
		Phase:     p.Status.Phase,
		Message:   p.Status.Message,
	}
	for _, c := range p.Status.InitContainerStatuses {
		converted := container(c)
		converted.Init = true
		out.Containers = append(out.Containers, converted)
	}
	for _, c := range p.Status.ContainerStatuses {
		out.Containers = append(out.Containers, container(c))
	}
	out.Identity = podCredentials(p)
	return out
}

// podCredentials are what the webhook put into the pod of aws-node (README of
// github.com/aws/amazon-eks-pod-identity-webhook): for a role of the service
// account AWS_ROLE_ARN and the volume aws-iam-token; for a Pod Identity
// association AWS_CONTAINER_CREDENTIALS_FULL_URI and the volume
// eks-pod-identity-token. It sees pods only when they are made.
func podCredentials(p kube.Pod) snapshot.PodCredentials {
	var c snapshot.PodCredentials
	for _, container := range p.Spec.Containers {
		if container.Name != "aws-node" {
			continue
		}
		c.Told = true
		for _, v := range container.Env {
			switch v.Name {
			case "AWS_ROLE_ARN":
				c.Role = v.Value
			case "AWS_CONTAINER_CREDENTIALS_FULL_URI":
				c.ByAssociation = true
			}
		}
	}
	for _, v := range p.Spec.Volumes {
		c.ByAssociation = c.ByAssociation || v.Name == "eks-pod-identity-token"
	}
	return c
}

func container(c kube.ContainerStatus) snapshot.Container {
	out := snapshot.Container{Name: c.Name, Ready: c.Ready, Restarts: c.RestartCount}
	switch s := c.State; {
	case s.Waiting != nil:
		out.State, out.Reason, out.Message = "waiting", s.Waiting.Reason, s.Waiting.Message
	case s.Terminated != nil:
		out.State, out.Reason, out.Message = "terminated", s.Terminated.Reason, s.Terminated.Message
		out.ExitCode = s.Terminated.ExitCode
	case s.Running != nil:
		out.State = "running"
	}
	if t := c.LastState.Terminated; t != nil {
		out.Last, out.LastMessage = t.Reason, t.Message
		if out.Last == "" {
			out.Last = "Terminated" // empty would say that it never ended
		}
		if out.State != "terminated" {
			out.ExitCode = t.ExitCode
		}
	}
	return out
}

// claims are the PersistentVolumeClaims of all namespaces.
func claims() source.Source {
	return source.Source{
		Name: snapshot.ClaimsOf,
		Kube: []spec.KubeRule{
			{Resources: []string{"persistentvolumeclaims"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			list, err := client.PersistentVolumeClaims(ctx)
			return source.Keep(source.Each(list, claim), err, snapshot.Claim.Key, func(s *snapshot.Snapshot) *[]snapshot.Claim { return &s.Claims })
		}),
	}
}

func claim(c kube.PersistentVolumeClaim) snapshot.Claim {
	return snapshot.Claim{
		Namespace: c.Metadata.Namespace, Name: c.Metadata.Name, Phase: c.Status.Phase,
		Volume: c.Spec.VolumeName, Class: c.Spec.StorageClassName,
	}
}

// csrs are the certificate signing requests.
func csrs() source.Source {
	return source.Source{
		Name: snapshot.CSRs,
		Kube: []spec.KubeRule{
			{Group: "certificates.k8s.io", Resources: []string{"certificatesigningrequests"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			list, err := client.CSRs(ctx)
			if forbidden(err) {
				err = source.NotGrantedError{What: "certificate signing requests"}
			}
			return source.Keep(source.Each(list, csr), err, func(x snapshot.CSR) string { return x.Name }, func(s *snapshot.Snapshot) *[]snapshot.CSR { return &s.CSRs })
		}),
	}
}

func csr(c kube.CSR) snapshot.CSR {
	out := snapshot.CSR{Name: c.Metadata.Name, Signer: c.Spec.SignerName, Username: c.Spec.Username, Created: c.Metadata.CreationTimestamp}
	for _, condition := range c.Status.Conditions {
		switch condition.Type {
		case "Approved":
			out.Approved = true
		case "Denied":
			out.Denied = true
		}
	}
	return out
}

// eniConfigs are where pods have their addresses.
func eniConfigs() source.Source {
	return source.Source{
		Name:  snapshot.ENIConfigsOf,
		Needs: []snapshot.Source{snapshot.AWSNode},
		Kube: []spec.KubeRule{
			{Group: "crd.k8s.amazonaws.com", Resources: []string{"eniconfigs"}, Verbs: []string{"list"}},
		},
		Read: withClient(readENIConfigs),
	}
}

// readENIConfigs asks for nothing without custom networking: then the objects do
// nothing.
func readENIConfigs(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.AWSNode) {
		return nil, v.Unread(snapshot.AWSNode)
	}
	if !address.SettingsOf(v.Snapshot.CNI).Elsewhere {
		return source.Nothing, nil
	}
	list, err := client.ENIConfigs(ctx)
	if forbidden(err) {
		err = source.NotGrantedError{What: "ENIConfigs"}
	}
	return source.Keep(source.Each(list, eniConfig), err, func(x snapshot.ENIConfig) string { return x.Name },
		func(s *snapshot.Snapshot) *[]snapshot.ENIConfig { return &s.ENIConfigs })
}

func eniConfig(c kube.ENIConfig) snapshot.ENIConfig {
	return snapshot.ENIConfig{Name: c.Metadata.Name, Subnet: c.Spec.Subnet, Groups: c.Spec.SecurityGroups}
}

// Karpenter's objects can be listed with the rights of deploy/clusterrole.yaml
// alone: of EKS's access policies those that read custom resources read Secrets
// too, or write (User Guide, "Review access policy permissions"). A cluster whose
// role is older than these rights answers as one without Karpenter would, for
// the API asks who may before it looks whether there is such a kind: that it
// may not is no fault where nothing shows Karpenter, and the checks say it
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
			// A cluster whose role is older than this right still shows NodeClaims.
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
		Replicas: p.Spec.Replicas, Own: p.Metadata.Labels, Labels: template.Metadata.Labels, Requirements: source.Each(template.Spec.Requirements, requirement),
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
		Labels: c.Metadata.Labels, Tags: c.Spec.Tags,
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

// nodeEvents are the Kubernetes events about nodes.
func nodeEvents() source.Source {
	return source.Source{
		Name: snapshot.NodeEventsOf,
		Kube: []spec.KubeRule{
			{Namespace: "default", Resources: []string{"events"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			list, err := client.NodeEvents(ctx)
			return keepEvents(source.Each(list, nodeEvent), err)
		}),
	}
}

func nodeEvent(e kube.Event) snapshot.NodeEvent {
	out := snapshot.NodeEvent{Node: e.InvolvedObject.Name, Reason: e.Reason, Message: e.Message}
	times := []time.Time{e.LastTimestamp, e.EventTime}
	if e.Series != nil {
		times = append(times, e.Series.LastObservedTime)
	}
	for _, t := range times {
		if t.After(out.Last) {
			out.Last = t
		}
	}
	if out.Last.IsZero() {
		out.Last = e.Metadata.CreationTimestamp
	}
	return out
}

// keepEvents stores the events by node, in the order in which they happened.
func keepEvents(list []snapshot.NodeEvent, err error) (source.Store, error) {
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b snapshot.NodeEvent) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), a.Last.Compare(b.Last), strings.Compare(a.Reason, b.Reason))
	})
	return func(s *snapshot.Snapshot) { s.NodeEvents = list }, nil
}

// nodes are the cluster's.
func nodes() source.Source {
	return source.Source{
		Name: snapshot.Nodes,
		Kube: []spec.KubeRule{
			{Resources: []string{"nodes"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			list, err := client.Nodes(ctx)
			return source.Keep(source.Each(list, node), err, func(x snapshot.Node) string { return x.Name }, func(s *snapshot.Snapshot) *[]snapshot.Node { return &s.Nodes })
		}),
	}
}

const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"

func node(n kube.Node) snapshot.Node {
	out := snapshot.Node{
		Name:     n.Metadata.Name,
		Instance: instanceOf(n.Spec.ProviderID),
		Created:  n.Metadata.CreationTimestamp,
		Kubelet:  n.Status.NodeInfo.KubeletVersion,
		Labels:   n.Metadata.Labels, Annotations: n.Metadata.Annotations,
		Cordoned: n.Spec.Unschedulable,
		Zone:     zoneOfNode(n),
	}
	for _, t := range n.Spec.Taints {
		if t.Key == uninitialized {
			out.Uninitialized = true
		}
		out.Taints = append(out.Taints, t.Key)
		out.Repels = append(out.Repels, snapshot.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
	}
	slices.Sort(out.Taints)
	out.Taints = slices.Compact(out.Taints) // one key can have several effects
	for _, c := range n.Status.Conditions {
		if out.Conditions == nil {
			out.Conditions = map[string]snapshot.Condition{}
		}
		out.Conditions[c.Type] = snapshot.Condition{Status: c.Status, Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime}
	}
	out.Ready = out.Conditions["Ready"]
	if pods, err := strconv.Atoi(n.Status.Capacity.Pods); err == nil {
		out.MaxPods = pods
	}
	if branches, err := strconv.Atoi(n.Status.Capacity.Branches); err == nil {
		out.Branches = branches
	}
	for _, a := range n.Status.Addresses {
		ip, err := netip.ParseAddr(a.Address)
		// A dual-stack node has one of each family; the first is its own.
		if a.Type == "InternalIP" && err == nil && !out.InternalIP.IsValid() {
			out.InternalIP = ip
		}
	}
	return out
}

// zoneOfNode is what the node's label says, else its provider id: a node that
// has just registered has no label yet.
func zoneOfNode(n kube.Node) string {
	for _, label := range []string{"topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"} {
		if zone := n.Metadata.Labels[label]; zone != "" {
			return zone
		}
	}
	path, ok := strings.CutPrefix(n.Spec.ProviderID, "aws:///")
	if !ok || instanceOf(n.Spec.ProviderID) == "" {
		return ""
	}
	return path[:strings.Index(path+"/", "/")]
}

// instanceOf takes the instance id from "aws:///us-west-2a/i-0ef3c1b2a4d5968f1".
// Fargate and hybrid nodes have other forms and no instance.
func instanceOf(providerID string) string {
	if !strings.HasPrefix(providerID, "aws://") {
		return ""
	}
	id := providerID[strings.LastIndex(providerID, "/")+1:]
	if !strings.HasPrefix(id, "i-") {
		return ""
	}
	return id
}

// persistentVolumes are the cluster's.
func persistentVolumes() source.Source {
	return source.Source{
		Name: snapshot.PersistentVolumes,
		Kube: []spec.KubeRule{
			{Resources: []string{"persistentvolumes"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			list, err := client.PersistentVolumes(ctx)
			return source.Keep(source.Each(list, persistentVolume), err, func(x snapshot.PersistentVolume) string { return x.Name },
				func(s *snapshot.Snapshot) *[]snapshot.PersistentVolume { return &s.PersistentVolumes })
		}),
	}
}

// The drivers whose volumes are EBS volumes: the CSI driver, and that of EKS
// Auto Mode.
const (
	ebsDriver     = "ebs.csi.aws.com"
	ebsAutoDriver = "ebs.csi.eks.amazonaws.com"
)

// zoneLabels are the labels by which a PersistentVolume is tied to a zone, by
// driver and version.
func zoneLabels() []string {
	return []string{
		"topology.kubernetes.io/zone", "topology.ebs.csi.aws.com/zone", "topology.ebs.csi.eks.amazonaws.com/zone",
		"failure-domain.beta.kubernetes.io/zone",
	}
}

func persistentVolume(p kube.PersistentVolume) snapshot.PersistentVolume {
	out := snapshot.PersistentVolume{Name: p.Metadata.Name, Phase: p.Status.Phase, Class: p.Spec.StorageClassName}
	if c := p.Spec.ClaimRef; c != nil && c.Name != "" {
		out.Claim = c.Namespace + "/" + c.Name
	}
	switch {
	case p.Spec.CSI != nil && (p.Spec.CSI.Driver == ebsDriver || p.Spec.CSI.Driver == ebsAutoDriver):
		out.Volume = volumeID(p.Spec.CSI.VolumeHandle)
	case p.Spec.AWS != nil:
		out.Volume = volumeID(p.Spec.AWS.VolumeID)
	}
	if a := p.Spec.NodeAffinity; a != nil && a.Required != nil {
		out.Zones = zonesOf(a.Required.Terms)
	}
	return out
}

// volumeID takes the id out of "vol-0abc" or "aws://us-east-1a/vol-0abc".
func volumeID(handle string) string {
	id := handle[strings.LastIndex(handle, "/")+1:]
	number, ok := strings.CutPrefix(id, "vol-")
	if !ok || number == "" || strings.Trim(number, "0123456789abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return id
}

// zonesOf are the zones that a node affinity allows. One of its terms must
// hold: where one names no zone, all zones are allowed, and nil is returned.
func zonesOf(terms []kube.NodeSelectorTerm) []string {
	var zones []string
	for _, t := range terms {
		var allowed []string
		for _, r := range t.Labels {
			if slices.Contains(zoneLabels(), r.Key) && r.Operator == "In" {
				allowed = append(allowed, r.Values...)
			}
		}
		if len(allowed) == 0 {
			return nil
		}
		zones = append(zones, allowed...)
	}
	return source.Distinct(zones)
}

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
		stuck = append(stuck, snapshot.StuckPod{Pod: w.Key(), Owner: w.Owner, Node: p.Spec.NodeName, Since: w.Since()})
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
		waits = append(waits, snapshot.BranchWait{Pod: w.Key(), Owner: w.Owner, Node: p.Spec.NodeName, Since: w.Since()})
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
