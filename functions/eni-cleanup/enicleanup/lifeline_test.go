package enicleanup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/lambda"
	"rollcall/shared/network/leak"
)

var errKilled = errors.New("the process is no more")

// lifeline is a run's way to AWS. It ends the run at a request: before the
// request is sent, or after it took effect and before its answer arrives.
// What other requests were on their way take effect too, unheard.
type lifeline struct {
	next  http.RoundTripper
	end   context.CancelFunc
	watch func(action, id string, ok bool)
	// meanwhile is what others do just before a request, if anything.
	meanwhile func(left int)

	mu    sync.Mutex
	left  int // requests until the end; negative is never
	after bool
	dead  bool
}

func (l *lifeline) RoundTrip(req *http.Request) (*http.Response, error) {
	l.mu.Lock()
	if l.dead {
		l.mu.Unlock()
		return nil, errKilled
	}
	l.left--
	last := l.left == 0
	if last {
		l.dead = true
	}
	if l.meanwhile != nil {
		l.meanwhile(l.left)
	}
	l.mu.Unlock()
	if last && !l.after {
		l.end()
		return nil, errKilled
	}
	action, id := about(req)
	// A request that was sent is not taken back.
	resp, err := l.next.RoundTrip(req.WithContext(context.WithoutCancel(req.Context())))
	if err == nil && action == "DeleteNetworkInterface" {
		l.watch(action, id, resp.StatusCode == http.StatusOK)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if last || l.dead {
		if err == nil {
			resp.Body.Close()
		}
		l.end()
		return nil, errKilled
	}
	return resp, err
}

// about is what a request to EC2 asks for.
func about(req *http.Request) (action, id string) {
	if req.Body == nil || req.Header.Get("X-Amz-Target") != "" {
		return "", ""
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return "", ""
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "", ""
	}
	return form.Get("Action"), form.Get("NetworkInterfaceId")
}

// deleteLog is what really happened.
type deleteLog struct {
	mu sync.Mutex
	// ours counts the deletes that EC2 did for the function, sent all requests.
	ours, sent map[string]int
	// theirs were deleted by somebody else, kept may never be deleted.
	theirs, kept map[string]bool
	// ready may be deleted, as they were made.
	ready map[string]bool
}

func newDeleteLog() *deleteLog {
	return &deleteLog{ours: map[string]int{}, sent: map[string]int{}, theirs: map[string]bool{}, kept: map[string]bool{}, ready: map[string]bool{}}
}

func (l *deleteLog) watch(_, id string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent[id]++
	if ok {
		l.ours[id]++
	}
}

// once is one run of a function that is new, on a lifeline of its own.
func (s *harness) once(l *deleteLog, line *lifeline) error {
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	e := s.Env()
	line.next, line.end, line.watch = s.HTTPClient().Transport, cancel, l.watch
	return runOf(ctx, s, e, line)
}

func runOf(ctx context.Context, s *harness, e lambda.Env, line *lifeline) error {
	_, err := handlerOf(e, line)(ctx, s.Sweep())
	return err
}

// settled holds the records against what happened.
func (s *harness) settled(l *deleteLog) {
	s.t.Helper()
	for id := range l.ready {
		if s.there(id) {
			s.t.Errorf("%s is left behind, and still there", id)
		}
	}
	for id := range l.kept {
		if !s.there(id) {
			s.t.Errorf("%s was deleted, and must not be", id)
		}
	}
	for id, n := range l.ours {
		if n != 1 || !l.ready[id] {
			s.t.Errorf("%s was deleted %d times; to be deleted at all: %v", id, n, l.ready[id])
		}
	}
	records := map[string]int{}
	for _, a := range s.audits() {
		if a.Result == leak.Deleted {
			records[a.Interface]++
		}
	}
	told := map[string]bool{}
	for _, id := range s.told() {
		told[id] = true
	}
	for id, n := range l.ours {
		if n == 1 && (records[id] != 1 || !told[stagetest.Cluster+"/"+id+"/deleted"]) {
			s.t.Errorf("%s: %d records, told: %v; want one, and told", id, records[id], told[stagetest.Cluster+"/"+id+"/deleted"])
		}
	}
	for id, n := range records {
		// What somebody else deleted while a run was killed that had just
		// written that it would: nobody can tell whose delete it was.
		if n != 1 || l.ours[id] != 1 && !l.theirs[id] {
			s.t.Errorf("%s: %d records; deleted by us %d times, by others: %v", id, n, l.ours[id], l.theirs[id])
		}
	}
	if left, err := s.Store.At(s.Now).Sightings(s.t.Context(), vpc); err != nil {
		s.t.Error(err)
	} else {
		for id, x := range left {
			if x.Deleting != nil {
				s.t.Errorf("%s: what was written ahead is not settled", id)
			}
		}
	}
}
