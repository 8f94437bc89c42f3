package notify

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"rollcall/local/platform/dynamo"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/store"
)

// server is one DynamoDB for all tests; each test has its own table.
var server = dynamo.New()

// bench is a notifier with everything around it.
type bench struct {
	*testing.T
	Notifier
	store   *store.Store
	channel *notifytest.Slack
	bus     *notifytest.Bus
	now     time.Time
	log     *bytes.Buffer
	counts  map[string]int
	sent    int
}

func newBench(t *testing.T) *bench {
	t.Helper()
	table := "test-" + strconv.FormatInt(time.Now().UnixNano(), 36) // its own, also when a test runs twice
	if err := server.CreateTable(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, channel: &notifytest.Slack{}, bus: &notifytest.Bus{}, now: notifytest.Start, log: &bytes.Buffer{}, counts: map[string]int{}}
	clock := func() time.Time { return b.now }
	b.store = store.New(server.Client(), table).At(clock)
	b.Notifier = Notifier{
		Incidents: b.store, Postings: b.store, Acts: b.store, Slack: b.channel, Files: b.channel, Answers: b.channel, Bus: b.bus, Clusters: b.store, Silences: b.store, By: "report",
		Policy: incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour, Channel: "C0123456789"},
		Now:    clock, Log: slog.New(slog.NewJSONHandler(b.log, nil)),
		Count: func(name string, n int) { b.counts[name] += n },
	}
	return b
}

// decided is what the function decides of observations (functions/report/report/decide.go).
func decided(policy incident.Policy, list ...report.Observation) Decide {
	return func(incidents []incident.Incident, now time.Time) ([]incident.Incident, map[report.Key]bool, []incident.ActRecord) {
		changed := map[report.Key]bool{}
		take := func(decisions ...incident.Decision) {
			for _, d := range decisions {
				if d.Changed {
					incidents = append(without(incidents, d.Incident.Key), d.Incident)
					changed[d.Incident.Key] = true
				}
			}
		}
		for _, obs := range list {
			take(reconcile.Decide(incidents, obs, now, policy)...)
		}
		for _, inc := range incidents {
			take(response.Tick(inc, now, policy))
		}
		return incidents, changed, nil
	}
}

func without(incidents []incident.Incident, key report.Key) (rest []incident.Incident) {
	for _, inc := range incidents {
		if inc.Key != key {
			rest = append(rest, inc)
		}
	}
	return rest
}

// deliver is an invocation with observations and summaries of one cluster, and gives
// the ids of the messages that would go back.
func (b *bench) deliver(list []report.Observation, summaries []report.Summary) (failed []string, _ error) {
	b.Helper()
	v := b.Begin()
	c, err := v.Cluster(b.Context(), "eks-workshop", 1)
	if err == nil {
		err = errors.Join(c.DeliverIncidents(b.Context(), decided(b.Policy, list...), nil), c.DeliverSummaries(b.Context(), summaries))
		c.End(b.Context(), err == nil)
	}
	v.End(b.Context())
	if err != nil {
		for i := range len(list) + len(summaries) {
			failed = append(failed, fmt.Sprint("m", i))
		}
	}
	return failed, nil
}

// at delivers the observations of a minute.
func (b *bench) at(minute int, observations ...report.Observation) ([]string, error) {
	b.Helper()
	b.now = notifytest.Start.Add(time.Duration(minute) * time.Minute)
	for i := range observations {
		obs := &observations[i]
		if obs.At.IsZero() {
			obs.At = b.now
		}
		if obs.ID == "" {
			b.sent++
			obs.ID = fmt.Sprint("observation-", b.sent)
		}
	}
	return b.deliver(observations, nil)
}

// must is at for steps that leave nothing behind.
func (b *bench) must(minute int, observations ...report.Observation) {
	b.Helper()
	if failed, err := b.at(minute, observations...); err != nil || len(failed) > 0 {
		b.Errorf("minute %d: failed %q, %v", minute, failed, err)
	}
}

// tell delivers summaries, or with none a sweep's observation.
func (b *bench) tell(minute int, list ...report.Summary) ([]string, error) {
	b.Helper()
	if len(list) == 0 {
		return b.at(minute, notifytest.Sweep())
	}
	b.now = notifytest.Start.Add(time.Duration(minute) * time.Minute)
	return b.deliver(nil, list)
}

func (b *bench) incident() incident.Incident {
	b.Helper()
	list, err := b.store.Incidents(b.Context(), "eks-workshop")
	if err != nil || len(list) != 1 {
		b.Fatalf("incidents are %v, %v; want one", list, err)
	}
	return list[0]
}
