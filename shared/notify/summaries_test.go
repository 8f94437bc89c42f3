package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/routing"
	"rollcall/shared/silence"
	"rollcall/shared/slack"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/tools/expect"
)

func (b *bench) posting() outbox.Posting {
	b.Helper()
	list, err := b.store.Postings(b.Context(), "eks-workshop")
	if err != nil || len(list) != 1 {
		b.Fatalf("postings are %v, %v; want one", list, err)
	}
	return list[0]
}

// complete is the one message with its picture and its details.
func (b *bench) complete(picture bool) {
	b.Helper()
	posts := b.channel.Posts()
	if len(posts) != 1 || !strings.Contains(posts[0].Text, "31 of 412 launches did not join") {
		b.Errorf("the channel has %+v, want one summary", posts)
	}
	expect.Same(b.T, "the thread", b.channel.Notes(), []string{slack.DetailsNote})
	p := b.posting()
	if !p.Done || p.Due() || len(p.Summary.Chart) > 0 {
		b.Errorf("the record is %+v, want it done and small", p)
	}
	if got := p.Picture.File != ""; got != picture {
		b.Errorf("with a picture: %v (%q), want %v", got, p.Picture.Missing, picture)
	}
}

func TestSummary(t *testing.T) {
	b := newBench(t)
	for minute := range 3 {
		if failed, err := b.tell(minute, notifytest.Daily(31), notifytest.Daily(31)); err != nil || len(failed) > 0 {
			t.Fatal(failed, err)
		}
	}
	b.complete(true)
	expect.Same(t, "calls of Slack", b.channel.Calls, []string{"upload", "post", "reply details"})
	if got := b.channel.Files[0]; string(got.Data) != "\x89PNG" || got.Name != "spot-eks-workshop-2026-11-20.png" || !strings.Contains(got.Alt, "31 of 412") {
		t.Errorf("the file is %+v", got)
	}
	// Weeks later, from the dead-letter queue.
	if failed, err := b.tell(17*24*60, notifytest.Daily(31)); err != nil || len(failed) > 0 || len(b.channel.Posts()) != 1 {
		t.Errorf("repeated: %q, %v, %d posts", failed, err, len(b.channel.Posts()))
	}
	asked := notifytest.Daily(31)
	asked.ID = "spot/eks-workshop/asked/1"
	if _, err := b.tell(20, asked); err != nil || len(b.channel.Posts()) != 2 {
		t.Errorf("a summary that was asked for: %v, %d posts in all", err, len(b.channel.Posts()))
	}
}

func TestQuietSummary(t *testing.T) {
	b := newBench(t)
	quiet := notifytest.Daily(0)
	quiet.Chart = nil
	for minute := range 2 {
		if _, err := b.tell(minute, quiet); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"post"}, b.channel.Calls); diff != "" || !b.posting().Done {
		t.Errorf("calls of Slack (-want +got):\n%s", diff)
	}
}

// Whatever call is cut off after Slack took it, nothing is said twice.
func TestSummaryCutOff(t *testing.T) {
	for _, call := range []string{"upload", "post", "reply details"} {
		t.Run(call, func(t *testing.T) {
			b := newBench(t)
			b.channel.Fail = notifytest.CutOff(call)
			for _, step := range [][]report.Summary{{notifytest.Daily(31)}, nil, nil} {
				if _, err := b.tell(len(b.channel.Calls), step...); err != nil {
					t.Fatal(err)
				}
			}
			b.complete(true)
		})
	}
}

// Slack is away or asks to wait: one try for each batch, and later all is said.
func TestSummarySlackAway(t *testing.T) {
	for name, fault := range map[string]func(string) (error, bool){"down": notifytest.Down, "rate limited": notifytest.RateLimited} {
		for _, from := range []string{"upload", "post", "reply details"} {
			t.Run(name+" from "+from, func(t *testing.T) {
				b := newBench(t)
				away := false
				b.channel.Fail = func(call string) (error, bool) {
					if away = away || call == from; away {
						return fault(call)
					}
					return nil, false
				}
				if _, err := b.tell(0, notifytest.Daily(31)); err != nil {
					t.Fatal(err)
				}
				for minute := 5; minute < 20; minute += 5 {
					before := len(b.channel.Calls)
					if _, err := b.tell(minute); err != nil {
						t.Fatal(err)
					}
					if n := len(b.channel.Calls) - before; n != 1 {
						t.Errorf("%d calls in a batch, want 1", n)
					}
				}
				b.channel.Fail = nil
				if _, err := b.tell(30); err != nil {
					t.Fatal(err)
				}
				b.complete(true)
			})
		}
	}
}

func fails(name string, e slackapi.Error, times int) func(string) (error, bool) {
	return func(call string) (error, bool) {
		if call != name || times == 0 {
			return nil, false
		}
		times--
		return &e, false
	}
}

// Without files:write the message goes out and says so, and the alarm rings.
func TestSummaryWithoutScope(t *testing.T) {
	b := newBench(t)
	b.channel.Fail = fails("upload", slackapi.Error{Kind: slackapi.Auth, Method: "files.getUploadURLExternal", Code: "missing_scope", Scope: "files:write"}, -1)
	if _, err := b.tell(0, notifytest.Daily(31)); err != nil || b.counts["Undelivered"] != 1 || !strings.Contains(b.log.String(), "add the scope files:write") {
		t.Errorf("%v, %d undelivered; want the scope in the log: %s", err, b.counts["Undelivered"], b.log)
	}
	b.complete(false)
	if !strings.Contains(b.posting().Picture.Missing, "files:write") {
		t.Errorf("the record says %q", b.posting().Picture.Missing)
	}
	// The queue gives the batch again.
	if failed, err := b.tell(1, notifytest.Daily(31)); err != nil || len(failed) > 0 {
		t.Errorf("given again: %q, %v", failed, err)
	}
	b.complete(false)
}

// Slack takes pictures in after it has answered: the message waits for that,
// but not for ever.
func TestSummaryPictureNotTakenIn(t *testing.T) {
	refusal := slackapi.Error{Kind: slackapi.Refused, Method: "chat.postMessage", Code: "invalid_blocks"}
	b := newBench(t)
	b.channel.Fail = fails("post", refusal, 2)
	for minute, step := range [][]report.Summary{{notifytest.Daily(31)}, nil, nil} {
		if _, err := b.tell(minute, step...); err != nil {
			t.Fatal(err)
		}
	}
	b.complete(true)
	if n := len(b.channel.Files); n != 1 {
		t.Errorf("%d uploads, want 1", n)
	}

	b = newBench(t)
	b.channel.Fail = fails("post", refusal, mostRefusals)
	for minute, step := range [][]report.Summary{{notifytest.Daily(31)}, nil, nil, nil} {
		if _, err := b.tell(minute, step...); err != nil {
			t.Fatal(err)
		}
	}
	b.complete(false)
	if rang := b.counts["Undelivered"]; rang != 1 {
		t.Errorf("the alarm rang %d times, want once", rang)
	}
}

// A wrong token or channel rings the alarm and loses nothing.
func TestSummaryRefused(t *testing.T) {
	for _, from := range []string{"upload", "post", "reply details"} {
		b := newBench(t)
		b.channel.Fail = fails(from, slackapi.Error{Kind: slackapi.Auth, Method: "x", Code: "invalid_auth"}, 2)
		for i, step := range [][]report.Summary{{notifytest.Daily(31)}, nil, nil} {
			// The second try is two minutes after the first, the third four after that.
			if failed, err := b.tell([]int{0, 2, 6}[i], step...); err != nil || len(failed) > 0 {
				t.Errorf("%s: gave back %q, %v", from, failed, err)
			}
		}
		if b.counts["Undelivered"] != 2 {
			t.Errorf("%s: %d undelivered, want 2", from, b.counts["Undelivered"])
		}
		b.complete(true)
	}
}

// The message is deleted before its details come.
func TestSummaryDeleted(t *testing.T) {
	b := newBench(t)
	b.channel.Fail = fails("reply details", slackapi.Error{Kind: slackapi.MessageGone, Method: "chat.postMessage", Code: "thread_not_found"}, -1)
	if _, err := b.tell(0, notifytest.Daily(31)); err != nil || !b.posting().Done {
		t.Errorf("%v, %+v; want it done", err, b.posting())
	}
}

// lapse is a store whose n-th write of a posting fails, as if the function
// were stopped there.
type lapse struct {
	Summaries
	writes, at int
}

func (l *lapse) SavePosting(ctx context.Context, p outbox.Posting) (outbox.Posting, error) {
	if l.writes++; l.writes == l.at {
		return outbox.Posting{}, errStopped
	}
	return l.Summaries.SavePosting(ctx, p)
}

// Stopped at any write, with the message coming again: one message, one reply.
func TestSummaryStoppedBetweenSendAndSave(t *testing.T) {
	for n := 1; n <= 5; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			b := newBench(t)
			b.Postings = &lapse{Summaries: b.store, at: n}
			failed, err := b.tell(0, notifytest.Daily(31))
			if err != nil || len(failed) != 1 {
				t.Fatalf("gave back %q, %v; want the message", failed, err)
			}
			if failed, err := b.tell(1, notifytest.Daily(31)); err != nil || len(failed) > 0 {
				t.Fatalf("gave back %q, %v the second time", failed, err)
			}
			b.complete(true)
		})
	}
}

// Two invocations at once: who comes second sees it and leaves it.
func TestSummaryRace(t *testing.T) {
	b := newBench(t)
	b.Postings = &overtaken{Summaries: b.store, bench: b}
	if failed, err := b.tell(0, notifytest.Daily(31)); err != nil || len(failed) > 0 {
		t.Fatalf("gave back %q, %v", failed, err)
	}
	b.complete(true)
	if b.counts["LostRaces"] != 1 {
		t.Errorf("%d races were lost, want 1", b.counts["LostRaces"])
	}
}

// overtaken lets another invocation say everything before the first write.
type overtaken struct {
	Summaries
	bench *bench
	done  bool
}

func (r *overtaken) SavePosting(ctx context.Context, p outbox.Posting) (outbox.Posting, error) {
	if !r.done {
		r.done = true
		if _, err := r.bench.tell(0, notifytest.Daily(31)); err != nil {
			return outbox.Posting{}, err
		}
	}
	return r.Summaries.SavePosting(ctx, p)
}

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

// What was sent is recorded in what another writer wrote meanwhile, unless that is
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
		// Of our two events the second was sent, and the third is another sender's.
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
		expect.Same(t, fmt.Sprintf("%s: events that are due", name), sequences(got.PendingEvents), []int{1, 3})
		if want := test.there.Delivery.TS; want == "" && got.Delivery.TS != "9.9" || want != "" && got.Delivery.TS != want {
			t.Errorf("%s: the message is %s", name, got.Delivery.TS)
		}
	}
}

// An incident that another writer changed is read again, without the events that
// the bus has already.
func TestAnew(t *testing.T) {
	table := &one{inc: &incident.Incident{Key: mergedKey, Opened: notifytest.Start, Number: 1, Affected: 2, Events: 3, PendingEvents: dueEvents(1, 2, 3)}}
	c := Cluster{Invocation: Notifier{Incidents: table, Now: func() time.Time { return notifytest.Start }}.Begin()}
	o := outgoing{inc: incident.Incident{Key: mergedKey, Opened: notifytest.Start, Events: 2, PendingEvents: dueEvents(1)}, sendsBegun: []string{""}, sendsTried: []string{""}}
	expect.OK(t, c.reload(t.Context(), &o))
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
	expect.Same(t, "written", slices.Compact(table.written), []string{obs.Diagnosis.Causes[0].Resource})
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
			expect.OK(t, err)
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

// archived is a Slack whose old channel takes nothing any more.
type archived struct {
	*notifytest.Slack
	old string
}

func (a archived) refuse(id string) error {
	if id == a.old {
		return &slackapi.Error{Kind: slackapi.Channel, Method: "chat.update", Code: "is_archived"}
	}
	return nil
}

func (a archived) Update(ctx context.Context, id, ts string, m slackapi.Message) error {
	if err := a.refuse(id); err != nil {
		return err
	}
	return a.Slack.Update(ctx, id, ts, m)
}

func (a archived) Reply(ctx context.Context, id, thread string, m slackapi.Message) (string, error) {
	if err := a.refuse(id); err != nil {
		return "", err
	}
	return a.Slack.Reply(ctx, id, thread, m)
}

// The channel was archived and another one is set: what is open goes on there.
func TestChannelReplaced(t *testing.T) {
	b := newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	old := b.Policy.Channel
	b.Slack = archived{b.channel, old}
	b.must(5, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Missed)))
	if b.counts["Undelivered"] != 1 || !strings.Contains(b.log.String(), "unarchive the channel") {
		t.Errorf("the channel is archived and no other is set: %d undelivered, log %s", b.counts["Undelivered"], b.log)
	}
	b.Policy.Channel = "C0NEW"
	b.must(10, notifytest.Sweep())
	b.must(15, notifytest.Passing())
	var there []string
	for _, m := range b.channel.Messages {
		if m.Channel == "C0NEW" {
			there = append(there, m.Tag.Note)
		}
	}
	if got := strings.Join(there, " "); got != " missed cleared" {
		t.Errorf("in the new channel: %q, want the message, and what was not said yet", got)
	}
}

// remembered is what is known of clusters, without a table.
type remembered struct {
	Clusters
	list []outbox.ClusterRecord
	err  error
}

func (r remembered) ClusterRecords(context.Context) ([]outbox.ClusterRecord, error) {
	return r.list, r.err
}

// The tick wakes the clusters that are due through the queue, and counts what is
// refused with each tick.
func TestTick(t *testing.T) {
	refused := func(cluster string, ago time.Duration) outbox.ClusterRecord {
		r := outbox.ClusterRecord{Cluster: cluster}
		r.Refused(outbox.ToSlack, "token_revoked", notifytest.Start.Add(-ago))
		return r
	}
	quiet := outbox.ClusterRecord{Cluster: "quiet", Open: true, Wake: notifytest.Start.Add(-time.Minute)}
	lively := outbox.ClusterRecord{Cluster: "lively", Open: true, Wake: notifytest.Start.Add(time.Minute)}
	list := []outbox.ClusterRecord{refused("due", time.Hour), refused("held", time.Minute), quiet, lively}
	down := errors.New("no table")
	for name, test := range map[string]struct {
		err    error
		want   []string
		wrong  error
		refuse bool
	}{
		"well":                         {nil, []string{"due", "quiet"}, nil, false},
		"one record is of a newer one": {&store.NewerFormat{Record: "x"}, []string{"due", "quiet"}, nil, false},
		"no table":                     {down, nil, down, false},
		"the queue takes nothing":      {nil, []string{"due", "quiet"}, errQueue, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.Clusters = remembered{list: list, err: test.err}
			var woken []string
			b.Again = notifytest.AgainFunc(func(o report.Observation) error {
				body, err := json.Marshal(o)
				if err != nil {
					t.Error(err)
				}
				if _, err := report.Decode(body); err != nil {
					t.Error(err)
				}
				woken = append(woken, o.Cluster)
				if test.refuse {
					return errQueue
				}
				return nil
			})
			err := b.Tick(t.Context())
			if !errors.Is(err, test.wrong) || (err == nil) != (test.wrong == nil) {
				t.Errorf("%v; want %v", err, test.wrong)
			}
			expect.Same(t, "woken", woken, test.want)
			if n := b.counts["Undelivered"]; test.want != nil && n != 2 {
				t.Errorf("%d undelivered, want 2", n)
			}
		})
	}
}

var errQueue = errors.New("no queue")

// An archived channel holds back what goes there, and nothing else; a content that
// is refused holds back itself alone.
func TestWhoRefusesIsHeldBack(t *testing.T) {
	two := func(minute int) report.Observation {
		obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
		second := obs.Diagnosis.Causes[0]
		second.Resource, second.Title = "rtb-2", "the second"
		obs.Diagnosis.Causes = append(obs.Diagnosis.Causes, second)
		return obs
	}
	refuse := func(kind slackapi.Kind, code string, n int) func(string) (error, bool) {
		return func(call string) (error, bool) {
			if call != "post" || n == 0 {
				return nil, false
			}
			n--
			return &slackapi.Error{Kind: kind, Method: "chat.postMessage", Code: code}, false
		}
	}
	for name, test := range map[string]struct {
		kind  slackapi.Kind
		code  string
		calls []string // at once
		later []string // two minutes later
	}{
		"the channel": {slackapi.Channel, "is_archived", []string{"post"}, []string{"post", "reply opened", "post", "reply opened"}},
		"the token":   {slackapi.Auth, "token_revoked", []string{"post"}, []string{"post", "reply opened", "post", "reply opened"}},
		"a content":   {slackapi.Refused, "invalid_blocks", []string{"post", "post", "reply opened"}, []string{"post", "reply opened"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.channel.Fail = refuse(test.kind, test.code, 1)
			b.must(0, two(0))
			expect.Same(t, "calls", b.channel.Calls, test.calls)
			b.channel.Calls = nil
			b.must(1, notifytest.Sweep())
			if len(b.channel.Calls) > 0 {
				t.Errorf("a minute later: %q, want nothing tried", b.channel.Calls)
			}
			if n := strings.Count(b.log.String(), `"level":"ERROR"`); n != 1 {
				t.Errorf("%d errors in the log, want 1: %s", n, b.log)
			}
			b.must(2, notifytest.Sweep())
			expect.Same(t, "two minutes later", b.channel.Calls, test.later)
			if r, err := b.store.ClusterRecord(t.Context(), "eks-workshop"); err != nil || len(r.Refusals) > 0 || !r.Open {
				t.Errorf("%+v, %v; want nothing refused any more, and something open", r, err)
			}
		})
	}
}

// What nothing is due for any more is not held against anybody: the alarm ends.
func TestRefusalOfWhatIsNoLongerDue(t *testing.T) {
	b := newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	r, err := b.store.ClusterRecord(t.Context(), "eks-workshop")
	expect.OK(t, err)
	r.Refused(outbox.ToChannel("C0GONE"), "is_archived", notifytest.Start)
	expect.OK(t, b.store.SaveClusterRecord(t.Context(), r))
	b.must(1, notifytest.Sweep())
	if r, err = b.store.ClusterRecord(t.Context(), "eks-workshop"); err != nil || len(r.Refusals) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// unread is a table in which what is remembered of a cluster is of a newer version.
type unread struct{ Clusters }

func (unread) ClusterRecord(_ context.Context, cluster string) (outbox.ClusterRecord, error) {
	return outbox.ClusterRecord{Cluster: cluster}, &store.NewerFormat{Record: cluster}
}

func (unread) SaveClusterRecord(context.Context, outbox.ClusterRecord) error {
	return errors.New("it was written over")
}

func TestNewerClusterRecord(t *testing.T) {
	b := newBench(t)
	b.Clusters = unread{}
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	if len(b.channel.Posts()) != 1 || strings.Contains(b.log.String(), "written over") {
		t.Errorf("%d posts, log %s", len(b.channel.Posts()), b.log)
	}
}

// A message that was deleted is posted anew, and the record of that cannot be
// written: the messages come again, and no other record is written over.
func TestPostedAnewAndNotRecorded(t *testing.T) {
	b := newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	b.channel.Messages = nil
	b.bus.Told = nil
	b.Incidents = &forgetful{Records: b.store, from: 3, to: 4} // the observation's, the mark, and this
	obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Missed))
	obs.ID = "again"
	failed, err := b.observeAt(5, obs)
	if err != nil || len(failed) != 1 {
		t.Fatalf("gave back %q, %v; want the message", failed, err)
	}
	b.Incidents = b.store
	b.must(5, obs)
	b.must(10, notifytest.Sweep())
	if got := strings.Join(b.channel.Notes(), " "); len(b.channel.Posts()) != 1 || got != "missed" {
		t.Errorf("%d messages, thread %q", len(b.channel.Posts()), got)
	}
	if b.incident().Key.Check != "route/no-egress" {
		t.Errorf("the record is %+v", b.incident().Key)
	}
}

// A cluster that was deleted is said so once, and not looked after any more; one
// that is no longer observed is, until its incidents are closed.
func TestClusterIsForgotten(t *testing.T) {
	b := newBench(t)
	var woken []string
	b.Again = notifytest.AgainFunc(func(o report.Observation) error { woken = append(woken, o.Cluster); return nil })
	tick := func(minute int) {
		t.Helper()
		b.now, woken = notifytest.Start.Add(time.Duration(minute)*time.Minute), nil
		expect.OK(t, b.Tick(t.Context()))
	}
	const day = 24 * 60
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	tick(day - 1)
	if len(woken) > 0 {
		t.Errorf("woken %q within a day", woken)
	}
	tick(day)
	expect.Same(t, "woken", woken, []string{"eks-workshop"})
	b.must(day, b.wake("eks-workshop"))
	tick(day + 5)
	if len(woken) > 0 || b.incident().State != incident.Open {
		t.Errorf("woken %q again, the incident is %s", woken, b.incident().State)
	}
	b.now = notifytest.Start.Add(14 * day * time.Minute)
	b.must(14*day, b.wake("eks-workshop"))
	if inc := b.incident(); inc.State != incident.Closed || inc.Resolution != incident.Unseen || !strings.Contains(b.channel.Posts()[0].Text, "not checked since") {
		t.Errorf("%s, %s, %q", inc.State, inc.Resolution, b.channel.Posts()[0].Text)
	}
	tick(16 * day)
	if len(woken) > 0 {
		t.Errorf("woken %q, and nothing is open", woken)
	}

	b = newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	gone := notifytest.Observation()
	gone.ClusterGone, gone.Sweep = true, true
	b.must(5, gone)
	gone.ID = "once more"
	b.must(10, gone)
	expect.Same(t, "calls of Slack", b.channel.Calls, []string{"post", "reply opened", "update", "reply withdrawn"})
	if got := b.channel.Posts()[0].Text; !strings.Contains(got, "cluster eks-workshop was deleted") || b.bus.Kinds() != "Opened Resolved" {
		t.Errorf("the message is %q, the bus was told %q", got, b.bus.Kinds())
	}
	if r, err := b.store.ClusterRecord(t.Context(), "eks-workshop"); err != nil || r.Open || r.Owed || r.Version == 0 {
		t.Errorf("%+v, %v; want a record with nothing open, by which the closed incident is found", r, err)
	}
}

// silenced writes a silence of the workshop's cluster, of an hour.
func silenced(b *bench) {
	b.Helper()
	_, err := b.store.SaveSilence(b.Context(), silence.Silence{
		ID: "ab12cd34", Cluster: "eks-workshop", From: notifytest.Start, Until: notifytest.Start.Add(time.Hour), At: notifytest.Start, By: silence.Person{ID: notifytest.Oncall},
	})
	expect.OK(b.T, err)
}

// say gives the cluster its time at a minute.
func (b *bench) say(minute int) error {
	b.Helper()
	b.now = notifytest.Start.Add(time.Duration(minute) * time.Minute)
	c, err := b.Begin().Cluster(b.Context(), "eks-workshop", 1)
	if err != nil {
		return err
	}
	err = c.DeliverSilences(b.Context())
	c.End(b.Context(), err == nil)
	return err
}

func (b *bench) silence() silence.Silence {
	b.Helper()
	list, err := b.store.Silences(b.Context(), "eks-workshop")
	if err != nil || len(list) != 1 {
		b.Fatalf("%v, %v; want one", list, err)
	}
	return list[0]
}

// The line is posted once, and edited once when the silence is over.
func TestSilenceIsSaidOnce(t *testing.T) {
	b := newBench(t)
	silenced(b)
	for _, minute := range []int{1, 2, 30, 61, 62, 90} {
		if err := b.say(minute); err != nil {
			t.Errorf("minute %d: %v", minute, err)
		}
	}
	expect.Equal(t, "Slack was called", strings.Join(b.channel.Calls, " "), "post update")
	if s := b.silence(); s.Begun.TS == "" || s.Over.TS != s.Begun.TS || !s.Begun.Sending.IsZero() {
		t.Errorf("the record is %+v", s)
	}
}

// An invocation that was cut off after Slack took the line is followed by one that finds
// it; what Slack refused, or could not take, is said with the cluster's next message.
func TestSilenceAfterTrouble(t *testing.T) {
	for name, test := range map[string]struct {
		err   error
		cut   bool
		calls string
	}{
		"cut off":           {&slackapi.Error{Kind: slackapi.Unavailable}, true, "post find"},
		"away":              {&slackapi.Error{Kind: slackapi.Unavailable}, false, "post find post"},
		"refused, as it is": {&slackapi.Error{Kind: slackapi.Refused, Code: "x"}, false, "post post"},
	} {
		b := newBench(t)
		silenced(b)
		b.channel.Fail = func(string) (error, bool) { return test.err, test.cut }
		if err := b.say(1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		b.channel.Fail = nil
		for _, minute := range []int{6, 11} {
			if err := b.say(minute); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := strings.Join(strings.Fields(strings.Join(b.channel.Calls, " ")), " "); got != test.calls || b.silence().Begun.TS == "" || len(b.channel.Messages) != 1 {
			t.Errorf("%s: Slack was called: %s; it has %d messages, the record is %+v", name, got, len(b.channel.Messages), b.silence().Begun)
		}
	}
}

// Silences that cannot be read hold the cluster up: one of them may hide what would be told.
func TestSilencesThatCannotBeRead(t *testing.T) {
	b := newBench(t)
	b.Silences = mute{b.store}
	if _, err := b.Begin().Cluster(t.Context(), "eks-workshop", 1); !errors.Is(err, errUnread) {
		t.Errorf("%v", err)
	}
	// Another cluster of that name has nothing to do with it.
	b.Silences = b.store.ForSpoke(spoke.ID{Account: "222233334444", Region: "eu-west-1"})
	silenced(b)
	if err := b.say(1); err != nil || len(b.channel.Calls) > 0 {
		t.Errorf("%v, %q", err, b.channel.Calls)
	}
}

var errUnread = errors.New("ThrottlingException")

// mute is a table that does not tell its silences.
type mute struct{ of Silences }

func (mute) Silences(context.Context, string) ([]silence.Silence, error) { return nil, errUnread }

func (u mute) SaveSilence(ctx context.Context, s silence.Silence) (silence.Silence, error) {
	return u.of.SaveSilence(ctx, s)
}

// slow takes its time for whatever is no message, or does not answer at all.
type slow struct {
	*notifytest.Slack
	takes time.Duration
}

func (s slow) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return &slackapi.Error{Kind: slackapi.Unavailable, Method: "any"}
	case <-time.After(s.takes):
		return nil
	}
}

func (s slow) Ephemeral(ctx context.Context, id, user, thread string, m slackapi.Message) error {
	if err := s.wait(ctx); err != nil {
		s.Calls = append(s.Calls, "in vain")
		return err
	}
	return s.Slack.Ephemeral(ctx, id, user, thread, m)
}

func slowCluster(s slow, budget time.Duration) *Cluster {
	v := Notifier{Slack: s, Answers: s, Now: time.Now, Log: slog.New(slog.DiscardHandler), Count: func(string, int) {}}.Begin()
	return &Cluster{Invocation: v, wanted: map[outbox.Target]bool{}, name: "prod", timeBudgetEnds: time.Now().Add(budget)}
}

// A Slack that is slow with answers does not eat the turns of other clusters,
// and one that does not answer is waited for once. What is left comes again.
func TestAnswersKeepToTheBudget(t *testing.T) {
	for name, test := range map[string]struct {
		takes        time.Duration
		most         time.Duration
		sent, resume int
		slackDown    bool
	}{
		"quick":        {100 * time.Millisecond, 2 * time.Second, 20, 0, false},
		"slow":         {4 * time.Second, 20 * time.Second, 4, 1, false},
		"does nothing": {time.Hour, CallTimeout, 0, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			said := &notifytest.Slack{}
			p := slowCluster(slow{said, test.takes}, 20*time.Second)
			var acts []incident.ActRecord
			for i := range 20 {
				acts = append(acts, incident.ActRecord{ID: fmt.Sprint(i), User: report.User{ID: notifytest.Oncall}, Channel: "C0123456789", Answer: incident.Answer{Reason: incident.AnswerApproved}, Decided: time.Now()})
			}
			began := time.Now()
			left := p.answer(t.Context(), acts)
			if took := time.Since(began); took > test.most || len(said.Answers) != test.sent || len(left) != len(acts)-test.sent || p.slackDown != test.slackDown || min(len(p.unfinished), 1) != test.resume {
				t.Errorf("%s: took %s, %d answered, %d left, silent %v, goes on with %d", name, took, len(said.Answers), len(left), p.slackDown, len(p.unfinished))
			}
		})
	}
}

// People are called once for an hour in which Slack was away, and again only
// the set time after they could hear it.
func TestCallsAfterAnOutage(t *testing.T) {
	b := newBench(t)
	routes, err := routing.Parse("all/critical=@S0ONCALL01")
	expect.OK(t, err)
	b.Policy.Routes, b.Policy.RemindAfter = routes, 30*time.Minute
	b.channel.Fail = notifytest.Down
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	var minutes []int
	for minute := 5; minute <= 100; minute += 5 {
		if minute == 60 {
			b.channel.Fail = nil
		}
		before := broadcasts(b.channel)
		b.must(minute, notifytest.Sweep())
		for range broadcasts(b.channel) - before {
			minutes = append(minutes, minute)
		}
	}
	expect.Same(t, "people are called at", minutes, []int{60, 90})
}

func broadcasts(c *notifytest.Slack) (n int) {
	for _, m := range c.Messages {
		if m.Broadcast {
			n++
		}
	}
	return n
}

// badWeek is a week of which the message leaves two replies to the thread.
func badWeek() report.Summary {
	p := report.Period{From: notifytest.Start.AddDate(0, 0, -7), To: notifytest.Start, At: notifytest.Start, Clusters: 9, Launches: report.Tally{All: 9, Failed: 9}, Open: 9, Seen: 9}
	for i := range 9 {
		name := fmt.Sprint("c", i)
		p.Incidents = append(p.Incidents, report.PeriodIncident{Cluster: name, Check: "route/no-egress", Title: "no route", Severity: "warning", Opened: notifytest.Start.Add(-time.Hour)})
		p.Wrong = append(p.Wrong, report.PeriodCluster{Cluster: name, Seen: 1, Open: 1})
	}
	return report.Weekly("spot-report", p)
}

// tellAll is an invocation with summaries of all clusters.
func (b *bench) tellAll(minute int, list ...report.Summary) error {
	b.Helper()
	b.now = notifytest.Start.Add(time.Duration(minute) * time.Minute)
	v := b.Begin()
	c, err := v.Cluster(b.Context(), report.AllClusters, 1)
	if err == nil {
		err = c.DeliverSummaries(b.Context(), list)
		c.End(b.Context(), err == nil)
	}
	v.End(b.Context())
	return err
}

// toldOnce is the week as it must be told: a message, two replies, an event.
func (b *bench) toldOnce() {
	b.Helper()
	if posts := b.channel.Posts(); len(posts) != 1 || !strings.Contains(posts[0].Text, "Week of ") {
		b.Errorf("the channel has %+v", posts)
	}
	expect.Same(b.T, "the thread", b.channel.Notes(), []string{"details", "details-2"})
	ids := map[string]bool{}
	for _, w := range b.bus.Weeks {
		ids[w.ID] = true
	}
	if len(ids) != 1 || b.bus.Weeks[0].Words.Headline == "" || len(b.bus.Weeks[0].Open) != 9 {
		b.Errorf("the bus was told %v", ids)
	}
	list, err := b.store.Postings(b.Context(), report.AllClusters)
	if err != nil || len(list) != 1 || list[0].Due() || list[0].Untold || !list[0].Done || len(list[0].Summary.Period.Incidents) > 0 {
		b.Errorf("the record is %+v, %v", list, err)
	}
}

// A week is posted once, however often its message comes.
func TestWeek(t *testing.T) {
	b := newBench(t)
	for minute := range 3 {
		expect.OK(t, b.tellAll(minute, badWeek(), badWeek()))
	}
	b.toldOnce()
	if len(b.bus.Weeks) != 1 {
		t.Errorf("the bus was told %d times", len(b.bus.Weeks))
	}
}

// due reports whether the clock wakes the record of all clusters at a minute.
func (b *bench) due(minute int) bool {
	b.Helper()
	r, err := b.store.ClusterRecord(b.Context(), report.AllClusters)
	expect.OK(b.T, err)
	return r.Due(notifytest.Start.Add(time.Duration(minute) * time.Minute))
}

// Of a week no other message comes: where Slack or the bus is away, the clock brings it back,
// and nothing is left for the week after. One that is away does not keep the other waiting,
// and an outage that passes by itself raises no alarm.
func TestWeekIsOwed(t *testing.T) {
	for name, test := range map[string]struct {
		fail func(*bench)
		ok   func(*bench) bool
		rang int
	}{
		"Slack is down":      {func(b *bench) { b.channel.Fail = notifytest.Down }, func(b *bench) bool { return len(b.bus.Weeks) == 1 }, 0},
		"Slack asks to wait": {func(b *bench) { b.channel.Fail = notifytest.RateLimited }, func(b *bench) bool { return len(b.bus.Weeks) == 1 }, 0},
		"a reply is not taken": {func(b *bench) {
			b.channel.Fail = fails("reply details-2", slackapi.Error{Kind: slackapi.Unavailable, Method: "x"}, 1)
		}, func(b *bench) bool { return len(b.channel.Notes()) == 1 }, 0},
		"the bus refuses": {func(b *bench) { b.bus.Fail = &smithy.GenericAPIError{Code: "AccessDeniedException"} }, func(b *bench) bool { return len(b.channel.Posts()) == 1 && len(b.channel.Notes()) == 2 }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			test.fail(b)
			if err := b.tellAll(0, badWeek()); err != nil || !test.ok(b) {
				t.Fatalf("%v: %d messages, %d replies, %d events", err, len(b.channel.Posts()), len(b.channel.Notes()), len(b.bus.Weeks))
			}
			if b.counts["Undelivered"] != test.rang {
				t.Errorf("the alarm rang %d times", b.counts["Undelivered"])
			}
			if b.due(1) || !b.due(2) {
				t.Error("it is not brought back after two minutes")
			}
			b.channel.Fail, b.bus.Fail = nil, nil
			expect.OK(t, b.tellAll(2))
			b.toldOnce()
			if b.due(1000) {
				t.Error("what was told is brought back")
			}
		})
	}
}

// Stopped at any write, or after any call that Slack took: one message, two replies, one event.
func TestWeekStopped(t *testing.T) {
	for n := 1; n <= 8; n++ {
		b := newBench(t)
		b.Postings = &lapse{Summaries: b.store, at: n}
		if err := b.tellAll(0, badWeek()); n <= 7 && !errors.Is(err, errStopped) {
			t.Fatalf("write %d: %v", n, err)
		}
		expect.OK(t, b.tellAll(1, badWeek()))
		b.toldOnce()
	}
	for _, call := range []string{"post", "reply details", "reply details-2"} {
		b := newBench(t)
		b.channel.Fail = notifytest.CutOff(call)
		for minute := range 3 {
			expect.OK(t, b.tellAll(2*minute, badWeek()))
		}
		b.toldOnce()
	}
}

// A record of before has no event to tell: it is of a week long said.
func TestWeekOfAnEarlierRelease(t *testing.T) {
	b := newBench(t)
	p := outbox.New(badWeek())
	p.Untold, p.Dirty, p.TS = false, false, "1.2"
	if _, err := b.store.SavePosting(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	if err := b.tellAll(0, badWeek()); err != nil || len(b.bus.Weeks)+len(b.channel.Posts()) > 0 {
		t.Errorf("%v: %d events, %d messages", err, len(b.bus.Weeks), len(b.channel.Posts()))
	}
}
