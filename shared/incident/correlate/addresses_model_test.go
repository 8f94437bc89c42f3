package correlate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
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
func (w subnetWorld) truth(minute int) checks.ID {
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
	pass := func(check checks.ID) {
		obs.Diagnosis.Passed = append(obs.Diagnosis.Passed, diagnose.Passed{Check: check, Covers: []string{incidenttest.Subnet}})
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
		incidenttest.Fails(checkid.IPLeakedInterfaces, checks.Advice, "a few")(&obs)
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
	open := map[checks.ID]incident.Incident{}
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
	if !leaking || leak.Cause.Confidence != checks.Certain {
		return
	}
	for check, inc := range open {
		if e, _ := leak.KnownEffect(check); check != checkid.IPLeakedInterfaces && (!e.Apart || e.Told.Before(leak.Seen)) {
			t.Fatalf("%s: %s is open beside the leak that explains it: %+v, %+v", name, check, inc.Launches, leak.Launches)
		}
	}
}

func opened(incidents []incident.Incident) (ids []checks.ID) {
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
	ends := map[checks.ID]int{}
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
		var want []checks.ID
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
	for _, id := range []checks.ID{"", checkid.IPLeakedInterfaces, checkid.IPSubnetExhausted, checkid.IPRunway} {
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
		for _, check := range []checks.ID{checkid.IPRunway, checkid.LaunchSubnetFull, checkid.NodeCNINotReady, checkid.NodeNotReady, checkid.SpotBurstExceedsSubnet} {
			if e, known := leak.KnownEffect(check); !known || !e.Here() || e.Title == "" {
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
