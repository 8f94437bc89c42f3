package report

import (
	"testing"
	"time"

	"rollcall/shared/plan"
)

func TestWrongProposalsChangeNothing(t *testing.T) {
	good := proposal("p1", 2, routePlan("nat-0aa4"), plan.Approve)
	with := func(change func(*Proposal)) Proposal { p := good; change(&p); return p }
	rehash := func(change func(*plan.Plan)) Proposal {
		return with(func(p *Proposal) { change(&p.Plan); p.Hash = p.Plan.Hash() })
	}
	in := func(change func(*Incident)) Incident { inc := broken(t); change(&inc); return inc }
	for name, test := range map[string]struct {
		inc  Incident
		p    Proposal
		want Reason
	}{
		"another hash":              {broken(t), with(func(p *Proposal) { p.Hash = routePlan("nat-evil").Hash() }), IsMalformed},
		"another plan":              {broken(t), with(func(p *Proposal) { p.Plan = routePlan("nat-evil") }), IsMalformed},
		"another remedy":            {broken(t), with(func(p *Proposal) { p.Remedy = plan.ReplaceInstance }), IsMalformed},
		"of another cluster":        {broken(t), rehash(func(p *plan.Plan) { p.Cluster = "dev" }), IsMalformed},
		"of another check":          {broken(t), rehash(func(p *plan.Plan) { p.Check = "route/blackhole" }), IsMalformed},
		"of another resource":       {broken(t), rehash(func(p *plan.Plan) { p.Resource = "rtb-0eee" }), IsMalformed},
		"of a newer form":           {broken(t), rehash(func(p *plan.Plan) { p.Format++ }), IsMalformed},
		"policy off":                {broken(t), with(func(p *Proposal) { p.Policy = plan.Off }), IsMalformed},
		"no remedy":                 {broken(t), Proposal{ID: "p1", At: at(2), Key: theRoute}, IsMalformed},
		"closed":                    {in(func(i *Incident) { i.State = Closed }), good, OutOfDate},
		"said to nobody":            {in(func(i *Incident) { i.Number = 0 }), good, OutOfDate},
		"from before it was opened": {in(func(i *Incident) { i.Opened = at(3) }), good, OutOfDate},
		"the cause is gone":         {in(func(i *Incident) { i.State = Cleared }), good, OutOfDate},
		"nothing to take back":      {broken(t), with(func(p *Proposal) { p.Hash, p.Plan = "", plan.Plan{} }), NothingNew},
		"again":                     {proposed(t), good, AlreadyApplied},
		"older than the last":       {proposed(t), proposal("p0", 1, routePlan("nat-0old"), plan.Approve), OutOfDate},
	} {
		if d := Propose(test.inc, test.p, at(4)); d.Reason != test.want || d.Changed {
			t.Errorf("%s: %q, changed %v; want %q", name, d.Reason, d.Changed, test.want)
		}
	}
}

func TestProposalsReplaceOneAnother(t *testing.T) {
	inc := proposed(t)
	if n := inc.Said.Notes[len(inc.Said.Notes)-1]; n.Reason != IsProposed || n.Offer == nil || n.Offer.Hash != inc.Offers[0].Hash {
		t.Errorf("the note is %+v", n)
	}
	same := Propose(inc, proposal("p2", 30, routePlan("nat-0aa4"), plan.Approve), at(30))
	if o := same.Incident.Offers; same.Reason != IsRenewed || len(o) != 1 || !o[0].Expires.Equal(at(90)) || len(same.Incident.Said.Notes) != len(inc.Said.Notes) {
		t.Errorf("the same plan from a fresh look: %q, %+v", same.Reason, o)
	}
	other := Propose(inc, proposal("p3", 30, routePlan("nat-0bb5"), plan.Approve), at(30)).Incident
	if o := other.Offers; len(o) != 2 || o[0].State != Outdated || o[1].State != Offered {
		t.Errorf("another plan: %+v", o)
	}
	back := Propose(inc, Proposal{ID: "p4", At: at(30), Key: theRoute, Remedy: plan.AddNATRoute, Says: "nat-0aa4 is gone"}, at(30))
	if o := back.Incident.Offers[0]; back.Reason != IsOutdated || o.State != Outdated || o.Says != "nat-0aa4 is gone" {
		t.Errorf("taken back: %q, %+v", back.Reason, o)
	}
	none := Proposal{ID: "p8", At: at(3), Key: theRoute, Remedy: plan.AddNATRoute, Says: "vpc-0a is not opted in"}
	why := Propose(broken(t), none, at(3))
	if o := why.Incident.Offers; why.Reason != IsOutdated || len(o) != 1 || o[0].State != Outdated || o[0].Says != none.Says {
		t.Errorf("why there is no plan: %q, %+v", why.Reason, o)
	}
	if _, a := Act(why.Incident, press(ApprovePlan, 5), may, at(5)); a.Reason != NoSuchPlan {
		t.Errorf("what is no plan is approved: %+v", a)
	}
	auto := Propose(broken(t), proposal("p9", 2, routePlan("nat-0aa4"), plan.Auto), at(2)).Incident
	none.ID, none.At = "p10", at(3)
	if o := Propose(auto, none, at(3)).Incident.Offers[0]; o.State != Outdated {
		t.Errorf("the policy's plan is not made any more, and is %q", o.State)
	}
	approved, _ := Act(inc, press(ApprovePlan, 5), may, at(5))
	for _, p := range []Proposal{
		proposal("p5", 6, routePlan("nat-0aa4"), plan.Approve), proposal("p6", 6, routePlan("nat-0bb5"), plan.Approve),
		{ID: "p7", At: at(6), Key: theRoute, Remedy: plan.AddNATRoute},
	} {
		if d := Propose(approved.Incident, p, at(6)); d.Changed {
			t.Errorf("an approved plan is touched by %s: %q, %+v", p.ID, d.Reason, d.Incident.Offers)
		}
	}
}

func TestAutoIsApprovedByPolicy(t *testing.T) {
	d := Propose(broken(t), proposal("p1", 2, routePlan("nat-0aa4"), plan.Auto), at(2))
	inc := d.Incident
	if o := inc.Offers[0]; d.Reason != IsApproved || o.State != Approved || o.By != (User{}) || !o.Decided.Equal(at(2)) {
		t.Errorf("%q, %+v", d.Reason, o)
	}
	if len(inc.Acts) != 1 || inc.Acts[0].User != (User{}) || inc.Untold[len(inc.Untold)-1].Kind == EventApproved {
		t.Errorf("audit %+v, last event %q: remediate acts on its own", inc.Acts, inc.Untold[len(inc.Untold)-1].Kind)
	}
	if _, a := Act(inc, press(ApprovePlan, 5), may, at(5)); a.Reason != AlreadyDecided || a.By.ID != "" {
		t.Errorf("a person approves it again: %+v", a)
	}
	key := Key{cluster, leakedInterfaces, subnet}
	leak := broken(t)
	leak.Key = key
	p := plan.Plan{Format: plan.Format, Remedy: plan.DeleteLeakedInterfaces, Cluster: cluster, Check: key.Check, Resource: subnet, Cleanup: &plan.Cleanup{Subnet: subnet, Interfaces: []string{"eni-1"}}}
	got := Propose(leak, Proposal{ID: "p2", At: at(2), Cluster: cluster, Key: key, Remedy: p.Remedy, Policy: plan.Auto, Plan: p, Hash: p.Hash()}, at(2)).Incident
	if e := got.Untold[len(got.Untold)-1]; e.Kind != EventApproved || e.Offer.Plan.Cleanup == nil {
		t.Errorf("eni-cleanup is not told: %+v", e)
	}
}

func TestOffersEnd(t *testing.T) {
	tick := func(inc Incident, minute int) Incident { return Tick(inc, at(minute), policy).Incident }
	if o := tick(proposed(t), 61).Offers[0]; o.State != Offered {
		t.Errorf("a minute before its time it is %q", o.State)
	}
	expired := Tick(proposed(t), at(62), policy)
	if o := expired.Incident.Offers[0]; expired.Reason != IsExpired || o.State != Expired || !expired.Incident.Said.Behind {
		t.Errorf("at its time: %q, %q", expired.Reason, o.State)
	}
	if d := Propose(expired.Incident, proposal("p2", 63, routePlan("nat-0aa4"), plan.Approve), at(63)); d.Reason != IsProposed || len(d.Incident.Said.Notes) != len(expired.Incident.Said.Notes) {
		t.Errorf("it may be offered anew, without another note: %q", d.Reason)
	}
	approved, _ := Act(proposed(t), press(ApprovePlan, 61), may, at(61))
	if o := tick(approved.Incident, 75).Offers[0]; o.State != Approved {
		t.Errorf("just approved, it is %q", o.State)
	}
	if o := tick(approved.Incident, 76).Offers[0]; o.State != Expired || o.Says == "" {
		t.Errorf("never heard of, it is %q", o.State)
	}
	for name, steps := range map[string][]Observation{
		"the cause is gone": {observe(passed("route/no-egress", subnet), named("x"))},
		"closed":            {observe(absent(subnet), named("x"))},
	} {
		inc := proposed(t)
		for _, obs := range steps {
			obs.At = at(10)
			inc = Decide([]Incident{inc}, obs, at(10), policy)[0].Incident
		}
		if o := inc.Offers[0]; o.State != Outdated || o.Says == "" {
			t.Errorf("%s: the offer of a %s incident is %q (%s)", name, inc.State, o.State, o.Says)
		}
	}
}

func TestOffersAreBounded(t *testing.T) {
	inc := broken(t)
	for i := range 30 {
		p := proposal(string(rune('A'+i)), 2+i, routePlan("nat-"+string(rune('A'+i))), plan.Approve)
		p.Lasts = 48 * time.Hour
		inc = Propose(inc, p, at(2+i)).Incident
	}
	if last := inc.Offers[len(inc.Offers)-1]; len(inc.Offers) != MaxOffers || last.State != Offered || last.Expires.Sub(last.Made) != longest {
		t.Errorf("%d offers, the last %+v", len(inc.Offers), last)
	}
}
