package stagetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"rollcall/shared/checks/finding"
	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/stage/platform/template"
)

// Batch is the invocation by which Lambda hands over messages; the first has
// the id m0.
func Batch(bodies ...string) json.RawMessage {
	var e events.SQSEvent
	for i, body := range bodies {
		e.Records = append(e.Records, events.SQSMessage{
			MessageId: fmt.Sprintf("m%d", i), Body: body, EventSource: "aws:sqs",
			Attributes: map[string]string{"ApproximateReceiveCount": "1"},
		})
	}
	raw, err := json.Marshal(e)
	if err != nil {
		panic(err) // strings only: cannot happen
	}
	return raw
}

// Send gives the handler a batch, and returns the messages that it gave back.
func (b *Bench) Send(bodies ...string) []string {
	b.t.Helper()
	back, err := b.TrySend(bodies...)
	if err != nil {
		b.t.Fatalf("the batch failed: %v", err)
	}
	return back
}

// TrySend is Send for a batch that may fail.
func (b *Bench) TrySend(bodies ...string) ([]string, error) {
	b.t.Helper()
	out, err := b.Handle(Batch(bodies...))
	if err != nil {
		return nil, err
	}
	answer, ok := out.(inbox.Answer)
	if !ok {
		b.t.Fatalf("the handler answered %#v, want the messages to give back", out)
	}
	var ids []string
	for _, f := range answer.Failures {
		ids = append(ids, f.ID)
	}
	return ids, nil
}

// LaunchEvents are the events on the default bus so far that tell of launches, ends
// and failed launches, in order, but for those of the given number at the
// beginning.
func (b *Bench) LaunchEvents(after int) []string {
	b.t.Helper()
	var list []string
	for _, p := range b.Events() {
		t, err := event.Parse(p.Event)
		if err != nil {
			b.t.Fatal(err)
		}
		if p.Bus == "default" && t.Kind != event.Foreign {
			list = append(list, string(p.Event))
		}
	}
	return list[min(after, len(list)):]
}

// Instance is the instance that an event is about.
func (b *Bench) Instance(body string) string {
	b.t.Helper()
	t, err := event.Parse([]byte(body))
	if err != nil {
		b.t.Fatal(err)
	}
	return t.Instance
}

// Observations takes what was sent to report since the last time, but for
// summaries.
func (b *Bench) Observations() []report.Observation {
	b.t.Helper()
	var list []report.Observation
	for _, m := range b.Results() {
		if m.Observation != nil {
			list = append(list, *m.Observation)
		}
	}
	return list
}

// Results takes all that was sent to report since the last time.
func (b *Bench) Results() []report.Message {
	b.t.Helper()
	i := slices.IndexFunc(b.Template.Queues, func(q template.Queue) bool { return q.FIFO && q.DeadLetterARN != "" })
	if i < 0 {
		b.t.Fatal("the template has no results queue")
	}
	arn := b.Template.Queues[i].ARN
	var list []report.Message
	for {
		depth, err := b.Queues.Depth(arn)
		if err != nil {
			b.t.Fatal(err)
		}
		if depth.Visible == 0 {
			return list
		}
		messages, err := b.Queues.Receive(b.t.Context(), arn, depth.Visible, 0)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, m := range messages {
			o, err := report.DecodeMessage([]byte(m.Body))
			if err != nil {
				b.t.Fatal(err)
			}
			list = append(list, o)
		}
		if err := b.Queues.Delete(arn, messages...); err != nil {
			b.t.Fatal(err)
		}
	}
}

// Observation is the one that was sent since the last time.
func (b *Bench) Observation() report.Observation {
	b.t.Helper()
	list := b.Observations()
	if len(list) != 1 {
		b.t.Fatalf("%d observations were sent, want 1", len(list))
	}
	return list[0]
}

// Reminders are the instances that are to be looked at again, and when.
func (b *Bench) Reminders() map[string]time.Duration {
	b.t.Helper()
	asked := map[string]time.Duration{}
	for _, c := range b.recorded() {
		in, ok := c.input.(*sqs.SendMessageInput)
		if !ok || c.failed {
			continue
		}
		if t, err := event.Parse([]byte(*in.MessageBody)); err == nil && t.Kind == event.Reminder {
			for _, id := range t.Instances {
				asked[id] = time.Duration(in.DelaySeconds) * time.Second
			}
		}
	}
	return asked
}

// Counts takes the handler's counts since the last time.
func (b *Bench) Counts() map[string]int {
	b.t.Helper()
	counts, _ := b.Numbers()
	return counts
}

// Numbers takes the handler's counts since the last time, and what it gauged of
// each subnet or, where it names none, of each cluster.
func (b *Bench) Numbers() (counts map[string]int, gauges map[string]map[string]float64) {
	b.t.Helper()
	counts = b.metrics.Counts()
	b.numbers.Reset()
	b.metrics.Flush(b.Now())
	gauges = map[string]map[string]float64{}
	for text := range bytes.Lines(b.numbers.Bytes()) {
		var line map[string]any
		if err := json.Unmarshal(text, &line); err != nil {
			b.t.Fatal(err)
		}
		of, ok := line["subnet"].(string)
		if !ok {
			of, ok = line["cluster"].(string)
		}
		if !ok {
			continue // a fault's
		}
		if gauges[of] == nil {
			gauges[of] = map[string]float64{}
		}
		for name, value := range line {
			if n, ok := value.(float64); ok {
				gauges[of][name] = n
			}
		}
	}
	return counts, gauges
}

// Launch is the record of a launch; ok is false when there is none.
func (b *Bench) Launch(id string) (l store.LaunchRecord, ok bool) {
	b.t.Helper()
	list, err := b.Store.GetLaunches(b.t.Context(), []string{id})
	if err != nil {
		b.t.Fatal(err)
	}
	l, ok = list[id]
	return l, ok
}

// Calls takes how often each operation was called since the last time.
func (b *Bench) Calls() map[string]int {
	counts := map[string]int{}
	for _, c := range b.Cloud.Calls()[b.counted:] {
		b.counted++
		if c.Caller == b.Function.Name {
			counts[c.Action()]++
		}
	}
	return counts
}

// Total is the number of calls in the counts, and how they are made up.
func Total(counts map[string]int) (int, string) {
	n := 0
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		n += counts[name]
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return n, strings.Join(parts, ", ")
}

// Sweep is the event of the function's schedule; for one without the cluster's turn to
// be swept.
func (b *Bench) Sweep() json.RawMessage {
	if b.scheduled {
		return b.Schedule()
	}
	return b.SweepOf(Cluster)
}

// SweepOf is a cluster's turn to be swept.
func (b *Bench) SweepOf(cluster string) json.RawMessage {
	b.t.Helper()
	raw, err := inbox.SweepCluster(spoke.ID{}, cluster, b.Template.AccountID, b.Template.Region, b.Now())
	if err != nil {
		b.t.Fatal(err)
	}
	return raw
}

// Schedule is the event of a function's schedule.
func (b *Bench) Schedule() json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"version":"0","id":"sweep","detail-type":"Scheduled Event","source":"aws.events","account":%q,"time":%q,"region":%q,"resources":[],"detail":{}}`,
		b.Template.AccountID, b.Now().UTC().Format(time.RFC3339), b.Template.Region))
}

// sent takes what the function sent to queues.
func (b *Bench) sent(_, body string) {
	if t, err := event.Parse([]byte(body)); err == nil && t.Kind == event.ClusterSweep {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.turns = append(b.turns, body)
	}
}

// Turns takes the messages of clusters' turns that were sent since the last time, due or
// not.
func (b *Bench) Turns() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	turns := b.turns
	b.turns = nil
	return turns
}

// Causes are the checks that explain an observation, with their resources.
func Causes(o report.Observation) map[string]string {
	causes := map[string]string{}
	for _, c := range o.Diagnosis.Causes {
		if c.Confidence != finding.Advice {
			causes[string(c.Check)] = c.Resource
		}
	}
	return causes
}

// Wanted is the event by which a caller wants a cause in a cluster to be looked
// at now.
func (b *Bench) Wanted(cluster, check, resource string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(
		`{"version":"0","id":"wanted-1","source":"rollcall","detail-type":"Rollcall Check Wanted","account":%q,"region":%q,"time":%q,"detail":{"cluster":%q,"check":%q,"resource":%q}}`,
		b.Template.AccountID, b.Template.Region, b.Now().UTC().Format(time.RFC3339), cluster, check, resource))
}

// Traces are what runs did, by their names: all of the first, and of each other
// one the lines that it has more (+) or less (-) than the first.
type Traces []txtar.File

// Add adds the lines of a run.
func (r *Traces) Add(name, trace string) {
	if len(*r) > 0 {
		trace = changes(strings.SplitAfter(string((*r)[0].Data), "\n"), strings.SplitAfter(trace, "\n"))
	}
	*r = append(*r, txtar.File{Name: name, Data: []byte(trace)})
}

// changes is how b differs from a, by their longest common subsequence.
func changes(a, b []string) string {
	common := make([][]int, len(a)+1) // of what is left from i and j on
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var out strings.Builder
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			from := i
			for i < len(a) && (j == len(b) || a[i] != b[j] && common[i+1][j] >= common[i][j+1]) {
				i++
			}
			out.WriteString("- " + a[from])
			if i-from > 2 {
				fmt.Fprintf(&out, "  … %d lines\n", i-from-2)
			}
			if i-from > 1 {
				out.WriteString("- " + a[i-1])
			}
		default:
			out.WriteString("+ " + b[j])
			j++
		}
	}
	return out.String()
}

// Golden holds what each run did against a file, which UPDATE=1 in the environment
// writes anew.
func (r Traces) Golden(t testing.TB, path string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, txtar.Format(&txtar.Archive{Files: r}), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	byName := func(files []txtar.File) map[string][]string {
		m := map[string][]string{}
		for _, f := range files {
			m[f.Name] = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		}
		return m
	}
	if diff := cmp.Diff(byName(archive.Files), byName(r)); diff != "" {
		t.Errorf("%s (-want +got; UPDATE=1 writes it anew):\n%s", path, diff)
	}
}
