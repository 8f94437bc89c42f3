package run

import (
	"encoding/json"
	"io"
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// Metrics collects the numbers of one invocation and writes them in CloudWatch's
// embedded metric format, as one line for each set of dimensions: the log is the
// transport, no call and no permission is needed.
type Metrics struct {
	function string
	out      io.Writer

	mu     sync.Mutex
	values map[string]metric
	// gauges are what is told of things other than the function, by the things.
	gauges []gauge
}

// Dimension is one name and value by which CloudWatch keeps numbers apart.
type Dimension struct{ Name, Value string }

// gauge is the numbers of one thing.
type gauge struct {
	of     []Dimension
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

// Gauge records how much there is of something of one thing, such as a subnet;
// the last of an invocation counts. The unit is one of CloudWatch's ("Count",
// "None", "Seconds").
func (m *Metrics) Gauge(name, unit string, value float64, of ...Dimension) {
	if math.IsNaN(value) || math.IsInf(value, 0) || len(of) == 0 {
		return // CloudWatch takes neither
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.gauges, func(g gauge) bool { return slices.Equal(g.of, of) })
	if i < 0 {
		i = len(m.gauges)
		m.gauges = append(m.gauges, gauge{slices.Clone(of), map[string]metric{}})
	}
	m.gauges[i].values[name] = metric{value, unit}
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

// lineMetrics is how many metrics a line holds at most (the format's limit).
const lineMetrics = 100

// Flush writes what was collected and starts anew: a line for the function, and
// one for each thing that was gauged.
func (m *Metrics) Flush(now time.Time) {
	m.mu.Lock()
	values, gauges := maps.Clone(m.values), m.gauges
	clear(m.values)
	m.gauges = nil
	m.mu.Unlock()
	m.write(now, []Dimension{{"function", m.function}}, values)
	for _, g := range gauges {
		m.write(now, g.of, g.values)
	}
}

func (m *Metrics) write(now time.Time, of []Dimension, values map[string]metric) {
	for names := range slices.Chunk(slices.Sorted(maps.Keys(values)), lineMetrics) {
		line := emfLine{"function": m.function}
		var dimensions []string
		for _, d := range of {
			line[d.Name] = d.Value
			dimensions = append(dimensions, d.Name)
		}
		var defs []emfMetric
		for _, name := range names {
			line[name] = values[name].value
			defs = append(defs, emfMetric{name, values[name].unit})
		}
		line["_aws"] = map[string]any{
			"Timestamp": now.UnixMilli(),
			"CloudWatchMetrics": []any{map[string]any{
				"Namespace":  "Rollcall",
				"Dimensions": [][]string{dimensions},
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
}
