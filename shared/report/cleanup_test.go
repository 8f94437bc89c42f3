package report

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func cleaned(minute int, stop *CleanupStop, addresses int) Summary {
	s := Summary{Format: SummaryFormat, Kind: CleanupSummary, ID: "cleanup/prod/2026-11-20", By: "eni-cleanup", At: at(minute), Cluster: "prod", Cleanup: &Cleanup{Mode: "delete", Day: start, VPC: "vpc-1", Stopped: stop}}
	if addresses > 0 {
		s.Cleanup.Subnets = []CleanupSubnet{{Subnet: subnet, Addresses: addresses, Interfaces: 1, Nodes: 1}}
	}
	return s
}

func TestDecodeCleanup(t *testing.T) {
	want := cleaned(0, nil, 31)
	got, err := DecodeMessage(encoded(t, want))
	if diff := cmp.Diff(Message{Summary: &want}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := DecodeMessage([]byte(`{"format":101,"kind":"cleanup","id":"x","cluster":"c","at":"2026-11-20T14:59:00Z"}`)); !errors.Is(err, ErrNoSummary) {
		t.Errorf("a cleanup of nothing: %v", err)
	}
	// A report function from before takes neither the message nor the record.
	if _, err := Decode(encoded(t, want)); !errors.Is(err, ErrNewerFormat) {
		t.Errorf("an observation: %v", err)
	}
}

func TestRenew(t *testing.T) {
	stop := &CleanupStop{Candidates: 480, Interfaces: 900, Share: 50}
	type said struct {
		ID              string
		Addresses       int
		Stopped, IsOver bool
	}
	var known []Posting
	for i, step := range []struct {
		s    Summary
		want []said
	}{
		{cleaned(0, nil, 0), nil}, // nothing came back: nobody is told
		{cleaned(15, nil, 31), []said{{"cleanup/prod/2026-11-20", 31, false, false}}},
		{cleaned(15, nil, 31), nil},
		{cleaned(10, nil, 12), nil},
		{cleaned(30, stop, 31), []said{{"cleanup/prod/2026-11-20/stopped", 0, true, false}, {"cleanup/prod/2026-11-20", 31, false, false}}},
		{cleaned(20, nil, 31), nil}, // from before it stopped
		{cleaned(45, nil, 40), []said{{"cleanup/prod/2026-11-20/stopped", 0, true, true}, {"cleanup/prod/2026-11-20", 40, false, false}}},
		{cleaned(60, nil, 41), []said{{"cleanup/prod/2026-11-20", 41, false, false}}},
		{cleaned(75, stop, 41), []said{{"cleanup/prod/2026-11-20/stopped", 0, true, false}, {"cleanup/prod/2026-11-20", 41, false, false}}},
	} {
		var got []said
		for _, p := range Renew(known, step.s) {
			c := p.Summary.Cleanup
			line := said{ID: p.Summary.ID, Stopped: c.Stopped != nil, IsOver: c.Stopped != nil && !c.Stopped.Over.IsZero()}
			for _, s := range c.Subnets {
				line.Addresses += s.Addresses
			}
			got = append(got, line)
			if !p.Due() || !p.Done {
				t.Errorf("step %d: %s is due %v, done to others %v", i, p.Summary.ID, p.Due(), p.Done)
			}
			replaced := false
			for k := range known {
				if known[k].Summary.ID == p.Summary.ID {
					known[k], replaced = p, true
				}
			}
			if !replaced {
				known = append(known, p)
			}
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", i, diff)
		}
	}
	if stop.Over != (time.Time{}) {
		t.Error("what was given is changed")
	}
}
