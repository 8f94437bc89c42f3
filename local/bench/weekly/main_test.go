package main

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
)

// The page says what was counted, and a small week takes as much for each cluster: when what is
// read changes, the paragraph is stale.
func TestPageIsFresh(t *testing.T) {
	body, err := os.ReadFile("measured.json")
	if err != nil {
		t.Fatal(err)
	}
	var m Measured
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/ask.md")
	if err != nil {
		t.Fatal(err)
	}
	if want, err := put(string(page), m); err != nil || want != string(page) {
		t.Errorf("docs/ask.md does not say what was counted, run make weekly: %v", err)
	}
	if m.Clusters != 1000 || m.Launches != 100_000 {
		t.Errorf("it was counted with %d clusters and %d launches", m.Clusters, m.Launches)
	}
	got, err := measure(t.Context(), week{spokes: 1, clusters: 10, launches: m.Launches / m.Clusters})
	if err != nil {
		t.Fatal(err)
	}
	if got.perCluster() != m.perCluster() {
		t.Errorf("a cluster takes %.2f queries, %.2f were counted: run make weekly", got.perCluster(), m.perCluster())
	}
	units, counted := got.Units/float64(got.Clusters), m.Units/float64(m.Clusters)
	if math.Abs(units-counted) > counted/20 {
		t.Errorf("a cluster takes %.1f read units, %.1f were counted: run make weekly", units, counted)
	}
}

func TestPutRefuses(t *testing.T) {
	for name, page := range map[string]string{"no mark": "x", "no end": "x" + begin + "y"} {
		if _, err := put(page, Measured{}); err == nil || !strings.Contains(err.Error(), "no place for the paragraph") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
