package enicleanup

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/detect"
	"rollcall/shared/network/leak"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// summing is a visit of a VPC with the clusters a and b, at noon.
func summing(mode leak.Mode, counts map[string]int) *visit {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var homes []*snapshot.Snapshot
	for _, name := range []string{"a", "b"} {
		homes = append(homes, &snapshot.Snapshot{Cluster: snapshot.Cluster{Name: name}})
	}
	h := handler{settings: settings{modes: func(string) leak.Mode { return mode }}}
	h.Detector = detect.Detector{Now: func() time.Time { return noon }, Count: func(name string, n int) { counts[name] += n }}
	return &visit{tour: &tour{handler: h}, place: place{vpc: "vpc-1", homes: homes}, undone: map[string]int{"a": 2, "b": 5}}
}

// Of a day a summary tells what came back then, by subnet; of today also what is
// left, what is kept and why, and whether it was stopped.
func TestWhatASummaryTells(t *testing.T) {
	today := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	audit := func(hour int, subnet, owner string, result leak.Result) leak.Audit {
		return leak.Audit{At: today.Add(time.Duration(hour) * time.Hour), Subnet: subnet, Owner: owner, Result: result, IPs: []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")}}
	}
	audits := []leak.Audit{
		audit(-25, "s-1", "i-0", leak.Deleted), audit(-24, "s-1", "i-1", leak.Deleted), audit(-1, "s-1", "i-1", leak.WouldDelete),
		audit(0, "s-2", "i-2", leak.Deleted), audit(1, "s-1", "i-2", leak.Deleted), audit(2, "s-2", "i-3", leak.Deleted), audit(3, "s-3", "i-4", leak.WouldDelete), audit(24, "s-1", "i-5", leak.Deleted),
	}
	judged := func(cluster string, why ...leak.Reason) (list []leak.Verdict) {
		for _, w := range why {
			list = append(list, leak.Verdict{Cluster: cluster, Why: w})
		}
		return list
	}
	full := func(v *visit) {
		v.plan.Stopped = &leak.Stop{Candidates: 1, Interfaces: 2, Share: 3}
		v.plan.Judged = append(judged("a", leak.OverCap, leak.Claimed, leak.Untagged, leak.Strangers, leak.OtherCluster, leak.TagsDisagree, leak.NoDate, leak.PublicAddress, leak.PublicAddress, leak.Leaked, leak.NotSeenBefore),
			append(judged("b", leak.OverCap, leak.Untagged), append(judged("", leak.Untagged), judged("elsewhere", leak.OtherCluster)...)...)...)
	}
	kept := map[string]int{string(leak.Untagged): 2, string(leak.Strangers): 1, string(leak.OtherCluster): 2, string(leak.TagsDisagree): 1, string(leak.NoDate): 1, string(leak.PublicAddress): 2}
	for name, test := range map[string]struct {
		mode    leak.Mode
		cluster string
		from    time.Time
		change  func(*visit)
		want    report.Cleanup
	}{
		"today": {leak.Delete, "a", today, full, report.Cleanup{
			Mode: "delete", Day: today, VPC: "vpc-1", Nodes: 2, Left: 4, Kept: kept, Stopped: &report.CleanupStop{Candidates: 1, Interfaces: 2, Share: 3},
			Subnets: []report.CleanupSubnet{{Subnet: "s-1", Interfaces: 1, Addresses: 2, Nodes: 1}, {Subnet: "s-2", Interfaces: 2, Addresses: 4, Nodes: 2}},
		}},
		"today, of the second cluster": {leak.Delete, "b", today, full, report.Cleanup{
			Mode: "delete", Day: today, VPC: "vpc-1", Nodes: 2, Left: 6, Kept: map[string]int{string(leak.Untagged): 1}, Stopped: &report.CleanupStop{Candidates: 1, Interfaces: 2, Share: 3},
			Subnets: []report.CleanupSubnet{{Subnet: "s-1", Interfaces: 1, Addresses: 2, Nodes: 1}, {Subnet: "s-2", Interfaces: 2, Addresses: 4, Nodes: 2}},
		}},
		"today, nothing special": {leak.Delete, "a", today, func(*visit) {}, report.Cleanup{
			Mode: "delete", Day: today, VPC: "vpc-1", Nodes: 2, Left: 2,
			Subnets: []report.CleanupSubnet{{Subnet: "s-1", Interfaces: 1, Addresses: 2, Nodes: 1}, {Subnet: "s-2", Interfaces: 2, Addresses: 4, Nodes: 2}},
		}},
		"what would be done": {leak.DryRun, "a", today, func(*visit) {}, report.Cleanup{
			Mode: "dry-run", Day: today, VPC: "vpc-1", Nodes: 1, Left: 2, Subnets: []report.CleanupSubnet{{Subnet: "s-3", Interfaces: 1, Addresses: 2, Nodes: 1}},
		}},
		"yesterday": {leak.Delete, "a", today.Add(-day), full, report.Cleanup{
			Mode: "delete", Day: today.Add(-day), VPC: "vpc-1", Nodes: 1, Subnets: []report.CleanupSubnet{{Subnet: "s-1", Interfaces: 1, Addresses: 2, Nodes: 1}},
		}},
	} {
		v := summing(test.mode, map[string]int{})
		test.change(v)
		if diff := cmp.Diff(test.want, v.cleanup(test.cluster, test.from, audits)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A day is told again when something came back since, the mode is another, or a
// stop began or ended; not for what changes with every run.
func TestWhatIsToldAgain(t *testing.T) {
	base := report.Cleanup{Mode: "delete", Subnets: []report.CleanupSubnet{{Subnet: "s-1", Interfaces: 1}}}
	for name, test := range map[string]struct {
		change func(*report.Cleanup)
		again  bool
	}{
		"the same":              {func(*report.Cleanup) {}, false},
		"another mode":          {func(c *report.Cleanup) { c.Mode = "dry-run" }, true},
		"more came back":        {func(c *report.Cleanup) { c.Subnets = []report.CleanupSubnet{{Subnet: "s-1", Interfaces: 2}} }, true},
		"it was stopped":        {func(c *report.Cleanup) { c.Stopped = &report.CleanupStop{} }, true},
		"what waits, is kept":   {func(c *report.Cleanup) { c.Left, c.Kept = 3, map[string]int{"a": 1} }, false},
		"why, and by how many":  {func(c *report.Cleanup) { c.Nodes, c.VPC = 7, "vpc-2" }, false},
		"the day itself is key": {func(c *report.Cleanup) { c.Day = c.Day.Add(day) }, false},
	} {
		c := base
		test.change(&c)
		if got := digestOf(c) != digestOf(base); got != test.again || len(digestOf(c)) != 16 {
			t.Errorf("%s: told again %t, by %q", name, got, digestOf(c))
		}
	}
}

// What is counted of a visit: what dead nodes left, and what waits for the next run.
func TestWhatAVisitCounts(t *testing.T) {
	counts := map[string]int{}
	v := summing(leak.Delete, counts)
	for _, why := range []leak.Reason{
		leak.OverCap, leak.Claimed, leak.Leaked, leak.Untagged, leak.Strangers, leak.OtherCluster, leak.NotOptedIn, leak.NotSeenBefore, leak.OverShare, leak.AskedToday, leak.PublicAddress, leak.NoDate, leak.TagsDisagree,
	} {
		v.plan.Judged = append(v.plan.Judged, leak.Verdict{Why: why})
	}
	v.measure()
	if diff := cmp.Diff(map[string]int{"Leaked": 10, "LeftForNextRun": 9}, counts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What names no cluster is of the first of the VPC, and of the most careful mode,
// those that could not be read among them.
func TestWhoseAnInterfaceIs(t *testing.T) {
	v := summing(leak.Delete, nil)
	for cluster, want := range map[string]string{"a": "a", "b": "b", "c": "a", "": "a"} {
		if got := v.home(cluster).Cluster.Name; got != want {
			t.Errorf("%q is at home in %s, want %s", cluster, got, want)
		}
	}
	if got := []string{v.clusterOf(leak.Verdict{Cluster: "c"}), v.clusterOf(leak.Verdict{})}; got[0] != "c" || got[1] != "a" {
		t.Errorf("recorded in the name of %q", got)
	}
	v.blind = []string{"blind"}
	v.tour.modes = func(name string) leak.Mode {
		return map[string]leak.Mode{"a": leak.Delete, "b": leak.Delete, "blind": leak.DryRun}[name]
	}
	if got := v.untaggedMode(); got != leak.DryRun {
		t.Errorf("with a blind cluster that asks only: %s", got)
	}
	v.blind = nil
	if got := v.untaggedMode(); got != leak.Delete {
		t.Errorf("with clusters that delete: %s", got)
	}
	if got := interfaces(&snapshot.Snapshot{Uses: []snapshot.Use{{Interfaces: 3}, {Interfaces: 4}}}); got != 7 {
		t.Errorf("%d interfaces in use", got)
	}
}
