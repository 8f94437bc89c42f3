package changecheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/functions/change-check/spec"
	"rollcall/shared/checks/finding"
	"rollcall/shared/detect"
	"rollcall/shared/diagnosis"
	"rollcall/shared/event/inbox"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/trail"
	"rollcall/stage/stagetest"
	"rollcall/tools/testfile"
)

const (
	table  = "rtb-0cd2e3f4a5b6c7d8e"
	subnet = "subnet-0ab1c2d3e4f5a6b7c"
)

var opened = time.Date(2026, 11, 20, 14, 59, 4, 0, time.UTC)

// memory is the table.
type memory struct {
	incidents []incident.Incident
	past      []snapshot.Past
	since     []time.Time
	err       error
	pastErr   error
}

func (m *memory) Incidents(_ context.Context, cluster string) ([]incident.Incident, error) {
	return slices.DeleteFunc(slices.Clone(m.incidents), func(i incident.Incident) bool { return i.Key.Cluster != cluster }), m.err
}

func (m *memory) History(_ context.Context, _ string, since time.Time) ([]snapshot.Past, error) {
	m.since = append(m.since, since)
	return slices.DeleteFunc(slices.Clone(m.past), func(p snapshot.Past) bool { return p.Started.Before(since) }), m.pastErr
}

// cloud is CloudTrail: what it knows at a time, and how it fails.
type cloud struct {
	now     func() time.Time
	records []trail.Record
	behind  time.Duration
	failed  *snapshot.Failure
	asked   []trail.Lookup
}

func (c *cloud) Records(_ context.Context, l trail.Lookup) ([]trail.Record, *snapshot.Failure) {
	c.asked = append(c.asked, l)
	if c.failed != nil {
		return nil, c.failed
	}
	var list []trail.Record
	for _, r := range c.records {
		listed := slices.ContainsFunc(r.Asked, func(t trail.Text) bool { return t.Field == trail.Listed && t.Value == l.Resource })
		if (r.Call == l.Call || listed) && !r.At.Before(l.Start) && !r.At.After(l.End) && !r.At.Add(c.behind).After(c.now()) {
			list = append(list, r)
		}
	}
	return list, nil
}

// queues are report's and its own.
type queues struct {
	sent      []report.Changes
	reminders []string
	delays    []time.Duration
	err       error
}

func (q *queues) SendChanges(_ context.Context, c report.Changes) error {
	if q.err != nil {
		return q.err
	}
	q.sent = append(q.sent, c)
	return nil
}

func (q *queues) LookForChanges(_ context.Context, key report.Key, opened time.Time, round int, now time.Time, delay time.Duration) error {
	body, err := inbox.LookForChanges(spoke.ID{}, key.Cluster, string(key.Check), key.Resource, opened, round, now)
	q.reminders, q.delays = append(q.reminders, string(body)), append(q.delays, delay)
	return err
}

type bench struct {
	*testing.T
	handler
	*memory
	*cloud
	*queues
	clock  time.Time
	counts map[string]int
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, memory: &memory{}, queues: &queues{}, clock: opened.Add(2 * time.Second), counts: map[string]int{}}
	now := func() time.Time { return b.clock }
	b.cloud = &cloud{now: now}
	b.handler = handler{
		Detector: detect.Detector{
			Watches: func(c string) bool { return c != "other" }, Now: now, Log: slog.New(slog.DiscardHandler),
			Count: func(name string, n int) { b.counts[name] += n },
		},
		memory: b.memory, reader: func() Reader { return b.cloud }, send: b.queues, own: own("rollcall-change-check", spoke.ID{}),
	}
	b.incidents = []incident.Incident{route("prod")}
	b.past = []snapshot.Past{{ID: "i-good", Subnet: subnet, Nodegroup: "workers", End: snapshot.Joined, Started: opened.Add(-time.Hour), Ready: opened.Add(-59 * time.Minute)}}
	b.records = []trail.Record{deleted("broke-it", opened.Add(-20*time.Minute))}
	return b
}

func route(cluster string) incident.Incident {
	return incident.Incident{
		Key: report.Key{Cluster: cluster, Check: "route/no-egress", Resource: table}, Number: 1, State: incident.Open, Opened: opened, Began: opened.Add(-4 * time.Second),
		Cause: diagnosis.Cause{Check: "route/no-egress", Confidence: finding.Certain, Resource: table, Covers: []string{subnet}, Nodegroups: []string{"workers"}},
	}
}

// deleted is a deleted route; CloudTrail lists nothing beside it.
func deleted(id string, at time.Time) trail.Record {
	return trail.Record{ID: id, At: at, Source: "ec2.amazonaws.com", Call: "DeleteRoute", Actor: trail.Actor{Name: "alice", Principal: "arn:aws:iam::111122223333:user/alice"}, Asked: []trail.Text{{Field: "routeTableId", Value: table}}}
}

func incidentEvent(kind, cluster string) string {
	return fmt.Sprintf(`{"id":"e1","source":"rollcall","detail-type":"Rollcall Incident %s","time":"2026-11-20T14:59:05Z","detail":{"cluster":%q,"check":"route/no-egress","resource":%q}}`, kind, cluster, table)
}

func (b *bench) run(bodies ...string) []string {
	b.Helper()
	records := []map[string]any{}
	for i, body := range bodies {
		records = append(records, map[string]any{"messageId": fmt.Sprint("m", i), "body": body, "eventSource": "aws:sqs"})
	}
	answer, err := b.handle(b.Context(), testfile.JSON(b.T, map[string]any{"Records": records}))
	if err != nil {
		b.Fatal(err)
	}
	var failed []string
	for _, f := range answer.(inbox.Answer).Failures {
		failed = append(failed, f.ID)
	}
	return failed
}

func TestWhatChanged(t *testing.T) {
	b := newBench(t)
	before := deleted("before", opened.Add(-2*time.Hour)) // the last good launch joined after it
	other := deleted("other", opened.Add(-10*time.Minute))
	other.Asked = []trail.Text{{Field: "routeTableId", Value: "rtb-0fffffffffffffff1"}}
	b.records = append(b.records, before, other)
	if failed := b.run(incidentEvent("Opened", "prod")); len(failed) > 0 {
		t.Errorf("failed %v", failed)
	}
	want := []report.Changes{{
		Head: report.Head{ID: "prod/route/no-egress/" + table + "/2026-11-20T14:59:04Z/0", At: b.clock, Cluster: "prod", Key: b.incidents[0].Key}, Opened: opened,
		Found: report.RecentChanges{
			From: opened.Add(-59 * time.Minute), To: opened.Add(-4 * time.Second), LastGood: "i-good", Open: true,
			Changes: []report.Change{{ID: "broke-it", At: opened.Add(-20 * time.Minute), Call: "DeleteRoute", Resource: table, Actor: "alice", Principal: "arn:aws:iam::111122223333:user/alice"}},
		},
	}}
	if diff := cmp.Diff(want, b.sent); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNoNames: with changeNames=off no person's name leaves the function, and what Rollcall or
// an AWS service did itself is still told apart.
func TestNoNames(t *testing.T) {
	b := newBench(t)
	b.handler.nameless = true
	ours, theirs := deleted("ours", opened.Add(-19*time.Minute)), deleted("theirs", opened.Add(-18*time.Minute))
	ours.Actor = trail.Actor{Name: "RollcallRemediateRole/rollcall-remediate", Role: "RollcallRemediateRole", Session: "rollcall-remediate"}
	theirs.Actor = trail.Actor{Name: "autoscaling.amazonaws.com"}
	b.records = append(b.records, ours, theirs)
	b.run(incidentEvent("Opened", "prod"))
	who := map[string]string{}
	for _, c := range b.sent[0].Found.Changes {
		who[c.ID] = c.Actor + c.Principal
	}
	if diff := cmp.Diff(map[string]string{"broke-it": "", "ours": "Rollcall", "theirs": "autoscaling.amazonaws.com"}, who); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if body, err := json.Marshal(b.sent); err != nil || strings.Contains(string(body), "alice") {
		t.Errorf("%v, a name is in %s", err, body)
	}
}

// CloudTrail is late: it is asked again after 5, 10 and 20 minutes, then no more.
func TestLate(t *testing.T) {
	b := newBench(t)
	b.records, b.behind = []trail.Record{deleted("late", opened.Add(-time.Minute))}, 8*time.Minute
	b.run(incidentEvent("Opened", "prod"))
	for n := 0; n < len(b.reminders) && n < 9; n++ {
		b.clock = b.clock.Add(b.delays[n])
		b.run(b.reminders[n])
	}
	var got []string
	for _, c := range b.sent {
		got = append(got, fmt.Sprintf("%s: %d changes, open %v", c.At.Sub(opened), len(c.Found.Changes), c.Found.Open))
	}
	want := []string{"2s: 0 changes, open true", "5m0s: 0 changes, open true", "10m0s: 1 changes, open true", "20m0s: 1 changes, open false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Where the first bad launch was long ago, CloudTrail has all: once is enough.
func TestLongAgo(t *testing.T) {
	b := newBench(t)
	b.incidents[0].Began = opened.Add(-time.Hour)
	b.run(incidentEvent("Reopened", "prod"))
	if len(b.sent) != 1 || b.sent[0].Found.Open || len(b.reminders) != 0 {
		t.Errorf("sent %+v, reminders %v", b.sent, b.reminders)
	}
}

func TestStaleWakes(t *testing.T) {
	reminder := func(opened time.Time) string {
		body, err := inbox.LookForChanges(spoke.ID{}, "prod", "route/no-egress", table, opened, 1, opened)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	for name, test := range map[string]struct {
		change func(*bench)
		body   string
	}{
		"a reminder of an earlier opening": {func(*bench) {}, reminder(opened.Add(-time.Hour))},
		"the event came twice":             {func(b *bench) { b.incidents[0].RecentChanges = &report.RecentChanges{To: b.incidents[0].Began} }, incidentEvent("Opened", "prod")},
		"no such incident":                 {func(b *bench) { b.incidents = nil }, incidentEvent("Opened", "prod")},
		"not said yet":                     {func(b *bench) { b.incidents[0].Number = 0 }, incidentEvent("Opened", "prod")},
		"not watched":                      {func(*bench) {}, incidentEvent("Opened", "other")},
		"another event":                    {func(*bench) {}, incidentEvent("Resolved", "prod")},
		"another reminder":                 {func(*bench) {}, `{"id":"1","source":"rollcall","detail-type":"Rollcall Look Again","time":"2026-11-20T14:59:05Z","detail":{"instances":["i-1"]}}`},
	} {
		b := newBench(t)
		test.change(b)
		if failed := b.run(test.body); len(failed)+len(b.sent)+len(b.asked) > 0 {
			t.Errorf("%s: failed %v, sent %v, asked %d", name, failed, b.sent, len(b.asked))
		}
	}
	// A trail of an earlier time does not keep a reopened incident from its own.
	b := newBench(t)
	b.incidents[0].RecentChanges = &report.RecentChanges{To: opened.Add(-48 * time.Hour)}
	if b.run(incidentEvent("Reopened", "prod")); len(b.sent) != 1 {
		t.Errorf("sent %v", b.sent)
	}
}

// What could not be read is reported with the permission's name, and read again later.
func TestBlind(t *testing.T) {
	for reason, test := range map[snapshot.Reason]struct {
		code, says string
		calls      int
	}{
		snapshot.Denied:    {"AccessDeniedException", "cloudtrail:LookupEvents AccessDeniedException", 1},
		snapshot.Throttled: {"ThrottlingException", "cloudtrail:LookupEvents throttled", 1},
		snapshot.Broken:    {"InternalFailure", "cloudtrail:LookupEvents broken", 9},
	} {
		b := newBench(t)
		b.cloud.failed = &snapshot.Failure{Call: "cloudtrail:LookupEvents", Reason: reason, Code: test.code}
		b.incidents[0].Began = opened.Add(-time.Hour) // CloudTrail has everything, and cannot be asked
		b.run(incidentEvent("Opened", "prod"))
		if len(b.reminders) != 1 {
			t.Errorf("%s: it is asked again %d times", reason, len(b.reminders))
		}
		// What a person must put right is said at once.
		if open := reason != snapshot.Denied; len(b.sent) != 1 || b.sent[0].Found.Blind != test.says || b.sent[0].Found.Open != open ||
			len(b.asked) < test.calls || test.calls == 1 && len(b.asked) > 1 {
			t.Errorf("%s: %d calls, sent %+v", reason, len(b.asked), b.sent)
		}
	}
}

// Incidents that begin together are looked up together, and none is lost
// because another could not be told.
func TestTogether(t *testing.T) {
	b := newBench(t)
	b.incidents = append(b.incidents, route("dev"))
	b.run(incidentEvent("Opened", "prod"), incidentEvent("Opened", "prod"), incidentEvent("Opened", "dev"))
	seen := map[trail.Lookup]int{}
	for _, l := range b.asked {
		if seen[named(l)]++; seen[named(l)] > 1 {
			t.Errorf("asked twice for %+v", l)
		}
	}
	if len(b.sent) != 2 || len(b.sent[0].Found.Changes) != 1 || len(b.sent[1].Found.Changes) != 1 {
		t.Errorf("sent %+v", b.sent)
	}
	b = newBench(t)
	b.queues.err = errors.New("no queue")
	if failed := b.run(incidentEvent("Opened", "prod")); !slices.Equal(failed, []string{"m0"}) || len(b.reminders) != 0 {
		t.Errorf("failed %v, reminders %v", failed, b.reminders)
	}
}

// Of what Rollcall cannot read no change is looked for: not in CloudTrail, nor in the launches
// of ninety days.
func TestBlindIncident(t *testing.T) {
	b := newBench(t)
	b.incidents[0].Key.Check = incident.CannotLook
	body := strings.Replace(incidentEvent("Opened", "prod"), "route/no-egress", string(incident.CannotLook), 1)
	if failed := b.run(body); len(failed)+len(b.sent)+len(b.asked)+len(b.since)+len(b.reminders) > 0 || b.counts["StaleWakes"] > 0 {
		t.Errorf("failed %v, told %d, asked %d, read %d, again %d, counted %v", failed, len(b.sent), len(b.asked), len(b.since), len(b.reminders), b.counts)
	}
}

// What has joined before is looked for as far back as CloudTrail goes.
func TestHistory(t *testing.T) {
	b := newBench(t)
	b.past[0].Started, b.past[0].Ready = opened.AddDate(0, 0, -40), opened.AddDate(0, 0, -40).Add(time.Minute)
	b.run(incidentEvent("Opened", "prod"))
	if got := b.sent[0].Found; got.LastGood != "i-good" || len(b.since) != 2 {
		t.Errorf("trail %+v of the launches since %v", got, b.since)
	}
	b = newBench(t)
	b.past, b.pastErr = nil, errors.New("half of it")
	b.run(incidentEvent("Opened", "prod"))
	if got := b.sent[0].Found; !got.From.IsZero() || !strings.Contains(got.Blind, "could not be read in full") || len(got.Changes) != 1 {
		t.Errorf("trail %+v", got)
	}
}

func TestOthers(t *testing.T) {
	b := newBench(t)
	if _, err := b.handle(t.Context(), json.RawMessage(`{"source":"aws.events"}`)); !errors.Is(err, errNoBatch) {
		t.Errorf("error %v", err)
	}
	if failed := b.run("{"); !slices.Equal(failed, []string{"m0"}) || b.counts["MalformedEvents"] != 1 {
		t.Errorf("failed %v", failed)
	}
	b.memory.err, b.incidents = errors.New("no table"), nil
	raw, _ := json.Marshal(map[string]any{"Records": []any{map[string]any{"messageId": "m", "body": incidentEvent("Opened", "prod"), "eventSource": "aws:sqs"}}})
	if _, err := b.handle(t.Context(), raw); err == nil {
		t.Error("without the table the message must come back")
	}
	hubs := []trail.Function{{Session: "rollcall-remediate", Role: "remediate"}, {Session: "rollcall-eni-cleanup", Role: "enicleanup"}}
	if diff := cmp.Diff(hubs, own("rollcall-change-check", spoke.ID{})); diff != "" || own("x", spoke.ID{}) != nil {
		t.Error(diff)
	}
	// In a spoke they are the sessions of its roles.
	theirs := own("rollcall-change-check", spoke.ID{Account: "222233334444", Region: "eu-west-1"})
	if diff := cmp.Diff([]trail.Function{{Session: "rollcall-remediate", Role: "remediator"}, {Session: "rollcall-eni-cleanup", Role: "cleaner"}}, theirs); diff != "" {
		t.Errorf("in a spoke (-want +got):\n%s", diff)
	}
}

// TestKilledAtEachWrite: a change is reported under one id, and looked for
// again, wherever the function ends.
func TestKilledAtEachWrite(t *testing.T) {
	stagetest.KilledAtEachWrite(t, []string{"SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
		b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Kill: k})
		key := report.Key{Cluster: stagetest.Cluster, Check: "route/no-egress", Resource: stagetest.Table}
		if _, err := b.Store.SaveIncident(t.Context(), incident.Incident{
			Key: key, Format: report.Format, Account: b.Template.AccountID, Region: b.Template.Region, Partition: "aws",
			State: incident.Open, Number: 1, Began: b.Now(), Opened: b.Now(), Changed: b.Now(), Seen: b.Now(), Covers: []string{stagetest.Subnet},
			Cause: diagnosis.Cause{Check: key.Check, Confidence: finding.Certain, Resource: key.Resource, Covers: []string{stagetest.Subnet}, Title: "no route to the internet"},
		}); err != nil {
			t.Fatal(err)
		}
		k.Invoke(stagetest.Batch(fmt.Sprintf(`{"version":"0","id":"e-1","source":"rollcall","detail-type":"Rollcall Incident Opened","account":"111122223333","region":"us-west-2","time":%q,"detail":{"cluster":%q,"check":%q,"resource":%q}}`,
			b.Now().UTC().Format(time.RFC3339), key.Cluster, key.Check, key.Resource)))
		told := map[string]any{} // report takes in each once, by its id
		for _, m := range b.Results() {
			if m.Changes != nil {
				told[m.Changes.ID] = m.Changes.Found.Changes
			}
		}
		if len(told) != 1 {
			t.Errorf("told is %v, want one", told)
		}
		return stagetest.Timeless(t, map[string]any{"told": told, "records": b.Kept(), "again": b.Waiting("rollcall-changes") > 0})
	})
}
