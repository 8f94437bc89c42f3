package checks

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/route"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

// Each check stands once in the list, in the order of the catalog, and has its entry.
func TestEveryEntryHasItsCheck(t *testing.T) {
	var want, got []checkid.ID
	for e := range catalog.All() {
		want = append(want, e.ID)
	}
	for _, c := range All() {
		got = append(got, c.ID)
		if e, known := catalog.ByID(c.ID); !known || !reflect.DeepEqual(e, c.Entry) {
			t.Errorf("%s: the check says otherwise than the catalog (-catalog +check):\n%s", c.ID, cmp.Diff(e, c.Entry))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-catalog +list):\n%s", diff)
	}
	for _, id := range []checkid.ID{"", "rollcall/cannot-look", "route/no-such-thing", checkid.AnyJoinCause} {
		if e, known := catalog.ByID(id); known || e.ID != "" {
			t.Errorf("Of(%q) = %s, %v", id, e.ID, known)
		}
	}
}

// Who judges a check stands on the check: beside join-check, the others' are few.
func TestWhoWatches(t *testing.T) {
	ids := func(list []check.Check) (of []checkid.ID) {
		for _, c := range list {
			of = append(of, c.ID)
		}
		return of
	}
	for name, tt := range map[string]struct {
		got  []check.Check
		want []checkid.ID
	}{
		"addresses": {OfAddresses(), []checkid.ID{"ip/subnet-exhausted", "ip/scale-out-will-not-fit", "ip/fragmented", "ip/runway", "ip/leaked-interfaces", "ip/leak-cause", "ip/branch-leaked"}},
		"health":    {OfHealth(), []checkid.ID{"nodegroup/health", "nodegroup/status", "nodegroup/update-failed", "cluster/health", "addon/degraded"}},
		"zones":     {OfZones(), []checkid.ID{"zone/volume-stranded", "zone/nodegroup-gap", "zone/pod-unschedulable", "zone/impaired", "zone/shifted"}},
		"pools":     {OfPools(), []checkid.ID{"spot/pool-failing", "spot/few-pools", "spot/many-refusals", "spot/rebalance-churn"}},
		"not of launches": {difference(All(), OfLaunches()), []checkid.ID{
			"nodegroup/health", "nodegroup/status", "nodegroup/update-failed", "ip/scale-out-will-not-fit", "ip/fragmented", "ip/runway", "ip/leak-cause",
			"spot/pool-failing", "spot/few-pools", "spot/many-refusals", "spot/rebalance-churn", "zone/volume-stranded", "zone/nodegroup-gap", "zone/pod-unschedulable", "zone/shifted",
		}},
		"of launches, after a while only": {difference(OfLaunches(), AtLaunch()), []checkid.ID{
			"dns/firewall", "dns/resolver-rule", "dns/private-zone", "iam/role-policies", "iam/access-missing", "iam/access-wrong-arn", "iam/sts-endpoint", "iam/sts-region-deactivated", "iam/access-duplicate-mapping", "iam/aws-auth-invalid",
			"iam/cni-role-policies", "instance/max-pods", "instance/status-check", "instance/scheduled-event", "instance/ami", "instance/version-skew", "instance/console-error",
			"instance/common-factor", "instance/unowned",
			"cluster/health", "addon/degraded", "node/not-registered", "node/not-ready", "node/cni-not-ready", "node/uninitialized", "node/csr-pending", "node/not-initialized",
			"ip/branch-interfaces", "ip/pod-without-address",
			"spot/burst-exceeds-subnet", "zone/impaired", "karpenter/nodeclass-not-ready", "karpenter/nodepool-limit", "cni/ipv6", "cni/version", "cni/eniconfig", "cni/pod-identity-agent",
		}},
	} {
		expect.Same(t, name, ids(tt.got), tt.want)
	}
	for _, c := range All() {
		if swept := c.InSweep != nil || c.ID.Family() == checkid.Launch || c.ID.Family() == checkid.Karpenter || c.ID == checkid.RouteCrossZoneNAT || c.ID == checkid.InstanceClusterCA || c.ID == checkid.NodeNotInitialized || c.ID == checkid.IPBranchInterfaces || c.ID == checkid.IPPodWithoutAddress; swept != c.IsWatchedBy(catalog.Sweep) {
			t.Errorf("%s: in the sweep is %v", c.ID, !swept)
		}
	}
}

// difference is a list without another one.
func difference(list, without []check.Check) (rest []check.Check) {
	have := map[checkid.ID]bool{}
	for _, c := range without {
		have[c.ID] = true
	}
	for _, c := range list {
		if !have[c.ID] {
			rest = append(rest, c)
		}
	}
	return rest
}

// What each detector judges is written beside the list of all, so that its program
// has no other check: the two agree.
func TestWatchedIsWhatTheChecksSay(t *testing.T) {
	lists := map[catalog.Detector][]check.Check{
		catalog.JoinCheck: watchedByJoinCheck(), catalog.Sweep: watchedBySweep(), catalog.NodegroupWatch: watchedByNodegroupWatch(),
		catalog.SubnetWatch: watchedBySubnetWatch(), catalog.ZoneWatch: watchedByZoneWatch(), catalog.SpotReport: watchedBySpotReport(),
	}
	for name, d := range catalog.Detectors() {
		var want, got []checkid.ID
		for _, c := range All() {
			if c.IsWatchedBy(d) {
				want = append(want, c.ID)
			}
		}
		for _, c := range lists[d] {
			got = append(got, c.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 {
			t.Errorf("%s: run make generate (-want +got):\n%s", name, diff)
		}
	}
}

// All checks on a cluster of ten thousand instances, of which one in ten has
// not joined.
func BenchmarkEval(b *testing.B) {
	s := snapshottest.PrivateWithNAT()
	for n := range 10_000 {
		id := fmt.Sprintf("i-0%05d", n)
		snapshottest.Launch(s, id, snapshottest.Private, time.Hour)
		if n%10 != 0 {
			snapshottest.Join(s, id)
		}
	}
	list := All()
	for b.Loop() {
		check.Eval(list, s)
	}
}

// A kind stands for the checks that are of it, but for the one that is asked about, and
// each is named once.
func TestExplaining(t *testing.T) {
	list := []check.Check{
		{Entry: catalog.Entry{ID: "route/a", Explains: []checkid.ID{checkid.AnyJoinCause}}},
		{Entry: catalog.Entry{ID: "route/b", Explains: []checkid.ID{checkid.AnyJoinCause}}},
		{Entry: catalog.Entry{ID: "node/c", After: []checkid.ID{"route/b", checkid.AnyJoinCause, "sg/d"}}},
	}
	expect.Same(t, "Explaining", Explaining(list, list[2]), []checkid.ID{"route/b", "route/a", "sg/d"})
	list[0].After = []checkid.ID{checkid.AnyJoinCause}
	expect.Same(t, "of one of the kind", Explaining(list, list[0]), []checkid.ID{"route/b"})
}

// A check finds the same alone, among all others, and after them: none of them
// changes a fact that they share.
func TestSharedFactsChangeNoVerdict(t *testing.T) {
	list := All()
	backwards := slices.Clone(list)
	slices.Reverse(backwards)
	of := func(results []check.Result, id checkid.ID) (own []check.Result) {
		for _, r := range results {
			if r.Check == id {
				own = append(own, r)
			}
		}
		return own
	}
	worlds := healthy()
	worlds["a node that did not join"] = checktest.Missed()
	for name, world := range worlds {
		forwards, back := check.Eval(list, world), check.Eval(backwards, world)
		for _, c := range list {
			alone := check.Eval([]check.Check{c}, world)
			for _, shared := range [][]check.Result{of(forwards, c.ID), of(back, c.ID)} {
				if !reflect.DeepEqual(shared, alone) {
					t.Errorf("%s: %s (-with the others +alone):\n%s", name, c.ID, cmp.Diff(shared, alone))
				}
			}
		}
	}
}

// In one Eval of all checks each fact is derived once.
func TestFactsAreDerivedOnce(t *testing.T) {
	most := map[string]int{}
	for _, s := range []*snapshot.Snapshot{snapshottest.PrivateWithNAT(), checktest.Missed()} {
		v := check.NewView(s)
		for _, c := range All() {
			check.Run(c, v)
		}
		for fact, times := range v.Derived() {
			most[fact] = max(most[fact], times)
		}
	}
	for fact, times := range most {
		if times != 1 {
			t.Errorf("%s: derived %d times, want once", fact, times)
		}
	}
}

// A fact whose derivation breaks breaks every check that asks for it, not only
// the first.
func TestBrokenFactBreaksEveryCheckThatAsks(t *testing.T) {
	var f check.Fact[int]
	ask := func(*check.View) []check.Finding {
		f.Get(func() int { panic("index out of range") })
		return nil
	}
	got := checktest.Lines(check.Eval([]check.Check{{Entry: catalog.Entry{ID: "test/one"}, Run: ask}, {Entry: catalog.Entry{ID: "test/two"}, Run: ask}}, &snapshot.Snapshot{Cluster: snapshot.Cluster{Name: "prod"}}))
	want := []string{
		"unknown prod [] check test/one: broken: the check itself broke: index out of range",
		"unknown prod [] check test/two: broken: the check itself broke: index out of range",
	}
	expect.Same(t, "Eval", got, want)
}

// What a finding covers may be a fact's own list: Eval sorts a copy.
func TestEvalSortsACopy(t *testing.T) {
	fact := []string{"subnet-b", "subnet-a"}
	c := check.Check{Entry: catalog.Entry{ID: "test/shares"}, Run: func(*check.View) []check.Finding {
		return []check.Finding{{Outcome: check.Pass, Resource: "prod", Covers: fact}}
	}}
	got := check.Eval([]check.Check{c}, &snapshot.Snapshot{})
	expect.Same(t, "Covers", got[0].Covers, []string{"subnet-a", "subnet-b"})
	expect.Same(t, "the fact itself", fact, []string{"subnet-b", "subnet-a"})
}

func TestEveryCheckIsWhole(t *testing.T) {
	ids := map[checkid.ID]bool{}
	for _, c := range All() {
		if ids[c.ID] {
			t.Errorf("two checks have the id %q", c.ID)
		}
		ids[c.ID] = true
	}
	for _, c := range All() {
		if n := utf8.RuneCountInString(c.Title); n == 0 || n > 70 || strings.HasSuffix(c.Title, ".") {
			t.Errorf("%s: title %q has %d runes; it needs 1 to 70 and no full stop", c.ID, c.Title, n)
		}
		if c.Cause == "" || c.Fix == "" || len(c.Links) == 0 || len(c.Needs)+len(c.Uses) == 0 || c.Run == nil {
			t.Errorf("%s: lacks a cause, a fix, a link, a need or a function", c.ID)
		}
		for _, after := range slices.Concat(c.After, c.Adds, []checkid.ID{c.ID}) {
			if _, known := catalog.ByID(after); !known && after != checkid.AnyJoinCause && after != checkid.AnyFailedLaunch {
				t.Errorf("%s: %q is not an id of the catalogue", c.ID, after)
			}
		}
		group, _, _ := strings.Cut(string(c.ID), "/")
		switch group {
		case "route", "endpoint", "sg", "nacl", "dns", "launch", "ip":
			// A trend is judged over days, and pods wait for minutes.
			// What is optional is read where something has failed.
			if !c.Optional && c.AtLaunch == (c.ID == "ip/runway" || c.ID == "ip/branch-interfaces" || c.ID == "ip/pod-without-address") {
				t.Errorf("%s: judges what is set, not what became of it, and is not AtLaunch", c.ID)
			}
		case "node", "addon", "cluster":
			if c.AtLaunch {
				t.Errorf("%s: judges what Kubernetes says, and is AtLaunch", c.ID)
			}
		}
	}
}

// A source that was not read makes the checks that need it Unknown, with the
// permission's name, and never Pass.
func TestUnreadSourceIsUnknownNeverPass(t *testing.T) {
	for _, source := range snapshottest.Sources() {
		for name, world := range healthy() {
			s := world
			snapshottest.Without(s, source)
			for _, c := range All() {
				if !slices.Contains(c.Needs, source) {
					continue
				}
				results := check.Eval([]check.Check{c}, s)
				if len(results) != 1 || results[0].Outcome != check.Unknown {
					t.Errorf("%s, %s, without %s: got %v, want one unknown", name, c.ID, source, checktest.Lines(results))
					continue
				}
				expect.Equal(t, fmt.Sprintf("%s without %s: blocked by", c.ID, source), results[0].Blocked[0].Call, "test:Read "+string(source))
			}
		}
	}
}

func healthy() map[string]*snapshot.Snapshot {
	return map[string]*snapshot.Snapshot{
		"private with NAT": snapshottest.PrivateWithNAT(),
		"public":           snapshottest.PublicOnly(),
		"endpoints only":   snapshottest.EndpointsOnly(),
		"main table":       snapshottest.MainTable(),
	}
}

// In a healthy world every check that has anything to judge passes.
func TestHealthyWorldsPassEverything(t *testing.T) {
	for name, s := range healthy() {
		for _, c := range All() {
			results := check.Eval([]check.Check{c}, s)
			if len(results) == 0 {
				t.Errorf("%s: %s says nothing", name, c.ID)
			}
			for _, r := range results {
				if r.Outcome != check.Pass {
					t.Errorf("%s: %s, want pass", name, checktest.Lines([]check.Result{r}))
				}
			}
		}
	}
}

func TestEvalRecoversAPanic(t *testing.T) {
	broken := check.Check{Entry: catalog.Entry{ID: "test/broken"}, Run: func(*check.View) []check.Finding { panic("index out of range") }}
	got := checktest.Lines(check.Eval([]check.Check{broken, checktest.One(route.Checks(), checkid.RouteNoEgress)}, snapshottest.PrivateWithNAT()))
	want := []string{
		"unknown prod [] check test/broken: broken: the check itself broke: index out of range",
		"pass rtb-0private [subnet-0private]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Eval = %q, want %q", got, want)
	}
}

func TestNotAskedForIsUnknownToo(t *testing.T) {
	s := snapshottest.PrivateWithNAT()
	delete(s.Read, snapshot.Endpoints)
	got := checktest.Lines(check.Eval([]check.Check{checktest.One(route.Checks(), checkid.RouteNoEgress)}, s))
	want := []string{"unknown prod [] vpc endpoints: not read: nobody asked for it"}
	if !slices.Equal(got, want) {
		t.Errorf("Eval = %q, want %q", got, want)
	}
}

func TestConsoleByPartition(t *testing.T) {
	for partition, want := range map[string]string{
		"aws":        "https://us-west-2.console.aws.amazon.com/vpcconsole/home?region=us-west-2#RouteTableDetails:RouteTableId=rtb-1",
		"aws-cn":     "https://us-west-2.console.amazonaws.cn/vpcconsole/home?region=us-west-2#RouteTableDetails:RouteTableId=rtb-1",
		"aws-us-gov": "https://us-west-2.console.amazonaws-us-gov.com/vpcconsole/home?region=us-west-2#RouteTableDetails:RouteTableId=rtb-1",
	} {
		expect.Equal(t, fmt.Sprint(partition), check.NewView(&snapshot.Snapshot{Partition: partition, Region: "us-west-2"}).RouteTableLink("rtb-1"), want)
	}
}

// Nothing else accuses an instance that EC2 took back, and it is no end to look
// into.
func TestNothingAccusesWhatEC2TookBack(t *testing.T) {
	const user, spot = "Client.UserInitiatedShutdown", "Server.SpotInstanceTermination"
	worlds := map[string]func() *snapshot.Snapshot{
		"EC2's reason": func() *snapshot.Snapshot { return checktest.Ended(spot, 2*time.Minute) },
		"warned": func() *snapshot.Snapshot {
			return checktest.Change(checktest.Ended(user, 3*time.Minute), checktest.Noticed(90*time.Second))
		},
		"still there": func() *snapshot.Snapshot {
			s := snapshottest.PrivateWithNAT()
			snapshottest.Unjoin(s, snapshottest.Node)
			return checktest.Change(s, checktest.Noticed(9*time.Minute))
		},
	}
	for name, world := range worlds {
		s := world()
		for i := range s.RouteTables {
			s.RouteTables[i].Routes = s.RouteTables[i].Routes[:0]
		}
		told := false
		for _, r := range check.Eval(All(), s) {
			if r.Outcome != check.Fail {
				continue
			}
			told = told || r.Check == checkid.SpotReclaimedBeforeJoin
			if r.Check != checkid.SpotReclaimedBeforeJoin && (len(r.Instances) > 0) {
				t.Errorf("%s: %s accuses %v", name, r.Check, r.Instances)
			}
		}
		if !told {
			t.Errorf("%s: spot/reclaimed-before-join says nothing", name)
		}
	}
}
