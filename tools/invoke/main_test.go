package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/report"
	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/platform/wire"
	"rollcall/tools/binaries"
	"rollcall/tools/testfile"
)

var update = flag.Bool("update", false, "write testdata/observation.json anew")

func TestParse(t *testing.T) {
	sample := options{function: "report", event: "e.json", world: "stage/worlds/samples.yaml", template: "infra/Rollcall.template.json"}
	later := sample
	later.at = time.Date(2026, 11, 20, 15, 10, 0, 0, time.UTC)
	tests := map[string]struct {
		args []string
		want options
		says string // on the way out; empty for a good command line
	}{
		"function and event": {args: []string{"-fn", "report", "-event", "e.json"}, want: sample},
		"later":              {args: []string{"-fn", "report", "-event", "e.json", "-at", "2026-11-20T15:10:00Z"}, want: later},
		"no function":        {args: []string{"-fn", "", "-event", "e.json"}, says: "-fn is missing"},
		"no event":           {args: []string{"-fn", "report"}, says: "-event is missing"},
		"one word too many":  {args: []string{"-fn", "report", "-event", "e.json", "x"}, says: `"x" is not expected`},
		"no time":            {args: []string{"-fn", "report", "-event", "e.json", "-at", "noon"}, says: "-at noon is not a time"},
		"unknown option":     {args: []string{"-funktion", "report"}, says: "flag provided but not defined"},
		"help":               {args: []string{"-help"}, says: "Exit status: 0 the function succeeded"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			got, err := parse(tt.args, &out)
			if tt.says == "" {
				if d := cmp.Diff(got, tt.want, cmp.AllowUnexported(options{})); d != "" || err != nil || out.Len() > 0 {
					t.Errorf("%v, says %q; got -, want +:\n%s", err, out.String(), d)
				}
				return
			}
			if err == nil || !strings.Contains(out.String(), tt.says) {
				t.Errorf("got %v, says %q, want an error that says %q", err, out.String(), tt.says)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	tests := map[string]struct {
		ok   bool
		err  error
		want int
	}{
		"well":      {true, nil, 0},
		"not well":  {false, nil, 1},
		"an error":  {true, errors.New("x"), 1},
		"wrong use": {false, misuse{errors.New("x")}, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := status(tt.ok, tt.err); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// built builds the functions for this machine, once.
var built = sync.OnceValues(func() (string, error) { return binaries.Build("../..") })

// here are the options for a run from this folder.
func here(t *testing.T, function, event string) options {
	t.Helper()
	folder, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return options{
		function: function, event: event, binaries: folder,
		world: "../../stage/worlds/samples.yaml", template: "../../infra/Rollcall.template.json",
	}
}

func TestRun(t *testing.T) {
	const launched = "../../events/in/autoscaling-launch-lifecycle-action.json"
	broken := filepath.Join(t.TempDir(), "broken.json")
	if err := os.WriteFile(broken, []byte(`{"detail":`), 0o600); err != nil {
		t.Fatal(err)
	}
	missed := here(t, "join-check", launched)
	missed.at = time.Date(2026, 11, 20, 15, 10, 0, 0, time.UTC)
	denied := here(t, "launch-watch", launched)
	denied.world = "testdata/denied.yaml"
	tests := map[string]struct {
		o    options
		ok   bool
		want []string
		not  []string
	}{
		"launch-watch names the cause": {here(t, "launch-watch", launched), true,
			[]string{"as a message of the queue rollcall-launches", "cause found .*check=route/no-egress", "     1  ec2:DescribeRouteTables\n", "Sent to rollcall-results.fifo\n  {", "Result: succeeded in "}, nil},
		"join-check waits": {here(t, "join-check", launched), true,
			[]string{"     1  kubernetes:list nodes\n", "Sent to rollcall-joins: 1 to be delivered later", `"standing": "waiting"`}, []string{"missed roll call"}},
		"join-check later": {missed, true,
			[]string{`at 2026-11-20 15:10:0\d UTC`, "missed roll call .*instance=i-0ef3c1b2a4d5968f1", `"standing": "missed"`}, nil},
		"sweep on a schedule": {here(t, "sweep", "../../events/in/schedule-scheduler.json"), true, []string{"schedule-scheduler.json, as it is\n"}, nil},
		"report posts": {here(t, "report", "testdata/observation.json"), true,
			[]string{`     \d  slack:chat.postMessage\n`, "Event on the bus rollcall\n", `"detail-type": "Rollcall Incident Opened"`, "Said in Slack\n  🔴 eks-workshop / new_nodegroup_2 · 1 instance will not be able to join"}, nil},
		"report sets aside":     {here(t, "report", broken), true, []string{`\(it is not JSON\)`, "ERROR  could not decode a message; moved it to the dead-letter queue", `     1  sqs:SendMessage\n`}, nil},
		"remediate gives back":  {here(t, "remediate", broken), false, []string{`\(it is not JSON\)`, "GAVE BACK 1 of its messages"}, nil},
		"not for this function": {here(t, "change-check", "../../events/in/schedule-scheduler.json"), false, []string{`FAILED \(Unhandled\)`, `"errorMessage"`}, nil},
		"denied":                {denied, true, []string{`     1  ec2:DescribeRouteTables +1 × UnauthorizedOperation\n`}, []string{"cause found .*check=route/no-egress"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			ok, err := run(t.Context(), tt.o, &out)
			if err != nil || ok != tt.ok {
				t.Errorf("got %t, %v, want %t", ok, err, tt.ok)
			}
			for _, want := range tt.want {
				if !regexp.MustCompile(want).Match(out.Bytes()) {
					t.Errorf("want a match of %q in:\n%s", want, &out)
				}
			}
			for _, not := range append(tt.not, "RequestId:") {
				if regexp.MustCompile(not).Match(out.Bytes()) {
					t.Errorf("want no match of %q in:\n%s", not, &out)
				}
			}
		})
	}
}

func TestRunMisuse(t *testing.T) {
	noWorld := here(t, "report", "testdata/observation.json")
	noWorld.world = "none.yaml"
	tests := map[string]struct {
		o    options
		want string
	}{
		"no such function": {here(t, "rapport", "testdata/observation.json"), `no function "rapport" in the template; it has change-check, eni-cleanup, join-check, launch-watch, nodegroup-watch, remediate, report, slack-actions, spot-report, subnet-watch, sweep, zone-watch`},
		"no such event":    {here(t, "report", "none.json"), "read the event: open none.json"},
		"no such world":    {noWorld, "read the world: stat none.yaml"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := run(t.Context(), tt.o, &bytes.Buffer{})
			if status(false, err) != 2 || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want the misuse %q", err, tt.want)
			}
		})
	}
}

// TestObservation holds that the sample is what launch-watch sends today.
func TestObservation(t *testing.T) {
	var out bytes.Buffer
	if _, err := run(t.Context(), here(t, "launch-watch", "../../events/in/autoscaling-launch-lifecycle-action.json"), &out); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(out.String(), "Sent to rollcall-results.fifo\n")
	sent, _, _ := strings.Cut(rest, "\n\nResult:")
	got := strings.ReplaceAll(strings.TrimPrefix(sent, "  "), "\n  ", "\n") + "\n"
	// The moment of the look differs from run to run.
	got = regexp.MustCompile(`2026-11-20T14:59:1[4-9](\.\d+)?Z`).ReplaceAllString(got, "2026-11-20T14:59:14Z")
	got = regexp.MustCompile(`(?m)^ +`).ReplaceAllStringFunc(got, func(blanks string) string { return blanks[:len(blanks)/2] })
	if *update {
		testfile.Write(t, "testdata/observation.json", []byte(got))
	}
	want := testfile.Read(t, "testdata/observation.json")
	if d := cmp.Diff(got, string(want)); d != "" {
		t.Errorf("testdata/observation.json is not what launch-watch sends (got -, want +); go test ./tools/invoke -update writes it anew:\n%s", d)
	}
	if _, err := report.Decode(want); err != nil {
		t.Error(err)
	}
}

func TestLogs(t *testing.T) {
	tests := map[string]struct{ line, want string }{
		"record":     {`14:59:06.123 rollcall-report {"time":"x","level":"WARN","msg":"node is late","function":"report","request":"r","instance":"i-1","reason":"no node","calls":{"a":1},"took":"40ms"}`, "  14:59:06.123  WARN   node is late  instance=i-1 reason=\"no node\" took=40ms\n"},
		"padded":     {`14:59:06.123 short        {"level":"INFO","msg":"done"}`, "  14:59:06.123  INFO   done\n"},
		"metrics":    {`14:59:06.123 f {"AwsCalls":15,"_aws":{"Timestamp":1},"function":"f"}`, "  14:59:06.123  METRIC AwsCalls=15\n"},
		"empty text": {`14:59:06.123 f {"level":"INFO","msg":"done","a":""}`, "  14:59:06.123  INFO   done  a=\"\"\n"},
		"start":      {"14:59:06.123 f START RequestId: 1 Version: $LATEST", ""},
		"end":        {"14:59:06.123 f END RequestId: 1", ""},
		"report":     {"14:59:06.123 f REPORT RequestId: 1\tDuration: 2 ms", ""},
		"panic":      {"14:59:06.123 f panic: runtime error", "  14:59:06.123  panic: runtime error\n"},
		"cut off":    {`14:59:06.123 f {"level":"INFO","msg":`, "  14:59:06.123  {\"level\":\"INFO\",\"msg\":\n"},
		"two":        {`14:59:06.123 f {"a":1} {"b":2}`, "  14:59:06.123  {\"a\":1} {\"b\":2}\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			n, err := (&logs{out: &out}).Write([]byte(tt.line + "\n"))
			if err != nil || n != len(tt.line)+1 {
				t.Errorf("got %d, %v, want %d", n, err, len(tt.line)+1)
			}
			if got := out.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzPlain(f *testing.F) {
	f.Add(`{"level":"INFO","msg":"done","calls":{"a":1}}`)
	f.Add(`{"a":[1,{"b":null}]}`)
	f.Add("START RequestId: 1")
	f.Fuzz(func(t *testing.T, text string) {
		plain(text) // must not panic
	})
}

func TestTable(t *testing.T) {
	got := table([]wire.Call{
		{Service: "ec2", Operation: "DescribeSubnets", Status: 200},
		{Service: "eventbridge", Operation: "PutEvents", Status: 200},
		{Service: "ec2", Operation: "DescribeRouteTables", Status: 403, Code: "UnauthorizedOperation"},
		{Service: "ec2", Operation: "DescribeSubnets", Status: 503, Code: "RequestLimitExceeded"},
		{Service: "ec2", Operation: "DescribeSubnets", Status: 503, Code: "RequestLimitExceeded"},
		{Service: "ec2", Operation: "DescribeSubnets"},
	})
	want := `     1  ec2:DescribeRouteTables  1 × UnauthorizedOperation
     4  ec2:DescribeSubnets      2 × RequestLimitExceeded, 1 × connection reset
     1  events:PutEvents
`
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("table (got -, want +):\n%s", d)
	}
	if got := table(nil); got != "" {
		t.Errorf("without calls: got %q, want nothing", got)
	}
}

func TestIndent(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"object": {`{"a":["<→>"]}`, "  {\n    \"a\": [\n      \"<→>\"\n    ]\n  }"},
		"text":   {"not JSON", "  not JSON"},
		"empty":  {"", "  "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := indent(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestVerdict(t *testing.T) {
	tests := map[string]struct {
		result lambdaruntime.Result
		ok     bool
		want   string
	}{
		"well":             {lambdaruntime.Result{Payload: []byte(`{"batchItemFailures":[]}`), Duration: 41 * time.Millisecond, Init: 7 * time.Millisecond, MaxMemoryMB: 29}, true, "Result: succeeded in 41ms (start 7ms), 29 of 256 MB"},
		"another answer":   {lambdaruntime.Result{Payload: []byte(`"done"`), MaxMemoryMB: -1}, true, "Result: succeeded in 0s (start 0s)"},
		"no answer":        {lambdaruntime.Result{MaxMemoryMB: -1}, true, "Result: succeeded in 0s (start 0s)"},
		"messages go back": {lambdaruntime.Result{Payload: []byte(`{"batchItemFailures":[{"itemIdentifier":"by-hand"}]}`), MaxMemoryMB: -1}, false, "Result: GAVE BACK 1 of its messages in 0s (start 0s)"},
		"fails":            {lambdaruntime.Result{FunctionError: "Unhandled", Payload: []byte(`{"errorMessage":"no"}`), MaxMemoryMB: 300}, false, "Result: FAILED (Unhandled) in 0s (start 0s), 300 of 256 MB"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := succeeded(tt.result); got != tt.ok {
				t.Errorf("got succeeded %t, want %t", got, tt.ok)
			}
			if got := verdict(tt.result, 256); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
