package cni

import (
	"fmt"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/vpccni"
	"rollcall/shared/snapshot"
)

func Version() check.Check {
	return usingPlugin(check.Check{
		ID:         checkid.CNIVersion,
		Title:      "The network plugin's version does not go with Kubernetes",
		Confidence: finding.Certain,
		After:      []checkid.ID{checkid.AnyJoinCause},
		Cause: "The running version of the Amazon VPC CNI does not work with the version of Kubernetes, or with the image of the node: before 1.12 it crashes with Kubernetes 1.26 and later, 1.16.0 and 1.16.1 take Kubernetes 1.24, and nodes of Amazon Linux 2023 take 1.16.2. " +
			"EKS does not update the plugin with the control plane. The node registers and stays NotReady.",
		Fix: "Update the plugin, one minor version at a time.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/managing-vpc-cni.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions-extended.html",
		},
		Run: runVersion,
	})
}

func runVersion(s *facts.View) []finding.Finding {
	p, said, judge := pluginOf(s)
	if !judge {
		return said
	}
	st := s.Boot()
	broken := map[int][]*snapshot.Instance{}
	var good []*snapshot.Instance
	for _, i := range p.suspects {
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
func minorOf(s *facts.View, i *snapshot.Instance) int {
	if n := s.Index().Nodes[i.ID]; n != nil {
		if minor := vpccni.Minor(n.Kubelet); minor > 0 {
			return minor
		}
	}
	return vpccni.Minor(s.Cluster.Version)
}

func osOf(st *facts.BootConfig, i *snapshot.Instance) string {
	if family, _ := st.Family(i); family == facts.FamilyAL2023 {
		return "AL2023"
	}
	return ""
}

// runsAll tells that nodes that the rule is about are Ready with the version all the
// same: they may have come with another one.
func runsAll(s *facts.View, st *facts.BootConfig, p plugin, r vpccni.Rule) bool {
	for _, i := range p.well {
		if r.Against(p.version, minorOf(s, i), osOf(st, i)) {
			return true
		}
	}
	return false
}

func versionFinding(s *facts.View, p plugin, r vpccni.Rule, of []*snapshot.Instance, others bool) finding.Finding {
	ids := facts.IDs(of)
	kubernetes := fmt.Sprintf("Kubernetes 1.%d", minorOf(s, of[0]))
	f := finding.Finding{
		Outcome: finding.Fail, Resource: daemonSet, Covers: ids, Instances: ids, Resources: []string{s.Cluster.Name},
		Title:    phrase.Title("network plugin %s does not go with %s", p.version, kubernetes),
		Why:      fmt.Sprintf("aws-node runs %s beside %s: %s.", p.version, kubernetes, r.What),
		Evidence: []finding.Evidence{imageOf(s), {What: s.Cluster.Name, Value: "control plane " + s.Cluster.Version}, dated(r.Source)},
		Fix:      update(s, r.To),
	}
	if r.OS != "" {
		f.Title = phrase.Title("network plugin %s is too old for %s", p.version, facts.FamilyAL2023)
	}
	switch {
	case others:
		f.Confidence = finding.Possible
		f.Why += " Other nodes of the kind are Ready with it."
	case !r.Certain:
		f.Confidence = finding.Likely
	}
	return f
}

// versions lists the versions of the add-on that go with the cluster's Kubernetes.
func versions(s *facts.View) string {
	return command.AWS(s, "eks describe-addon-versions", "--addon-name", "vpc-cni", "--kubernetes-version", s.Cluster.Version,
		"--query", "addons[].addonVersions[].addonVersion", "--output", "text")
}
