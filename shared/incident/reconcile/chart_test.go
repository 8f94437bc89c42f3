package reconcile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/report"
)

func chartOf(of string, size int) func(*report.Observation) {
	return func(o *report.Observation) {
		png := make([]byte, size)
		r := rand.NewChaCha8([32]byte{})
		if _, err := r.Read(png); err != nil {
			panic(err)
		}
		o.Charts = append(o.Charts, report.Chart{Of: of, PNG: png, Alt: "free addresses"})
	}
}

// The record with a picture that Slack does not take reads back as it was, and
// when it is too large the picture goes first.
func TestSketchFitsTheRecord(t *testing.T) {
	obs := incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted)), incidenttest.IsEmpty(), chartOf(incidenttest.Subnet, 25_000), incidenttest.Named("1"))
	obs.At = incidenttest.Start
	inc := incidenttest.DecideAll(nil, []report.Observation{obs}, incidenttest.Start)[0]
	if !inc.Chart.Due() || inc.Chart.Turn != "1 open short" {
		t.Fatalf("the sketch is %+v", inc.Chart)
	}
	var back incident.Incident
	if err := json.Unmarshal(incidenttest.Encoded(t, inc), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inc, back); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	inc.Chart.File = "F1"
	inc.Facts = []report.Fact{{What: "large", Value: string(bytes.Repeat([]byte("x"), incidenttest.Record-20_000))}}
	fit := inc.Fit(incidenttest.Record)
	if n := len(incidenttest.Encoded(t, fit)); n > incidenttest.Record || len(fit.Chart.PNG) > 0 || fit.Chart.File != "F1" || len(fit.Facts) != 1 || len(inc.Chart.PNG) == 0 {
		t.Errorf("%d bytes, the sketch is %d bytes as %q; want the picture gone and nothing else", n, len(fit.Chart.PNG), fit.Chart.File)
	}
}

// Charts never make an observation too large, and are in its first part only.
func TestChartsFitTheMessage(t *testing.T) {
	obs := incidenttest.Observe(incidenttest.Leaks(), incidenttest.Named("1"))
	obs.At = incidenttest.Start
	for i := range 20 {
		chartOf(fmt.Sprint("subnet-", i), 25_000)(&obs)
	}
	parts, err := obs.Split(1 << 20)
	if err != nil || len(parts) != 1 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	if n := len(incidenttest.Encoded(t, parts[0])); n > 256<<10 || len(parts[0].Charts) < 6 || parts[0].Charts[0].Of != "subnet-0" {
		t.Errorf("%d bytes with %d charts; want the first ones, within 256 KiB", n, len(parts[0].Charts))
	}
	big := incidenttest.Crowd(5000, "node/not-registered", checks.Symptom)
	chartOf(incidenttest.Subnet, 25_000)(&big)
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
	obs := incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted)), incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Missed), chartOf(incidenttest.Subnet, 10), chartOf(incidenttest.Table, 10), incidenttest.Named("1"))
	obs.At = incidenttest.At(5)
	for _, inc := range incidenttest.DecideAll(nil, []report.Observation{obs}, incidenttest.At(5)) {
		if got := inc.Chart.Due(); got != (inc.Key == incidenttest.TheLeak) {
			t.Errorf("%s has a picture: %v", inc.Key.Check, got)
		}
	}
	first := incidenttest.Observe(incidenttest.RunsOut(), chartOf(incidenttest.Subnet, 10), incidenttest.Named("2"))
	first.At = incidenttest.Start
	incidents := incidenttest.DecideAll(nil, []report.Observation{first, obs}, incidenttest.At(5))
	for _, inc := range incidents {
		if inc.Key == incidenttest.TheRunway && (inc.State != incident.Closed || inc.Chart.Due()) {
			t.Errorf("%s, %s: its picture is still to be shown", inc.Key.Check, inc.State)
		}
	}
	// A chart from before what is known is not news.
	late := incidenttest.Observe(chartOf(incidenttest.Subnet, 20), incidenttest.Named("3"))
	late.At = incidenttest.At(1)
	for _, inc := range incidenttest.DecideAll(incidents, []report.Observation{late}, incidenttest.At(6)) {
		if inc.Key == incidenttest.TheLeak && len(inc.Chart.PNG) != 10 {
			t.Errorf("an older chart is taken: %d bytes", len(inc.Chart.PNG))
		}
	}
}
