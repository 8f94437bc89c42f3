package lambdaruntime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/simclock"
)

// probe is the path of the function binary under testdata.
var probe string

func TestMain(m *testing.M) {
	if binary := os.Getenv("ROLLCALL_TEST_STAGE_PROBE"); binary != "" {
		os.Exit(playStage(binary))
	}
	os.Exit(build(m))
}

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "probe")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	probe = filepath.Join(dir, "bootstrap")
	cmd := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", probe, "./testdata/probe")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the probe:", err)
		return 1
	}
	return m.Run()
}

// playStage makes the test binary a stage that is going to be killed: it runs
// one function process, tells its number and waits.
func playStage(binary string) int {
	r := lambdaruntime.New(lambdaruntime.Options{NewID: func() string { return "request" }})
	if err := r.Add(lambdaruntime.Function{Name: "probe", Binary: binary, Timeout: time.Minute, Memory: 128}); err != nil {
		fmt.Println(err)
		return 1
	}
	res, err := r.Invoke(context.Background(), "probe", []byte(`{}`))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	var a answer
	if err := json.Unmarshal(res.Payload, &a); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(a.PID)
	time.Sleep(time.Minute) // killed long before
	return 1
}

type answer struct {
	PID       int
	RequestID string
	ARN       string
	Left      time.Duration
	Value     string
	Child     int
}

// stage is a runtime with what it reported.
type stage struct {
	*lambdaruntime.Runtime
	clock *simclock.Clock

	mu       sync.Mutex
	lines    []lambdaruntime.Line
	observed []lambdaruntime.Invocation
	sent     []sent
}

type sent struct {
	ARN, Body  string
	Attributes map[string]string
}

func newStage(t *testing.T, f lambdaruntime.Function) *stage {
	t.Helper()
	s := &stage{clock: simclock.NewManual(time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC))}
	var n atomic.Int64
	s.Runtime = lambdaruntime.New(lambdaruntime.Options{
		Clock: s.clock, NewID: func() string { return fmt.Sprintf("request-%d", n.Add(1)) },
		Region: "us-west-2", AccountID: "123456789012", InitTimeout: time.Minute,
		Log: func(l lambdaruntime.Line) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.lines = append(s.lines, l)
		},
		Observe: func(i lambdaruntime.Invocation) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.observed = append(s.observed, i)
		},
		Send: func(arn, body string, attributes map[string]string) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.sent = append(s.sent, sent{arn, body, attributes})
			return nil
		},
	})
	t.Cleanup(s.Close)
	if f.Timeout == 0 {
		f.Timeout = time.Minute
	}
	f.Name, f.ARN, f.Binary, f.Handler, f.Memory = "probe", "arn:aws:lambda:us-west-2:123456789012:function:probe", probe, "bootstrap", 128
	if err := s.Add(f); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stage) text(stream string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, l := range s.lines {
		if l.Stream == stream {
			out = append(out, l.RequestID+": "+l.Text)
		}
	}
	return strings.Join(out, "\n")
}

func (s *stage) call(t *testing.T, event string) lambdaruntime.Result {
	t.Helper()
	res, err := s.Invoke(context.Background(), "probe", []byte(event))
	if err != nil {
		t.Fatalf("invoke %s: %v", event, err)
	}
	return res
}

func read(t *testing.T, res lambdaruntime.Result) answer {
	t.Helper()
	if res.FunctionError != "" {
		t.Fatalf("got error %q: %s", res.FunctionError, res.Payload)
	}
	var a answer
	if err := json.Unmarshal(res.Payload, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// eventually waits for what other processes do.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("not in 30 s: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil || p.Signal(syscall.Signal(0)) != nil {
		return false
	}
	// In a container without a reaper the killed grandchild stays a zombie.
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func TestAnswerAndReuse(t *testing.T) {
	s := newStage(t, lambdaruntime.Function{Concurrency: 1})
	first := s.call(t, `{}`)
	a := read(t, first)
	if a.RequestID != "request-1" || a.ARN != "arn:aws:lambda:us-west-2:123456789012:function:probe" {
		t.Errorf("got %+v", a)
	}
	if a.Left <= 0 || a.Left > time.Minute {
		t.Errorf("time left: got %v, want up to a minute", a.Left)
	}
	if first.Init <= 0 {
		t.Errorf("init of a cold start: got %v", first.Init)
	}
	second := s.call(t, `{}`)
	if got := read(t, second).PID; got != a.PID {
		t.Errorf("got process %d, want %d again", got, a.PID)
	}
	if second.Init != 0 {
		t.Errorf("init of a warm start: got %v, want 0", second.Init)
	}
	if first.MaxMemoryMB < 1 || first.MaxMemoryMB > 500 {
		t.Errorf("memory: got %d MB", first.MaxMemoryMB)
	}
	log := s.text("platform")
	for _, want := range []string{"START RequestId: request-1", "END RequestId: request-1", "REPORT RequestId: request-1\tDuration: ", "Memory Size: 128 MB\tMax Memory Used: ", "Init Duration: "} {
		if !strings.Contains(log, want) {
			t.Errorf("log lacks %q:\n%s", want, log)
		}
	}
}

func TestErrorObject(t *testing.T) {
	s := newStage(t, lambdaruntime.Function{Concurrency: 1})
	pid := read(t, s.call(t, `{}`)).PID
	res := s.call(t, `{"Do":"error"}`)
	if got, want := string(res.Payload), `{"errorMessage":"as told","errorType":"errorString"}`; res.FunctionError != "Unhandled" || got != want {
		t.Errorf("got %q %s, want Unhandled %s", res.FunctionError, got, want)
	}
	if got := read(t, s.call(t, `{}`)).PID; got != pid {
		t.Errorf("got process %d after an error, want %d", got, pid)
	}
}

func TestCrashesRestart(t *testing.T) {
	for _, tt := range []struct{ do, want string }{
		{"panic", `"errorMessage":"as told"`},
		{"exit", `"Runtime.ExitError"`},
	} {
		t.Run(tt.do, func(t *testing.T) {
			s := newStage(t, lambdaruntime.Function{Concurrency: 1})
			before := read(t, s.call(t, `{}`)).PID
			res := s.call(t, `{"Do":"`+tt.do+`"}`)
			if res.FunctionError != "Unhandled" || !strings.Contains(string(res.Payload), tt.want) {
				t.Errorf("got %q %s, want %s", res.FunctionError, res.Payload, tt.want)
			}
			if tt.do == "exit" && !strings.Contains(string(res.Payload), "Runtime exited with error: exit status 3") {
				t.Errorf("got %s, want the exit status", res.Payload)
			}
			after := s.call(t, `{}`)
			if read(t, after).PID == before || after.Init == 0 {
				t.Errorf("got the same process after a crash")
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	s := newStage(t, lambdaruntime.Function{Timeout: 1500 * time.Millisecond, Concurrency: 1})
	pid := read(t, s.call(t, `{}`)).PID
	res := s.call(t, `{"Do":"sleep","For":600000000000}`)
	if res.FunctionError != "Unhandled" || !strings.Contains(string(res.Payload), "Task timed out after 1.50 seconds") {
		t.Errorf("got %q %s, want a timeout", res.FunctionError, res.Payload)
	}
	if alive(pid) {
		t.Errorf("process %d is alive after its timeout", pid)
	}
}

func TestInitFailure(t *testing.T) {
	s := newStage(t, lambdaruntime.Function{Env: map[string]string{"PROBE_INIT": "exit"}})
	res := s.call(t, `{}`)
	if res.FunctionError != "Unhandled" || !strings.Contains(string(res.Payload), "exit status 4") {
		t.Errorf("got %q %s, want exit status 4", res.FunctionError, res.Payload)
	}
}

func TestEnvironmentIsNotInherited(t *testing.T) {
	t.Setenv("PROBE_SECRET", "of the stage")
	s := newStage(t, lambdaruntime.Function{Env: map[string]string{"PROBE_OWN": "own", "AWS_LAMBDA_FUNCTION_NAME": "other"}})
	for name, want := range map[string]string{
		"PROBE_SECRET": "", "PROBE_OWN": "own", "AWS_LAMBDA_FUNCTION_NAME": "probe", "AWS_REGION": "us-west-2",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "128", "AWS_LAMBDA_LOG_GROUP_NAME": "/aws/lambda/probe",
	} {
		if got := read(t, s.call(t, `{"Do":"env","Name":"`+name+`"}`)).Value; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestConfigure(t *testing.T) {
	s := newStage(t, lambdaruntime.Function{Concurrency: 1, Env: map[string]string{"PROBE_OWN": "old"}})
	first := read(t, s.call(t, `{"Do":"env","Name":"PROBE_OWN"}`))
	if err := s.Configure("probe", map[string]string{"PROBE_OWN": "new"}); err != nil {
		t.Fatal(err)
	}
	second := read(t, s.call(t, `{"Do":"env","Name":"PROBE_OWN"}`))
	if first.Value != "old" || second.Value != "new" {
		t.Errorf("got %q, then %q, want old, then new", first.Value, second.Value)
	}
	if err := s.Configure("other", nil); !errors.Is(err, lambdaruntime.ErrNoFunction) {
		t.Errorf("a function that is not there: %v", err)
	}
}

func TestLog(t *testing.T) {
	s := newStage(t, lambdaruntime.Function{})
	s.call(t, `{"Do":"log"}`)
	eventually(t, "both lines are there", func() bool {
		return s.text("stdout") == "request-1: to stdout" && s.text("stderr") == "request-1: to stderr"
	})
}

func TestConcurrency(t *testing.T) {
	s := newStage(t, lambdaruntime.Function{Concurrency: 3})
	var mu sync.Mutex
	pids := map[int]bool{}
	var all sync.WaitGroup
	for range 9 {
		all.Go(func() {
			res, err := s.Invoke(context.Background(), "probe", []byte(`{"Do":"sleep","For":50000000}`))
			if err != nil {
				t.Error(err)
				return
			}
			var a answer
			if err := json.Unmarshal(res.Payload, &a); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			pids[a.PID] = true
		})
	}
	all.Wait()
	if len(pids) < 2 || len(pids) > 3 {
		t.Errorf("got %d processes, want 2 or 3", len(pids))
	}
	if got := s.Running(); got != 0 {
		t.Errorf("running: got %d, want 0", got)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	s := newStage(t, lambdaruntime.Function{})
	a := read(t, s.call(t, `{"Do":"child"}`))
	stuck := make(chan error, 1)
	go func() {
		_, err := s.Invoke(context.Background(), "probe", []byte(`{"Do":"sleep","For":600000000000}`))
		stuck <- err
	}()
	eventually(t, "the second invocation runs", func() bool { return strings.Contains(s.text("platform"), "START RequestId: request-2") })
	s.Close()
	if err := <-stuck; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	for _, pid := range []int{a.PID, a.Child} {
		eventually(t, fmt.Sprintf("process %d has ended", pid), func() bool { return !alive(pid) })
	}
	if _, err := s.Invoke(context.Background(), "probe", []byte(`{}`)); !errors.Is(err, lambdaruntime.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

func TestAdd(t *testing.T) {
	r := lambdaruntime.New(lambdaruntime.Options{})
	defer r.Close()
	for _, f := range []lambdaruntime.Function{
		{Name: "a", Binary: "/nonexistent", Timeout: 1, Memory: 1},
		{Name: "a", Binary: t.TempDir(), Timeout: 1, Memory: 1},
		{Name: "a", Binary: "runtime_test.go", Timeout: 1, Memory: 1},
		{Name: "a", Binary: probe, Memory: 1},
	} {
		if err := r.Add(f); err == nil {
			t.Errorf("Add(%+v): got no error", f)
		}
	}
	if _, err := r.Invoke(context.Background(), "nope", nil); !errors.Is(err, lambdaruntime.ErrNoFunction) {
		t.Errorf("got %v, want ErrNoFunction", err)
	}
}

func TestAsyncRetriesAndDeadLetters(t *testing.T) {
	s := newStage(t, lambdaruntime.Function{MaxRetries: -1, OnFailureARN: "arn:failed", DeadLetterARN: "arn:dead", OnSuccessARN: "arn:done"})
	id, err := s.InvokeAsync("probe", []byte(`{"Do":"error"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, wait := range []time.Duration{time.Minute, 2 * time.Minute} {
		eventually(t, "the event backs off", func() bool { return s.BackingOff() == 1 && s.clock.Waiting() == 1 })
		if got := s.Running(); got != 0 {
			t.Errorf("running while backing off: got %d, want 0", got)
		}
		s.clock.Advance(wait - time.Second)
		if got := s.BackingOff(); got != 1 {
			t.Errorf("backing off before %v: got %d, want 1", wait, got)
		}
		s.clock.Advance(time.Second)
	}
	eventually(t, "both are sent", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.sent) == 2 })
	eventually(t, "nothing runs", func() bool { return s.Running() == 0 })
	s.mu.Lock()
	defer s.mu.Unlock()
	var attempts []string
	for _, o := range s.observed {
		attempts = append(attempts, fmt.Sprintf("%s %d %v %s", o.Result.RequestID, o.Attempt, o.Async, o.Result.FunctionError))
	}
	if d := cmp.Diff([]string{id + " 1 true Unhandled", id + " 2 true Unhandled", id + " 3 true Unhandled"}, attempts); d != "" {
		t.Errorf("attempts (-want +got):\n%s", d)
	}
	want := []sent{
		{ARN: "arn:failed", Body: `{"requestContext":{"approximateInvokeCount":3,"condition":"RetriesExhausted","functionArn":"arn:aws:lambda:us-west-2:123456789012:function:probe:$LATEST","requestId":"` + id + `"},` +
			`"requestPayload":{"Do":"error"},"responseContext":{"executedVersion":"$LATEST","functionError":"Unhandled","statusCode":200},` +
			`"responsePayload":{"errorMessage":"as told","errorType":"errorString"},"timestamp":"2026-11-20T15:03:00.000Z","version":"1.0"}`},
		{ARN: "arn:dead", Body: `{"Do":"error"}`, Attributes: map[string]string{"RequestID": id, "ErrorCode": "200", "ErrorMessage": "as told"}},
	}
	if d := cmp.Diff(want, s.sent); d != "" {
		t.Errorf("sent (-want +got):\n%s", d)
	}
}

func TestAsyncSuccess(t *testing.T) {
	s := newStage(t, lambdaruntime.Function{MaxRetries: 0, OnFailureARN: "arn:failed", OnSuccessARN: "arn:done"})
	if _, err := s.InvokeAsync("probe", []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the record is sent", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.sent) == 1 })
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := s.sent[0]; got.ARN != "arn:done" || !strings.Contains(got.Body, `"condition":"Success"`) {
		t.Errorf("got %+v, want a record of success", got)
	}
}
