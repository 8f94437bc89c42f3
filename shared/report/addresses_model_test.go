package report

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
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
		return leakedInterfaces
	case w.empty(minute):
		return subnetExhausted
	case w.falls(minute):
		return runway
	}
	return ""
}

// watch is subnet-watch's look: it sees all, and how it belongs together.
func (w subnetWorld) watch(minute int) Observation {
	obs := observe(named(fmt.Sprint("watch-", minute)))
	obs.At = at(minute)
	pass := func(check checks.ID) {
		obs.Diagnosis.Passed = append(obs.Diagnosis.Passed, diagnose.Passed{Check: check, Covers: []string{subnet}})
	}
	if !w.falls(minute) {
		pass(runway)
	}
	if !w.empty(minute) {
		pass(subnetExhausted)
	}
	switch {
	case w.cures(minute):
		leaks(hides(subnetExhausted, runway))(&obs)
	case w.leaked[minute] > 10 && !w.empty(minute):
		leaksSome()(&obs)
	case w.leaked[minute] == 0:
		addressesBack(&obs)
	case !w.empty(minute):
		fails(leakedInterfaces, checks.Advice, "a few")(&obs)
	}
	switch {
	case w.empty(minute) && !w.cures(minute):
		isEmpty(worsenedBy(leakedInterfaces))(&obs)
	case w.falls(minute) && !w.empty(minute):
		runsOut()(&obs)
	}
	return obs
}

// roll is join-check's look: it sees the launches, and that the subnet is empty.
func (w subnetWorld) roll(minute int) Observation {
	obs := observe(named(fmt.Sprint("roll-", minute)))
	obs.At = at(minute)
	began := max(0, minute-3)
	id := fmt.Sprint("i-", began)
	if !w.empty(began) || !w.empty(minute) {
		launched(id, began, Joined)(&obs)
		obs.Launches[0].Ready = at(minute)
		passed(nodeNotReady, id)(&obs)
		passed(cniNotReady, id)(&obs)
	} else {
		launched(id, began, Missed)(&obs)
		switch {
		case minute%3 == 0:
			pluginDown(id)(&obs)
		case minute%3 == 1:
			isEmpty(keepsOut(id))(&obs)
		default:
			notReady(id)(&obs)
		}
	}
	return obs
}

// start is launch-watch's look: a launch was refused.
func (w subnetWorld) refusal(minute int) Observation {
	obs := observe(named(fmt.Sprint("refusal-", minute)))
	obs.At = at(minute)
	if w.free(minute) < 1 {
		refusesLaunches(worsenedBy(subnetExhausted))(&obs)
	} else {
		passed(launchRefused, "eks-workers")(&obs)
	}
	return obs
}

// apart are incidents of one subnet that must not be open beside each other.
func apart(t *testing.T, name string, incidents []Incident) {
	t.Helper()
	open := map[checks.ID]Incident{}
	for _, inc := range incidents {
		if inc.State == Open && (ofAddresses(inc.Key.Check) || hunger(inc.Key.Check)) {
			open[inc.Key.Check] = inc
		}
	}
	leak, leaking := open[leakedInterfaces]
	if _, is := open[runway]; is {
		for check := range open {
			if check == leakedInterfaces || shortage(check) {
				t.Fatalf("%s: a runway beside %s", name, check)
			}
		}
	}
	if !leaking || leak.Cause.Confidence != checks.Certain {
		return
	}
	for check, inc := range open {
		if e, _ := leak.knownEffect(check); check != leakedInterfaces && (!e.Apart || e.Told.Before(leak.Seen)) {
			t.Fatalf("%s: %s is open beside the leak that explains it: %+v, %+v", name, check, inc.Launches, leak.Launches)
		}
	}
}

func opened(incidents []Incident) (ids []checks.ID) {
	for _, inc := range incidents {
		if inc.State == Open && ofAddresses(inc.Key.Check) && inc.Key.Check != launchRefused {
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
		var list []Observation
		for minute := range w.used {
			for _, obs := range []Observation{w.watch(minute), w.roll(minute), w.refusal(minute)} {
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
		var incidents []Incident
		now := start
		for n, obs := range list {
			now = later(now, obs.At)
			incidents = decideAll(incidents, []Observation{obs}, now)
			apart(t, fmt.Sprintf("seed %d, message %d (%s)", seed, n, obs.ID), incidents)
		}
		// In the end both look again, once the roll is long called.
		last := len(w.used) - 1
		for again := range 2 {
			for k, obs := range []Observation{w.watch(last), w.refusal(last)} {
				obs.ID = fmt.Sprint("end-", again, k)
				obs.At = at(last + 1 + 70*again)
				incidents = decideAll(incidents, []Observation{obs}, obs.At)
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
	for _, id := range []checks.ID{"", leakedInterfaces, subnetExhausted, runway} {
		if ends[id] < 10 {
			t.Errorf("only %d worlds ended with %q", ends[id], id)
		}
	}
}

// In whichever order the looks at one story arrive, one message stands in the
// end, it has all that was seen, and none stands beside it.
func TestAddressOrderDoesNotMatter(t *testing.T) {
	story := []Observation{
		observe(runsOut()),
		observe(leaks(hides(subnetExhausted))),
		observe(isEmpty(keepsOut("i-1")), launched("i-1", 0, Missed)),
		observe(refusesLaunches()),
		observe(pluginDown("i-2"), launched("i-2", 1, Missed)),
		observe(notReady("i-3"), launched("i-3", 1, Missed)),
		observe(burst(hides(subnetExhausted))),
	}
	for i := range story {
		story[i].ID, story[i].At = fmt.Sprint("look-", i), at(i)
	}
	orders := 0
	permute(len(story), func(order []int) {
		orders++
		var incidents []Incident
		for _, i := range order {
			incidents = decideAll(incidents, []Observation{story[i]}, at(10))
			apart(t, fmt.Sprint(order), incidents)
		}
		open := 0
		for _, inc := range incidents {
			if inc.State == Open {
				open++
			}
		}
		i := slices.IndexFunc(incidents, func(inc Incident) bool { return inc.Key == theLeak })
		leak := incidents[i]
		if open != 1 || leak.State != Open || leak.Affected != 3 {
			t.Fatalf("%v: %d open, the leak is %s and affects %d; want it alone, with 3 launches", order, open, leak.State, leak.Affected)
		}
		for _, check := range []checks.ID{runway, launchRefused, cniNotReady, nodeNotReady, burstTooLarge} {
			if e, known := leak.knownEffect(check); !known || !e.Here() || e.Title == "" {
				t.Fatalf("%v: the leak does not tell of %s: %+v", order, check, leak.Effects)
			}
		}
		// Cured, and both launches join: one message is resolved.
		cured := observe(addressesBack, passed(subnetExhausted, subnet), passed(runway, subnet), passed(burstTooLarge, subnet), passed(launchRefused, "eks-workers"), named("cured"))
		cured.At = at(20)
		joins := observe(named("joined"), launched("i-1", 0, Joined), readyAt(21), launched("i-2", 1, Joined), readyAt(22), launched("i-3", 1, Joined), readyAt(22))
		joins.At = at(23)
		incidents = decideAll(incidents, []Observation{cured, joins}, at(23))
		for _, inc := range incidents {
			switch {
			case inc.Key == theLeak && (inc.State != Closed || inc.Ending != Proved), inc.State != Closed:
				t.Fatalf("%v: %s is %s, %s", order, inc.Key.Check, inc.State, inc.Ending)
			case inc.Key != theLeak && inc.Ending == Proved:
				t.Fatalf("%v: %s is resolved too", order, inc.Key.Check)
			}
		}
	})
	if orders != 5040 {
		t.Errorf("%d orders, want 5040", orders)
	}
}
