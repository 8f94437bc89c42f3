package lambda

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/tools/testfile"
)

// steps tells what came in which order.
type steps []string

// Begin notes the event.
func (s *steps) Begin(event json.RawMessage) { *s = append(*s, "begin "+string(event)) }

// Flush notes the end.
func (s *steps) Flush(context.Context) { *s = append(*s, "flush") }

// TestAround: who is registered hears of each invocation before and after its work, and
// an invocation that fails fails as before.
func TestAround(t *testing.T) {
	var heard steps
	down := errors.New("down")
	f := New("test", nil, func(_ context.Context, e Env) (Handler, error) {
		e.Register(&heard)
		return func(_ context.Context, raw json.RawMessage) (any, error) {
			heard = append(heard, "work")
			if string(raw) == `2` {
				return nil, down
			}
			return "done", nil
		}, nil
	}, func(string) string { return "" }, io.Discard)
	for raw, want := range map[string]error{`1`: nil, `2`: down} {
		heard = nil
		if _, err := f.Invoke(t.Context(), json.RawMessage(raw)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", raw, err, want)
		}
		if want := []string{"begin " + raw, "work", "flush"}; !slices.Equal(heard, want) {
			t.Errorf("%q, want %q", heard, want)
		}
	}
}

func TestGaugesHaveALineForEachThing(t *testing.T) {
	var out bytes.Buffer
	m := NewMetrics("subnet-watch", "second-subnet-watch", &out)
	of := func(subnet string) []Dimension { return []Dimension{{"cluster", "prod"}, {"subnet", subnet}} }
	m.Count("SweptClusters", 1)
	m.Count(Failures, 1)
	m.Count("RefusedRequests", 2)
	m.Count("PressesRefused", 3)
	m.Gauge("FreeAddresses", "Count", 12, of("subnet-a")...)
	m.Gauge("FreeAddresses", "Count", 11, of("subnet-a")...)
	m.Gauge("RunwayHours", "None", 3.5, of("subnet-a")...)
	m.Gauge("FreeAddresses", "Count", 0, of("subnet-b")...)
	m.Gauge("RunwayHours", "None", math.Inf(1), of("subnet-b")...)
	m.Gauge("FreeAddresses", "Count", 7)
	m.Flush(time.UnixMilli(1000))
	want := `{"Failures":1,"RefusedRequests":5,"_aws":{"CloudWatchMetrics":[{"Dimensions":[[]],"Metrics":[{"Name":"Failures","Unit":"Count"},{"Name":"RefusedRequests","Unit":"Count"}],"Namespace":"Rollcall/second"}],"Timestamp":1000},"function":"subnet-watch"}
{"FreeAddresses":11,"RunwayHours":3.5,"_aws":{"CloudWatchMetrics":[{"Dimensions":[["cluster","subnet"]],"Metrics":[{"Name":"FreeAddresses","Unit":"Count"},{"Name":"RunwayHours","Unit":"None"}],"Namespace":"Rollcall"}],"Timestamp":1000},"cluster":"prod","function":"subnet-watch","subnet":"subnet-a"}
{"FreeAddresses":0,"_aws":{"CloudWatchMetrics":[{"Dimensions":[["cluster","subnet"]],"Metrics":[{"Name":"FreeAddresses","Unit":"Count"}],"Namespace":"Rollcall"}],"Timestamp":1000},"cluster":"prod","function":"subnet-watch","subnet":"subnet-b"}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	out.Reset()
	m.Flush(time.UnixMilli(2000))
	if out.Len() > 0 {
		t.Errorf("the next invocation says the same again: %s", out.String())
	}
}

// What is counted while nothing is wrong is no metric, which would cost.
func TestCountsOfGoodDaysAreNoMetrics(t *testing.T) {
	var out bytes.Buffer
	m := NewMetrics("join-check", "rollcall-join-check", &out)
	m.Count("SweptClusters", 20)
	m.Count("Joined", 3)
	if counts := m.Counts(); counts["SweptClusters"] != 20 || counts["Joined"] != 3 {
		t.Errorf("the summary line has %v", counts)
	}
	m.Flush(time.UnixMilli(1000))
	if out.Len() > 0 {
		t.Errorf("metrics: %s", out.String())
	}
}

// The format takes 100 metrics a line.
func TestLinesHoldAHundredMetrics(t *testing.T) {
	var out bytes.Buffer
	m := NewMetrics("f", "", &out)
	for i := range 250 {
		m.Gauge(fmt.Sprint("M", i), "None", 1, Dimension{"subnet", "subnet-a"})
	}
	m.Flush(time.UnixMilli(1000))
	var sizes []int
	for _, text := range bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) {
		var line struct {
			AWS struct {
				CloudWatchMetrics []struct{ Metrics []any }
			} `json:"_aws"`
		}
		testfile.Parse(t, text, &line)
		sizes = append(sizes, len(line.AWS.CloudWatchMetrics[0].Metrics))
	}
	if diff := cmp.Diff([]int{100, 100, 50}, sizes); diff != "" {
		t.Errorf("metrics by line (-want +got):\n%s", diff)
	}
}

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
	if _, err := f.WithRelease("1.2.3").Invoke(context.Background(), nil); err != nil {
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

// TestNoForgedLogLine: what a name, a tag or an error of AWS holds stays inside
// its own line of the log, whatever ends a line there.
func TestNoForgedLogLine(t *testing.T) {
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

var (
	payments = spoke.ID{Account: "222233334444", Region: "us-west-2"}
	europe   = spoke.ID{Account: "222233334444", Region: "eu-west-1"}
)

// watching is a function that watches two spokes beside the hub's own, and what its
// handlers were given, by spoke.
func watching(t *testing.T, handle func(e Env, raw json.RawMessage) (any, error)) (invoke func(string) (any, error), log *bytes.Buffer) {
	t.Helper()
	env := map[string]string{
		"AWS_REGION": "us-west-2", "ROLLCALL_ACCOUNT": "111122223333", "ROLLCALL_EXTERNAL_ID": "rollcall-1", "ROLLCALL_ROLE_PREFIX": "rollcall",
		"ROLLCALL_SPOKES": "222233334444/us-west-2=payments,222233334444/eu-west-1",
	}
	log = &bytes.Buffer{}
	f := New("test", config.SpokeVariables(), func(_ context.Context, e Env) (Handler, error) {
		return func(_ context.Context, raw json.RawMessage) (any, error) { return handle(e, raw) }, nil
	}, func(name string) string { return env[name] }, log).By(Way{})
	return func(raw string) (any, error) { return f.Invoke(t.Context(), json.RawMessage(raw)) }, log
}

func running(of spoke.ID) string {
	return fmt.Sprintf(`{"source":"aws.ec2","detail-type":"EC2 Instance State-change Notification","account":%q,"region":%q,"time":"2026-11-20T15:00:00Z","resources":["arn:aws:ec2:%s:%s:instance/i-1"],"detail":{"instance-id":"i-1","state":"running"}}`,
		of.Account, of.Region, of.Region, of.Account)
}

func queued(bodies ...string) string {
	var records []string
	for i, body := range bodies {
		text, _ := json.Marshal(body)
		records = append(records, fmt.Sprintf(`{"messageId":"m%d","body":%s,"eventSource":"aws:sqs","attributes":{}}`, i, text))
	}
	return `{"Records":[` + strings.Join(records, ",") + `]}`
}

var hubID = spoke.ID{Account: "111122223333", Region: "us-west-2"}

// TestEachSpokeHasItsOwn: of a batch each handler gets what is of its account and region,
// and nothing else; what is forged or of no spoke is counted, and gone.
func TestEachSpokeHasItsOwn(t *testing.T) {
	got := map[string][]string{}
	invoke, log := watching(t, func(e Env, raw json.RawMessage) (any, error) {
		messages, _ := inbox.Batch(raw)
		var failed []string
		for _, m := range messages {
			got[e.Config.Spoke.String()] = append(got[e.Config.Spoke.String()], m.ID)
			if m.ID == "m2" {
				failed = append(failed, m.ID)
			}
		}
		return inbox.Failures(failed), nil
	})
	answer, err := invoke(queued(
		running(hubID), running(payments), running(europe), running(payments),
		running(spoke.ID{Account: "999999999999", Region: "us-west-2"}),                                // of no spoke
		strings.Replace(running(payments), "222233334444:instance", "111122223333:instance", 1),        // names the hub's
		strings.Replace(running(spoke.ID{Account: "222233334444", Region: "ap-south-1"}), "x", "x", 1), // a region that is not watched
		"no JSON",
	))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"": {"m0", "m7"}, payments.String(): {"m1", "m3"}, europe.String(): {"m2"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(inbox.Failures([]string{"m2"}), answer); diff != "" {
		t.Errorf("given back (-want +got):\n%s", diff)
	}
	if !strings.Contains(log.String(), `"ForgedEvents":1`) || !strings.Contains(log.String(), `"ForeignAccounts":2`) {
		t.Errorf("not counted:\n%s", log)
	}
}

// TestOneSpokesTroubleIsItsOwn: neither an error nor a panic's message of one gives back
// what others have done, and no schedule is repeated for it.
func TestOneSpokesTroubleIsItsOwn(t *testing.T) {
	var did []string
	invoke, log := watching(t, func(e Env, raw json.RawMessage) (any, error) {
		did = append(did, e.Config.Spoke.String())
		if e.Config.Spoke == payments {
			return nil, errors.New("the role does not let Rollcall in")
		}
		if _, is := inbox.Batch(raw); is {
			return inbox.Failures(nil), nil
		}
		return e.Config.Region, nil
	})
	answer, err := invoke(queued(running(payments), running(hubID), running(europe), running(payments)))
	if diff := cmp.Diff(inbox.Failures([]string{"m0", "m3"}), answer); err != nil || diff != "" {
		t.Errorf("given back (-want +got), %v:\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"", europe.String(), payments.String()}, did); diff != "" {
		t.Errorf("done (-want +got):\n%s", diff)
	}
	did = nil
	answer, err = invoke(`{"source":"aws.events","detail-type":"Scheduled Event","account":"111122223333","region":"us-west-2","time":"2026-11-20T15:00:00Z","detail":{}}`)
	if err != nil || answer != "us-west-2" || len(did) != 3 {
		t.Errorf("%v, %v, %q; want the hub's answer, and all three done", answer, err, did)
	}
	if !strings.Contains(log.String(), `"FailedSpokes":1`) || !strings.Contains(log.String(), `"account":"222233334444","region":"us-west-2"`) {
		t.Errorf("the spoke's trouble is not told by its name:\n%s", log)
	}
}

// TestAScheduleIsEachSpokesOwn: it bears the account and region that it is for.
func TestAScheduleIsEachSpokesOwn(t *testing.T) {
	var got []string
	invoke, _ := watching(t, func(e Env, raw json.RawMessage) (any, error) {
		tr, err := event.Parse(raw)
		got = append(got, fmt.Sprint(tr.Kind, " ", tr.Account, " ", tr.Region, " ", e.Config.Region, " ", e.Config.SpokeName()))
		return nil, err
	})
	if _, err := invoke(`{"source":"aws.events","detail-type":"Scheduled Event","account":"111122223333","region":"us-west-2","time":"2026-11-20T15:00:00Z","detail":{}}`); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{
		"sweep 111122223333 us-west-2 us-west-2 111122223333, us-west-2",
		"sweep 222233334444 eu-west-1 eu-west-1 222233334444, eu-west-1",
		"sweep 222233334444 us-west-2 us-west-2 payments, us-west-2",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestASpokesCredentials: what looks at a spoke is its role reader, in its region; in the
// hub's own it is the function itself, which also keeps the records of all.
func TestASpokesCredentials(t *testing.T) {
	c, err := config.Load(func(name string) string {
		return map[string]string{"AWS_REGION": "us-west-2", "ROLLCALL_ACCOUNT": "111122223333", "ROLLCALL_EXTERNAL_ID": "rollcall-1", "ROLLCALL_ROLE_PREFIX": "rollcall", "ROLLCALL_SPOKES": europe.String()}[name]
	}, config.SpokeVariables())
	if err != nil {
		t.Fatal(err)
	}
	invoke, _ := watching(t, func(e Env, _ json.RawMessage) (any, error) {
		e.Config.Spokes = c.Spokes
		own, reader, cleaner := e.AWS, e.Watched(), e.As(spec.SpokeCleaner)
		got := []string{own.Region, reader.Region, cleaner.Region}
		want := []string{"", "", ""}
		if e.Config.Spoke == europe {
			want = []string{"", "eu-west-1", "eu-west-1"}
			if e.AWSAsReader == nil || e.AWSAsReader.Credentials != reader.Credentials {
				t.Error("clusters are not read as the role that reads AWS")
			}
			if reader.Credentials == nil || cleaner.Credentials == nil || reader.Credentials == cleaner.Credentials {
				t.Error("two roles have the same credentials")
			}
		} else if reader.Credentials != own.Credentials || e.AWSAsReader != nil {
			t.Error("in the hub's own account another than the function looks")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: regions (-want +got):\n%s", e.Config.Spoke, diff)
		}
		return inbox.Failures(nil), nil
	})
	if _, err := invoke(queued(running(hubID), running(europe))); err != nil {
		t.Fatal(err)
	}
}

// TestMetricsOfASpoke: two clusters of one name differ by account and region; the
// hub's own keep the dimensions that they had.
func TestMetricsOfASpoke(t *testing.T) {
	var out bytes.Buffer
	m := NewMetrics("subnet-watch", "rollcall-subnet-watch", &out)
	cluster := Dimension{"cluster", "prod"}
	m.Gauge("FreeAddresses", "Count", 1, cluster)
	m.ForSpoke(payments).Gauge("FreeAddresses", "Count", 2, cluster)
	m.ForSpoke(europe).Gauge("FreeAddresses", "Count", 3, cluster)
	m.ForSpoke(europe).Count("Failures", 1)
	m.Flush(time.Unix(0, 0))
	for _, want := range []string{
		`"Dimensions":[["cluster"]]`, `"FreeAddresses":1`,
		`"FreeAddresses":2,"Region":"us-west-2"`,
		`"FreeAddresses":3,"Region":"eu-west-1"`, `"Account":"222233334444"`,
		`"Dimensions":[["Account","Region","cluster"]]`,
		`"Failures":1`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not among\n%s", want, &out)
		}
	}
}

// TestForAll: what is of all spokes is done once for a schedule, before the parts, in half of
// the time, and whether it fails or not every spoke has its part; a batch has none of it.
func TestForAll(t *testing.T) {
	const schedule = `{"id":"x","detail-type":"Scheduled Event","source":"aws.events","account":"111122223333","time":"2026-11-23T08:00:00Z","region":"us-west-2","detail":{}}`
	for name, spokes := range map[string]string{"of one": "", "of three": "222233334444/us-west-2=payments,222233334444/eu-west-1"} {
		env := map[string]string{
			"AWS_REGION": "us-west-2", "ROLLCALL_ACCOUNT": "111122223333", "ROLLCALL_EXTERNAL_ID": "rollcall-1", "ROLLCALL_ROLE_PREFIX": "rollcall", "ROLLCALL_SPOKES": spokes,
		}
		var order []string
		var left time.Duration
		fails := errors.New("the table did not answer")
		f := New("test", config.SpokeVariables(), func(_ context.Context, e Env) (Handler, error) {
			if e.Config.Spoke.Hub() {
				e.ForAll(func(ctx context.Context, raw json.RawMessage) error {
					deadline, _ := ctx.Deadline()
					order, left = append(order, "all"), time.Until(deadline)
					return fails
				})
			}
			return func(context.Context, json.RawMessage) (any, error) {
				order = append(order, e.Config.Spoke.String())
				return nil, nil
			}, nil
		}, func(name string) string { return env[name] }, &bytes.Buffer{}).By(Way{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		if _, err := f.Invoke(ctx, json.RawMessage(schedule)); !errors.Is(err, fails) {
			t.Errorf("%s: %v, want that it failed", name, err)
		}
		if left > 31*time.Minute || left < 29*time.Minute {
			t.Errorf("%s: it has %s of an hour", name, left)
		}
		if want := 2 + 2*strings.Count(spokes, "2222")/2; len(order) != want || order[0] != "all" || slices.Index(order[1:], "all") >= 0 {
			t.Errorf("%s: %q", name, order)
		}
		order = nil
		if _, err := f.Invoke(ctx, json.RawMessage(queued(running(hubID), running(hubID)))); err != nil || slices.Contains(order, "all") {
			t.Errorf("%s: a batch has %q, %v", name, order, err)
		}
		cancel()
	}
}
