package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"rollcall/local/fakeslack"
	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/notify"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
)

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
	// until they are dead letters, and come back when somebody runs make redrive.
	noTable away = "DynamoDB is away"
)

// permanent tells that it is over only when a person mends it.
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
			body, err := json.Marshal(coming[0].obs)
			if err != nil {
				t.Fatal(err)
			}
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

// take takes up to ten messages of groups that nobody works on.
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
	for _, f := range answer.(event.Answer).Failures {
		var i int
		_, _ = fmt.Sscan(f.ID, &i)
		back = append(back, batch[i])
	}
	return back, nil
}
