package spot

import (
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
	return []checktest.Case{
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
