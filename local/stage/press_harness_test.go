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
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"rollcall/local/fakeslack"
	"rollcall/local/platform/lambdaruntime"

	"rollcall/shared/incident"
	"rollcall/shared/store"

	"rollcall/shared/config"
	"rollcall/shared/remedy"
	"rollcall/shared/report"
	"rollcall/shared/slack"
)

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
func (r *running) offeredRoute() slack.Value {
	r.t.Helper()
	r.scale(1, 1)
	r.until("the offer", func() bool { return r.offer().State == incident.Offered && r.button() != "" })
	v, err := slack.ParseValue(r.button())
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
func (r *running) sign(user string, v slack.Value, ts string) {
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
	return store.New(r.Table.Client(), r.Template.Tables[0].Name).At(r.Clock.Now)
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
// that the person is told so, and nobody else.
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
		r.t.Errorf("%s: %s is told %q, and %d answers went out", what, user, texts[told:], r.ephemerals()-all)
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
	r.t.Fatal("nothing was told on Rollcall's bus")
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

// replied tells whether the thread has a reply that begins so.
func (r *running) replied(text string) func() bool {
	return func() bool { return len(r.replies(text)) > 0 }
}

// replies are the thread's replies for everybody that begin so; what the channel shows
// too begins with whose it is.
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
