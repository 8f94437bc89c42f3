package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"rollcall/local/platform/dynamo"
	"rollcall/shared/incident"
	"rollcall/shared/store"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/event"
	"rollcall/shared/report"
)

// server is one DynamoDB for all tests; each test has its own table.
var server = dynamo.New()

// bench is a report function with everything around it.
type bench struct {
	*testing.T
	handler
	store   *store.Store
	table   string
	channel *channel
	bus     *ear
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

// ear is a bus that remembers what it was told.
type ear struct {
	told []incident.Event
	fail error
}

func (e *ear) Tell(_ context.Context, events []incident.Event) error {
	if e.fail != nil {
		return e.fail
	}
	e.told = append(e.told, events...)
	return nil
}

func (e *ear) kinds() string {
	var kinds []string
	for _, event := range e.told {
		kinds = append(kinds, string(event.Kind))
	}
	return strings.Join(kinds, " ")
}

var start = time.Date(2026, 11, 20, 14, 59, 0, 0, time.UTC)

func newBench(t *testing.T) *bench {
	t.Helper()
	table := "test-" + strconv.FormatInt(time.Now().UnixNano(), 36) // its own, also when a test runs twice
	if err := server.CreateTable(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, table: table, channel: &channel{}, bus: &ear{}, now: start, log: &bytes.Buffer{}, counts: map[string]int{}, set: &asides{}}
	clock := func() time.Time { return b.now }
	b.store = store.New(server.Client(), table).At(clock)
	b.handler = handler{
		incidents: b.store, postings: b.store, acts: b.store, passed: b.store, slack: b.channel, files: b.channel, people: b.channel, bus: b.bus, clusters: b.store, aside: b.set, channel: "C0123456789",
		policy: incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour},
		now:    clock, log: slog.New(slog.NewJSONHandler(b.log, nil)),
		count: func(name string, n int) { b.counts[name] += n },
	}
	return b
}

// at gives the function the observations of a minute, in one batch, and gives
// the ids of the messages that go back.
func (b *bench) at(minute int, observations ...report.Observation) ([]string, error) {
	b.Helper()
	b.now = start.Add(time.Duration(minute) * time.Minute)
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

// The route story.

const (
	subnet = "subnet-0ab1c2d3e4f5a6b7c"
	table  = "rtb-0cd2e3f4a5b6c7d8e"
)

func observation() report.Observation {
	return report.Observation{Format: report.Format, By: "join-check", Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: "eks-workshop"}
}

func launch(id string, started int, standing report.LaunchStatus) report.Launch {
	l := report.Launch{
		Instance: id, Nodegroup: "new_nodegroup_2", Group: "eks-new", Subnet: subnet, Zone: "us-west-2a", Type: "m5.large",
		Started: start.Add(time.Duration(started) * time.Minute), Status: standing,
	}
	if standing == report.Joined {
		l.Ready = l.Started.Add(58 * time.Second)
	}
	return l
}

func failing(launches ...report.Launch) report.Observation {
	obs := observation()
	cause := diagnose.Cause{
		Check: "route/no-egress", Confidence: checks.Certain, Resource: table, Covers: []string{subnet}, Nodegroups: []string{"new_nodegroup_2"},
		Title: subnet + " has no way out", Why: table + " has only 10.42.0.0/16 → local.",
		Evidence: []checks.Evidence{{What: table, Value: "10.42.0.0/16 → local"}},
	}
	for _, l := range launches {
		cause.Instances = append(cause.Instances, l.Instance)
	}
	obs.Diagnosis.Causes, obs.Launches = []diagnose.Cause{cause}, launches
	return obs
}

func passing(launches ...report.Launch) report.Observation {
	obs := observation()
	obs.Diagnosis.Passed = []diagnose.Passed{{Check: "route/no-egress", Covers: []string{subnet}, Evidence: []checks.Evidence{{What: table, Value: "0.0.0.0/0 → nat-0aa4"}}}}
	obs.Launches = launches
	return obs
}

func sweep() report.Observation {
	obs := observation()
	obs.Sweep = true
	return obs
}

const i1, i2 = "i-0ef3c1b2a4d5968f1", "i-0f15a6b7c8d9e0f1a"

// scene is one invocation.
type scene struct {
	minute int
	obs    report.Observation
}

func routeStory() []scene {
	return []scene{
		{0, failing(launch(i1, 0, report.Waiting))},
		{5, failing(launch(i1, 0, report.Missed))},
		{10, passing(launch(i1, 0, report.Missed))},
		{14, passing(launch(i1, 0, report.Gone), launch(i2, 12, report.Joined))},
		{15, sweep()},
	}
}

const allNotes = "opened missed cleared proved"
