package enicleanup

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/network/leak"
)

// empty is a table that remembers EC2's bucket as empty: the first delete waits.
type empty struct {
	Notes
	now func() time.Time
}

func (e empty) Pace(context.Context, string, string) (leak.Pace, error) {
	return leak.Pace{At: e.now(), Rate: leak.Refill}, nil
}

// sequence notes when each request was sent that asks for interfaces again, or
// deletes one.
type sequence struct {
	next http.RoundTripper
	now  func() time.Time

	mu        sync.Mutex
	described time.Time
	deleted   int
	age       time.Duration // of the look, at the latest delete
}

func (s *sequence) RoundTrip(req *http.Request) (*http.Response, error) {
	action, _ := about(req)
	body := ""
	if action != "" {
		text, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		body, req.Body = string(text), io.NopCloser(bytes.NewReader(text))
	}
	s.mu.Lock()
	switch {
	case again(action, body):
		s.described = s.now()
	case action == "DeleteNetworkInterface":
		s.deleted++
		s.age = s.now().Sub(s.described)
	}
	s.mu.Unlock()
	return s.next.RoundTrip(req)
}

// TestStaleLookDeletesNothing: while a delete waits for its turn, what was seen
// of its interface can grow too old. It is then described once more.
func TestStaleLookDeletesNothing(t *testing.T) {
	s := open(t, stagetest.Options{})
	id := s.make(s.left())
	s.sweep()
	s.Advance(cadence)

	e := s.Env()
	var late time.Duration
	right := e.Now
	e.Now = func() time.Time { return right().Add(late) }
	waits := 0
	e.Sleep = func(_ context.Context, d time.Duration) error {
		if waits++; waits == 1 {
			d = 2 * fresh
		}
		late += d
		return nil
	}
	transport := s.HTTPClient().Transport
	seen := &sequence{next: transport, now: e.Now}
	e.AWS.HTTPClient = &http.Client{Transport: seen}
	h := assemble(e, readerOf(e))
	h.notes = empty{h.notes, e.Now}
	if _, err := h.handle(t.Context(), s.Sweep()); err != nil {
		t.Fatal(err)
	}
	if waits == 0 || seen.deleted != 1 || s.there(id) || seen.age >= fresh {
		t.Errorf("%d waits, %d deletes, there: %v, %s after it was described; want one within %s", waits, seen.deleted, s.there(id), seen.age, fresh)
	}
}

// TestRoomBeforeTheDeadline: a run that has no more than its room left before
// its deadline deletes nothing, and leaves it to the next one.
func TestRoomBeforeTheDeadline(t *testing.T) {
	for _, test := range []struct {
		name    string
		left    time.Duration
		deletes bool
	}{
		{"the room alone is left", room, false},
		{"an hour is left", time.Hour, true},
	} {
		s := open(t, stagetest.Options{})
		id := s.make(s.left())
		s.sweep()
		s.Advance(cadence)
		ctx, cancel := context.WithTimeout(t.Context(), test.left)
		h := assemble(s.Env(), readerOf(s.Env()))
		left := 0
		h.Count = func(name string, n int) {
			if name == "LeftForNextRun" {
				left += n
			}
		}
		if _, err := h.handle(ctx, s.Sweep()); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		cancel()
		if s.there(id) == test.deletes || (left == 0) != test.deletes || len(s.audits()) > 0 != test.deletes {
			t.Errorf("%s: there: %v, %d left for the next run, %d audits", test.name, s.there(id), left, len(s.audits()))
		}
	}
}
