package lambdaruntime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"
)

func TestDecide(t *testing.T) {
	failed := Result{FunctionError: "Unhandled"}
	for _, tt := range []struct {
		name         string
		res          Result
		attempt, max int
		age          time.Duration
		want         verdict
	}{
		{"success", Result{}, 1, 2, time.Minute, succeeded},
		{"late success", Result{}, 3, 2, 7 * time.Hour, succeeded},
		{"first failure", failed, 1, 2, time.Minute, again},
		{"last failure", failed, 3, 2, time.Minute, exhausted},
		{"no retries", failed, 1, 0, time.Minute, exhausted},
		{"too old", failed, 1, 2, 7 * time.Hour, tooOld},
	} {
		if got := decide(tt.res, tt.attempt, tt.max, tt.age, 6*time.Hour); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestCPUQuota: a function's share of a core is its memory's part of 1,769 MB.
func TestCPUQuota(t *testing.T) {
	for memory, want := range map[int]time.Duration{
		128: 7235 * time.Microsecond, 256: 14471 * time.Microsecond, 512: 28942 * time.Microsecond,
		1769: 100 * time.Millisecond, 3538: 200 * time.Millisecond,
		1: time.Millisecond, // the least that the scheduler takes
	} {
		if got := cpuQuota(CPUShare(memory)).Truncate(time.Microsecond); got != want {
			t.Errorf("%d MB: %s of each %s, want %s", memory, got, cpuPeriod, want)
		}
	}
}

// TestInside: a program that is called as Go is started, kept, ended and answered for
// as a process is.
func TestInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts, ended := 0, make(chan error, 10)
		var lines []string
		r := New(Options{Region: "eu-west-1", NewID: func() string { return "id" }, Log: func(l Line) {
			if l.Stream == "stdout" {
				lines = append(lines, l.Text)
			}
		}})
		defer r.Close()
		program := func(life context.Context, env map[string]string, log io.Writer) func(context.Context, json.RawMessage) (any, error) {
			starts++
			return func(ctx context.Context, event json.RawMessage) (any, error) {
				fmt.Fprintln(log, string(event))
				switch string(event) {
				case `"fail"`:
					return nil, fmt.Errorf("what: %w", errors.New("why"))
				case `"panic"`:
					panic("boom")
				case `"wait"`:
					<-ctx.Done()
					ended <- ctx.Err()
					<-life.Done()
					ended <- life.Err()
					return nil, nil
				}
				lc, _ := lambdacontext.FromContext(ctx)
				return []string{env["AWS_REGION"], env["X"], lc.AwsRequestID}, nil
			}
		}
		if err := r.Add(Function{Name: "f", Inside: program, Env: map[string]string{"X": "1"}, Timeout: 3 * time.Second, Memory: 128}); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			event, payload, failed string
			starts                 int
		}{
			{`"a"`, `["eu-west-1","1","id"]`, "", 1},
			{`"b"`, `["eu-west-1","1","id"]`, "", 1},
			{`"fail"`, `{"errorMessage":"what: why","errorType":"wrapError"}`, "Unhandled", 1},
			{`"c"`, `["eu-west-1","1","id"]`, "", 1},
			{`"panic"`, `{"errorMessage":"boom","errorType":"string"}`, "Unhandled", 1},
			{`"d"`, `["eu-west-1","1","id"]`, "", 2},
			{`"wait"`, `{"errorMessage":"RequestId: id Error: Task timed out after 3.00 seconds","errorType":"Sandbox.Timedout"}`, "Unhandled", 2},
			{`"e"`, `["eu-west-1","1","id"]`, "", 3},
		} {
			began := time.Now()
			got, err := r.Invoke(t.Context(), "f", []byte(step.event))
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Payload) != step.payload || got.FunctionError != step.failed || starts != step.starts {
				t.Errorf("%s: %s %q after %d starts, want %s %q after %d", step.event, got.Payload, got.FunctionError, starts, step.payload, step.failed, step.starts)
			}
			if took := time.Since(began); step.event == `"wait"` && took != 3*time.Second {
				t.Errorf("it was ended after %s, want 3 s", took)
			}
		}
		if first, second := <-ended, <-ended; first == nil || second == nil {
			t.Errorf("a program that was killed gets %v, %v", first, second)
		}
		r.Kill("f")
		if err := r.Configure("f", map[string]string{"X": "2"}); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Invoke(t.Context(), "f", []byte(`"f"`)); err != nil || string(got.Payload) != `["eu-west-1","2","id"]` || starts != 4 {
			t.Errorf("after it was configured anew: %s, %v, %d starts", got.Payload, err, starts)
		}
		if diff := cmp.Diff([]string{`"a"`, `"b"`, `"fail"`, `"c"`, `"panic"`, `"d"`, `"wait"`, `"e"`, `"f"`}, lines); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

// TestCloseWaitsForPrograms: one that records what it has sent, whatever becomes of its
// invocation, is not left asleep between two tries: in a bubble its timer fires no more
// when the test has ended.
func TestCloseWaitsForPrograms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{Region: "eu-west-1", NewID: func() string { return "id" }, Log: func(Line) {}})
		began, recorded := make(chan struct{}), false
		program := func(context.Context, map[string]string, io.Writer) func(context.Context, json.RawMessage) (any, error) {
			return func(ctx context.Context, _ json.RawMessage) (any, error) {
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 1500*time.Millisecond)
				defer cancel()
				close(began)
				<-ctx.Done()
				recorded = true
				return nil, ctx.Err()
			}
		}
		if err := r.Add(Function{Name: "f", Inside: program, Timeout: 3 * time.Second, Memory: 128}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.InvokeAsync("f", []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		<-began
		r.Close()
		if !recorded {
			t.Error("it was closed while a program was at work")
		}
	})
}

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name   string
		writes []string
		want   []string
	}{
		{"whole lines", []string{"a\nb\n"}, []string{"a", "b"}},
		{"in pieces", []string{"a", "b\nc", "\n"}, []string{"ab", "c"}},
		{"empty line", []string{"\n"}, []string{""}},
		{"without an end", []string{"a\nb"}, []string{"a", "b"}},
		{"too long", []string{strings.Repeat("x", maxLine+1) + "\n"}, []string{strings.Repeat("x", maxLine), "x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			l := &lineLog{to: func(line Line) { got = append(got, line.Text) }}
			s := l.stream("stdout")
			for _, w := range tt.writes {
				if n, err := s.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatalf("Write: got %d, %v", n, err)
				}
			}
			l.flush()
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
