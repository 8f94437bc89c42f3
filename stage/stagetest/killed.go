package stagetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/event/inbox"
	"rollcall/stage/platform/template"
	"rollcall/tools/testfull"
)

// Kill ends an invocation at one of its writes: before the request is sent, or
// after it took effect, with its answer lost. What was on its way beside it takes
// effect too, unheard. Then a new function is given the same event, as Lambda
// does with an event that it retries and SQS with a message that was not deleted.
type Kill struct {
	t testing.TB
	b *Bench
	// at is the number of the write that ends an invocation, from 1; 0 ends none.
	// lost is set where it takes effect.
	at   int
	lost bool
	what string // its name

	mu     sync.Mutex
	end    context.CancelFunc // of the invocation; nil: none is counted
	dead   bool
	killed bool
	writes []string // that were asked for until then, in order
}

var errKilled = errors.New("the process is no more")

// attempts is how often an event is given to a function: SQS's maxReceiveCount in
// the template is larger, and Lambda tries an asynchronous event three times.
const attempts = 3

// KilledAtEachWrite plays a story once undisturbed, and once for each write that
// its invocations then have and for both ways to be killed there (make test plays the
// two in turn, write by write, and make test-full both at each). In the end all
// has to be as it is in the undisturbed run. The writes that are named, in order
// of the alphabet, are those that the story has to have: otherwise it tests less
// than it says.
//
// A story starts its bench with the Kill in its Options, makes the world ready,
// has the function invoked by Kill.Invoke, and gives what is so in the end.
func KilledAtEachWrite(t *testing.T, writes []string, story func(t *testing.T, k *Kill) any) {
	t.Helper()
	calm, want := &Kill{}, any(nil)
	if !t.Run(calm.String(), func(t *testing.T) { want = story(t, calm) }) {
		return
	}
	if diff := cmp.Diff(writes, slices.Compact(slices.Sorted(slices.Values(calm.writes)))); diff != "" {
		t.Fatalf("writes (-want +got):\n%s", diff)
	}
	t.Logf("%d writes: %s", len(calm.writes), strings.Join(calm.writes, " "))
	for at, name := range calm.writes {
		for _, lost := range []bool{false, true} {
			if lost != (at%2 == 0) && !testfull.Asked() {
				continue
			}
			k := &Kill{at: at + 1, lost: lost, what: name}
			t.Run(k.String(), func(t *testing.T) {
				got := story(t, k)
				if !k.killed {
					t.Fatalf("no invocation was killed: it had %q", k.writes)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("after the kill (-undisturbed +killed):\n%s\nthe function's log:\n%s", diff, k.b.Logs())
				}
			})
		}
	}
}

// String names the kill: "3 PutItem" is one before the third write, and
// "3 PutItem, answer lost" one after it took effect.
func (k *Kill) String() string {
	switch {
	case k.at == 0:
		return "undisturbed"
	case k.lost:
		return fmt.Sprintf("%d %s, answer lost", k.at, k.what)
	}
	return fmt.Sprintf("%d %s", k.at, k.what)
}

// Via is the way of the function's requests to others than AWS, such as Slack.
func (k *Kill) Via(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) { return k.send(req, next) })
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func (k *Kill) send(req *http.Request, next http.RoundTripper) (*http.Response, error) {
	name, writes, err := writing(req)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	if k.dead {
		k.mu.Unlock()
		return nil, errKilled
	}
	last := false
	if k.end != nil && writes {
		k.writes = append(k.writes, name)
		last = !k.killed && len(k.writes) == k.at
	}
	if last {
		k.dead, k.killed = true, true
	}
	end := k.end
	k.mu.Unlock()
	if last && !k.lost {
		end()
		return nil, errKilled
	}
	if writes { // what was sent is not taken back
		req = req.WithContext(context.WithoutCancel(req.Context()))
	}
	resp, err := next.RoundTrip(req)
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.dead {
		return resp, err
	}
	if err == nil {
		resp.Body.Close()
	}
	end()
	return nil, errKilled
}

// Invoke gives the function an event, and again until it ends well: minutes later,
// to a new one where it was killed. Its time passes in any case.
func (k *Kill) Invoke(raw json.RawMessage) {
	k.t.Helper()
	pause := k.pause()
	for attempt := 1; ; attempt++ {
		failed, why := k.once(raw)
		if len(failed) == 0 && why == nil {
			if attempt == 1 {
				k.b.Advance(pause)
			}
			return
		}
		if attempt == attempts {
			k.t.Fatalf("attempt %d: %v, messages that come again: %q\n%s", attempt, why, failed, k.b.Logs())
		}
		k.b.restart()
		k.b.Advance(pause)
		raw = again(k.t, raw, failed)
	}
}

// once is one invocation. Failed are the messages to be given again, why is set
// where that is the whole event.
func (k *Kill) once(raw json.RawMessage) (failed []string, why error) {
	ctx, cancel := context.WithTimeout(k.t.Context(), k.b.Function.Timeout)
	defer cancel()
	k.mu.Lock()
	k.end = cancel
	k.mu.Unlock()
	out, err := k.b.handler(ctx, raw)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.end = nil; k.dead { // whatever it answered is lost
		k.dead = false
		return nil, errKilled
	}
	if answer, ok := out.(inbox.Answer); ok && err == nil {
		for _, f := range answer.Failures {
			failed = append(failed, f.ID)
		}
	}
	return failed, err
}

// pause is how long it takes until the event comes again: the visibility timeout
// of the function's queue; for other events a minute, as Lambda's first retry
// (docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html).
func (k *Kill) pause() time.Duration {
	for _, m := range k.b.Template.Mappings {
		if m.FunctionName != k.b.Function.Name {
			continue
		}
		i := slices.IndexFunc(k.b.Template.Queues, func(q template.Queue) bool { return q.ARN == m.QueueARN })
		return k.b.Template.Queues[i].Visibility
	}
	return time.Minute
}

// again is the event as it comes the next time: of a batch only the messages that
// failed, if any are named.
func again(t testing.TB, raw json.RawMessage, failed []string) json.RawMessage {
	t.Helper()
	var e events.SQSEvent
	if err := json.Unmarshal(raw, &e); err != nil || len(e.Records) == 0 {
		return raw
	}
	if len(failed) > 0 {
		e.Records = slices.DeleteFunc(e.Records, func(m events.SQSMessage) bool { return !slices.Contains(failed, m.MessageId) })
	}
	for i := range e.Records {
		n := 0
		if _, err := fmt.Sscan(e.Records[i].Attributes["ApproximateReceiveCount"], &n); err != nil {
			t.Fatal(err)
		}
		e.Records[i].Attributes["ApproximateReceiveCount"] = fmt.Sprint(n + 1)
	}
	raw, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// reading are the first words of the operations that change nothing, of AWS and,
// in their second part, of Slack.
var (
	reading      = []string{"Get", "BatchGet", "Describe", "List", "Search", "Query", "Scan", "Lookup", "Simulate", "AssumeRole"}
	slackReading = []string{"auth.", "conversations.", "usergroups.", "users."}
)

// writing tells what a request asks for, and whether that may change anything.
func writing(req *http.Request) (name string, writes bool, err error) {
	target, action := req.Header.Get("X-Amz-Target"), ""
	switch _, method, slack := strings.Cut(req.URL.Path, "/api/"); {
	case target != "":
		action = target[strings.LastIndex(target, ".")+1:]
	case slack:
		return method, !slices.ContainsFunc(slackReading, func(p string) bool { return strings.HasPrefix(method, p) }), nil
	case strings.HasPrefix(req.Header.Get("Content-Type"), "application/x-www-form-urlencoded") && req.Body != nil:
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return "", false, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return "", false, err
		}
		action = form.Get("Action")
	case strings.HasPrefix(req.URL.Path, "/upload/"): // a file of Slack's
		return req.Method + " /upload", true, nil
	default: // EKS speaks REST
		return req.Method + " " + req.URL.Path, req.Method != http.MethodGet, nil
	}
	return action, !slices.ContainsFunc(reading, func(p string) bool { return strings.HasPrefix(action, p) }), nil
}
