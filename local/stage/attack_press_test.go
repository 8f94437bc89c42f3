package stage

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"rollcall/local/fakeslack"
	"rollcall/local/platform/template"

	"rollcall/shared/incident"

	"rollcall/shared/bus"
	"rollcall/shared/report"
)

// TestNoOtherRoleCanPress: with the credentials of every other function, an
// approval is put into the results queue, which they may write, and its proof into
// the table, which they may not. Nothing is approved and nobody is told; what Lead
// presses then counts.
func TestNoOtherRoleCanPress(t *testing.T) { virtual(t, noOtherRoleCanPress) }

func noOtherRoleCanPress(t *testing.T) {
	r := start(t, "route", approvable)
	good := r.offeredRoute()
	before := r.routes()
	var results string
	for _, q := range r.Template.Queues {
		if q.Name == "rollcall-results.fifo" {
			results = q.URL
		}
	}
	sent := 0
	for _, f := range r.Template.Functions {
		if strings.HasSuffix(f.Name, "-"+slackActions) {
			continue
		}
		forged, err := report.EncodePress(report.Press{
			ID: "forged-by-" + f.Name, At: r.Clock.Now(), Key: good.Key, Number: good.Number, Action: report.ApprovePlan, Plan: good.Plan,
			User: report.User{ID: OnCall}, Channel: Channel, TS: r.messages()[0].TS,
		})
		if err != nil {
			t.Fatal(err)
		}
		r.noProof(f, forged)
		err = bus.Queues{Client: sqs.NewFromConfig(r.AsFunction(f)), Results: results}.SendPress(t.Context(), forged)
		if err != nil {
			t.Fatal(err)
		}
		sent++
	}
	if sent < 8 {
		t.Fatalf("%d functions were tried", sent)
	}
	refused := func() bool {
		n := 0
		for _, f := range r.Template.Functions {
			if r.logged(`"answer":"not-passed-on"`, `"press":"forged-by-`+f.Name+`"`)() {
				n++
			}
		}
		// Those of one batch are one line.
		return n > 0 && r.refusedPresses() == sent
	}
	r.until("all are refused", refused)
	if o := r.offer(); o.State != incident.Offered || len(r.acts()) > 0 || len(r.toldAlone(OnCall)) > 0 {
		t.Errorf("the offer is %s, audited %+v, told %q", o.State, r.acts(), r.toldAlone(OnCall))
	}
	r.untouched("forged", before)
	r.answers("a real press", Lead, incident.AnswerApproved, func() { r.press(Lead) })
	r.until("what was done", r.replied("Done"))
	r.doneOnce(before, Lead)
}

// noProof holds that a function may not write the proof of a press, in any of the
// ways in which DynamoDB lets records be written.
func (r *running) noProof(f template.Function, m report.PressMessage) {
	r.t.Helper()
	db, table := dynamodb.NewFromConfig(r.AsFunction(f)), &r.Template.Tables[0].Name
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	key := map[string]types.AttributeValue{"pk": text("press#" + m.ID), "sk": text("press")}
	item := map[string]types.AttributeValue{
		"pk": key["pk"], "sk": key["sk"], "by": text(f.Name), "body": text(`{"format":2,"digest":"` + m.Digest() + `"}`),
		"format": &types.AttributeValueMemberN{Value: "2"}, "version": &types.AttributeValueMemberN{Value: "1"},
		"expires": &types.AttributeValueMemberN{Value: fmt.Sprint(time.Now().Add(time.Hour).Unix())},
	}
	ctx := r.t.Context()
	for what, write := range map[string]func() error{
		"PutItem": func() error {
			_, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: item})
			return err
		},
		"UpdateItem": func() error {
			_, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: table, Key: key, UpdateExpression: aws.String("SET body = :b"), ExpressionAttributeValues: map[string]types.AttributeValue{":b": item["body"]}})
			return err
		},
		"BatchWriteItem": func() error {
			_, err := db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{*table: {{PutRequest: &types.PutRequest{Item: item}}}}})
			return err
		},
		"TransactWriteItems": func() error {
			_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: table, Item: item}}}})
			return err
		},
		"ExecuteStatement": func() error {
			_, err := db.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{Statement: aws.String(`INSERT INTO "` + *table + `" VALUE {'pk': 'press#` + m.ID + `', 'sk': 'press'}`)})
			return err
		},
	} {
		var api smithy.APIError
		if err := write(); !errors.As(err, &api) || api.ErrorCode() != "AccessDeniedException" {
			r.t.Errorf("%s of a press's proof by %s: %v, want AccessDeniedException", what, f.Name, err)
		}
	}
}

// refusedPresses counts the presses that report refused because slack-actions had
// not passed them on.
func (r *running) refusedPresses() int {
	n := 0
	for line := range strings.SplitSeq(r.out.String(), "\n") {
		if _, rest, found := strings.Cut(line, `"answer":"not-passed-on","presses":`); found {
			var some int
			if _, err := fmt.Sscanf(rest, "%d", &some); err == nil {
				n += some
			}
		}
	}
	return n
}

// TestAGuestOfTheChannelDoesNothing: somebody of another company, in a channel of
// Slack Connect, presses what the message shows. A colleague then does, and another
// takes it over.
func TestAGuestOfTheChannelDoesNothing(t *testing.T) { virtual(t, aGuestOfTheChannelDoesNothing) }

func aGuestOfTheChannelDoesNothing(t *testing.T) {
	r := start(t, "route", approvable)
	r.offeredRoute()
	before, ts := r.routes(), r.messages()[0].TS
	on := func(user string, action report.Action) {
		t.Helper()
		if err := r.Slack.Press(t.Context(), fakeslack.Press{Channel: Channel, TS: ts, ActionID: string(action), User: user, Value: "1h"}); err != nil {
			t.Fatalf("%s presses %s: %v", user, action, err)
		}
	}
	for n, action := range []report.Action{report.Acknowledge, report.MuteFor, report.CheckAgain, report.ApprovePlan} {
		on(Guest, action)
		r.until(string(action)+": the answer", func() bool { return len(r.toldAlone(Guest)) == n+1 })
	}
	for _, text := range r.toldAlone(Guest) {
		if !strings.HasPrefix(text, "Nothing was done. Only people of Rollcall’s own Slack workspace") {
			t.Errorf("the guest is told %q", text)
		}
	}
	if inc := r.incident(); inc.Ack != nil || inc.Mute != nil || !inc.Asked.IsZero() || r.offer().State != incident.Offered {
		t.Errorf("after the guest: %+v %+v, asked %s, the offer is %s", inc.Ack, inc.Mute, inc.Asked, r.offer().State)
	}
	r.untouched("the guest", before)
	on(OnCall, report.Acknowledge)
	r.until("it is acknowledged", func() bool { return r.incident().Ack != nil && r.shows(report.TakeOver) })
	on(Dev, report.TakeOver)
	r.until("that is said", r.replied("New owner: "))
	if a := r.incident().Ack; a.By.ID != Dev || a.From == nil || a.From.ID != OnCall {
		t.Errorf("it is %+v", a)
	}
}

// shows tells whether the message has the button.
func (r *running) shows(action report.Action) bool {
	r.t.Helper()
	return strings.Contains(string(r.messages()[0].Blocks), `"action_id":"`+string(action)+`"`)
}
