package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/catalog"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/event/inbox"
	"rollcall/shared/incident"
	"rollcall/shared/notify"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/stage/fakeslack"
	"rollcall/tools/testfile"
	"rollcall/tools/testfull"
)

// story is what a reader sees of one incident: its message and its thread,
// without times.
type story struct {
	text  string
	notes []string
}

// read is the channel by cluster, in the order of the messages.
func (o outage) read() (stories map[string]story, order map[string][]string, twice int) {
	stories, order = map[string]story{}, map[string][]string{}
	clock := regexp.MustCompile(`"block_id":"[^"]*"|<!date[^>]*>|\d+:\d\d(:\d\d)?|"fallback":"[^"]*"|"timestamp":\d+|\d+ (s|min|h)\b|\b\d{10}(\.\d+)?\b`)
	plain := func(m fakeslack.Message) string { return clock.ReplaceAllString(m.Text+string(m.Blocks), "T") }
	name := regexp.MustCompile(`subnet-[0-9a-f]{17}`)
	cluster := regexp.MustCompile(`cluster-\d\d`)
	for _, m := range o.channel {
		text := m.Text + string(m.Blocks)
		key, of := name.FindString(text), cluster.FindString(text)
		if _, known := stories[key]; known {
			twice++
		}
		st := story{text: plain(m)}
		seen := map[string]bool{}
		for _, r := range m.Replies {
			text := plain(r)
			if seen[text] {
				twice++
			}
			seen[text] = true
			if strings.Contains(text, "at the top of this thread") {
				text = "a line" // in the channel it says how things stand now, late it is a reply
			}
			st.notes = append(st.notes, text)
		}
		stories[key] = st
		order[of] = append(order[of], key)
	}
	return stories, order, twice
}

// The page and the number of incidents of ".ci/run outage"; a test without them
// plays a smaller one, which takes seconds.
var (
	outagePage   = flag.String("outage.page", "", "write the table into this file")
	outageFaults = flag.Int("outage.faults", testfull.Count(48, 24), "how many incidents open while Slack is away")
)

// Slack is away for an hour while incidents open, change, end and come back:
// afterwards the channel is what it would have been.
func TestOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays hours of many incidents")
	}
	var page []outageRow
	for _, clusters := range []int{6, 1} {
		script := newScript(clusters, *outageFaults)
		as := onSlack(t, script, well)
		page = append(page, as.row(clusters))
		tally := as.tally
		t.Logf("%d clusters, Slack is there: %+v", clusters, tally)
		if tally.Unseen > 0 {
			t.Errorf("%d clusters: %d edits show nothing new", clusters, tally.Unseen)
		}
		want, order, _ := as.read()
		if len(want) != *outageFaults {
			t.Errorf("%d messages while Slack is well, want %d", len(want), *outageFaults)
		}
		for _, how := range []away{noDoor, errors5xx, waits} {
			o := onSlack(t, script, how)
			page = append(page, o.row(clusters))
			// An edit whose answer was lost is made again.
			tally := o.tally
			t.Logf("%d clusters, %s: %+v", clusters, how, tally)
			if tally.Unseen > 0 && how != errors5xx {
				t.Errorf("%d clusters, %s: %d edits show nothing new", clusters, how, tally.Unseen)
			}
			got, gotOrder, twice := o.read()
			if twice > 0 || o.lost > 0 {
				t.Errorf("%d clusters, %s: %d said twice, %d lost", clusters, how, twice, o.lost)
			}
			wrong := 0
			for key, st := range want {
				if diff := cmp.Diff(st, got[key], cmp.AllowUnexported(story{})); diff != "" {
					if wrong++; wrong == 1 {
						t.Errorf("%d clusters, %s: %s (-well +got):\n%s", clusters, how, key, clip(diff))
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%d clusters, %s: %d of %d are told otherwise", clusters, how, wrong, len(want))
			}
			if diff := cmp.Diff(order, gotOrder); diff != "" {
				t.Errorf("%d clusters, %s: the order (-well +got):\n%s", clusters, how, clip(diff))
			}
			// Slack takes one message a second: twice the time of what was unsaid is
			// all that searches, edits and waiting may cost.
			backlog := time.Duration(len(want)+o.counts["SlackNotes"]) * time.Second
			if o.drained > 2*backlog+outageSweep+lambdaTime {
				t.Errorf("%d clusters, %s: it took %s to say what %s would do for", clusters, how, o.drained, backlog)
			}
		}
	}
	if *outagePage == "" {
		return
	}
	// What the stage measured stands below, and is the stage's.
	old, err := os.ReadFile(*outagePage)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	text := pageOf(page, *outageFaults)
	if i := strings.Index(string(old), "\n## "); i >= 0 {
		text += string(old[i:])
	}
	testfile.Write(t, *outagePage, []byte(text))
}

// onSlack plays a script on a Slack of its own, with Slack's limits.
func onSlack(t *testing.T, script outageScript, how away) (o outage) {
	t.Helper()
	stand, err := fakeslack.New(fakeslack.Config{
		Token: "xoxb-1", Channels: []fakeslack.Channel{{ID: "C0123456789", Name: "alerts"}}, Now: time.Now, Wall: time.Now,
		Limits: fakeslack.Limits{PostsPerSecond: 1, PostBurst: 3, UpdatesPerMinute: 50, UpdateBurst: 5},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stand.Close(); err != nil {
			t.Error(err)
		}
	}()
	synctest.Test(t, func(t *testing.T) { o = play(t, script, how, stand) })
	o.how = how
	return o
}

func clip(s string) string {
	lines := strings.Split(s, "\n")
	return strings.Join(lines[:min(len(lines), 40)], "\n")
}

// outageRow is a line of the page.
type outageRow struct {
	clusters                         int
	how                              away
	messages, notes, edits, searches int
	limited, twice, lost, writes     int
	drained                          time.Duration
}

func (o outage) row(clusters int) outageRow {
	_, _, twice := o.read()
	r := outageRow{
		clusters: clusters, how: o.how, messages: len(o.channel), edits: o.counts["SlackUpdates"], twice: twice, lost: o.lost, writes: o.writes, drained: o.drained,
		searches: o.calls["/api/conversations.history"] + o.calls["/api/conversations.replies"],
	}
	for _, m := range o.channel {
		r.notes += len(m.Replies)
	}
	r.limited = o.calls["/api/chat.postMessage"] + o.calls["/api/chat.update"] - r.messages - r.notes - r.edits
	return r
}

// pageOf is docs/slack.md.
func pageOf(rows []outageRow, faults int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Slack down for an hour

Written by %[1]s.ci/run outage%[1]s.

The same two hours are played through the function's own handler, through the real Slack client: %[2]d incidents open in the first 50 minutes, three of four end, one of four comes back, each cluster is swept every five minutes. Slack is down for the first hour: it refuses connections; or it answers 503, does not answer within the timeout, or accepts a message and loses the response, in turn; or it answers 429 with Retry-After: 300. Before and after it enforces its limits: one message a second in a channel (bursts of 3), 50 edits a minute. Invocations end after a minute, five run at once, a cluster's messages are delivered in order, and failed ones are delivered again after six minutes. Time is simulated: a Slack call takes 150 ms, a write 5 ms.

Afterwards the channel is compared with that of a Slack that was never down: each cluster's messages in the same order, each once, with the same text; each thread with the same replies in the same order. Times aside, they are the same.

| clusters | Slack | messages | replies | edits | posted twice | lost | searches | refused or answered 429 | table writes | complete after |
|---|---|---|---|---|---|---|---|---|---|---|
`, "`", faults)
	for _, r := range rows {
		drained := r.drained.Round(time.Second).String()
		if r.how == well {
			drained = "at once"
		}
		fmt.Fprintf(&b, "| %d | %s | %d | %d | %d | %d | %d | %d | %d | %d | %s |\n", r.clusters, r.how, r.messages, r.notes, r.edits, r.twice, r.lost, r.searches, r.limited, r.writes, drained)
	}
	fmt.Fprintf(&b, `
%d messages and %d replies take Slack %s at one a second: no sender can be faster. There are fewer edits than without the outage, because a message that is posted late already has the current state.

How it is done:

- Each post is in the incident's record before it is sent. While Slack is down, only attempted posts are marked as sent. Afterwards Rollcall searches the channel only for posts that Slack may have accepted.
- A cluster's incidents are posted in the order in which they opened, each message with its thread.
- Clusters whose results arrive together share a minute evenly: one cluster's backlog does not block the others. No call is started that the end of the minute would cut off.
- If a minute is too short, report invokes itself again. While Slack does not answer it does not; each cluster's next sweep retries, with one call. Clusters are served in the order of their turns.
- Retry-After is honored within the minute.
- A button press takes effect, and is audited, even if Slack is down. The person gets an answer within 15 minutes, or sees the result in the message. Answers, and lookups of user groups, wait five seconds at most: messages get the rest of the turn.
- A page that Slack did not accept is not repeated, and is dropped once nobody is needed: an hour of outage is one page.
`, rows[0].messages, rows[0].notes, (time.Duration(rows[0].messages+rows[0].notes) * time.Second).String())
	return b.String()
}

// fault is one cause in one cluster: when it begins, when it is gone, and when
// it is back.
type fault struct {
	cluster, table, subnet, instance, next string
	begins, gone, back                     time.Duration
}

func (f fault) failing(at time.Duration) bool {
	return at >= f.begins && (at < f.gone || f.back > 0 && at >= f.back)
}

// outageScript is what happens while Slack is away: faults that begin, change,
// end and come back, and the sweeps that tell of them.
type outageScript struct {
	clusters []string
	faults   []fault
	// end is when nothing new happens any more; sweeps go on.
	end time.Duration
}

const outageSweep = 5 * time.Minute

func newScript(clusters, faults int) outageScript {
	s := outageScript{end: 2 * time.Hour}
	r := rand.New(rand.NewPCG(6, uint64(faults)))
	for c := range clusters {
		s.clusters = append(s.clusters, fmt.Sprintf("cluster-%02d", c))
	}
	for i := range faults {
		f := fault{
			cluster: s.clusters[i%clusters], table: fmt.Sprintf("rtb-%017x", r.Uint64()>>4), subnet: fmt.Sprintf("subnet-%017x", i), instance: fmt.Sprintf("i-%017x", i), next: fmt.Sprintf("i-f%016x", i),
			begins: time.Duration(i+1) * 50 * time.Minute / time.Duration(faults), gone: 1000 * time.Hour,
		}
		switch i % 4 {
		case 1: // ends while Slack is away
			f.gone = f.begins + 12*time.Minute
		case 2: // ends and comes back
			f.gone, f.back = f.begins+12*time.Minute, f.begins+32*time.Minute
		case 3: // ends after
			f.gone = 80*time.Minute + time.Duration(r.IntN(600))*time.Second
		}
		s.faults = append(s.faults, f)
	}
	return s
}

// toldAt is an observation on its way to the queue.
type toldAt struct {
	at  time.Duration
	obs report.Observation
}

// observations are all until a time, in order.
func (s outageScript) observations(from time.Time, until time.Duration) []toldAt {
	var list []toldAt
	for c, cluster := range s.clusters {
		for at := time.Duration(c) * 7 * time.Second; at < until; at += outageSweep {
			list = append(list, s.observe(from, at, cluster, true, func(fault) bool { return true }))
		}
	}
	for _, f := range s.faults {
		list = append(list, s.observe(from, f.begins, f.cluster, false, func(other fault) bool { return other == f }))
	}
	slices.SortStableFunc(list, func(a, b toldAt) int { return int(a.at - b.at) })
	return list
}

func (s outageScript) observe(from time.Time, at time.Duration, cluster string, sweep bool, of func(fault) bool) toldAt {
	o := report.Observation{
		Format: report.Format, ID: fmt.Sprint(cluster, "/", at, "/", sweep), By: "join-check", At: from.Add(at), Sweep: sweep,
		Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: cluster,
	}
	for _, f := range s.faults {
		if f.cluster != cluster || at < f.begins || !of(f) {
			continue
		}
		started := f.begins
		if f.back > 0 && at >= f.back {
			started = f.back
		}
		l := report.Launch{Instance: f.instance, Nodegroup: "workers", Group: "eks-workers", Subnet: f.subnet, Zone: "us-west-2a", Type: "m5.large", Started: from.Add(started), Status: report.Waiting}
		if f.back > 0 && at >= f.back {
			l.Instance = "i-b" + f.instance[3:]
		}
		if at >= started+outageSweep {
			l.Status = report.Missed
		}
		evidence := []finding.Evidence{{What: f.table, Value: "10.42.0.0/16 → local"}}
		if f.failing(at) {
			o.Diagnosis.Causes = append(o.Diagnosis.Causes, diagnosis.Cause{
				Check: "route/no-egress", Confidence: catalog.Certain, Resource: f.table, Covers: []string{f.subnet}, Nodegroups: []string{"workers"},
				Title: f.subnet + " has no route to the internet", Why: f.table + " has only 10.42.0.0/16 → local.", Evidence: evidence, Instances: []string{l.Instance},
			})
			o.Launches = append(o.Launches, l)
			continue
		}
		o.Diagnosis.Passed = append(o.Diagnosis.Passed, diagnosis.Passed{Check: "route/no-egress", Covers: []string{f.subnet}, Evidence: []finding.Evidence{{What: f.table, Value: "0.0.0.0/0 → nat-0aa4"}}})
		if at >= f.gone+3*time.Minute && at < f.gone+15*time.Minute {
			l.Instance, l.Started, l.Ready, l.Status = f.next, from.Add(f.gone+time.Minute), from.Add(f.gone+2*time.Minute), report.Joined
			o.Launches = append(o.Launches, l)
		}
	}
	return toldAt{at, o}
}

// away is how Slack is away.
type away string

const (
	well      away = "well"
	noDoor    away = "connection refused"
	errors5xx away = "500, and no answer within the timeout"
	waits     away = "429 with Retry-After"

	// What does not pass by itself. The codes are Slack's (docs.slack.dev,
	// chat.postMessage, "Errors"); EventBridge refuses what IAM denies with
	// AccessDeniedException ("Common Errors" of its API reference).
	revoked  away = "token_revoked"
	outside  away = "not_in_channel"
	archives away = "is_archived"
	busDeaf  away = "PutEvents refused"

	// noTable is DynamoDB away: nothing can be recorded, so that messages go back
	// until they are dead letters, and come back with make redrive.
	noTable away = "DynamoDB is away"
)

// permanent reports whether it is over only when a person mends it.
func (a away) permanent() bool {
	return a == revoked || a == outside || a == archives || a == busDeaf
}

// lasts is for how long.
func (a away) lasts() time.Duration {
	switch {
	case a == well:
		return 0
	case a.permanent():
		return 4 * time.Hour
	}
	return time.Hour
}

// wireToSlack is the way to Slack: the stand-in without a network, in the
// test's time.
type wireToSlack struct {
	to    http.Handler
	how   away
	until time.Time

	mu    sync.Mutex
	n     int
	calls map[string]int
}

func (w *wireToSlack) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.n++
	n := w.n
	w.calls[r.URL.Path]++
	w.mu.Unlock()
	time.Sleep(150 * time.Millisecond) // what an answer takes
	if time.Now().Before(w.until) {
		switch {
		case w.how == busDeaf: // Slack is well
		case w.how.permanent():
			return httpAnswer(http.StatusOK, nil, fmt.Sprintf(`{"ok":false,"error":%q}`, w.how)), nil
		case w.how == noDoor:
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
		case w.how == waits:
			return httpAnswer(http.StatusTooManyRequests, http.Header{"Retry-After": {"300"}}, `{"ok":false,"error":"ratelimited"}`), nil
		case w.how == errors5xx && n%4 == 1:
			w.serve(r) // taken, and the answer lost
			<-r.Context().Done()
			return nil, r.Context().Err()
		case w.how == errors5xx && n%4 == 2:
			<-r.Context().Done()
			return nil, r.Context().Err()
		case w.how == errors5xx:
			return httpAnswer(http.StatusServiceUnavailable, nil, "upstream connect error"), nil
		}
	}
	return w.serve(r), nil
}

func (w *wireToSlack) serve(r *http.Request) *http.Response {
	rec := httptest.NewRecorder()
	// Its own context: a call that Slack takes is not undone by who hangs up.
	w.to.ServeHTTP(rec, r.Clone(context.Background()))
	return rec.Result()
}

func httpAnswer(status int, header http.Header, body string) *http.Response {
	rec := httptest.NewRecorder()
	for name, values := range header {
		rec.Header()[name] = values
	}
	rec.WriteHeader(status)
	_, _ = io.WriteString(rec, body)
	return rec.Result()
}

// outage is a run of the script.
type outage struct {
	how away
	// channel are the messages, without the replies that it shows too.
	channel []fakeslack.Message
	tally   fakeslack.Tally
	calls   map[string]int
	counts  map[string]int
	writes  int
	lost    int // messages that went to the dead-letter queue
	drained time.Duration
	invoked int
	// stale is how old the newest observation of a cluster became.
	stale time.Duration
	// alarmed are the periods of five minutes in which something was undelivered.
	alarmed map[int]bool
	errors  bytes.Buffer // of the log
	failed  int          // invocations
	// redriven are the messages that came back from the dead-letter queue.
	redriven int
}

// The queue as Lambda reads it: a group at a time, at most ten messages in a
// batch, five invocations at once, six times the function's timeout until what
// failed comes again, five times (functions/report/spec).
const (
	lambdaTime  = 58 * time.Second // the frame keeps two
	concurrent  = 5
	invisible   = 6 * time.Minute
	mostReceive = 5
)

// outageTick is how often report is woken by its schedule (functions/report/spec).
const outageTick = 5 * time.Minute

const scheduled = `{"version":"0","id":"1","detail-type":"Scheduled Event","source":"aws.events","account":"111122223333","time":"2026-11-20T14:00:00Z","region":"us-west-2","resources":[],"detail":{}}`

type queued struct {
	id, group, body string
	received        int
	from            time.Time // visible
}

// play runs the script with Slack away for an hour from its beginning, in the
// test's own time.
func play(t *testing.T, script outageScript, how away, stand *fakeslack.Server) outage {
	t.Helper()
	// Slack's timestamps have ten digits; the test's time begins in 2000.
	time.Sleep(time.Until(time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)))
	begin := time.Now()
	wire := &wireToSlack{to: stand.Handler(), how: how, calls: map[string]int{}}
	wire.until = begin.Add(how.lasts())
	client, err := slackapi.NewClient("http://127.0.0.1/api/", "xoxb-1", &http.Client{Transport: wire})
	if err != nil {
		t.Fatal(err)
	}
	table := &notifytest.Table{Items: map[report.Key]notifytest.Record{}}
	out := outage{counts: map[string]int{}, alarmed: map[int]bool{}}
	ear := notifytest.RefusingBus{}
	var dead []queued
	switch how {
	case busDeaf:
		ear.Refuses = wire.until
	case noTable:
		table.Away = wire.until
	}
	var mu sync.Mutex
	var queue []queued
	h := handler{naming: &naming{}, Notifier: notify.Notifier{
		Incidents: table, Postings: table, Slack: client, Files: client, Answers: client, Bus: ear, Clusters: table, Silences: table,
		Policy: incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour, Channel: "C0123456789"}, Now: time.Now,
		Log: slog.New(slog.NewTextHandler(&out.errors, &slog.HandlerOptions{Level: slog.LevelError})),
		Count: func(name string, n int) {
			mu.Lock()
			defer mu.Unlock()
			if out.counts[name] += n; name == "Undelivered" {
				out.alarmed[int(time.Since(begin)/(5*time.Minute))] = true
			}
		},
	}}
	h.Again = notifytest.AgainFunc(func(o report.Observation) error {
		body, err := json.Marshal(o)
		mu.Lock()
		defer mu.Unlock()
		queue = append(queue, queued{id: o.ID, group: o.Cluster, body: string(body), from: time.Now()})
		return err
	})
	coming := script.observations(begin, 6*time.Hour)
	busy := map[string]bool{} // groups in work
	running := 0
	ticked := time.Duration(0)
	var group sync.WaitGroup
	for {
		at := time.Since(begin)
		mu.Lock()
		for len(coming) > 0 && coming[0].at <= at {
			body := testfile.JSON(t, coming[0].obs)
			queue = append(queue, queued{id: coming[0].obs.ID, group: coming[0].obs.Cluster, body: string(body), from: time.Now()})
			coming = coming[1:]
		}
		for running < concurrent {
			batch := take(&queue, busy)
			if len(batch) == 0 {
				break
			}
			running++
			out.invoked++
			group.Add(1)
			go func() {
				defer group.Done()
				back, err := invoke(t, h, batch)
				mu.Lock()
				defer mu.Unlock()
				running--
				if err != nil {
					out.failed++
				}
				for _, m := range batch {
					delete(busy, m.group)
				}
				for _, m := range back {
					if m.received++; m.received >= mostReceive {
						dead = append(dead, m)
						continue
					}
					m.from = time.Now().Add(invisible)
					queue = append([]queued{m}, queue...)
				}
			}()
		}
		idle := running == 0
		if how == noTable && at > how.lasts()+2*time.Minute && len(dead) > 0 { // make redrive
			out.redriven += len(dead)
			for _, m := range dead {
				m.received, m.from = 0, time.Now()
				queue = append(queue, m)
			}
			dead = nil
		}
		mu.Unlock()
		if next := at.Truncate(outageTick); next > ticked {
			ticked = next
			if _, err := h.handle(context.Background(), json.RawMessage(scheduled)); err != nil && table.Available() == nil {
				t.Errorf("the tick: %v", err)
			}
		}
		if at <= script.end || how.permanent() && at <= how.lasts() {
			out.stale = max(out.stale, table.Stalest(script.clusters))
		}
		if at >= max(how.lasts(), time.Hour) && out.drained == 0 && table.Due() == 0 {
			out.drained = at - max(how.lasts(), time.Hour)
		}
		if at > max(script.end, how.lasts()) && idle && table.Due() == 0 || at > 5*time.Hour {
			break
		}
		time.Sleep(time.Second)
	}
	group.Wait()
	out.tally = fakeslack.TallyOf(stand.Messages("C0123456789"))
	out.channel = slices.DeleteFunc(stand.Messages("C0123456789"), func(m fakeslack.Message) bool { return m.ThreadTS != "" })
	out.calls, out.writes = wire.calls, table.Writes
	out.lost = len(dead) + table.Due()
	return out
}

// take takes up to ten messages of groups that are not in work.
func take(queue *[]queued, busy map[string]bool) []queued {
	var batch, rest []queued
	blocked := map[string]bool{}
	for _, m := range *queue {
		if len(batch) == 10 || busy[m.group] || blocked[m.group] || m.from.After(time.Now()) {
			blocked[m.group] = true // the order of a group is kept
			rest = append(rest, m)
			continue
		}
		batch = append(batch, m)
	}
	for _, m := range batch {
		busy[m.group] = true
	}
	*queue = rest
	return batch
}

// invoke gives a batch to the function, and gives what goes back.
func invoke(t *testing.T, h handler, batch []queued) ([]queued, error) {
	var records []map[string]any
	for i, m := range batch {
		records = append(records, map[string]any{"messageId": fmt.Sprint(i), "body": m.body, "eventSource": "aws:sqs"})
	}
	raw, err := json.Marshal(map[string]any{"Records": records})
	if err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lambdaTime)
	defer cancel()
	answer, err := h.handle(ctx, raw)
	if err != nil {
		return batch, err
	}
	var back []queued
	for _, f := range answer.(inbox.Answer).Failures {
		var i int
		_, _ = fmt.Sscan(f.ID, &i)
		back = append(back, batch[i])
	}
	return back, nil
}
