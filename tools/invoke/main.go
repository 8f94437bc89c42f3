// Command invoke runs one function by hand: its real binary, on one event,
// against a world, and prints its logs, its calls, what it sent and its result.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-lambda-go/events"

	targets "rollcall/functions/notify-targets/spec"
	"rollcall/shared/config"
	"rollcall/stage"
	"rollcall/stage/payload"
	"rollcall/stage/platform/lambdaruntime"
	"rollcall/stage/platform/template"
	"rollcall/stage/platform/wire"
	"rollcall/tools/binaries"
)

const usage = `Runs one function by hand and prints its logs, its calls, what it sent and its
result. The function is the real binary; AWS, Kubernetes and Slack are the local
stage's, in the state of a world.

  go run ./tools/invoke -fn launch-watch -event events/in/autoscaling-launch-lifecycle-action.json
  go run ./tools/invoke -fn join-check -event events/in/ec2-state-running.json -at 2026-11-20T15:10:00Z
  go run ./tools/invoke -fn join-check -event events/in/schedule-scheduler.json -world stage/worlds/not-ready.yaml
  go run ./tools/invoke -fn notify-targets -event events/out/incident-opened.json
  go run ./tools/invoke -fn report -event tools/invoke/testdata/observation.json

An event for a function that reads a queue is put into a message, as the queue
would, whatever it holds, but for one that a rule hands to the function itself, as it
does the bus's to notify-targets. A schedule, or a whole batch ("Records"), is given as it
is. Exit status: 0 the function succeeded; 1 it failed, gave its message back, or
could not run; 2 wrong use.

`

type options struct {
	function, event, world, template, binaries string
	at                                         time.Time
}

// misuse is an error of the person who typed the command.
type misuse struct{ error }

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		os.Exit(2) // parse has said why
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ok, err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "invoke:", err)
	}
	os.Exit(status(ok, err))
}

func status(ok bool, err error) int {
	var m misuse
	switch {
	case errors.As(err, &m):
		return 2
	case err != nil || !ok:
		return 1
	}
	return 0
}

// parse reads the command line and says on out what is wrong with it.
func parse(args []string, out io.Writer) (options, error) {
	var o options
	var at string
	flags := flag.NewFlagSet("invoke", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&o.function, "fn", "", "function: the name of its folder in functions/")
	flags.StringVar(&o.event, "event", "", "file that holds the event")
	flags.StringVar(&o.world, "world", "stage/worlds/samples.yaml", "world to run it in")
	flags.StringVar(&at, "at", "", "stage time to run at, e.g. 2026-11-20T15:10:00Z (default: when the world starts)")
	flags.StringVar(&o.template, "template", "infra/Rollcall.template.json", "the synthesised template")
	flags.StringVar(&o.binaries, "binaries", "", "folder of the functions' binaries (default: they are built)")
	flags.Usage = func() {
		fmt.Fprint(out, usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return o, err // the flag package has told it
	}
	wrong := ""
	switch {
	case flags.NArg() > 0:
		wrong = fmt.Sprintf("%q is not expected", flags.Arg(0))
	case o.function == "":
		wrong = "which function? -fn is missing"
	case o.event == "":
		wrong = "on which event? -event is missing"
	}
	if at != "" && wrong == "" {
		var err error
		if o.at, err = time.Parse(time.RFC3339, at); err != nil {
			wrong = fmt.Sprintf("-at %s is not a time such as 2026-11-20T15:10:00Z", at)
		}
	}
	if wrong != "" {
		fmt.Fprintf(out, "invoke: %s; see -help\n", wrong)
		return o, misuse{errors.New(wrong)}
	}
	return o, nil
}

// run invokes the function and prints what happened. It reports whether the
// function succeeded.
func run(ctx context.Context, o options, out io.Writer) (bool, error) {
	raw, err := os.ReadFile(o.event)
	if err != nil {
		return false, misuse{fmt.Errorf("read the event: %w", err)}
	}
	if _, err := os.Stat(o.world); err != nil {
		return false, misuse{fmt.Errorf("read the world: %w", err)}
	}
	if o.binaries == "" {
		if o.binaries, err = binaries.Build("."); err != nil {
			return false, err
		}
	}
	s, err := stage.Start(ctx, stage.Options{
		Settings: settings(o.function), World: o.world, Template: o.template, Binaries: o.binaries, At: o.at, Quiet: true, Out: &logs{out: out},
	})
	if err != nil {
		return false, fmt.Errorf("start the stage: %w", err)
	}
	defer s.Close()
	f, ok := s.Function(o.function)
	if !ok {
		var names []string
		for _, f := range s.Template.Functions {
			names = append(names, stage.Folder(f))
		}
		return false, misuse{fmt.Errorf("no function %q in the template; it has %s", o.function, strings.Join(names, ", "))}
	}
	now := s.Clock.Now()
	event, how, err := payload.Wrap(raw, f, s.Template, now)
	if err != nil {
		return false, misuse{err}
	}
	fmt.Fprintf(out, "%s on %s, %s\nworld %s at %s\n\nLogs\n", stage.Folder(f), o.event, how, o.world, now.UTC().Format("2006-01-02 15:04:05 MST"))
	result, err := s.Runtime.Invoke(ctx, f.Name, event)
	if err != nil {
		return false, fmt.Errorf("invoke %s: %w", f.Name, err)
	}
	// What the process wrote last comes through a pipe, after its answer.
	s.Runtime.Close()
	return succeeded(result), show(ctx, out, s, f, result)
}

// settings are those without which the function would not be deployed: notify-targets has
// at least one target.
func settings(function string) map[string]string {
	if function == targets.Name {
		return map[string]string{string(config.Targets): "sns"}
	}
	return nil
}

// show prints what the function did.
func show(ctx context.Context, out io.Writer, s *stage.Stage, f function, result lambdaruntime.Result) error {
	calls := s.Cloud.Calls()
	for _, c := range s.Slack.Calls() {
		calls = append(calls, wire.Call{Service: "slack", Operation: c.Method, Code: c.Error, Status: http.StatusOK})
	}
	fmt.Fprintf(out, "\nCalls: %d\n%s", len(calls), table(calls))
	for _, q := range s.Template.Queues {
		if err := showQueue(ctx, out, s, q); err != nil {
			return err
		}
	}
	for _, p := range s.Events() {
		if p.Bus != "default" {
			fmt.Fprintf(out, "\nEvent on the bus %s\n%s\n", p.Bus, indent(string(p.Event)))
		}
	}
	for _, m := range s.Slack.Messages(stage.Channel) {
		fmt.Fprintf(out, "\nSaid in Slack\n  %s\n", m.Text)
		for _, reply := range m.Replies {
			fmt.Fprintf(out, "    in its thread: %s\n", reply.Text)
		}
	}
	fmt.Fprintf(out, "\n%s\n%s\n", verdict(result, f.Memory), indent(string(result.Payload)))
	return nil
}

// logs prints a function's log lines for a person. The stage writes each line
// at once, as time, function and text.
type logs struct{ out io.Writer }

var _ io.Writer = (*logs)(nil)

// Write takes one line of the stage.
func (l *logs) Write(line []byte) (int, error) {
	at, rest, _ := strings.Cut(strings.TrimRight(string(line), "\n"), " ")
	_, text, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	if text = plain(strings.TrimLeft(text, " ")); text == "" {
		return len(line), nil
	}
	if _, err := fmt.Fprintf(l.out, "  %s  %s\n", at, text); err != nil {
		return 0, err
	}
	return len(line), nil
}

// plain is a log line as a person reads it; empty if what it says is printed
// elsewhere: by the platform lines around an invocation, the result.
func plain(text string) string {
	for _, platform := range []string{"START RequestId: ", "END RequestId: ", "REPORT RequestId: ", "ERROR RequestId: "} {
		if strings.HasPrefix(text, platform) {
			return ""
		}
	}
	fields, ok := attributes(text)
	if !ok {
		return text
	}
	level, message := "", ""
	var rest []string
	for _, f := range fields {
		switch f.name {
		case "time", "function", "request", "_aws":
		case "level":
			level = f.text()
		case "msg":
			message = f.text()
		case "calls": // counted below the logs
		default:
			rest = append(rest, f.name+"="+f.text())
		}
	}
	if level == "" {
		level = "METRIC"
	}
	words := []string{fmt.Sprintf("%-6s", level)}
	if message != "" {
		words = append(words, message+" ")
	}
	return strings.TrimSpace(strings.Join(append(words, rest...), " "))
}

// attribute is one field of a log line.
type attribute struct {
	name  string
	value json.RawMessage
}

// text is the value without quotes where it can be read without them.
func (a attribute) text() string {
	var s string
	if json.Unmarshal(a.value, &s) != nil {
		return string(a.value)
	}
	if a.name != "msg" && (s == "" || strings.ContainsAny(s, " \"\n=")) {
		return string(a.value)
	}
	return s
}

// attributes are the fields of a JSON object, in its order.
func attributes(text string) ([]attribute, bool) {
	d := json.NewDecoder(strings.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	var list []attribute
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		a := attribute{name: fmt.Sprint(name)}
		if d.Decode(&a.value) != nil {
			return nil, false
		}
		list = append(list, a)
	}
	end, err := d.Token()
	return list, err == nil && end == json.Delim('}') && !d.More()
}

// table counts calls by operation, with the errors that they were answered
// with.
func table(calls []wire.Call) string {
	counts, errors := map[string]int{}, map[string]map[string]int{}
	width := 0
	for _, c := range calls {
		action := c.Action()
		counts[action]++
		width = max(width, len(action))
		code := c.Code
		if code == "" && c.Status == 0 {
			code = "connection reset"
		}
		if code == "" {
			continue
		}
		if errors[action] == nil {
			errors[action] = map[string]int{}
		}
		errors[action][code]++
	}
	var b strings.Builder
	for _, action := range slices.Sorted(maps.Keys(counts)) {
		line := fmt.Sprintf("  %4d  %-*s", counts[action], width, action)
		var said []string
		for _, code := range slices.Sorted(maps.Keys(errors[action])) {
			said = append(said, fmt.Sprintf("%d × %s", errors[action][code], code))
		}
		line += "  " + strings.Join(said, ", ")
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// showQueue prints what is in a queue. What waits for its first delivery is
// only counted: it is not to be read yet.
func showQueue(ctx context.Context, out io.Writer, s *stage.Stage, q template.Queue) error {
	depth, err := s.Queues.Depth(q.ARN)
	if err != nil {
		return fmt.Errorf("queue %s: %w", q.Name, err)
	}
	if depth.Delayed > 0 {
		fmt.Fprintf(out, "\nSent to %s: %d to be delivered later\n", q.Name, depth.Delayed)
	}
	if depth.Visible == 0 {
		return nil
	}
	messages, err := s.Queues.Receive(ctx, q.ARN, depth.Visible, 0)
	if err != nil {
		return fmt.Errorf("receive from %s: %w", q.Name, err)
	}
	for _, m := range messages {
		fmt.Fprintf(out, "\nSent to %s\n%s\n", q.Name, indent(m.Body))
	}
	return nil
}

// indent lays JSON out over lines; other text is left as it is.
func indent(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return "  " + text
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("  ", "  ")
	if e.Encode(v) != nil {
		return "  " + text
	}
	return "  " + strings.TrimSpace(b.String())
}

type function = template.Function

// handedBack are the ids of the messages that the function gave back.
func handedBack(r lambdaruntime.Result) []string {
	var answer events.SQSEventResponse
	if json.Unmarshal(r.Payload, &answer) != nil {
		return nil // another kind of answer
	}
	var ids []string
	for _, f := range answer.BatchItemFailures {
		ids = append(ids, f.ItemIdentifier)
	}
	return ids
}

// succeeded reports whether the function ended well and gave no message back.
func succeeded(r lambdaruntime.Result) bool {
	return r.FunctionError == "" && len(handedBack(r)) == 0
}

// verdict says in one line how it went.
func verdict(r lambdaruntime.Result, limit int) string {
	how := "succeeded"
	switch back := handedBack(r); {
	case r.FunctionError != "":
		how = "FAILED (" + r.FunctionError + ")"
	case len(back) > 0:
		how = fmt.Sprintf("GAVE BACK %d of its messages", len(back))
	}
	memory := ""
	if r.MaxMemoryMB >= 0 {
		memory = fmt.Sprintf(", %d of %d MB", r.MaxMemoryMB, limit)
	}
	return fmt.Sprintf("Result: %s in %s (start %s)%s", how, r.Duration.Round(time.Millisecond), r.Init.Round(time.Millisecond), memory)
}
