package cni

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/address"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// What names a node's ENIConfig, and the one that counts where nothing does
// (amazon-vpc-cni-k8s pkg/eniconfig/eniconfig.go, GetNodeSpecificENIConfigName).
const (
	externalLabel     = "vpc.amazonaws.com/externalEniConfig"
	defaultAnnotation = "k8s.amazonaws.com/eniConfig"
	defaultName       = "default"
	zoneLabel         = "topology.kubernetes.io/zone"
)

func ENIConfig() check.Check {
	return check.Check{
		ID:         checkid.CNIEniconfig,
		Title:      "Custom networking has no ENIConfig for the node",
		Confidence: finding.Certain,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Nodes, snapshot.AWSNode},
		Uses:       []snapshot.Source{snapshot.ENIConfigsOf, snapshot.Subnets, snapshot.WaitingPods, snapshot.PodEventsOf},
		After:      []checkid.ID{checkid.AnyJoinCause},
		Proof:      check.ByPassingUnmet,
		Cause: "With custom networking (AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG) aws-node makes interfaces for pods in the subnet of an ENIConfig. Which one, a label of the node says (vpc.amazonaws.com/externalEniConfig), else its annotation (ENI_CONFIG_ANNOTATION_DEF), else its label (ENI_CONFIG_LABEL_DEF), else it is the one named default. " +
			"Where there is none of that name, or its subnet is not in the node's zone, no interface can be made: the node stays NotReady, or its pods get no addresses.",
		Fix: "Make the ENIConfig that the node names, with a subnet of its zone, or let the node name one that there is.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-custom-network-tutorial.html",
			"https://github.com/aws/amazon-vpc-cni-k8s#eni_config_label_def",
		},
		Run: runENIConfig,
	}
}

// runENIConfig holds the rule, of registered nodes that are not Ready and of Ready ones
// whose pods get no address:
//
//	no custom networking, IPv6, or another plugin      Pass
//	ENIConfigs unread                                  Unknown
//	none of the name that the node gives               Fail
//	its subnet is in another zone                      Fail
//	else                                               Pass
func runENIConfig(s *facts.View) []finding.Finding {
	var v finding.Verdicts
	suspects, well := s.WithStarving()
	v.Pass(s.Cluster.Name, facts.IDs(well))
	custom := address.SettingsOf(s.CNI)
	nodes := s.Index().Nodes
	of := map[string][]string{} // by what is wrong
	words := map[string]misconfigured{}
	for _, i := range suspects {
		n := nodes[i.ID]
		switch {
		case n == nil || s.CNI == nil || !custom.Elsewhere || custom.IPv6 || s.Cluster.IPv6 || i.Windows || facts.OfAutoMode(i):
			v.Pass(s.Cluster.Name, []string{i.ID})
			continue
		case !s.Has(snapshot.ENIConfigsOf):
			v.Unknown(s.Cluster.Name, []string{i.ID}, s.Why(snapshot.ENIConfigsOf))
			continue
		}
		m := misconfiguredOf(s, i, n)
		if m.says == "" {
			v.Pass(s.Cluster.Name, []string{i.ID}, finding.Evidence{What: "ENIConfig of " + n.Name, Value: m.name})
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

func misconfiguredOf(s *facts.View, i *snapshot.Instance, n *snapshot.Node) misconfigured {
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

func eniConfigFinding(s *facts.View, m misconfigured, of []string) finding.Finding {
	nodes := s.Index().Nodes
	names := make([]string, len(s.ENIConfigs))
	for i, c := range s.ENIConfigs {
		names[i] = c.Name
	}
	value := func(name string) string { return cmp.Or(s.CNI.Env[name], "not set") }
	f := finding.Finding{
		Outcome: finding.Fail, Resource: m.name, Covers: of, Instances: of, Resources: []string{nodes[of[0]].Name}, Pods: s.WaitingFor(of),
		Title: phrase.Title("No ENIConfig fits %s in %s", phrase.Subject(of, "node"), cmp.Or(m.zone, "its zone")),
		Why: fmt.Sprintf("Custom networking is on, and %s in %s uses ENIConfig %s (%s), but %s. aws-node can make no interface for pods.",
			nodes[of[0]].Name, cmp.Or(m.zone, "an unknown zone"), m.name, m.by, m.says),
		Evidence: []finding.Evidence{
			{What: "ENIConfigs", Value: cmp.Or(strings.Join(names, ", "), "none")},
			{What: "ENI_CONFIG_LABEL_DEF of aws-node", Value: value("ENI_CONFIG_LABEL_DEF")},
			{What: "ENI_CONFIG_ANNOTATION_DEF of aws-node", Value: value("ENI_CONFIG_ANNOTATION_DEF")},
		},
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Make an ENIConfig named %s with a subnet in %s and the security groups of the nodes; like those that there are, which the command shows. Then replace the instances.", m.name, cmp.Or(m.zone, "the node's zone")),
			Command: "kubectl get eniconfigs -o yaml", Console: link.Cluster(s),
		},
	}
	switch zoned := slices.Contains(names, m.zone); {
	case strings.HasPrefix(m.says, "ENIConfig "):
		f.Fix.Text = fmt.Sprintf("Give the node an ENIConfig with a subnet in %s: an interface can only be attached in the zone of its subnet.", m.zone)
	case m.name == defaultName && zoned:
		f.Fix.Text = fmt.Sprintf("The ENIConfigs are named after zones: let aws-node go by the zone, or label the nodes with %s.", address.SettingsOf(s.CNI).ConfigLabel)
		f.Fix.Command = shell.Command("kubectl", "set", "env", "daemonset", "aws-node", "--namespace", "kube-system", "ENI_CONFIG_LABEL_DEF="+zoneLabel)
	}
	return f
}
