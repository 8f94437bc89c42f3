package ip

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestScaleOutWillNotFit(t *testing.T) {
	checktest.RunCases(t, ScaleOutWillNotFit(), scaleOutWillNotFitCases())
}

func scaleOutWillNotFitCases() []checktest.Case {
	group := func(most, desired int) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Groups[0].Max, s.Groups[0].Desired = most, desired }
	}
	types := func(names ...string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Groups[0].Types = names }
	}
	const advice = "fail (advice) subnet-0private [subnet-0private] [] subnet-0private has no room for 19 more nodes"
	return []checktest.Case{
		{"it fits", checktest.Change(free(380), group(20, 1)), []string{"pass subnet-0private [subnet-0private]"}},
		{"one address less: advice, for nothing has failed", checktest.Change(free(379), group(20, 1)), []string{advice}},
		{"a scale-out that fits now", checktest.Change(free(379), group(20, 10)), []string{advice}},
		{"one that does not", checktest.Change(free(170), group(20, 10)), []string{
			"fail subnet-0private [subnet-0private] [] subnet-0private has no room for 19 more nodes",
		}},
		{"room for less than two nodes", checktest.Change(free(39), group(20, 1)), []string{
			"fail subnet-0private [subnet-0private] [] subnet-0private has no room for 19 more nodes",
		}},
		{"a group at its maximum", checktest.Change(free(0), group(1, 1)), []string{"pass subnet-0private [subnet-0private]"}},
		{"fewer addresses at start", checktest.Change(free(120), group(20, 1), cni("WARM_IP_TARGET", "5")), []string{"pass subnet-0private [subnet-0private]"}},
		{"blocks", checktest.Change(free(700), group(20, 1), cni("ENABLE_PREFIX_DELEGATION", "true"), used("subnet-0private", 38)), []string{"pass subnet-0private [subnet-0private]"}},
		{"one block short", checktest.Change(free(700), group(20, 1), cni("ENABLE_PREFIX_DELEGATION", "true"), used("subnet-0private", 37)), []string{
			"fail (advice) subnet-0private [subnet-0private] [] subnet-0private has too few /28 blocks for 19 more nodes",
		}},
		{"blocks that nobody counted", checktest.Change(free(700), group(20, 1), cni("ENABLE_PREFIX_DELEGATION", "true"), checktest.Unread(snapshot.Usage)), []string{
			"unknown subnet-0private [subnet-0private] use of addresses: denied",
		}},
		{"blocks of a subnet that was not counted", checktest.Change(free(700), group(20, 1), cni("ENABLE_PREFIX_DELEGATION", "true")), []string{
			"unknown subnet-0private [subnet-0private] use of addresses: not read: the addresses of subnet-0private were not counted",
		}},
		{"pods have another subnet", checktest.Change(free(19), group(20, 1), podSubnet(380, ""), customNetworking), []string{
			"pass subnet-0pods [subnet-0pods]", "pass subnet-0private [subnet-0private]",
		}},
		{"which is too small", checktest.Change(free(19), group(20, 1), podSubnet(100, ""), customNetworking), []string{
			"fail (advice) subnet-0pods [subnet-0pods] [] subnet-0pods has no room for 19 more nodes", "pass subnet-0private [subnet-0private]",
		}},
		{"nodes that start now, and no more may", checktest.Change(free(18), group(1, 1), func(s *snapshot.Snapshot) {
			s.Instances[0].Launched, s.Nodes = s.Time, nil
		}), []string{"fail subnet-0private [subnet-0private] [] subnet-0private has not enough for the nodes that start now"}},
		{"nodes and pods in one subnet", checktest.Change(free(380), group(20, 1), customNetworking, func(s *snapshot.Snapshot) { s.ENIConfigs[0].Subnet = snapshottest.Private }), []string{"pass subnet-0private [subnet-0private]"}},
		{"the ENIConfigs were not read", checktest.Change(free(19), group(20, 1), podSubnet(100, ""), customNetworking, checktest.Unread(snapshot.ENIConfigsOf)), []string{
			"unknown subnet-0private [subnet-0private] eniconfigs: denied",
		}},
		{"a type that is not known", checktest.Change(free(380), group(20, 1), types("x9.huge")), []string{
			"unknown subnet-0private [subnet-0private] instance types: not read: what x9.huge carries is not known",
		}},
		{"it does not fit without that type either", checktest.Change(free(379), group(20, 1), types("m5.large", "x9.huge")), []string{advice}},
		{"nobody knows what the group launches", checktest.Change(free(380), group(20, 1), func(s *snapshot.Snapshot) {
			s.Nodegroups, s.Instances = nil, nil
		}), []string{"unknown subnet-0private [subnet-0private] launch templates: not read: which instance types eks-workers launches is not known"}},
		{"and the launch template, which would tell, was not read", checktest.Change(free(380), group(20, 1), func(s *snapshot.Snapshot) {
			s.Nodegroups, s.Instances = nil, nil
		}, checktest.Unread(snapshot.LaunchTemplates)), []string{"unknown subnet-0private [subnet-0private] launch templates: denied"}},
		{"pods with IPv6 addresses: one for each node", checktest.Change(free(19), group(20, 1), func(s *snapshot.Snapshot) { s.Cluster.IPv6 = true }), []string{"pass subnet-0private [subnet-0private]"}},
		{"another plugin: a node's own is all that is known of", checktest.Change(free(19), group(20, 1), func(s *snapshot.Snapshot) { s.CNI = nil }), []string{"pass subnet-0private [subnet-0private]"}},
		{"and that does not fit", checktest.Change(free(18), group(20, 1), func(s *snapshot.Snapshot) { s.CNI = nil }), []string{advice}},
		{"no group", checktest.Change(free(0), func(s *snapshot.Snapshot) { s.Groups = nil }), []string{"pass prod [prod subnet-0private]"}},
		{"aws-node unread", checktest.Change(free(0), group(20, 1), checktest.Unread(snapshot.AWSNode)), []string{"unknown prod [] aws-node: denied"}},
	}
}

func TestScaleOutArithmetic(t *testing.T) {
	s := free(251)
	s.InstanceTypes = append(s.InstanceTypes, snapshot.InstanceType{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30, Hypervisor: "nitro"})
	s.Groups[0].Max = 6
	s.Groups = append(s.Groups, snapshot.Group{Name: "eks-big", Max: 9, Types: []string{"m5.4xlarge"}, Subnets: []string{snapshottest.Private}})
	got := checktest.Failed(t, ScaleOutWillNotFit(), s)
	sum := "2 groups may launch 14 more nodes here: 5 m5.large x 20 + 9 m5.4xlarge x 60 = 640; 251 free"
	if value := checktest.Value(t, got, "Addresses of subnet-0private"); value != sum {
		t.Errorf("arithmetic = %q, want %q", value, sum)
	}
	if want := "subnet-0private (10.42.192.0/19, us-west-2a): " + sum + "."; got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
	// 5 x 30 + 9 x 240
	if value := checktest.Value(t, got, "When pods fill"); value != "2310 addresses" {
		t.Errorf("full size = %q, want 2310 addresses", value)
	}

	pods := checktest.Change(free(100), podSubnet(100, ""), customNetworking, func(s *snapshot.Snapshot) { s.Groups[0].Max = 20 })
	sum = "1 group may launch 19 more nodes whose pods take addresses here: 19 m5.large x 20 = 380; 100 free"
	if value := checktest.Value(t, checktest.Failed(t, ScaleOutWillNotFit(), pods), "Addresses of subnet-0pods"); value != sum {
		t.Errorf("arithmetic = %q, want %q", value, sum)
	}

	s.Groups[1].Types = []string{"m5.large", "m5.4xlarge"}
	s.Groups[1].Max = 30
	launched := *snapshottest.Instance(s, snapshottest.Node)
	launched.ID, launched.Launched, launched.Interfaces = "i-0new", s.Time, []string{"eni-0"}
	s.Instances = append(s.Instances, launched)
	got = checktest.Failed(t, ScaleOutWillNotFit(), s)
	want := "2 groups may launch 34 more nodes here: 4 m5.large x 20 + 30 of m5.large (the smallest) x 20 + 19 that a node that starts now has still to take = 699; 251 free"
	if value := checktest.Value(t, got, "Addresses of subnet-0private"); value != want {
		t.Errorf("arithmetic = %q, want %q", value, want)
	}
}
