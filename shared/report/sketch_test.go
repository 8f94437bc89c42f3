package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
)

func chartOf(of string, size int) func(*Observation) {
	return func(o *Observation) {
		png := make([]byte, size)
		r := rand.NewChaCha8([32]byte{})
		if _, err := r.Read(png); err != nil {
			panic(err)
		}
		o.Charts = append(o.Charts, Chart{Of: of, PNG: png, Alt: "free addresses"})
	}
}

// The record with a picture that Slack does not take reads back as it was, and
// when it is too large the picture goes first.
func TestSketchFitsTheRecord(t *testing.T) {
	obs := observe(leaks(hides(subnetExhausted)), isEmpty(), chartOf(subnet, 25_000), named("1"))
	obs.At = start
	inc := decideAll(nil, []Observation{obs}, start)[0]
	if !inc.Sketch.Due() || inc.Sketch.Turn != "1 open short" {
		t.Fatalf("the sketch is %+v", inc.Sketch)
	}
	var back Incident
	if err := json.Unmarshal(encoded(t, inc), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inc, back); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	inc.Sketch.File = "F1"
	inc.Facts = []Fact{{What: "large", Value: string(bytes.Repeat([]byte("x"), record-20_000))}}
	fit := inc.Fit(record)
	if n := len(encoded(t, fit)); n > record || len(fit.Sketch.PNG) > 0 || fit.Sketch.File != "F1" || len(fit.Facts) != 1 || len(inc.Sketch.PNG) == 0 {
		t.Errorf("%d bytes, the sketch is %d bytes as %q; want the picture gone and nothing else", n, len(fit.Sketch.PNG), fit.Sketch.File)
	}
}

// Charts never make an observation too large, and are in its first part only.
func TestChartsFitTheMessage(t *testing.T) {
	obs := observe(leaks(), named("1"))
	obs.At = start
	for i := range 20 {
		chartOf(fmt.Sprint("subnet-", i), 25_000)(&obs)
	}
	parts, err := obs.Split(1 << 20)
	if err != nil || len(parts) != 1 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	if n := len(encoded(t, parts[0])); n > 256<<10 || len(parts[0].Charts) < 6 || parts[0].Charts[0].Of != "subnet-0" {
		t.Errorf("%d bytes with %d charts; want the first ones, within 256 KiB", n, len(parts[0].Charts))
	}
	big := crowd(5000, "node/not-registered", checks.Symptom)
	chartOf(subnet, 25_000)(&big)
	if parts, err = big.Split(256 << 10); err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if len(p.Charts) > 0 {
			t.Errorf("part %s has charts though all are too large", p.ID)
		}
	}
	if parts[0].Diagnosis.Causes == nil || len(big.Charts) != 1 {
		t.Error("the words are gone, or the observation was changed")
	}
}

// Only incidents of addresses have pictures, and only while somebody looks.
func TestWhoGetsAPicture(t *testing.T) {
	obs := observe(leaks(hides(subnetExhausted)), route("i-1"), launched("i-1", 0, Missed), chartOf(subnet, 10), chartOf(table, 10), named("1"))
	obs.At = at(5)
	for _, inc := range decideAll(nil, []Observation{obs}, at(5)) {
		if got := inc.Sketch.Due(); got != (inc.Key == theLeak) {
			t.Errorf("%s has a picture: %v", inc.Key.Check, got)
		}
	}
	first := observe(runsOut(), chartOf(subnet, 10), named("2"))
	first.At = start
	incidents := decideAll(nil, []Observation{first, obs}, at(5))
	for _, inc := range incidents {
		if inc.Key == theRunway && (inc.State != Closed || inc.Sketch.Due()) {
			t.Errorf("%s, %s: its picture is still to be shown", inc.Key.Check, inc.State)
		}
	}
	// A chart from before what is known is not news.
	late := observe(chartOf(subnet, 20), named("3"))
	late.At = at(1)
	for _, inc := range decideAll(incidents, []Observation{late}, at(6)) {
		if inc.Key == theLeak && len(inc.Sketch.PNG) != 10 {
			t.Errorf("an older chart is taken: %d bytes", len(inc.Sketch.PNG))
		}
	}
}
