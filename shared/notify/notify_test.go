package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/catalog"
	"rollcall/shared/chart"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"
	"rollcall/shared/node/spotreport"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/routing"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/store"
	"rollcall/stage/fakeslack"
	"rollcall/stage/platform/dynamo"
	"rollcall/tools/expect"
)

// long is a failure whose first reply has no room for all of its evidence.
func long() report.Observation {
	obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
	for n := range 60 {
		obs.Diagnosis.Causes[0].Evidence = append(obs.Diagnosis.Causes[0].Evidence, finding.Evidence{What: fmt.Sprint("line ", n), Value: strings.Repeat("x", 60)})
	}
	return obs
}

// owed counts the notes whose file is still due.
func (b *bench) owed() (n int) {
	for _, note := range b.incident().Delivery.Notes {
		if note.Owes() {
			n++
		}
	}
	return n
}

// The file comes after all words, once; what is short has none.
func TestFiles(t *testing.T) {
	b := newBench(t)
	b.must(0, long())
	b.must(1, notifytest.Sweep())
	expect.Equal(t, "calls", strings.Join(b.channel.Calls, ", "), "post, reply opened, share")
	if len(b.channel.Shared) != 1 || !strings.Contains(string(b.channel.Shared[0].Data), "line 59") || b.owed() != 0 {
		t.Errorf("shared %d files, %d due; want one with all lines", len(b.channel.Shared), b.owed())
	}
	if n := b.incident().Delivery.Notes[0]; len(n.Evidence) > 0 || n.Then != nil {
		t.Error("the record keeps what the file has")
	}
	b = newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	if slices.Contains(b.channel.Calls, "share") {
		t.Error("a short reply has a file")
	}
}

// What Slack does not take holds back no word, and comes when Slack is back.
func TestFilesWait(t *testing.T) {
	for name, fault := range map[string]slackapi.Error{
		"down":         {Kind: slackapi.Unavailable, Method: "files.getUploadURLExternal", Status: 503},
		"rate limited": {Kind: slackapi.RateLimited, Method: completes},
	} {
		b := newBench(t)
		b.channel.Fail = fails("share", fault, -1)
		for minute := range 5 {
			b.must(minute, long())
		}
		if len(b.channel.Posts()) != 1 || len(b.channel.Notes()) != 1 || b.owed() != 1 {
			t.Errorf("%s: calls %q, %d due", name, b.channel.Calls, b.owed())
		}
		b.channel.Fail = nil
		b.must(10, notifytest.Sweep())
		b.must(11, notifytest.Sweep())
		if len(b.channel.Shared) != 1 || b.owed() != 0 {
			t.Errorf("%s: shared %d files, %d due; want one", name, len(b.channel.Shared), b.owed())
		}
	}
}

// An answer that is lost, each time, repeats the file once and no more.
func TestFilesAreRepeatedOnceAtMost(t *testing.T) {
	b := newBench(t)
	b.channel.Fail = func(call string) (error, bool) {
		if call == "share" {
			return &slackapi.Error{Kind: slackapi.Unavailable, Method: completes}, true
		}
		return nil, false
	}
	for minute := range 6 {
		b.must(minute, long())
	}
	if len(b.channel.Shared) != incident.MostShares || b.owed() != 0 {
		t.Errorf("shared %d times, %d due; want %d and none", len(b.channel.Shared), b.owed(), incident.MostShares)
	}
}

// Whichever write fails, the file is shared, and once more at most.
func TestFilesCutOff(t *testing.T) {
	for n := 1; n <= 6; n++ {
		b := newBench(t)
		b.Incidents = &forgetful{Records: b.store, from: n, to: n + 1}
		obs := long()
		obs.ID = "long"
		for minute := range 4 {
			if _, err := b.observeAt(minute, obs); err != nil {
				t.Errorf("write %d: %v", n, err)
			}
		}
		if got := len(b.channel.Shared); got < 1 || got > 2 || b.owed() != 0 || len(b.channel.Notes()) != 1 {
			t.Errorf("write %d: shared %d times, %d due, notes %q", n, got, b.owed(), b.channel.Notes())
		}
	}
}

// Without files:write it is said once in the log, and the words stand.
func TestFilesWithoutScope(t *testing.T) {
	b := newBench(t)
	b.channel.Fail = fails("share", slackapi.Error{Kind: slackapi.Auth, Method: "files.getUploadURLExternal", Code: "missing_scope", Scope: "files:write"}, -1)
	b.must(0, long())
	b.must(1, notifytest.Sweep())
	b.must(10, notifytest.Passing())
	again := long()
	again.Diagnosis.Causes[0].Why = "It is back."
	b.must(20, again)
	if said := strings.Count(b.log.String(), "goes without the file"); said != 1 || b.owed() != 0 || len(b.channel.Shared) != 0 {
		t.Errorf("said %d times, %d due, shared %d", said, b.owed(), len(b.channel.Shared))
	}
}

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
	expect.OK(t, server.CreateTable(t.Context(), table))
	b := &bench{T: t, channel: &notifytest.Slack{}, bus: &notifytest.Bus{}, now: notifytest.Start, log: &bytes.Buffer{}, counts: map[string]int{}}
	clock := func() time.Time { return b.now }
	b.store = store.New(server.Client(), table).WithClock(clock)
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

// observeAt delivers the observations of a minute.
func (b *bench) observeAt(minute int, observations ...report.Observation) ([]string, error) {
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
	if failed, err := b.observeAt(minute, observations...); err != nil || len(failed) > 0 {
		b.Errorf("minute %d: failed %q, %v", minute, failed, err)
	}
}

// tell delivers summaries, or with none a sweep's observation.
func (b *bench) tell(minute int, list ...report.Summary) ([]string, error) {
	b.Helper()
	if len(list) == 0 {
		return b.observeAt(minute, notifytest.Sweep())
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

func TestChannelsAndCalls(t *testing.T) {
	b := newBench(t)
	routes, err := routing.Parse("eks-workshop/critical=C0PAGES001@S0ONCALL01,all=C0REST0001")
	expect.OK(t, err)
	b.Policy.Routes, b.Policy.RemindAfter = routes, 30*time.Minute
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	b.must(5, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Missed)))
	for _, m := range b.channel.Messages {
		if m.Channel != "C0PAGES001" || m.Broadcast != (m.Tag.Note == "called") {
			t.Errorf("%q is in %s, broadcast %v", m.Tag.Note, m.Channel, m.Broadcast)
		}
	}
	b.must(30, notifytest.Sweep())
	expect.Equal(t, "the thread has", strings.Join(b.channel.Notes(), " "), "opened called missed reminded")
	// It stays where it is when it is not critical any more.
	b.must(40, notifytest.Passing(notifytest.Launch(notifytest.Instance1, 0, report.Missed)))
	if inc := b.incident(); inc.Delivery.Channel != "C0PAGES001" || len(b.channel.Posts()) != 1 {
		t.Errorf("it moved to %s; %d posts", inc.Delivery.Channel, len(b.channel.Posts()))
	}
}

// A post that was cut off is looked for where it was sent, wherever it would go
// now.
func TestChannelOfACutOffPost(t *testing.T) {
	b := newBench(t)
	routes, err := routing.Parse("all/critical=C0PAGES001,all=C0REST0001")
	expect.OK(t, err)
	b.Policy.Routes = routes
	b.channel.Fail = notifytest.CutOff("post")
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	b.must(5, notifytest.Passing(notifytest.Launch(notifytest.Instance1, 0, report.Missed)))
	if posts := b.channel.Posts(); len(posts) != 1 || posts[0].Channel != "C0PAGES001" || b.incident().Delivery.Channel != "C0PAGES001" {
		t.Errorf("posts are %+v", posts)
	}
}

// leaking is a look of subnet-watch with a chart.
func leaking(png string) report.Observation {
	obs := notifytest.Observation()
	obs.By = "subnet-watch"
	obs.Diagnosis.Causes = []diagnosis.Cause{{
		Check: "ip/leaked-interfaces", Confidence: catalog.Certain, Resource: notifytest.Subnet, Covers: []string{notifytest.Subnet}, Nodegroups: []string{"workers"},
		Title: "31 addresses of " + notifytest.Subnet + " are held by 4 terminated nodes", Why: "12 interfaces are left behind.",
	}}
	return charted(obs, png)
}

func givenBack(png string) report.Observation {
	obs := notifytest.Observation()
	obs.Diagnosis.Passed = []diagnosis.Passed{{Check: "ip/leaked-interfaces", Covers: []string{notifytest.Subnet}, Evidence: []finding.Evidence{{What: notifytest.Subnet, Value: "31 addresses back; 12 interfaces of 4 terminated nodes"}}}}
	return charted(obs, png)
}

func charted(obs report.Observation, png string) report.Observation {
	if png != "" {
		obs.Charts = []report.Chart{{Of: "subnet-another", PNG: []byte("not this one"), Alt: "another"}, {Of: notifytest.Subnet, PNG: []byte(png), Alt: "It falls."}}
	}
	return obs
}

// The first picture comes after the words. It stands beside the numbers of its own look
// alone, and is drawn anew when the incident moves on, or after an hour.
func TestPictures(t *testing.T) {
	b := newBench(t)
	for _, s := range []struct {
		minute  int
		obs     report.Observation
		calls   string
		picture string
	}{
		{0, leaking("first"), "post, reply opened, upload, update", "F000000001"},
		{5, leaking("five minutes later"), "", "F000000001"},
		{10, func() report.Observation { o := leaking(""); o.Diagnosis.Causes[0].Why = "13 are."; return o }(), "update", ""},
		{15, leaking("too early"), "update", "F000000001"},
		{59, leaking("too early"), "", "F000000001"},
		{60, leaking("an hour later"), "upload, update", "F000000002"},
		{70, givenBack(""), "update, reply proved", ""},
		{75, givenBack("its end"), "upload, update", "F000000003"},
		{80, givenBack("said already"), "", "F000000003"},
		{90, leaking("it is back"), "upload, update, reply reopened", "F000000004"},
	} {
		before := len(b.channel.Calls)
		b.must(s.minute, s.obs)
		expect.Equal(t, fmt.Sprintf("minute %d: calls", s.minute), strings.Join(b.channel.Calls[before:], ", "), s.calls)
		if posts := b.channel.Posts(); len(posts) != 1 || posts[0].Picture != s.picture {
			t.Errorf("minute %d: posts %+v, want one with %s", s.minute, posts, s.picture)
		}
		if inc := b.incident(); len(inc.Chart.PNG) > 0 || inc.Chart.Due() {
			t.Errorf("minute %d: the record keeps the picture: %+v", s.minute, inc.Chart)
		}
	}
	got := b.channel.Files[0]
	expect.Same(t, "the file", got, slackapi.File{Name: "addresses-" + notifytest.Subnet + "-20261120-1459.png", Title: "Free addresses of " + notifytest.Subnet, Alt: "It falls.", Data: []byte("first")})
	if text := b.channel.Posts()[0].Text; !strings.Contains(text, "for the 2nd time") {
		t.Errorf("the message is %q", text)
	}
}

// A picture that Slack does not take holds back no word, and comes later.
func TestPicturesNeverHoldBackWords(t *testing.T) {
	for name, fault := range map[string]func(string) (error, bool){"down": notifytest.Down, "rate limited": notifytest.RateLimited} {
		b := newBench(t)
		b.channel.Fail = func(call string) (error, bool) {
			if call == "upload" {
				return fault(call)
			}
			return nil, false
		}
		b.must(0, leaking("first"))
		b.must(5, notifytest.Sweep())
		expect.Same(t, fmt.Sprintf("%s: calls", name), b.channel.Calls, []string{"post", "reply opened", "upload", "upload"})
		b.channel.Fail = nil
		b.must(10, notifytest.Sweep())
		if p := b.channel.Posts(); len(p) != 1 || p[0].Picture != "F000000001" {
			t.Errorf("%s: posts %+v, want one with its picture", name, p)
		}
	}
}

// Without files:write the alarm rings once, and the words stand.
func TestPicturesWithoutScope(t *testing.T) {
	b := newBench(t)
	b.channel.Fail = fails("upload", slackapi.Error{Kind: slackapi.Auth, Method: "files.getUploadURLExternal", Code: "missing_scope", Scope: "files:write"}, -1)
	for _, minute := range []int{0, 1, 61, 122, 183} {
		b.must(minute, leaking(fmt.Sprint(minute)))
	}
	rang := b.counts["Undelivered"]
	if posts := b.channel.Posts(); len(posts) != 1 || posts[0].Picture != "" || rang != 1 {
		t.Errorf("posts %+v, the alarm rang %d times; want one message without a picture, and once", posts, rang)
	}
}

// Slack refuses to show what it has not taken in yet: the file is tried again,
// and after a while let go.
func TestPictureNotTakenIn(t *testing.T) {
	refusal := slackapi.Error{Kind: slackapi.Refused, Method: "chat.update", Code: "invalid_blocks"}
	b := newBench(t)
	b.channel.Fail = fails("update", refusal, 1)
	b.must(0, leaking("first"))
	b.must(5, notifytest.Sweep())
	if p := b.channel.Posts(); len(p) != 1 || p[0].Picture != "F000000001" || len(b.channel.Files) != 1 {
		t.Errorf("posts %+v, %d files; want the picture, given once", p, len(b.channel.Files))
	}
	b = newBench(t)
	b.channel.Fail = fails("update", refusal, -1)
	for minute := range 5 {
		b.must(minute, leaking("first"))
	}
	rang := b.counts["Undelivered"]
	if inc := b.incident(); inc.Chart.Due() || rang != 1 || len(b.channel.Posts()) != 1 {
		t.Errorf("%+v, the alarm rang %d times, %d posts; want it let go with one alarm", inc.Chart, rang, len(b.channel.Posts()))
	}
}

func pictureStory() []notifytest.Step {
	return []notifytest.Step{{Minute: 0, Obs: leaking("first")}, {Minute: 5, Obs: leaking("x")}, {Minute: 14, Obs: givenBack("end")}, {Minute: 20, Obs: notifytest.Sweep()}}
}

// Whatever call is cut off, and whichever write: one message, with its picture.
func TestPictureCutOff(t *testing.T) {
	check := func(t *testing.T, b *bench) {
		t.Helper()
		p := b.channel.Posts()
		if len(p) != 1 || p[0].Picture == "" || !strings.HasPrefix(p[0].Text, "✅ eks-workshop / workers · "+notifytest.Subnet+" has its addresses back after 14 min: 31 addresses, 12 interfaces of 4 terminated nodes") {
			t.Errorf("posts %+v, want one, resolved, with a picture", p)
		}
		expect.Same(t, "notes", b.channel.Notes(), []string{"opened", "proved"})
	}
	for _, call := range []string{"post", "upload", "update", "reply opened", "reply proved"} {
		t.Run(call, func(t *testing.T) {
			b := newBench(t)
			b.channel.Fail = notifytest.CutOff(call)
			for _, s := range pictureStory() {
				b.must(s.Minute, s.Obs)
			}
			check(t, b)
		})
	}
	for n := 1; n <= 7; n++ {
		t.Run(fmt.Sprint("write ", n), func(t *testing.T) {
			b := newBench(t)
			b.Incidents = &forgetful{Records: b.store, from: n, to: n + 1}
			for i, s := range pictureStory() {
				s.Obs.ID = fmt.Sprint("story-", i)
				failed, err := b.observeAt(s.Minute, s.Obs)
				expect.OK(t, err)
				if len(failed) > 0 {
					b.must(s.Minute, s.Obs)
				}
			}
			check(t, b)
		})
	}
}

func stopped(minute int) report.Summary {
	s := notifytest.Cleanup(minute, 12)
	s.Cleanup.Stopped = &report.CleanupStop{Candidates: 480, Interfaces: 900, Share: 50}
	return s
}

func texts(b *bench) (list []string) {
	for _, m := range b.channel.Posts() {
		list = append(list, m.Text)
	}
	return list
}

// One message for a cluster and day, edited as the day goes on.
func TestCleanup(t *testing.T) {
	b := newBench(t)
	for _, s := range []struct {
		minute int
		list   []report.Summary
		calls  string
	}{
		{0, []report.Summary{notifytest.Cleanup(0, 10)}, "post"},
		{1, []report.Summary{notifytest.Cleanup(0, 10)}, ""},
		{15, []report.Summary{notifytest.Cleanup(15, 12)}, "update"},
		{16, nil, ""},
		{17, []report.Summary{notifytest.Cleanup(7, 11)}, ""}, // late
		{30, []report.Summary{notifytest.Cleanup(30, 12), notifytest.Cleanup(45, 13)}, "update"},
	} {
		before := len(b.channel.Calls)
		if failed, err := b.tell(s.minute, s.list...); err != nil || len(failed) > 0 {
			t.Fatal(failed, err)
		}
		expect.Equal(t, fmt.Sprintf("minute %d: calls", s.minute), strings.Join(b.channel.Calls[before:], ", "), s.calls)
	}
	expect.Same(t, "the channel", texts(b), []string{"🧹 eks-workshop · 39 addresses back in " + notifytest.Subnet + "; 13 interfaces of 4 terminated nodes"})
	next := notifytest.Cleanup(24*60, 2)
	next.ID = "cleanup/eks-workshop/2026-11-21"
	if _, err := b.tell(24*60, next); err != nil || len(b.channel.Posts()) != 2 {
		t.Errorf("the next day: %v, %d posts", err, len(b.channel.Posts()))
	}
}

// A run that stopped is a message of its own; when a later run goes on, that
// message says so.
func TestCleanupStopped(t *testing.T) {
	b := newBench(t)
	for i, s := range []report.Summary{stopped(0), stopped(15), notifytest.Cleanup(30, 14)} {
		if _, err := b.tell(i, s); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"🔴 eks-workshop · the cleanup stopped and deleted nothing: 480 of 900 interfaces of vpc-0ab1c2d3e4f5a6b7c look leaked",
			"🧹 eks-workshop · 36 addresses back in " + notifytest.Subnet + "; 12 interfaces of 4 terminated nodes",
		}
		if i == 2 {
			want[0] = "✅ eks-workshop · the cleanup resumed; it had stopped when 480 of 900 interfaces of vpc-0ab1c2d3e4f5a6b7c looked leaked"
			want[1] = "🧹 eks-workshop · 42 addresses back in " + notifytest.Subnet + "; 14 interfaces of 4 terminated nodes"
		}
		expect.Same(t, fmt.Sprintf("run %d", i), texts(b), want)
	}
	list, err := b.store.Postings(t.Context(), "eks-workshop")
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, p := range list {
		if !p.Done {
			t.Errorf("a report function of before would say %s as a Spot summary", p.Summary.ID)
		}
	}
}

// Whatever call is cut off, whichever write, and while Slack is away: once.
func TestCleanupSaidOnce(t *testing.T) {
	steps := [][]report.Summary{{notifytest.Cleanup(0, 10)}, nil, {notifytest.Cleanup(15, 12)}, nil, nil}
	run := func(t *testing.T, b *bench) {
		t.Helper()
		for i, step := range steps {
			failed, err := b.tell(5*i, step...)
			expect.OK(t, err)
			if len(failed) > 0 {
				if failed, err := b.tell(5*i+1, step...); err != nil || len(failed) > 0 {
					t.Fatal(failed, err)
				}
			}
		}
		expect.Same(t, "the channel", texts(b), []string{"🧹 eks-workshop · 36 addresses back in " + notifytest.Subnet + "; 12 interfaces of 4 terminated nodes"})
	}
	for _, call := range []string{"post", "update"} {
		t.Run("cut off "+call, func(t *testing.T) {
			b := newBench(t)
			b.channel.Fail = notifytest.CutOff(call)
			run(t, b)
		})
	}
	for n := 1; n <= 6; n++ {
		t.Run(fmt.Sprint("write ", n), func(t *testing.T) {
			b := newBench(t)
			b.Postings = &lapse{Summaries: b.store, at: n}
			run(t, b)
		})
	}
	t.Run("away", func(t *testing.T) {
		b := newBench(t)
		calls := 0
		b.channel.Fail = func(call string) (error, bool) {
			if calls++; calls <= 2 {
				return notifytest.Down(call)
			}
			return nil, false
		}
		run(t, b)
	})
}

// freed is what a cleanup of 12 interfaces has in Slack.
const freed = "🧹 eks-workshop · 36 addresses back in " + notifytest.Subnet + "; 12 interfaces of 4 terminated nodes"

// TestCleanupInThread: what a cleanup freed in a subnet whose incident is posted is in that
// thread, once, whatever call is cut off and whichever write fails; the channel has no
// message beside the incident's.
func TestCleanupInThread(t *testing.T) {
	run := func(t *testing.T, b *bench) {
		t.Helper()
		b.must(0, leaking(""))
		for i, step := range [][]report.Summary{{notifytest.Cleanup(5, 10)}, nil, {notifytest.Cleanup(15, 12)}, nil, nil} {
			for try := range 2 {
				failed, err := b.tell(5+5*i+try, step...)
				expect.OK(t, err)
				if len(failed) == 0 {
					break
				}
			}
		}
		if posts := texts(b); len(posts) != 1 {
			t.Errorf("the channel has %q, want the incident alone", posts)
		}
		expect.Same(t, "replies with what was freed", b.replies("🧹"), []string{freed})
		expect.Equal(t, "thread", b.posting().Thread, b.incident().Delivery.TS)
	}
	for _, call := range []string{"none", "reply ", "update"} {
		t.Run("cut off "+call, func(t *testing.T) {
			b := newBench(t)
			b.channel.Fail = notifytest.CutOff(call)
			run(t, b)
		})
	}
	for n := 1; n <= 6; n++ {
		t.Run(fmt.Sprint("write ", n), func(t *testing.T) {
			b := newBench(t)
			b.Postings = &lapse{Summaries: b.store, at: n}
			run(t, b)
		})
	}
}

// TestCleanupOutsideAThread: what has no thread of its own is a message in the channel.
func TestCleanupOutsideAThread(t *testing.T) {
	other := func(s report.Summary) report.Summary {
		s.Cleanup.Subnets = append(s.Cleanup.Subnets, report.CleanupSubnet{Subnet: "subnet-0other", Zone: "us-west-2b", Interfaces: 2, Addresses: 6, Nodes: 1, Free: 20})
		return s
	}
	dryRun := func(s report.Summary) report.Summary {
		s.Cleanup.Mode = "dry-run"
		return s
	}
	gone := slackapi.Error{Kind: slackapi.MessageGone, Method: "chat.postMessage", Code: "thread_not_found"}
	for _, c := range []struct {
		name    string
		prepare func(b *bench)
		told    report.Summary
		channel []string
		thread  []string
	}{
		{"no incident", func(*bench) {}, notifytest.Cleanup(5, 12), []string{freed}, nil},
		{"another subnet as well", func(b *bench) { b.must(0, leaking("")) }, other(notifytest.Cleanup(5, 12)), []string{"🧹 eks-workshop · 6 addresses back in subnet-0other; 2 interfaces of 1 terminated node"}, []string{freed}},
		{"dry run", func(b *bench) { b.must(0, leaking("")) }, dryRun(notifytest.Cleanup(5, 12)), []string{strings.Replace(freed, "36 addresses back", "dry run would free 36 addresses", 1)}, nil},
		{"stopped as well", func(b *bench) { b.must(0, leaking("")) }, stopped(5), []string{"🔴 eks-workshop · the cleanup stopped and deleted nothing: 480 of 900 interfaces of vpc-0ab1c2d3e4f5a6b7c look leaked"}, []string{freed}},
		{"in the channel already", func(b *bench) {
			_, err := b.tell(0, notifytest.Cleanup(0, 11))
			expect.OK(b.T, err)
			b.must(1, leaking(""))
		}, notifytest.Cleanup(5, 12), []string{freed}, nil},
		{"incident of the day before", func(b *bench) {
			b.must(-24*60, leaking(""))
			b.must(-23*60, givenBack(""))
		}, notifytest.Cleanup(5, 12), []string{freed}, nil},
		{"its message was deleted", func(b *bench) {
			b.must(0, leaking(""))
			b.channel.Fail = fails("reply ", gone, 1)
		}, notifytest.Cleanup(5, 12), []string{freed}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			c.prepare(b)
			_, err := b.tell(5, c.told)
			expect.OK(t, err)
			var channel []string
			for _, text := range texts(b) {
				if strings.HasPrefix(text, "🧹") || strings.Contains(text, "cleanup stopped") {
					channel = append(channel, text)
				}
			}
			expect.Same(t, "the channel", channel, c.channel)
			expect.Same(t, "the thread", b.replies("🧹"), c.thread)
		})
	}
}

// replies are the replies in threads that begin so.
func (b *bench) replies(begin string) (list []string) {
	for _, m := range b.channel.Messages {
		if m.Thread != "" && strings.HasPrefix(m.Text, begin) {
			list = append(list, m.Text)
		}
	}
	return list
}

// The day's message is deleted: the rest of the day is not posted.
func TestCleanupDeleted(t *testing.T) {
	b := newBench(t)
	if _, err := b.tell(0, notifytest.Cleanup(0, 10)); err != nil {
		t.Fatal(err)
	}
	b.channel.Fail = fails("update", slackapi.Error{Kind: slackapi.MessageGone, Method: "chat.update", Code: "message_not_found"}, -1)
	for i := range 3 {
		if _, err := b.tell(15*i+15, notifytest.Cleanup(15*i+15, 11+i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(b.channel.Posts()); n != 1 {
		t.Errorf("%d posts, want 1", n)
	}
}

// Whatever call is cut off after Slack took it, nothing is said twice.
func TestCutOff(t *testing.T) {
	want := newBench(t)
	for _, s := range notifytest.RouteStory() {
		want.must(s.Minute, s.Obs)
	}
	for _, call := range []string{"post", "update", "reply opened", "reply missed", "reply cleared", "reply proved"} {
		t.Run(call, func(t *testing.T) {
			b := newBench(t)
			b.channel.Fail = notifytest.CutOff(call)
			for _, s := range notifytest.RouteStory() {
				b.must(s.Minute, s.Obs)
			}
			b.must(20, notifytest.Sweep())
			if diff := cmp.Diff(want.channel.View(), b.channel.View()); diff != "" {
				t.Errorf("the channel (-as without the fault +got):\n%s", diff)
			}
			if b.counts["SlackFailures"] != 1 {
				t.Errorf("%d failures counted, want 1", b.counts["SlackFailures"])
			}
		})
	}
}

// forgetful is a store whose writes fail from the n-th on, as if the function
// were stopped there.
type forgetful struct {
	Records
	writes, from, to int
}

var errStopped = errors.New("stopped")

func (f *forgetful) SaveIncident(ctx context.Context, inc incident.Incident) (incident.Incident, error) {
	f.writes++
	if f.writes >= f.from && f.writes < f.to {
		return incident.Incident{}, errStopped
	}
	return f.Records.SaveIncident(ctx, inc)
}

// Stopped at any write, with the messages coming again: one message, one thread.
func TestStoppedBetweenSendAndSave(t *testing.T) {
	want := newBench(t)
	for _, s := range notifytest.RouteStory() {
		want.must(s.Minute, s.Obs)
	}
	for n := 1; n <= 8; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			b := newBench(t)
			b.Incidents = &forgetful{Records: b.store, from: n, to: n + 1}
			back := 0
			for i, s := range notifytest.RouteStory() {
				s.Obs.ID = fmt.Sprint("story-", i)
				failed, err := b.observeAt(s.Minute, s.Obs)
				expect.OK(t, err)
				if len(failed) > 0 {
					back++
					b.must(s.Minute, s.Obs)
				}
			}
			if back != 1 {
				t.Errorf("%d batches went back, want 1", back)
			}
			if diff := cmp.Diff(want.channel.View(), b.channel.View()); diff != "" {
				t.Errorf("the channel (-as without the fault +got):\n%s", diff)
			}
			seen := map[string]bool{}
			var kinds []string
			for _, e := range b.bus.Told {
				if !seen[e.ID] {
					kinds = append(kinds, string(e.Kind))
				}
				seen[e.ID] = true
			}
			if got := strings.Join(kinds, " "); got != want.bus.Kinds() {
				t.Errorf("the bus was told %q, repeats left out; want %q", got, want.bus.Kinds())
			}
		})
	}
}

// Slack is away for a while: afterwards the channel is as it would have been.
func TestSlackAway(t *testing.T) {
	want := newBench(t)
	for _, s := range notifytest.RouteStory() {
		want.must(s.Minute, s.Obs)
	}
	for name, fault := range map[string]func(string) (error, bool){"down": notifytest.Down, "rate limited": notifytest.RateLimited} {
		for until := 1; until <= len(notifytest.RouteStory()); until++ {
			t.Run(fmt.Sprint(name, " for ", until), func(t *testing.T) {
				b := newBench(t)
				b.channel.Fail = fault
				for i, s := range notifytest.RouteStory() {
					if i == until {
						b.channel.Fail = nil
					}
					b.must(s.Minute, s.Obs)
					if i < until && len(b.channel.Calls) != i+1 {
						t.Errorf("after %d invocations Slack was called %d times, want once each", i+1, len(b.channel.Calls))
					}
				}
				b.channel.Fail = nil
				b.must(60, notifytest.Sweep())
				if diff := cmp.Diff(want.channel.View(), b.channel.View()); diff != "" {
					t.Errorf("the channel (-as without the fault +got):\n%s", diff)
				}
				if b.bus.Kinds() != want.bus.Kinds() {
					t.Errorf("the bus was told %q, want %q", b.bus.Kinds(), want.bus.Kinds())
				}
			})
		}
	}
}

// Once Slack is known to be away, a pass does not wait for it again.
func TestSlackAwayForSeveralIncidents(t *testing.T) {
	b := newBench(t)
	b.channel.Fail = notifytest.Down
	obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
	second := obs.Diagnosis.Causes[0]
	second.Check = "route/blackhole"
	obs.Diagnosis.Causes = append(obs.Diagnosis.Causes, second)
	b.must(0, obs)
	expect.Same(t, "calls of Slack", b.channel.Calls, []string{"post"})
	expect.Equal(t, "the bus was told", b.bus.Kinds(), "Opened Opened")
	b.channel.Fail = nil
	b.must(5, notifytest.Sweep())
	if got := len(b.channel.Posts()); got != 2 {
		t.Errorf("%d posts, want 2", got)
	}
}

// What changes nothing that a reader sees edits nothing.
func TestNothingToEdit(t *testing.T) {
	b := newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	b.must(1, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	expect.Same(t, "calls of Slack", b.channel.Calls, []string{"post", "reply opened"})
	if inc := b.incident(); inc.Delivery.Dirty || !inc.Seen.Equal(b.now) {
		t.Errorf("behind %v, seen %v; want a record that is up to date", inc.Delivery.Dirty, inc.Seen)
	}
}

// A wrong token fails no batch, says what to do, and loses nothing.
func TestWrongToken(t *testing.T) {
	b := newBench(t)
	b.channel.Fail = notifytest.Refused
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	if !strings.Contains(b.log.String(), "put a valid bot token") {
		t.Errorf("the log does not tell to put a token into the secret: %s", b.log)
	}
	if !strings.Contains(b.log.String(), "needs a change") || b.counts["SlackFailures"] != 1 || b.counts["Undelivered"] != 1 {
		t.Errorf("log is %s, failures %d", b.log, b.counts["SlackFailures"])
	}
	if b.bus.Kinds() != "Opened" {
		t.Errorf("the bus was told %q", b.bus.Kinds())
	}
	b.channel.Fail = nil
	b.must(5, notifytest.Sweep())
	expect.Same(t, "calls of Slack: the post was refused and the reply never tried, so nobody looks for them", b.channel.Calls, []string{"post", "post", "reply opened"})
	expect.Equal(t, "the thread has", strings.Join(b.channel.Notes(), " "), "opened")
}

// TestPrepare: it is called once in an invocation, where something is due for Slack and is not
// held back.
func TestPrepare(t *testing.T) {
	b := newBench(t)
	var prepared atomic.Int32
	b.Prepare = func(context.Context) { prepared.Add(1) }
	two := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
	second := two.Diagnosis.Causes[0]
	second.Resource, second.Title = "rtb-2", "the second"
	two.Diagnosis.Causes = append(two.Diagnosis.Causes, second)
	refused := notifytest.Refused
	for _, step := range []struct {
		name   string
		minute int
		fail   func(string) (error, bool)
		seen   report.Observation
		want   int32
	}{
		{"two incidents, and Slack refuses the token", 0, refused, two, 1},
		{"Slack is left alone", 1, nil, notifytest.Sweep(), 0},
		{"Slack is asked again", 2, nil, notifytest.Sweep(), 1},
		{"nothing is due", 3, nil, notifytest.Sweep(), 0},
	} {
		b.channel.Fail = step.fail
		b.must(step.minute, step.seen)
		expect.Equal(t, step.name+": Prepare was called", prepared.Swap(0), step.want)
	}
}

func TestBusAway(t *testing.T) {
	b := newBench(t)
	b.bus.Fail = errors.New("no bus")
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	b.must(5, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Missed)))
	if b.counts["BusFailures"] != 2 || b.counts["Undelivered"] != 2 {
		t.Errorf("%d failures, %d undelivered, want 2 and 2", b.counts["BusFailures"], b.counts["Undelivered"])
	}
	if got := strings.Join(b.channel.Notes(), " "); got != "opened missed" {
		t.Errorf("the thread has %q: Slack must not wait for the bus", got)
	}
	b.bus.Fail = nil
	b.must(10, notifytest.Sweep())
	expect.Equal(t, "the bus was told", b.bus.Kinds(), "Opened Changed")
	b.must(15, notifytest.Sweep())
	if got := b.bus.Kinds(); got != "Opened Changed" {
		t.Errorf("the bus was told %q, twice", got)
	}
}

// racing is a store in which another writer comes just before the n-th write.
type racing struct {
	Records
	writes int
	at     int
	other  func()
}

func (r *racing) SaveIncident(ctx context.Context, inc incident.Incident) (incident.Incident, error) {
	r.writes++
	if r.writes == r.at {
		r.other()
	}
	return r.Records.SaveIncident(ctx, inc)
}

func TestConflict(t *testing.T) {
	for _, test := range []struct {
		name string
		at   int
	}{{"before the first write", 1}, {"before the mark", 2}, {"between send and save", 3}} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			other := b.Notifier
			b.Incidents = &racing{Records: b.store, at: test.at, other: func() {
				// Another invocation of the same function with another observation.
				obs := notifytest.Failing(notifytest.Launch(notifytest.Instance2, 0, report.Waiting))
				obs.ID, obs.At = "other", b.now
				list, err := other.Incidents.Incidents(t.Context(), "eks-workshop")
				expect.OK(t, err)
				for _, d := range reconcile.Decide(list, obs, b.now, other.Policy) {
					if _, err := other.Incidents.SaveIncident(t.Context(), d.Incident); err != nil {
						t.Fatal(err)
					}
				}
			}}
			b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
			b.must(1, notifytest.Sweep())
			if inc := b.incident(); inc.Affected != 2 || len(b.channel.Posts()) != 1 {
				t.Errorf("%d affected, %d messages; want 2 and 1", inc.Affected, len(b.channel.Posts()))
			}
			expect.Equal(t, "the thread has", strings.Join(b.channel.Notes(), " "), "opened")
			if b.counts["LostRaces"] != 1 {
				t.Errorf("%d lost races counted, want 1", b.counts["LostRaces"])
			}
			if test.at == 3 && slices.Contains(b.channel.Calls, "find ") {
				t.Errorf("calls of Slack are %q: the post was recorded, nobody has to look for it", b.channel.Calls)
			}
			if got := b.channel.Posts()[0].Text; !strings.Contains(got, "2 instances") {
				t.Errorf("the message is %q, want both instances in it", got)
			}
		})
	}
}

func TestConflictForEver(t *testing.T) {
	b := newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	b.Incidents = always{b.store}
	failed, err := b.observeAt(5, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Missed)))
	if err != nil || len(failed) != 1 {
		t.Errorf("failed %q, %v; want the message to go back", failed, err)
	}
}

type always struct{ Records }

func (always) SaveIncident(context.Context, incident.Incident) (incident.Incident, error) {
	return incident.Incident{}, &store.Conflict{Over: 1}
}

func TestMessageDeleted(t *testing.T) {
	b := newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	b.channel.Messages = nil
	b.must(5, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Missed)))
	if got := strings.Join(b.channel.Notes(), " "); len(b.channel.Posts()) != 1 || got != "missed" {
		t.Errorf("%d messages, thread %q; want one, with the new note", len(b.channel.Posts()), got)
	}
	// The message says already what it should, only the thread is gone.
	b.channel.Fail = func(call string) (error, bool) {
		if call == "reply cleared" {
			b.channel.Fail = nil
			b.channel.Messages = nil
			return &slackapi.Error{Kind: slackapi.MessageGone}, false
		}
		return nil, false
	}
	b.must(10, notifytest.Passing())
	b.must(15, notifytest.Sweep())
	if got := strings.Join(b.channel.Notes(), " "); len(b.channel.Posts()) != 1 || got != "cleared" {
		t.Errorf("%d messages, thread %q; want one, with the last note", len(b.channel.Posts()), got)
	}
}

// hurried is a bus that answers in time, or says that the time is over.
type hurried struct {
	notifytest.Bus
	takes time.Duration
}

func (h *hurried) Tell(ctx context.Context, events []incident.Event) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(h.takes):
		return h.Bus.Tell(ctx, events)
	}
}

// What Slack's slow answers left no time for waits in the record, as what Slack
// was not told does: it is no error of the function, which would bring back the
// results of all clusters of the batch. A bus that does not answer is tried again by
// report's own clock.
func TestBusAtTheEndOfTheTurn(t *testing.T) {
	for name, test := range map[string]struct {
		left, takes time.Duration
		told, wrong bool
	}{
		"time enough":        {20 * time.Second, 50 * time.Millisecond, true, false},
		"hardly any time":    {500 * time.Millisecond, 50 * time.Millisecond, false, false},
		"no time":            {-time.Second, 50 * time.Millisecond, false, false},
		"it does not answer": {20 * time.Second, time.Hour, false, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), test.left)
			defer cancel()
			c := Cluster{Invocation: Notifier{Bus: &hurried{takes: test.takes}, Now: time.Now, Log: slog.New(slog.DiscardHandler), Count: func(string, int) {}}.Begin(), wanted: map[outbox.Target]bool{}}
			o := outgoing{inc: incident.Incident{PendingEvents: []incident.Event{{ID: "opened"}}}}
			told := c.tellBus(ctx, &o)
			if wrong := len(c.record.Refusals) > 0; told != test.told || wrong != test.wrong || (len(o.inc.PendingEvents) == 0) != test.told {
				t.Errorf("%s: told %t, wrong %t, %d events left", name, told, wrong, len(o.inc.PendingEvents))
			}
		})
	}
}

// TestSummaryInSlack: with the real client, on the stand-in for Slack, the
// picture is in the message, and without files:write the message says so.
func TestSummaryInSlack(t *testing.T) {
	for name, test := range map[string]struct {
		scopes []string
		says   string
		picture,
		alarm bool
	}{
		"all scopes":     {nil, "", true, false},
		"no files:write": {[]string{"chat:write", "channels:history"}, "files:write", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := fakeslack.New(fakeslack.Config{Token: "xoxb-1", Scopes: test.scopes, Channels: []fakeslack.Channel{{ID: "C0123456789", Name: "alerts"}}})
			expect.OK(t, err)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			b := newBench(t)
			client, err := slackapi.NewClient(s.APIURL(), "xoxb-1", &http.Client{})
			expect.OK(t, err)
			b.Slack, b.Files, b.Answers = client, client, client
			sum := notifytest.Daily(31)
			sum.Spot.Pools = []spotreport.Pool{{Type: "m5.large", Zone: "us-west-2a", Spot: true, Funnel: spotreport.Funnel{Requested: 412, NotJoined: 31, Joined: 381}}}
			if sum.Chart, err = chart.Spot(sum.Spot, nil, chart.ForSlack()); err != nil {
				t.Fatal(err)
			}
			if _, err := b.tell(0, sum); err != nil || b.counts["Undelivered"] > 0 != test.alarm {
				t.Errorf("%v, %d undelivered", err, b.counts["Undelivered"])
			}
			b.now = b.now.Add(time.Minute)
			if _, err := b.tell(1); err != nil {
				t.Fatal(err)
			}
			list := s.Messages("C0123456789")
			if len(list) != 1 || len(list[0].Replies) != 1 {
				t.Fatalf("messages %+v, want one with its details", list)
			}
			blocks := string(list[0].Blocks)
			if got := strings.Contains(blocks, "slack_file"); got != test.picture || !strings.Contains(blocks, test.says) {
				t.Errorf("with a picture: %v, want %v; blocks %s", got, test.picture, blocks)
			}
		})
	}
}

// TestPictureInSlack: an incident's chart is in its message, stays through an
// edit, and is another one when the addresses are back.
func TestPictureInSlack(t *testing.T) {
	s, err := fakeslack.New(fakeslack.Config{Token: "xoxb-1", Channels: []fakeslack.Channel{{ID: "C0123456789", Name: "alerts"}}})
	expect.OK(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b := newBench(t)
	client, err := slackapi.NewClient(s.APIURL(), "xoxb-1", &http.Client{})
	expect.OK(t, err)
	b.Slack, b.Files, b.Answers = client, client, client
	drawn, err := chart.Spot(spotreport.Report{Spot: spotreport.Funnel{Requested: 1}}, nil, chart.ForSlack())
	if err != nil || len(drawn) == 0 {
		drawn = []byte("\x89PNG\r\n\x1a\nrest")
	}
	pictures := map[string]bool{}
	for _, step := range []notifytest.Step{{Minute: 0, Obs: leaking(string(drawn))}, {Minute: 5, Obs: leaking("")}, {Minute: 14, Obs: givenBack(string(drawn))}} {
		b.must(step.Minute, step.Obs)
		list := s.Messages("C0123456789")
		if len(list) != 1 {
			t.Fatalf("minute %d: %d messages, want 1", step.Minute, len(list))
		}
		_, rest, shown := strings.Cut(string(list[0].Blocks), `"slack_file"`)
		if !shown {
			t.Fatalf("minute %d: no picture in %s", step.Minute, list[0].Blocks)
		}
		id, _, _ := strings.Cut(rest, "}")
		pictures[id] = true
	}
	if len(pictures) != 2 {
		t.Errorf("%d pictures were shown, want 2: %v", len(pictures), pictures)
	}
}

// What a person must know is a new line of the channel, without any route; all else is
// an edit or a reply.
func TestNewLines(t *testing.T) {
	b := newBench(t)
	for _, s := range []notifytest.Step{
		{Minute: 0, Obs: notifytest.Failing()}, // a warning: no launch has met it
		{Minute: 30, Obs: notifytest.Failing(notifytest.Launch(notifytest.Instance1, 30, report.Waiting))},
		{Minute: 35, Obs: notifytest.Failing(notifytest.Launch(notifytest.Instance1, 30, report.Missed))},
		{Minute: 40, Obs: notifytest.Passing(notifytest.Launch(notifytest.Instance1, 30, report.Missed))},
		{Minute: 44, Obs: notifytest.Failing(notifytest.Launch(notifytest.Instance1, 30, report.Missed))},
		{Minute: 50, Obs: notifytest.Passing(notifytest.Launch(notifytest.Instance1, 30, report.Gone), notifytest.Launch(notifytest.Instance2, 48, report.Joined))},
		{Minute: 90, Obs: notifytest.Failing(notifytest.Launch("i-0aa5a6b7c8d9e0f1a", 85, report.Missed))},
	} {
		b.must(s.Minute, s.Obs)
	}
	var got []string
	for _, m := range b.channel.Messages {
		word := m.Tag.Note
		if m.Broadcast {
			word += ", in the channel"
		}
		got = append(got, word)
	}
	want := []string{"", "opened", "worse, in the channel", "missed", "cleared", "failed-again, in the channel", "failed-again-details", "proved", "reopened, in the channel", "reopened-details"}
	expect.Same(t, "said", got, want)
}

// The newest line of the channel says how things stand: it is edited with its message, and an
// older one says that there is a newer.
func TestLinesAreNotStale(t *testing.T) {
	b := newBench(t)
	line := func(note string) string {
		for _, m := range b.channel.Messages {
			if m.Tag.Note == note {
				return m.Text
			}
		}
		return ""
	}
	b.must(0, notifytest.Failing())
	b.must(30, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 30, report.Missed)))
	if got := line("worse"); !strings.HasPrefix(got, "🔴") {
		t.Fatalf("the line is %q", got)
	}
	b.must(40, notifytest.Passing(notifytest.Launch(notifytest.Instance1, 30, report.Missed)))
	if got := line("worse"); !strings.HasPrefix(got, "🟡") {
		t.Errorf("when its cause is gone the line is %q", got)
	}
	b.must(44, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 30, report.Missed)))
	if got := line("worse"); !strings.HasPrefix(got, "⚪") {
		t.Errorf("when a newer line is posted the older is %q", got)
	}
	older := line("worse")
	b.must(50, notifytest.Passing(notifytest.Launch(notifytest.Instance1, 30, report.Gone), notifytest.Launch(notifytest.Instance2, 48, report.Joined)))
	if got := line("failed-again"); !strings.HasPrefix(got, "✅") {
		t.Errorf("when it is over the line is %q", got)
	}
	if got := line("worse"); got != older {
		t.Errorf("the older line is edited again: %q", got)
	}
}

// A line that Slack does not let us edit now is edited with the next delivery.
func TestLineIsEditedLater(t *testing.T) {
	b := newBench(t)
	b.must(0, notifytest.Failing())
	b.must(30, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 30, report.Missed)))
	edits := 0
	b.channel.Fail = func(method string) (error, bool) {
		if method == "update" {
			edits++
		}
		if edits == 2 { // the message was edited, its line is not
			return &slackapi.Error{Method: method, Kind: slackapi.Unavailable}, false
		}
		return nil, false
	}
	passing := notifytest.Passing(notifytest.Launch(notifytest.Instance1, 30, report.Missed))
	b.must(40, passing)
	b.channel.Fail = nil
	if edits != 2 {
		t.Errorf("%d edits, want the message's and its line's", edits)
	}
	b.must(45, passing)
	for _, m := range b.channel.Messages {
		if m.Broadcast && !strings.HasPrefix(m.Text, "🟡") {
			t.Errorf("the line is still %q", m.Text)
		}
	}
}

// A line that comes late is one, and none where the message was posted after it, or where
// all is over.
func TestLateLines(t *testing.T) {
	at := time.Unix(1700000000, 0)
	line := func(minute int, sent string, mention ...string) incident.Note {
		return incident.Note{At: at.Add(time.Duration(minute) * time.Minute), Line: true, TS: sent, Mention: mention}
	}
	for name, test := range map[string]struct {
		state incident.State
		notes []incident.Note
		want  bool
	}{
		"in time":                          {incident.Open, []incident.Note{line(5, "")}, true},
		"another was sent after it":        {incident.Open, []incident.Note{line(5, ""), line(6, "1.1")}, true},
		"another waits after it":           {incident.Open, []incident.Note{line(5, ""), line(6, "")}, false},
		"a call waits after it":            {incident.Open, []incident.Note{line(5, ""), {At: at.Add(time.Hour), Mention: []string{"here"}}}, false},
		"a reply waits after it":           {incident.Open, []incident.Note{line(5, ""), {At: at.Add(time.Hour)}}, true},
		"the message was posted after it":  {incident.Open, []incident.Note{line(-1, "")}, false},
		"it is over":                       {incident.Closed, []incident.Note{line(5, "")}, false},
		"the cause is gone":                {incident.Cleared, []incident.Note{line(5, "")}, true},
		"who is called is called all same": {incident.Closed, []incident.Note{line(-1, "", "here")}, true},
		"a reply":                          {incident.Open, []incident.Note{{At: at.Add(time.Hour)}}, false},
	} {
		inc := incident.Incident{State: test.state, Delivery: incident.Delivery{TS: "1700000000.000100", Notes: test.notes}}
		expect.Equal(t, fmt.Sprintf("%s: in the channel", name), shownInChannel(inc, test.notes[0]), test.want)
	}
}
