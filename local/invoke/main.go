// Command invoke runs one function by hand: its real binary, on one event,
// against a world, and prints its logs, its calls and its result.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"rollcall/local/lambdaruntime"
	"rollcall/local/stage"
	"rollcall/local/template"
)

const usage = `Runs one function on one event and prints its logs, calls and result.

  make invoke FN=launch-watch EVENT=events/in/autoscaling-launch-lifecycle-action.json [WORLD=…]

An EventBridge event for a function that reads a queue is put into a message,
as the queue would. Exit status: 0 the function succeeded, 1 it failed, gave
messages back, or could not run, 2 wrong use.

`

type options struct {
	function, event, world, template, binaries string
}

func main() {
	var o options
	flag.StringVar(&o.function, "fn", "", "function: launch-watch, join-check or report")
	flag.StringVar(&o.event, "event", "", "file that holds the event")
	flag.StringVar(&o.world, "world", "local/worlds/samples.yaml", "world to run it in")
	flag.StringVar(&o.template, "template", "infra/Rollcall.template.json", "the synthesised template")
	flag.StringVar(&o.binaries, "binaries", "build/local", "folder of the functions' binaries")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if o.function == "" || o.event == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "invoke:", err)
	}
	if err != nil || !ok {
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (bool, error) {
	raw, err := os.ReadFile(o.event)
	if err != nil {
		return false, err
	}
	s, err := stage.Start(ctx, stage.Options{World: o.world, Template: o.template, Binaries: o.binaries, Quiet: true, Out: os.Stdout})
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
		return false, fmt.Errorf("no function %q in the template; it has %s", o.function, strings.Join(names, ", "))
	}
	payload, err := wrap(raw, f, s.Template, time.Now())
	if err != nil {
		return false, err
	}
	fmt.Printf("== logs\n")
	result, err := s.Runtime.Invoke(ctx, f.Name, payload)
	if err != nil {
		return false, err
	}
	show(ctx, s, result)
	return succeeded(result), nil
}

// wrap puts an event into a message where the function reads a queue. An
// event that is a batch of messages already is left as it is, and so is a
// schedule, which comes directly.
func wrap(raw []byte, f template.Function, t *template.Template, now time.Time) ([]byte, error) {
	var e struct {
		Records    []json.RawMessage
		DetailType string `json:"detail-type"`
	}
	if json.Unmarshal(raw, &e) == nil && (len(e.Records) > 0 || e.DetailType == "Scheduled Event") {
		return raw, nil
	}
	for _, m := range t.Mappings {
		if m.FunctionName != f.Name {
			continue
		}
		ms := fmt.Sprint(now.UnixMilli())
		return json.Marshal(events.SQSEvent{Records: []events.SQSMessage{{
			MessageId: "by-hand", Body: string(raw), EventSource: "aws:sqs", EventSourceARN: m.QueueARN, AWSRegion: t.Region,
			Attributes: map[string]string{"ApproximateReceiveCount": "1", "SentTimestamp": ms, "ApproximateFirstReceiveTimestamp": ms},
		}}})
	}
	return raw, nil
}

func show(ctx context.Context, s *stage.Stage, result lambdaruntime.Result) {
	fmt.Printf("\n== calls\n")
	counts := map[string]int{}
	for _, c := range s.Cloud.Calls() {
		line := c.Action()
		if c.Code != "" {
			line += " -> " + c.Code
		}
		counts[line]++
	}
	var lines []string
	for line, n := range counts {
		lines = append(lines, fmt.Sprintf("%4d  %s", n, line))
	}
	sort.Slice(lines, func(i, j int) bool { return lines[i][6:] < lines[j][6:] })
	fmt.Println(strings.Join(lines, "\n"))
	for _, q := range s.Template.Queues {
		depth, err := s.Queues.Depth(q.ARN)
		if err != nil || depth.Visible+depth.Delayed == 0 {
			continue
		}
		fmt.Printf("\n== sent to %s (%d now, %d after a delay)\n", q.Name, depth.Visible, depth.Delayed)
		if depth.Visible == 0 {
			continue
		}
		messages, err := s.Queues.Receive(ctx, q.ARN, depth.Visible, 0)
		if err != nil {
			fmt.Println(err)
		}
		for _, m := range messages {
			fmt.Println(indent(m.Body))
		}
	}
	for _, m := range s.Slack.Messages(stage.Channel) {
		fmt.Printf("\n== said in Slack\n%s\n", m.Text)
	}
	fmt.Printf("\n== result (%s, %d MB)\n%s\n", result.Duration.Round(time.Millisecond), result.MaxMemoryMB, indent(string(result.Payload)))
}

// succeeded tells that the function ended well and gave no message back.
func succeeded(r lambdaruntime.Result) bool {
	if r.FunctionError != "" {
		return false
	}
	var answer events.SQSEventResponse
	return json.Unmarshal(r.Payload, &answer) != nil || len(answer.BatchItemFailures) == 0
}

func indent(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return text
	}
	return string(out)
}
