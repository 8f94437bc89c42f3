package sg

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestEFASelfRule(t *testing.T) {
	const (
		pass = "pass sg-0efa [i-0node]"
		fail = "fail (possible) sg-0efa [i-0node] [i-0node] sg-0efa does not let EFA traffic through"
	)
	self := snapshot.Rule{Protocol: "-1", From: -1, To: -1, Groups: []string{"sg-0efa"}}
	tcp := snapshot.Rule{Protocol: "tcp", From: 0, To: 65535, Groups: []string{"sg-0efa"}}
	other := snapshot.Rule{Protocol: "-1", From: -1, To: -1, Groups: []string{"sg-0other"}}
	anywhere := snapshot.Rule{Protocol: "-1", From: -1, To: -1, CIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}}
	rules := checktest.RuleSet
	group := func(id string, in, out []snapshot.Rule) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.SecurityGroups = append(s.SecurityGroups, snapshot.SecurityGroup{ID: id, VPC: snapshottest.VPC, Ingress: in, Egress: out})
		}
	}
	with := func(ids ...string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, snapshottest.Node).EFAs = append(snapshottest.Instance(s, snapshottest.Node).EFAs, snapshot.EFA{ID: "eni-0efa", Groups: ids})
		}
	}
	world := func(in, out []snapshot.Rule, more ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Missed(), append([]func(*snapshot.Snapshot){group("sg-0efa", in, out), with("sg-0efa")}, more...)...)
	}
	// gone is an instance that has ended; its template asks for an adapter.
	gone := func(s *snapshot.Snapshot) {
		i := snapshottest.Instance(s, snapshottest.Node)
		i.State, i.EFAs, i.Subnet, i.Groups = "terminated", nil, "", nil
		i.StateReason = snapshot.StateReason{Code: "Client.UserInitiatedShutdown", When: s.Time}
		s.LaunchTemplates[0].EFAs = []snapshot.EFA{{Groups: []string{"sg-0efa"}}}
		s.Scope.Instances = []string{snapshottest.Node}
	}
	checktest.RunCases(t, EFASelfRule(), []checktest.Case{
		{Name: "no adapter", World: checktest.Missed(), Want: []string{"pass prod [i-0node]"}},
		{Name: "no adapter, and no rule", World: checktest.Change(checktest.Missed(), ownGroup(nil, nil)), Want: []string{"pass prod [i-0node]"}},
		{Name: "both ways", World: world(rules(self), rules(self)), Want: []string{pass}},
		{Name: "in only", World: world(rules(self), nil), Want: []string{fail}},
		{Name: "out only", World: world(nil, rules(self)), Want: []string{fail}},
		{Name: "neither", World: world(nil, nil), Want: []string{fail}},
		{Name: "out to every address does not count", World: world(rules(self), rules(anywhere)), Want: []string{fail}},
		{Name: "in from every address does not count", World: world(rules(anywhere), rules(self)), Want: []string{fail}},
		{Name: "all of TCP is not all traffic", World: world(rules(tcp), rules(self)), Want: []string{fail}},
		{Name: "another group is not itself", World: world(rules(self), rules(other)), Want: []string{fail}},
		{Name: "one of two groups will do", World: world(rules(self), rules(self), group("sg-0bare", nil, nil), func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, snapshottest.Node).EFAs[0].Groups = []string{"sg-0bare", "sg-0efa"}
		}), Want: []string{"pass sg-0bare [i-0node]"}},
		{Name: "two groups that allow each other", World: world(rules(other), nil, group("sg-0other", nil, rules(self)), func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, snapshottest.Node).EFAs[0].Groups = []string{"sg-0efa", "sg-0other"}
		}), Want: []string{pass}},
		{Name: "of two adapters one is shut", World: world(rules(self), rules(self), group("sg-0bare", nil, nil), with("sg-0bare")), Want: []string{
			"fail (possible) sg-0bare [i-0node] [i-0node] sg-0bare does not let EFA traffic through",
		}},
		{Name: "the group is not listed", World: world(rules(self), rules(self), func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, snapshottest.Node).EFAs[0].Groups = []string{"sg-0gone"}
		}), Want: []string{"unknown sg-0gone [i-0node] security groups: not read: sg-0gone is not among the security groups that EC2 lists"}},
		{Name: "one that is not listed may allow it", World: world(rules(self), nil, func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, snapshottest.Node).EFAs[0].Groups = []string{"sg-0efa", "sg-0gone"}
		}), Want: []string{"unknown sg-0efa [i-0node] security groups: not read: sg-0gone is not among the security groups that EC2 lists"}},
		{Name: "an adapter without a group", World: checktest.Change(checktest.Missed(), with()), Want: []string{
			"unknown prod [i-0node] instances: not read: which security groups the adapters have is not said",
		}},
		{Name: "a Ready node", World: checktest.Change(snapshottest.PrivateWithNAT(), group("sg-0efa", nil, nil), with("sg-0efa")), Want: []string{
			"fail sg-0efa [i-0node] [i-0node] sg-0efa does not let EFA traffic through",
		}},
		{Name: "ended, as its template asked", World: world(nil, nil, gone), Want: []string{fail}},
		{Name: "ended, and the template was not read", World: world(nil, nil, gone, checktest.Unread(snapshot.LaunchTemplates)), Want: []string{"unknown prod [i-0node] launch templates: denied"}},
		{Name: "ended, and the template is not there", World: world(nil, nil, gone, func(s *snapshot.Snapshot) { s.LaunchTemplates = nil }), Want: []string{
			"unknown prod [i-0node] launch templates: not read: i-0node has ended, and its launch template is not among those that were read",
		}},
		{Name: "ended, and asked for none", World: world(nil, nil, gone, func(s *snapshot.Snapshot) { s.LaunchTemplates[0].EFAs = nil }), Want: []string{"pass prod [i-0node]"}},
		{Name: "not read", World: world(nil, nil, checktest.Unread(snapshot.SecurityGroups)), Want: []string{"unknown prod [] security groups: denied"}},
	})
}

func TestEFASelfRuleFix(t *testing.T) {
	self := snapshot.Rule{Protocol: "-1", From: -1, To: -1, Groups: []string{"sg-0efa"}}
	const (
		in  = "aws ec2 authorize-security-group-ingress --region us-west-2 --group-id sg-0efa --ip-permissions 'IpProtocol=-1,UserIdGroupPairs=[{GroupId=sg-0efa}]'"
		out = "aws ec2 authorize-security-group-egress --region us-west-2 --group-id sg-0efa --ip-permissions 'IpProtocol=-1,UserIdGroupPairs=[{GroupId=sg-0efa}]'"
	)
	for _, tt := range []struct {
		in, out []snapshot.Rule
		want    string
	}{
		{nil, nil, in + " && " + out}, {checktest.RuleSet(self), nil, out}, {nil, checktest.RuleSet(self), in},
	} {
		s := snapshottest.PrivateWithNAT()
		snapshottest.Launch(s, "i-0other", snapshottest.Private, time.Hour)
		for _, id := range []string{snapshottest.Node, "i-0other"} {
			// The group that has one direction is the one to mend, not the first.
			snapshottest.Instance(s, id).EFAs = []snapshot.EFA{{ID: "eni-" + id, Groups: []string{"sg-0efa", "sg-0zero"}}}
		}
		s.SecurityGroups = append(s.SecurityGroups,
			snapshot.SecurityGroup{ID: "sg-0efa", VPC: snapshottest.VPC, Ingress: tt.in, Egress: tt.out}, snapshot.SecurityGroup{ID: "sg-0zero", VPC: snapshottest.VPC})
		got := checktest.Failed(t, EFASelfRule(), s)
		if diff := cmp.Diff(got.Fix.Command, tt.want); diff != "" {
			t.Errorf("the command (-got +want):\n%s", diff)
		}
		if diff := cmp.Diff(got.Instances, []string{snapshottest.Node, "i-0other"}); diff != "" {
			t.Errorf("Instances (-got +want):\n%s", diff)
		}
	}
}
