package lambda

import (
	"encoding/json"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"rollcall/shared/spoke"
)

// Metrics collects the numbers of one invocation. All stand in the log, where
// CloudWatch Logs Insights sums them; what an alarm or a curve is made of is
// also a metric, written in CloudWatch's embedded metric format: the log is the
// transport, no call and no permission is needed.
//
// A metric costs as much as twenty thousand calls for each hour in which it is
// told ($0.30 a month, for each set of dimensions): a count is one only if it is
// of a fault, so that nothing is paid while nothing happens.
type Metrics struct {
	function string
	// namespace is the stack's, for counts: two stacks in an account do not ring
	// each other's alarms.
	namespace string
	version   string // "" is left out
	out       io.Writer

	mu     sync.Mutex
	values map[string]metric
	// gauges are what is told of things other than the function, by the things.
	gauges []gauge

	// whole collects for all spokes, and these are one spoke's: its numbers are told by
	// its account and region. Nil for those of the hub's own, which have had none before
	// there were spokes, and would cost anew.
	whole *Metrics
	spoke []Dimension
}

// In is the metrics of a spoke's things.
func (m *Metrics) In(id spoke.ID) *Metrics {
	return &Metrics{whole: m, spoke: []Dimension{{"Account", id.Account}, {"Region", id.Region}}}
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

// Failures counts failed invocations, as Lambda's own lines about processes
// that died are counted (infra, alarms).
const Failures = "Failures"

// Fault tells whether a count is also a metric, by which an alarm can ring, and
// under which name: those that ask the same of a person are one.
func Fault(count string) (metric string, ok bool) {
	switch count {
	case Failures, "Undelivered", "RemediesFailed", "NotPassedOn", "RefusedRequests", "StrayMessages", "TargetsUndelivered":
		return count, true
	case "PressesRefused": // report's, of what slack-actions let through
		return "RefusedRequests", true
	case "LateSweeps": // clusters that nobody has looked at in time
		return Failures, true
	}
	return "", false
}

// Namespace holds the metrics of clusters and subnets.
const Namespace = "Rollcall"

// StackNamespace holds the counts of a stack's faults. The prefix begins the
// names of its functions.
func StackNamespace(prefix string) string { return Namespace + "/" + prefix }

// NewMetrics writes to out, which must be the function's standard output. The
// deployed name of the function tells which stack it is of.
func NewMetrics(function, deployed string, out io.Writer) *Metrics {
	prefix := strings.TrimSuffix(deployed, "-"+function)
	if prefix == "" {
		prefix = "rollcall"
	}
	return &Metrics{function: function, namespace: StackNamespace(prefix), out: out, values: map[string]metric{}}
}

// Count adds n.
func (m *Metrics) Count(name string, n int) {
	if m.whole != nil {
		m.whole.Count(name, n)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[name] = metric{m.values[name].value + float64(n), "Count"}
}

// Gauge records how much there is of something of one thing, such as a subnet;
// the last of an invocation counts. The unit is one of CloudWatch's ("Count",
// "None", "Seconds").
func (m *Metrics) Gauge(name, unit string, value float64, of ...Dimension) {
	if math.IsNaN(value) || math.IsInf(value, 0) || len(of) == 0 {
		return // CloudWatch takes neither
	}
	if m.whole != nil {
		m.whole.Gauge(name, unit, value, slices.Concat(m.spoke, of)...)
		return
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

// Counts are what was counted since the last Flush, for the summary line.
func (m *Metrics) Counts() map[string]int {
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

// Flush writes what was collected and starts anew: a line for the faults, if
// there are any, and one for each thing that was gauged.
func (m *Metrics) Flush(now time.Time) {
	m.mu.Lock()
	values, gauges := maps.Clone(m.values), m.gauges
	clear(m.values)
	m.gauges = nil
	m.mu.Unlock()
	faults := map[string]metric{}
	for count, v := range values {
		if name, ok := Fault(count); ok {
			faults[name] = metric{faults[name].value + v.value, v.unit}
		}
	}
	m.write(now, m.namespace, nil, faults)
	for _, g := range gauges {
		m.write(now, Namespace, g.of, g.values)
	}
}

func (m *Metrics) write(now time.Time, namespace string, of []Dimension, values map[string]metric) {
	for names := range slices.Chunk(slices.Sorted(maps.Keys(values)), lineMetrics) {
		line := emfLine{"function": m.function}
		if m.version != "" {
			line["version"] = m.version // a property, to be searched for: a dimension would be another metric
		}
		dimensions := []string{} // an empty set is written, and is one
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
				"Namespace":  namespace,
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
