package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/backoff"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/overview"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// unit is a handler whose detectors do what a test says.
type unit struct {
	handler
	now     time.Time
	record  backoff.Record
	saved   []backoff.Record
	saveErr error
	counts  map[string]int
	looked  []string
	swept   []overview.Sweep
	// sweptErr is why the looks of before cannot be read.
	sweptErr error
}

func (u *unit) Backoff(_ context.Context, cluster string) (backoff.Record, error) {
	u.record.Cluster = cluster
	return u.record, nil
}

func (u *unit) SaveBackoff(_ context.Context, r backoff.Record) error {
	u.saved = append(u.saved, r)
	return u.saveErr
}

func (u *unit) Sweep(_ context.Context, cluster string) (overview.Sweep, error) {
	if n := len(u.swept); n > 0 {
		return u.swept[n-1], u.sweptErr
	}
	return overview.Sweep{Cluster: cluster}, u.sweptErr
}

func (u *unit) SaveSweep(_ context.Context, s overview.Sweep) error {
	u.swept = append(u.swept, s)
	return nil
}

func newUnit(looks ...func(ctx context.Context) error) *unit {
	u := &unit{now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), counts: map[string]int{}}
	u.handler = handler{
		Detector: detect.Detector{
			By: "sweep", Now: func() time.Time { return u.now }, Log: slog.New(slog.DiscardHandler),
			Count: func(name string, n int) { u.counts[name] += n }, Watches: func(c string) bool { return c != "other" },
		},
		memory: u,
		watches: func(string, *gather.Contact, func(overview.Subnet)) (list []watch) {
			for i, look := range looks {
				name := string(rune('a' + i))
				list = append(list, watch{name, func(ctx context.Context, raw json.RawMessage) (any, error) {
					t, err := event.Parse(raw)
					u.looked = append(u.looked, name+" "+t.Cluster)
					if err == nil {
						err = look(ctx)
					}
					return nil, err
				}})
			}
			return list
		},
	}
	return u
}

// give gives the handler the turn of a cluster that was due so long ago.
func (u *unit) give(t *testing.T, cluster string, ago time.Duration) error {
	t.Helper()
	raw, err := event.SweepCluster(spoke.ID{}, cluster, "111122223333", "eu-west-1", u.now.Add(-ago))
	if err != nil {
		t.Fatal(err)
	}
	_, err = u.handle(t.Context(), stagetest.Batch(string(raw)))
	return err
}

func fine(context.Context) error { return nil }

// A turn that nobody took until the cluster's next is due is dropped, and counted; what
// is in time is not, nor what comes a little early.
func TestLateTurnsAreDropped(t *testing.T) {
	for ago, dropped := range map[time.Duration]bool{-time.Second: false, 0: false, every - time.Second: false, every: true, time.Hour: true} {
		u := newUnit(fine)
		if err := u.give(t, "prod", ago); err != nil {
			t.Error(err)
		}
		if got := u.counts["LateSweeps"] == 1; got != dropped || (len(u.looked) == 0) != dropped {
			t.Errorf("%s after it was due: counts %v, looked %q; want dropped %t", ago, u.counts, u.looked, dropped)
		}
	}
}

// What one detector meets does not keep the others from looking, and is said of each.
func TestOneDoesNotHoldBackAnother(t *testing.T) {
	down := errors.New("down")
	u := newUnit(func(context.Context) error { return down }, fine, func(context.Context) error { return errors.New("full") })
	err := u.give(t, "prod", 0)
	if !errors.Is(err, down) || !strings.Contains(err.Error(), "a: down") || !strings.Contains(err.Error(), "c: full") || u.counts["SweptClusters"] != 0 {
		t.Errorf("error %v, counts %v", err, u.counts)
	}
	if diff := cmp.Diff([]overview.Sweep{overview.Sweep{Cluster: "prod"}.After(overview.Turn{At: u.now, Failed: []string{"a", "c"}})}, u.swept); diff != "" {
		t.Errorf("remembered (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a prod", "b prod", "c prod"}, u.looked); diff != "" {
		t.Errorf("looked (-want +got):\n%s", diff)
	}
	u = newUnit(fine, fine)
	if err := u.give(t, "prod", 0); err != nil || u.counts["SweptClusters"] != 1 {
		t.Errorf("%v, counts %v; want that it was swept", err, u.counts)
	}
}

// A panic is passed on when all have looked: Lambda then starts another process.
func TestPanicsArePassedOn(t *testing.T) {
	u := newUnit(func(context.Context) error { panic("no way") }, fine)
	defer func() {
		if p := recover(); p != "a: no way" || len(u.looked) != 2 {
			t.Errorf("panic %v after %q, want that of the first when both have looked", p, u.looked)
		}
	}()
	_ = u.give(t, "prod", 0)
	t.Error("it did not panic")
}

// Who hangs takes its own part of the time and nothing of the others'.
func TestEachHasItsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		u := newUnit(hang, hang, func(ctx context.Context) error { time.Sleep(59 * time.Second); return ctx.Err() }, fine)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
		defer cancel()
		began := time.Now()
		raw, err := event.SweepCluster(spoke.ID{}, "prod", "1", "r", u.now)
		if err != nil {
			t.Fatal(err)
		}
		_, err = u.handle(ctx, stagetest.Batch(string(raw)))
		if took := time.Since(began); took != 2*time.Minute+59*time.Second || len(u.looked) != 4 || strings.Contains(err.Error(), "c: ") {
			t.Errorf("%v after %s, looked %q", err, took, u.looked)
		}
	})
}

// Whether the API answered is kept once; another turn at the same time may have kept it.
func TestSilenceIsRemembered(t *testing.T) {
	var contact *gather.Contact
	u := newUnit(fine)
	inner := u.watches
	u.watches = func(account string, c *gather.Contact, s func(overview.Subnet)) []watch {
		contact = c
		return inner(account, c, s)
	}
	u.record = backoff.Record{Version: 2, Attempts: 1, Next: u.now.Add(time.Hour), Silence: backoff.Silence{Endpoint: "https://a"}}
	if err := u.give(t, "prod", 0); err != nil || len(u.saved) > 0 {
		t.Errorf("%v; nobody was asked, and %+v is kept", err, u.saved)
	}
	if outcome, _ := contact.Outcome(); outcome != backoff.NotAsked {
		t.Errorf("outcome %s", outcome)
	}
	u.saveErr = &store.Conflict{}
	if err := u.remember(t.Context(), u.record, contact, u.now); err != nil {
		t.Error(err)
	}
}

// What is none of its messages is said, so that it is put aside; a cluster of nobody is
// left alone.
func TestWhatIsNotATurn(t *testing.T) {
	u := newUnit(fine)
	for raw, want := range map[string]string{
		"{": "the envelope",
		`{"source":"rollcall","detail-type":"Rollcall Cluster Sweep","time":"2026-11-23T12:00:00Z","detail":{}}`:                                        "the cluster is missing",
		`{"source":"rollcall","detail-type":"Rollcall Check Wanted","time":"2026-11-23T12:00:00Z","detail":{"cluster":"p","check":"c","resource":"r"}}`: "holds clusters' turns, not Rollcall Check Wanted",
	} {
		if _, err := u.handle(t.Context(), stagetest.Batch(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", raw, err, want)
		}
	}
	if _, err := u.handle(t.Context(), json.RawMessage(`{"source":"rollcall","detail-type":"Rollcall Cluster Sweep","time":"2026-11-23T12:00:00Z","detail":{"cluster":"p"}}`)); err == nil || !strings.Contains(err.Error(), "woken by its schedule and its queue") {
		t.Errorf("error %v, want what wakes it", err)
	}
	if err := u.give(t, "other", 0); err != nil || len(u.looked) > 0 || u.counts["ForeignClusters"] != 1 {
		t.Errorf("%v, looked %q, counts %v", err, u.looked, u.counts)
	}
}

// The looks of a week are not lost for one that cannot be read: then nothing is written.
func TestLooksAreNotWrittenOver(t *testing.T) {
	u := newUnit(fine)
	for range 3 {
		if err := u.give(t, "prod", 0); err != nil {
			t.Fatal(err)
		}
		u.now = u.now.Add(every)
	}
	if last := u.swept[2]; last.Turns.Made[0] != 3 || !last.Turns.Since.Equal(u.now.Add(-3*every)) {
		t.Errorf("after three turns %+v", last)
	}
	u.sweptErr = errors.New("throttled")
	if err := u.give(t, "prod", 0); err != nil || len(u.swept) != 3 {
		t.Errorf("%v, written %d times; want the turn done and nothing written", err, len(u.swept))
	}
}
