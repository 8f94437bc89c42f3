package deleteleakedinterfaces

import (
	"fmt"
	"maps"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/checks/finding"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/shared/spec"
)

func TestWrongTargets(t *testing.T) {
	idle := func(change func(*snapshot.Interface)) func(*snapshot.Snapshot, *action.Subject) {
		return func(s *snapshot.Snapshot, of *action.Subject) {
			change(&s.Idle[0])
			seen := of.Sightings[s.Idle[0].ID]
			seen.Print = leak.Print(s.Idle[0])
			of.Sightings[s.Idle[0].ID] = seen
		}
	}
	sighting := func(change func(*leak.Sighting)) func(*snapshot.Snapshot, *action.Subject) {
		return func(s *snapshot.Snapshot, of *action.Subject) {
			seen := of.Sightings[s.Idle[0].ID]
			change(&seen)
			of.Sightings[s.Idle[0].ID] = seen
		}
	}
	owner := func(c snapshot.Creator) func(*snapshot.Snapshot, *action.Subject) {
		return func(s *snapshot.Snapshot, _ *action.Subject) { s.Creators = []snapshot.Creator{c} }
	}
	p := remedytest.Refuses(t, Remedy(), leaked, checks.All(), []remedytest.Wrong{
		{"in another subnet", idle(func(i *snapshot.Interface) { i.Subnet = snapshottest.Public }), remedy.NothingToDo},
		{"in use", idle(func(i *snapshot.Interface) { i.Status = "in-use" }), remedy.NothingToDo},
		{"of another kind", idle(func(i *snapshot.Interface) { i.Kind = "lambda" }), remedy.NothingToDo},
		{"another account's", idle(func(i *snapshot.Interface) { i.Account = "999999999999" }), remedy.NothingToDo},
		{"another VPC's", idle(func(i *snapshot.Interface) { i.VPC = "vpc-0b" }), remedy.NothingToDo},
		{"not the VPC CNI's", idle(func(i *snapshot.Interface) { i.Description = "aws-k8s-" + dead }), remedy.NothingToDo},
		{"another cluster's", idle(func(i *snapshot.Interface) { i.Tags[leak.TagCluster] = "dev" }), remedy.NothingToDo},
		{"no cluster's", idle(func(i *snapshot.Interface) { delete(i.Tags, leak.TagCluster) }), remedy.NothingToDo},
		{"too young", idle(func(i *snapshot.Interface) { i.Tags[leak.TagCreated] = snapshottest.Now().Format(time.RFC3339) }), remedy.NothingToDo},
		{"of no known age", idle(func(i *snapshot.Interface) { i.Tags[leak.TagCreated] = "yesterday" }), remedy.NothingToDo},
		{"its instance lives", owner(snapshot.Creator{Instance: dead, State: "stopped"}), remedy.NothingToDo},
		{"its instance was not asked for", owner(snapshot.Creator{Instance: "i-0other"}), remedy.NothingToDo},
		{"never seen before", func(_ *snapshot.Snapshot, of *action.Subject) { of.Sightings = nil }, NotSeenTwice},
		{"seen just now", sighting(func(x *leak.Sighting) { x.First = snapshottest.Now() }), NotSeenTwice},
		{"seen in another state", sighting(func(x *leak.Sighting) { x.Print = "other" }), NotSeenTwice},
		{"seen, and not written", sighting(func(x *leak.Sighting) { x.Version = 0 }), NotSeenTwice},
		{"nothing is idle", func(s *snapshot.Snapshot, _ *action.Subject) { s.Idle = nil }, remedy.NothingToDo},
	})
	want := &remedy.DeleteLeakedInterfaces{VPC: snapshottest.VPC, Subnet: snapshottest.Private, Interfaces: []string{"eni-0left0000"}, Addresses: 17}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	remedytest.Words(t, p)
}

// There is a choice to be made in this world.
func TestSameInAnyOrder(t *testing.T) {
	remedytest.SameInAnyOrder(t, Remedy(), func() (*snapshot.Snapshot, action.Subject) {
		s, of := leaked()
		for n := 1; n < 2*MostInterfaces; n++ {
			i := leftBehind(n)
			s.Idle = append(s.Idle, i)
			seen := of.Sightings["eni-0left0000"]
			seen.Interface = i.ID
			of.Sightings[i.ID] = seen
		}
		for _, i := range s.Idle {
			seen := of.Sightings[i.ID]
			seen.Print = leak.Print(i)
			of.Sightings[i.ID] = seen
		}
		return s, of
	}, checks.All())
}

// EC2 itself refuses what is not the VPC CNI's, and what is another cluster's.
func TestGrants(t *testing.T) {
	named := func(sid string, clusters ...string) spec.Grant {
		return spec.Grant{
			Sid: sid, Why: "Deleting interfaces of terminated nodes frees their addresses. EC2's dry run needs the permission too.",
			Actions: []string{"ec2:DeleteNetworkInterface"}, Resources: []spec.Resource{"arn:${Partition}:ec2:${Region}:${Account}:network-interface/*"},
			Conditions: map[string]map[string][]string{
				"StringLike":   {"aws:ResourceTag/node.k8s.amazonaws.com/instance_id": {"i-*"}},
				"StringEquals": {"aws:ResourceTag/cluster.k8s.amazonaws.com/name": clusters},
			},
		}
	}
	unnamed := spec.Grant{
		Sid: "DeleteLeakedInterfacesWithoutCluster", Why: "The VPC CNI without CLUSTER_NAME names no cluster; the operator opted these VPCs in.",
		Actions: []string{"ec2:DeleteNetworkInterface"}, Resources: []spec.Resource{"arn:${Partition}:ec2:${Region}:${Account}:network-interface/*"},
		Conditions: map[string]map[string][]string{
			"StringLike": {"aws:ResourceTag/node.k8s.amazonaws.com/instance_id": {"i-*"}},
			"Null":       {"aws:ResourceTag/cluster.k8s.amazonaws.com/name": {"true"}},
			"ArnLike":    {"ec2:Vpc": {"arn:${Partition}:ec2:${Region}:*:vpc/vpc-0a"}},
		},
	}
	var many []string
	for n := range 21 {
		many = append(many, fmt.Sprintf("c%02d", n))
	}
	for _, test := range []struct {
		name               string
		clusters, untagged []string
		want               []spec.Grant
	}{
		{"nobody", nil, nil, nil},
		{"two clusters", []string{"dev", "prod"}, nil, []spec.Grant{named("DeleteLeakedInterfaces", "dev", "prod")}},
		{"more than a statement holds", many, nil, []spec.Grant{named("DeleteLeakedInterfaces", many[:20]...), named("DeleteLeakedInterfaces2", "c20")}},
		{"a VPC without a cluster's name", []string{"prod"}, []string{"vpc-0a"}, []spec.Grant{named("DeleteLeakedInterfaces", "prod"), unnamed}},
	} {
		if diff := cmp.Diff(test.want, Grants(test.clusters, test.untagged)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// What looks left behind and is held back is said, and is no part of what is approved.
func TestHeldBack(t *testing.T) {
	plan := func(more ...snapshot.Interface) remedy.Plan {
		s, of := leaked()
		s.Idle = append(s.Idle, more...)
		p, no := remedytest.Make(Remedy(), s, of, checks.All())
		if no != nil {
			t.Fatalf("refused: %s", no.Says)
		}
		return remedy.Plan{Cleanup: p}
	}
	young, foreign, busy := leftBehind(1), leftBehind(2), leftBehind(3)
	young.Tags = maps.Clone(young.Tags)
	young.Tags[leak.TagCreated] = snapshottest.Now().Format(time.RFC3339)
	foreign.Tags = maps.Clone(foreign.Tags)
	foreign.Tags[leak.TagCluster] = "dev"
	busy.Status = "in-use"
	alone := plan()
	for name, test := range map[string]struct {
		more []snapshot.Interface
		want string
	}{
		"none":                         {nil, ""},
		"another cluster's, or in use": {[]snapshot.Interface{foreign, busy}, ""},
		"too young":                    {[]snapshot.Interface{young}, "1 more held back, younger than 5 min."},
		"seen by one look, and young":  {[]snapshot.Interface{leftBehind(4), leftBehind(5), young}, "3 more held back: 1 younger than 5 min, 2 seen by only one run."},
	} {
		got := plan(test.more...)
		if got.Held() != test.want || got.Hash() != alone.Hash() {
			t.Errorf("%s: held %q, want %q; the same plan: %t", name, got.Held(), test.want, got.Hash() == alone.Hash())
		}
	}
}

// What is not to be deleted does not keep the rest, whatever comes first.
func TestBesideOthers(t *testing.T) {
	before := func(i snapshot.Interface) func(*snapshot.Snapshot, *action.Subject) {
		return func(s *snapshot.Snapshot, of *action.Subject) {
			s.Idle = append([]snapshot.Interface{i}, s.Idle...)
		}
	}
	elsewhere, busy := leftBehind(1), leftBehind(2)
	elsewhere.Subnet, busy.Status = snapshottest.Public, "in-use"
	remedytest.Allows(t, Remedy(), leaked, checks.All(), []remedytest.Harmless{
		{"one in another subnet", before(elsewhere)},
		{"one in use", before(busy)},
		{"seen just long enough ago", func(_ *snapshot.Snapshot, of *action.Subject) {
			seen := of.Sightings["eni-0left0000"]
			seen.First = snapshottest.Now().Add(-5 * time.Minute)
			of.Sightings["eni-0left0000"] = seen
		}},
	})
}

// How many were looked at is said: those of the subnet.
func TestSaysHowMany(t *testing.T) {
	for _, test := range []struct {
		name  string
		wrong func(*snapshot.Snapshot, *action.Subject)
		want  action.Refusal
	}{
		{"none is left behind", func(s *snapshot.Snapshot, _ *action.Subject) { s.Creators = nil }, action.Refusal{
			Reason: remedy.NothingToDo, Says: "None of 2 idle interfaces in subnet-0private was leaked by a terminated node of prod.",
		}},
		{"none was seen", func(_ *snapshot.Snapshot, of *action.Subject) { of.Sightings = nil }, action.Refusal{
			Reason: NotSeenTwice, Says: "2 interfaces look leaked in subnet-0private, but no earlier run of eni-cleanup has seen them like this.",
		}},
	} {
		s, of := leaked()
		elsewhere := leftBehind(2)
		elsewhere.Subnet = snapshottest.Public
		s.Idle = append(s.Idle, leftBehind(1), elsewhere)
		test.wrong(s, &of)
		p, no := remedytest.Make(Remedy(), s, of, checks.All())
		if diff := cmp.Diff(&test.want, no); diff != "" {
			t.Errorf("%s: planned %+v (-want +got):\n%s", test.name, p, diff)
		}
	}
}

// They stand in the order of their ids, whichever is the oldest.
func TestByID(t *testing.T) {
	s, of := leaked()
	older := leftBehind(1)
	older.Tags[leak.TagCreated] = snapshottest.Now().Add(-4 * time.Hour).Format(time.RFC3339)
	s.Idle = append(s.Idle, older)
	of.Sightings[older.ID] = leak.Sighting{Interface: older.ID, First: s.Time.Add(-time.Hour), Print: leak.Print(older), Version: 1}
	p, no := remedytest.Make(Remedy(), s, of, checks.All())
	if no != nil {
		t.Fatal(no.Says)
	}
	if diff := cmp.Diff([]string{"eni-0left0000", "eni-0left0001"}, p.Interfaces); diff != "" {
		t.Errorf("interfaces (-want +got):\n%s", diff)
	}
}

const dead = "i-0dead00000000dead"

func leftBehind(n int) snapshot.Interface {
	return snapshot.Interface{
		ID: fmt.Sprintf("eni-0left%04d", n), Account: "123456789012", VPC: snapshottest.VPC, Subnet: snapshottest.Private, Status: "available", Kind: "interface",
		Description: "aws-K8S-" + dead, PrivateIPs: []netip.Addr{netip.MustParseAddr("10.42.192.77")},
		Prefixes: []netip.Prefix{netip.MustParsePrefix("10.42.193.0/28")},
		Tags: map[string]string{
			leak.TagInstance: dead, leak.TagCluster: snapshottest.ClusterName, leak.TagCreated: snapshottest.Now().Add(-3 * time.Hour).Format(time.RFC3339),
		},
	}
}

// leaked is a subnet with an interface left behind, which a run has seen before.
func leaked() (*snapshot.Snapshot, action.Subject) {
	s := snapshottest.PrivateWithNAT()
	i := leftBehind(0)
	s.Idle = []snapshot.Interface{i}
	s.Creators = []snapshot.Creator{{Instance: dead, State: "terminated"}}
	return s, action.Subject{
		Cluster: snapshottest.ClusterName, Check: "ip/leaked-interfaces", Resource: snapshottest.Private, Covers: []string{snapshottest.Private},
		Sightings: map[string]leak.Sighting{i.ID: {Interface: i.ID, First: s.Time.Add(-time.Hour), Print: leak.Print(i), Version: 1}},
	}
}

func TestIsBounded(t *testing.T) {
	s, of := leaked()
	s.Idle = nil
	for n := range 3 * MostInterfaces {
		i := leftBehind(n)
		s.Idle = append(s.Idle, i)
		of.Sightings[i.ID] = leak.Sighting{Interface: i.ID, First: s.Time.Add(-time.Hour), Print: leak.Print(i), Version: 1}
	}
	p, no := remedytest.Make(Remedy(), s, of, checks.All())
	if no != nil || len(p.Interfaces) != MostInterfaces || p.Addresses != 17*MostInterfaces {
		t.Fatalf("%+v, %+v", no, p)
	}
}

func TestRefusesUnread(t *testing.T) {
	remedytest.RefusesUnread(t, Remedy(), leaked, finding.Finding{Outcome: finding.Fail, Resource: snapshottest.Private},
		snapshot.Clusters, snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf)
}

// What earlier runs have seen is part of the plan's grounds.
func TestReadsSightings(t *testing.T) {
	if !Remedy().More.Sightings {
		t.Error("what earlier runs have seen is not read")
	}
}

func TestWords(t *testing.T) {
	got := remedy.DeleteLeakedInterfaces{Subnet: "subnet-0a", Interfaces: []string{"eni-1", "eni-2"}, Addresses: 17}.Words(remedy.Place{Region: "us-west-2", Cluster: "prod"})
	want := remedy.Words{
		Title: "Delete 2 interfaces leaked in subnet-0a",
		Steps: []string{"eni-cleanup deletes eni-1 and eni-2 in subnet-0a, each only if all of its rules hold: frees 17 addresses."},
		Commands: []string{
			"aws ec2 delete-network-interface --region us-west-2 --network-interface-id eni-1",
			"aws ec2 delete-network-interface --region us-west-2 --network-interface-id eni-2",
		},
		Undo: []string{"A deleted network interface cannot be restored; the VPC CNI creates new ones when nodes need them."},
		Cost: "None.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
