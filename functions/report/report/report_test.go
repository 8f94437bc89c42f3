package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/config"
	"rollcall/shared/diagnosis"
	"rollcall/shared/event/inbox"
	"rollcall/shared/incident"
	"rollcall/shared/incident/response"
	"rollcall/shared/notify"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/routing"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/stage/fakeslack"
	"rollcall/stage/platform/dynamo"
	"rollcall/tools/testfile"
)

// TestApprovalInSlack: with the real client, on the stand-in for Slack, a member
// of the user group approves and only they get the reply; without the scope to read
// the group no one does.
func TestApprovalInSlack(t *testing.T) {
	for name, test := range map[string]struct {
		scopes []string
		want   incident.AnswerReason
		says   string
	}{
		"all scopes":         {nil, incident.AnswerApproved, ""},
		"no usergroups:read": {[]string{"chat:write", "channels:history"}, incident.GroupNotRead, "usergroups:read"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := fakeslack.New(fakeslack.Config{
				Token: "xoxb-1", Scopes: test.scopes, Channels: []fakeslack.Channel{{ID: "C0123456789", Name: "alerts"}},
				Users:  []fakeslack.User{{ID: notifytest.Oncall, Name: "oncall"}, {ID: notifytest.Dana, Name: "Dana Weber"}},
				Groups: []fakeslack.Group{{ID: "S0ONCALL01", Handle: "platform-oncall", Users: []string{notifytest.Oncall}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			b := newBench(t)
			client, err := slackapi.NewClient(s.APIURL(), "xoxb-1", &http.Client{})
			if err != nil {
				t.Fatal(err)
			}
			b.Slack, b.Files, b.Answers, b.people = client, client, client, client
			b.approvers = []string{"S0ONCALL01"}
			if b.Policy.Routes, err = routing.Parse("all/critical=@S0ONCALL01"); err != nil {
				t.Fatal(err)
			}
			b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
			b.mustSend(1, proposal(notifytest.Start.Add(time.Minute)))
			top := s.Messages("C0123456789")[0]
			b.channel.Messages = []notifytest.Message{{Ts: top.TS}}
			b.now = notifytest.Start.Add(2 * time.Minute)
			b.mustSend(2, b.press(notifytest.Oncall, report.ApprovePlan))
			if acts := b.acts(); len(acts) != 1 || acts[0].Answer.Reason != test.want || !strings.Contains(acts[0].Answer.Says, test.says) {
				t.Errorf("audited is %+v", acts)
			}
			told, called := 0, 0
			for _, m := range s.Messages("C0123456789") {
				switch {
				case m.Visible == notifytest.Oncall:
					told++
				case m.Visible != "":
					t.Errorf("%s was told too", m.Visible)
				case m.Broadcast && m.ThreadTS == top.TS:
					called++
				}
			}
			if told != 1 || called != 1 {
				t.Errorf("the person was told %d times, people called %d times; want once each", told, called)
			}
		})
	}
}

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
	messages []inbox.Message
	reasons  []string
	fail     error
}

func (a *asides) SetAside(_ context.Context, m inbox.Message, reason string) error {
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
	b.store = store.New(server.Client(), table).WithClock(clock)
	b.handler = handler{passed: b.store, audit: b.store, people: b.channel, aside: b.set, naming: &naming{}, Notifier: notify.Notifier{
		Incidents: b.store, Postings: b.store, Acts: b.store, Slack: b.channel, Files: b.channel, Answers: b.channel, Bus: b.bus, Clusters: b.store, Silences: b.store,
		Policy: incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour, Channel: "C0123456789"},
		Now:    clock, Log: slog.New(slog.NewJSONHandler(b.log, nil)),
		Count: func(name string, n int) { b.counts[name] += n },
	}}
	return b
}

// observeAt gives the function the observations of a minute, in one batch, and gives
// the ids of the messages that go back.
func (b *bench) observeAt(minute int, observations ...report.Observation) ([]string, error) {
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
		bodies = append(bodies, string(testfile.JSON(b.T, obs)))
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
	answer, err := b.handle(b.Context(), testfile.JSON(b.T, batch))
	if err != nil {
		return nil, err
	}
	var failed []string
	for _, f := range answer.(inbox.Answer).Failures {
		failed = append(failed, f.ID)
	}
	return failed, nil
}

// must is at for steps that leave nothing behind.
func (b *bench) must(minute int, observations ...report.Observation) {
	b.Helper()
	if failed, err := b.observeAt(minute, observations...); err != nil || len(failed) > 0 {
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

// slowly is a Slack that takes a second for each message.
type slowly struct{ *notifytest.Slack }

func (s slowly) Post(ctx context.Context, id string, m slackapi.Message) (string, error) {
	time.Sleep(time.Second)
	return s.Slack.Post(ctx, id, m)
}

func (s slowly) Reply(ctx context.Context, id, thread string, m slackapi.Message) (string, error) {
	time.Sleep(time.Second)
	return s.Slack.Reply(ctx, id, thread, m)
}

// inMinute runs one invocation with two clusters' results, the first with far
// more to say than a minute is long for.
func inMinute(t *testing.T, said notify.Slack, again notify.Again, first, second int) (wrong error) {
	t.Helper()
	table := &notifytest.Table{Items: map[report.Key]notifytest.Record{}}
	h := handler{naming: &naming{}, Notifier: notify.Notifier{
		Incidents: table, Postings: table, Slack: said, Files: &notifytest.Slack{}, Answers: &notifytest.Slack{},
		Bus: notifytest.RefusingBus{}, Clusters: table, Silences: table, Again: again,
		Policy: incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour, Channel: "C0123456789"}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Count: func(string, int) {},
	}}
	script := newScript(2, first+second)
	for i := range script.faults {
		script.faults[i].cluster = script.clusters[0]
		if i >= first {
			script.faults[i].cluster = script.clusters[1]
		}
	}
	var batch []queued
	for i, cluster := range script.clusters {
		at := 55 * time.Minute
		obs := script.observe(time.Now().Add(-at), at, cluster, true, func(f fault) bool { return true }).obs
		body, err := marshal(obs)
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, queued{id: fmt.Sprint(i), group: cluster, body: body})
	}
	if back, err := invoke(t, h, batch); err != nil || len(back) > 0 {
		return fmt.Errorf("%d messages went back", len(back))
	}
	return nil
}

// The backlog of one cluster does not keep another from being heard, what a
// minute is too short for goes on at once, and no call is cut off by its end.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var resumed []string
		said := &notifytest.Slack{}
		err := inMinute(t, slowly{said}, notifytest.AgainFunc(func(o report.Observation) error {
			if _, err := report.Decode([]byte(must(marshal(o)))); err != nil {
				t.Errorf("report could not read its own wish: %v", err)
			}
			resumed = append(resumed, o.Cluster)
			return nil
		}), 200, 3)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"cluster-00"}, resumed); diff != "" {
			t.Errorf("goes on with (-want +got):\n%s", diff)
		}
		if !slices.ContainsFunc(said.Posts(), func(m notifytest.Message) bool { return strings.Contains(m.Text, "cluster-01") }) {
			t.Error("the second cluster was not heard")
		}
		for _, call := range said.Calls {
			if call != "post" && call[:5] != "reply" {
				t.Errorf("Slack was asked to %s: nothing was cut off", call)
			}
		}
	})
}

// While Slack does not answer report does not wake itself: it would only call
// in vain; and what was not tried is not marked, or it would be looked for.
func TestNobodyIsWokenInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := &notifytest.Slack{Fail: notifytest.Down}
		err := inMinute(t, slowly{said}, notifytest.AgainFunc(func(report.Observation) error { return errors.New("woken") }), 40, 3)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"post"}, said.Calls); diff != "" {
			t.Errorf("calls of Slack (-want +got):\n%s", diff)
		}
	})
}

func marshal(o report.Observation) (string, error) {
	body, err := json.Marshal(o)
	return string(body), err
}

func must(text string, err error) string {
	if err != nil {
		panic(err)
	}
	return text
}

// unanswering does not answer who is in a user group.
type unanswering struct{ *notifytest.Slack }

func (u unanswering) GroupMembers(ctx context.Context, group string) ([]string, error) {
	<-ctx.Done()
	u.Calls = append(u.Calls, "in vain")
	return nil, &slackapi.Error{Kind: slackapi.Unavailable, Method: "any"}
}

// Two user groups of a Slack that hangs cost one short wait, and a press is
// refused with the reason; the time to record it and to speak is left.
func TestGroupsAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := &notifytest.Slack{}
		n := notify.Notifier{Now: time.Now, Log: slog.New(slog.DiscardHandler), Count: func(string, int) {}}
		p := invocation{handler: handler{Notifier: n, people: unanswering{said}}, delivery: n.Begin()}
		p.approvers = []string{"S0LEADS001", "S0LEADS002", notifytest.Dana}
		began := time.Now()
		for range 3 {
			who := p.mayPress(t.Context(), report.Press{Action: report.ApprovePlan, Home: notifytest.Home, User: report.User{ID: notifytest.Oncall}})
			if who.May != response.Unknown || who.Says != "S0LEADS001: Slack did not answer; S0LEADS002: Slack did not answer" {
				t.Errorf("may %q: %s", who.May, who.Says)
			}
		}
		if took := time.Since(began); took > notify.CallTimeout || len(said.Calls) != 1 {
			t.Errorf("took %s and %d calls", took, len(said.Calls))
		}
		if who := p.mayPress(t.Context(), report.Press{Action: report.ApprovePlan, Home: notifytest.Home, User: report.User{ID: notifytest.Dana}}); who.May != response.MayYes {
			t.Errorf("who is named may %q", who.May)
		}
	})
}

func TestRouteStory(t *testing.T) {
	b := newBench(t)
	for _, s := range notifytest.RouteStory() {
		b.must(s.Minute, s.Obs)
	}
	posts := b.channel.Posts()
	if len(posts) != 1 || posts[0].Edits != 3 {
		t.Errorf("posts are %+v, want one with three edits", posts)
	}
	if got := strings.Join(b.channel.Notes(), " "); got != notifytest.AllNotes {
		t.Errorf("the thread has %q, want %q", got, notifytest.AllNotes)
	}
	if got := b.bus.Kinds(); got != "Opened Changed Changed Resolved" {
		t.Errorf("the bus was told %q", got)
	}
	inc := b.incident()
	if inc.State != incident.Closed || inc.Resolution != incident.Proved || inc.Delivery.Dirty || len(inc.PendingEvents) > 0 {
		t.Errorf("the record is %q, %q, behind %v, %d untold", inc.State, inc.Resolution, inc.Delivery.Dirty, len(inc.PendingEvents))
	}
	for _, n := range inc.Delivery.Notes {
		if n.TS == "" || n.Then != nil || !n.Sending.IsZero() {
			t.Errorf("note %q is kept as %+v", n.ID, n)
		}
	}
	if strings.Contains(strings.Join(b.channel.Calls, " "), "find") {
		t.Errorf("Slack was searched without need: %q", b.channel.Calls)
	}
	version := inc.Version
	b.must(20, notifytest.Sweep())
	if got := b.incident().Version; got != version {
		t.Errorf("a quiet sweep wrote the record: version %d, was %d", got, version)
	}
}

// One batch says once what its observations come to.
func TestOneBatch(t *testing.T) {
	b := newBench(t)
	var list []report.Observation
	for i := range 10 {
		var launches []report.Launch
		for j := range 20 {
			launches = append(launches, notifytest.Launch(fmt.Sprintf("i-%03d", i*20+j), 0, report.Waiting))
		}
		list = append(list, notifytest.Failing(launches...))
	}
	b.must(0, list...)
	if diff := cmp.Diff([]string{"post", "reply opened"}, b.channel.Calls); diff != "" {
		t.Errorf("calls of Slack (-want +got):\n%s", diff)
	}
	if got := b.incident().Affected; got != 200 {
		t.Errorf("%d are affected, want 200", got)
	}
	if got := b.channel.Posts()[0].Text; !strings.Contains(got, "200 instances") {
		t.Errorf("the message is %q, want the count in it", got)
	}
}

func TestDuplicates(t *testing.T) {
	b := newBench(t)
	obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
	obs.ID, obs.At = "the same", notifytest.Start
	b.must(0, obs, obs)
	for minute := range 4 {
		b.must(minute, obs)
	}
	if diff := cmp.Diff([]string{"post", "reply opened"}, b.channel.Calls); diff != "" {
		t.Errorf("calls of Slack (-want +got):\n%s", diff)
	}
	if b.bus.Kinds() != "Opened" || b.counts["RepeatedObservations"] != 5 {
		t.Errorf("the bus was told %q; %d repeats counted, want 5", b.bus.Kinds(), b.counts["RepeatedObservations"])
	}
}

// A missing permission is said with its name, and nothing says fine.
func TestDenied(t *testing.T) {
	b := newBench(t)
	obs := notifytest.Observation()
	denied := snapshot.Failure{Source: snapshot.RouteTables, Reason: snapshot.Denied, Call: "ec2:DescribeRouteTables", Code: "UnauthorizedOperation"}
	obs.Blind = []snapshot.Failure{denied}
	obs.Diagnosis.Unknown = []diagnosis.Unknown{{Check: "route/no-egress", Covers: []string{notifytest.Subnet}, Blocked: obs.Blind}}
	obs.Launches = []report.Launch{notifytest.Launch(notifytest.Instance1, 0, report.Waiting)}
	b.must(0, obs)
	posts := b.channel.Posts()
	if len(posts) != 1 || !strings.Contains(posts[0].Text, "ec2:DescribeRouteTables") {
		t.Errorf("posts are %+v, want one that names the permission", posts)
	}
}

func TestMalformed(t *testing.T) {
	good, err := json.Marshal(func() report.Observation {
		obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
		obs.ID, obs.At = "good", notifytest.Start
		return obs
	}())
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"not JSON":        `{`,
		"foreign":         `{"version":"0","source":"aws.ec2"}`,
		"a newer format":  `{"format":99,"id":"x","cluster":"eks-workshop","at":"2026-11-20T14:59:00Z"}`,
		"nothing at all":  ``,
		"not an object":   `[1]`,
		"without cluster": `{"format":1,"id":"x","at":"2026-11-20T14:59:00Z"}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			failed, err := b.deliverBodies(bad, string(good))
			if err != nil {
				t.Fatal(err)
			}
			if len(failed) > 0 {
				t.Errorf("%q go back: their group would wait for them", failed)
			}
			want := []inbox.Message{{ID: "m0", Body: bad, Received: 1, Group: "eks-workshop"}}
			if diff := cmp.Diff(want, b.set.messages); diff != "" || b.set.reasons[0] == "" {
				t.Errorf("set aside for %q (-want +got):\n%s", b.set.reasons, diff)
			}
			// What cannot be set aside is not lost: it goes back, and it alone.
			b.set.fail = errors.New("no queue")
			if failed, err = b.deliverBodies(bad, string(good)); err != nil || !slices.Equal(failed, []string{"m0"}) {
				t.Errorf("gave back %q, %v; want the one that could not be set aside", failed, err)
			}
			b.counts["MalformedObservations"]--
			if len(b.channel.Posts()) != 1 || b.counts["MalformedObservations"] != 1 || !strings.Contains(b.log.String(), "could not decode a message") {
				t.Errorf("%d posts, %d malformed, log %s", len(b.channel.Posts()), b.counts["MalformedObservations"], b.log)
			}
		})
	}
	b := newBench(t)
	if _, err := b.handle(t.Context(), json.RawMessage(`{"detail-type":"Scheduled Event"}`)); !errors.Is(err, errNoBatch) {
		t.Errorf("an event that is no batch gave %v", err)
	}
}

// A record of a newer version is left alone, and its observations wait.
func TestNewerRecord(t *testing.T) {
	b := newBench(t)
	newer := incident.Incident{Key: report.Key{Cluster: "eks-workshop", Check: "route/no-egress", Resource: notifytest.RouteTable}, Format: report.Format + 1, State: incident.Open}
	if _, err := b.store.SaveIncident(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	failed, err := b.observeAt(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	if err != nil || len(failed) != 1 || len(b.channel.Calls) > 0 {
		t.Errorf("failed %q, %v, Slack %q; want the message to go back and nothing said", failed, err, b.channel.Calls)
	}
	if !strings.Contains(b.log.String(), "newer version") {
		t.Errorf("log is %s", b.log)
	}
}

// One cluster's trouble is not another's.
func TestClustersApart(t *testing.T) {
	b := newBench(t)
	b.Incidents = broken{b.store}
	other := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
	other.Cluster = "other"
	failed, err := b.observeAt(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)), other, notifytest.Failing(notifytest.Launch(notifytest.Instance2, 0, report.Waiting)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"m0", "m2"}, failed); diff != "" {
		t.Errorf("messages that go back (-want +got):\n%s", diff)
	}
	if len(b.channel.Posts()) != 1 {
		t.Errorf("%d posts, want the other cluster's", len(b.channel.Posts()))
	}
}

type broken struct{ *store.Store }

func (s broken) Incidents(ctx context.Context, cluster string) ([]incident.Incident, error) {
	if cluster == "eks-workshop" {
		return nil, &store.AtLimit{Code: "ProvisionedThroughputExceededException"}
	}
	return s.Store.Incidents(ctx, cluster)
}

// Incidents and summaries of one batch are both said.
func TestSummaryBesideIncidents(t *testing.T) {
	b := newBench(t)
	obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
	obs.ID, obs.At = "x", notifytest.Start
	body := testfile.JSON(t, obs)
	more := testfile.JSON(t, notifytest.Daily(31))
	if failed, err := b.deliverBodies(string(body), string(more), `{"format":101,"kind":"later"}`); err != nil || len(failed) > 0 || len(b.set.messages) != 1 {
		t.Errorf("gave back %q, %v", failed, err)
	}
	if n := len(b.channel.Posts()); n != 2 {
		t.Errorf("%d posts, want the incident and the summary", n)
	}
}

// TestAliasesAreNoKeys: two accounts that say they have the same alias, and one whose alias is
// the number of another: each has its own incident, record, event and button, and an approval
// of one approves nothing of another. IAM lets no two accounts have one alias.
func TestAliasesAreNoKeys(t *testing.T) {
	b := newBench(t)
	b.approvers = []string{notifytest.Dana}
	search, liar := spoke.ID{Account: "333344445555", Region: hub.Region}, spoke.ID{Account: "444455556666", Region: hub.Region}
	invoke := framedFor(b, payments.String()+","+search.String()+","+liar.String())
	aliases := map[spoke.ID]string{payments: "acme", search: "acme", liar: payments.Account}
	own := []spoke.ID{payments, search, liar}
	var seen []string
	for _, id := range own {
		if err := b.store.ForSpoke(id).SaveAlias(t.Context(), store.Alias{At: b.now, Alias: aliases[id]}); err != nil {
			t.Fatal(err)
		}
		obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)).For(id)
		obs.ID, obs.At = "observation", b.now
		seen = append(seen, b.body(obs))
	}
	if failed := invoke(seen...); len(failed) > 0 {
		t.Fatalf("given back: %q", failed)
	}
	whose := map[spoke.ID]string{payments: "eks-workshop (acme)", search: "eks-workshop (acme)", liar: "eks-workshop (444455556666)"}
	keys := map[string]bool{}
	for _, id := range own {
		inc := b.incidentOf(id)
		keys[inc.Key.Name()] = true
		if inc.Key.Spoke != id || inc.Account != id.Account || strings.Contains(inc.Key.Name(), "acme") || !strings.Contains(inc.Key.Name(), id.Account) {
			t.Errorf("the incident of %s is %s of %s", id, inc.Key.Name(), inc.Account)
		}
		if says := b.message(inc.Delivery.TS); !strings.Contains(says, whose[id]) {
			t.Errorf("the message of %s is %q, want %q in it", id, says, whose[id])
		}
	}
	if len(b.channel.Posts()) != 3 || len(keys) != 3 {
		t.Fatalf("%d messages and %d keys, want one each", len(b.channel.Posts()), len(keys))
	}

	b.now = notifytest.Start.Add(time.Minute)
	var offered []string
	for _, id := range own {
		p := proposal(b.now)
		p.Key.Spoke, p.Plan.Account, p.Plan.Region = id, id.Account, id.Region
		p.Format++
		p.Hash = p.Plan.Hash()
		offered = append(offered, b.body(p))
	}
	if failed := invoke(offered...); len(failed) > 0 {
		t.Fatalf("given back: %q", failed)
	}
	p := b.press(notifytest.Dana, report.ApprovePlan)
	p.At, p.Key.Spoke, p.Plan, p.TS = b.now, payments, b.incidentOf(payments).Offers[0].Hash, b.incidentOf(payments).Delivery.TS
	m, err := report.EncodePress(p)
	if err != nil {
		t.Fatal(err)
	}
	b.passOn(p)
	if failed := invoke(string(m.Body)); len(failed) > 0 {
		t.Fatalf("given back: %q", failed)
	}
	got := map[spoke.ID]incident.OfferState{}
	for _, id := range own {
		got[id] = b.incidentOf(id).Offers[0].State
	}
	if diff := cmp.Diff(map[spoke.ID]incident.OfferState{payments: incident.Approved, search: incident.Offered, liar: incident.Offered}, got); diff != "" {
		t.Errorf("offers after the approval of payments (-want +got):\n%s", diff)
	}
	for _, e := range b.bus.Told {
		if e.Kind == incident.EventApproved && e.Account != payments.Account {
			t.Errorf("the bus is told of an approval in %s", e.Account)
		}
	}
}

// counting is a record of an alias that counts how often it is read.
type counting struct {
	alias store.Alias
	known bool
	err   error
	n     int
}

func (a *counting) Alias(context.Context) (store.Alias, bool, error) {
	a.n++
	return a.alias, a.known, a.err
}

// TestNameIsReadNowAndThen: the record is read once an hour where there is one, every five
// minutes where there is none yet; never where the settings give a name or nothing is to be
// told apart; and where the table does not answer the name is the one of before.
func TestNameIsReadNowAndThen(t *testing.T) {
	b := newBench(t)
	load := func(spokes string) config.Config {
		env := map[string]string{"AWS_REGION": hub.Region, "ROLLCALL_ACCOUNT": hub.Account, "ROLLCALL_EXTERNAL_ID": "rollcall-1", "ROLLCALL_SPOKES": spokes}
		c, err := config.Load(func(name string) string { return env[name] }, config.SpokeVariables())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []config.Config{load("none"), load(payments.String() + "=payments").ForSpoke(payments)} {
		a := &counting{alias: store.Alias{Alias: "acme"}, known: true}
		if got := b.name(t.Context(), newNaming(c, a)); a.n != 0 || got != c.SpokeName() {
			t.Errorf("%q: asked %d times", got, a.n)
		}
	}
	a := &counting{}
	n := newNaming(load(payments.String()).ForSpoke(payments), a)
	step := func(after time.Duration, want string, asked int) {
		t.Helper()
		b.now = b.now.Add(after)
		if got := b.name(t.Context(), n); got != want || a.n != asked {
			t.Errorf("it is %q, asked %d times; want %q, %d", got, a.n, want, asked)
		}
	}
	step(0, payments.Account, 1)
	step(4*time.Minute, payments.Account, 1)
	a.alias, a.known = store.Alias{Alias: "acme"}, true
	step(time.Minute, "acme", 2)
	step(59*time.Minute, "acme", 2)
	a.err = errors.New("throttled")
	step(time.Minute, "acme", 3)
	a.err, a.alias = nil, store.Alias{}
	step(5*time.Minute, payments.Account, 4)
	step(59*time.Minute, payments.Account, 4)
}
