package detect

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
	"rollcall/shared/trail"
)

func in(id string, tags ...string) snapshot.Instance {
	m := map[string]string{}
	for i := 0; i < len(tags); i += 2 {
		m[tags[i]] = tags[i+1]
	}
	return snapshot.Instance{ID: id, Tags: m}
}

func TestAssign(t *testing.T) {
	groups := []snapshot.Group{
		{Name: "self-managed", Tags: map[string]string{"kubernetes.io/cluster/prod": "owned"}},
		{Name: "pool", WarmPool: true, Warm: []string{"i-warm"}, Tags: map[string]string{"eks:cluster-name": "prod"}},
		{Name: "web", Tags: map[string]string{"app": "web"}},
	}
	instances := []snapshot.Instance{
		in("i-managed", "eks:cluster-name", "prod", "kubernetes.io/cluster/other", "owned"),
		in("i-karpenter", "kubernetes.io/cluster/prod", "owned", "karpenter.sh/nodepool", "default"),
		in("i-by-group", "aws:autoscaling:groupName", "self-managed"),
		in("i-warm", "aws:autoscaling:groupName", "pool", "eks:cluster-name", "prod"),
		in("i-out-of-pool", "aws:autoscaling:groupName", "pool", "eks:cluster-name", "prod"),
		in("i-web", "aws:autoscaling:groupName", "web"),
		in("i-unwatched", "eks:cluster-name", "sandbox"),
		in("i-autoscaler-only", "k8s.io/cluster-autoscaler/enabled", "true"),
		in("i-bare"),
	}
	a := Assign(instances, Evidence{Groups: groups, Watches: func(c string) bool { return c == "prod" }})
	got := map[string][]string{"foreign": a.Foreign, "warm": a.Warm}
	for cluster, list := range a.Clusters {
		got[cluster] = IDs(list)
	}
	want := map[string][]string{
		"prod":    {"i-managed", "i-karpenter", "i-by-group", "i-out-of-pool"},
		"warm":    {"i-warm"},
		"foreign": {"i-web", "i-unwatched", "i-autoscaler-only", "i-bare"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Assign (-want +got):\n%s", diff)
	}
	if len(a.Unsure) > 0 {
		t.Errorf("unsure of %q, and every group was read", a.Unsure)
	}
}

// Nothing is called foreign because a look failed.
func TestAssignWithoutTheGroups(t *testing.T) {
	a := Assign([]snapshot.Instance{
		in("i-tagged", "eks:cluster-name", "prod", "aws:autoscaling:groupName", "pool"),
		in("i-by-group", "aws:autoscaling:groupName", "self-managed"),
		in("i-bare"),
	}, Evidence{GroupsUnread: true, Watches: func(string) bool { return true }})
	want := Assignment{
		Clusters: map[string][]snapshot.Instance{"prod": {in("i-tagged", "eks:cluster-name", "prod", "aws:autoscaling:groupName", "pool")}},
		Unsure:   []string{"i-by-group"},
		Foreign:  []string{"i-bare"},
	}
	if diff := cmp.Diff(want, a, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("Assign (-want +got):\n%s", diff)
	}
}

// EC2 takes the tags off a terminated instance before it forgets it.
func TestAssignByRecord(t *testing.T) {
	a := Assign([]snapshot.Instance{in("i-ended"), in("i-other")}, Evidence{
		Recorded: map[string]store.LaunchRecord{"i-ended": {Launch: outcome.Launch{Instance: "i-ended"}, Cluster: "prod"}},
		Watches:  func(string) bool { return true },
	})
	if got := IDs(a.Clusters["prod"]); !slices.Equal(got, []string{"i-ended"}) || !slices.Equal(a.Foreign, []string{"i-other"}) {
		t.Errorf("prod %q, foreign %q; want the recorded one in its cluster", got, a.Foreign)
	}
}

// The record of a launch and the cause of a later failure name the same nodegroup, so
// that the window of changes begins with the last good launch.
func TestTheLastGoodLaunchOfAnEksctlNodegroup(t *testing.T) {
	joined := in("i-1", "alpha.eksctl.io/nodegroup-name", "ng", "aws:autoscaling:groupName", "eksctl-prod-ng")
	failed := in("i-2", "alpha.eksctl.io/nodegroup-name", "ng", "aws:autoscaling:groupName", "eksctl-prod-ng")
	ready := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	record := Fresh("prod", joined, ready, Learned{})
	d := diagnose.Rank(checks.All(), []checks.Result{{Check: "instance/user-data", Finding: checks.Finding{
		Outcome: checks.Fail, Resource: "lt-1", Covers: []string{"i-2"}, Instances: []string{"i-2"},
	}}}, &snapshot.Snapshot{Instances: []snapshot.Instance{failed}})
	w := trail.WindowOf(incident.Incident{Began: ready.Add(time.Hour), Cause: diagnose.Cause{Nodegroups: d.Causes[0].Nodegroups}},
		[]snapshot.Past{{ID: "i-1", Nodegroup: record.Nodegroup, End: snapshot.Joined, Ready: ready}}, ready.Add(2*time.Hour))
	if w.LastGood != "i-1" {
		t.Errorf("the last good launch is %q, want i-1: recorded of %q, the cause names %q", w.LastGood, record.Nodegroup, d.Causes[0].Nodegroups)
	}
}
