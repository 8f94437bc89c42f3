package main

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
	"rollcall/shared/lambda"
	"rollcall/tools/expect"
)

const alarmType = "AWS::CloudWatch::Alarm"

// series is a metric's figures by period; NaN where CloudWatch has none.
type series map[string][]float64

// key names a metric as an alarm does.
func key(namespace, metric string, dimensions any) string {
	text := namespace + " " + metric
	for _, d := range several(dimensions) {
		text += " " + flat(get(d, "Name")) + "=" + flat(get(d, "Value"))
	}
	return text
}

// metricsOf are an alarm's metrics, by their ids; a plain alarm's is "m1".
func metricsOf(a resource) map[string]string {
	if name := a.Properties["MetricName"]; name != nil {
		return map[string]string{"m1": key(flat(a.Properties["Namespace"]), flat(name), a.Properties["Dimensions"])}
	}
	all := map[string]string{}
	for _, q := range several(a.Properties["Metrics"]) {
		if m := get(q, "MetricStat", "Metric"); m != nil {
			all[flat(get(q, "Id"))] = key(flat(get(m, "Namespace")), flat(get(m, "MetricName")), get(m, "Dimensions"))
		}
	}
	return all
}

// part is an element of our expressions: FILL(mResults,0) or FILL(mResults,0)/600.
var part = regexp.MustCompile(`^FILL\((m\w+),0\)(?:/(\d+))?$`)

// cloudWatch is what its documentation leaves open, or says that may be.
type cloudWatch struct {
	// late is by how many periods figures come too late: "you can encounter an
	// issue if your metrics are being published with a slight delay, and the most
	// recent minute never has data" (CloudWatch, "Using math expressions", FILL).
	late int
	// emptyStays leaves a metric that never had a figure as it is. Whether FILL
	// makes a series of nothing at all is not said there.
	emptyStays bool
}

// valueAt is the figure that an alarm looks at in a period, NaN for none.
func (c cloudWatch) valueAt(t *testing.T, a resource, data series, period int) float64 {
	t.Helper()
	metrics := metricsOf(a)
	of := func(id string) float64 {
		if list, ok := data[metrics[id]]; ok && period >= 0 {
			return list[period]
		}
		return math.NaN()
	}
	expression := ""
	for _, q := range several(a.Properties["Metrics"]) {
		if get(q, "ReturnData") == true {
			expression, _ = get(q, "Expression").(string)
		}
	}
	if expression == "" {
		return of("m1")
	}
	function, list, ok := strings.Cut(strings.TrimSuffix(expression, "])"), "([")
	if !ok || function != "SUM" && function != "MAX" {
		t.Fatalf("%s: the expression %q is not understood", a.id, expression)
	}
	result, filled := 0.0, false
	for _, text := range regexp.MustCompile(`,FILL`).Split(list, -1) {
		m := part.FindStringSubmatch("FILL" + strings.TrimPrefix(text, "FILL"))
		if m == nil || metrics[m[1]] == "" {
			t.Fatalf("%s: %q in %q is not understood", a.id, text, expression)
		}
		if data[metrics[m[1]]] == nil && c.emptyStays {
			continue
		}
		filled = true
		x := of(m[1])
		if math.IsNaN(x) {
			x = 0
		}
		if m[2] != "" {
			by, _ := strconv.ParseFloat(m[2], 64)
			x /= by
		}
		if function == "SUM" {
			result += x
		} else {
			result = max(result, x)
		}
	}
	if !filled {
		return math.NaN()
	}
	return result
}

// rings plays an alarm over periods and tells in which of them it notifies. A
// new alarm is in INSUFFICIENT_DATA; actions are of transitions (CloudWatch,
// PutMetricAlarm, AlarmActions and the others: "transitions … from any other
// state"; "Configuring how CloudWatch alarms treat missing data").
func (c cloudWatch) rings(t *testing.T, a resource, data series, periods int) (at []int) {
	t.Helper()
	const insufficient, ok, alarm = "INSUFFICIENT_DATA", "OK", "ALARM"
	number := func(name string) int { return int(a.Properties[name].(float64)) }
	n, m, threshold := number("EvaluationPeriods"), number("DatapointsToAlarm"), a.Properties["Threshold"].(float64)
	actions := map[string]bool{
		insufficient: a.Properties["InsufficientDataActions"] != nil, ok: a.Properties["OKActions"] != nil, alarm: a.Properties["AlarmActions"] != nil,
	}
	state := insufficient
	for p := range periods {
		breaching, present := 0, 0
		for i := p - n + 1; i <= p; i++ {
			seen := i
			if i > p-c.late {
				seen = -1 // not there yet
			}
			x := c.valueAt(t, a, data, seen)
			hit := false
			switch a.Properties["ComparisonOperator"] {
			case "GreaterThanOrEqualToThreshold":
				hit = x >= threshold
			case "LessThanThreshold":
				hit = x < threshold
			default:
				t.Fatalf("%s: %v is not understood", a.id, a.Properties["ComparisonOperator"])
			}
			if !math.IsNaN(x) {
				present++
			} else {
				switch a.Properties["TreatMissingData"] {
				case "breaching":
					hit = true
				case "notBreaching", "missing":
				default:
					t.Fatalf("%s: missing data is treated as %v", a.id, a.Properties["TreatMissingData"])
				}
			}
			if hit {
				breaching++
			}
		}
		next := ok
		switch {
		case breaching >= m:
			next = alarm
		case present == 0 && a.Properties["TreatMissingData"] == "missing":
			next = insufficient
		}
		if next != state && actions[next] {
			at = append(at, p)
		}
		state = next
	}
	return at
}

// steady is a figure in each of n periods.
func steady(x float64, n int) []float64 { return slices.Repeat([]float64{x}, n) }

// TestAlarmsRingForFaultsAlone plays each alarm from the deployment on: none
// rings when it is made, when nothing happens, nor when all is well; and each
// rings for its fault. A model of CloudWatch's evaluation, as documented.
func TestAlarmsRingForFaultsAlone(t *testing.T) {
	tpl := theTemplate(t)
	const periods = 24 // two hours
	gone := math.NaN()
	var sweeper resource
	queues := map[string]resource{}
	for _, q := range tpl.all(queueType) {
		queues[flat(q.Properties["QueueName"])] = q
	}
	for _, spec := range specs.All() {
		if spec.Name == "sweep" {
			sweeper = lambdaOf(t, tpl, spec)
		}
	}
	invocations := "AWS/Lambda Invocations FunctionName=${" + sweeper.id + "}"
	queue := func(metric, name string) string {
		return "AWS/SQS " + metric + " QueueName=${" + queues[name].id + ".QueueName}"
	}
	const visible, age = "ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage"
	healthy := func() series {
		s := series{invocations: steady(1, periods)}
		for name := range queues {
			s[queue(visible, name)] = steady(0, periods)
			s[queue(age, name)] = steady(5, periods)
		}
		return s
	}
	with := func(metric string, from int, list ...float64) series {
		s := healthy()
		s[metric] = slices.Concat(steady(gone, from), list)
		s[metric] = append(s[metric], steady(gone, periods-len(s[metric]))...)
		return s
	}
	stopped := healthy()
	stopped[invocations] = append(steady(1, 12), steady(gone, 12)...)
	pauses := healthy()
	pauses[invocations] = slices.Repeat([]float64{1, gone, gone}, periods/3) // two missed ticks are none of three
	type expected map[string][]int
	failures := "Rollcall/rollcall Failures"
	tests := map[string]struct {
		data series
		want expected
	}{
		"the deployment, and no cluster at all": {series{}, nil},
		"all is well":                           {healthy(), nil},
		"a late first sweep":                    {with(invocations, 20, 1, 1, 1, 1), nil},
		"two ticks are missed":                  {pauses, nil},
		"one failure":                           {with(failures, 5, 1), nil},
		"failures":                              {with(failures, 5, 2, gone, 3), expected{"FunctionsFailAlarm": {7}}},
		"a dead letter":                         {with(queue(visible, "rollcall-launches-dead"), 5, 1, 1, 1), expected{"DeadLettersAlarm": {5}}},
		"a dead letter in order":                {with(queue(visible, "rollcall-results-dead.fifo"), 5, 1, 1), expected{"DeadLettersAlarm": {5}}},
		"an event that failed":                  {with(queue(visible, "rollcall-failed"), 5, 1, 1), expected{"DeadLettersAlarm": {5}}},
		"a slow queue":                          {with(queue(age, "rollcall-launches"), 5, 599, 600), expected{"QueuesLateAlarm": {6}}},
		"results wait":                          {with(queue(age, "rollcall-results.fifo"), 5, 700), expected{"QueuesLateAlarm": {5}}},
		"the sweeps stop":                       {stopped, expected{"SilentAlarm": {14}}},
		"a remedy fails":                        {with("Rollcall/rollcall RemediesFailed", 5, 1), expected{"ReportRemediesFailedAlarm": {5}}},
		"Slack refuses for good":                {with("Rollcall/rollcall Undelivered", 5, 1, 1, 1), expected{"ReportUndeliveredAlarm": {5}}},
		"a target hears nothing":                {with("Rollcall/rollcall TargetsUndelivered", 5, 1), expected{"NotifyTargetsTargetsUndeliveredAlarm": {5}}},
		"a target refuses":                      {with(queue(visible, "rollcall-targets-dead.fifo"), 5, 1, 1), expected{"DeadLettersAlarm": {5}}},
		"a press is lost":                       {with("Rollcall/rollcall NotPassedOn", 5, 1), expected{"SlackActionsNotPassedOnAlarm": {5}}},
		"some requests are refused":             {with("Rollcall/rollcall RefusedRequests", 5, 19, 19), nil},
		"many requests are refused":             {with("Rollcall/rollcall RefusedRequests", 5, 20), expected{"SlackActionsRefusedRequestsAlarm": {5}}},
	}
	rang := map[string]bool{}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, c := range []cloudWatch{{}, {emptyStays: true}} {
				var got expected
				for _, a := range tpl.all(alarmType) {
					if when := c.rings(t, a, test.data, periods); len(when) > 0 {
						if got == nil {
							got = expected{}
						}
						got[a.id], rang[a.id] = when, true
					}
				}
				expect.Same(t, fmt.Sprintf("%+v: alarms and the periods in which they ring", c), got, test.want)
			}
		})
	}
	// Those that fill would never ring if they looked at the newest figure alone.
	for name, from := range map[string]series{
		"DeadLettersAlarm": with(queue(visible, "rollcall-launches-dead"), 5, 1, 1, 1),
		"QueuesLateAlarm":  with(queue(age, "rollcall-launches"), 5, 700),
	} {
		for late := range 3 {
			expect.Same(t, fmt.Sprintf("%s, its figures come %d periods late: it rings", name, late), cloudWatch{late: late}.rings(t, tpl.Resources[name], from, periods), []int{5 + late})
		}
	}
	for _, a := range tpl.all(alarmType) {
		if !rang[a.id] {
			t.Errorf("nothing makes %s ring", a.id)
		}
	}
}

// Ten alarms at most, each of which says what is lost and what to do, and has no
// more than an alarm may have. Every dead-letter queue is watched, and what is on
// the way from a launch to what is said of it.
func TestAlarms(t *testing.T) {
	tpl := theTemplate(t)
	list := tpl.all(alarmType)
	if len(list) > 10 {
		t.Errorf("%d alarms, want at most 10", len(list))
	}
	watched := map[string]bool{}
	for _, a := range list {
		text := flat(a.Properties["AlarmDescription"])
		// CloudWatch, PutMetricAlarm: at most 1024 characters.
		if len(text) > 1024 || !strings.Contains(text, " Do: ") || !strings.Contains(text, " Meanwhile: ") {
			t.Errorf("%s does not say what is lost and what to do (%d characters): %q", a.id, len(text), text)
		}
		if a.Properties["OKActions"] != nil {
			t.Errorf("%s tells when all is well: at the first deployment too", a.id)
		}
		if a.Properties["TreatMissingData"] == "breaching" {
			t.Errorf("%s rings when it is made", a.id)
		}
		actions := append(several(a.Properties["AlarmActions"]), several(a.Properties["InsufficientDataActions"])...)
		if len(actions) != 1 || tpl.Resources[to(actions[0])].Type != "AWS::SNS::Topic" {
			t.Errorf("%s goes to %v, want the topic", a.id, actions)
		}
		metrics := metricsOf(a)
		if len(metrics) == 0 || len(metrics) > 10 {
			t.Errorf("%s has %d metrics; CloudWatch takes ten", a.id, len(metrics))
		}
		for _, m := range metrics {
			watched[m] = true
		}
	}
	if got := get(tpl.Resources["QueuesLateAlarm"].Properties, "Metrics", 0, "Expression"); !strings.HasPrefix(fmt.Sprint(got), "MAX([") {
		t.Errorf("late queues: %v", got)
	}
	dead := lettersOf(tpl)
	for _, q := range tpl.all(queueType) {
		metric := "ApproximateAgeOfOldestMessage"
		if _, ok := dead[q.id]; ok {
			metric = "ApproximateNumberOfMessagesVisible"
		} else if !slices.ContainsFunc([]string{"rollcall-launches", "rollcall-results.fifo"}, func(name string) bool { return q.Properties["QueueName"] == name }) {
			continue // what waits there is put aside in the end
		}
		if !watched["AWS/SQS "+metric+" QueueName=${"+q.id+".QueueName}"] {
			t.Errorf("no alarm on %s of %s", metric, q.id)
		}
	}
	for _, spec := range specs.All() {
		for _, own := range spec.Alarms {
			if !watched["Rollcall/rollcall "+own.Metric] {
				t.Errorf("%s: no alarm on %s", spec.Name, own.Metric)
			}
			if name, ok := lambda.Fault(own.Metric); !ok || name != own.Metric {
				t.Errorf("%s: %s is counted, and is no metric: the alarm never rings", spec.Name, own.Metric)
			}
		}
	}
}

// platformLines are Lambda's own lines in the log format Text, as functions in
// public have logged them, and whether they tell of a process that died: of a
// timeout, of one that was killed, of an exit, of too little memory
// (DataDog/datadog-serverless-functions, test_enhanced_lambda_metrics.py; Lambda,
// "Troubleshoot execution issues"). In the format JSON a timeout is a platform.report
// with "status":"timeout" alone, and nothing here would count it.
func platformLines() map[string]bool {
	const id = "7c9567b5-107b-4a6c-8798-0157ac21db52"
	return map[string]bool{
		"2020-06-09T15:02:26.150Z " + id + " Task timed out after 3.00 seconds\n\n":                                                  true,
		"RequestId: " + id + " Error: Runtime exited with error: signal: killed\nRuntime.ExitError\n":                                true,
		"RequestId: " + id + " Error: Runtime exited with error: exit status 2\nRuntime.ExitError\n":                                 true,
		"RequestId: " + id + " Error: Runtime exited without providing a reason\nRuntime.ExitError\n":                                true,
		"REPORT RequestId: " + id + "\tDuration: 12.34 ms\tBilled Duration: 13 ms\tStatus: error\tError Type: Runtime.OutOfMemory\n": true,
		"START RequestId: " + id + " Version: $LATEST\n":                                                                             false,
		"REPORT RequestId: " + id + "\tDuration: 12.34 ms\tBilled Duration: 13 ms\tMemory Size: 256 MB\tMax Memory Used: 60 MB\t\n":  false,
		`{"time":"2026-11-20T15:00:00Z","level":"ERROR","msg":"not done","error":"context deadline exceeded"}`:                       false,
	}
}

// term is one of a pattern's: ?"…", any of which counts. What else there may be in a
// pattern is not used (CloudWatch Logs, "Filter pattern syntax for metric filters":
// ?term is OR, what is not alphanumeric stands in quotes, case counts).
var term = regexp.MustCompile(`^\?"([^"]+)" ?`)

func filtered(t *testing.T, pattern, line string) bool {
	t.Helper()
	counts := false
	for pattern != "" {
		m := term.FindStringSubmatch(pattern)
		if m == nil {
			t.Fatalf("the pattern %q is not understood", pattern)
		}
		counts = counts || strings.Contains(line, m[1])
		pattern = pattern[len(m[0]):]
	}
	return counts
}

// Who cannot say that it failed is counted by Lambda's own line.
func TestCrashesAreCounted(t *testing.T) {
	tpl := theTemplate(t)
	filters := map[string]bool{}
	for _, f := range tpl.all("AWS::Logs::MetricFilter") {
		filters[to(f.Properties["LogGroupName"])] = true
		want := map[string]any{"MetricNamespace": "Rollcall/rollcall", "MetricName": "Failures", "MetricValue": "1"}
		if diff := cmp.Diff(want, get(f.Properties, "MetricTransformations", 0)); diff != "" {
			t.Errorf("%s (-want +got); a default value would be paid for in every hour:\n%s", f.id, diff)
		}
		for line, counts := range platformLines() {
			expect.Equal(t, fmt.Sprintf("%s counts %q", f.id, line), filtered(t, flat(f.Properties["FilterPattern"]), line), counts)
		}
	}
	for _, spec := range specs.All() {
		if logs := to(get(lambdaOf(t, tpl, spec).Properties, "LoggingConfig", "LogGroup")); !filters[logs] {
			t.Errorf("the crashes of %s are not counted", spec.Name)
		}
	}
}
