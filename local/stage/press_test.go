package stage

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"rollcall/local/fakeslack"

	"rollcall/shared/incident"

	"rollcall/shared/config"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// TestWrongPressesChangeNothing presses what nobody may press, forges what a
// press would bring about, and at last has the fix approved by a member of the
// group: one route, one run. What is pressed after the incident is over, or of a
// time before it came back, is refused as well.
func TestWrongPressesChangeNothing(t *testing.T) { virtual(t, wrongPressesChangeNothing) }

func wrongPressesChangeNothing(t *testing.T) {
	woken := &counts{text: "Rollcall Remedy Approved"}
	r := start(t, "route", approvable, woken.observe)
	good := r.offeredRoute()
	before, ts := r.routes(), r.messages()[0].TS
	other := r.offer().Plan
	changed := *other.Route
	changed.NAT = "nat-0ffffffffffffffff"
	other.Route = &changed
	elsewhere, plotted, foreign := good, good, good
	elsewhere.Plan = other.Hash()
	plotted.Plan = strings.Repeat("0", 32)
	foreign.Key.Resource = "rtb-0fff0000000000001"
	for _, test := range []struct {
		what, user string
		want       incident.AnswerReason
		press      func()
	}{
		{"somebody who may not, on the page", Dev, incident.NotAllowed, func() { r.press(Dev) }},
		{"somebody who may not, with a wrong plan", Dev, incident.NotAllowed, func() { r.sign(Dev, plotted, ts) }},
		{"a plan that there is not", OnCall, incident.NoSuchPlan, func() { r.sign(OnCall, plotted, ts) }},
		{"the plan with another gateway", OnCall, incident.NoSuchPlan, func() { r.sign(OnCall, elsewhere, ts) }},
		{"the plan at another table", OnCall, incident.IncidentNotFound, func() { r.sign(OnCall, foreign, ts) }},
		{"the button in another message", OnCall, incident.EarlierOpening, func() { r.sign(OnCall, good, "1500000000.000100") }},
	} {
		r.answers(test.what, test.user, test.want, test.press)
		r.untouched(test.what, before)
	}
	for what, p := range map[string]remedy.Plan{"forged": r.offer().Plan, "forged, with another gateway": other} {
		r.forge(woken.so, approvalOf(t, r.incident(), p))
		r.untouched(what, before)
		if o := r.offer(); o.State != incident.Offered || o.Hash != good.Plan {
			t.Errorf("%s: the offer is %s of %s: %s; %+v", what, o.State, o.Hash, o.Says, r.incident())
		}
	}

	r.answers("a member of the group", Lead, incident.AnswerApproved, func() { r.press(Lead) })
	r.until("what was done", r.replied("Done"))
	r.answers("pressed again", Lead, incident.AlreadyDecided, func() { r.sign(Lead, good, ts) })
	r.answers("pressed by another", OnCall, incident.AlreadyDecided, func() { r.sign(OnCall, good, ts) })
	r.doneOnce(before, Lead)
	r.forge(woken.so, approvalOf(t, r.incident(), r.runs()[0].Plan))
	r.doneOnce(before, Lead)

	r.replaceLaunches()
	r.until("the proof", func() bool { return r.incident().State == incident.Closed })
	r.answers("closed", OnCall, incident.IncidentClosed, func() { r.sign(OnCall, good, ts) })
	r.withdrawRoute()
	r.scale(2, 2) // a launch that meets it
	r.until("it comes back", func() bool { return r.incident().Number == 2 && r.offer().State == incident.Offered })
	r.answers("of the first opening", OnCall, incident.EarlierOpening, func() { r.sign(OnCall, good, r.messages()[0].TS) })
	if now := r.routes(); now != before || len(r.wrote()) != 1 || len(r.runs()) != 1 {
		t.Errorf("after it came back: routes\n%s\ncalls %q, %d runs", now, r.wrote(), len(r.runs()))
	}
	r.nothingLost()
}

// TestTwoApproveAtOnce: one of them does, and the other is told who was faster.
func TestTwoApproveAtOnce(t *testing.T) { virtual(t, twoApproveAtOnce) }

func twoApproveAtOnce(t *testing.T) {
	r := start(t, "route", approvable)
	r.offeredRoute()
	before, ts := r.routes(), r.messages()[0].TS
	var both sync.WaitGroup
	for _, user := range []string{OnCall, Lead} {
		both.Go(func() {
			if err := r.Slack.Press(context.Background(), fakeslack.Press{Channel: Channel, TS: ts, ActionID: string(report.ApprovePlan), User: user}); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	r.until("both are answered", func() bool { return len(r.acts()) == 2 && len(r.toldAlone(OnCall)) == 1 && len(r.toldAlone(Lead)) == 1 })
	by, reasons := "", map[incident.AnswerReason]int{}
	for _, a := range r.acts() {
		reasons[a.Answer.Reason]++
		if a.Answer.Reason == incident.AnswerApproved {
			by = a.User.ID
		}
	}
	if reasons[incident.AnswerApproved] != 1 || reasons[incident.AlreadyDecided] != 1 {
		t.Errorf("answered %v, want one approval and one that is too late", reasons)
	}
	r.until("what was done", r.replied("Done"))
	r.doneOnce(before, by)
	r.nothingLost()
}

// TestAnApprovalThatComesTooLate: the plan could be approved for ten minutes, and is
// offered again when somebody asks for it. The missed roll call, five minutes after the launch, is the last look that renews it.
func TestAnApprovalThatComesTooLate(t *testing.T) { virtual(t, anApprovalThatComesTooLate) }

func anApprovalThatComesTooLate(t *testing.T) {
	r := start(t, "route", approvable, func(o *Options) { o.Settings[string(config.ApprovalTime)] = "10m" })
	good := r.offeredRoute()
	before, ts := r.routes(), r.messages()[0].TS
	r.until("the end of its time", func() bool { return r.offer().State == incident.Expired && r.button() == "" })
	r.answers("expired", OnCall, incident.PlanExpired, func() { r.sign(OnCall, good, ts) })
	r.untouched("expired", before)

	// A fresh plan is to be had by whoever may ask for a check, and needs a yes of its own.
	if err := r.Slack.Press(t.Context(), fakeslack.Press{Channel: Channel, TS: ts, ActionID: string(report.OfferAgain), User: Dev}); err != nil {
		t.Fatal(err)
	}
	r.until("the fresh offer", func() bool { return r.offer().State == incident.Offered && r.button() != "" })
	if told := r.toldAlone(Dev); len(told) != 1 || !strings.Contains(told[0], "a fresh plan") {
		t.Errorf("told %q", told)
	}
	r.untouched("offered again", before)
	r.answers("who may not approve", Dev, incident.NotAllowed, func() { r.press(Dev) })
	r.answers("approved", OnCall, incident.AnswerApproved, func() { r.press(OnCall) })
	r.until("what was done", r.replied("Done"))
	r.nothingLost()
}

// TestTheWorldChangedBeforeTheApproval: what was approved is not what there is
// any more, and remediate, which looks once more, does nothing and says so.
func TestTheWorldChangedBeforeTheApproval(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(context.Context, *ec2.Client) error
		reason action.Reason
	}{
		"the gateway was deleted": {func(ctx context.Context, c *ec2.Client) error {
			_, err := c.DeleteNatGateway(ctx, &ec2.DeleteNatGatewayInput{NatGatewayId: aws.String(nat)})
			return err
		}, addnatroute.NoNAT},
		"somebody made the route by hand": {func(ctx context.Context, c *ec2.Client) error {
			_, err := c.CreateRoute(ctx, &ec2.CreateRouteInput{RouteTableId: aws.String(table), DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String(nat)})
			return err
		}, addnatroute.HasDefault},
	} {
		t.Run(name, inTime(func(t *testing.T) {
			r := start(t, "route", approvable)
			r.offeredRoute()
			if err := test.change(t.Context(), ec2.NewFromConfig(r.AsAdmin())); err != nil {
				t.Fatal(err)
			}
			before := r.routes()
			r.answers(name, OnCall, incident.AnswerApproved, func() { r.press(OnCall) })
			r.until("that it is not done is said", r.replied("not done: nothing was changed"))
			d := r.offer().Run
			for _, o := range r.incident().Offers {
				if o.Run != nil {
					d = o.Run
				}
			}
			if d == nil || d.Result != action.Refused || d.Reason != string(test.reason) || d.ApprovedBy != OnCall {
				t.Errorf("the run is %+v, want refused, %s", d, test.reason)
			}
			r.untouched(name, before)
			r.nothingLost()
		}))
	}
}

// approvalOf is what report would tell the bus of an approval of p.
func approvalOf(t *testing.T, inc incident.Incident, p remedy.Plan) map[string]any {
	t.Helper()
	now := inc.Opened.Add(time.Second)
	body, err := json.Marshal(incident.Event{
		ID: "forged", Format: incident.EventFormat, Kind: incident.EventApproved, Reason: incident.IsApproved, At: now,
		Partition: inc.Partition, Account: inc.Account, Region: inc.Region, Cluster: inc.Key.Cluster, Check: inc.Key.Check, Resource: inc.Key.Resource,
		State: incident.Open, Number: inc.Number, Opened: inc.Opened, Began: inc.Began,
		Offer: &incident.Offer{Plan: p, Hash: p.Hash(), Policy: optin.Approve, State: incident.Approved, Made: now, Expires: now.Add(time.Hour), By: report.User{ID: OnCall}, Decided: now},
	})
	if err != nil {
		t.Fatal(err)
	}
	var detail map[string]any
	if err := json.Unmarshal(body, &detail); err != nil {
		t.Fatal(err)
	}
	return detail
}

// doneOnce holds that there is exactly one route more than before, by one run
// that somebody approved, and that the thread says how to take it back.
func (r *running) doneOnce(before, by string) {
	r.t.Helper()
	want := "\n" + table + " 0.0.0.0/0 " + nat + " active"
	if now := r.routes(); strings.Replace("\n"+now, want, "", 1) != "\n"+before {
		r.t.Errorf("the routes are\n%s\nwere\n%s", now, before)
	}
	if calls := r.wrote(); len(calls) != 1 || calls[0] != "ec2:CreateRoute " {
		r.t.Errorf("remediate called %q, want one route", calls)
	}
	list := r.runs()
	if len(list) != 1 || list[0].Result != action.Done || list[0].ApprovedBy != by || list[0].Policy != optin.Approve {
		r.t.Errorf("runs %+v, want one, approved by %s", list, by)
	}
	if said := r.replies("Done"); len(said) != 1 || !strings.Contains(whole(said[0]), "aws ec2 delete-route ") {
		r.t.Errorf("what was done is said %d times, want once with how to take it back", len(said))
	}
}

// withdrawRoute takes the route away again.
func (r *running) withdrawRoute() {
	r.t.Helper()
	if _, err := ec2.NewFromConfig(r.AsAdmin()).DeleteRoute(context.Background(), &ec2.DeleteRouteInput{RouteTableId: aws.String(table), DestinationCidrBlock: aws.String("0.0.0.0/0")}); err != nil {
		r.t.Fatal(err)
	}
}
