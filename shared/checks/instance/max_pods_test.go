package instance

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
)

// allows sets the max pods of a node that is not Ready.
func allows(pods int) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Nodes[0].Ready.Status = "False"
		s.Nodes[0].MaxPods = pods
	}
}

func cniSets(name, value string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.CNI.Env[name] = value }
}

func TestMaxPods(t *testing.T) { checktest.RunCases(t, MaxPods(), maxPodsCases()) }

func maxPodsCases() []checktest.Case {
	pass := []string{"pass prod [i-0node]"}
	fail := []string{"fail (possible) lt-0a [i-0node] [i-0node] lt-0a: max pods is 110, m5.large has addresses for 29"}
	likely := []string{"fail (likely) lt-0a [i-0node] [i-0node] lt-0a: max pods is 110, m5.large has addresses for 29"}
	ready := func(s *snapshot.Snapshot) { s.Nodes[0].Ready.Status = "True" }
	runs := func(pods int) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.NodePods = []snapshot.NodePods{{Node: s.Nodes[0].Name, Addressed: pods}}
		}
	}
	return []checktest.Case{
		{"Ready", startWorld(allows(110), ready), pass},
		{"Ready, all addresses given out, and pods wait for one", startWorld(allows(110), ready, runs(27), checktest.NoAddress), likely},
		{"Ready, pods wait for one, and some are left", startWorld(allows(110), ready, runs(20), checktest.NoAddress), pass},
		{"Ready, pods wait for one, its pods were not counted", startWorld(allows(110), ready, checktest.NoAddress), fail},
		{"Ready, pods wait for one, and no more are allowed than there are", startWorld(allows(29), ready, runs(27), checktest.NoAddress), pass},
		{"Ready, pods wait for a sandbox image", startWorld(allows(110), ready, runs(27), checktest.StuckPod(time.Hour, "FailedCreatePodSandBox", "failed to get sandbox image")), pass},
		{"as many as there are", startWorld(allows(29)), pass},
		{"more", startWorld(allows(110)), fail},
		{"more, by the user data of one that has not registered", startWorld(instead("maxPods: 29", "maxPods: 110")), fail},
		{"more, with prefixes", startWorld(allows(110), cniSets("ENABLE_PREFIX_DELEGATION", "true")), pass},
		{"more, with prefixes that the hypervisor cannot do", startWorld(allows(110), cniSets("ENABLE_PREFIX_DELEGATION", "true"), func(s *snapshot.Snapshot) { s.InstanceTypes[0].Hypervisor = "xen" }), fail},
		{"custom networking", startWorld(allows(29), cniSets("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "true")), []string{
			"fail (possible) lt-0a [i-0node] [i-0node] lt-0a: max pods is 29, m5.large has addresses for 20",
		}},
		{"more, by nodeadm's expression", startWorld(custom, instead("    config:\n      maxPods: 29\n", "    maxPodsExpression: \"(default_enis * ips_per_eni + 80) / 1\"\n    config:\n")), []string{
			"fail (possible) lt-0a [i-0node] [i-0node] lt-0a: max pods is 110, m5.large has addresses for 29",
		}},
		{"as many, by nodeadm's expression", startWorld(custom, instead("    config:\n      maxPods: 29\n", "    maxPodsExpression: \"((default_enis - 1) * (ips_per_eni - 1)) + 2\"\n    config:\n")), pass},
		{"an expression where EKS adds its own", startWorld(instead("    config:\n      maxPods: 29\n", "    maxPodsExpression: \"110\"\n    config:\n")), pass},
		{"an expression that cannot be followed", startWorld(custom, instead("    config:\n      maxPods: 29\n", "    maxPodsExpression: \"max_pods > 20 ? 110 : 20\"\n    config:\n")), []string{
			"unknown prod [i-0node] user data: not read: i-0node: its maxPodsExpression cannot be followed",
		}},
		{"more, and a drop-in that may say less", startWorld(instead("maxPods: 29", "maxPods: 110"), func(s *snapshot.Snapshot) {
			s.UserData[0].Data = []byte(strings.Replace(string(s.UserData[0].Data), "--//--", "--//\nContent-Type: text/x-shellscript\n\n#!/bin/bash\ncat > /etc/eks/nodeadm.d/1.yaml <<E\nE\n\n--//--", 1))
		}), []string{"unknown prod [i-0node] user data: not read: i-0node: it writes a NodeConfig into /etc/eks/nodeadm.d, which takes precedence and may set max pods"}},
		{"another network plugin", startWorld(allows(110), func(s *snapshot.Snapshot) { s.CNI = nil }), pass},
		{"IPv6", startWorld(allows(110), func(s *snapshot.Snapshot) { s.Cluster.IPv6 = true }), pass},
		{"the image works it out", startWorld(instead("      maxPods: 29\n", "")), pass},
		{"not registered, user data unread", startWorld(toldAs(""), checktest.Unread(snapshot.UserDataOf), checktest.Unread(snapshot.LaunchTemplates)), []string{"unknown prod [i-0node] user data: denied"}},
		{"not registered, user data over budget", startWorld(toldAs(overBudget())), []string{
			"unknown prod [i-0node] user data: over budget: i-0node: the user data is over budget: reading it takes more than 524288 bytes unpacked",
		}},
		{"the type is not known", startWorld(allows(110), func(s *snapshot.Snapshot) { s.InstanceTypes[0].Name = "m6.large" }), []string{
			"unknown prod [i-0node] instance types: not read: what m5.large can carry is not known",
		}},
		{"unread", startWorld(checktest.Unread(snapshot.AWSNode)), []string{"unknown prod [] aws-node: denied"}},
	}
}

// The numbers are those of EKS's own list for these types
// (eni-max-pods.txt of github.com/awslabs/amazon-eks-ami).
func TestRoom(t *testing.T) {
	for _, tt := range []struct {
		interfaces, addresses int
		env                   map[string]string
		want                  int
	}{
		{3, 10, nil, 29}, // m5.large
		{8, 30, nil, 234},
		{2, 2, nil, 4}, // t3.nano
		{3, 10, map[string]string{"ENABLE_PREFIX_DELEGATION": "true"}, 434},
		{3, 10, map[string]string{"MAX_ENI": "2"}, 20},
		{1, 2, map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}, 2},
	} {
		got := room(snapshot.InstanceType{Interfaces: tt.interfaces, IPv4PerInterface: tt.addresses, Hypervisor: "nitro"}, tt.env)
		if got != tt.want {
			t.Errorf("room of %d x %d with %v = %d, want %d", tt.interfaces, tt.addresses, tt.env, got, tt.want)
		}
	}
}
