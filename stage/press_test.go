package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/slack/button"
	"rollcall/shared/store"
	"rollcall/stage/fakeslack"
	"rollcall/stage/platform/lambdaruntime"
)

// TestWrongPressesChangeNothing presses what no user may press, forges what a
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

// TestWasThisRight: below the message of an incident that is over anybody of the workspace
// answers, changes their mind, and writes a line into the answer that they alone see.
func TestWasThisRight(t *testing.T) { virtual(t, wasThisRight) }

func wasThisRight(t *testing.T) {
	r := start(t, "route", approvable)
	r.offeredRoute()
	ts := r.messages()[0].TS
	r.press(Lead)
	r.until("what was done", r.replied("Done"))
	r.replaceLaunches()
	r.until("the proof", func() bool { return r.incident().State == incident.Closed })
	say := func(user string, action report.Action, ts, text string) {
		t.Helper()
		told := len(r.toldAlone(user))
		if err := r.Slack.Press(t.Context(), fakeslack.Press{Channel: Channel, TS: ts, ActionID: string(action), User: user, Value: text}); err != nil {
			t.Fatalf("%s presses %s: %v", user, action, err)
		}
		r.until(string(action)+": the answer", func() bool { return len(r.toldAlone(user)) == told+1 })
	}
	r.until("the buttons", func() bool { return strings.Contains(string(r.messages()[0].Blocks), string(report.SayWrong)) })
	say(Guest, report.SayWrong, ts, "")
	say(Dev, report.SayRight, ts, "")
	say(OnCall, report.SayRight, ts, "")
	say(Dev, report.SayWrong, ts, "")
	answer := ""
	for _, m := range r.messages() {
		for _, m := range append(m.Replies, m) {
			if m.Visible == Dev && strings.Contains(string(m.Blocks), string(report.SayMore)) && m.TS > answer {
				answer = m.TS
			}
		}
	}
	say(Dev, report.SayMore, answer, "it was the proxy")
	if got := r.toldAlone(Guest)[0]; !strings.HasPrefix(got, "Nothing was done. Only members of Rollcall’s Slack workspace") {
		t.Errorf("somebody of another company got %q", got)
	}
	feedback := r.incident().Feedback
	if len(feedback) != 2 || feedback[0].By.ID != OnCall || feedback[0].Says != report.SayRight || feedback[1].By.ID != Dev || feedback[1].Says != report.SayWrong || feedback[1].Text != "it was the proxy" {
		t.Errorf("kept: %+v", feedback)
	}
	r.until("the message says so", func() bool { return strings.Contains(string(r.messages()[0].Blocks), "1 right, 1 wrong cause") })
	if r.incident().State != incident.Closed || len(r.messages()[0].Replies) == 0 {
		t.Errorf("the incident is %s", r.incident().State)
	}
	r.nothingLost()
}

// TestTwoApproveAtOnce: one of them does, and the other reads who was faster.
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

// TestAnApprovalThatComesTooLate: the plan could be approved for ten minutes, and is offered again
// when a user asks for it. The missed roll call, five minutes after the launch, is the last look that
// renews it.
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
		reason remedy.Reason
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
			if d == nil || d.Result != remedy.Refused || d.Reason != string(test.reason) || d.ApprovedBy != OnCall {
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
// that a user approved, and that the thread says how to take it back.
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
	if len(list) != 1 || list[0].Result != remedy.Done || list[0].ApprovedBy != by || list[0].Policy != optin.Approve {
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

// The tests of presses go through all real programs: Slack signs, slack-actions
// takes it, report rules, the bus wakes remediate, and AWS is changed or not.

// remediator is the role that may add routes.
const remediator = "rollcall-remediate"

// approvable has the route offered to those who may approve it.
func approvable(o *Options) {
	o.Settings = map[string]string{
		string(config.SlackActions): "on", string(config.Approvers): Approvers,
		string(config.Remedies): "eks-workshop/add-nat-route=approve", string(config.RemedyVPCs): "vpc-0a1b2c3d4e5f60718",
	}
}

// offeredRoute breaks the nodegroup, and gives the button's value once the route
// is offered.
func (r *running) offeredRoute() button.Value {
	r.t.Helper()
	r.scale(1, 1)
	r.until("the offer", func() bool { return r.offer().State == incident.Offered && r.button() != "" })
	v, err := button.Parse(r.button())
	if err != nil || v.Plan != r.offer().Hash {
		r.t.Fatalf("the button has %+v, the offer %s: %v", v, r.offer().Hash, err)
	}
	return v
}

// incident is the route's.
func (r *running) incident() incident.Incident {
	r.t.Helper()
	list := r.incidents()
	if i := slices.IndexFunc(list, func(i incident.Incident) bool { return i.Key.Resource == table }); i >= 0 {
		return list[i]
	}
	return incident.Incident{}
}

// offer is the newest of the incident.
func (r *running) offer() incident.Offer {
	r.t.Helper()
	if list := r.incident().Offers; len(list) > 0 {
		return list[len(list)-1]
	}
	return incident.Offer{}
}

// button is the value of the button that approves; empty where there is none.
func (r *running) button() string {
	r.t.Helper()
	for _, m := range r.messages() {
		var blocks []struct {
			Elements json.RawMessage `json:"elements"`
		}
		if err := json.Unmarshal(m.Blocks, &blocks); err != nil {
			r.t.Fatal(err)
		}
		for _, b := range blocks {
			var elements []struct {
				ActionID string `json:"action_id"`
				Value    string `json:"value"`
			}
			if json.Unmarshal(b.Elements, &elements) != nil {
				continue // a rich text
			}
			for _, e := range elements {
				if e.ActionID == string(report.ApprovePlan) {
					return e.Value
				}
			}
		}
	}
	return ""
}

// press presses the button in Slack.
func (r *running) press(user string) {
	r.t.Helper()
	if err := r.Slack.Press(r.t.Context(), fakeslack.Press{Channel: Channel, TS: r.messages()[0].TS, ActionID: string(report.ApprovePlan), User: user}); err != nil {
		r.t.Fatal(err)
	}
}

// sign presses by a request that is signed as Slack's, whatever its button holds.
func (r *running) sign(user string, v button.Value, ts string) {
	r.t.Helper()
	value, ok := v.Text()
	if !ok {
		r.t.Fatalf("%+v does not fit", v)
	}
	payload, err := json.Marshal(map[string]any{
		"type": "block_actions", "user": map[string]string{"id": user, "username": user, "team_id": "T0STAGE001"}, "team": map[string]string{"id": "T0STAGE001"},
		"channel": map[string]string{"id": Channel}, "container": map[string]string{"type": "message", "message_ts": ts, "channel_id": Channel},
		"message": map[string]any{"ts": ts, "blocks": []any{}},
		"actions": []map[string]string{{"type": "button", "action_id": string(report.ApprovePlan), "block_id": "b", "value": value, "action_ts": fmt.Sprint(time.Now().UnixNano())}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if status, text := r.attempt(forgedPress{body: url.Values{"payload": {string(payload)}}.Encode()}); status != http.StatusOK {
		r.t.Fatalf("answered %d %q", status, text)
	}
}

// acts are the audit records of presses on approve, oldest first.
func (r *running) acts() []incident.ActRecord {
	r.t.Helper()
	list, err := r.memory().Acts(context.Background(), "eks-workshop", r.Clock.Now().Add(-24*time.Hour))
	if err != nil {
		r.t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(a incident.ActRecord) bool { return a.Action != report.ApprovePlan })
}

func (r *running) memory() *store.Store {
	return store.New(r.Table.Client(), r.Template.Tables[0].Name).WithClock(r.Clock.Now)
}

// toldAlone are the texts that only one person saw.
func (r *running) toldAlone(user string) (texts []string) {
	for _, c := range r.Slack.Calls() {
		if c.Method == "chat.postEphemeral" && c.Error == "" && c.Params["user"] == user {
			texts = append(texts, c.Params["text"])
		}
	}
	return texts
}

// answers holds that a press leaves exactly one audit record, with this reason,
// of which the person alone is informed.
func (r *running) answers(what, user string, want incident.AnswerReason, press func()) incident.ActRecord {
	r.t.Helper()
	acts, told, all := r.acts(), len(r.toldAlone(user)), r.ephemerals()
	press()
	r.until(what+": the answer", func() bool { return len(r.acts()) > len(acts) && len(r.toldAlone(user)) > told })
	// Two of the same second stand in the order of their ids.
	list := slices.DeleteFunc(r.acts(), func(a incident.ActRecord) bool {
		return slices.ContainsFunc(acts, func(b incident.ActRecord) bool { return a.ID == b.ID })
	})
	if len(list) == 0 {
		r.t.Fatalf("%s: of %d records none is new", what, len(r.acts()))
	}
	a := list[0]
	if len(list) != 1 || a.User.ID != user || a.Answer.Reason != want || a.ID == "" || !a.Audited || a.Decided.IsZero() {
		r.t.Errorf("%s: recorded %+v, want one by %s, %s", what, list, user, want)
	}
	texts := r.toldAlone(user)
	if len(texts) != told+1 || r.ephemerals() != all+1 || !(incident.Answer{Reason: want}).Done() && !strings.HasPrefix(texts[len(texts)-1], "Nothing was done.") {
		r.t.Errorf("%s: %s got %q, and %d answers went out", what, user, texts[told:], r.ephemerals()-all)
	}
	for _, m := range r.messages() {
		for _, m := range append(m.Replies, m) {
			if m.Visible == "" && m.Text == texts[len(texts)-1] {
				r.t.Errorf("%s: everybody sees %q", what, m.Text)
			}
		}
	}
	return a
}

func (r *running) ephemerals() int {
	n := 0
	for _, c := range r.Slack.Calls() {
		if c.Method == "chat.postEphemeral" && c.Error == "" {
			n++
		}
	}
	return n
}

// routes are all route tables of the account as text.
func (r *running) routes() string {
	r.t.Helper()
	out, err := ec2.NewFromConfig(r.AsAdmin()).DescribeRouteTables(context.Background(), &ec2.DescribeRouteTablesInput{})
	if err != nil {
		r.t.Fatal(err)
	}
	var rows []string
	for _, t := range out.RouteTables {
		for _, route := range t.Routes {
			rows = append(rows, fmt.Sprint(aws.ToString(t.RouteTableId), " ", aws.ToString(route.DestinationCidrBlock), " ", aws.ToString(route.GatewayId), aws.ToString(route.NatGatewayId), " ", route.State))
		}
	}
	slices.Sort(rows)
	return strings.Join(rows, "\n")
}

// wrote are remediate's calls that change something, of AWS and of a cluster. To become
// a role changes nothing: what is done as that role is called by it.
func (r *running) wrote() (calls []string) {
	for _, c := range r.Cloud.Calls() {
		if c.Action() == "sts:AssumeRole" || c.Service == "kubernetes" && (strings.HasPrefix(c.Operation, "list ") || strings.HasPrefix(c.Operation, "get ")) {
			continue
		}
		reads := strings.HasPrefix(c.Operation, "Describe") || strings.HasPrefix(c.Operation, "List") || strings.HasPrefix(c.Operation, "Get") || strings.HasPrefix(c.Operation, "Simulate")
		if c.Principal.Name != remediator || reads || c.Service == "dynamodb" || c.Service == "sqs" || c.Operation == "PutEvents" {
			continue
		}
		calls = append(calls, c.Action()+" "+c.Code)
	}
	return calls
}

// untouched holds that the world is as it was, and that no run is kept.
func (r *running) untouched(what, before string) {
	r.t.Helper()
	if now := r.routes(); now != before {
		r.t.Errorf("%s: the routes are\n%s\nwere\n%s", what, now, before)
	}
	if calls := r.wrote(); len(calls) > 0 {
		r.t.Errorf("%s: remediate called %q", what, calls)
	}
	if list := r.runs(); len(list) > 0 {
		r.t.Errorf("%s: runs %+v", what, list)
	}
}

func (r *running) runs() []remedy.Run {
	r.t.Helper()
	list, err := r.memory().Runs(context.Background(), "eks-workshop")
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// forge puts an event straight on Rollcall's own bus, as whoever may put events
// there could, and waits until remediate is done with it.
func (r *running) forge(woken func() int, detail map[string]any) {
	r.t.Helper()
	before := woken()
	event, err := json.Marshal(map[string]any{
		"version": "0", "id": fmt.Sprint("forged-", time.Now().UnixNano()), "source": "rollcall", "detail-type": "Rollcall Remedy Approved",
		"account": r.Template.AccountID, "region": r.Template.Region, "time": r.Clock.Now().UTC().Format(time.RFC3339), "resources": []string{}, "detail": detail,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.putOn(r.ownBus(), event); err != nil {
		r.t.Fatal(err)
	}
	r.until("remediate takes the forged event", func() bool { return woken() > before })
}

// ownBus is the bus of finding events.
func (r *running) ownBus() string {
	r.t.Helper()
	for _, p := range r.Events() {
		if strings.Contains(string(p.Event), "Rollcall Incident Opened") {
			return p.Bus
		}
	}
	r.t.Fatal("nothing was published on Rollcall's bus")
	return ""
}

// counts counts what remediate did with events that hold a text.
type counts struct {
	mu   sync.Mutex
	text string
	n    int
}

func (c *counts) observe(o *Options) {
	o.Observe = func(i lambdaruntime.Invocation) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if i.Function == remediator && strings.Contains(string(i.Event), c.text) {
			c.n++
		}
	}
}

func (c *counts) so() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// replied reports whether the thread has a reply that begins so.
func (r *running) replied(text string) func() bool {
	return func() bool { return len(r.replies(text)) > 0 }
}

// replies are the thread's replies for everybody that begin so; what the channel shows
// too begins with its spoke.
func (r *running) replies(text string) (list []fakeslack.Message) {
	for _, m := range r.messages() {
		for _, reply := range m.Replies {
			if reply.Visible == "" && (strings.HasPrefix(reply.Text, text) || strings.Contains(reply.Text, " · "+text)) {
				list = append(list, reply)
			}
		}
	}
	return list
}

// saidOnce holds that nothing was said but in the one message.
func (r *running) saidOnce(ts string) {
	r.t.Helper()
	list := slices.DeleteFunc(r.messages(), func(m fakeslack.Message) bool { return m.Visible != "" }) // what one person sees
	if len(list) == 1 && list[0].TS == ts {
		return
	}
	for _, m := range list {
		r.t.Errorf("%d messages, want the one of %s: %s %s", len(list), ts, m.TS, whole(m))
	}
}
