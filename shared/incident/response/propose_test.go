package response_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/deleteleakedinterfaces"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

func TestWrongProposalsChangeNothing(t *testing.T) {
	good := incidenttest.Proposal("p1", 2, incidenttest.RoutePlan("nat-0aa4"), optin.Approve)
	with := func(change func(*report.Proposal)) report.Proposal { p := good; change(&p); return p }
	rehash := func(change func(*remedy.Plan)) report.Proposal {
		return with(func(p *report.Proposal) { change(&p.Plan); p.Hash = p.Plan.Hash() })
	}
	ofSpoke := func(change func(*remedy.Plan)) report.Proposal {
		return with(func(p *report.Proposal) {
			p.Key.Spoke, p.Plan.Account, p.Plan.Region = incidenttest.Spoke, incidenttest.Spoke.Account, incidenttest.Spoke.Region
			change(&p.Plan)
			p.Hash = p.Plan.Hash()
		})
	}
	if d := response.Propose(incidenttest.Broken(t), ofSpoke(func(*remedy.Plan) {}), incidenttest.At(4)); d.Reason != incident.IsProposed {
		t.Errorf("a plan of the incident's own account and region: %q", d.Reason)
	}
	in := func(change func(*incident.Incident)) incident.Incident {
		inc := incidenttest.Broken(t)
		change(&inc)
		return inc
	}
	for name, test := range map[string]struct {
		inc  incident.Incident
		p    report.Proposal
		want incident.Reason
	}{
		"another hash":              {incidenttest.Broken(t), with(func(p *report.Proposal) { p.Hash = incidenttest.RoutePlan("nat-evil").Hash() }), incident.IsMalformed},
		"another plan":              {incidenttest.Broken(t), with(func(p *report.Proposal) { p.Plan = incidenttest.RoutePlan("nat-evil") }), incident.IsMalformed},
		"another remedy":            {incidenttest.Broken(t), with(func(p *report.Proposal) { p.Remedy = optin.ReplaceInstance }), incident.IsMalformed},
		"of another cluster":        {incidenttest.Broken(t), rehash(func(p *remedy.Plan) { p.Cluster = "dev" }), incident.IsMalformed},
		"of another check":          {incidenttest.Broken(t), rehash(func(p *remedy.Plan) { p.Check = "route/blackhole" }), incident.IsMalformed},
		"of another resource":       {incidenttest.Broken(t), rehash(func(p *remedy.Plan) { p.Resource = "rtb-0eee" }), incident.IsMalformed},
		"of another account":        {incidenttest.Broken(t), ofSpoke(func(p *remedy.Plan) { p.Account = "123456789012" }), incident.IsMalformed},
		"of another region":         {incidenttest.Broken(t), ofSpoke(func(p *remedy.Plan) { p.Region = "us-west-2" }), incident.IsMalformed},
		"of a newer form":           {incidenttest.Broken(t), rehash(func(p *remedy.Plan) { p.Format++ }), incident.IsMalformed},
		"policy off":                {incidenttest.Broken(t), with(func(p *report.Proposal) { p.Policy = optin.Off }), incident.IsMalformed},
		"no remedy":                 {incidenttest.Broken(t), report.Proposal{ID: "p1", At: incidenttest.At(2), Key: incidenttest.TheRoute}, incident.IsMalformed},
		"closed":                    {in(func(i *incident.Incident) { i.State = incident.Closed }), good, incident.OutOfDate},
		"said to nobody":            {in(func(i *incident.Incident) { i.Number = 0 }), good, incident.OutOfDate},
		"from before it was opened": {in(func(i *incident.Incident) { i.Opened = incidenttest.At(3) }), good, incident.OutOfDate},
		"the cause is gone":         {in(func(i *incident.Incident) { i.State = incident.Cleared }), good, incident.OutOfDate},
		"nothing to take back":      {incidenttest.Broken(t), with(func(p *report.Proposal) { p.Hash, p.Plan = "", remedy.Plan{} }), incident.NothingNew},
		"again":                     {incidenttest.Proposed(t), good, incident.AlreadyApplied},
		"older than the last":       {incidenttest.Proposed(t), incidenttest.Proposal("p0", 1, incidenttest.RoutePlan("nat-0old"), optin.Approve), incident.OutOfDate},
	} {
		if d := response.Propose(test.inc, test.p, incidenttest.At(4)); d.Reason != test.want || d.Changed {
			t.Errorf("%s: %q, changed %v; want %q", name, d.Reason, d.Changed, test.want)
		}
	}
}

func TestProposalsReplaceOneAnother(t *testing.T) {
	inc := incidenttest.Proposed(t)
	if n := inc.Delivery.Notes[len(inc.Delivery.Notes)-1]; n.Reason != incident.IsProposed || n.Offer == nil || n.Offer.Hash != inc.Offers[0].Hash {
		t.Errorf("the note is %+v", n)
	}
	same := response.Propose(inc, incidenttest.Proposal("p2", 30, incidenttest.RoutePlan("nat-0aa4"), optin.Approve), incidenttest.At(30))
	if o := same.Incident.Offers; same.Reason != incident.IsRenewed || len(o) != 1 || !o[0].Expires.Equal(incidenttest.At(90)) || len(same.Incident.Delivery.Notes) != len(inc.Delivery.Notes) {
		t.Errorf("the same plan from a fresh look: %q, %+v", same.Reason, o)
	}
	other := response.Propose(inc, incidenttest.Proposal("p3", 30, incidenttest.RoutePlan("nat-0bb5"), optin.Approve), incidenttest.At(30)).Incident
	if o := other.Offers; len(o) != 2 || o[0].State != incident.Outdated || o[1].State != incident.Offered {
		t.Errorf("another plan: %+v", o)
	}
	back := response.Propose(inc, report.Proposal{ID: "p4", At: incidenttest.At(30), Key: incidenttest.TheRoute, Remedy: optin.AddNATRoute, Says: "nat-0aa4 is gone"}, incidenttest.At(30))
	if o := back.Incident.Offers[0]; back.Reason != incident.IsOutdated || o.State != incident.Outdated || o.Says != "nat-0aa4 is gone" {
		t.Errorf("taken back: %q, %+v", back.Reason, o)
	}
	none := report.Proposal{ID: "p8", At: incidenttest.At(3), Key: incidenttest.TheRoute, Remedy: optin.AddNATRoute, Says: "vpc-0a is not opted in"}
	why := response.Propose(incidenttest.Broken(t), none, incidenttest.At(3))
	if o := why.Incident.Offers; why.Reason != incident.IsOutdated || len(o) != 1 || o[0].State != incident.Outdated || o[0].Says != none.Says {
		t.Errorf("why there is no plan: %q, %+v", why.Reason, o)
	}
	if _, a := response.Act(why.Incident, incidenttest.Press(report.ApprovePlan, 5), incidenttest.May, incidenttest.At(5)); a.Reason != incident.NoSuchPlan {
		t.Errorf("what is no plan is approved: %+v", a)
	}
	auto := response.Propose(incidenttest.Broken(t), incidenttest.Proposal("p9", 2, incidenttest.RoutePlan("nat-0aa4"), optin.Auto), incidenttest.At(2)).Incident
	none.ID, none.At = "p10", incidenttest.At(3)
	if o := response.Propose(auto, none, incidenttest.At(3)).Incident.Offers[0]; o.State != incident.Outdated {
		t.Errorf("the policy's plan is not made any more, and is %q", o.State)
	}
	approved, _ := response.Act(inc, incidenttest.Press(report.ApprovePlan, 5), incidenttest.May, incidenttest.At(5))
	for _, p := range []report.Proposal{
		incidenttest.Proposal("p5", 6, incidenttest.RoutePlan("nat-0aa4"), optin.Approve), incidenttest.Proposal("p6", 6, incidenttest.RoutePlan("nat-0bb5"), optin.Approve),
		{ID: "p7", At: incidenttest.At(6), Key: incidenttest.TheRoute, Remedy: optin.AddNATRoute},
	} {
		if d := response.Propose(approved.Incident, p, incidenttest.At(6)); d.Changed {
			t.Errorf("an approved plan is touched by %s: %q, %+v", p.ID, d.Reason, d.Incident.Offers)
		}
	}
}

func TestAutoIsApprovedByPolicy(t *testing.T) {
	d := response.Propose(incidenttest.Broken(t), incidenttest.Proposal("p1", 2, incidenttest.RoutePlan("nat-0aa4"), optin.Auto), incidenttest.At(2))
	inc := d.Incident
	if o := inc.Offers[0]; d.Reason != incident.IsApproved || o.State != incident.Approved || o.By != (report.User{}) || !o.Decided.Equal(incidenttest.At(2)) {
		t.Errorf("%q, %+v", d.Reason, o)
	}
	if len(inc.Acts) != 1 || inc.Acts[0].User != (report.User{}) || inc.PendingEvents[len(inc.PendingEvents)-1].Kind == incident.EventApproved {
		t.Errorf("audit %+v, last event %q: remediate acts on its own", inc.Acts, inc.PendingEvents[len(inc.PendingEvents)-1].Kind)
	}
	if _, a := response.Act(inc, incidenttest.Press(report.ApprovePlan, 5), incidenttest.May, incidenttest.At(5)); a.Reason != incident.AlreadyDecided || a.By.ID != "" {
		t.Errorf("a person approves it again: %+v", a)
	}
	key := report.Key{Cluster: incidenttest.Cluster, Check: checkid.IPLeakedInterfaces, Resource: incidenttest.Subnet}
	leak := incidenttest.Broken(t)
	leak.Key = key
	p := remedy.Plan{Format: remedy.Format, Remedy: optin.DeleteLeakedInterfaces, Cluster: incidenttest.Cluster, Check: key.Check, Resource: incidenttest.Subnet, Cleanup: &deleteleakedinterfaces.Plan{Subnet: incidenttest.Subnet, Interfaces: []string{"eni-1"}}}
	got := response.Propose(leak, report.Proposal{ID: "p2", At: incidenttest.At(2), Cluster: incidenttest.Cluster, Key: key, Remedy: p.Remedy, Policy: optin.Auto, Plan: p, Hash: p.Hash()}, incidenttest.At(2)).Incident
	if e := got.PendingEvents[len(got.PendingEvents)-1]; e.Kind != incident.EventApproved || e.Offer.Plan.Cleanup == nil {
		t.Errorf("eni-cleanup is not told: %+v", e)
	}
}

func TestOffersEnd(t *testing.T) {
	tick := func(inc incident.Incident, minute int) incident.Incident {
		return response.Tick(inc, incidenttest.At(minute), incidenttest.Policy).Incident
	}
	if o := tick(incidenttest.Proposed(t), 61).Offers[0]; o.State != incident.Offered {
		t.Errorf("a minute before its time it is %q", o.State)
	}
	expired := response.Tick(incidenttest.Proposed(t), incidenttest.At(62), incidenttest.Policy)
	if o := expired.Incident.Offers[0]; expired.Reason != incident.IsExpired || o.State != incident.Expired || !expired.Incident.Delivery.Dirty {
		t.Errorf("at its time: %q, %q", expired.Reason, o.State)
	}
	if d := response.Propose(expired.Incident, incidenttest.Proposal("p2", 63, incidenttest.RoutePlan("nat-0aa4"), optin.Approve), incidenttest.At(63)); d.Reason != incident.IsProposed || len(d.Incident.Delivery.Notes) != len(expired.Incident.Delivery.Notes) {
		t.Errorf("it may be offered anew, without another note: %q", d.Reason)
	}
	approved, _ := response.Act(incidenttest.Proposed(t), incidenttest.Press(report.ApprovePlan, 61), incidenttest.May, incidenttest.At(61))
	if o := tick(approved.Incident, 75).Offers[0]; o.State != incident.Approved {
		t.Errorf("just approved, it is %q", o.State)
	}
	if o := tick(approved.Incident, 76).Offers[0]; o.State != incident.Expired || o.Says == "" {
		t.Errorf("never heard of, it is %q", o.State)
	}
	for name, steps := range map[string][]report.Observation{
		"the cause is gone": {incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Named("x"))},
		"closed":            {incidenttest.Observe(incidenttest.Absent(incidenttest.Subnet), incidenttest.Named("x"))},
	} {
		inc := incidenttest.Proposed(t)
		for _, obs := range steps {
			obs.At = incidenttest.At(10)
			inc = reconcile.Decide([]incident.Incident{inc}, obs, incidenttest.At(10), incidenttest.Policy)[0].Incident
		}
		if o := inc.Offers[0]; o.State != incident.Outdated || o.Says == "" {
			t.Errorf("%s: the offer of a %s incident is %q (%s)", name, inc.State, o.State, o.Says)
		}
	}
}

func TestOffersAreBounded(t *testing.T) {
	inc := incidenttest.Broken(t)
	for i := range 30 {
		p := incidenttest.Proposal(string(rune('A'+i)), 2+i, incidenttest.RoutePlan("nat-"+string(rune('A'+i))), optin.Approve)
		p.Lasts = 48 * time.Hour
		inc = response.Propose(inc, p, incidenttest.At(2+i)).Incident
	}
	if last := inc.Offers[len(inc.Offers)-1]; len(inc.Offers) != incident.MaxOffers || last.State != incident.Offered || last.Expires.Sub(last.Made) != response.LongestApproval {
		t.Errorf("%d offers, the last %+v", len(inc.Offers), last)
	}
}

// A decision that is wanted in an old message is a new line; that it is on another plan
// now is a reply, and a fresh plan after one ran out is asked for by somebody who looks.
func TestADecisionIsWantedOnce(t *testing.T) {
	inc := incidenttest.Broken(t)
	lines := func(inc incident.Incident) (list []bool) {
		for _, n := range inc.Delivery.Notes {
			if n.Reason == incident.IsProposed {
				list = append(list, n.Line)
			}
		}
		return list
	}
	propose := func(id, nat string, minute int) {
		inc = response.Propose(inc, incidenttest.Proposal(id, minute, incidenttest.RoutePlan(nat), optin.Approve), incidenttest.At(minute)).Incident
	}
	propose("p1", "nat-0aa4", 20)
	lined := inc.Lined
	propose("p2", "nat-0bb4", 40)
	if diff := cmp.Diff([]bool{true, false}, lines(inc)); diff != "" || !inc.Lined.Equal(lined) {
		t.Errorf("lines (-want +got):\n%s last line %s, want %s", diff, inc.Lined, lined)
	}
	propose("p3", "nat-0cc4", 200) // the one before ran out
	if diff := cmp.Diff([]bool{true, false, true}, lines(inc)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
