package bill

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"rollcall/local/platform/router"
	"rollcall/local/platform/wire"
	"rollcall/local/simaws"
)

// Logged counts what the functions wrote, and the metrics that it tells of.
func (u *Usage) Logged(text string) { u.LogBytes, u.Series = len(text), series(text) }

// Stored counts what the table took between two readings of a meter.
func (u *Usage) Stored(before, after map[string]simaws.Used) {
	for op, used := range after {
		units := used.Units - before[op].Units
		switch op {
		case "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem":
			u.Writes += units
		default:
			u.Reads += units
		}
	}
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

// series are the metrics that a log tells of.
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
