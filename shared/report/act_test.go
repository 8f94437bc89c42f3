package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/plan"
)

var (
	oncall   = User{ID: "U0ONCALL01", Name: "oncall"}
	stranger = User{ID: "U0STRANGER"}
	may      = Who{May: MayYes}
)

// routePlan is a plan for the route incident, to a gateway.
func routePlan(nat string) plan.Plan {
	return plan.Plan{
		Format: plan.Format, Remedy: plan.AddNATRoute, Partition: "aws", Account: "123456789012", Region: "us-west-2", Cluster: cluster,
		Check: theRoute.Check, Resource: table, Route: &plan.Route{VPC: "vpc-0a", Table: table, Destination: "0.0.0.0/0", NAT: nat},
	}
}

func proposal(id string, minute int, p plan.Plan, policy plan.Policy) Proposal {
	return Proposal{
		Format: ProposalFormat, Kind: ProposalKind, ID: id, At: at(minute), Cluster: cluster, Key: theRoute,
		Remedy: p.Remedy, Policy: policy, Plan: p, Hash: p.Hash(), Lasts: time.Hour,
	}
}

// broken is the route incident, open since minute 0 with its message posted.
func broken(t *testing.T) Incident {
	t.Helper()
	list := play(t, []step{{obs: observe(route("i-1"), launched("i-1", 0, Waiting)), want: map[Key]Reason{theRoute: Opened}}})
	inc := list[0]
	inc.Said.Channel, inc.Said.TS = "C0123456789", "1.1"
	return inc
}

// proposed is broken with a plan offered at minute 2, for an hour.
func proposed(t *testing.T) Incident {
	t.Helper()
	d := Propose(broken(t), proposal("p1", 2, routePlan("nat-0aa4"), plan.Approve), at(2))
	if d.Reason != IsProposed {
		t.Fatalf("the plan is %q", d.Reason)
	}
	return d.Incident
}

func press(action Action, minute int) Press {
	p := Press{
		Format: PressFormat, Kind: PressKind, ID: "press", At: at(minute), Key: theRoute, Number: 1, Action: action,
		User: oncall, Channel: "C0123456789", TS: "1.1",
	}
	if action == ApprovePlan || action == RefusePlan {
		p.Plan = routePlan("nat-0aa4").Hash()
	}
	if action == MuteFor {
		p.For = time.Hour
	}
	return p
}

func TestWrongPressesAreRefused(t *testing.T) {
	approve := press(ApprovePlan, 5)
	with := func(p Press, change func(*Press)) Press { change(&p); return p }
	acted := func(t *testing.T, state OfferState) Incident {
		inc := proposed(t)
		inc.Offers[0].State, inc.Offers[0].By, inc.Offers[0].Decided = state, oncall, at(3)
		return inc
	}
	in := func(change func(*Incident)) func(*testing.T) Incident {
		return func(t *testing.T) Incident {
			inc := proposed(t)
			change(&inc)
			return inc
		}
	}
	for name, test := range map[string]struct {
		inc   func(*testing.T) Incident
		press Press
		who   Who
		now   int
		want  Answer
	}{
		"a stranger":                  {proposed, with(approve, func(p *Press) { p.User = stranger }), Who{}, 5, Answer{Reason: NotAllowed}},
		"a stranger who refuses":      {proposed, with(press(RefusePlan, 5), func(p *Press) { p.User = stranger }), Who{}, 5, Answer{Reason: NotAllowed}},
		"nobody is set":               {proposed, approve, Who{May: Nobody}, 5, Answer{Reason: NobodyAllowed}},
		"the group could not be read": {proposed, approve, Who{May: Unknown, Says: "S0ONCALL01: missing_scope"}, 5, Answer{Reason: GroupNotRead, Says: "S0ONCALL01: missing_scope"}},
		"a word that nobody knows":    {proposed, approve, Who{May: "perhaps"}, 5, Answer{Reason: NotAllowed}},
		"no hash":                     {proposed, with(approve, func(p *Press) { p.Plan = "" }), may, 5, Answer{Reason: NoSuchPlan}},
		"another incident's plan":     {proposed, with(approve, func(p *Press) { p.Plan = routePlan("nat-other").Hash() }), may, 5, Answer{Reason: NoSuchPlan}},
		"no plan at all":              {broken, approve, may, 5, Answer{Reason: NoSuchPlan}},
		"a plan that another replaced": {func(t *testing.T) Incident {
			return Propose(proposed(t), proposal("p2", 3, routePlan("nat-0bb5"), plan.Approve), at(3)).Incident
		}, approve, may, 5, Answer{Reason: PlanChanged, Remedy: plan.AddNATRoute, State: Outdated, Says: "another plan took its place"}},
		"the plan in the record is another": {in(func(i *Incident) { r := *i.Offers[0].Plan.Route; r.NAT = "nat-evil"; i.Offers[0].Plan.Route = &r }), approve, may, 5, Answer{Reason: PlanChanged, Remedy: plan.AddNATRoute, State: Offered}},
		"an earlier offer of the same plan": {proposed, press(ApprovePlan, 1), may, 5, Answer{Reason: PlanChanged, Remedy: plan.AddNATRoute, State: Offered}},
		"expired to the second":             {proposed, press(ApprovePlan, 62), may, 62, Answer{Reason: PlanExpired, Until: at(62), Remedy: plan.AddNATRoute, State: Offered}},
		"pressed in time, read too late":    {proposed, press(ApprovePlan, 61), may, 90, Answer{Reason: PlanExpired, Until: at(62), Remedy: plan.AddNATRoute, State: Offered}},
		"pressed too late by its own time":  {proposed, press(ApprovePlan, 62), may, 61, Answer{Reason: PlanExpired, Until: at(62), Remedy: plan.AddNATRoute, State: Offered}},
		"approved before":                   {func(t *testing.T) Incident { return acted(t, Approved) }, approve, may, 5, Answer{Reason: AlreadyDecided, By: oncall, When: at(3), Remedy: plan.AddNATRoute, State: Approved}},
		"refused before":                    {func(t *testing.T) Incident { return acted(t, RefusedByUs) }, approve, may, 5, Answer{Reason: AlreadyDecided, By: oncall, When: at(3), Remedy: plan.AddNATRoute, State: RefusedByUs}},
		"done before":                       {func(t *testing.T) Incident { return acted(t, Acted) }, approve, may, 5, Answer{Reason: AlreadyDecided, By: oncall, When: at(3), Remedy: plan.AddNATRoute, State: Acted}},
		"the cause is gone":                 {in(func(i *Incident) { i.State = Cleared }), approve, may, 5, Answer{Reason: CauseIsGone, Remedy: plan.AddNATRoute, State: Offered}},
		"closed":                            {in(func(i *Incident) { i.State, i.Resolved = Closed, at(4) }), approve, may, 5, Answer{Reason: IncidentClosed, When: at(4)}},
		"closed, and acknowledged":          {in(func(i *Incident) { i.State, i.Resolved = Closed, at(4) }), press(Acknowledge, 5), may, 5, Answer{Reason: IncidentClosed, When: at(4)}},
		"an older number":                   {in(func(i *Incident) { i.Number, i.Opened = 2, at(4) }), approve, may, 5, Answer{Reason: EarlierOpening, When: at(4)}},
		"from before it opened again":       {in(func(i *Incident) { i.Opened = at(6) }), with(approve, func(p *Press) { p.Number = 0 }), may, 7, Answer{Reason: EarlierOpening, When: at(6)}},
		"another message":                   {proposed, with(approve, func(p *Press) { p.TS = "9.9" }), may, 5, Answer{Reason: EarlierOpening, When: at(0)}},
		"another channel":                   {proposed, with(approve, func(p *Press) { p.Channel = "C0EVIL" }), may, 5, Answer{Reason: EarlierOpening, When: at(0)}},
		"another incident":                  {proposed, with(approve, func(p *Press) { p.Key = theHole }), may, 5, Answer{Reason: IncidentNotFound}},
		"nobody was told of it":             {in(func(i *Incident) { i.Number = 0 }), approve, may, 5, Answer{Reason: IncidentNotFound}},
		"an unknown action":                 {proposed, press("delete", 5), may, 5, Answer{Reason: UnknownAction}},
		"a mute of a week":                  {proposed, with(press(MuteFor, 5), func(p *Press) { p.For = 168 * time.Hour }), may, 5, Answer{Reason: NoSuchTime}},
		"a mute of no time":                 {proposed, with(press(MuteFor, 5), func(p *Press) { p.For = 0 }), may, 5, Answer{Reason: NoSuchTime}},
		"not muted":                         {proposed, press(Unmute, 5), may, 5, Answer{Reason: NotMuted}},
		"the mute is over":                  {in(func(i *Incident) { i.Mute = &Mute{Until: at(5)} }), press(Unmute, 5), may, 5, Answer{Reason: NotMuted}},
		"acknowledged before":               {in(func(i *Incident) { i.Ack = &Ack{By: stranger, At: at(3)} }), press(Acknowledge, 5), may, 5, Answer{Reason: AlreadyTaken, By: stranger, When: at(3)}},
		"asked a moment ago":                {in(func(i *Incident) { i.Asked = at(5).Add(-59 * time.Second) }), press(CheckAgain, 5), may, 5, Answer{Reason: AskedJustNow, Until: at(5).Add(time.Second)}},
	} {
		t.Run(name, func(t *testing.T) {
			before := test.inc(t)
			d, got := Act(before, test.press, test.who, at(test.now))
			if diff := cmp.Diff(test.want, got); diff != "" || got.Done() {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			after := d.Incident
			if len(after.Acts) != 1 || after.Acts[0].Answer != got || after.Acts[0].User != test.press.User || after.Acts[0].ID != "press" || d.Reason != PressRefused || !d.Changed {
				t.Errorf("the audit is %+v, the reason %q", after.Acts, d.Reason)
			}
			after.Acts, after.Applied = before.Acts, before.Applied
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("the refused press changed the incident (-before +after):\n%s", diff)
			}
		})
	}
}

func TestApprove(t *testing.T) {
	inc := proposed(t)
	d, a := Act(inc, press(ApprovePlan, 61), may, at(61))
	if d.Reason != IsApproved || a.Reason != AnswerApproved || !a.Done() {
		t.Fatalf("%q and %+v", d.Reason, a)
	}
	o := d.Incident.Offers[0]
	if o.State != Approved || o.By != oncall || !o.Decided.Equal(at(61)) || inc.Offers[0].State != Offered {
		t.Errorf("the offer is %+v; before it was %q", o, inc.Offers[0].State)
	}
	e := d.Incident.Untold[len(d.Incident.Untold)-1]
	if e.Kind != EventApproved || e.Offer == nil || e.Offer.Hash != o.Hash || e.Offer.By != oncall || e.Sequence != d.Incident.Events {
		t.Errorf("the event is %+v", e)
	}
	n := d.Incident.Said.Notes[len(d.Incident.Said.Notes)-1]
	if n.Reason != IsApproved || n.Offer == nil || n.Offer.By != oncall || !d.Incident.Said.Behind {
		t.Errorf("the note is %+v, behind %v", n, d.Incident.Said.Behind)
	}
	again, none := Act(d.Incident, press(ApprovePlan, 61), may, at(61))
	if again.Reason != AlreadyApplied || again.Changed || none.Reason != "" {
		t.Errorf("delivered twice it is %q, %+v", again.Reason, none)
	}
	second := press(ApprovePlan, 61)
	second.ID, second.User = "second", User{ID: "U0DANA0001"}
	if _, a := Act(d.Incident, second, may, at(61)); a.Reason != AlreadyDecided || a.By != oncall {
		t.Errorf("pressed twice it is %+v", a)
	}
}

func TestRefuse(t *testing.T) {
	d, a := Act(proposed(t), press(RefusePlan, 5), may, at(5))
	if a.Reason != AnswerRefused || d.Incident.Offers[0].State != RefusedByUs || d.Incident.Untold[len(d.Incident.Untold)-1].Kind == EventApproved {
		t.Errorf("%+v, %+v", a, d.Incident.Offers)
	}
	again := Propose(d.Incident, proposal("p2", 6, routePlan("nat-0aa4"), plan.Approve), at(6))
	if again.Reason != NothingNew || again.Changed {
		t.Errorf("what a person refused is offered again: %q", again.Reason)
	}
}

func TestAcknowledgeMuteAndCheck(t *testing.T) {
	inc := broken(t)
	d, a := Act(inc, press(Acknowledge, 5), may, at(5))
	if a.Reason != AnswerAcknowledged || d.Incident.Ack == nil || d.Incident.Ack.By != oncall {
		t.Errorf("%+v, %+v", a, d.Incident.Ack)
	}
	d, a = Act(inc, press(MuteFor, 5), may, at(6))
	if a.Reason != AnswerMuted || !a.Until.Equal(at(65)) || !d.Incident.muted(at(64)) || d.Incident.muted(at(65)) {
		t.Errorf("%+v, %+v", a, d.Incident.Mute)
	}
	off := press(Unmute, 7)
	off.ID = "off"
	if d, a = Act(d.Incident, off, may, at(7)); a.Reason != AnswerUnmuted || d.Incident.Mute != nil {
		t.Errorf("%+v, %+v", a, d.Incident.Mute)
	}
	d, a = Act(inc, press(CheckAgain, 5), may, at(5))
	if e := d.Incident.Untold[len(d.Incident.Untold)-1]; a.Reason != AnswerChecking || e.Kind != EventCheckWanted || e.Kind.DetailType() != "Rollcall Check Wanted" {
		t.Errorf("%+v, %+v", a, e)
	}
}
