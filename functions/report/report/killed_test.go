package report

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/functions/report/spec"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/ownership"
	"rollcall/shared/report"
	"rollcall/stage"
	"rollcall/stage/fakeslack"
	"rollcall/stage/platform/loopback"
	"rollcall/stage/stagetest"
	"rollcall/tools/expect"
)

// killable is report on a stage, with a Slack in the stage's time.
type killable struct {
	*stagetest.Bench
	t     *testing.T
	kill  *stagetest.Kill
	slack *fakeslack.Server
	// slow is how long Slack takes for its next message: the rest come at once.
	slow time.Duration
}

func startKillable(t *testing.T, k *stagetest.Kill) *killable {
	t.Helper()
	b, slack := &killable{t: t, kill: k}, loopback.New()
	var err error
	b.slack, err = fakeslack.New(fakeslack.Config{
		Token: stage.SlackToken, Channels: []fakeslack.Channel{{ID: stage.Channel, Name: "alerts"}},
		Users: []fakeslack.User{{ID: notifytest.Dana, Name: "Dana Weber"}}, Now: func() time.Time { return b.Now() }, Network: slack,
	})
	expect.OK(t, err)
	t.Cleanup(func() {
		if err := b.slack.Close(); err != nil {
			t.Error(err)
		}
	})
	b.Bench = stagetest.Start(t, spec.Spec(), func(_ context.Context, e lambda.Env) (lambda.Handler, error) {
		e.HTTP = k.Via(slowOnce{b, slack})
		return newHandler(e, ownership.Settings{}).handle, nil
	}, stagetest.Options{Kill: k, Settings: map[string]string{
		"ROLLCALL_SLACK_API_URL": b.slack.APIURL(), "ROLLCALL_SLACK_CHANNEL": stage.Channel, "ROLLCALL_SLACK_ACTIONS": "on", "ROLLCALL_APPROVERS": notifytest.Dana,
	}})
	return b
}

// slowOnce is the way to a Slack that takes its time for one message.
type slowOnce struct {
	*killable
	next http.RoundTripper
}

func (s slowOnce) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/chat.postMessage") {
		time.Sleep(s.slow)
		s.slow = 0
	}
	return s.next.RoundTrip(req)
}

// batch is an invocation with messages of now.
func (b *killable) batch(messages ...any) json.RawMessage {
	b.t.Helper()
	var bodies []string
	for _, m := range messages {
		if o, is := m.(report.Observation); is {
			o.At, o.ID = b.Now(), "observation/"+b.Now().Format(time.RFC3339Nano)
			m = o
		}
		body, err := json.Marshal(m)
		if err != nil {
			b.t.Fatal(err)
		}
		bodies = append(bodies, string(body))
	}
	return stagetest.Batch(bodies...)
}

// before is what happened before the function is killed.
func (b *killable) before(messages ...any) {
	b.t.Helper()
	if _, err := b.Handle(b.batch(messages...)); err != nil {
		b.t.Fatal(err)
	}
}

// slackIDs are the ids that Slack gives to blocks and files, that of the buttons,
// which hangs on the time of the opening, and times as Slack shows them.
var slackIDs = regexp.MustCompile(`\b[bF]0STAGE\d+|incident-[0-9a-f]{16}|"timestamp":\d+`)

// end is what people, other functions and the table have in the end.
func (b *killable) end() any {
	b.t.Helper()
	type said struct {
		Text, Blocks, Visible string
		Broadcast             bool
		Files                 int
		Thread                []string
	}
	messages, answered := []said{}, map[string]bool{}
	for _, m := range b.slack.Messages(stage.Channel) {
		// An ephemeral reply may be sent twice: it cannot be checked whether
		// Slack has it (answers.go).
		if m.Visible != "" && answered[m.Visible+m.Text] {
			continue
		}
		answered[m.Visible+m.Text] = true
		s := said{Text: m.Text, Blocks: slackIDs.ReplaceAllString(string(m.Blocks), "ID"), Broadcast: m.Broadcast, Visible: m.Visible, Files: len(m.Files)}
		for _, r := range m.Replies {
			s.Thread = append(s.Thread, r.Text)
		}
		messages = append(messages, s)
	}
	// Which of two summaries comes first does not matter.
	slices.SortStableFunc(messages, func(a, b said) int { return strings.Compare(a.Text, b.Text) })
	events := map[string]string{} // whoever gets one twice tells by its id
	taken := map[string]string{}  // their ids by digest, which hangs on the times in them
	for _, p := range b.Events() {
		var e struct {
			Type   string         `json:"detail-type"`
			Detail incident.Event `json:"detail"`
		}
		if p.Bus == "default" {
			continue
		}
		if err := json.Unmarshal(p.Event, &e); err != nil {
			b.t.Fatal(err)
		}
		events[e.Detail.ID] = e.Type
		taken[e.Detail.Digest()] = e.Detail.ID
	}
	incidents, err := b.Store.Incidents(b.t.Context(), stagetest.Cluster)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := range incidents {
		inc := &incidents[i]
		// What hangs on the times that are said, and how often it was written.
		inc.Delivery.Digest, inc.Version = "", 0
		// A record knows the events that the bus took, and none besides: else targets are
		// not told.
		for i, digest := range inc.Published {
			inc.Published[i] = cmp.Or(taken[digest], digest)
		}
	}
	postings, err := b.Store.WithClock(b.Now).Postings(b.t.Context(), stagetest.Cluster)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := range postings {
		p := &postings[i]
		p.Digest, p.Version, p.Channel = "", 0, ""
	}
	acts, err := b.Store.WithClock(b.Now).Acts(b.t.Context(), stagetest.Cluster, time.Time{})
	if err != nil {
		b.t.Fatal(err)
	}
	return stagetest.Timeless(b.t, map[string]any{
		"slack": messages, "events": events, "incidents": incidents, "postings": postings, "audit": acts,
		"records": slices.Sorted(maps.Keys(b.Kept())),
		// Whoever ends behind it, before SQS has heard so, sets it aside again: what
		// is there is there at least once (bus.SetAside).
		"aside": b.Waiting("rollcall-results-dead.fifo") > 0,
	})
}

// TestKilledAtEachWrite: what is said is said once, and none of it is lost,
// wherever the function ends. So it is with what others receive, and with the
// audit.
func TestKilledAtEachWrite(t *testing.T) {
	for name, test := range map[string]struct {
		writes []string
		story  func(b *killable)
	}{
		"an incident opens": {[]string{"PutEvents", "PutItem", "chat.postMessage"}, func(b *killable) {
			b.kill.Invoke(b.batch(notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))))
		}},
		"an incident is over": {[]string{"PutEvents", "PutItem", "chat.postMessage", "chat.update"}, func(b *killable) {
			b.before(notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Missed)))
			b.Advance(time.Minute)
			b.kill.Invoke(b.batch(notifytest.Passing(notifytest.Launch(notifytest.Instance1, 0, report.Gone), notifytest.Launch(notifytest.Instance2, 12, report.Joined))))
		}},
		"a plan is approved": {[]string{"PutEvents", "PutItem", "chat.postEphemeral", "chat.postMessage", "chat.update"}, func(b *killable) {
			b.before(notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Missed)))
			b.before(proposal(b.Now()))
			b.kill.Invoke(b.pressed(report.ApprovePlan))
		}},
		"summaries": {[]string{"PutItem", "chat.postMessage"}, func(b *killable) {
			sum := notifytest.Daily(31)
			sum.Chart = nil // what becomes of pictures: TestPictureCutOff
			b.kill.Invoke(b.batch(sum, notifytest.Cleanup(0, 3)))
		}},
		"a message that nobody can read": {[]string{"PutEvents", "PutItem", "SendMessage", "chat.postMessage"}, func(b *killable) {
			b.kill.Invoke(b.batch(map[string]int{"format": 999}, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stagetest.KilledAtEachWrite(t, test.writes, func(t *testing.T, k *stagetest.Kill) any {
				b := startKillable(t, k)
				test.story(b)
				// Whatever was left to the cluster's next message is said with it.
				b.Advance(5 * time.Minute)
				b.before(notifytest.Sweep())
				return b.end()
			})
		})
	}
}

// TestKilledAtItsOwnWakingUp: where Slack is so slow that a minute is too short, report
// asks itself to go on. Killed there, it still says all of it, once.
func TestKilledAtItsOwnWakingUp(t *testing.T) {
	two := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
	other := two.Diagnosis.Causes[0]
	other.Resource, other.Covers, other.Title = "rtb-0ee5", []string{"subnet-0other"}, "subnet-0other has no route to the internet"
	two.Diagnosis.Causes = append(two.Diagnosis.Causes, other)
	stagetest.KilledAtEachWrite(t, []string{"PutEvents", "PutItem", "SendMessage", "chat.postMessage"}, func(t *testing.T, k *stagetest.Kill) (end any) {
		// The minute is the deadline of the invocation's context, whose time is the bubble's.
		synctest.Test(t, func(t *testing.T) {
			b := startKillable(t, k)
			b.slow = b.Function.Timeout - 3*time.Second
			b.kill.Invoke(b.batch(two))
			b.Advance(5 * time.Minute)
			b.before(notifytest.Sweep())
			if n := len(b.slack.Messages(stage.Channel)); n != 2 {
				t.Errorf("%d messages for two causes", n)
			}
			end = b.end()
		})
		return end
	})
}

// pressed is the message of a press that slack-actions passed on.
func (b *killable) pressed(action report.Action) json.RawMessage {
	b.t.Helper()
	p := report.Press{
		Head: report.Head{Format: report.IncidentFormat, Kind: report.PressKind, ID: "press-1", At: b.Now(), Key: theKey()}, Number: 1, Action: action, Plan: thePlan().Hash(),
		User: report.User{ID: notifytest.Dana}, Home: notifytest.Home, Channel: stage.Channel, TS: b.slack.Messages(stage.Channel)[0].TS,
	}
	m, err := report.EncodePress(p)
	if err != nil {
		b.t.Fatal(err)
	}
	first, err := b.Store.ClaimPress(b.t.Context(), p.ID, "slack-actions")
	if err == nil && first {
		err = b.Store.PassPress(b.t.Context(), p.ID, "slack-actions", m.Digest())
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return b.batch(p)
}
