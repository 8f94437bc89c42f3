// Package cni holds the checks of cni: whether the version and the settings of the
// network plugin go with Kubernetes, with the nodes and with IPv6.
package cni

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/network/address"
	"rollcall/shared/node/vpccni"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// Checks are the checks of the family.
func Checks() []check.Check {
	return []check.Check{
		check.New(checkid.CNIEniconfig, runENIConfig, snapshot.Clusters, snapshot.Instances, snapshot.Nodes,
			snapshot.AWSNode).Using(snapshot.ENIConfigsOf, snapshot.Subnets, snapshot.WaitingPods,
			snapshot.PodEventsOf),
		usingPlugin(check.New(checkid.CNIIPv6, runIPv6)),
		check.New(checkid.CNIPodIdentityAgent, runPodIdentityAgent, snapshot.Clusters, snapshot.Instances,
			snapshot.Nodes, snapshot.Pods).Using(snapshot.Addons, snapshot.PodsOnNodes, snapshot.WaitingPods,
			snapshot.PodEventsOf),
		usingPlugin(check.New(checkid.CNIVersion, runVersion)),
	}
}

// usingPlugin is a check of the plugin, which tells Amazon's images apart by name and
// by AMI type.
func usingPlugin(c check.Check) check.Check {
	c.Needs = []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.AWSNode}
	return c.Using(snapshot.Images, snapshot.LaunchedImagesOf, snapshot.Nodegroups, snapshot.Nodes, snapshot.InstanceTypes, snapshot.Addons)
}

// plugin is the running network plugin, and the instances that are to run it.
type plugin struct {
	version       vpccni.Version
	pending       []*snapshot.Instance
	well, passing []*snapshot.Instance // passing run no plugin of Amazon's as a pod
}

// pluginOf is the plugin of the cluster. Where it is not to be judged, found is what is
// reported: the plugin is not meant to run, or its version is not understood.
func pluginOf(s *check.View) (p plugin, found []check.Finding, judge bool) {
	suspects, well := s.Pending()
	p.well = well
	for _, i := range suspects {
		if s.CNI == nil || i.Windows || check.OfAutoMode(i) {
			p.passing = append(p.passing, i)
			continue
		}
		p.pending = append(p.pending, i)
	}
	if len(p.pending) == 0 {
		return p, p.pass(s, nil), false
	}
	version, ok := vpccni.OfImage(s.CNI.Image)
	if p.version = version; ok {
		return p, nil, true
	}
	return p, append(p.pass(s, nil), check.Unread(s.Cluster.Name, check.IDs(p.pending), check.Broken(snapshot.AWSNode, "the version in the image %q of aws-node cannot be parsed", s.CNI.Image))), false
}

// pass is the finding on the instances that are well, run another plugin, or have
// nothing against them.
func (p plugin) pass(s *check.View, good []*snapshot.Instance) []check.Finding {
	list := check.IDs(slices.Concat(p.well, p.passing, good))
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	return []check.Finding{check.Passed(s.Cluster.Name, list...)}
}

// imageOf is the evidence of the running version.
func imageOf(s *check.View) check.Evidence {
	return check.Evidence{What: "Image of aws-node", Value: s.CNI.Image}
}

// dated is the evidence of where a rule stands, and when it was read.
func dated(source string) check.Evidence {
	return check.Evidence{What: "Read " + vpccni.Read, Value: source}
}

// daemonSet is the resource of findings on the plugin.
const daemonSet = "kube-system/aws-node"

// update is how the plugin gets another version.
func update(s *check.View, to vpccni.Version) check.Fix {
	f := check.Fix{Console: s.ClusterLink(), Text: fmt.Sprintf("Update the plugin to %s or later, one minor version at a time.", to)}
	if slices.ContainsFunc(s.Addons, func(a snapshot.Addon) bool { return a.Name == "vpc-cni" }) {
		f.Text += " It is the add-on vpc-cni: the command lists its versions for this Kubernetes version."
		f.Command = versions(s)
	}
	return f
}

// What names a node's ENIConfig, and the one that counts where nothing does
// (amazon-vpc-cni-k8s pkg/eniconfig/eniconfig.go, GetNodeSpecificENIConfigName).
const (
	externalLabel     = "vpc.amazonaws.com/externalEniConfig"
	defaultAnnotation = "k8s.amazonaws.com/eniConfig"
	defaultName       = "default"
	zoneLabel         = "topology.kubernetes.io/zone"
)

// runENIConfig holds the rule, of registered nodes that are not Ready and of Ready ones
// whose pods get no address:
//
//	no custom networking, IPv6, or another plugin      Pass
//	ENIConfigs unread                                  Unknown
//	none of the name that the node gives               Fail
//	its subnet is in another zone                      Fail
//	else                                               Pass
func runENIConfig(s *check.View) []check.Finding {
	var v check.Verdicts
	suspects, well := s.WithStarving()
	v.Pass(s.Cluster.Name, check.IDs(well))
	custom := address.SettingsOf(s.CNI)
	nodes := s.Index().Nodes
	of := map[string][]string{} // by what is wrong
	words := map[string]misconfigured{}
	for _, i := range suspects {
		n := nodes[i.ID]
		switch {
		case n == nil || s.CNI == nil || !custom.Elsewhere || custom.IPv6 || s.Cluster.IPv6 || i.Windows || check.OfAutoMode(i):
			v.Pass(s.Cluster.Name, []string{i.ID})
			continue
		case !s.Has(snapshot.ENIConfigsOf):
			v.Unknown(s.Cluster.Name, []string{i.ID}, s.Why(snapshot.ENIConfigsOf))
			continue
		}
		m := misconfiguredOf(s, i, n)
		if m.says == "" {
			v.Pass(s.Cluster.Name, []string{i.ID}, check.Evidence{What: "ENIConfig of " + n.Name, Value: m.name})
			continue
		}
		key := m.says + m.zone
		of[key], words[key] = append(of[key], i.ID), m
	}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		v.Fail(eniConfigFinding(s, words[key], of[key]))
	}
	return v.Findings()
}

// misconfigured is what is wrong with the ENIConfig that a node names.
type misconfigured struct{ name, by, zone, says string }

func misconfiguredOf(s *check.View, i *snapshot.Instance, n *snapshot.Node) misconfigured {
	m := misconfigured{name: defaultName, by: "it has no label and no annotation that names one", zone: cmp.Or(n.Zone, i.Zone)}
	annotation := cmp.Or(s.CNI.Env["ENI_CONFIG_ANNOTATION_DEF"], defaultAnnotation)
	for _, at := range []struct {
		what, key string
		values    map[string]string
	}{{"label", externalLabel, n.Labels}, {"annotation", annotation, n.Annotations}, {"label", address.SettingsOf(s.CNI).ConfigLabel, n.Labels}} {
		name, is := at.values[at.key]
		if !is && at.key == zoneLabel && m.zone != "" {
			name, is = m.zone, true // EKS adds the label a moment after the node registered
		}
		if is {
			m.name, m.by = name, fmt.Sprintf("its %s %s names it", at.what, at.key)
			break
		}
	}
	k := slices.IndexFunc(s.ENIConfigs, func(c snapshot.ENIConfig) bool { return c.Name == m.name })
	if k < 0 {
		m.says = "there is no ENIConfig " + m.name
		return m
	}
	subnet := s.ENIConfigs[k].Subnet
	if j := slices.IndexFunc(s.Subnets, func(x snapshot.Subnet) bool { return x.ID == subnet }); j >= 0 && s.Subnets[j].Zone != m.zone && m.zone != "" {
		m.says = fmt.Sprintf("ENIConfig %s has %s, which is in %s", m.name, subnet, s.Subnets[j].Zone)
	}
	return m
}

func eniConfigFinding(s *check.View, m misconfigured, of []string) check.Finding {
	nodes := s.Index().Nodes
	names := make([]string, len(s.ENIConfigs))
	for i, c := range s.ENIConfigs {
		names[i] = c.Name
	}
	value := func(name string) string { return cmp.Or(s.CNI.Env[name], "not set") }
	f := check.Failed(m.name, of...).Affecting(of...).Involving(nodes[of[0]].Name).WithPods(s.WaitingFor(of)...).
		Titled("No ENIConfig matches %s in %s", check.Subject(of, "node"), cmp.Or(m.zone, "its zone")).
		Because("Custom networking is on, and %s in %s uses ENIConfig %s (%s), but %s. aws-node cannot create an interface for pods.",
			nodes[of[0]].Name, cmp.Or(m.zone, "an unknown zone"), m.name, m.by, m.says).
		Noting("ENIConfigs", cmp.Or(strings.Join(names, ", "), "none")).
		Noting("ENI_CONFIG_LABEL_DEF of aws-node", value("ENI_CONFIG_LABEL_DEF")).
		Noting("ENI_CONFIG_ANNOTATION_DEF of aws-node", value("ENI_CONFIG_ANNOTATION_DEF")).
		ToFix("Create an ENIConfig named %s with a subnet in %s and the security groups of the nodes, like the existing ones, which the command shows. Then replace the instances.", m.name, cmp.Or(m.zone, "the node's zone")).
		Command("kubectl get eniconfigs -o yaml").Console(s.ClusterLink())
	switch zoned := slices.Contains(names, m.zone); {
	case strings.HasPrefix(m.says, "ENIConfig "):
		f.Fix.Text = fmt.Sprintf("Give the node an ENIConfig with a subnet in %s: an interface can only be attached in the zone of its subnet.", m.zone)
	case m.name == defaultName && zoned:
		f.Fix.Text = fmt.Sprintf("The ENIConfigs are named after zones: have aws-node use the zone, or label the nodes with %s.", address.SettingsOf(s.CNI).ConfigLabel)
		f.Fix.Command = shell.Command("kubectl", "set", "env", "daemonset", "aws-node", "--namespace", "kube-system", "ENI_CONFIG_LABEL_DEF="+zoneLabel)
	}
	return f
}

func runIPv6(s *check.View) []check.Finding {
	p, said, judge := pluginOf(s)
	switch {
	case !s.Cluster.IPv6: // whatever the version is
		return p.pass(s, p.pending)
	case !judge:
		return said
	}
	if p.version.Before(vpccni.IPv6()) {
		f := ipv6Finding(s, p.pending, fmt.Sprintf("%s cannot give IPv6 addresses", p.version), fmt.Sprintf("aws-node runs %s, and pods get IPv6 addresses only from %s on.", p.version, vpccni.IPv6()))
		f.Fix = update(s, vpccni.IPv6())
		return append(p.pass(s, nil), f)
	}
	if wrong := settings(s.CNI.Env); len(wrong) > 0 {
		f := ipv6Finding(s, p.pending, "aws-node is not configured for IPv6", fmt.Sprintf("%s is an IPv6 cluster, and aws-node has %s: it exits at startup.", s.Cluster.Name, check.And(wrong)))
		f.Fix = check.Fix{
			Console: s.ClusterLink(),
			Text:    "Set ENABLE_IPv6 and ENABLE_PREFIX_DELEGATION to true, ENABLE_IPv4 and AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG to false.",
			Command: "kubectl set env daemonset aws-node --namespace kube-system ENABLE_IPv6=true ENABLE_PREFIX_DELEGATION=true ENABLE_IPv4=false AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG=false",
		}
		return append(p.pass(s, nil), f)
	}
	return byType(s, p)
}

// settings are those that are not IPv6's (amazon-vpc-cni-k8s pkg/ipamd/ipamd.go,
// isConfigValid). An environment that is empty was not told: EKS sets some of it.
func settings(env map[string]string) []string {
	var wrong []string
	if len(env) == 0 {
		return nil
	}
	on := func(name string) bool { return strings.EqualFold(env[name], "true") }
	for _, name := range []string{"ENABLE_IPv6", "ENABLE_PREFIX_DELEGATION"} {
		if !on(name) {
			wrong = append(wrong, name+" "+shown(env, name))
		}
	}
	for _, name := range []string{"ENABLE_IPv4", "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"} {
		if on(name) {
			wrong = append(wrong, name+" "+shown(env, name))
		}
	}
	return wrong
}

func shown(env map[string]string, name string) string {
	if value, set := env[name]; set {
		return fmt.Sprintf("%q", value)
	}
	return "not set"
}

// byType finds the instances of types before the Nitro system.
func byType(s *check.View, p plugin) []check.Finding {
	var good, old, unread []*snapshot.Instance
	for _, i := range p.pending {
		n := slices.IndexFunc(s.InstanceTypes, func(t snapshot.InstanceType) bool { return t.Name == i.Type })
		switch {
		case n < 0 && !s.Has(snapshot.InstanceTypes):
			unread = append(unread, i)
		case n >= 0 && s.InstanceTypes[n].Hypervisor == "xen" && !s.InstanceTypes[n].BareMetal:
			old = append(old, i)
		default:
			good = append(good, i)
		}
	}
	list := p.pass(s, good)
	if len(unread) > 0 {
		list = append(list, check.Unread(s.Cluster.Name, check.IDs(unread), s.Why(snapshot.InstanceTypes)))
	}
	if len(old) > 0 {
		f := ipv6Finding(s, old, old[0].Type+" is not of the Nitro system", fmt.Sprintf("%s is an IPv6 cluster, and %s has the hypervisor Xen: the plugin supports no prefixes there and exits (Prefix Delegation is not supported on non-nitro instance %s).",
			s.Cluster.Name, old[0].Type, old[0].Type))
		f.Resources = []string{old[0].Type}
		f.Fix = check.Fix{Console: s.ClusterLink(), Text: "Choose instance types of the Nitro system. Then replace the instances."}
		list = append(list, f)
	}
	return list
}

func ipv6Finding(s *check.View, of []*snapshot.Instance, title, why string) check.Finding {
	ids := check.IDs(of)
	evidence := []check.Evidence{imageOf(s)}
	for _, name := range []string{"ENABLE_IPv6", "ENABLE_PREFIX_DELEGATION", "ENABLE_IPv4"} {
		evidence = append(evidence, check.Evidence{What: name + " of aws-node", Value: shown(s.CNI.Env, name)})
	}
	return check.Failed(daemonSet, ids...).Affecting(ids...).Involving(s.Cluster.Name).
		Titled("%s", title).
		Because("%s", why).
		Showing(append(evidence, dated(vpccni.IPv6Source))...)
}

// agentAddon is the add-on of the Pod Identity agent, and the name of its DaemonSet.
const agentAddon = "eks-pod-identity-agent"

// runPodIdentityAgent holds the rule, of registered nodes that are not Ready, and of Ready
// ones whose pods get no address, whose aws-node has its credentials of the agent:
//
//	the agent's pod runs on the node                                        Pass
//	no pod of it is on the node, or it waits with a reason                  Fail
//	the node's pods were not listed: no add-on of it, or one that is broken  Fail, likely
//	that could not be told either                                           Unknown
func runPodIdentityAgent(s *check.View) []check.Finding {
	var v check.Verdicts
	suspects, well := s.WithStarving()
	v.Pass(s.Cluster.Name, check.IDs(well))
	var without []string
	sure, agent := check.Likely, ""
	for _, i := range suspects {
		n := s.Index().Nodes[i.ID]
		if n == nil || !asksAgent(s, i) {
			v.Pass(s.Cluster.Name, []string{i.ID})
			continue
		}
		switch k := slices.IndexFunc(s.NodePods, func(p snapshot.NodePods) bool { return p.Node == n.Name }); {
		case k >= 0 && (s.NodePods[k].Agent == "Running" || s.NodePods[k].Agent == "Pending" || s.NodePods[k].Agent == "ContainerCreating"):
			v.Pass(s.Cluster.Name, []string{i.ID})
		case k >= 0:
			without, sure, agent = append(without, i.ID), check.Certain, s.NodePods[k].Agent
		case s.Has(snapshot.Addons) && !installed(s):
			without = append(without, i.ID)
		case s.Has(snapshot.PodsOnNodes):
			v.Pass(s.Cluster.Name, []string{i.ID}) // others of its kind were listed
		default:
			v.Unknown(s.Cluster.Name, []string{i.ID}, s.Why(snapshot.PodsOnNodes))
		}
	}
	if len(without) > 0 {
		v.Fail(agentFinding(s, without, sure, agent))
	}
	return v.Findings()
}

// asksAgent reports whether the pod of aws-node on an instance has its credentials of the agent.
func asksAgent(s *check.View, i *snapshot.Instance) bool {
	return slices.ContainsFunc(s.PodsOf()[i.ID], func(p snapshot.Pod) bool { return p.Identity.ByAssociation })
}

// installed reports whether the add-on is there and does not fail.
func installed(s *check.View) bool {
	return slices.ContainsFunc(s.Addons, func(a snapshot.Addon) bool { return a.Name == agentAddon && a.Status == "ACTIVE" })
}

func agentFinding(s *check.View, of []string, sure check.Confidence, agent string) check.Finding {
	node := s.Index().Nodes[of[0]].Name
	f := check.Failed(agentAddon, of...).Affecting(of...).Involving("kube-system/aws-node", node).
		WithPods(s.WaitingFor(of)...).WithConfidence(sure).
		Titled("aws-node on %s gets no credentials: no Pod Identity agent", check.Subject(of, "node")).
		Because("aws-node on %s gets its role from a Pod Identity association and requests credentials from the agent on its node. No pod of %s runs there.", node, agentAddon).
		Console(s.ClusterLink())
	k := slices.IndexFunc(s.Addons, func(a snapshot.Addon) bool { return a.Name == agentAddon })
	switch {
	case !s.Has(snapshot.Addons):
		f = f.Noting("Add-on "+agentAddon, "not read")
	case k < 0:
		f = f.Noting("Add-on "+agentAddon, "not installed")
	default:
		f = f.Noting("Add-on "+agentAddon, s.Addons[k].Status)
	}
	if agent != "" {
		f.Why = fmt.Sprintf("aws-node on %s gets its role from a Pod Identity association and requests credentials from the agent on its node. The pod of %s there does not run: %s.", node, agentAddon, agent)
		f = f.Noting(agentAddon+" on "+node, agent)
	}
	if agent == "" && k < 0 && s.Has(snapshot.Addons) {
		f.Fix.Text = "Install the agent, or remove the association and let aws-node use the node's role or its service account's; then recreate its pods."
		f.Fix.Command = s.AWSCommand("eks create-addon", "--cluster-name", s.Cluster.Name, "--addon-name", agentAddon)
		return f
	}
	f.Fix.Text = fmt.Sprintf("Find out why the pod of %s does not run on %s: the command shows it.", agentAddon, node)
	f.Fix.Command = shell.Command("kubectl", "--namespace", "kube-system", "describe", "pods", "--selector", "app.kubernetes.io/name="+agentAddon)
	return f
}

func runVersion(s *check.View) []check.Finding {
	p, said, judge := pluginOf(s)
	if !judge {
		return said
	}
	st := s.Boot()
	broken := map[int][]*snapshot.Instance{}
	var good []*snapshot.Instance
	for _, i := range p.pending {
		if n := ruleAgainst(p.version, minorOf(s, i), osOf(st, i)); n >= 0 {
			broken[n] = append(broken[n], i)
		} else {
			good = append(good, i)
		}
	}
	list := p.pass(s, good)
	for n, rule := range vpccni.Rules() {
		if len(broken[n]) > 0 {
			list = append(list, versionFinding(s, p, rule, broken[n], runsAll(s, st, p, rule)))
		}
	}
	return list
}

// ruleAgainst is the first rule that the version breaks; -1 for none.
func ruleAgainst(v vpccni.Version, minor int, os string) int {
	for n, r := range vpccni.Rules() {
		if minor > 0 && r.Against(v, minor, os) {
			return n
		}
	}
	return -1
}

// minorOf is the version of an instance's kubelet, else that of the control plane.
func minorOf(s *check.View, i *snapshot.Instance) int {
	if n := s.Index().Nodes[i.ID]; n != nil {
		if minor := vpccni.Minor(n.Kubelet); minor > 0 {
			return minor
		}
	}
	return vpccni.Minor(s.Cluster.Version)
}

func osOf(st *check.BootConfig, i *snapshot.Instance) string {
	if family, _ := st.Family(i); family == check.FamilyAL2023 {
		return "AL2023"
	}
	return ""
}

// runsAll reports whether nodes that the rule is about are Ready with the version all the
// same: they may have come with another one.
func runsAll(s *check.View, st *check.BootConfig, p plugin, r vpccni.Rule) bool {
	for _, i := range p.well {
		if r.Against(p.version, minorOf(s, i), osOf(st, i)) {
			return true
		}
	}
	return false
}

func versionFinding(s *check.View, p plugin, r vpccni.Rule, of []*snapshot.Instance, others bool) check.Finding {
	ids := check.IDs(of)
	kubernetes := fmt.Sprintf("Kubernetes 1.%d", minorOf(s, of[0]))
	f := check.Failed(daemonSet, ids...).Affecting(ids...).Involving(s.Cluster.Name).
		Titled("network plugin %s is incompatible with %s", p.version, kubernetes).
		Because("aws-node runs %s with %s: %s.", p.version, kubernetes, r.What).
		Showing(imageOf(s)).
		Noting(s.Cluster.Name, "control plane "+s.Cluster.Version).
		Showing(dated(r.Source)).
		FixedBy(update(s, r.To))
	if r.OS != "" {
		f.Title = check.Title("network plugin %s is too old for %s", p.version, check.FamilyAL2023)
	}
	switch {
	case others:
		f.Confidence = check.Possible
		f.Why += " Other nodes of the kind are Ready with it."
	case !r.Certain:
		f.Confidence = check.Likely
	}
	return f
}

// versions lists the versions of the add-on that go with the cluster's Kubernetes.
func versions(s *check.View) string {
	return s.AWSCommand("eks describe-addon-versions", "--addon-name", "vpc-cni", "--kubernetes-version", s.Cluster.Version,
		"--query", "addons[].addonVersions[].addonVersion", "--output", "text")
}
