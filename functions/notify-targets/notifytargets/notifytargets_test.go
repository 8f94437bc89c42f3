package notifytargets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/functions/notify-targets/spec"
	"rollcall/shared/config"
	"rollcall/shared/event/inbox"
	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/queue"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
	"rollcall/shared/store/outgoing"
	"rollcall/shared/target"
	"rollcall/shared/target/deliver"
	"rollcall/shared/target/message"
	"rollcall/stage/faketargets"
	"rollcall/stage/stagetest"
	"rollcall/tools/testfile"
)

// bench is all that the function reaches, in memory.
type bench struct {
	handler
	told    map[string]outgoing.DeliveryRecord
	saveErr error
	putErr  map[string]error
	put     []string
	aside   []string
	held    []time.Duration
	mails   []string
	asked   []string
	changes []report.AlertChange
	sendErr error
	status  int
	secret  string
	counts  map[string]int
}

func (b *bench) Delivery(_ context.Context, target, about string) (outgoing.DeliveryRecord, error) {
	r := b.told[target+"\n"+about]
	r.Target, r.About = target, about
	return r, nil
}

func (b *bench) SaveDelivery(_ context.Context, r outgoing.DeliveryRecord) error {
	if b.saveErr == nil {
		b.told[r.Target+"\n"+r.About] = r
	}
	return b.saveErr
}

func (b *bench) AllTold(_ context.Context, target string) (list []outgoing.DeliveryRecord, _ error) {
	for _, key := range slices.Sorted(maps.Keys(b.told)) {
		if r := b.told[key]; r.Target == target {
			list = append(list, r)
		}
	}
	return list, nil
}

func (b *bench) SendAlertChange(_ context.Context, a report.AlertChange) error {
	b.changes = append(b.changes, a)
	return b.sendErr
}

func (b *bench) Put(_ context.Context, target, _, _ string, _ json.RawMessage) error {
	if err := b.putErr[target]; err != nil {
		return err
	}
	b.put = append(b.put, target)
	return nil
}

func (b *bench) SetAside(_ context.Context, _ inbox.Message, reason string) error {
	b.aside = append(b.aside, reason)
	return nil
}

func (b *bench) HoldBack(_ context.Context, _ inbox.Message, wait time.Duration) error {
	b.held = append(b.held, wait)
	return nil
}

func (b *bench) Read(context.Context, string, string) (string, error) { return b.secret, nil }
func (b *bench) Forget(string)                                        {}

func (b *bench) Publish(_ context.Context, in *sns.PublishInput, _ ...func(*sns.Options)) (*sns.PublishOutput, error) {
	b.mails = append(b.mails, *in.TopicArn+" "+aws.ToString(in.Subject))
	return &sns.PublishOutput{}, nil
}

func (b *bench) Do(r *http.Request) (*http.Response, error) {
	b.asked = append(b.asked, r.URL.Host)
	if b.status == 0 {
		return nil, errors.New("no route to host")
	}
	return &http.Response{StatusCode: b.status, Header: http.Header{"Retry-After": {"600"}}, Body: http.NoBody}, nil
}

func newBench(t *testing.T, targets string) *bench {
	t.Helper()
	list, err := target.Parse(targets)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{told: map[string]outgoing.DeliveryRecord{}, counts: map[string]int{}, status: 202, secret: strings.Repeat("k", 32)}
	b.handler = handler{
		records: func(_ context.Context, of spoke.ID, _ string) ([]incident.Incident, error) {
			if !of.Hub() {
				return nil, nil
			}
			return samples(t), nil
		},
		weeks:   func(context.Context) ([]outbox.Posting, error) { return []outbox.Posting{weekly(t)}, nil },
		now:     func() time.Time { return time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) },
		targets: list, topic: "arn:own", memory: b, queue: b, results: b, secrets: b, mail: b, log: slog.New(slog.DiscardHandler),
		send:  deliver.Sender{HTTP: b, PagerDuty: "https://events.pagerduty.com", JSM: deliver.Atlassian, Now: func() time.Time { return time.Unix(1795186800, 0) }},
		count: func(name string, n int) { b.counts[name] += n },
	}
	return b
}

// weekly is the record of the week of the samples.
func weekly(t *testing.T) outbox.Posting {
	t.Helper()
	var e struct {
		Detail json.RawMessage `json:"detail"`
	}
	testfile.Parse(t, sample(t, "weekly-report"), &e)
	w, digest, err := incident.ReadWeek(e.Detail)
	if err != nil {
		t.Fatal(err)
	}
	return outbox.Posting{Summary: report.Summary{Kind: report.WeeklySummary, ID: w.ID, Cluster: report.AllClusters, At: w.At}, Event: digest}
}

// samples are the incidents of the samples, as report has recorded and published them.
func samples(t *testing.T) (list []incident.Incident) {
	t.Helper()
	for _, name := range []string{"incident-opened", "incident-acknowledged", "incident-resolved", "remedy-acted"} {
		n, err := message.Parse(sample(t, name))
		if err != nil {
			t.Fatal(err)
		}
		e := *n.Incident
		key := report.Key{Cluster: e.Cluster, Check: e.Check, Resource: e.Resource}
		i := slices.IndexFunc(list, func(inc incident.Incident) bool { return inc.Key == key })
		if i < 0 {
			list = append(list, incident.Incident{Key: key, Account: e.Account, Region: e.Region, State: incident.Open, Opened: e.Opened})
			i = len(list) - 1
		}
		list[i].Events = max(list[i].Events, e.Sequence)
		list[i].Published = append(list[i].Published, e.Digest())
	}
	return list
}

// forge changes the detail of a sample.
func forge(t *testing.T, name string, change map[string]any) json.RawMessage {
	t.Helper()
	var whole map[string]json.RawMessage
	var detail map[string]any
	testfile.Parse(t, sample(t, name), &whole)
	testfile.Parse(t, whole["detail"], &detail)
	maps.Copy(detail, change)
	whole["detail"] = testfile.JSON(t, detail)
	return testfile.JSON(t, whole)
}

// Whoever may put events on the bus mutes and pages no one: what no record confirms
// is dropped, and nothing of it is remembered.
func TestForgedEvents(t *testing.T) {
	for _, test := range []struct {
		name   string
		raw    json.RawMessage
		to     string
		reason string
	}{
		{"an opening of the year 9999", forge(t, "incident-acknowledged", map[string]any{"opened": "9999-01-01T00:00:00Z"}), "pagerduty=p", "its time is in the future"},
		{"sent in the future", forge(t, "incident-opened", map[string]any{"at": "2027-01-01T00:00:00Z"}), "pagerduty=p", "its time is in the future"},
		{"a week that has not ended", forge(t, "weekly-report", map[string]any{"to": "2030-01-01T00:00:00Z"}), "sns", "its time is in the future"},
		{"an incident that is not there", forge(t, "incident-opened", map[string]any{"resource": "rtb-0forged"}), "pagerduty=p", "no such incident"},
		{"of another account", forge(t, "incident-opened", map[string]any{"account": "999999999999"}), "pagerduty=p", "no such incident"},
		{"another opening", forge(t, "incident-opened", map[string]any{"opened": "2026-11-01T00:00:00Z"}), "pagerduty=p", "the incident's record differs"},
		{"news that it has not had", forge(t, "incident-opened", map[string]any{"sequence": 1000000}), "pagerduty=p", "the incident's record differs"},
		{"an end of what is open", forge(t, "incident-resolved", map[string]any{"why": "all is well"}), "pagerduty=p", "the incident's record differs"},
		{"an acknowledgement that nobody gave", forge(t, "incident-acknowledged", map[string]any{"why": "go back to sleep"}), "pagerduty=p", "the incident's record differs"},
	} {
		b := newBench(t, all)
		var log bytes.Buffer
		b.log = slog.New(slog.NewJSONHandler(&log, nil))
		if failed := b.batch(t, test.to, test.raw, "9"); len(failed)+len(b.asked)+len(b.mails)+len(b.told)+len(b.aside) > 0 || b.counts["ForeignEvents"] != 1 {
			t.Errorf("%s: failed %v, asked %q, mails %q, remembered %v, counts %v", test.name, failed, b.asked, b.mails, b.told, b.counts)
		}
		if !strings.Contains(log.String(), `"reason":"`+test.reason+`"`) {
			t.Errorf("%s: the log is %s", test.name, log.String())
		}
	}
}

// Words that the record did not publish wait for the record, and are then told in its own.
func TestForeignWordsAreTheRecords(t *testing.T) {
	raw := forge(t, "incident-opened", map[string]any{"title": "call +1 555 0100", "words": map[string]any{"headline": "call +1 555 0100"}})
	b := newBench(t, all)
	if failed := b.batch(t, "sns", raw, "1"); len(failed) != 1 || len(b.mails) > 0 {
		t.Errorf("at first: failed %v, mails %q", failed, b.mails)
	}
	if failed := b.batch(t, "sns", raw, "4"); len(failed) > 0 || len(b.mails) != 1 || strings.Contains(b.mails[0], "555") {
		t.Errorf("later: failed %v, mails %q", failed, b.mails)
	}
}

func sample(t *testing.T, name string) json.RawMessage {
	t.Helper()
	return testfile.Read(t, "../../../events/out/"+name+".json")
}

// batch hands out one message for the received time, and gives those that come again.
func (b *bench) batch(t *testing.T, to string, raw json.RawMessage, received string) []string {
	t.Helper()
	return b.message(t, string(testfile.JSON(t, queue.ToTarget{Target: to, Event: raw})), received)
}

func (b *bench) message(t *testing.T, body, received string) (failed []string) {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"Records": []any{map[string]any{
		"messageId": "m", "receiptHandle": "h", "body": body, "eventSource": "aws:sqs", "attributes": map[string]string{"ApproximateReceiveCount": received, "MessageGroupId": "g"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := b.handle(t.Context(), raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range answer.(inbox.Answer).Failures {
		failed = append(failed, f.ID)
	}
	return failed
}

const all = "sns,pagerduty=p,teams=t,webhook=w"

func TestEachTargetGetsAMessage(t *testing.T) {
	for name, want := range map[string][]string{
		"incident-opened":       {"sns", "pagerduty=p", "teams=t", "webhook=w"},
		"incident-acknowledged": {"pagerduty=p", "webhook=w"},
		"remedy-acted":          {"sns", "teams=t", "webhook=w"},
	} {
		b := newBench(t, all)
		if _, err := b.handle(t.Context(), sample(t, name)); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, b.put); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	b := newBench(t, all)
	b.putErr = map[string]error{"pagerduty=p": errors.New("throttled")}
	if _, err := b.handle(t.Context(), sample(t, "incident-opened")); err == nil || len(b.put) != 3 {
		t.Errorf("one was not queued: error %v, queued %v; want an error, and the others", err, b.put)
	}
	if _, err := b.handle(t.Context(), []byte(`{"source":"aws.ec2"}`)); !errors.Is(err, message.ErrMalformed) {
		t.Errorf("another event: %v", err)
	}
}

func TestDelivers(t *testing.T) {
	b := newBench(t, all)
	for _, to := range []string{"sns", "pagerduty=p"} {
		for range 2 { // SQS delivers at least once
			if failed := b.batch(t, to, sample(t, "incident-opened"), "1"); len(failed) > 0 {
				t.Errorf("%s: failed %v", to, failed)
			}
		}
	}
	if len(b.mails) != 1 || !strings.HasPrefix(b.mails[0], "arn:own Critical: ") || len(b.asked) != 1 || b.counts["TargetsTold"] != 2 {
		t.Errorf("mails %q, asked %q, counts %v", b.mails, b.asked, b.counts)
	}
	// What is not recorded comes again: told twice rather than never.
	b.saveErr = errors.New("throttled")
	if failed := b.batch(t, "sns", sample(t, "incident-resolved"), "1"); len(failed) != 1 || len(b.mails) != 2 {
		t.Errorf("failed %v, mails %q", failed, b.mails)
	}
}

func TestDeliversToAmazonQAndJira(t *testing.T) {
	const topic = "arn:aws:sns:us-west-2:111122223333:chat"
	b := newBench(t, "amazonq="+topic+",jsm=j")
	b.secret = "0f1e1b1a-1111-4222-8333-444455556666"
	for _, to := range []string{"amazonq=" + topic, "jsm=j"} {
		for _, name := range []string{"incident-opened", "incident-opened"} { // SQS delivers at least once
			if failed := b.batch(t, to, sample(t, name), "1"); len(failed) > 0 {
				t.Errorf("%s: failed %v", to, failed)
			}
		}
	}
	if diff := cmp.Diff([]string{topic + " ", "api.atlassian.com"}, append(b.mails, b.asked...)); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

// A week goes to whom hears of all, once; PagerDuty gets nothing, and the log says why.
func TestWeek(t *testing.T) {
	b := newBench(t, "sns,sns/critical=arn:aws:sns:us-west-2:111122223333:oncall,pagerduty=p,teams=t,teams/info=i,webhook=w")
	var log bytes.Buffer
	b.log = slog.New(slog.NewJSONHandler(&log, nil))
	if _, err := b.handle(t.Context(), sample(t, "weekly-report")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"sns", "teams=t", "webhook=w"}, b.put); diff != "" {
		t.Errorf("queued (-want +got):\n%s", diff)
	}
	for _, want := range []string{
		`"target":"pagerduty=p","event":"weekly/2026-11-23","reason":"no-alert-of-a-week"`,
		`"target":"teams=i","event":"weekly/2026-11-23","reason":"incidents-only"`,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %s:\n%s", want, log.String())
		}
	}
	for range 2 { // SQS delivers at least once, EventBridge too
		if failed := b.batch(t, "sns", sample(t, "weekly-report"), "1"); len(failed) > 0 {
			t.Errorf("failed %v", failed)
		}
	}
	if len(b.mails) != 1 || !strings.HasPrefix(b.mails[0], "arn:own Rollcall: Week of 16 Nov: 2,512 of 2,530 launches joined; 2 incidents, 1 open") {
		t.Errorf("mails %q", b.mails)
	}
	// A message that was queued when the settings were others: PagerDuty is not told then either.
	if failed := b.batch(t, "pagerduty=p", sample(t, "weekly-report"), "1"); len(failed)+len(b.asked)+len(b.aside) > 0 || !strings.Contains(log.String(), `"msg":"not notified"`) {
		t.Errorf("failed %v, asked %q, aside %q", failed, b.asked, b.aside)
	}
}

// Whoever may put events on the bus may say anything of a week: targets get what the record
// of the week has, and nothing else.
func TestForeignWeek(t *testing.T) {
	genuine := string(sample(t, "weekly-report"))
	for _, test := range []struct {
		name, from, to, reason string
	}{
		{"another headline", `"headline":"Week of`, `"headline":"Call 0900 12345. Week of`, "the week's record differs"},
		{"another week", "weekly/2026-11-23", "weekly/2026-11-16", "no such week"},
	} {
		b := newBench(t, "sns")
		var log bytes.Buffer
		b.log = slog.New(slog.NewJSONHandler(&log, nil))
		var event map[string]any
		testfile.Parse(t, []byte(genuine), &event)
		plain := testfile.JSON(t, event)
		changed := strings.ReplaceAll(string(plain), test.from, test.to)
		if changed == string(plain) {
			t.Fatalf("%s: the sample has no %s", test.name, test.from)
		}
		if failed := b.batch(t, "sns", json.RawMessage(changed), "1"); len(failed)+len(b.mails) > 0 || b.counts["ForeignEvents"] != 1 || !strings.Contains(log.String(), test.reason) {
			t.Errorf("%s: failed %v, mails %q, counts %v, log %s", test.name, failed, b.mails, b.counts, log.String())
		}
	}
}

// A webhook gets no more of a week than the record confirms: a field beside the event's own is gone.
func TestWeekWithMore(t *testing.T) {
	raw := strings.Replace(string(sample(t, "weekly-report")), `"detail": {`, `"detail": {"note": "call 0900 12345",`, 1)
	n, err := message.Parse([]byte(raw))
	if err != nil || !strings.Contains(raw, "0900") {
		t.Fatal(err, raw)
	}
	told, why, err := newBench(t, "sns").recorded(t.Context(), n, 1)
	if err != nil || why != "" || strings.Contains(string(told.Raw), "0900") || !strings.Contains(string(told.Raw), "weekly/2026-11-23") {
		t.Errorf("%v, %q, %s", err, why, told.Raw)
	}
}

func TestHeldBack(t *testing.T) {
	for _, test := range []struct {
		name     string
		status   int
		received string
		want     time.Duration
		known    int
	}{
		{"away", 0, "1", 5 * time.Second, 0},
		{"away again", 0, "4", 40 * time.Second, 0},
		{"away for long", 0, "50", 5 * time.Minute, 1},
		{"asks to wait", 429, "1", 10 * time.Minute, 0},
		{"broken", 503, "8", 10 * time.Minute, 1},
	} {
		b := newBench(t, all)
		b.status = test.status
		if failed := b.batch(t, "pagerduty=p", sample(t, "incident-opened"), test.received); len(failed) != 1 {
			t.Errorf("%s: failed %v", test.name, failed)
		}
		if diff := cmp.Diff([]time.Duration{test.want}, b.held); diff != "" || len(b.aside) > 0 || len(b.told) > 0 || b.counts["TargetsUndelivered"] != test.known {
			t.Errorf("%s: aside %q, told %v, counts %v, held (-want +got):\n%s", test.name, b.aside, b.told, b.counts, diff)
		}
	}
}

func TestSetAside(t *testing.T) {
	b := newBench(t, all)
	b.status = 400
	failed := b.batch(t, "pagerduty=p", sample(t, "incident-opened"), "1")
	if len(failed) > 0 || len(b.aside) != 1 || b.aside[0] != "target pagerduty=p rejects it (HTTP 400)" || len(b.told) > 0 {
		t.Errorf("failed %v, aside %q, told %v", failed, b.aside, b.told)
	}
	for name, body := range map[string]string{"no JSON": "{", "no event": `{"target":"sns"}`, "another event": `{"target":"sns","event":{"source":"x"}}`} {
		b := newBench(t, all)
		if failed := b.message(t, body, "1"); len(failed) > 0 || len(b.aside) != 1 {
			t.Errorf("%s: failed %v, aside %q", name, failed, b.aside)
		}
	}
	// No target is notified that is not among the settings any more, and nothing rings.
	b = newBench(t, "sns")
	if failed := b.batch(t, "pagerduty=p", sample(t, "incident-opened"), "1"); len(failed)+len(b.aside)+len(b.asked) > 0 {
		t.Errorf("failed %v, aside %q, asked %q", failed, b.aside, b.asked)
	}
}

const (
	key  = "e93facc04764012d7bfb002500d5d1a6"
	host = "prod-01.westus.logic.azure.com"
)

// staged is the function on a stage, with a stand-in for each target.
type staged struct {
	*stagetest.Bench
	pagerduty *faketargets.PagerDuty
	teams     *faketargets.Teams
	webhook   *faketargets.Webhook
}

func onStage(t *testing.T, kill *stagetest.Kill) staged {
	t.Helper()
	var s staged
	var err error
	if s.pagerduty, err = faketargets.NewPagerDuty(key, func() time.Time { return s.Now() }); err != nil {
		t.Fatal(err)
	}
	s.pagerduty.Token = "u+readonly"
	if s.teams, err = faketargets.NewTeams("s3cr3t", time.Now); err != nil {
		t.Fatal(err)
	}
	// The function signs in the stage's time.
	s.webhook = faketargets.NewWebhook(key, func() time.Time { return s.Now() })
	s.Bench = stagetest.Start(t, spec.Spec(), Build, stagetest.Options{
		Kill: kill, Settings: map[string]string{string(config.Targets): "sns,pagerduty=pd,teams=teams,webhook=hook"},
		TargetSecrets: map[string]string{"pd": `{"key":"` + key + `","apiToken":"u+readonly"}`, "teams": "https://" + host + "/x?sig=s3cr3t", "hook": `{"url":"https://hooks.example.com/","key":"` + key + `"}`},
		Others:        map[string]http.Handler{"events.pagerduty.com": s.pagerduty, "api.pagerduty.com": s.pagerduty, host: s.teams, "hooks.example.com": s.webhook},
	})
	for _, inc := range samples(t) {
		if _, err := s.Store.SaveIncident(t.Context(), inc); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Store.SavePosting(t.Context(), weekly(t)); err != nil {
		t.Fatal(err)
	}
	s.Advance(5 * 24 * time.Hour) // past all that the samples tell of
	return s
}

// queued takes the messages out of the function's queue, as its poller does.
func (s staged) queued(t *testing.T) (bodies []string) {
	t.Helper()
	for _, q := range s.Template.Queues {
		if q.Name != "rollcall-targets.fifo" {
			continue
		}
		batch, err := s.Queues.Receive(t.Context(), q.ARN, 10, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range batch {
			bodies = append(bodies, m.Body)
		}
		if err := s.Queues.Delete(q.ARN, batch...); err != nil {
			t.Fatal(err)
		}
	}
	return bodies
}

// TestOnTheStage: an event becomes a message for each target, and each is notified. That no
// call is made that the role does not allow, the bench holds.
func TestOnTheStage(t *testing.T) {
	s := onStage(t, nil)
	if _, err := s.Handle(sample(t, "incident-opened")); err != nil {
		t.Fatal(err)
	}
	bodies := s.queued(t)
	if len(bodies) != 4 {
		t.Fatalf("%d messages", len(bodies))
	}
	if back := s.Send(bodies...); len(back) > 0 {
		t.Errorf("come again: %q", back)
	}
	if a := s.pagerduty.Alerts(); len(a) != 1 || a[0].State != faketargets.Triggered || len(s.teams.Cards()) != 1 || len(s.webhook.Deliveries()) != 1 || len(s.Cloud.Mails()) != 1 {
		t.Errorf("alerts %v, cards %v, deliveries %d, mails %v\n%s", a, s.teams.Cards(), len(s.webhook.Deliveries()), s.Cloud.Mails(), s.Logs())
	}
	// A target that is away: what it is to be told is held back, and nothing is given up.
	s.pagerduty.Trouble(func(time.Time) (int, time.Duration) { return http.StatusServiceUnavailable, 0 })
	if _, err := s.Handle(sample(t, "incident-resolved")); err != nil {
		t.Fatal(err)
	}
	if back := s.Send(s.queued(t)...); len(back) != 1 || len(s.Cloud.Mails()) != 2 {
		t.Errorf("come again: %q, mails %d", back, len(s.Cloud.Mails()))
	}
}

// TestReadBack: what a responder does in PagerDuty goes to report once; one that does not
// answer is asked once in a tick, and is logged once.
func TestReadBack(t *testing.T) {
	s := onStage(t, nil)
	tick := func() {
		t.Helper()
		if _, err := s.Handle(s.Schedule()); err != nil {
			t.Fatal(err)
		}
	}
	changes := func() (list []report.AlertChange) {
		for _, m := range s.Results() {
			if m.Alert != nil {
				list = append(list, *m.Alert)
			}
		}
		return list
	}
	tick()
	if n := s.pagerduty.Requests(); n != 0 {
		t.Errorf("%d requests without an alert", n)
	}
	if _, err := s.Handle(sample(t, "incident-opened")); err != nil {
		t.Fatal(err)
	}
	s.Send(s.queued(t)...)
	tick()
	if n := s.pagerduty.Requests(); n != 2 || len(changes()) != 0 {
		t.Errorf("%d requests, %+v", n, changes())
	}
	s.pagerduty.Trouble(func(time.Time) (int, time.Duration) { return http.StatusUnauthorized, 0 })
	tick()
	tick()
	if n := strings.Count(s.Logs(), "could not read alerts back"); n != 1 || s.Counts()["AlertsUnread"] != 1 {
		t.Errorf("logged %d times\n%s", n, s.Logs())
	}
	s.pagerduty.Trouble(nil)
	a := s.pagerduty.Alerts()[0]
	s.pagerduty.Respond(a.Dedup, faketargets.Acknowledged, "<!here> Ana\u202e")
	tick()
	tick()
	n, err := message.Parse(sample(t, "incident-opened"))
	if err != nil {
		t.Fatal(err)
	}
	list := changes()
	if len(list) != 1 || list[0].Key != (report.Key{Cluster: n.Incident.Cluster, Check: n.Incident.Check, Resource: n.Incident.Resource}) ||
		list[0].State != report.AlertAcknowledged || list[0].In != "PagerDuty" || list[0].By != "!here Ana" || !list[0].Opened.Equal(n.Incident.Opened) {
		t.Errorf("report got %+v\n%s", list, s.Logs())
	}
	if !strings.Contains(s.Logs(), "alerts are read back again") || strings.Contains(s.Logs(), "u+readonly") {
		t.Error(s.Logs())
	}
}

// What cannot be read back is not asked for, and no target takes the time of another.
func TestReadBackBounds(t *testing.T) {
	opened := samples(t)[0]
	about := func(i int) string {
		return opened.Account + "/" + opened.Region + "/" + opened.Key.Cluster + "/" + string(opened.Key.Check) + "#" + opened.Key.Resource + strings.Repeat("x", i)
	}
	const token = `{"key":"e93facc04764012d7bfb002500d5d1a6","apiToken":"u+x"}`
	with := func(secret string, n int, of func(*outgoing.DeliveryRecord)) *bench {
		b := newBench(t, "pagerduty=p,sns")
		b.secret, b.status = secret, http.StatusServiceUnavailable
		for i := range n {
			r := outgoing.DeliveryRecord{Target: "pagerduty=p", About: about(i), Told: message.Told{Opened: opened.Opened, Open: true}}
			of(&r)
			b.told[r.Target+"\n"+r.About] = r
		}
		return b
	}
	same := func(*outgoing.DeliveryRecord) {}
	for name, test := range map[string]struct {
		b    *bench
		want int
	}{
		"no token":     {with(strings.Repeat("k", 32), 1, same), 0},
		"no key":       {with("short", 1, same), 0},
		"acknowledged": {with(token, 1, func(r *outgoing.DeliveryRecord) { r.Acknowledged = true }), 0},
		"resolved":     {with(token, 1, func(r *outgoing.DeliveryRecord) { r.Resolved = true }), 0},
		"over":         {with(token, 1, func(r *outgoing.DeliveryRecord) { r.Open = false }), 0},
		"a week":       {with(token, 1, func(r *outgoing.DeliveryRecord) { r.About = "week" }), 0},
		"away":         {with(token, 30, same), 1},
	} {
		if _, err := test.b.handle(t.Context(), json.RawMessage(`{"detail-type":"Scheduled Event"}`)); err != nil || len(test.b.asked) != test.want || len(test.b.changes) != 0 {
			t.Errorf("%s: %v, asked %q, changes %v", name, err, test.b.asked, test.b.changes)
		}
	}
	// More than a tick reads have their turns.
	var records []outgoing.DeliveryRecord
	for i := range 25 {
		records = append(records, outgoing.DeliveryRecord{About: about(i), Told: message.Told{Open: true}})
	}
	seen := map[string]bool{}
	for i := range 5 {
		list := turns(slices.Clone(records), time.Unix(1e9, 0).Add(time.Duration(i)*perTick))
		if len(list) != mostRead {
			t.Errorf("%d in a tick", len(list))
		}
		for _, r := range list {
			seen[r.About] = true
		}
	}
	if len(seen) != 25 {
		t.Errorf("%d of 25 in five ticks", len(seen))
	}
	// An acknowledgement of an incident that was closed, or came back since, does not count; one
	// that report did not take is sent again.
	ana := []message.Alert{{State: report.AlertAcknowledged, Changed: opened.Opened.Add(time.Minute), By: "Ana"}}
	b := with(token, 1, same)
	r := b.told["pagerduty=p\n"+about(0)]
	other := r
	other.Opened = opened.Opened.Add(-time.Hour)
	if err := b.respond(t.Context(), b.targets[0], other, ana); err != nil || len(b.changes) != 0 {
		t.Errorf("of another opening: %v, %v", err, b.changes)
	}
	b = with(token, 1, same)
	b.sendErr = errors.New("no queue")
	if err := b.respond(t.Context(), b.targets[0], r, ana); err == nil || !b.told["pagerduty=p\n"+about(0)].Awaits() {
		t.Errorf("not taken: %v, %+v", err, b.told)
	}
	b.sendErr = nil
	if err := b.respond(t.Context(), b.targets[0], r, ana); err != nil || b.told["pagerduty=p\n"+about(0)].Awaits() || len(b.changes) != 2 || b.changes[0].ID != b.changes[1].ID {
		t.Errorf("sent again: %v, %+v", err, b.changes)
	}
}

// silent is an HTTP client to which nothing responds until the request's time is over.
type silent struct{}

func (silent) Do(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A target that had no time left because another took it is recorded as not asked: that it did
// not respond would send a person to the wrong service.
func TestReadBackWithoutTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "pagerduty=p,pagerduty=q")
		b.secret, b.send.HTTP = `{"key":"e93facc04764012d7bfb002500d5d1a6","apiToken":"u+x"}`, silent{}
		opened := samples(t)[0]
		about := opened.Account + "/" + opened.Region + "/" + opened.Key.Cluster + "/" + string(opened.Key.Check) + "#" + opened.Key.Resource
		for _, name := range []string{"pagerduty=p", "pagerduty=q"} {
			b.told[name+"\n"+about] = outgoing.DeliveryRecord{Target: name, About: about, Told: message.Told{Opened: opened.Opened, Open: true}}
		}
		if _, err := b.handle(t.Context(), json.RawMessage(`{"detail-type":"Scheduled Event"}`)); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"pagerduty=p": "no answer", "pagerduty=q": "not asked: no time left of the 20 s that the targets share in a tick"} {
			if got := b.told[name+"\n"+allAlerts].Unread; got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	})
}

// TestItMayDoNothingElse: no other secret is read, and no other topic published to, than
// those of the settings.
func TestItMayDoNothingElse(t *testing.T) {
	s := onStage(t, nil)
	as := s.AsFunction(s.Function)
	s.Cloud.SetSecret("hook-of-others", "x")
	refused := func(what string, err error, code string) {
		t.Helper()
		var api smithy.APIError
		if !errors.As(err, &api) || api.ErrorCode() != code {
			t.Errorf("%s: %v, want %s", what, err, code)
		}
	}
	secrets, topics := secretsmanager.NewFromConfig(as), sns.NewFromConfig(as)
	for _, name := range []string{"hook-of-others", s.Template.Secrets[0].Name} {
		_, err := secrets.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: aws.String(name)})
		refused(name, err, "AccessDeniedException")
	}
	if _, err := secrets.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: aws.String("hook")}); err != nil {
		t.Errorf("its own: %v", err)
	}
	for _, topic := range s.Template.Topics {
		_, err := topics.Publish(t.Context(), &sns.PublishInput{TopicArn: aws.String(topic.ARN), Message: aws.String("m")})
		if strings.HasPrefix(topic.LogicalID, "TargetTopic") {
			if err != nil {
				t.Errorf("its own: %v", err)
			}
			continue
		}
		refused(topic.LogicalID, err, "AuthorizationError")
	}
}

// TestKilledAtEachWrite: wherever the function ends, each target gets all, and
// remembers it so; a receiver knows what came twice.
func TestKilledAtEachWrite(t *testing.T) {
	stagetest.KilledAtEachWrite(t, []string{"Publish", "PutItem", "SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
		s := onStage(t, k)
		for _, name := range []string{"incident-opened", "incident-acknowledged", "incident-resolved", "weekly-report"} {
			k.Invoke(sample(t, name))
			for _, body := range s.queued(t) {
				k.Invoke(stagetest.Batch(body))
			}
		}
		var alerts []string
		for _, a := range s.pagerduty.Alerts() {
			alerts = append(alerts, a.Dedup+" "+a.State+" "+strings.Join(slices.Compact(a.Log), " "))
		}
		deliveries := map[string]bool{}
		for _, d := range s.webhook.Deliveries() {
			deliveries[d.ID] = true
		}
		mails := map[string]bool{}
		for _, m := range s.Cloud.Mails() {
			mails[m.Subject] = true
		}
		cards := map[string]bool{}
		for _, c := range s.teams.Cards() {
			cards[c.Lines[0]] = true
		}
		if len(alerts) != 1 || len(deliveries) != 4 || len(mails) != 3 || len(cards) != 3 {
			t.Errorf("alerts %v, deliveries %v, mails %v, cards %v", alerts, deliveries, mails, cards)
		}
		return stagetest.Timeless(t, map[string]any{"alerts": alerts, "deliveries": deliveries, "mails": mails, "cards": cards, "records": storedRecords(t, s)})
	})
}

// storedRecords is what is remembered.
func storedRecords(t *testing.T, s staged) map[string]any {
	t.Helper()
	out := map[string]any{}
	for name, record := range s.Kept() {
		body := testfile.JSON(t, record)
		out[name] = string(body)
	}
	if diff := cmp.Diff(true, len(out) > 0); diff != "" {
		t.Error("nothing is remembered")
	}
	return out
}
