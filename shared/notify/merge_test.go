package notify

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
)

// one is a table with one record.
type one struct {
	inc   *incident.Incident
	saved []incident.Incident
	err   error
}

func (o *one) Incidents(context.Context, string) ([]incident.Incident, error) {
	if o.inc == nil {
		return nil, o.err
	}
	return []incident.Incident{*o.inc}, o.err
}

func (o *one) SaveIncident(_ context.Context, inc incident.Incident) (incident.Incident, error) {
	o.saved = append(o.saved, inc)
	return inc, nil
}

func dueEvents(ids ...int) (list []incident.Event) {
	for _, n := range ids {
		list = append(list, incident.Event{ID: string(rune('a' + n)), Sequence: n})
	}
	return list
}

func sequences(list []incident.Event) (numbers []int) {
	for _, e := range list {
		numbers = append(numbers, e.Sequence)
	}
	return numbers
}

var mergedKey = report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}

// What was sent is recorded in what somebody else wrote meanwhile, unless that is
// another incident with a message of its own.
func TestMerge(t *testing.T) {
	down := errors.New("no table")
	theirs := func(opened time.Time, ts string) *incident.Incident {
		return &incident.Incident{Key: mergedKey, Opened: opened, Affected: 2, Delivery: incident.Delivery{TS: ts, Digest: "theirs"}, Events: 3, PendingEvents: dueEvents(1, 2, 3)}
	}
	for name, test := range map[string]struct {
		there *incident.Incident
		err   error
		want  bool
	}{
		"the same opening":                     {theirs(notifytest.Start, ""), nil, true},
		"the same opening, said by both":       {theirs(notifytest.Start, "1.2"), nil, true},
		"another opening that was not said":    {theirs(notifytest.Start.Add(time.Hour), ""), nil, true},
		"another opening with its own message": {theirs(notifytest.Start.Add(time.Hour), "1.2"), nil, false},
		"the record is gone":                   {nil, nil, false},
		"the table is away":                    {nil, down, false},
	} {
		table := &one{inc: test.there, err: test.err}
		c := Cluster{Invocation: Notifier{Incidents: table}.Begin()}
		// Of our two events the second was told, and the third is somebody else's.
		o := outgoing{inc: incident.Incident{Key: mergedKey, Opened: notifytest.Start, Events: 2, PendingEvents: dueEvents(1), Delivery: incident.Delivery{Channel: "C1", TS: "9.9", Digest: "ours"}}}
		if err := c.merge(t.Context(), o); !errors.Is(err, test.err) {
			t.Errorf("%s: %v", name, err)
		}
		if len(table.saved) == 1 != test.want {
			t.Errorf("%s: saved %d times", name, len(table.saved))
			continue
		}
		if !test.want {
			continue
		}
		got := table.saved[0]
		if got.Affected != 2 || got.Delivery.Digest != "" || !got.Delivery.Dirty {
			t.Errorf("%s: %+v; want their record, edited once more", name, got.Delivery)
		}
		if diff := cmp.Diff([]int{1, 3}, sequences(got.PendingEvents)); diff != "" {
			t.Errorf("%s: events that are due (-want +got):\n%s", name, diff)
		}
		if want := test.there.Delivery.TS; want == "" && got.Delivery.TS != "9.9" || want != "" && got.Delivery.TS != want {
			t.Errorf("%s: the message is %s", name, got.Delivery.TS)
		}
	}
}

// An incident that somebody else wrote is taken anew, without what the bus was told
// of it already.
func TestAnew(t *testing.T) {
	table := &one{inc: &incident.Incident{Key: mergedKey, Opened: notifytest.Start, Number: 1, Affected: 2, Events: 3, PendingEvents: dueEvents(1, 2, 3)}}
	c := Cluster{Invocation: Notifier{Incidents: table, Now: func() time.Time { return notifytest.Start }}.Begin()}
	o := outgoing{inc: incident.Incident{Key: mergedKey, Opened: notifytest.Start, Events: 2, PendingEvents: dueEvents(1)}, sendsBegun: []string{""}, sendsTried: []string{""}}
	if err := c.reload(t.Context(), &o); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 3}, sequences(o.inc.PendingEvents)); diff != "" || o.inc.Affected != 2 || len(o.sendsBegun)+len(o.sendsTried) > 0 {
		t.Errorf("affected %d, begun %q, tried %q, events that are due (-want +got):\n%s", o.inc.Affected, o.sendsBegun, o.sendsTried, diff)
	}
	table.inc = nil
	if err := c.reload(t.Context(), &o); !errors.Is(err, errGone) {
		t.Errorf("the record is gone: %v", err)
	}
}

// counting is a table that counts its writes by resource.
type counting struct {
	Records
	written []string
}

func (c *counting) SaveIncident(ctx context.Context, inc incident.Incident) (incident.Incident, error) {
	c.written = append(c.written, inc.Key.Resource)
	return c.Records.SaveIncident(ctx, inc)
}

// Of a cluster's incidents those are written that changed.
func TestWhatDidNotChangeIsNotWritten(t *testing.T) {
	b := newBench(t)
	obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
	second := obs.Diagnosis.Causes[0]
	second.Check, second.Resource, second.Instances, second.Covers = "addon/degraded", "vpc-cni", nil, []string{"vpc-cni"}
	obs.Diagnosis.Causes = append(obs.Diagnosis.Causes, second)
	b.must(0, obs)
	table := &counting{Records: b.store}
	b.Incidents = table
	only := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
	b.must(5, only)
	if diff := cmp.Diff([]string{obs.Diagnosis.Causes[0].Resource}, slices.Compact(table.written)); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

// hung is a table that answers until a message was sent, and then never.
type hung struct {
	*notifytest.Table
	sent func() bool
}

func (h hung) SaveIncident(ctx context.Context, inc incident.Incident) (incident.Incident, error) {
	if h.sent() {
		<-ctx.Done()
		return incident.Incident{}, ctx.Err()
	}
	return h.Table.SaveIncident(ctx, inc)
}

// The function's time ends while Slack takes a message: what it took is recorded
// all the same; and a table that hangs then does not hold the function for ever.
func TestTimeEndsWhileSlackTakesIt(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			table := &notifytest.Table{Items: map[report.Key]notifytest.Record{}}
			ctx, end := context.WithCancel(t.Context())
			said := &notifytest.Slack{}
			said.Fail = func(call string) (error, bool) {
				if call == "reply opened" {
					end()
				}
				return nil, false
			}
			var records Records = table
			if hangs {
				records = hung{table, func() bool { return ctx.Err() != nil }}
			}
			n := Notifier{
				Incidents: records, Postings: table, Slack: said, Files: said, Answers: said, Bus: notifytest.RefusingBus{}, Clusters: table, Silences: table,
				Policy: incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour, Channel: "C0123456789"}, Now: time.Now, Log: slog.New(slog.DiscardHandler), Count: func(string, int) {},
			}
			obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
			obs.ID, obs.At = "x", time.Now()
			began := time.Now()
			c, err := n.Begin().Cluster(ctx, obs.Cluster, 1)
			if err != nil {
				t.Fatal(err)
			}
			err = c.DeliverIncidents(ctx, decided(n.Policy, obs), nil)
			if hangs {
				if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 2*time.Second {
					t.Errorf("%v after %s, want it given up within the frame's two seconds", err, took)
				}
				return
			}
			list, wrong := table.Incidents(t.Context(), obs.Cluster)
			if err != nil || wrong != nil || len(list) != 1 || list[0].Delivery.TS == "" || list[0].Delivery.Notes[0].TS == "" {
				t.Errorf("%v, the record is %+v; want the message and the reply in it", err, list)
			}
		})
	}
}
