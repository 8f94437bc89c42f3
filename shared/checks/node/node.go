// Package node holds the checks of node: what Kubernetes says.
package node

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/network/branch"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// Checks are the checks of the family.
func Checks() []check.Check {
	return []check.Check{
		check.New(checkid.NodeCNINotReady, runCNINotReady, snapshot.Nodes, snapshot.AWSNode, snapshot.Pods).
			Using(snapshot.WaitingPods, snapshot.PodEventsOf),
		check.New(checkid.NodeCSRPending, runCSRPending, snapshot.Nodes, snapshot.CSRs),
		// NotInitialized: a NodeClaim is initialized when its node is Ready, has none of
		// the startup taints, none of the taints of a cloud provider or a kubelet that
		// starts, and all resources that were asked for (kubernetes-sigs/karpenter
		// pkg/controllers/nodeclaim/lifecycle/initialization.go). Nothing ends the wait:
		// only launch and registration have a clock (liveness.go).
		check.New(checkid.NodeNotInitialized, notInitialized, snapshot.Clusters).Using(snapshot.NodePoolsOf,
			snapshot.NodeClaimsOf, snapshot.Nodes, snapshot.NodeEventsOf),
		check.New(checkid.NodeNotReady, notReady, snapshot.Nodes),
		check.New(checkid.NodeNotRegistered, notRegistered, snapshot.Instances, snapshot.Nodes),
		check.New(checkid.NodeUninitialized, uninitialized, snapshot.Nodes),
	}
}

// trouble is a node whose network plugin does not work.
type trouble struct {
	id   string // of the instance
	node *snapshot.Node
	pod  *snapshot.Pod
	// what is the container's reason, e.g. ImagePullBackOff; said is in full.
	what, said string
	sure       bool
}

func runCNINotReady(s *check.View) []check.Finding {
	l := s.Index()
	pods := map[string]*snapshot.Pod{}
	for i := range s.Pods {
		if strings.HasPrefix(s.Pods[i].Name, "aws-node") {
			pods[s.Pods[i].Node] = &s.Pods[i]
		}
	}
	starving := map[string]bool{}
	for _, i := range s.Starving() {
		starving[i.ID] = true
	}
	var ready []string
	var list []trouble
	for _, id := range s.Scope.Instances {
		n := l.Nodes[id]
		switch {
		case n == nil, l.Terminated(id), l.Leaving(id):
		case n.Joined() && starving[id]:
			// Its network counts as ready: the plugin's configuration was written before.
			if t, found := troubleOf(pods[n.Name]); found && t.sure {
				t.id, t.node = id, n
				list = append(list, t)
				continue
			}
			ready = append(ready, id)
		case n.Joined():
			ready = append(ready, id)
		case !l.Due(id), !networkDown(n):
		case s.CNI == nil && s.Cluster.AutoMode: // the plugin is part of the system there
		case s.CNI == nil:
			list = append(list, trouble{id: id, node: n, what: "no aws-node", said: "the cluster has no DaemonSet aws-node"})
		default:
			if t, found := troubleOf(pods[n.Name]); found {
				t.id, t.node = id, n
				list = append(list, t)
			}
		}
	}
	findings := check.Passing(nil, s.Cluster.Name, ready)
	if len(list) > 0 {
		findings = append(findings, cniNotReadyFinding(l, list))
	}
	return findings
}

// networkDown reports whether a node waits for its network plugin. Kubernetes has
// no code for it: the reason is KubeletNotReady for all kinds, and the message
// is the container runtime's ("container runtime network not ready:
// NetworkReady=false reason:NetworkPluginNotReady message:Network plugin
// returns error: cni plugin not initialized").
func networkDown(n *snapshot.Node) bool {
	text := strings.ToLower(n.Ready.Message)
	return slices.ContainsFunc([]string{"networkready=false", "networkpluginnotready", "cni plugin not initialized", "cni config uninitialized", "network plugin is not ready"}, func(part string) bool {
		return strings.Contains(text, part)
	})
}

// troubleOf is what is wrong with a pod of aws-node; nil is a pod that is not
// there. A pod that is well is no trouble.
func troubleOf(p *snapshot.Pod) (trouble, bool) {
	if p == nil {
		return trouble{what: "no pod", said: "no pod of aws-node is on the node"}, true
	}
	t := trouble{pod: p}
	for _, c := range p.Containers {
		switch {
		case c.State == "waiting" && starting(c.Reason):
			if t.what == "" {
				t.what, t.said = cmp.Or(c.Reason, "waiting"), ofContainer(c, c.Reason, c.Message)
			}
		case c.State == "waiting":
			t.what, t.said, t.sure = c.Reason, ofContainer(c, c.Reason, c.Message), true
			if c.Last != "" {
				t.said += fmt.Sprintf("; it exited before with %s: %s", c.Last, cmp.Or(check.Clip(c.LastMessage), "no message"))
			}
			return t, true
		case c.State == "terminated" && (c.ExitCode != 0 || !c.Init):
			t.what, t.said, t.sure = cmp.Or(c.Reason, "Error"), ofContainer(c, fmt.Sprintf("%s, exit code %d", cmp.Or(c.Reason, "ended"), c.ExitCode), c.Message), true
			return t, true
		case c.State == "running" && !c.Ready && !c.Init && c.Restarts > 0:
			t.what, t.said, t.sure = cmp.Or(c.Last, "restarting"), ofContainer(c, fmt.Sprintf("restarted, the last time after %s", cmp.Or(c.Last, "an exit without a reason")), c.LastMessage), true
			return t, true
		case c.State == "running" && !c.Ready && !c.Init && t.what == "":
			t.what, t.said = "not ready", ofContainer(c, "is running and not ready", c.Message)
		}
	}
	if t.what == "" && (p.Phase == "Failed" || p.Phase == "Pending") {
		t.what, t.said, t.sure = p.Phase, fmt.Sprintf("pod %s is %s: %s", p.Name, p.Phase, cmp.Or(check.Clip(p.Message), "no message")), p.Phase == "Failed"
	}
	return t, t.what != ""
}

// starting tells the reasons that a container has while it is well on its way.
func starting(reason string) bool {
	return reason == "" || reason == "ContainerCreating" || reason == "PodInitializing"
}

func ofContainer(c snapshot.Container, reason, message string) string {
	text := fmt.Sprintf("container %s: %s", c.Name, cmp.Or(reason, "waiting"))
	if message != "" {
		text += ": " + check.Clip(message)
	}
	return text
}

// cniNotReadyFinding is one finding over all nodes: what most of them have leads.
func cniNotReadyFinding(l check.InstanceIndex, list []trouble) check.Finding {
	counts := map[string]int{}
	for _, t := range list {
		counts[t.what]++
	}
	first := slices.MaxFunc(list, func(a, b trouble) int {
		return cmp.Or(cmp.Compare(one(a.sure), one(b.sure)), cmp.Compare(counts[a.what], counts[b.what]), strings.Compare(b.what+b.id, a.what+a.id))
	})
	f := check.Finding{Outcome: check.Fail, Resource: check.AWSNode}
	const limit = 5
	for n, t := range list {
		f.Covers = append(f.Covers, t.id)
		if n < limit {
			f = f.Noting(t.node.Name, t.said)
		}
	}
	if len(list) > limit {
		f = f.Notingf("Nodes", "and %d more", len(list)-limit)
	}
	f = f.Noting(first.node.Name, "Ready is "+cmp.Or(first.node.Ready.Status, "not reported")+": "+check.Clip(first.node.Ready.Message))
	f.Instances = slices.Clone(f.Covers)
	f.Resources = []string{first.node.Name}
	if !first.sure {
		// Another plugin may be meant to do it, or the pod may still come up.
		f.Confidence = check.Likely
	}
	f.Title = check.Title("%s: aws-node does not start (%s)", check.Subject(f.Covers, "node"), first.what)
	f.Why = fmt.Sprintf("%s registered, and its network is not ready: %s.", first.node.Name, first.said)
	f.Fix = check.Fix{
		Text:    "Read the pod's events and its log.",
		Command: shell.Command("kubectl", "-n", "kube-system", "get", "pods", "-l", "k8s-app=aws-node", "-o", "wide", "--field-selector", "spec.nodeName="+first.node.Name),
		Console: l.S.EC2Link("InstanceDetails:instanceId=" + first.id),
	}
	switch {
	case l.S.CNI == nil:
		f.Title = check.Title("%s: no network plugin; there is no DaemonSet aws-node", check.Subject(f.Covers, "node"))
		f.Fix.Text = "Install the add-on vpc-cni. If another network plugin should do it, check its pods on the node."
		f.Fix.Command = l.S.AWSCommand("eks create-addon", "--cluster-name", l.S.Cluster.Name, "--addon-name", "vpc-cni")
	case first.pod == nil:
		f.Fix.Text = "Check why the DaemonSet puts no pod on the node: its node selector, affinity and tolerations, and a quota of pods."
		f.Fix.Command = "kubectl -n kube-system describe daemonset aws-node"
	case imageFails(first):
		f.Fix.Text = "The image cannot be pulled: check the node's path to ECR and S3, the node role's ECR actions, and the image's registry and region."
		f.Fix.Command = describePod(first.pod)
		if !slices.ContainsFunc(list, func(t trouble) bool { return !imageFails(t) }) {
			f.NarrowedAfter = imageCauses()
		}
	default:
		f.Fix.Text = "Read the log: usually the plugin cannot reach EC2's API, lacks an IAM action, or finds no free address."
		f.Fix.Command = shell.All(describePod(first.pod),
			shell.Command("kubectl", "-n", cmp.Or(first.pod.Namespace, "kube-system"), "logs", first.pod.Name, "-c", "aws-node", "--tail", "50"))
	}
	return f
}

// imageFails reports whether the pod never ran: the kubelet's reasons ErrImagePull,
// ImagePullBackOff, InvalidImageName and their like (pkg/kubelet/images/types.go
// of Kubernetes).
func imageFails(t trouble) bool { return strings.Contains(t.what, "Image") }

// imageCauses are what keeps an image from being pulled: the way to the
// registry, and the node's own role. The pod runs in the node's network: that
// there is no address for pods is no reason, nor is its own identity.
func imageCauses() []checkid.ID { return []checkid.ID{checkid.AnyJoinCause, checkid.IAMRolePolicies} }

func describePod(p *snapshot.Pod) string {
	return shell.Command("kubectl", "-n", cmp.Or(p.Namespace, "kube-system"), "describe", "pod", p.Name)
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// EKS approves serving certificates within seconds. A request that waits this
// long is not on its way any more.
const csrWait = 5 * time.Minute

// nodeUser is how the user name of a node begins.
const nodeUser = "system:node:"

func runCSRPending(s *check.View) []check.Finding {
	l := s.Index()
	pending := stuckCSRs(s)
	var list []check.Finding
	var well []string
	for _, id := range s.Scope.Instances {
		n := l.Nodes[id]
		if n == nil || l.Terminated(id) || l.Leaving(id) {
			continue
		}
		csr, stuck := pending[nodeUser+n.Name]
		if !stuck {
			well = append(well, id)
			continue
		}
		// It keeps no node from joining: nothing is explained by it.
		list = append(list, csrPendingFinding(l, id, csr, check.Subject([]string{id}, "node")))
	}
	list = check.Passing(list, s.Cluster.Name, well)
	for _, user := range strangers(pending) {
		csr := pending[user]
		f := csrPendingFinding(l, user, csr, user)
		f.Covers = []string{s.Cluster.Name}
		f.Title = check.Title("A kubelet requests its certificate as %s", user)
		f.Why = fmt.Sprintf("%s requests a kubelet's serving certificate as %s, which is not a node name: the node role is mapped to that user too. Nothing approves it.", csr.Name, user)
		f.Fix.Text = fmt.Sprintf("Remove the mapping of the node role to %s (access entry or aws-auth), and replace the node.", user)
		list = append(list, f)
	}
	return list
}

// stuckCSRs are the newest serving requests by user, where those still wait.
func stuckCSRs(s *check.View) map[string]snapshot.CSR {
	newest := map[string]snapshot.CSR{}
	for _, c := range s.CSRs {
		if c.Signer != "kubernetes.io/kubelet-serving" || c.Username == "" {
			continue
		}
		if have, ok := newest[c.Username]; !ok || c.Created.After(have.Created) {
			newest[c.Username] = c
		}
	}
	for user, c := range newest {
		// A request without a date is never old.
		if c.Approved || c.Denied || c.Created.IsZero() || s.Time.Sub(c.Created) < csrWait {
			delete(newest, user)
		}
	}
	return newest
}

// strangers are the users that are no nodes.
func strangers(pending map[string]snapshot.CSR) []string {
	var list []string
	for user := range pending {
		if !strings.HasPrefix(user, nodeUser) {
			list = append(list, user)
		}
	}
	slices.Sort(list)
	return list
}

func csrPendingFinding(l check.InstanceIndex, resource string, csr snapshot.CSR, who string) check.Finding {
	return check.Failed(resource, resource).
		Titled("%s waits for its serving certificate", who).
		Because("%s has waited for approval since %s. Until then logs, exec and webhooks to the node fail with a TLS error.", csr.Name, csr.Created.UTC().Format(time.TimeOnly+" UTC")).
		Notingf(csr.Name, "%s, requested by %s, pending", csr.Signer, csr.Username).
		ToFix("Review the request first (the command): the requestor must be the node, the common name must be the same, the SANs must be names and addresses of that very instance, and the usages only digital signature, key encipherment and server auth. Then check how the node role is mapped: EKS approves only requests under the node's own name. Only if all of it is correct and the node is yours, approve it with kubectl certificate approve and the request's name, quoted as in the command.").
		Command(lookAtCSR(csr)).Console(l.S.ClusterLink())
}

// lookAtCSR shows who asks, the common name and the SANs, and then the usages,
// which describe leaves out (kubectl, pkg/describe,
// describeCertificateSigningRequest). Kubernetes lets a request's name hold
// anything but "/" and "%" (ValidatePathSegmentName): what begins with a hyphen
// is no option behind "--".
func lookAtCSR(csr snapshot.CSR) string {
	return shell.All(
		shell.Command("kubectl", "describe", "csr", "--", csr.Name),
		shell.Command("kubectl", "get", "csr", "-o", "jsonpath={.spec.usages}", "--", csr.Name))
}

// How long a node that is Ready may wait: agents that take a startup taint away
// need a minute or two, the driver of a GPU may be compiled first.
const (
	taintStays  = 5 * time.Minute
	driverComes = 10 * time.Minute
)

func notInitialized(s *check.View) []check.Finding {
	if blocked, unread := check.KarpenterUnread(s, snapshot.NodePoolsOf, snapshot.NodeClaimsOf); unread {
		return []check.Finding{check.Unread(s.Cluster.Name, []string{s.Cluster.Name}, blocked...)}
	}
	if !s.Has(snapshot.NodeClaimsOf) || !s.Has(snapshot.Nodes) {
		return nil // nothing shows Karpenter here, or the nodes have a failure of their own
	}
	nodes := map[string]*snapshot.Node{}
	for i := range s.Nodes {
		nodes[s.Nodes[i].Name] = &s.Nodes[i]
	}
	type group struct{ pool, reason, message string }
	var v check.Verdicts
	var order []group
	stuck := map[group][]snapshot.NodeClaim{}
	for _, c := range s.NodeClaims {
		covers := []string{check.ClaimKey(c.Name)}
		initialized := c.Conditions["Initialized"]
		switch {
		case initialized.Status == "True":
			v.Pass(cmp.Or(c.Pool, c.Name), covers, check.Evidence{What: c.Node, Value: "is initialized"})
		case waitsTooLong(s, c, nodes[c.Node]):
			g := group{cmp.Or(c.Pool, c.Name), initialized.Reason, initialized.Message}
			if stuck[g] == nil {
				order = append(order, g)
			}
			stuck[g] = append(stuck[g], c)
		}
	}
	// One finding for each pool, by what most of its nodes wait for.
	slices.SortStableFunc(order, func(a, b group) int {
		return cmp.Or(strings.Compare(a.pool, b.pool), cmp.Compare(len(stuck[b]), len(stuck[a])), strings.Compare(a.message, b.message))
	})
	for from := 0; from < len(order); {
		to := from
		var list []snapshot.NodeClaim
		for ; to < len(order) && order[to].pool == order[from].pool; to++ {
			list = append(list, stuck[order[to]]...)
		}
		v.Fail(notInitializedFinding(s, order[from].pool, list))
		from = to
	}
	if len(s.NodeClaims) == 0 {
		v.Pass(s.Cluster.Name, []string{s.Cluster.Name})
	}
	return v.Findings()
}

// waitsTooLong reports whether a claim's node is Ready, and Karpenter has waited for
// something else for minutes.
func waitsTooLong(s *check.View, c snapshot.NodeClaim, n *snapshot.Node) bool {
	registered, initialized := c.Conditions["Registered"], c.Conditions["Initialized"]
	if c.Deleting || n == nil || n.Ready.Status != "True" || registered.Status != "True" {
		return false
	}
	span := taintStays
	switch initialized.Reason {
	case "StartupTaintsExist", "KnownEphemeralTaintsExist":
	case "ResourceNotRegistered", "DRADriverPoolsNotPublished":
		span = driverComes
	default:
		return false // Karpenter waits for the node itself, or has not looked yet
	}
	// The condition may have been Unknown since the claim was made: the node
	// tells since when nothing else is waited for.
	return initialized.Current(c.Generation) && s.Time.Sub(n.Ready.Since) >= span && s.Time.Sub(registered.Since) >= span
}

func notInitializedFinding(s *check.View, pool string, list []snapshot.NodeClaim) check.Finding {
	first := list[0]
	c := first.Conditions["Initialized"]
	var hosts, covers, resources []string
	for _, claim := range list {
		// A title is cut at its end; the domain tells nothing there.
		host, _, _ := strings.Cut(claim.Node, ".")
		hosts = append(hosts, host)
		covers = append(covers, check.ClaimKey(claim.Name))
		resources = append(resources, claim.Node)
		if claim.Instance != "" && claim.Instance != claim.Node {
			resources = append(resources, claim.Instance)
		}
	}
	what, next := waitedFor(c.Reason)
	f := check.Failed(pool, covers...).Involving(resources...).
		Titled("%s %s not initialized: %s", check.Subject(hosts, "node"), check.Verb(hosts, "is", "are"), what).
		Because("%s (NodeClaim %s of NodePool %s) is Ready since %s, but not initialized: %s.",
			first.Node, first.Name, pool, check.ClockTime(readySince(s, first.Node)), check.Clip(strings.TrimSuffix(cmp.Or(c.Message, c.Reason), "."))).
		ToFix("%s", next).Command(shell.Command("kubectl", "describe", "node", first.Node)).
		Console(s.ClusterLink())
	f.Unconditional = true
	if more := len(list) - 1; more > 0 {
		f.Why += fmt.Sprintf(" So are %d more.", more)
	}
	if e := check.UnsupportedByController(s, first.Node); e != nil && strings.Contains(c.Message, branch.Resource) {
		// It says why itself; what pods lack of branch interfaces is what follows from it.
		f.NarrowedAfter = []checkid.ID{checkid.NodeUninitialized}
		f.Title = check.Title("%s %s not initialized: the VPC resource controller does not support the type", check.Subject(hosts, "node"), check.Verb(hosts, "is", "are"))
		f.Why += fmt.Sprintf(" The VPC resource controller reports: %q.", check.Clip(strings.TrimSuffix(e.Message, ".")))
		f.Fix.Text = "Remove this instance type from the NodePool's requirements, or Karpenter launches it again; other types carry branch interfaces."
		f = f.Noting("Event of "+e.Node, e.Reason+": "+check.Clip(e.Message))
	}
	const most = 5
	for i, claim := range list {
		if i == most {
			f = f.Notingf("More", "%d NodeClaims", len(list)-most)
			break
		}
		c := claim.Conditions["Initialized"]
		value := "Initialized is " + c.Status + ", " + check.Clip(c.Reason)
		if c.Message != "" {
			value += ": " + check.Clip(c.Message)
		}
		f = f.Noting("NodeClaim "+claim.Name, strings.TrimSpace("node "+claim.Node+"; "+value))
	}
	return f
}

// waitedFor is what Karpenter waits for, and what to look at.
func waitedFor(reason string) (what, next string) {
	switch reason {
	case "StartupTaintsExist":
		return "a startup taint was not removed", "Find the agent that should remove the startup taint: does it run on this node, and does it tolerate the taint? If nothing removes the taint, delete it from startupTaints of the NodePool."
	case "KnownEphemeralTaintsExist":
		return "a taint from its start was not removed", "Check what should remove the taint: the cloud controller, or the kubelet."
	case "DRADriverPoolsNotPublished":
		return "a DRA driver has published nothing", "Check the DRA driver's pods on the node, and their logs."
	}
	return "a requested resource is missing", "Check the device plugin's pod on the node and its log, and that the AMI has the driver."
}

func readySince(s *check.View, node string) time.Time {
	for _, n := range s.Nodes {
		if n.Name == node {
			return n.Ready.Since
		}
	}
	return time.Time{}
}

func notReady(s *check.View) []check.Finding {
	l := s.Index()
	var ready []string
	var list []check.Finding
	for _, id := range s.Scope.Instances {
		n := l.Nodes[id]
		switch {
		case n == nil, l.Terminated(id), l.Leaving(id):
		case n.Joined():
			ready = append(ready, id)
		case l.Due(id):
			list = append(list, notReadyFinding(l, id, n))
		}
	}
	return check.Passing(list, s.Cluster.Name, ready)
}

func notReadyFinding(l check.InstanceIndex, id string, n *snapshot.Node) check.Finding {
	status := cmp.Or(n.Ready.Status, "not reported")
	f := check.Failed(id, id).Affecting(id).Involving(id, n.Name).
		Titled("%s registered and is not Ready", id).
		Because("%s registered as %s. Its condition Ready is %s", id, n.Name, status).
		Notingf(n.Name, "Ready is %s (%s): %s", status, cmp.Or(n.Ready.Reason, "no reason"), check.Clip(n.Ready.Message)).
		ToFix("Read the node's conditions and the pods on it, aws-node first.").
		Command(shell.All(shell.Command("kubectl", "describe", "node", n.Name), shell.Command("kubectl", "get", "pods", "-A", "-o", "wide", "--field-selector", "spec.nodeName="+n.Name))).
		Console(l.S.EC2Link("InstanceDetails:instanceId=" + id))
	if n.Ready.Reason != "" {
		f.Why += ": " + n.Ready.Reason
	}
	if n.Ready.Message != "" {
		f.Why += fmt.Sprintf(" (%q)", check.Clip(n.Ready.Message))
	}
	f.Why += "."
	if n.Uninitialized {
		f.Why += " The cloud provider has not initialized it."
		f = f.Noting(n.Name, "has the taint node.cloudprovider.kubernetes.io/uninitialized")
	}
	if i, known := l.Instances[id]; known && i.State != "running" {
		f = f.Noting(id, "is "+i.State)
	}
	return f
}

func notRegistered(s *check.View) []check.Finding {
	l := s.Index()
	var registered []string
	var list []check.Finding
	for _, i := range s.Scoped() {
		switch {
		case l.Nodes[i.ID] != nil:
			registered = append(registered, i.ID)
		case i.Ended(), l.Warm[i.ID], !l.Due(i.ID), l.TakenBack(i): // not expected, or not yet, or not any more
		default:
			list = append(list, notRegisteredFinding(l, i))
		}
	}
	return check.Passing(list, s.Cluster.Name, registered)
}

func notRegisteredFinding(l check.InstanceIndex, i *snapshot.Instance) check.Finding {
	launch := l.Launches[i.ID]
	launched := launch.Started.UTC().Format(time.TimeOnly + " UTC")
	return check.Failed(i.ID, i.ID).Affecting(i.ID).
		Titled("%s has not registered as a node", i.ID).
		// When, never how long ago: the words must not change with each look.
		Because("%s (%s) should have been a node %s after its launch at %s. No node of %s has its id.%s",
			i.ID, i.Type, check.Minutes(launch.Due.Sub(launch.Started)), launched, l.S.Cluster.Name, learned(i, launch)).
		Notingf(i.ID, "%s, %s, %s, %s; launched %s, no node", i.State, i.Type, i.Zone, i.Subnet, launched).
		ToFix("Read the console output of %s.", i.ID).
		Command(l.S.AWSCommand("ec2 get-console-output", "--latest", "--output", "text", "--instance-id", i.ID)).
		Console(l.S.EC2Link("InstanceDetails:instanceId=" + i.ID))
}

// learned says from what the time to join was learned; nothing where it is the
// setting.
func learned(i *snapshot.Instance, launch snapshot.ExpectedJoin) string {
	if launch.Samples == 0 || launch.Usual <= 0 {
		return ""
	}
	return fmt.Sprintf(" 95 of 100 nodes of %s are Ready within %s (%d joins); it had %s.",
		cmp.Or(i.Owner(), "its nodegroup"), check.Precisely(launch.Usual), launch.Samples, check.Precisely(launch.Due.Sub(launch.Started)))
}

func uninitialized(s *check.View) []check.Finding {
	l := s.Index()
	var well []string
	var groups check.Groups[string]
	for _, id := range s.Scope.Instances {
		n := l.Nodes[id]
		switch {
		case n == nil, l.Terminated(id), l.Leaving(id):
		case !n.Uninitialized:
			well = append(well, id)
		case l.Due(id):
			owner := id
			if i := l.Instances[id]; i != nil {
				owner = cmp.Or(i.Owner(), id)
			}
			groups.Add(owner, id)
		}
	}
	list := check.Passing(nil, s.Cluster.Name, well)
	for owner, of := range groups.All() {
		list = append(list, uninitializedFinding(l, owner, of))
	}
	return list
}

func uninitializedFinding(l check.InstanceIndex, owner string, list []string) check.Finding {
	f := check.Failed(owner, list...).Affecting(list...).
		Titled("%s %s not initialized by the cloud provider", check.Subject(list, "node"), check.Verb(list, "is", "are"))
	first := l.Nodes[list[0]]
	f.Why = fmt.Sprintf("%s registered and still has the taint node.cloudprovider.kubernetes.io/uninitialized: the cloud controller has found no instance for it.", first.Name)
	const limit = 5
	for n, id := range list {
		if n == limit {
			f = f.Notingf("Nodes", "and %d more", len(list)-limit)
			break
		}
		value := "node " + l.Nodes[id].Name
		if i := l.Instances[id]; i != nil {
			value += ", private DNS name " + cmp.Or(i.PrivateDNS, "none")
			// The usual fault, where it can be seen.
			if id == list[0] && i.PrivateDNS != "" && i.PrivateDNS != first.Name && first.Name != i.ID {
				f.Why += fmt.Sprintf(" Its name is not the instance's private DNS name, %s.", i.PrivateDNS)
			}
		}
		f = f.Noting(id, value)
	}
	f.Fix = check.Fix{
		Text:    "Compare the node's name with the instance's private DNS name, and check the DHCP options' domain names.",
		Command: shell.Command("kubectl", "get", "node", first.Name, "-o", "jsonpath={.spec.providerID} {.spec.taints}"),
		Console: l.S.EC2Link("InstanceDetails:instanceId=" + list[0]),
	}
	return f
}
