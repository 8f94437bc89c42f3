package cni

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/vpccni"
	"rollcall/shared/snapshot"
)

func IPv6() check.Check {
	return usingPlugin(check.Check{
		ID:         checkid.CNIIPv6,
		Title:      "The network plugin is not set up for IPv6",
		Confidence: finding.Certain,
		After:      []checkid.ID{checkid.AnyJoinCause, checkid.CNIVersion},
		Cause: "In an IPv6 cluster the Amazon VPC CNI gives pods addresses out of a prefix on the node's first interface. It takes version 1.10.1, ENABLE_IPv6 and ENABLE_PREFIX_DELEGATION, neither ENABLE_IPv4 nor custom networking beside them, and an instance of the Nitro system or bare metal. " +
			"Without one of these it ends when it starts, and the node stays NotReady.",
		Fix: "Set the DaemonSet aws-node, or the add-on vpc-cni, up for IPv6, and choose instance types of the Nitro system.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-ipv6.html",
			"https://github.com/aws/amazon-vpc-cni-k8s#enable_ipv6-v1100",
		},
		Run: runIPv6,
	})
}

func runIPv6(s *facts.View) []finding.Finding {
	p, said, judge := pluginOf(s)
	switch {
	case !s.Cluster.IPv6: // whatever the version is
		return p.pass(s, p.suspects)
	case !judge:
		return said
	}
	if p.version.Before(vpccni.IPv6()) {
		f := ipv6Finding(s, p.suspects, fmt.Sprintf("%s cannot give IPv6 addresses", p.version), fmt.Sprintf("aws-node runs %s, and pods get IPv6 addresses from %s on.", p.version, vpccni.IPv6()))
		f.Fix = update(s, vpccni.IPv6())
		return append(p.pass(s, nil), f)
	}
	if wrong := settings(s.CNI.Env); len(wrong) > 0 {
		f := ipv6Finding(s, p.suspects, "aws-node is not set up for IPv6", fmt.Sprintf("%s is an IPv6 cluster, and aws-node has %s: it ends when it starts.", s.Cluster.Name, phrase.And(wrong)))
		f.Fix = finding.Fix{
			Console: link.Cluster(s),
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
func byType(s *facts.View, p plugin) []finding.Finding {
	var good, old, unread []*snapshot.Instance
	for _, i := range p.suspects {
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
		list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: facts.IDs(unread), Blocked: []snapshot.Failure{s.Why(snapshot.InstanceTypes)}})
	}
	if len(old) > 0 {
		f := ipv6Finding(s, old, old[0].Type+" is not of the Nitro system", fmt.Sprintf("%s is an IPv6 cluster, and %s has the hypervisor Xen: the plugin takes no prefixes there and ends (Prefix Delegation is not supported on non-nitro instance %s).",
			s.Cluster.Name, old[0].Type, old[0].Type))
		f.Resources = []string{old[0].Type}
		f.Fix = finding.Fix{Console: link.Cluster(s), Text: "Choose instance types of the Nitro system. Then replace the instances."}
		list = append(list, f)
	}
	return list
}

func ipv6Finding(s *facts.View, of []*snapshot.Instance, title, why string) finding.Finding {
	ids := facts.IDs(of)
	evidence := []finding.Evidence{imageOf(s)}
	for _, name := range []string{"ENABLE_IPv6", "ENABLE_PREFIX_DELEGATION", "ENABLE_IPv4"} {
		evidence = append(evidence, finding.Evidence{What: name + " of aws-node", Value: shown(s.CNI.Env, name)})
	}
	return finding.Finding{
		Outcome: finding.Fail, Resource: daemonSet, Covers: ids, Instances: ids, Resources: []string{s.Cluster.Name},
		Title: phrase.Title("%s", title), Why: why, Evidence: append(evidence, dated(vpccni.IPv6Source)),
	}
}
