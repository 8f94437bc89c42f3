package bill

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	relay "rollcall/functions/relay/spec"
	"rollcall/tools/expect"
)

func inputs(t *testing.T) (Template, []Usage) {
	t.Helper()
	source, err := os.ReadFile("../../../infra/Rollcall.template.json")
	expect.OK(t, err)
	template, err := Count(source)
	expect.OK(t, err)
	data, err := os.ReadFile("usage.json")
	expect.OK(t, err)
	var usages []Usage
	expect.OK(t, json.Unmarshal(data, &usages))
	return template, usages
}

// TestIdleBill holds the figures of the design.
func TestIdleBill(t *testing.T) {
	template, usages := inputs(t)
	for i, s := range Sizes() {
		lines, err := Monthly(template, usages[i], s)
		expect.OK(t, err)
		if total := Total(lines); total >= s.Most || total < 1 {
			t.Errorf("%d clusters, %d subnets, %d nodes: $%.2f a month, want under $%.2f", s.Clusters, s.Subnets, s.Nodes, total, s.Most)
			for _, l := range lines {
				t.Logf("%s: %.0f, $%.2f", l.What, l.Count, l.Cost())
			}
		}
	}
}

func TestPageIsFresh(t *testing.T) {
	template, usages := inputs(t)
	want, err := Page(template, usages, Relays{Count: 1, Memory: float64(relay.Spec().Memory)})
	expect.OK(t, err)
	got, err := os.ReadFile("../../../docs/bill.md")
	expect.OK(t, err)
	expect.Same(t, "docs/bill.md is stale, run go run ./tools/bench/bill/measure -keep", string(got), want)
}

// The measurement is of idle hours in which every sweep ran, and its metrics are
// of clusters alone.
func TestMeasurementIsWhole(t *testing.T) {
	_, usages := inputs(t)
	for _, u := range usages {
		perHour := func(name string) float64 { return float64(u.Invocations["rollcall-"+name]) / u.Hours }
		// A tick, and the turn of the one cluster.
		if n := perHour("sweep"); n < 20 || n > 32 {
			t.Errorf("%d nodes: sweep ran %.1f times an hour, want 24", u.Nodes, n)
		}
		if perHour("eni-cleanup") < 3 || perHour("report") < 10 || u.Calls["rollcall-sweep"] == 0 || u.LogBytes == 0 || u.FIFO == 0 {
			t.Errorf("%d nodes: the measurement is not whole: %+v", u.Nodes, u)
		}
		if slices.ContainsFunc(u.Series, func(s string) bool { return !strings.Contains(s, "cluster=") || strings.Contains(s, "subnet=") }) {
			t.Errorf("metrics %q", u.Series)
		}
	}
}

func TestOf(t *testing.T) {
	template := Template{AlarmMetrics: 3, Secrets: 2, Keys: 1, StandardPolled: 2, FIFOPolled: 1, Memory: map[string]float64{"f": 512}}
	u := Usage{
		Nodes: 10, Subnets: 2, Hours: 73, Invocations: map[string]int{"f": 100}, Calls: map[string]int{"f": 250}, Reads: 10, Writes: 20,
		Standard: 30, FIFO: 40, Events: 50, LogBytes: 6_000, Series: []string{"a", "b"},
	}
	lines, err := Monthly(template, u, Size{Clusters: 2, Subnets: 8, Nodes: 20})
	expect.OK(t, err)
	got := map[string]float64{}
	for _, l := range lines {
		got[l.What] = math.Round(l.Count)
	}
	// Ten times for the month, twice for the clusters; subnets twice again.
	want := map[string]float64{
		"alarms": 3, "custom metrics": 4, "secrets": 2, "keys": 1,
		"SQS: idle pollers, standard": 2 * 657_000, "SQS: idle pollers, FIFO": 657_000, "SQS: messages, standard": 600, "SQS: messages, FIFO": 800,
		"Lambda: invocations": 2_000, "Lambda: GB-seconds": 20 * (100*0.5 + 250*0.04) / 2, "DynamoDB: write units": 800, "DynamoDB: read units": 400,
		"events on the Rollcall bus": 1_000, "log bytes": 120_000 + 2_000*350,
	}
	expect.Same(t, "counts", got, want)
	if _, err := Monthly(template, u, Size{Clusters: 2, Subnets: 8, Nodes: 21}); err == nil || !strings.Contains(err.Error(), "do not tell of 2 clusters with 21") {
		t.Errorf("a cluster with fewer nodes is taken for one with more: %v", err)
	}
	u.Invocations = map[string]int{"g": 1}
	if _, err := Monthly(template, u, Size{Clusters: 2, Subnets: 8, Nodes: 20}); err == nil || !strings.Contains(err.Error(), "no function g") {
		t.Errorf("a function that is not in the template: %v", err)
	}
}

func TestCountRefusesWhatItDoesNotKnow(t *testing.T) {
	_, err := Count([]byte(`{"Resources":{"D":{"Type":"AWS::CloudWatch::CompositeAlarm"}}}`))
	if err == nil || !strings.Contains(err.Error(), "D: what a resource of type AWS::CloudWatch::CompositeAlarm costs is not known here") {
		t.Errorf("got %v", err)
	}
}

// TestRelays: where there are relays the bill has lines for them, after all the others and
// beside them; where there are none it has none.
func TestRelays(t *testing.T) {
	template := Template{Memory: map[string]float64{"f": 512, waits: 256}}
	u := Usage{Nodes: 10, Subnets: 2, Hours: 73, Invocations: map[string]int{"f": 100}, LogBytes: 65_000}
	size := Size{Clusters: 2, Subnets: 4, Nodes: 20}
	without, err := Monthly(template, u, size)
	expect.OK(t, err)
	if slices.ContainsFunc(without, func(l Line) bool { return strings.Contains(l.What, "relay") }) {
		t.Errorf("without relays: %+v", without)
	}
	size.Relays = Relays{Count: 2, Memory: 256}
	with, err := Monthly(template, u, size)
	expect.OK(t, err)
	if diff := cmp.Diff(without, with[:len(without)]); diff != "" {
		t.Errorf("relays change the other lines (-without +with):\n%s", diff)
	}
	got := map[string]float64{}
	for _, l := range with[len(without):] {
		got[l.What] = math.Round(l.Count)
	}
	// Two relays, eight lists, twelve times in each of 730 hours; 0.54 s of both 256 MB; 650
	// bytes of the function's and 350 of Lambda's.
	const asked = 2 * 8 * 12 * 730
	expect.Same(t, "counts", got, map[string]float64{"relays: invocations": asked, "relays: GB-seconds": math.Round(asked * 0.54 / 2), "relays: log bytes": asked * 1000})
	for want, x := range map[string]struct {
		template Template
		relays   Relays
	}{
		"no function rollcall-sweep":                      {Template{Memory: map[string]float64{"f": 512}}, size.Relays},
		"100 invocations with 0 MB do not tell of relays": {template, Relays{Count: 1}},
	} {
		size.Relays = x.relays
		if _, err := Monthly(x.template, u, size); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
