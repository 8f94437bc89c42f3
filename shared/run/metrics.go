package run

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// Metrics collects the numbers of one invocation and writes them as one
// CloudWatch embedded metric format line: the log is the transport, no call
// and no permission is needed.
type Metrics struct {
	function string
	out      io.Writer

	mu     sync.Mutex
	values map[string]metric
}

type metric struct {
	value float64
	unit  string
}

// NewMetrics writes to out, which must be the function's standard output.
func NewMetrics(function string, out io.Writer) *Metrics {
	return &Metrics{function: function, out: out, values: map[string]metric{}}
}

// Count adds n.
func (m *Metrics) Count(name string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[name] = metric{m.values[name].value + float64(n), "Count"}
}

// Duration records how long something took; the longest of an invocation counts.
func (m *Metrics) Duration(name string, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ms := float64(d) / float64(time.Millisecond)
	m.values[name] = metric{max(ms, m.values[name].value), "Milliseconds"}
}

func (m *Metrics) counts() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts := map[string]int{}
	for name, v := range m.values {
		if v.unit == "Count" {
			counts[name] = int(v.value)
		}
	}
	return counts
}

// The line's form: CloudWatch, "Embedded metric format specification".
type emfLine map[string]any

type emfMetric struct {
	Name string
	Unit string
}

// Flush writes what was collected and starts anew. A line holds at most 100
// metrics (the format's limit); a function has about ten.
func (m *Metrics) Flush(now time.Time) {
	m.mu.Lock()
	values := maps.Clone(m.values)
	clear(m.values)
	m.mu.Unlock()
	if len(values) == 0 {
		return
	}
	line := emfLine{"function": m.function}
	var defs []emfMetric
	for _, name := range slices.Sorted(maps.Keys(values)) {
		line[name] = values[name].value
		defs = append(defs, emfMetric{name, values[name].unit})
	}
	line["_aws"] = map[string]any{
		"Timestamp": now.UnixMilli(),
		"CloudWatchMetrics": []any{map[string]any{
			"Namespace":  "Rollcall",
			"Dimensions": [][]string{{"function"}},
			"Metrics":    defs,
		}},
	}
	data, err := json.Marshal(line)
	if err != nil {
		return // numbers and names only: cannot happen
	}
	// A line that cannot be written is lost, and there is nowhere to say so.
	_, _ = m.out.Write(append(data, '\n'))
}
