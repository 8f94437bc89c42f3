package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"rollcall/local/platform/dynamo"
	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/notify"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/store"
)

// server is one DynamoDB for all tests; each test has its own table.
var server = dynamo.New()

// bench is a report function with everything around it.
type bench struct {
	*testing.T
	handler
	store   *store.Store
	table   string
	channel *notifytest.Slack
	bus     *notifytest.Bus
	now     time.Time
	log     *bytes.Buffer
	counts  map[string]int
	sent    int
	set     *asides
}

// asides is a dead-letter queue that remembers what was put into it.
type asides struct {
	messages []event.Message
	reasons  []string
	fail     error
}

func (a *asides) SetAside(_ context.Context, m event.Message, reason string) error {
	if a.fail != nil {
		return a.fail
	}
	a.messages, a.reasons = append(a.messages, m), append(a.reasons, reason)
	return nil
}

func newBench(t *testing.T) *bench {
	t.Helper()
	table := "test-" + strconv.FormatInt(time.Now().UnixNano(), 36) // its own, also when a test runs twice
	if err := server.CreateTable(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, table: table, channel: &notifytest.Slack{}, bus: &notifytest.Bus{}, now: notifytest.Start, log: &bytes.Buffer{}, counts: map[string]int{}, set: &asides{}}
	clock := func() time.Time { return b.now }
	b.store = store.New(server.Client(), table).At(clock)
	b.handler = handler{passed: b.store, audit: b.store, people: b.channel, aside: b.set, naming: &naming{}, Notifier: notify.Notifier{
		Incidents: b.store, Postings: b.store, Acts: b.store, Slack: b.channel, Files: b.channel, Answers: b.channel, Bus: b.bus, Clusters: b.store, Silences: b.store,
		Policy: incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour, Channel: "C0123456789"},
		Now:    clock, Log: slog.New(slog.NewJSONHandler(b.log, nil)),
		Count: func(name string, n int) { b.counts[name] += n },
	}}
	return b
}

// at gives the function the observations of a minute, in one batch, and gives
// the ids of the messages that go back.
func (b *bench) at(minute int, observations ...report.Observation) ([]string, error) {
	b.Helper()
	b.now = notifytest.Start.Add(time.Duration(minute) * time.Minute)
	var bodies []string
	for _, obs := range observations {
		if obs.At.IsZero() {
			obs.At = b.now
		}
		if obs.ID == "" {
			b.sent++
			obs.ID = fmt.Sprint("observation-", b.sent)
		}
		body, err := json.Marshal(obs)
		if err != nil {
			b.Fatal(err)
		}
		bodies = append(bodies, string(body))
	}
	return b.deliverBodies(bodies...)
}

func (b *bench) deliverBodies(bodies ...string) ([]string, error) {
	b.Helper()
	var batch events.SQSEvent
	for i, body := range bodies {
		batch.Records = append(batch.Records, events.SQSMessage{
			MessageId: fmt.Sprint("m", i), Body: body, EventSource: "aws:sqs",
			Attributes: map[string]string{"ApproximateReceiveCount": "1", "MessageGroupId": "eks-workshop"},
		})
	}
	raw, err := json.Marshal(batch)
	if err != nil {
		b.Fatal(err)
	}
	answer, err := b.handle(b.Context(), raw)
	if err != nil {
		return nil, err
	}
	var failed []string
	for _, f := range answer.(event.Answer).Failures {
		failed = append(failed, f.ID)
	}
	return failed, nil
}

// must is at for steps that leave nothing behind.
func (b *bench) must(minute int, observations ...report.Observation) {
	b.Helper()
	if failed, err := b.at(minute, observations...); err != nil || len(failed) > 0 {
		b.Errorf("minute %d: failed %q, %v", minute, failed, err)
	}
}

func (b *bench) incident() incident.Incident {
	b.Helper()
	list, err := b.store.Incidents(b.Context(), "eks-workshop")
	if err != nil || len(list) != 1 {
		b.Fatalf("incidents are %v, %v; want one", list, err)
	}
	return list[0]
}
