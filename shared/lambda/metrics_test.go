package lambda

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestGaugesHaveALineForEachThing(t *testing.T) {
	var out bytes.Buffer
	m := NewMetrics("subnet-watch", "second-subnet-watch", &out)
	of := func(subnet string) []Dimension { return []Dimension{{"cluster", "prod"}, {"subnet", subnet}} }
	m.Count("SweptClusters", 1)
	m.Count(Failures, 1)
	m.Count("RefusedRequests", 2)
	m.Count("PressesRefused", 3)
	m.Gauge("FreeAddresses", "Count", 12, of("subnet-a")...)
	m.Gauge("FreeAddresses", "Count", 11, of("subnet-a")...)
	m.Gauge("RunwayHours", "None", 3.5, of("subnet-a")...)
	m.Gauge("FreeAddresses", "Count", 0, of("subnet-b")...)
	m.Gauge("RunwayHours", "None", math.Inf(1), of("subnet-b")...)
	m.Gauge("FreeAddresses", "Count", 7)
	m.Flush(time.UnixMilli(1000))
	want := `{"Failures":1,"RefusedRequests":5,"_aws":{"CloudWatchMetrics":[{"Dimensions":[[]],"Metrics":[{"Name":"Failures","Unit":"Count"},{"Name":"RefusedRequests","Unit":"Count"}],"Namespace":"Rollcall/second"}],"Timestamp":1000},"function":"subnet-watch"}
{"FreeAddresses":11,"RunwayHours":3.5,"_aws":{"CloudWatchMetrics":[{"Dimensions":[["cluster","subnet"]],"Metrics":[{"Name":"FreeAddresses","Unit":"Count"},{"Name":"RunwayHours","Unit":"None"}],"Namespace":"Rollcall"}],"Timestamp":1000},"cluster":"prod","function":"subnet-watch","subnet":"subnet-a"}
{"FreeAddresses":0,"_aws":{"CloudWatchMetrics":[{"Dimensions":[["cluster","subnet"]],"Metrics":[{"Name":"FreeAddresses","Unit":"Count"}],"Namespace":"Rollcall"}],"Timestamp":1000},"cluster":"prod","function":"subnet-watch","subnet":"subnet-b"}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	out.Reset()
	m.Flush(time.UnixMilli(2000))
	if out.Len() > 0 {
		t.Errorf("the next invocation says the same again: %s", out.String())
	}
}

// What is counted while nothing is wrong is no metric, which would cost.
func TestCountsOfGoodDaysAreNoMetrics(t *testing.T) {
	var out bytes.Buffer
	m := NewMetrics("join-check", "rollcall-join-check", &out)
	m.Count("SweptClusters", 20)
	m.Count("Joined", 3)
	if counts := m.Counts(); counts["SweptClusters"] != 20 || counts["Joined"] != 3 {
		t.Errorf("the summary line has %v", counts)
	}
	m.Flush(time.UnixMilli(1000))
	if out.Len() > 0 {
		t.Errorf("metrics: %s", out.String())
	}
}

// The format takes 100 metrics a line.
func TestLinesHoldAHundredMetrics(t *testing.T) {
	var out bytes.Buffer
	m := NewMetrics("f", "", &out)
	for i := range 250 {
		m.Gauge(fmt.Sprint("M", i), "None", 1, Dimension{"subnet", "subnet-a"})
	}
	m.Flush(time.UnixMilli(1000))
	var sizes []int
	for _, text := range bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) {
		var line struct {
			AWS struct {
				CloudWatchMetrics []struct{ Metrics []any }
			} `json:"_aws"`
		}
		if err := json.Unmarshal(text, &line); err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(line.AWS.CloudWatchMetrics[0].Metrics))
	}
	if diff := cmp.Diff([]int{100, 100, 50}, sizes); diff != "" {
		t.Errorf("metrics by line (-want +got):\n%s", diff)
	}
}
