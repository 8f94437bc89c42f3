package reconcile_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/report"
)

// world is what is true, minute by minute, of two subnets on one route table:
// does the table lead out? Instances are launched all the time and become
// Ready half a minute later if it does.
type world struct {
	broken  [2][]bool
	minutes int
}

func newWorld(r *rand.Rand) world {
	w := world{minutes: 12 + r.IntN(20)}
	for s := range w.broken {
		broken := r.IntN(2) == 0
		for range w.minutes {
			if r.IntN(6) == 0 {
				broken = !broken
			}
			w.broken[s] = append(w.broken[s], broken)
		}
	}
	return w
}

func modelSubnet(s int) string { return fmt.Sprintf("subnet-%d", s) }

// observe is what a detector sees of a part of the world at a minute.
func (w world) observe(minute int, r *rand.Rand) report.Observation {
	obs := incidenttest.Observe(incidenttest.Named(fmt.Sprint("minute-", minute)))
	obs.At = incidenttest.At(minute)
	for s := range w.broken {
		if r.IntN(4) == 0 {
			continue // not in scope this time
		}
		launched := max(0, minute-1-r.IntN(3))
		l := report.Launch{Instance: fmt.Sprintf("i-%d-%d", s, launched), Nodegroup: "workers", Subnet: modelSubnet(s), Started: incidenttest.At(launched), Status: report.Waiting}
		if !w.broken[s][launched] {
			l.Status, l.Ready = report.Joined, incidenttest.At(launched).Add(30*time.Second)
		}
		obs.Launches = append(obs.Launches, l)
		if w.broken[s][minute] {
			incidenttest.Route(l.Instance)(&obs)
			obs.Diagnosis.Causes[len(obs.Diagnosis.Causes)-1].Covers = []string{modelSubnet(s)}
		} else {
			incidenttest.Passed("route/no-egress", modelSubnet(s))(&obs)
		}
	}
	return obs
}

// deliveries is the queue at its worst: observations lost, doubled, and late.
func (w world) deliveries(r *rand.Rand) []report.Observation {
	var list []report.Observation
	for minute := range w.minutes {
		obs := w.observe(minute, r)
		for range []int{0, 1, 1, 1, 2}[r.IntN(5)] {
			list = append(list, obs)
		}
	}
	for range r.IntN(3 * len(list)) {
		i := r.IntN(len(list))
		j := min(len(list)-1, i+r.IntN(6))
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// known is what the observations taken in so far say of each subnet: the
// newest verdict since there is an incident to say it of.
type known map[string]incident.Verdict

func (k known) take(obs report.Observation, incidents []incident.Incident) {
	if len(incidents) > 0 && slices.Contains(incidents[0].Applied, obs.ID) {
		return // a repeat tells nothing
	}
	set := func(of string, found incident.Found) {
		if have, ok := k[of]; !ok || obs.At.After(have.At) {
			k[of] = incident.Verdict{Of: of, Found: found, At: obs.At}
		}
	}
	for _, c := range obs.Diagnosis.Causes {
		set(c.Covers[0], incident.Failing)
	}
	for _, p := range obs.Diagnosis.Passed {
		if len(incidents) > 0 && slices.Contains(incidents[0].Covers, p.Covers[0]) {
			set(p.Covers[0], incident.Passing)
		}
	}
}

// failing is the newest failure that is not overtaken by a pass.
func (k known) failing() (newest time.Time, fails bool) {
	for _, v := range k {
		if v.Found == incident.Failing && (!fails || v.At.After(newest)) {
			newest, fails = v.At, true
		}
	}
	return newest, fails
}

func TestModel(t *testing.T) {
	states := map[incident.State]int{}
	endings := map[incident.Resolution]int{}
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 7))
		w := newWorld(r)
		k := known{}
		var incidents []incident.Incident
		now := incidenttest.Start
		step := func(obs report.Observation) {
			if obs.At.After(now) {
				now = obs.At
			}
			k.take(obs, incidents)
			decisions := reconcile.Decide(incidents, obs, now, incidenttest.Policy)
			if len(decisions) > 1 {
				t.Fatalf("seed %d: %d decisions on one cause", seed, len(decisions))
			}
			for _, d := range decisions {
				if !d.Changed {
					if reflect.DeepEqual(incidents[0], d.Incident) {
						continue
					}
					if diff := cmp.Diff(incidents[0], d.Incident); diff != "" {
						t.Fatalf("seed %d: %q changed the record (-before +after):\n%s", seed, d.Reason, diff)
					}
				}
				incidents = []incident.Incident{d.Incident}
			}
			if len(incidents) == 0 {
				return
			}
			inc := incidents[0]
			failing, fails := k.failing()
			overtaken := !failing.After(inc.Settled) // a node became Ready since
			if fails && !overtaken && inc.State != incident.Open {
				t.Fatalf("seed %d: %q after %s, and it fails since %v:\n%+v", seed, inc.State, obs.ID, failing, inc)
			}
			if !fails && inc.State == incident.Open {
				t.Fatalf("seed %d: still open after %s, and nothing fails", seed, obs.ID)
			}
			if inc.State == incident.Closed && inc.Resolution == incident.Proved && !inc.Proof.Ready.After(inc.Began) {
				t.Fatalf("seed %d: proved by %+v from before it began, %v", seed, inc.Proof, inc.Began)
			}
			states[inc.State]++
		}
		for _, obs := range w.deliveries(r) {
			step(obs)
		}
		// In the end the sweep sees everything, twice.
		for extra := range 2 {
			obs := incidenttest.Observe(incidenttest.Named(fmt.Sprint("sweep-", extra)))
			obs.At = incidenttest.At(w.minutes + 70*extra)
			well := true
			for s := range w.broken {
				if w.broken[s][w.minutes-1] {
					well = false
					incidenttest.Route(fmt.Sprintf("i-%d-end", s))(&obs)
					obs.Diagnosis.Causes[len(obs.Diagnosis.Causes)-1].Covers = []string{modelSubnet(s)}
				} else {
					incidenttest.Passed("route/no-egress", modelSubnet(s))(&obs)
				}
			}
			step(obs)
			if len(incidents) == 0 {
				if !well {
					t.Fatalf("seed %d: broken, and no incident", seed)
				}
				continue
			}
			want := []incident.State{incident.Open}
			if well {
				want = []incident.State{incident.Cleared, incident.Closed}[extra:]
			}
			if got := incidents[0].State; !slices.Contains(want, got) {
				t.Fatalf("seed %d: %q at the end (sweep %d), want %q", seed, got, extra, want)
			}
		}
		if len(incidents) > 0 {
			endings[incidents[0].Resolution]++
		}
	}
	// A model that never gets anywhere would prove nothing.
	for _, s := range []incident.State{incident.Open, incident.Cleared, incident.Closed} {
		if states[s] < 1000 {
			t.Errorf("only %d steps ended in %q", states[s], s)
		}
	}
	for _, e := range []incident.Resolution{incident.Proved, incident.Unproved} {
		if endings[e] < 100 {
			t.Errorf("only %d worlds ended %q", endings[e], e)
		}
	}
}

// In which order the observations come does not matter for what is known in
// the end, as long as nothing was closed on the way.
func TestOrderDoesNotMatter(t *testing.T) {
	type end struct {
		State    incident.State
		Verdicts []incident.Verdict
		Covers   []string
		Launches []report.Launch
		Affected int
		Seen     time.Time
		Began    time.Time
	}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 11))
		first := incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Waiting), incidenttest.Named("first"))
		first.At = incidenttest.Start
		var rest []report.Observation
		for minute := 1; minute <= 8; minute++ {
			obs := incidenttest.Observe(incidenttest.Named(fmt.Sprint(minute)))
			switch r.IntN(3) {
			case 0:
				obs = incidenttest.Observe(incidenttest.Route("i-1", fmt.Sprint("i-", minute)), incidenttest.Launched("i-1", 0, report.Missed), incidenttest.Named(fmt.Sprint(minute)))
			case 1:
				obs = incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Named(fmt.Sprint(minute)))
			case 2:
				obs = incidenttest.Observe(incidenttest.Launched("i-1", 0, report.Gone), incidenttest.Named(fmt.Sprint(minute)))
			}
			obs.At = incidenttest.At(minute)
			rest = append(rest, obs)
		}
		run := func(list []report.Observation) end {
			var incidents []incident.Incident
			for _, obs := range append([]report.Observation{first}, list...) {
				for _, d := range reconcile.Decide(incidents, obs, incidenttest.At(9), incidenttest.Policy) {
					incidents = []incident.Incident{d.Incident}
				}
			}
			i := incidents[0]
			return end{i.State, i.Verdicts, i.Covers, i.Launches, i.Affected, i.Seen, i.Began}
		}
		want := run(rest)
		for range 5 {
			r.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
			if diff := cmp.Diff(want, run(rest)); diff != "" {
				t.Fatalf("seed %d: another order, another end (-in order +shuffled):\n%s", seed, diff)
			}
		}
	}
}
