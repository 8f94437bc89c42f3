package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rollcall/local/slackstand"
	"rollcall/shared/event"
	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/shared/state"
)

// away is how Slack is away.
type away string

const (
	well      away = "well"
	noDoor    away = "connection refused"
	errors5xx away = "500, and no answer within the timeout"
	waits     away = "429 with Retry-After"
)

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

// shelf is the table, in memory: each record is JSON and has a version.
type shelf struct {
	mu     sync.Mutex
	items  map[report.Key]kept
	writes int
}

type kept struct {
	body    []byte
	version int
	due     bool // Slack was not told all of it
}

func (s *shelf) Incidents(_ context.Context, cluster string) ([]report.Incident, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []report.Incident
	for key, it := range s.items {
		if key.Cluster != cluster {
			continue
		}
		var inc report.Incident
		if err := json.Unmarshal(it.body, &inc); err != nil {
			return nil, err
		}
		list = append(list, inc)
	}
	// As the table sorts them.
	slices.SortFunc(list, func(a, b report.Incident) int {
		return strings.Compare(string(a.Key.Check)+"#"+a.Key.Resource, string(b.Key.Check)+"#"+b.Key.Resource)
	})
	return list, nil
}

func (s *shelf) SaveIncident(ctx context.Context, inc report.Incident) (report.Incident, error) {
	time.Sleep(5 * time.Millisecond) // what a write takes
	if err := ctx.Err(); err != nil {
		return report.Incident{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if inc.Version != s.items[inc.Key].version {
		return report.Incident{}, &state.Conflict{}
	}
	inc.Version++
	body, err := json.Marshal(inc)
	unsaid := slices.ContainsFunc(inc.Said.Notes, func(n report.Note) bool { return n.TS == "" })
	s.items[inc.Key] = kept{body, inc.Version, inc.Number > 0 && (inc.Said.TS == "" || inc.Said.Behind || unsaid)}
	return inc, err
}

func (s *shelf) Postings(context.Context, string) ([]report.Posting, error) { return nil, nil }
func (s *shelf) SavePosting(_ context.Context, p report.Posting) (report.Posting, error) {
	return p, errors.New("this table has none of them")
}

// due is how many incidents have something that Slack was not told.
func (s *shelf) due() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range s.items {
		if it.due {
			n++
		}
	}
	return n
}

type againFunc func(o report.Observation) error

func (f againFunc) SendResult(_ context.Context, o report.Observation) error { return f(o) }

type quietBus struct{}

func (quietBus) Tell(context.Context, []report.Event) error { return nil }

// outage is a run of the script.
type outage struct {
	how     away
	channel []slackstand.Message
	calls   map[string]int
	counts  map[string]int
	writes  int
	lost    int // messages that went to the dead-letter queue
	drained time.Duration
	invoked int
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

type queued struct {
	id, group, body string
	received        int
	from            time.Time // visible
}

// play runs the script with Slack away for an hour from its beginning, in the
// test's own time.
func play(t *testing.T, script outageScript, how away, stand *slackstand.Server) outage {
	t.Helper()
	// Slack's timestamps have ten digits; the test's time begins in 2000.
	time.Sleep(time.Until(time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)))
	begin := time.Now()
	wire := &wireToSlack{to: stand.Handler(), how: how, calls: map[string]int{}}
	if how != well {
		wire.until = begin.Add(time.Hour)
	}
	client, err := slack.NewClient("http://127.0.0.1/api/", "xoxb-1", &http.Client{Transport: wire})
	if err != nil {
		t.Fatal(err)
	}
	table := &shelf{items: map[report.Key]kept{}}
	out := outage{counts: map[string]int{}}
	var mu sync.Mutex
	var queue []queued
	h := handler{
		incidents: table, postings: table, slack: client, files: client, people: client, bus: quietBus{}, channel: "C0123456789",
		policy: report.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour}, now: time.Now,
		log: slog.New(slog.DiscardHandler), count: func(name string, n int) { mu.Lock(); out.counts[name] += n; mu.Unlock() },
	}
	h.again = againFunc(func(o report.Observation) error {
		body, err := json.Marshal(o)
		mu.Lock()
		defer mu.Unlock()
		queue = append(queue, queued{id: o.ID, group: o.Cluster, body: string(body), from: time.Now()})
		return err
	})
	coming := script.observations(begin, 6*time.Hour)
	busy := map[string]bool{} // groups in work
	running := 0
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
				back := invoke(t, h, batch)
				mu.Lock()
				defer mu.Unlock()
				running--
				for _, m := range batch {
					delete(busy, m.group)
				}
				for _, m := range back {
					if m.received++; m.received >= mostReceive {
						out.lost++
						continue
					}
					m.from = time.Now().Add(invisible)
					queue = append([]queued{m}, queue...)
				}
			}()
		}
		idle := running == 0
		mu.Unlock()
		if at >= time.Hour && out.drained == 0 && table.due() == 0 {
			out.drained = at - time.Hour
		}
		if at > script.end && idle && table.due() == 0 || at > 5*time.Hour {
			break
		}
		time.Sleep(time.Second)
	}
	group.Wait()
	out.channel, out.calls, out.writes = stand.Messages("C0123456789"), wire.calls, table.writes
	out.lost += table.due()
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
func invoke(t *testing.T, h handler, batch []queued) []queued {
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
		return batch
	}
	var back []queued
	for _, f := range answer.(event.Answer).Failures {
		var i int
		_, _ = fmt.Sscan(f.ID, &i)
		back = append(back, batch[i])
	}
	return back
}
