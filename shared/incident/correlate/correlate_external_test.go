package correlate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/report"
)

// subnetWorld is what is true, minute by minute, of one subnet: how many of its
// addresses are leaked, and how many are used. A node needs twenty.
type subnetWorld struct {
	total        int
	leaked, used []int
}

func newSubnetWorld(r *rand.Rand) subnetWorld {
	w := subnetWorld{total: 100}
	leaked, used, pace := 0, 20+r.IntN(40), 0
	for range 20 + r.IntN(30) {
		switch r.IntN(9) {
		case 0:
			leaked += r.IntN(40)
		case 1:
			leaked = 0 // cleaned up
		case 2:
			pace = r.IntN(9) - 4
		}
		used = min(max(used+pace, 0), w.total)
		leaked = min(leaked, w.total-used)
		w.leaked, w.used = append(w.leaked, leaked), append(w.used, used)
	}
	return w
}

const aNode = 20

func (w subnetWorld) free(minute int) int   { return w.total - w.used[minute] - w.leaked[minute] }
func (w subnetWorld) empty(minute int) bool { return w.free(minute) < aNode }
func (w subnetWorld) cures(minute int) bool {
	return w.empty(minute) && w.free(minute)+w.leaked[minute] >= aNode
}
func (w subnetWorld) falls(minute int) bool {
	return minute > 0 && w.free(minute) < w.free(minute-1) && w.free(minute) < 2*aNode
}

// truth is the one incident that should be open after a full look.
func (w subnetWorld) truth(minute int) checkid.ID {
	switch {
	case w.cures(minute), w.leaked[minute] > 10 && !w.empty(minute):
		return checkid.IPLeakedInterfaces
	case w.empty(minute):
		return checkid.IPSubnetExhausted
	case w.falls(minute):
		return checkid.IPRunway
	}
	return ""
}

// watch is subnet-watch's look: it sees all, and how it belongs together.
func (w subnetWorld) watch(minute int) report.Observation {
	obs := incidenttest.Observe(incidenttest.Named(fmt.Sprint("watch-", minute)))
	obs.At = incidenttest.At(minute)
	pass := func(check checkid.ID) {
		obs.Diagnosis.Passed = append(obs.Diagnosis.Passed, diagnosis.Passed{Check: check, Covers: []string{incidenttest.Subnet}})
	}
	if !w.falls(minute) {
		pass(checkid.IPRunway)
	}
	if !w.empty(minute) {
		pass(checkid.IPSubnetExhausted)
	}
	switch {
	case w.cures(minute):
		incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted, checkid.IPRunway))(&obs)
	case w.leaked[minute] > 10 && !w.empty(minute):
		incidenttest.LeaksSome()(&obs)
	case w.leaked[minute] == 0:
		incidenttest.AddressesBack(&obs)
	case !w.empty(minute):
		incidenttest.Fails(checkid.IPLeakedInterfaces, catalog.Advice, "a few")(&obs)
	}
	switch {
	case w.empty(minute) && !w.cures(minute):
		incidenttest.IsEmpty(incidenttest.WorsenedBy(checkid.IPLeakedInterfaces))(&obs)
	case w.falls(minute) && !w.empty(minute):
		incidenttest.RunsOut()(&obs)
	}
	return obs
}

// roll is join-check's look: it sees the launches, and that the subnet is empty.
func (w subnetWorld) roll(minute int) report.Observation {
	obs := incidenttest.Observe(incidenttest.Named(fmt.Sprint("roll-", minute)))
	obs.At = incidenttest.At(minute)
	began := max(0, minute-3)
	id := fmt.Sprint("i-", began)
	if !w.empty(began) || !w.empty(minute) {
		incidenttest.Launched(id, began, report.Joined)(&obs)
		obs.Launches[0].Ready = incidenttest.At(minute)
		incidenttest.Passed(checkid.NodeNotReady, id)(&obs)
		incidenttest.Passed(checkid.NodeCNINotReady, id)(&obs)
	} else {
		incidenttest.Launched(id, began, report.Missed)(&obs)
		switch {
		case minute%3 == 0:
			incidenttest.PluginDown(id)(&obs)
		case minute%3 == 1:
			incidenttest.IsEmpty(incidenttest.KeepsOut(id))(&obs)
		default:
			incidenttest.NotReady(id)(&obs)
		}
	}
	return obs
}

// start is launch-watch's look: a launch was refused.
func (w subnetWorld) refusal(minute int) report.Observation {
	obs := incidenttest.Observe(incidenttest.Named(fmt.Sprint("refusal-", minute)))
	obs.At = incidenttest.At(minute)
	if w.free(minute) < 1 {
		incidenttest.RefusesLaunches(incidenttest.WorsenedBy(checkid.IPSubnetExhausted))(&obs)
	} else {
		incidenttest.Passed(checkid.LaunchSubnetFull, "eks-workers")(&obs)
	}
	return obs
}

// apart are incidents of one subnet that must not be open beside each other.
func apart(t *testing.T, name string, incidents []incident.Incident) {
	t.Helper()
	open := map[checkid.ID]incident.Incident{}
	for _, inc := range incidents {
		if inc.State == incident.Open && (incident.OfAddresses(inc.Key.Check) || incident.IsStarvationSymptom(inc.Key.Check)) {
			open[inc.Key.Check] = inc
		}
	}
	leak, leaking := open[checkid.IPLeakedInterfaces]
	if _, is := open[checkid.IPRunway]; is {
		for check := range open {
			if check == checkid.IPLeakedInterfaces || incident.IsShortage(check) {
				t.Fatalf("%s: a runway beside %s", name, check)
			}
		}
	}
	if !leaking || leak.Cause.Confidence != catalog.Certain {
		return
	}
	for check, inc := range open {
		if e, _ := leak.KnownEffect(check); check != checkid.IPLeakedInterfaces && (!e.Apart || e.Told.Before(leak.Seen)) {
			t.Fatalf("%s: %s is open beside the leak that explains it: %+v, %+v", name, check, inc.Launches, leak.Launches)
		}
	}
}

func opened(incidents []incident.Incident) (ids []checkid.ID) {
	for _, inc := range incidents {
		if inc.State == incident.Open && incident.OfAddresses(inc.Key.Check) && inc.Key.Check != checkid.LaunchSubnetFull {
			ids = append(ids, inc.Key.Check)
		}
	}
	slices.Sort(ids)
	return ids
}

// Whatever happens to a subnet, and whatever the queue does, one message says
// it; and once all have looked again, it is the right one.
func TestAddressModel(t *testing.T) {
	ends := map[checkid.ID]int{}
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 5))
		w := newSubnetWorld(r)
		var list []report.Observation
		for minute := range w.used {
			for _, obs := range []report.Observation{w.watch(minute), w.roll(minute), w.refusal(minute)} {
				for range []int{0, 1, 1, 2}[r.IntN(4)] {
					list = append(list, obs)
				}
			}
		}
		for range r.IntN(2 * len(list)) {
			i := r.IntN(len(list))
			j := min(len(list)-1, i+r.IntN(8))
			list[i], list[j] = list[j], list[i]
		}
		var incidents []incident.Incident
		now := incidenttest.Start
		for n, obs := range list {
			now = incident.Later(now, obs.At)
			incidents = incidenttest.DecideAll(incidents, []report.Observation{obs}, now)
			apart(t, fmt.Sprintf("seed %d, message %d (%s)", seed, n, obs.ID), incidents)
		}
		// In the end both look again, once the roll is long called.
		last := len(w.used) - 1
		for again := range 2 {
			for k, obs := range []report.Observation{w.watch(last), w.refusal(last)} {
				obs.ID = fmt.Sprint("end-", again, k)
				obs.At = incidenttest.At(last + 1 + 70*again)
				incidents = incidenttest.DecideAll(incidents, []report.Observation{obs}, obs.At)
			}
		}
		var want []checkid.ID
		if truth := w.truth(last); truth != "" {
			want = append(want, truth)
		}
		if w.free(last) < 1 && !w.cures(last) {
			want = nil // the refused launch says it
		}
		if got := opened(incidents); !slices.Equal(got, want) {
			t.Fatalf("seed %d: open in the end %v, want %v", seed, got, want)
		}
		ends[w.truth(last)]++
	}
	for _, id := range []checkid.ID{"", checkid.IPLeakedInterfaces, checkid.IPSubnetExhausted, checkid.IPRunway} {
		if ends[id] < 10 {
			t.Errorf("only %d worlds ended with %q", ends[id], id)
		}
	}
}

// In whichever order the looks at one story arrive, one message stands in the
// end, it has all that was seen, and none stands beside it.
func TestAddressOrderDoesNotMatter(t *testing.T) {
	story := []report.Observation{
		incidenttest.Observe(incidenttest.RunsOut()),
		incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted))),
		incidenttest.Observe(incidenttest.IsEmpty(incidenttest.KeepsOut("i-1")), incidenttest.Launched("i-1", 0, report.Missed)),
		incidenttest.Observe(incidenttest.RefusesLaunches()),
		incidenttest.Observe(incidenttest.PluginDown("i-2"), incidenttest.Launched("i-2", 1, report.Missed)),
		incidenttest.Observe(incidenttest.NotReady("i-3"), incidenttest.Launched("i-3", 1, report.Missed)),
		incidenttest.Observe(incidenttest.Burst(incidenttest.Hides(checkid.IPSubnetExhausted))),
	}
	for i := range story {
		story[i].ID, story[i].At = fmt.Sprint("look-", i), incidenttest.At(i)
	}
	orders := 0
	incidenttest.Permute(len(story), func(order []int) {
		orders++
		var incidents []incident.Incident
		for _, i := range order {
			incidents = incidenttest.DecideAll(incidents, []report.Observation{story[i]}, incidenttest.At(10))
			apart(t, fmt.Sprint(order), incidents)
		}
		open := 0
		for _, inc := range incidents {
			if inc.State == incident.Open {
				open++
			}
		}
		i := slices.IndexFunc(incidents, func(inc incident.Incident) bool { return inc.Key == incidenttest.TheLeak })
		leak := incidents[i]
		if open != 1 || leak.State != incident.Open || leak.Affected != 3 {
			t.Fatalf("%v: %d open, the leak is %s and affects %d; want it alone, with 3 launches", order, open, leak.State, leak.Affected)
		}
		for _, check := range []checkid.ID{checkid.IPRunway, checkid.LaunchSubnetFull, checkid.NodeCNINotReady, checkid.NodeNotReady, checkid.SpotBurstExceedsSubnet} {
			if e, known := leak.KnownEffect(check); !known || !e.Present() || e.Title == "" {
				t.Fatalf("%v: the leak does not tell of %s: %+v", order, check, leak.Effects)
			}
		}
		// Cured, and both launches join: one message is resolved.
		cured := incidenttest.Observe(incidenttest.AddressesBack, incidenttest.Passed(checkid.IPSubnetExhausted, incidenttest.Subnet), incidenttest.Passed(checkid.IPRunway, incidenttest.Subnet), incidenttest.Passed(checkid.SpotBurstExceedsSubnet, incidenttest.Subnet), incidenttest.Passed(checkid.LaunchSubnetFull, "eks-workers"), incidenttest.Named("cured"))
		cured.At = incidenttest.At(20)
		joins := incidenttest.Observe(incidenttest.Named("joined"), incidenttest.Launched("i-1", 0, report.Joined), incidenttest.ReadyAt(21), incidenttest.Launched("i-2", 1, report.Joined), incidenttest.ReadyAt(22), incidenttest.Launched("i-3", 1, report.Joined), incidenttest.ReadyAt(22))
		joins.At = incidenttest.At(23)
		incidents = incidenttest.DecideAll(incidents, []report.Observation{cured, joins}, incidenttest.At(23))
		for _, inc := range incidents {
			switch {
			case inc.Key == incidenttest.TheLeak && (inc.State != incident.Closed || inc.Resolution != incident.Proved), inc.State != incident.Closed:
				t.Fatalf("%v: %s is %s, %s", order, inc.Key.Check, inc.State, inc.Resolution)
			case inc.Key != incidenttest.TheLeak && inc.Resolution == incident.Proved:
				t.Fatalf("%v: %s is resolved too", order, inc.Key.Check)
			}
		}
	})
	if orders != 5040 {
		t.Errorf("%d orders, want 5040", orders)
	}
}

// Leak, runway, shortage, join failure: one message, whoever saw what first.
func TestAddressChain(t *testing.T) {
	type reasons = map[report.Key]incident.Reason
	type states = map[report.Key]incident.State
	leaked := incidenttest.Step{Name: "leak", Obs: incidenttest.Observe(incidenttest.LeaksSome()), Want: reasons{incidenttest.TheLeak: incident.Opened}, State: states{incidenttest.TheLeak: incident.Open}}
	for _, test := range []struct {
		name  string
		steps []incidenttest.Step
		// notes and events are of the incident that opened first.
		notes, events string
	}{
		{"the ips story", []incidenttest.Step{
			leaked,
			{Name: "foreseen", Minute: 5, Obs: incidenttest.Observe(incidenttest.LeaksSome(), incidenttest.RunsOut()), Want: reasons{incidenttest.TheLeak: incident.BetterKnown}},
			{Name: "empty", Minute: 30, Obs: incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted, checkid.IPRunway))), Want: reasons{incidenttest.TheLeak: incident.IsWorse}},
			{Name: "a launch is refused", Minute: 31, Obs: incidenttest.Observe(incidenttest.RefusesLaunches()), Want: reasons{incidenttest.TheLeak: incident.BetterKnown}},
			{Name: "a node starves", Minute: 34, Obs: incidenttest.Observe(incidenttest.PluginDown("i-1"), incidenttest.Launched("i-1", 30, report.Missed)), Want: reasons{incidenttest.TheLeak: incident.MoreAffected}},
			{Name: "another", Minute: 35, Obs: incidenttest.Observe(incidenttest.NotReady("i-2"), incidenttest.Launched("i-2", 31, report.Missed)), Want: reasons{incidenttest.TheLeak: incident.MoreAffected}},
			{Name: "cleaned up", Minute: 40, Obs: incidenttest.Observe(incidenttest.AddressesBack, incidenttest.Passed(checkid.IPSubnetExhausted, incidenttest.Subnet), incidenttest.Passed(checkid.IPRunway, incidenttest.Subnet)), Want: reasons{incidenttest.TheLeak: incident.CauseGone}, State: states{incidenttest.TheLeak: incident.Cleared}},
			{Name: "they join", Minute: 42, Obs: incidenttest.Observe(incidenttest.Launched("i-1", 30, report.Joined), incidenttest.ReadyAt(41), incidenttest.Launched("i-2", 31, report.Joined), incidenttest.ReadyAt(42)), Want: reasons{incidenttest.TheLeak: incident.IsProved}, State: states{incidenttest.TheLeak: incident.Closed}},
			{Name: "well", Minute: 45, Obs: incidenttest.Observe(incidenttest.Passed(checkid.IPSubnetExhausted, incidenttest.Subnet))},
		}, "opened joined-ip-runway worse joined-launch-subnet-full joined-node-cni-not-ready joined-node-not-ready cleared proved", "Opened Changed Resolved"},
		{"nobody was affected: it closes by itself", []incidenttest.Step{
			leaked,
			{Name: "cleaned up", Minute: 14, Obs: incidenttest.Observe(incidenttest.AddressesBack), Want: reasons{incidenttest.TheLeak: incident.IsProved}, State: states{incidenttest.TheLeak: incident.Closed}},
		}, "opened proved", "Opened Resolved"},
		{"a few are left that no cleanup takes", []incidenttest.Step{
			leaked,
			{Name: "advice", Minute: 14, Obs: incidenttest.Observe(incidenttest.Fails(checkid.IPLeakedInterfaces, catalog.Advice, "2 addresses")), Want: reasons{incidenttest.TheLeak: incident.IsProved}},
		}, "opened proved", "Opened Resolved"},
		{"a runway gives way to what it foresaw", []incidenttest.Step{
			{Name: "foreseen", Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Opened}},
			{Name: "empty", Minute: 90, Obs: incidenttest.Observe(incidenttest.IsEmpty()), Want: reasons{incidenttest.TheEmpty: incident.Opened, incidenttest.TheRunway: incident.IsSuperseded}},
			{Name: "seen again", Minute: 95, Obs: incidenttest.Observe(incidenttest.IsEmpty(), incidenttest.RunsOut()), Want: reasons{incidenttest.TheEmpty: incident.NothingNew}},
		}, "opened superseded", "Opened Resolved"},
		{"a runway gives way to its reason", []incidenttest.Step{
			{Name: "foreseen", Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Opened}},
			{Name: "leak", Minute: 5, Obs: incidenttest.Observe(incidenttest.LeaksSome()), Want: reasons{incidenttest.TheLeak: incident.Opened, incidenttest.TheRunway: incident.IsSuperseded}},
			{Name: "cured", Minute: 20, Obs: incidenttest.Observe(incidenttest.AddressesBack), Want: reasons{incidenttest.TheLeak: incident.IsProved}},
			{Name: "it still falls", Minute: 60, Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Reopened}, State: states{incidenttest.TheRunway: incident.Open}},
		}, "opened superseded reopened", "Opened Resolved Reopened"},
		{"a runway that is over closes by itself, and comes back into its message", []incidenttest.Step{
			{Name: "foreseen", Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Opened}},
			{Name: "over", Minute: 5, Obs: incidenttest.Observe(incidenttest.Passed(checkid.IPRunway, incidenttest.Subnet)), Want: reasons{incidenttest.TheRunway: incident.IsProved}},
			{Name: "again", Minute: 10, Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Reopened}},
		}, "opened proved reopened", "Opened Resolved Reopened"},
		{"cured, and still too small", []incidenttest.Step{
			{Name: "leak", Obs: incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted))), Want: reasons{incidenttest.TheLeak: incident.Opened}},
			{Name: "empty, says another look", Minute: 3, Obs: incidenttest.Observe(incidenttest.IsEmpty()), Want: reasons{incidenttest.TheLeak: incident.BetterKnown}},
			{Name: "cured", Minute: 10, Obs: incidenttest.Observe(incidenttest.AddressesBack, incidenttest.IsEmpty()), Want: reasons{incidenttest.TheLeak: incident.IsProved, incidenttest.TheEmpty: incident.Opened}, State: states{incidenttest.TheEmpty: incident.Open}},
		}, "opened joined-ip-subnet-exhausted proved", "Opened Changed Resolved"},
		{"cured, still too small, and launches wait", []incidenttest.Step{
			{Name: "leak", Obs: incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted), incidenttest.KeepsOut("i-1")), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheLeak: incident.Opened}},
			{Name: "cured", Minute: 10, Obs: incidenttest.Observe(incidenttest.AddressesBack), Want: reasons{incidenttest.TheLeak: incident.CauseGone}, State: states{incidenttest.TheLeak: incident.Cleared}},
			{Name: "empty", Minute: 11, Obs: incidenttest.Observe(incidenttest.IsEmpty()), Want: reasons{incidenttest.TheLeak: incident.IsSuperseded, incidenttest.TheEmpty: incident.Opened}, State: states{incidenttest.TheEmpty: incident.Open}},
			{Name: "the launch is missed", Minute: 12, Obs: incidenttest.Observe(incidenttest.NotReady("i-1"), incidenttest.Launched("i-1", 0, report.Missed))},
		}, "opened cleared superseded", "Opened Changed Resolved"},
		{"a small leak in a small subnet contributes", []incidenttest.Step{
			leaked,
			{Name: "empty", Minute: 5, Obs: incidenttest.Observe(incidenttest.IsEmpty(incidenttest.WorsenedBy(checkid.IPLeakedInterfaces))), Want: reasons{incidenttest.TheEmpty: incident.Opened, incidenttest.TheLeak: incident.IsSuperseded}},
			{Name: "the leak alone, from before", Minute: 4, Now: 6, Obs: incidenttest.Observe(incidenttest.LeaksSome()), Want: reasons{incidenttest.TheEmpty: incident.NothingNew}},
			{Name: "freed", Minute: 10, Obs: incidenttest.Observe(incidenttest.LeaksSome(), incidenttest.Passed(checkid.IPSubnetExhausted, incidenttest.Subnet)), Want: reasons{incidenttest.TheEmpty: incident.CauseGone, incidenttest.TheLeak: incident.Reopened}},
		}, "opened superseded reopened", "Opened Resolved Reopened"},
		{"a leak that no longer explains the empty subnet gives way to it", []incidenttest.Step{
			{Name: "leak", Obs: incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted))), Want: reasons{incidenttest.TheLeak: incident.Opened}},
			{Name: "most is back, and it is too small", Minute: 5, Obs: incidenttest.Observe(incidenttest.IsEmpty(incidenttest.WorsenedBy(checkid.IPLeakedInterfaces))), Want: reasons{incidenttest.TheEmpty: incident.Opened, incidenttest.TheLeak: incident.IsSuperseded}},
			{Name: "late", Minute: 2, Now: 6, Obs: incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted))), Want: reasons{incidenttest.TheEmpty: incident.NothingNew}},
		}, "opened superseded", "Opened Resolved"},
		{"one look finds a burst and an empty subnet apart", []incidenttest.Step{
			{Name: "burst", Obs: incidenttest.Observe(incidenttest.Burst(incidenttest.Hides(checkid.IPSubnetExhausted))), Want: reasons{incidenttest.TheBurst: incident.Opened}},
			{Name: "explained", Minute: 1, Obs: incidenttest.Observe(incidenttest.IsEmpty()), Want: reasons{incidenttest.TheBurst: incident.BetterKnown}},
			{Name: "apart", Minute: 5, Obs: incidenttest.Observe(incidenttest.IsEmpty(), incidenttest.Burst()), Want: reasons{incidenttest.TheBurst: incident.BetterKnown, incidenttest.TheEmpty: incident.Opened}},
		}, "opened joined-ip-subnet-exhausted", "Opened Changed"},
		{"the empty subnet first, then its reason", []incidenttest.Step{
			{Name: "empty", Obs: incidenttest.Observe(incidenttest.IsEmpty(incidenttest.KeepsOut("i-1")), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheEmpty: incident.Opened}},
			{Name: "burst", Minute: 1, Obs: incidenttest.Observe(incidenttest.Burst(incidenttest.Hides(checkid.IPSubnetExhausted))), Want: reasons{incidenttest.TheBurst: incident.Opened, incidenttest.TheEmpty: incident.IsSuperseded}},
			{Name: "leak", Minute: 2, Obs: incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted, checkid.SpotBurstExceedsSubnet))), Want: reasons{incidenttest.TheLeak: incident.Opened, incidenttest.TheBurst: incident.IsSuperseded}},
		}, "opened superseded", "Opened Resolved"},
		{"the starving nodes first", []incidenttest.Step{
			{Name: "plugin", Obs: incidenttest.Observe(incidenttest.PluginDown("i-1"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.ThePlugin: incident.Opened}},
			{Name: "not Ready", Minute: 1, Obs: incidenttest.Observe(incidenttest.NotReady("i-2"), incidenttest.Launched("i-2", 0, report.Missed)), Want: reasons{incidenttest.TheNode: incident.Opened}},
			{Name: "leak", Minute: 2, Obs: incidenttest.Observe(incidenttest.Leaks()), Want: reasons{incidenttest.TheLeak: incident.Opened, incidenttest.ThePlugin: incident.IsSuperseded, incidenttest.TheNode: incident.IsSuperseded}},
		}, "opened superseded", "Opened Resolved"},
		{"nodes in another subnet are another matter", []incidenttest.Step{
			{Name: "leak", Obs: incidenttest.Observe(incidenttest.Leaks()), Want: reasons{incidenttest.TheLeak: incident.Opened}},
			{Name: "not Ready", Minute: 1, Obs: incidenttest.Observe(incidenttest.NotReady("i-2"), incidenttest.Launched("i-2", 0, report.Missed), incidenttest.InSubnet("subnet-0ther")), Want: reasons{incidenttest.TheNode: incident.Opened}},
		}, "opened", "Opened"},
		{"a leak that is not the reason takes nothing over", []incidenttest.Step{
			leaked,
			{Name: "not Ready", Minute: 1, Obs: incidenttest.Observe(incidenttest.NotReady("i-2"), incidenttest.Launched("i-2", 0, report.Missed)), Want: reasons{incidenttest.TheNode: incident.Opened}},
			{Name: "one look finds both", Minute: 5, Obs: incidenttest.Observe(incidenttest.LeaksSome(), incidenttest.RefusesLaunches()), Want: reasons{incidenttest.TheRefusal: incident.Opened, incidenttest.TheLeak: incident.NothingNew}},
		}, "opened", "Opened"},
		{"late news of what was there belongs to what is over", []incidenttest.Step{
			{Name: "leak", Minute: 5, Obs: incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted))), Want: reasons{incidenttest.TheLeak: incident.Opened}},
			{Name: "cured", Minute: 10, Obs: incidenttest.Observe(incidenttest.AddressesBack), Want: reasons{incidenttest.TheLeak: incident.IsProved}},
			{Name: "empty, late", Minute: 7, Now: 11, Obs: incidenttest.Observe(incidenttest.IsEmpty()), Want: reasons{}},
			{Name: "not Ready, late", Minute: 8, Now: 11, Obs: incidenttest.Observe(incidenttest.NotReady("i-1"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{}},
			{Name: "empty now", Minute: 15, Obs: incidenttest.Observe(incidenttest.IsEmpty()), Want: reasons{incidenttest.TheEmpty: incident.Opened}},
		}, "opened proved", "Opened Resolved"},
		{"what could not be looked at resolves nothing", []incidenttest.Step{
			leaked,
			{Name: "unknown", Minute: 5, Obs: incidenttest.Observe(func(o *report.Observation) {
				o.Diagnosis.Unknown = []diagnosis.Unknown{{Check: checkid.IPLeakedInterfaces, Covers: []string{incidenttest.Subnet}}}
			})},
		}, "opened", "Opened"},
		{"a subnet at the threshold edits, and tires of telling the thread", []incidenttest.Step{
			{Name: "1", Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(incidenttest.Passed(checkid.IPRunway, incidenttest.Subnet)), Want: reasons{incidenttest.TheRunway: incident.IsProved}},
			{Name: "2", Minute: 10, Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Reopened}},
			{Minute: 15, Obs: incidenttest.Observe(incidenttest.Passed(checkid.IPRunway, incidenttest.Subnet)), Want: reasons{incidenttest.TheRunway: incident.IsProved}},
			{Name: "3", Minute: 20, Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Reopened}},
			{Minute: 25, Obs: incidenttest.Observe(incidenttest.Passed(checkid.IPRunway, incidenttest.Subnet)), Want: reasons{incidenttest.TheRunway: incident.IsProved}},
			{Name: "4", Minute: 30, Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Reopened}},
			{Minute: 35, Obs: incidenttest.Observe(incidenttest.Passed(checkid.IPRunway, incidenttest.Subnet)), Want: reasons{incidenttest.TheRunway: incident.IsProved}},
		}, "opened proved reopened proved-2 reopened-2 proved-3", "Opened Resolved Reopened Resolved Reopened Resolved Reopened Resolved"},
	} {
		t.Run(test.name, func(t *testing.T) {
			incidents := incidenttest.Play(t, test.steps)
			first := incidents[0]
			for _, inc := range incidents {
				if len(inc.PendingEvents) > 0 && inc.PendingEvents[0].At.Before(first.PendingEvents[0].At) {
					first = inc
				}
			}
			notes, events := "", ""
			for _, n := range first.Delivery.Notes {
				notes += n.ID + " "
			}
			for _, e := range first.PendingEvents {
				events += string(e.Kind) + " "
			}
			if notes != test.notes+" " || events != test.events+" " {
				t.Errorf("notes are %q and events %q, want %q and %q", notes, events, test.notes, test.events)
			}
		})
	}
}

// What happened to the launches of an incident goes with it.
func TestBlastRadiusOfALeak(t *testing.T) {
	incidents := incidenttest.Play(t, []incidenttest.Step{
		{Obs: incidenttest.Observe(incidenttest.IsEmpty(incidenttest.KeepsOut("i-1", "i-2")), incidenttest.Launched("i-1", 0, report.Missed), incidenttest.Launched("i-2", 0, report.Missed)), Want: map[report.Key]incident.Reason{incidenttest.TheEmpty: incident.Opened}},
		{Minute: 2, Obs: incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted))), Want: map[report.Key]incident.Reason{incidenttest.TheLeak: incident.Opened, incidenttest.TheEmpty: incident.IsSuperseded}},
	})
	for _, inc := range incidents {
		switch inc.Key {
		case incidenttest.TheLeak:
			if inc.Affected != 2 || !inc.Affects("i-1") || len(inc.Effects) != 1 || inc.Effects[0].Title != incidenttest.Subnet+" has no free address" || !inc.Effects[0].Since.Equal(incidenttest.Start) {
				t.Errorf("the leak affects %d, with %+v; want both launches and the empty subnet since the start", inc.Affected, inc.Effects)
			}
		case incidenttest.TheEmpty:
			if inc.By == nil || *inc.By != incidenttest.TheLeak {
				t.Errorf("the empty subnet gave way to %v, want the leak", inc.By)
			}
		}
	}
}

// An effect that passes is over, and is there again when it is seen again.
func TestEffectsComeAndGo(t *testing.T) {
	var incidents []incident.Incident
	for i, s := range []struct {
		obs  report.Observation
		here bool
	}{
		{incidenttest.Observe(incidenttest.Leaks()), false},
		{incidenttest.Observe(incidenttest.IsEmpty()), true},
		{incidenttest.Observe(incidenttest.Passed(checkid.IPSubnetExhausted, incidenttest.Subnet)), false},
		{incidenttest.Observe(incidenttest.IsEmpty()), true},
		{incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted))), true},
		{incidenttest.Observe(incidenttest.Leaks(), incidenttest.IsEmpty()), false},
	} {
		s.obs.ID, s.obs.At = fmt.Sprint(i), incidenttest.At(5*i)
		incidents = incidenttest.DecideAll(incidents, []report.Observation{s.obs}, s.obs.At)
		e, _ := incidents[0].KnownEffect(checkid.IPSubnetExhausted)
		if got := (e.Title != "" || !e.Told.IsZero()) && e.Present(); got != s.here {
			t.Errorf("look %d: here %v, want %v: %+v", i, got, s.here, e)
		}
	}
}

// podSubnet is the subnet of pods with custom networking; their nodes stand in subnet.
const podSubnet = "subnet-0pods"

var (
	theBlocks    = report.Key{Cluster: incidenttest.Cluster, Check: checkid.IPFragmented, Resource: incidenttest.Subnet}
	thePodBlocks = report.Key{Cluster: incidenttest.Cluster, Check: checkid.IPFragmented, Resource: podSubnet}
)

// noBlock is what subnet-watch finds of a subnet without a free /28: it sees no
// instances.
func noBlock(more ...func(*diagnosis.Cause)) func(*report.Observation) {
	return incidenttest.Fails(checkid.IPFragmented, catalog.Certain, incidenttest.Subnet+" has no free /28 for a prefix", append([]func(*diagnosis.Cause){func(c *diagnosis.Cause) {
		c.Nodegroups, c.Resources = nil, []string{incidenttest.Subnet, "vpc-1"}
	}}, more...)...)
}

// ofPods makes it the pods' own subnet, with the subnet of the nodes beside it.
func ofPods(c *diagnosis.Cause) {
	c.Resource, c.Covers, c.Resources = podSubnet, []string{podSubnet}, []string{podSubnet, incidenttest.Subnet, "vpc-1"}
}

// behind names what alone explains the last cause away: of the image, say.
func behind(ids ...checkid.ID) func(*report.Observation) {
	return func(o *report.Observation) { o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1].Behind = ids }
}

func doubtful(c *diagnosis.Cause) { c.Confidence = catalog.Possible }

// One message names the subnet without a free block, whoever looks first:
// subnet-watch counts its blocks, join-check sees that aws-node does not come up.
func TestNoFreeBlockExplainsThePlugin(t *testing.T) {
	type reasons = map[report.Key]incident.Reason
	down := func(id string, more ...func(*report.Observation)) report.Observation {
		return incidenttest.Observe(append([]func(*report.Observation){incidenttest.PluginDown(id), incidenttest.Launched(id, 0, report.Missed)}, more...)...)
	}
	for name, test := range map[string]struct {
		steps []incidenttest.Step
		open  []report.Key // in the end
	}{
		"the blocks first": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened}},
			{Minute: 5, Obs: down("i-1"), Want: reasons{theBlocks: incident.IsWorse}},
		}, []report.Key{theBlocks}},
		"the plugin first": {[]incidenttest.Step{
			{Obs: down("i-1"), Want: reasons{incidenttest.ThePlugin: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened, incidenttest.ThePlugin: incident.IsSuperseded}},
		}, []report.Key{theBlocks}},
		"a node that is not Ready, and no word of its plugin": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(incidenttest.NotReady("i-1"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheNode: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened, incidenttest.TheNode: incident.IsSuperseded}},
		}, []report.Key{theBlocks}},
		"the subnet of the pods first": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock(ofPods)), Want: reasons{thePodBlocks: incident.Opened}},
			{Minute: 5, Obs: down("i-1"), Want: reasons{thePodBlocks: incident.IsWorse}},
		}, []report.Key{thePodBlocks}},
		"the subnet of the pods later": {[]incidenttest.Step{
			{Obs: down("i-1"), Want: reasons{incidenttest.ThePlugin: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(noBlock(ofPods)), Want: reasons{thePodBlocks: incident.Opened, incidenttest.ThePlugin: incident.IsSuperseded}},
		}, []report.Key{thePodBlocks}},
		"blocks are free again, and the node joins": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened}},
			{Minute: 5, Obs: down("i-1"), Want: reasons{theBlocks: incident.IsWorse}},
			{Minute: 10, Obs: incidenttest.Observe(incidenttest.Passed(checkid.IPFragmented, incidenttest.Subnet)), Want: reasons{theBlocks: incident.CauseGone}},
			{Minute: 11, Obs: down("i-1"), Want: reasons{theBlocks: incident.NothingNew}},
			{Minute: 12, Obs: incidenttest.Observe(incidenttest.Launched("i-1", 0, report.Joined), incidenttest.ReadyAt(12)), Want: reasons{theBlocks: incident.IsProved}},
		}, nil},
		"a node of another subnet": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened}},
			{Minute: 5, Obs: down("i-1", incidenttest.InSubnet("subnet-0ther")), Want: reasons{incidenttest.ThePlugin: incident.Opened}},
		}, []report.Key{theBlocks, incidenttest.ThePlugin}},
		"one node of two is of another subnet": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(incidenttest.PluginDown("i-1", "i-2"), incidenttest.Launched("i-1", 0, report.Missed), incidenttest.Launched("i-2", 0, report.Missed), incidenttest.InSubnet("subnet-0ther")), Want: reasons{theBlocks: incident.IsWorse, incidenttest.ThePlugin: incident.Opened}},
		}, []report.Key{theBlocks, incidenttest.ThePlugin}},
		"two reasons for one node are none for another": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock(), incidenttest.Leaks()), Want: reasons{theBlocks: incident.Opened, incidenttest.TheLeak: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(incidenttest.PluginDown("i-1", "i-2"), incidenttest.Launched("i-1", 0, report.Missed), incidenttest.Launched("i-2", 0, report.Missed), incidenttest.InSubnet("subnet-0ther")), Want: reasons{theBlocks: incident.IsWorse, incidenttest.TheLeak: incident.IsWorse, incidenttest.ThePlugin: incident.Opened}},
		}, []report.Key{theBlocks, incidenttest.TheLeak, incidenttest.ThePlugin}},
		"the plugin may make interfaces elsewhere": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock(doubtful)), Want: reasons{theBlocks: incident.Opened}},
			{Minute: 5, Obs: down("i-1"), Want: reasons{incidenttest.ThePlugin: incident.Opened}},
		}, []report.Key{theBlocks, incidenttest.ThePlugin}},
		"the image is not pulled, which needs no address": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(incidenttest.PluginDown("i-1"), behind("route/no-egress"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.ThePlugin: incident.Opened}},
			{Minute: 10, Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.NothingNew}},
		}, []report.Key{theBlocks, incidenttest.ThePlugin}},
		"another fault of the node": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(incidenttest.NotRegistered("i-1"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheSymptom: incident.Opened}},
		}, []report.Key{theBlocks, incidenttest.TheSymptom}},
		"no block is no shortage": {[]incidenttest.Step{
			{Obs: incidenttest.Observe(noBlock()), Want: reasons{theBlocks: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(incidenttest.IsEmpty()), Want: reasons{incidenttest.TheEmpty: incident.Opened}},
		}, []report.Key{theBlocks, incidenttest.TheEmpty}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, inc := range incidenttest.Play(t, test.steps) {
				if inc.State == incident.Open {
					got = append(got, fmt.Sprint(inc.Key))
				}
			}
			var want []string
			for _, k := range test.open {
				want = append(want, fmt.Sprint(k))
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("open in the end are %v, want %v", got, want)
			}
		})
	}
}

// A nodegroup is DEGRADED without an issue, and gets one later: one message
// stands, the one that says more.
func TestStatusGivesWayToItsIssue(t *testing.T) {
	cause := func(check checkid.ID, resource string, hidden ...diagnosis.Hidden) diagnosis.Cause {
		return diagnosis.Cause{Check: check, Confidence: catalog.Certain, Resource: resource, Covers: []string{resource}, Title: "nodegroup is degraded", Nodegroups: []string{resource}, Hidden: hidden}
	}
	at0 := incidenttest.Observe(func(o *report.Observation) {
		o.ID, o.At = "1", incidenttest.At(0)
		o.Diagnosis.Causes = []diagnosis.Cause{cause("nodegroup/status", "workers"), cause("nodegroup/status", "others")}
	})
	var incidents []incident.Incident
	for _, d := range reconcile.Decide(nil, at0, incidenttest.At(0), incidenttest.Policy) {
		incidents = append(incidents, d.Incident)
	}
	at5 := incidenttest.Observe(func(o *report.Observation) {
		o.ID, o.At = "2", incidenttest.At(5)
		o.Diagnosis.Causes = []diagnosis.Cause{cause("nodegroup/health", "workers", diagnosis.Hidden{Check: "nodegroup/status", Because: "nodegroup/health"})}
	})
	got := map[report.Key]incident.Incident{}
	for _, d := range reconcile.Decide(incidents, at5, incidenttest.At(5), incidenttest.Policy) {
		got[d.Incident.Key] = d.Incident
	}
	key := func(check checkid.ID, resource string) report.Key {
		return report.Key{Cluster: at5.Cluster, Check: check, Resource: resource}
	}
	if i := got[key("nodegroup/status", "workers")]; i.State != incident.Closed || i.Resolution != incident.Superseded {
		t.Errorf("the status of workers is %s %s, want it superseded", i.State, i.Resolution)
	}
	if i := got[key("nodegroup/health", "workers")]; i.State != incident.Open {
		t.Errorf("the issue of workers is %s, want it open", i.State)
	}
	if i, touched := got[key("nodegroup/status", "others")]; touched {
		t.Errorf("the status of others is %s %s, want it left alone", i.State, i.Resolution)
	}
}
