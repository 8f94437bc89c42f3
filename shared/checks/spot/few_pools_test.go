package spot

import (
	"fmt"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestFewPools(t *testing.T) { checktest.RunCases(t, FewPools(), fewPoolsCases()) }

func fewPoolsCases() []checktest.Case {
	world := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(snapshottest.PrivateWithNAT(), changes...)
	}
	kinds := func(names ...string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Nodegroups[0].Types = names }
	}
	in := func(ids ...string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Nodegroups[0].Subnets = ids }
	}
	need := func(key, operator string, values ...string) snapshot.Requirement {
		return snapshot.Requirement{Key: key, Operator: operator, Values: values}
	}
	const zone2 = "us-west-2z"
	pool := func(zones []string, requirements ...snapshot.Requirement) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			class := snapshot.NodeClass{Name: "default"}
			for i, zone := range zones {
				class.Selected = append(class.Selected, snapshot.ZonedSubnet{ID: fmt.Sprint("subnet-", i), Zone: zone})
			}
			s.EC2NodeClasses = []snapshot.NodeClass{class}
			s.NodePools = []snapshot.NodePool{{Name: "web", Class: snapshot.ClassRef{Group: snapshot.KarpenterGroup, Name: "default"}, Requirements: requirements}}
		}
	}
	spots, both := need("karpenter.sh/capacity-type", "In", "spot"), need("karpenter.sh/capacity-type", "In", "spot", "on-demand")
	two := need("node.kubernetes.io/instance-type", "In", "m5.large", "m5a.large")
	one := []string{snapshottest.Zone}
	const well, few = "pass prod [nodepool/web prod workers]", "fail web [nodepool/web] [] NodePool web has only 2 Spot pools"
	rest := "pass prod [prod workers]"
	family, size := need("karpenter.k8s.aws/instance-family", "In", "m5", "m6i"), need("karpenter.k8s.aws/instance-size", "In", "large", "xlarge")
	return []checktest.Case{
		{"a NodePool of two types, on demand", world(pool(one, two)), []string{well}},
		{"Spot or on demand", world(pool(one, two, both)), []string{well}},
		{"Spot only, of any type", world(pool(one, spots)), []string{well}},
		{"Spot only, of two types", world(pool(one, two, spots)), []string{rest, few}},
		{"in two zones", world(pool([]string{snapshottest.Zone, zone2}, two, spots)), []string{rest, "fail web [nodepool/web] [] NodePool web has only 4 Spot pools"}},
		{"in three zones", world(pool([]string{snapshottest.Zone, zone2, "us-west-2y"}, two, spots)), []string{well}},
		{"two subnets of one zone", world(pool([]string{snapshottest.Zone, snapshottest.Zone}, two, spots)), []string{rest, few}},
		{"its zones are narrowed", world(pool([]string{snapshottest.Zone, zone2}, two, spots, need("topology.kubernetes.io/zone", "In", zone2))), []string{rest, few}},
		{"two families in two sizes", world(pool(one, spots, family, size)), []string{rest, "fail web [nodepool/web] [] NodePool web has only 4 Spot pools"}},
		{"families alone", world(pool(one, spots, family)), []string{well}},
		{"one family by CPUs, in Auto Mode's words", world(pool(one, spots, need("eks.amazonaws.com/instance-family", "In", "c6i"), need("eks.amazonaws.com/instance-cpu", "In", "4", "8"))), []string{rest, few}},
		{"not these two types", world(pool(one, spots, need("node.kubernetes.io/instance-type", "NotIn", "m5.large", "m5a.large"))), []string{well}},
		{"its class finds no subnet", world(pool(nil, two, spots), func(s *snapshot.Snapshot) {
			s.EC2NodeClasses[0].Conditions = map[string]snapshot.ObservedCondition{"SubnetsReady": {Condition: snapshot.Condition{Status: "False"}}}
		}), []string{well}},
		{"its class says nothing of subnets", world(pool(nil, two, spots)), []string{rest, "unknown web [nodepool/web] ec2nodeclasses: not read: its class does not say which subnets it selects"}},
		{"its class was not read", world(pool(one, two, spots), checktest.Unread(snapshot.EC2NodeClassesOf)), []string{rest, "unknown web [nodepool/web] ec2nodeclasses: denied"}},
		{"it is switched off", world(pool(one, two, spots), func(s *snapshot.Snapshot) { s.NodePools[0].Limits = snapshot.Amounts{"cpu": "0"} }), []string{well}},
		{"it is deleted", world(pool(one, two, spots), func(s *snapshot.Snapshot) { s.NodePools[0].Deleting = true }), []string{well}},
		{"the NodePools were not read, and an instance names one", world(checktest.Unread(snapshot.NodePoolsOf), func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, snapshottest.Node).Tags["karpenter.sh/nodepool"] = "web"
		}), []string{"pass prod [workers]", "unknown prod [prod] nodepools: denied"}},
		{"on-demand", world(), []string{"pass prod [prod workers]"}},
		{"one type, one zone", world(spotGroup), []string{"fail workers [workers] [] workers has only 1 Spot pool"}},
		{"two subnets of one zone are one pool", world(spotGroup, in(snapshottest.Private, snapshottest.Public)), []string{"fail workers [workers] [] workers has only 1 Spot pool"}},
		{"five types", world(spotGroup, kinds("a.x", "b.x", "c.x", "d.x", "e.x")), []string{"fail workers [workers] [] workers has only 5 Spot pools"}},
		{"six types", world(spotGroup, kinds("a.x", "b.x", "c.x", "d.x", "e.x", "f.x")), []string{"pass prod [prod workers]"}},
		{"a nodegroup that is switched off", world(spotGroup, func(s *snapshot.Snapshot) { s.Nodegroups[0].Max = 0 }), []string{"pass prod [prod workers]"}},
		{"a subnet that EC2 does not list", world(spotGroup, in(snapshottest.Private, "subnet-0gone")), []string{
			"unknown workers [workers] subnets: not read: subnet-0gone is not among the subnets that EC2 lists",
		}},
		{"one nodegroup could not be read", world(func(s *snapshot.Snapshot) {
			s.Missing = map[snapshot.Source]map[string]snapshot.Failure{snapshot.Nodegroups: {"more": {Source: snapshot.Nodegroups, Reason: snapshot.Throttled, Call: "eks:DescribeNodegroup"}}}
		}), []string{"unknown more [more] nodegroups: throttled", "pass prod [prod workers]"}},
		{"subnets unread", world(spotGroup, checktest.Unread(snapshot.Subnets)), []string{"unknown prod [] subnets: denied"}},
	}
}
