package router_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/platform/queue"
	"rollcall/stage/platform/router"
	"rollcall/stage/platform/template"
	"rollcall/stage/simclock"
)

var start = time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)

const queues = "arn:aws:sqs:us-west-2:123456789012:"

// call is an invocation that the functions of a test got.
type call struct {
	Name  string
	Async bool
	Event string
}

// functions stands in for the Lambda runtime.
type functions struct {
	mu     sync.Mutex
	calls  []call
	answer func(c call) (string, error) // nil: success without an answer
}

func (f *functions) record(c call) (string, error) {
	f.mu.Lock()
	f.calls = append(f.calls, c)
	answer := f.answer
	f.mu.Unlock()
	if answer == nil {
		return "", nil
	}
	return answer(c)
}

func (f *functions) Invoke(_ context.Context, name string, event []byte) (lambdaruntime.Result, error) {
	payload, err := f.record(call{Name: name, Event: string(event)})
	res := lambdaruntime.Result{Payload: []byte(payload)}
	if strings.Contains(payload, "errorMessage") {
		res.FunctionError = "Unhandled"
	}
	return res, err
}

func (f *functions) InvokeAsync(name string, event []byte) (string, error) {
	return f.record(call{Name: name, Async: true, Event: string(event)})
}

func (f *functions) answers(g func(c call) (string, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = g
}

func (f *functions) got() []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]call(nil), f.calls...)
}

// stage is a router that runs, on a clock that the test moves.
type stage struct {
	*router.Router
	clock     *simclock.Clock
	queues    *queue.Queues
	functions *functions

	mu    sync.Mutex
	trace []router.Entry
	fault map[string]router.Fault // by event id
}

func load(t *testing.T, change ...string) (*template.Template, error) {
	t.Helper()
	b, err := os.ReadFile("testdata/Rollcall.template.json")
	if err != nil {
		t.Fatal(err)
	}
	source := string(b)
	for i := 0; i+1 < len(change); i += 2 {
		if !strings.Contains(source, change[i]) {
			t.Fatalf("the template has no %q", change[i])
		}
		source = strings.Replace(source, change[i], change[i+1], 1)
	}
	return template.Parse([]byte(source), template.Options{})
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := stageOn(t, simclock.NewManual(start))
	// The schedule waits before the test moves the clock.
	s.waiting(t, 1)
	return s
}

func stageOn(t *testing.T, c *simclock.Clock) *stage {
	t.Helper()
	tpl, err := load(t)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{clock: c, functions: &functions{}, fault: map[string]router.Fault{}}
	var mu sync.Mutex
	n := 0
	newID := func() string {
		mu.Lock()
		defer mu.Unlock()
		n++
		return fmt.Sprintf("id-%d", n)
	}
	s.queues = queue.New(queue.Options{Clock: s.clock, NewID: newID})
	for _, q := range tpl.Queues {
		if err := s.queues.Add(queue.Config{Name: q.Name, ARN: q.ARN, URL: q.URL, FIFO: q.FIFO, ContentDedup: q.ContentDedup, Delay: q.Delay,
			Visibility: &q.Visibility, Retention: q.Retention, DeadLetterARN: q.DeadLetterARN, MaxReceive: q.MaxReceive}); err != nil {
			t.Fatal(err)
		}
	}
	s.Router, err = router.New(router.Options{
		Template: tpl, Functions: s.functions, Queues: s.queues, Clock: s.clock, NewID: newID,
		Faults: func(e router.Event) router.Fault { return s.fault[e.ID] },
		Trace: func(e router.Entry) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.trace = append(s.trace, e)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return s
}

// waiting waits until n sleepers are on the clock.
func (s *stage) waiting(t *testing.T, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d sleepers on the clock", n), func() bool { return s.clock.Waiting() == n })
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("not in 20 s: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func (s *stage) put(t *testing.T, event, bus string) {
	t.Helper()
	if _, err := s.Put([]byte(event), bus); err != nil {
		t.Fatalf("put %s: %v", event, err)
	}
}

func (s *stage) kinds(event string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, e := range s.trace {
		if e.Event == event {
			out = append(out, string(e.Kind))
		}
	}
	return strings.Join(out, ", ")
}

func launch(id string) string {
	return `{"version":"0","id":"` + id + `","detail-type":"EC2 Instance Launch Successful","source":"aws.autoscaling","account":"123456789012",` +
		`"time":"2026-11-20T15:00:00Z","region":"us-west-2","resources":[],"detail":{"EC2InstanceId":"i-1"}}`
}

func sameJSON(t *testing.T, what, got, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(got), &a); err != nil {
		t.Fatalf("%s: %v in %q", what, err, got)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(b, a); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func (s *stage) drain(t *testing.T, name string) []queue.Message {
	t.Helper()
	var out []queue.Message
	for {
		d, err := s.queues.Depth(queues + name)
		if err != nil {
			t.Fatal(err)
		}
		if d.Visible == 0 {
			return out
		}
		got, err := s.queues.Receive(context.Background(), queues+name, 10, 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, got...)
	}
}

func TestRuleDelivers(t *testing.T) {
	s := newStage(t)
	s.put(t, launch("e1"), "default")
	calls := s.functions.got()
	if len(calls) != 1 || calls[0].Name != "watch" || !calls[0].Async {
		t.Fatalf("got %+v, want one asynchronous call of watch", calls)
	}
	sameJSON(t, "event", calls[0].Event, launch("e1"))
	d, err := s.queues.Depth(queues + "delay")
	if err != nil || d != (queue.Depth{Delayed: 1}) {
		t.Errorf("delay queue: got %+v, %v; want one delayed", d, err)
	}
	if got, want := s.kinds("e1"), "event put, matched, delivered, delivered"; got != want {
		t.Errorf("trace: got %q, want %q", got, want)
	}
}

func TestPutFillsTheEnvelope(t *testing.T) {
	s := newStage(t)
	s.put(t, `{"source":"aws.autoscaling","detail-type":"x"}`, "arn:aws:events:us-west-2:123456789012:event-bus/default")
	sameJSON(t, "event", s.functions.got()[0].Event, `{"version":"0","id":"id-1","detail-type":"x","source":"aws.autoscaling","account":"123456789012",
		"time":"2026-11-20T15:00:00Z","region":"us-west-2","resources":[],"detail":{}}`)
	s.put(t, `{"source":"nobody","detail-type":"x","id":"e2"}`, "default")
	if got, want := s.kinds("e2"), "event put, no rule"; got != want {
		t.Errorf("trace: got %q, want %q", got, want)
	}
	for _, tt := range []struct{ event, bus string }{
		{launch("e"), "nope"}, {`[]`, "default"}, {`null`, "default"}, {`{`, "default"}, {`{"detail-type":"x"}`, "default"}, {`{"source":1,"detail-type":"x"}`, "default"},
	} {
		if _, err := s.Put([]byte(tt.event), tt.bus); err == nil {
			t.Errorf("Put(%s, %s): got no error", tt.event, tt.bus)
		}
	}
	if _, err := s.Put([]byte(launch("e")), "nope"); !errors.Is(err, router.ErrNoBus) {
		t.Errorf("got %v, want ErrNoBus", err)
	}
}

func TestOwnBus(t *testing.T) {
	s := newStage(t)
	event := `{"id":"e1","source":"rollcall","detail-type":"Found"}`
	s.put(t, event, "default")
	if got, want := s.kinds("e1"), "event put, no rule"; got != want {
		t.Errorf("trace: got %q, want %q", got, want)
	}
	s.put(t, event, "arn:aws:events:us-west-2:123456789012:event-bus/rollcall")
	if got := s.drain(t, "dead"); len(got) != 1 {
		t.Fatalf("got %d messages, want 1; %s", len(got), s.kinds("e1"))
	}
}

func TestFaults(t *testing.T) {
	s := newStage(t)
	s.fault["lost"] = router.Fault{Lose: true}
	s.fault["twice"] = router.Fault{Copies: 1}
	s.fault["late"] = router.Fault{Delay: time.Minute}
	s.fault["overtaken"] = router.Fault{Reorder: true}
	ids := func() string {
		var out []string
		for _, c := range s.functions.got() {
			var e struct{ ID string }
			if err := json.Unmarshal([]byte(c.Event), &e); err != nil {
				t.Fatal(err)
			}
			out = append(out, e.ID)
		}
		return strings.Join(out, " ")
	}
	for _, id := range []string{"overtaken", "lost", "late", "twice", "plain"} {
		s.put(t, launch(id), "default")
	}
	if got, want := ids(), "twice twice overtaken plain"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.fault["last"] = router.Fault{Reorder: true}
	s.put(t, launch("last"), "default")
	// The schedule, the poller with delayed messages, "late", and the limits
	// of the two that may be overtaken.
	s.waiting(t, 5)
	s.clock.Advance(time.Minute)
	eventually(t, "both late ones", func() bool {
		got := ids()
		return got == "twice twice overtaken plain late last" || got == "twice twice overtaken plain last late"
	})
}

func TestRetriesThenDeadLetter(t *testing.T) {
	s := newStage(t)
	s.functions.answers(func(c call) (string, error) {
		if c.Name == "watch" {
			return "", errors.New("throttled")
		}
		return "", nil
	})
	s.put(t, launch("e1"), "default")
	for _, wait := range []time.Duration{time.Second, 2 * time.Second} {
		// The schedule, the poller with the delayed message, and the retry.
		s.waiting(t, 3)
		s.clock.Advance(wait)
	}
	eventually(t, "the dead letter", func() bool { return strings.HasSuffix(s.kinds("e1"), "dead letter") })
	// The first retry may be seen before or after the other target's delivery.
	got := strings.Split(s.kinds("e1"), ", ")
	sort.Strings(got)
	if d := cmp.Diff([]string{"dead letter", "delivered", "event put", "matched", "retrying", "retrying"}, got); d != "" {
		t.Errorf("trace (-want +got):\n%s", d)
	}
	dead := s.drain(t, "dead")
	if len(dead) != 1 {
		t.Fatalf("got %d dead letters, want 1", len(dead))
	}
	sameJSON(t, "dead letter", dead[0].Body, launch("e1"))
	attributes := map[string]string{}
	for name, a := range dead[0].Attributes {
		attributes[name] = *a.StringValue
	}
	want := map[string]string{
		"RULE_ARN": "arn:aws:events:us-west-2:123456789012:rule/launches", "TARGET_ARN": "arn:aws:lambda:us-west-2:123456789012:function:watch",
		"ERROR_CODE": "SDK_CLIENT_ERROR", "ERROR_MESSAGE": "throttled", "RETRY_ATTEMPTS": "2", "EXHAUSTED_RETRY_CONDITION": "MaximumRetryAttempts",
	}
	if d := cmp.Diff(want, attributes); d != "" {
		t.Errorf("attributes (-want +got):\n%s", d)
	}
}

func TestFinalErrorIsNotRetried(t *testing.T) {
	s := newStage(t)
	s.functions.answers(func(call) (string, error) {
		return "", fmt.Errorf("function: %w", lambdaruntime.ErrNoFunction)
	})
	s.put(t, launch("e1"), "default")
	if got, want := s.kinds("e1"), "event put, matched, dead letter, delivered"; got != want {
		t.Errorf("trace: got %q, want %q", got, want)
	}
}

func TestSchedules(t *testing.T) {
	s := newStage(t)
	s.clock.Advance(5 * time.Minute)
	eventually(t, "the sweep", func() bool { return len(s.functions.got()) == 1 })
	sameJSON(t, "rule", s.functions.got()[0].Event, `{"version":"0","id":"id-1","detail-type":"Scheduled Event","source":"aws.events","account":"123456789012",
		"time":"2026-11-20T15:05:00Z","region":"us-west-2","resources":["arn:aws:events:us-west-2:123456789012:rule/sweep"],"detail":{}}`)
	s.waiting(t, 1)
	s.clock.Advance(5 * time.Minute)
	eventually(t, "the next sweep", func() bool { return len(s.functions.got()) == 2 })
}

// records reads the ids and bodies of an SQS event.
func records(t *testing.T, c call) (ids []string) {
	t.Helper()
	var e struct {
		Records []struct {
			MessageID string
			MD5OfBody string
			Body      string
		}
	}
	if err := json.Unmarshal([]byte(c.Event), &e); err != nil {
		t.Fatal(err)
	}
	for _, r := range e.Records {
		ids = append(ids, r.MessageID)
	}
	return ids
}

func TestMappingPartialFailure(t *testing.T) {
	s := newStage(t)
	var bad string
	s.functions.answers(func(c call) (string, error) {
		ids := records(t, c)
		if len(ids) == 0 {
			return "", nil // the sweep
		}
		if bad == "" {
			bad = ids[0]
			return `{"batchItemFailures":[{"itemIdentifier":"` + bad + `"}]}`, nil
		}
		return `{"batchItemFailures":[]}`, nil
	})
	for i := range 3 {
		if _, err := s.queues.Send(queues+"delay", queue.Outgoing{Body: fmt.Sprintf(`{"source":"aws.ec2","n":%d}`, i)}); err != nil {
			t.Fatal(err)
		}
	}
	s.waiting(t, 2)
	s.clock.Advance(10 * time.Minute)
	eventually(t, "the batch is settled", func() bool {
		d, err := s.queues.Depth(queues + "delay")
		return err == nil && d == queue.Depth{InFlight: 1}
	})
	batches := func() (out []int) {
		for _, c := range s.functions.got() {
			if c.Name == "join" && strings.Contains(c.Event, "Records") {
				out = append(out, len(records(t, c)))
			}
		}
		return out
	}
	if d := cmp.Diff([]int{3}, batches()); d != "" {
		t.Errorf("batches (-want +got):\n%s", d)
	}
	eventually(t, "the poller waits for the message to show up again", func() bool { return s.clock.Waiting() == 2 })
	s.clock.Advance(5 * time.Minute)
	eventually(t, "the queue is empty", func() bool {
		d, err := s.queues.Depth(queues + "delay")
		return err == nil && d == queue.Depth{}
	})
	if d := cmp.Diff([]int{3, 1}, batches()); d != "" {
		t.Errorf("batches (-want +got):\n%s", d)
	}
}

func TestMappingFailsToDeadLetterQueue(t *testing.T) {
	s := newStage(t)
	s.functions.answers(func(c call) (string, error) { return `{"errorMessage":"as told"}`, nil })
	if _, err := s.queues.Send(queues+"delay", queue.Outgoing{Body: `{"source":"aws.ec2"}`}); err != nil {
		t.Fatal(err)
	}
	s.waiting(t, 2)
	for _, wait := range []time.Duration{10 * time.Minute, 5 * time.Minute, 5 * time.Minute} {
		s.clock.Advance(wait)
		eventually(t, "nothing is in hand", func() bool {
			d, err := s.queues.Depth(queues + "delay")
			return err == nil && d.Held == 0 && d.Visible == 0
		})
	}
	eventually(t, "the dead letter", func() bool {
		d, err := s.queues.Depth(queues + "dead")
		return err == nil && d.Visible == 1
	})
}

func TestNewRefuses(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"no permission for a function", `"SourceArn": {"Fn::GetAtt": ["Launches", "Arn"]}`, `"SourceArn": {"Fn::GetAtt": ["Off", "Arn"]}`, "rule Launches: no AWS::Lambda::Permission"},
		{"no policy for a queue", `[{"Ref": "Delay"}, {"Ref": "Dead"}`, `[{"Ref": "Dead"}`, "rule Launches: no AWS::SQS::QueuePolicy lets its events into queue Delay"},
		{"no policy for a dead-letter queue", `, {"Ref": "Dead"}`, ``, "into queue Dead"},
		{"policy denies", `"aws:SecureTransport": "false"`, `"aws:SecureTransport": "true"`, "no AWS::SQS::QueuePolicy"},
		{"role may not receive", `"sqs:ReceiveMessage", `, ``, "event source mapping Mapping: its role may not sqs:ReceiveMessage"},
		{"pattern", `{"source": ["rollcall"]}`, `{"source": [{"regex": "x"}]}`, "rule OnBus: event pattern"},
		{"a schedule that no rule has", `rate(5 minutes)`, `cron(0 7 * * ? *)`, "rule Sweep: schedule \"cron(0 7 * * ? *)\" is not understood"},
		{"schedule", `rate(5 minutes)`, `rate(5 minute)`, "rule Sweep: rate(5 minute)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tpl, err := load(t, tt.old, tt.new)
			if err != nil {
				t.Fatal(err)
			}
			_, err = router.New(router.Options{Template: tpl})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestScaledClock runs the delay queue on a clock that runs by itself, an
// hour a second.
func TestScaledClock(t *testing.T) {
	s := stageOn(t, simclock.New(start, time.Now(), 3600))
	const events = 40
	for i := range events {
		s.put(t, launch(fmt.Sprint("e", i)), "default")
	}
	joined := func() (n int) {
		for _, c := range s.functions.got() {
			if c.Name == "join" {
				n += len(records(t, c))
			}
		}
		return n
	}
	eventually(t, "all are checked after their delay", func() bool { return joined() == events })
	if got := s.clock.Now().Sub(start); got < 10*time.Minute {
		t.Errorf("stage time passed: got %v, want at least the queue's delay", got)
	}
}
