package subnetwatch

import (
	"bytes"
	"image/png"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/snapshot"
)

// A picture goes with what is said of a subnet, and with what it got back.
func TestCharts(t *testing.T) {
	b := newBench()
	if err := b.run(); err != nil {
		t.Fatal(err)
	}
	if n := len(b.observations[0].Charts); n != 1 || b.observations[0].Charts[0].Of != "subnet-b" {
		t.Fatalf("%d charts, want that of subnet-b, which is nearly full", n)
	}
	b = newBench()
	for k := range 30 {
		b.samples = append(b.samples, snapshot.Sample{Subnet: "subnet-a", At: morning.Add(-time.Duration(30-k) * 5 * time.Minute), Free: 250 - k, Total: 251})
	}
	b.returned = []snapshot.Returned{{Subnet: "subnet-a", Interfaces: 12, Addresses: 31, Nodes: 4, Last: morning.Add(-time.Minute)}}
	if err := b.run(); err != nil {
		t.Fatal(err)
	}
	charts := b.observations[0].Charts
	if len(charts) != 2 || charts[1].Of != "subnet-a" || !strings.Contains(charts[1].Alt, "+31") || charts[1].Returned != 31 || charts[0].Returned != 0 {
		t.Fatalf("charts: %+v, want subnet-b's and that of subnet-a, with what came back", charts)
	}
	for _, c := range charts {
		if _, err := png.Decode(bytes.NewReader(c.PNG)); err != nil {
			t.Errorf("%s: %v", c.Of, err)
		}
	}
}

// What a cleanup gave back after the look began is not in the picture: who goes by
// what it says would never draw the one that has it.
func TestChartOfACleanupAfterTheLook(t *testing.T) {
	b := newBench()
	b.samples = []snapshot.Sample{{Subnet: "subnet-a", At: morning.Add(-5 * time.Minute), Free: 0, Total: 251}}
	b.returned = []snapshot.Returned{{Subnet: "subnet-a", Interfaces: 9, Addresses: 90, Nodes: 9, Last: morning.Add(time.Second)}}
	if err := b.run(); err != nil {
		t.Fatal(err)
	}
	charts := b.observations[0].Charts
	if len(charts) != 2 || charts[1].Of != "subnet-a" || charts[1].Returned != 0 || strings.Contains(charts[1].Alt, "+90") {
		t.Fatalf("charts: %+v, want subnet-a's without what came back after it", charts)
	}
}

// The hours of each watched subnet are rolled up.
func TestHoursAreRolledUp(t *testing.T) {
	b := newBench()
	if err := b.run(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"subnet-a", "subnet-b", "subnet-pods"}; !slices.Equal(b.rolled, want) {
		t.Errorf("rolled up %q, want %q", b.rolled, want)
	}
}
