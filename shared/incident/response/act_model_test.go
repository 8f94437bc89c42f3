package response_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// An actor does one random thing to an incident: looks, proposes, presses,
// tells of a run, lets time pass. What it did it may do again later.
type actor struct {
	*testing.T
	r    *rand.Rand
	seed uint64
	now  time.Time
	inc  incident.Incident
	n    int
	past []func()
	// passed and failed are the times of looks that saw.
	passed, failed []time.Time
	seen           map[string]int
}

func (a *actor) minute() int { return int(a.now.Sub(incidenttest.Start) / time.Minute) }

func (a *actor) id(what string) string { a.n++; return fmt.Sprint(what, a.n) }

func (a *actor) plan() remedy.Plan {
	return incidenttest.RoutePlan([]string{"nat-a", "nat-b"}[a.r.IntN(2)])
}

func (a *actor) look() func() {
	obs := incidenttest.Observe(incidenttest.Named(a.id("look")))
	obs.At = a.now.Add(-time.Duration(a.r.IntN(4)) * time.Minute)
	switch a.r.IntN(5) {
	case 0, 1:
		incidenttest.Route("i-1")(&obs)
		a.failed = append(a.failed, obs.At)
	case 2:
		incidenttest.Passed("route/no-egress", incidenttest.Subnet)(&obs)
		a.passed = append(a.passed, obs.At)
	case 3:
		incidenttest.BlindTo("ec2:DescribeRouteTables", "route-tables", "denied")(&obs)
	case 4:
		incidenttest.Launched(a.id("i-"), a.minute()-1, report.Joined)(&obs)
	}
	return func() {
		for _, d := range reconcile.Decide([]incident.Incident{a.inc}, obs, a.now, incidenttest.Policy) {
			if d.Incident.Key == a.inc.Key {
				a.step("look", d, report.Press{}, response.May(""))
			}
		}
	}
}

func (a *actor) propose() func() {
	p := a.plan()
	list := []optin.Policy{optin.Approve, optin.Approve, optin.Auto}
	prop := incidenttest.Proposal(a.id("proposal"), a.minute()-a.r.IntN(3), p, list[a.r.IntN(len(list))])
	prop.Lasts = time.Duration(a.r.IntN(20)) * time.Minute
	switch a.r.IntN(6) {
	case 0:
		prop.Hash, prop.Plan = "", remedy.Plan{}
	case 1:
		prop.Hash = incidenttest.RoutePlan("nat-forged").Hash()
	}
	return func() { a.step("propose", response.Propose(a.inc, prop, a.now), report.Press{}, response.May("")) }
}

func (a *actor) press() func() {
	list := []report.Action{report.ApprovePlan, report.ApprovePlan, report.ApprovePlan, report.RefusePlan, report.RefusePlan, report.RefusePlan, report.Acknowledge, report.MuteFor, report.Unmute, report.CheckAgain, "delete"}
	p := incidenttest.Press(list[a.r.IntN(len(list))], a.minute()-a.r.IntN(2))
	p.ID, p.Number, p.Plan = a.id("press"), a.inc.Number-a.r.IntN(8)/7, a.plan().Hash()
	who := []response.May{response.MayYes, response.MayYes, response.MayYes, response.MayNot, response.Nobody, response.Unknown, "perhaps"}[a.r.IntN(7)]
	return func() {
		d, _ := response.Act(a.inc, p, response.Who{May: who}, a.now)
		a.step("press", d, p, who)
	}
}

func (a *actor) run() func() {
	p := a.plan()
	result := []action.Status{action.Done, action.Done, action.Done, action.Failed, action.Refused, action.Partly, action.Uncertain, ""}[a.r.IntN(8)]
	ended := a.now.Add(-time.Duration(a.r.IntN(3)) * time.Minute)
	told := report.RemedyResult{ID: a.id("told"), At: a.now, Cluster: incidenttest.Cluster, Key: incidenttest.TheRoute, Run: remedy.Run{
		ID: fmt.Sprint("run", a.r.IntN(6)), Plan: p, Hash: p.Hash(), Policy: optin.Approve, Began: ended.Add(-time.Second), Ended: ended, Result: result,
	}}
	return func() {
		a.step("run", response.ApplyRemedyResult(a.inc, told, a.now), report.Press{}, response.May(""))
	}
}

// step holds what may never be against each change of an offer.
func (a *actor) step(what string, d incident.Decision, p report.Press, who response.May) {
	a.Helper()
	before, after := a.inc, d.Incident
	if !d.Changed {
		return
	}
	a.seen[what]++
	for _, o := range after.Offers {
		i := slices.IndexFunc(before.Offers, func(b incident.Offer) bool { return b.Hash == o.Hash && b.Made.Equal(o.Made) && b.Policy == o.Policy })
		was := incident.OfferState("")
		if i >= 0 {
			was = before.Offers[i].State
		}
		if was == o.State {
			continue
		}
		a.seen[string(o.State)]++
		switch {
		case o.State == incident.Approved && o.Policy == optin.Auto && what == "propose":
		case o.State == incident.Approved && (what != "press" || who != response.MayYes || p.Action != report.ApprovePlan || p.Plan != o.Hash || was != incident.Offered):
			a.Fatalf("seed %d: %s by %q approved what was %q: %+v", a.seed, what, who, was, o)
		case o.State == incident.Approved && (!a.now.Before(o.Expires) || p.At.Before(before.Opened) || p.Number != 0 && p.Number != before.Number || before.State == incident.Closed):
			a.Fatalf("seed %d: approved at %s by the press %+v: %+v", a.seed, a.now, p, o)
		case o.State == incident.Offered && was != "":
			a.Fatalf("seed %d: %s offers again what was %q", a.seed, what, was)
		case o.State == incident.Helped && !slices.ContainsFunc(a.passed, o.Run.Ended.Before):
			a.Fatalf("seed %d: verified, and no look saw it pass after %s: %v", a.seed, o.Run.Ended, a.passed)
		case o.State == incident.Unhelpful && !slices.ContainsFunc(a.failed, o.Run.Ended.Before):
			a.Fatalf("seed %d: unhelpful, and no look saw it fail after %s: %v", a.seed, o.Run.Ended, a.failed)
		}
	}
	if live := live(after); live > 1 || len(after.Offers) > incident.MaxOffers+1 {
		a.Fatalf("seed %d: %d offers of one remedy can be approved or are: %+v", a.seed, live, after.Offers)
	}
	approvals := 0
	for _, e := range after.PendingEvents[min(len(before.PendingEvents), len(after.PendingEvents)):] {
		if e.Kind == incident.EventApproved {
			approvals++
		}
	}
	if yes := what == "press" && d.Reason == incident.IsApproved; approvals > 1 || (approvals == 1) != yes {
		a.Fatalf("seed %d: %s (%q) told of %d approvals", a.seed, what, d.Reason, approvals)
	}
	a.inc = after
}

func live(inc incident.Incident) (n int) {
	for _, o := range inc.Offers {
		if o.State == incident.Offered || o.State == incident.Approved {
			n++
		}
	}
	return n
}

func TestModelOfRemedies(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(800) {
		a := &actor{T: t, r: rand.New(rand.NewPCG(seed, 13)), seed: seed, now: incidenttest.At(1), inc: incidenttest.Broken(t), seen: seen}
		for range 60 {
			a.now = a.now.Add(time.Duration(a.r.IntN(120)) * time.Second)
			do := []func() func(){a.look, a.propose, a.press, a.press, a.run}[a.r.IntN(5)]()
			a.past = append(a.past, do)
			if a.r.IntN(8) > 0 { // else it comes later
				do()
			}
			if a.r.IntN(5) == 0 { // late, or once more
				a.past[a.r.IntN(len(a.past))]()
			}
			if a.r.IntN(3) == 0 {
				a.step("tick", response.Tick(a.inc, a.now, incidenttest.Policy), report.Press{}, response.May(""))
			}
		}
		if size := a.inc.Size(); size > 256<<10 {
			t.Fatalf("seed %d: a record of %d bytes", seed, size)
		}
	}
	// A model that never gets anywhere would prove nothing.
	for what, least := range map[string]int{"press": 1000, "approved": 200, "refused": 25, "expired": 120, "outdated": 200, "acted": 200, "helped": 100, "unhelpful": 100} {
		if seen[what] < least {
			t.Errorf("%s only %d times", what, seen[what])
		}
	}
}
