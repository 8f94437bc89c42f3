package cni

import (
	"slices"
	"strings"
	"testing"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/node/vpccni"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

func checkOf(id checkid.ID) check.Check { return checktest.One(Checks(), id) }

// plugged is a cluster of a version, with a version of the plugin on its nodes, whose
// node is registered and not Ready.
func plugged(kubernetes, tag string, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	all := append([]func(*snapshot.Snapshot){checktest.NotReadyNode("cni plugin not initialized"), with(kubernetes, tag)}, changes...)
	return checktest.Change(checktest.Missed(), all...)
}

func with(kubernetes, tag string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Cluster.Version = kubernetes
		s.CNI.Image = "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:" + tag
		for i := range s.Nodes {
			s.Nodes[i].Kubelet = "v" + kubernetes + ".1-eks-113cf36"
		}
		for i := range s.Images {
			s.Images[i].Name = "amazon-eks-node-" + kubernetes + "-v20251007" // Amazon Linux 2
		}
	}
}

func al2023(s *snapshot.Snapshot) {
	s.Images[0].Name = "amazon-eks-node-al2023-x86_64-standard-1.34-v20261112"
}

// beside adds a Ready node of the same kind.
func beside(s *snapshot.Snapshot) {
	snapshottest.Launch(s, "i-0well", snapshottest.Private, 0)
	snapshottest.Join(s, "i-0well")
	s.Instances[len(s.Instances)-1].AMI = s.Images[0].ID
	s.Nodes[len(s.Nodes)-1].Kubelet = s.Nodes[0].Kubelet
}

func windows(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).Windows = true }

func TestVersion(t *testing.T) {
	const old, pass = "fail kube-system/aws-node [i-0node] [i-0node] network plugin ", "pass prod [i-0node]"
	checktest.RunCases(t, checkOf(checkid.CNIVersion), []checktest.Case{
		{"Ready", checktest.Change(snapshottest.PrivateWithNAT(), with("1.34", "v1.11.4-eksbuild.1")), []string{pass}},
		{"a version that goes with it", plugged("1.34", "v1.20.4-eksbuild.1"), []string{pass}},
		{"before 1.12 beside 1.26 (eksctl6692)", plugged("1.26", "v1.11.5-eksbuild.1"), []string{old + "v1.11.5 is incompatible with Kubernetes 1.26"}},
		{"before 1.12 beside 1.25", plugged("1.25", "v1.11.5-eksbuild.1"), []string{pass}},
		{"before 1.12 on an older kubelet", plugged("1.26", "v1.11.5-eksbuild.1", func(s *snapshot.Snapshot) { s.Nodes[0].Kubelet = "v1.25.16-eks-8ccc7ba" }), []string{pass}},
		{"before 1.12, before the node is there", checktest.Change(checktest.Missed(), with("1.27", "v1.10.1")), []string{old + "v1.10.1 is incompatible with Kubernetes 1.27"}},
		{"1.16.1 beside 1.23", plugged("1.23", "v1.16.1"), []string{old + "v1.16.1 is incompatible with Kubernetes 1.23"}},
		{"1.16.2 beside 1.23", plugged("1.23", "v1.16.2"), []string{pass}},
		{"too old for Amazon Linux 2023", plugged("1.30", "v1.15.5", al2023), []string{"fail (likely) kube-system/aws-node [i-0node] [i-0node] network plugin v1.15.5 is too old for Amazon Linux 2023"}},
		{"new enough for Amazon Linux 2023", plugged("1.30", "v1.16.2", al2023), []string{pass}},
		{"others are Ready with it", plugged("1.26", "v1.11.5", beside), []string{"fail (possible) kube-system/aws-node [i-0node] [i-0node] network plugin v1.11.5 is incompatible with Kubernetes 1.26", "pass prod [i-0well]"}},
		{"another plugin", plugged("1.34", "v1.11.4", func(s *snapshot.Snapshot) { s.CNI = nil }), []string{pass}},
		{"Windows", plugged("1.34", "v1.11.4", windows), []string{pass}},
		{"a version that is not understood", plugged("1.34", "latest"), []string{
			`unknown prod [i-0node] aws-node: broken: the version in the image "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:latest" of aws-node cannot be parsed`,
		}},
		{"a cluster's version that is not understood", plugged("2", "v1.11.4"), []string{pass}},
		{"unread", plugged("1.34", "v1.11.4", checktest.Unread(snapshot.AWSNode)), []string{"unknown prod [] aws-node: denied"}},
	})
}

// TestWords holds that the source and the date of the data are shown, and how to get
// another version.
func TestWords(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.CNIVersion), plugged("1.26", "v1.11.5"))
	var told []string
	for _, e := range got.Evidence {
		told = append(told, e.What+": "+e.Value)
	}
	if want := "Read " + vpccni.Read + ": https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions-extended.html"; !strings.Contains(strings.Join(told, "\n"), want) {
		t.Errorf("evidence %q, want %s", told, want)
	}
	expect.Equal(t, "command", got.Fix.Command, "aws eks describe-addon-versions --region us-west-2 --addon-name vpc-cni --kubernetes-version 1.26 --query 'addons[].addonVersions[].addonVersion' --output text")
	if got := checktest.Failed(t, checkOf(checkid.CNIVersion), plugged("1.26", "v1.11.5", func(s *snapshot.Snapshot) { s.Addons = nil })); got.Fix.Command != "" {
		t.Errorf("not an add-on, and told %s", got.Fix.Command)
	}
}

func six(env ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Cluster.IPv6 = true
		s.CNI.Env = map[string]string{}
		for _, e := range env {
			name, value, _ := strings.Cut(e, "=")
			s.CNI.Env[name] = value
		}
	}
}

func xen(s *snapshot.Snapshot) {
	snapshottest.Instance(s, snapshottest.Node).Type = "m4.large"
	s.InstanceTypes = []snapshot.InstanceType{{Name: "m4.large", Hypervisor: "xen", Architectures: []string{"x86_64"}}}
}

func TestIPv6(t *testing.T) {
	const pass, unset, fail = "pass prod [i-0node]", "aws-node is not configured for IPv6", "fail kube-system/aws-node [i-0node] [i-0node] "
	good := six("ENABLE_IPv6=true", "ENABLE_PREFIX_DELEGATION=true", "ENABLE_IPv4=false")
	checktest.RunCases(t, checkOf(checkid.CNIIPv6), []checktest.Case{
		{"Ready", checktest.Change(snapshottest.PrivateWithNAT(), six("ENABLE_IPv4=true")), []string{pass}},
		{"nobody is to join", checktest.Change(checktest.Missed(), six("ENABLE_IPv4=true"), func(s *snapshot.Snapshot) { s.Scope.Instances, s.Launches = nil, nil }), nil},
		{"IPv4, whatever is set", plugged("1.34", "latest"), []string{pass}},
		{"set up", plugged("1.34", "v1.20.4", good), []string{pass}},
		{"settings that were not told", plugged("1.34", "v1.20.4", six()), []string{pass}},
		{"not switched on", plugged("1.34", "v1.20.4", six("ENABLE_PREFIX_DELEGATION=true")), []string{fail + unset}},
		{"without prefixes", plugged("1.34", "v1.20.4", six("ENABLE_IPv6=true", "ENABLE_PREFIX_DELEGATION=false")), []string{fail + unset}},
		{"both families", plugged("1.34", "v1.20.4", six("ENABLE_IPv6=true", "ENABLE_PREFIX_DELEGATION=true", "ENABLE_IPv4=true")), []string{fail + unset}},
		{"custom networking", plugged("1.34", "v1.20.4", six("ENABLE_IPv6=true", "ENABLE_PREFIX_DELEGATION=true", "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG=true")), []string{fail + unset}},
		{"an old version", plugged("1.22", "v1.10.0", good), []string{fail + "v1.10.0 cannot give IPv6 addresses"}},
		{"the first version", plugged("1.22", "v1.10.1", good), []string{pass}},
		{"an instance before Nitro", plugged("1.34", "v1.20.4", good, xen), []string{fail + "m4.large is not of the Nitro system"}},
		{"bare metal", plugged("1.34", "v1.20.4", good, xen, func(s *snapshot.Snapshot) { s.InstanceTypes[0].BareMetal = true }), []string{pass}},
		{"types unread", plugged("1.34", "v1.20.4", good, checktest.Unread(snapshot.InstanceTypes)), []string{"unknown prod [i-0node] instance types: denied"}},
		{"a version that is not understood", plugged("1.34", "latest", good), []string{
			`unknown prod [i-0node] aws-node: broken: the version in the image "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:latest" of aws-node cannot be parsed`,
		}},
		{"another plugin", plugged("1.34", "v1.20.4", six("ENABLE_IPv4=true"), func(s *snapshot.Snapshot) { s.CNI = nil }), []string{pass}},
		{"unread", plugged("1.34", "v1.20.4", good, checktest.Unread(snapshot.AWSNode)), []string{"unknown prod [] aws-node: denied"}},
	})
}

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
	const pass, none = "pass prod [i-0node]", " [i-0node] [i-0node] No ENIConfig matches i-0node in us-west-2a"
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
	checktest.RunCases(t, checkOf(checkid.CNIEniconfig), []checktest.Case{
		{"Ready", custom(b, ready), []string{pass}},
		{"of its zone", custom(a), []string{pass}},
		{"none of its zone", custom(b), []string{"fail us-west-2a" + none}},
		{"none at all", custom(nil), []string{"fail us-west-2a" + none}},
		{"Ready, and its pods get no address", custom(b, ready, checktest.NoAddress), []string{"fail us-west-2a" + none}},
		{"its subnet is in another zone", custom(a, func(s *snapshot.Snapshot) { s.Nodes[0].Zone, s.ENIConfigs[0].Name = "us-west-2b", "us-west-2b" }), []string{
			"fail us-west-2b [i-0node] [i-0node] No ENIConfig matches i-0node in us-west-2b",
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
	checktest.RunCases(t, checkOf(checkid.CNIPodIdentityAgent), []checktest.Case{
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
