package cni

import (
	"slices"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// custom is a cluster with custom networking by zone, whose node is registered and not
// Ready, with these ENIConfigs ("name=subnet").
func custom(configs []snapshot.ENIConfig, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	all := append([]func(*snapshot.Snapshot){checktest.NotReadyNode("cni plugin not initialized"), func(s *snapshot.Snapshot) {
		s.CNI.Env["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"], s.CNI.Env["ENI_CONFIG_LABEL_DEF"] = "true", zoneLabel
		s.ENIConfigs = slices.Clone(configs)
		s.Nodes[0].Zone = "us-west-2a"
	}}, changes...)
	return checktest.Change(checktest.Missed(), all...)
}

func TestENIConfig(t *testing.T) {
	const pass, none = "pass prod [i-0node]", " [i-0node] [i-0node] No ENIConfig fits i-0node in us-west-2a"
	a := []snapshot.ENIConfig{{Name: "us-west-2a", Subnet: snapshottest.Private}}
	b := []snapshot.ENIConfig{{Name: "us-west-2b", Subnet: snapshottest.Private}}
	env := func(name, value string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.CNI.Env[name] = value }
	}
	annotated := func(key, name string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Nodes[0].Annotations = map[string]string{key: name} }
	}
	labelled := func(key, name string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Nodes[0].Labels = map[string]string{key: name} }
	}
	ready := func(s *snapshot.Snapshot) { s.Nodes[0].Ready.Status = "True" }
	checktest.RunCases(t, ENIConfig(), []checktest.Case{
		{"Ready", custom(b, ready), []string{pass}},
		{"of its zone", custom(a), []string{pass}},
		{"none of its zone", custom(b), []string{"fail us-west-2a" + none}},
		{"none at all", custom(nil), []string{"fail us-west-2a" + none}},
		{"Ready, and its pods get no address", custom(b, ready, checktest.NoAddress), []string{"fail us-west-2a" + none}},
		{"its subnet is in another zone", custom(a, func(s *snapshot.Snapshot) { s.Nodes[0].Zone, s.ENIConfigs[0].Name = "us-west-2b", "us-west-2b" }), []string{
			"fail us-west-2b [i-0node] [i-0node] No ENIConfig fits i-0node in us-west-2b",
		}},
		{"no custom networking", custom(nil, env("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "false")), []string{pass}},
		{"an IPv6 cluster", custom(nil, env("ENABLE_IPv6", "true")), []string{pass}},
		{"another plugin", custom(nil, func(s *snapshot.Snapshot) { s.CNI = nil }), []string{pass}},
		{"has not registered", custom(nil, func(s *snapshot.Snapshot) { s.Nodes = nil }), []string{pass}},
		{"no label of its own, and one named default", custom([]snapshot.ENIConfig{{Name: "default", Subnet: snapshottest.Private}}, env("ENI_CONFIG_LABEL_DEF", "")), []string{pass}},
		{"no label of its own, and those are of zones", custom(a, env("ENI_CONFIG_LABEL_DEF", "")), []string{"fail default" + none}},
		{"the default label", custom(b, env("ENI_CONFIG_LABEL_DEF", ""), labelled(defaultAnnotation, "us-west-2b")), []string{pass}},
		{"an annotation counts before the label", custom(a, annotated(defaultAnnotation, "pods")), []string{"fail pods" + none}},
		{"another annotation", custom(a, annotated("acme.com/pods", "us-west-2a"), env("ENI_CONFIG_LABEL_DEF", "x"), env("ENI_CONFIG_ANNOTATION_DEF", "acme.com/pods")), []string{pass}},
		{"the external label counts first", custom(a, annotated(defaultAnnotation, "us-west-2a"), labelled(externalLabel, "pods")), []string{"fail pods" + none}},
		{"unread", custom(nil, checktest.Unread(snapshot.ENIConfigsOf)), []string{"unknown prod [i-0node] eniconfigs: denied"}},
	})
}

// associated is a cluster whose aws-node has its role by Pod Identity, and how the agent
// is on the node.
func associated(agent string, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	all := append([]func(*snapshot.Snapshot){checktest.NotReadyNode("cni plugin not initialized"), func(s *snapshot.Snapshot) {
		s.Pods = []snapshot.Pod{{Namespace: "kube-system", Name: "aws-node-x7k2p", Node: s.Nodes[0].Name, Phase: "Running", Identity: snapshot.PodCredentials{Told: true, ByAssociation: true}}}
		s.NodePods = []snapshot.NodePods{{Node: s.Nodes[0].Name, Agent: agent}}
	}}, changes...)
	return checktest.Change(checktest.Missed(), all...)
}

func TestPodIdentityAgent(t *testing.T) {
	const pass, fail = "pass prod [i-0node]", " eks-pod-identity-agent [i-0node] [i-0node] aws-node on i-0node gets no credentials: no Pod Identity agent"
	unlisted := func(s *snapshot.Snapshot) { s.NodePods = nil }
	addon := func(status string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Addons = append(s.Addons, snapshot.Addon{Name: "eks-pod-identity-agent", Status: status})
		}
	}
	ready := func(s *snapshot.Snapshot) { s.Nodes[0].Ready.Status = "True" }
	checktest.RunCases(t, PodIdentityAgent(), []checktest.Case{
		{"Ready", associated("", ready), []string{pass}},
		{"it runs", associated("Running"), []string{pass}},
		{"it is being made", associated("Pending"), []string{pass}},
		{"none is there", associated(""), []string{"fail (certain)" + fail}},
		{"none is there, though the add-on is", associated("", addon("ACTIVE")), []string{"fail (certain)" + fail}},
		{"it crashes", associated("CrashLoopBackOff", addon("DEGRADED")), []string{"fail (certain)" + fail}},
		{"Ready, and its pods get no address", associated("", ready, checktest.NoAddress), []string{"fail (certain)" + fail}},
		{"its role by its service account, or the node's", associated("", func(s *snapshot.Snapshot) { s.Pods[0].Identity.ByAssociation = false }), []string{pass}},
		{"not listed, no add-on", associated("", unlisted, checktest.Unread(snapshot.PodsOnNodes)), []string{"fail (likely)" + fail}},
		{"not listed, the add-on is well", associated("", unlisted, addon("ACTIVE"), checktest.Unread(snapshot.PodsOnNodes)), []string{"unknown prod [i-0node] pods of nodes: denied"}},
		{"unread", associated("", checktest.Unread(snapshot.Pods)), []string{"unknown prod [] pods: denied"}},
	})
}
