package lambda

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/config"
	"rollcall/shared/spec"
)

func function(t *testing.T, env map[string]string, build Build) (*Function, func() []map[string]any) {
	t.Helper()
	t.Setenv("AWS_REGION", "us-west-2")
	t.Setenv("AWS_ACCESS_KEY_ID", "AKID")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "SECRET")
	out, err := os.CreateTemp(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	f := New("test", []spec.Variable{config.TableName, config.LogLevel}, build, func(name string) string { return env[name] }, out)
	return f, func() []map[string]any {
		t.Helper()
		if _, err := out.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(out)
		if err != nil {
			t.Fatal(err)
		}
		var lines []map[string]any
		for line := range bytes.Lines(data) {
			var m map[string]any
			if err := json.Unmarshal(line, &m); err != nil {
				t.Fatalf("line %q is not JSON: %v", line, err)
			}
			lines = append(lines, m)
		}
		return lines
	}
}

var good = map[string]string{"ROLLCALL_TABLE": "Rollcall"}

func TestInvoke(t *testing.T) {
	f, lines := function(t, good, func(_ context.Context, e Env) (Handler, error) {
		return func(_ context.Context, raw json.RawMessage) (any, error) {
			e.Metrics.Count("Launches", 2)
			e.Metrics.Count("Launches", 1)
			return string(raw), nil
		}, nil
	})
	got, err := f.Invoke(context.Background(), json.RawMessage(`"hello"`))
	if got != `"hello"` || err != nil {
		t.Fatalf("Invoke = %v, %v", got, err)
	}
	var done, emf map[string]any
	for _, l := range lines() {
		switch {
		case l["msg"] == "done":
			done = l
		case l["_aws"] != nil:
			emf = l
		}
	}
	if done == nil || done["function"] != "test" || done["Launches"] != 3.0 {
		t.Errorf("summary line %v; want function and counts", done)
	}
	if done["took"] == nil {
		t.Errorf("summary line %v; want what it took", done)
	}
	if emf != nil {
		t.Errorf("metrics line %v; nothing has failed", emf)
	}
}

// TestVersion: each line of the log and of the metrics says of which release it is.
func TestVersion(t *testing.T) {
	f, lines := function(t, good, func(_ context.Context, e Env) (Handler, error) {
		return func(context.Context, json.RawMessage) (any, error) {
			e.Metrics.Count(Failures, 1)
			return nil, nil
		}, nil
	})
	if _, err := f.Of("1.2.3").Invoke(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	all := lines()
	for _, l := range all {
		if l["version"] != "1.2.3" {
			t.Errorf("a line without the version: %v", l)
		}
	}
	if len(all) < 2 {
		t.Errorf("%d lines, want the summary and the metrics", len(all))
	}
}

func TestMissingSettingIsSaidUntilItIsThere(t *testing.T) {
	env := map[string]string{}
	f, _ := function(t, env, func(context.Context, Env) (Handler, error) {
		return func(context.Context, json.RawMessage) (any, error) { return "ok", nil }, nil
	})
	_, err := f.Invoke(context.Background(), nil)
	if err == nil || !strings.Contains(err.Error(), "ROLLCALL_TABLE") {
		t.Errorf("error %v does not name the missing setting", err)
	}
	env["ROLLCALL_TABLE"] = "Rollcall"
	if got, err := f.Invoke(context.Background(), nil); got != "ok" || err != nil {
		t.Errorf("after it was set: %v, %v", got, err)
	}
}

func TestBuildIsTriedAgain(t *testing.T) {
	tries := 0
	f, _ := function(t, good, func(context.Context, Env) (Handler, error) {
		if tries++; tries == 1 {
			return nil, errors.New("the secret is empty")
		}
		return func(context.Context, json.RawMessage) (any, error) { return nil, nil }, nil
	})
	if _, err := f.Invoke(context.Background(), nil); err == nil || !strings.Contains(err.Error(), "the secret is empty") {
		t.Errorf("first: %v", err)
	}
	if _, err := f.Invoke(context.Background(), nil); err != nil {
		t.Errorf("second: %v", err)
	}
	if _, err := f.Invoke(context.Background(), nil); err != nil || tries != 2 {
		t.Errorf("third: %v after %d builds; want one that stays", err, tries)
	}
}

func TestPanicIsReportedAndPassedOn(t *testing.T) {
	f, lines := function(t, good, func(context.Context, Env) (Handler, error) {
		return func(context.Context, json.RawMessage) (any, error) { panic("boom") }, nil
	})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic did not reach Lambda, which would keep a process that cannot be trusted")
			}
		}()
		_, _ = f.Invoke(context.Background(), nil)
	}()
	var panics, failed bool
	for _, l := range lines() {
		panics = panics || l["msg"] == "panic" && l["value"] == "boom"
		failed = failed || l["Failures"] == 1.0
	}
	if !panics || !failed {
		t.Errorf("panic logged %v, counted %v; want both", panics, failed)
	}
}

func TestDeadlineLeavesTimeToSaySo(t *testing.T) {
	deadline := time.Now().Add(30 * time.Second)
	f, _ := function(t, good, func(context.Context, Env) (Handler, error) {
		return func(ctx context.Context, _ json.RawMessage) (any, error) {
			d, ok := ctx.Deadline()
			if !ok {
				t.Error("no deadline")
			}
			return deadline.Sub(d), nil
		}, nil
	})
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	got, err := f.Invoke(ctx, nil)
	if diff := cmp.Diff(any(margin), got); err != nil || diff != "" {
		t.Errorf("margin %v, %v; want %v", got, err, margin)
	}
}

// TestNobodyForgesALine: what a name, a tag or an error of AWS holds stays inside
// its own line of the log, whatever ends a line there.
func TestNobodyForgesALine(t *testing.T) {
	const forged = "x\n{\"level\":\"INFO\",\"msg\":\"approved\",\"audit\":true}\r\n\u2028{}\u2029\u0085\""
	f, lines := function(t, good, func(_ context.Context, e Env) (Handler, error) {
		return func(context.Context, json.RawMessage) (any, error) {
			e.Log.Info("a name: "+forged, "tag", forged, "error", errors.New(forged))
			return nil, errors.New(forged)
		}, nil
	})
	if _, err := f.Invoke(context.Background(), nil); err == nil {
		t.Fatal("the error is gone")
	}
	for _, l := range lines() {
		if l["msg"] == "approved" || l["audit"] != nil {
			t.Errorf("a forged line: %v", l)
		}
		if l["msg"] == "a name: "+forged && (l["tag"] != forged || l["error"] != forged) {
			t.Errorf("what was said is changed: %v", l)
		}
	}
}
