package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
)

// The hub's own, another account's in the same region, and that account's in another one.
var (
	hub      = spoke.ID{Account: "111122223333", Region: "us-west-2"}
	payments = spoke.ID{Account: "222233334444", Region: "us-west-2"}
	europe   = spoke.ID{Account: "222233334444", Region: "eu-west-1"}
)

// framed is the function of a bench in its frame, which sorts messages by whose they are.
func framed(b *bench) func(bodies ...string) []string {
	return framedFor(b, payments.String()+"=payments,"+europe.String()+"=payments")
}

// framedFor is the same with other spokes.
func framedFor(b *bench, spokes string) func(bodies ...string) []string {
	env := map[string]string{
		"AWS_REGION": hub.Region, "ROLLCALL_ACCOUNT": hub.Account, "ROLLCALL_EXTERNAL_ID": "rollcall-1",
		"ROLLCALL_SPOKES": spokes,
	}
	f := lambda.New("report", config.SpokeVariables(), func(_ context.Context, e lambda.Env) (lambda.Handler, error) {
		h := b.handler
		table := b.store.In(e.Config.Spoke)
		h.Incidents, h.Postings, h.Clusters, h.Acts, h.audit = table, table, table, table, table
		h.spoke, h.naming = e.Config.Spoke, newNaming(e.Config, table)
		return h.handle, nil
	}, func(name string) string { return env[name] }, &bytes.Buffer{}).By(lambda.Way{})
	return func(bodies ...string) []string {
		b.Helper()
		var batch events.SQSEvent
		for i, body := range bodies {
			batch.Records = append(batch.Records, events.SQSMessage{MessageId: fmt.Sprint("m", i), Body: body, EventSource: "aws:sqs"})
		}
		raw, err := json.Marshal(batch)
		if err != nil {
			b.Fatal(err)
		}
		answer, err := f.Invoke(b.Context(), raw)
		if err != nil {
			b.Fatal(err)
		}
		var failed []string
		for _, x := range answer.(event.Answer).Failures {
			failed = append(failed, x.ID)
		}
		return failed
	}
}

func (b *bench) body(v any) string {
	b.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		b.Fatal(err)
	}
	return string(body)
}

func (b *bench) incidentOf(id spoke.ID) incident.Incident {
	b.Helper()
	list, err := b.store.In(id).Incidents(b.Context(), "eks-workshop")
	if err != nil || len(list) != 1 {
		b.Fatalf("%q has the incidents %+v, %v; want one", id, list, err)
	}
	return list[0]
}

func (b *bench) message(ts string) string {
	for _, m := range b.channel.Messages {
		if m.Ts == ts {
			return m.Text
		}
	}
	return ""
}

// TestNamesakesHaveTheirOwnIncidents: the same cause in clusters of the same name, in two
// accounts and two regions, is three incidents with a message each, which nobody can take
// for one another; and an approval of one approves nothing of another.
func TestNamesakesHaveTheirOwnIncidents(t *testing.T) {
	b := newBench(t)
	b.approvers = []string{notifytest.Dana}
	invoke := framed(b)
	own := []spoke.ID{{}, payments, europe}
	var seen []string
	for _, id := range own {
		obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)).For(id)
		obs.ID, obs.At = "observation", b.now // the same for all three
		seen = append(seen, b.body(obs))
	}
	if failed := invoke(seen...); len(failed) > 0 {
		t.Fatalf("given back: %q", failed)
	}
	if len(b.channel.Posts()) != 3 {
		t.Fatalf("%d messages, want one each", len(b.channel.Posts()))
	}
	whose := map[spoke.ID]string{{}: "eks-workshop (111122223333, us-west-2)", payments: "eks-workshop (payments, us-west-2)", europe: "eks-workshop (payments, eu-west-1)"}
	for _, id := range own {
		inc := b.incidentOf(id)
		if inc.Key.Spoke != id || inc.Account != (map[bool]string{true: hub.Account, false: id.Account})[id.Hub()] {
			t.Errorf("the incident of %q is %s of %s", id, inc.Key.Name(), inc.Account)
		}
		if says := b.message(inc.Delivery.TS); !strings.Contains(says, whose[id]) {
			t.Errorf("the message of %q is %q, want %q in it", id, says, whose[id])
		}
	}

	b.now = notifytest.Start.Add(time.Minute)
	var offered []string
	for _, id := range own {
		p := proposal(b.now)
		p.Key.Spoke = id
		if !id.Hub() {
			p.Format++
			p.Plan.Account, p.Plan.Region = id.Account, id.Region
		}
		p.Hash = p.Plan.Hash()
		offered = append(offered, b.body(p))
	}
	if failed := invoke(offered...); len(failed) > 0 {
		t.Fatalf("given back: %q", failed)
	}
	approve := func(key spoke.ID, plan string) {
		t.Helper()
		b.now = b.now.Add(time.Minute)
		p := b.press(notifytest.Dana, report.ApprovePlan)
		p.At, p.Key.Spoke, p.Plan, p.TS = b.now, key, plan, b.incidentOf(key).Delivery.TS
		m, err := report.EncodePress(p)
		if err != nil {
			t.Fatal(err)
		}
		b.passOn(p)
		if failed := invoke(string(m.Body)); len(failed) > 0 {
			t.Fatalf("given back: %q", failed)
		}
	}
	states := func() string {
		var list []string
		for _, id := range own {
			list = append(list, string(b.incidentOf(id).Offers[0].State))
		}
		return strings.Join(list, " ")
	}
	// A button of one with the plan of another is nobody's.
	approve(payments, b.incidentOf(spoke.ID{}).Offers[0].Hash)
	approve(spoke.ID{}, b.incidentOf(europe).Offers[0].Hash)
	if got := states(); got != "offered offered offered" {
		t.Errorf("after the approval of a plan by another's button: %s", got)
	}
	approve(payments, b.incidentOf(payments).Offers[0].Hash)
	if got := states(); got != "offered approved offered" {
		t.Errorf("after the approval of payments: %s", got)
	}
	for _, e := range b.bus.Told {
		if e.Kind == incident.EventApproved && (e.Account != payments.Account || e.Region != payments.Region) {
			t.Errorf("the bus is told of an approval in %s %s", e.Account, e.Region)
		}
	}
	answers := map[string][]incident.AnswerReason{}
	for _, id := range own {
		acts, err := b.store.In(id).Acts(b.Context(), "eks-workshop", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range acts {
			answers[id.String()] = append(answers[id.String()], a.Answer.Reason)
		}
	}
	if diff := cmp.Diff(map[string][]incident.AnswerReason{"": {incident.NoSuchPlan}, payments.String(): {incident.NoSuchPlan, incident.AnswerApproved}}, answers); diff != "" {
		t.Errorf("presses and their answers (-want +got):\n%s", diff)
	}
}

// TestAPressOfEarlierReleases: a button of a message from before there were spokes is the
// hub's own, whatever else is watched now.
func TestAPressOfEarlierReleases(t *testing.T) {
	b := offering(t)
	invoke := framed(b)
	p := b.press(notifytest.Dana, report.ApprovePlan)
	b.passOn(p)
	m, err := report.EncodePress(p)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(m.Body), "spoke") {
		t.Fatalf("the press %s is not as earlier releases wrote it", m.Body)
	}
	if failed := invoke(string(m.Body)); len(failed) > 0 {
		t.Fatalf("given back: %q", failed)
	}
	if inc := b.incident(); inc.Offers[0].State != incident.Approved {
		t.Errorf("the offer is %s", inc.Offers[0].State)
	}
}

// TestSummariesOfNamesakes: the daily report of each is said once, with whose it is.
func TestSummariesOfNamesakes(t *testing.T) {
	b := newBench(t)
	invoke := framed(b)
	var bodies []string
	for range 2 { // delivered twice, each is said once
		for _, id := range []spoke.ID{{}, payments, europe} {
			bodies = append(bodies, b.body(notifytest.Daily(3).For(id)))
		}
	}
	if failed := invoke(bodies...); len(failed) > 0 {
		t.Fatalf("given back: %q", failed)
	}
	var got []string
	for _, m := range b.channel.Posts() {
		where, _, _ := strings.Cut(m.Text, " · ")
		got = append(got, where)
	}
	want := []string{"🟠 eks-workshop (111122223333, us-west-2)", "🟠 eks-workshop (payments, eu-west-1)", "🟠 eks-workshop (payments, us-west-2)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
