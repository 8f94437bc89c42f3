package outbox

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/report"
	"rollcall/tools/expect"
)

func TestDecodeCleanup(t *testing.T) {
	want := incidenttest.Cleaned(0, nil, 31)
	got, err := report.DecodeMessage(incidenttest.Encoded(t, want))
	if diff := cmp.Diff(report.Message{Summary: &want}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := report.DecodeMessage([]byte(`{"format":101,"kind":"cleanup","id":"x","cluster":"c","at":"2026-11-20T14:59:00Z"}`)); !errors.Is(err, report.ErrNoSummary) {
		t.Errorf("a cleanup of nothing: %v", err)
	}
	// A report function from before takes neither the message nor the record.
	if _, err := report.Decode(incidenttest.Encoded(t, want)); !errors.Is(err, report.ErrNewerFormat) {
		t.Errorf("an observation: %v", err)
	}
}

func TestRenew(t *testing.T) {
	stop := &report.CleanupStop{Candidates: 480, Interfaces: 900, Share: 50}
	type said struct {
		ID              string
		Addresses       int
		Stopped, IsOver bool
	}
	var known []Posting
	for i, step := range []struct {
		s    report.Summary
		want []said
	}{
		{incidenttest.Cleaned(0, nil, 0), nil}, // nothing came back: nothing is posted
		{incidenttest.Cleaned(15, nil, 31), []said{{"cleanup/prod/2026-11-20", 31, false, false}}},
		{incidenttest.Cleaned(15, nil, 31), nil},
		{incidenttest.Cleaned(10, nil, 12), nil},
		{incidenttest.Cleaned(30, stop, 31), []said{{"cleanup/prod/2026-11-20/stopped", 0, true, false}, {"cleanup/prod/2026-11-20", 31, false, false}}},
		{incidenttest.Cleaned(20, nil, 31), nil}, // from before it stopped
		{incidenttest.Cleaned(45, nil, 40), []said{{"cleanup/prod/2026-11-20/stopped", 0, true, true}, {"cleanup/prod/2026-11-20", 40, false, false}}},
		{incidenttest.Cleaned(60, nil, 41), []said{{"cleanup/prod/2026-11-20", 41, false, false}}},
		{incidenttest.Cleaned(75, stop, 41), []said{{"cleanup/prod/2026-11-20/stopped", 0, true, false}, {"cleanup/prod/2026-11-20", 41, false, false}}},
	} {
		var got []said
		for _, p := range Renew(known, step.s, nil) {
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
		expect.Same(t, fmt.Sprintf("step %d", i), got, step.want)
	}
	if stop.Over != (time.Time{}) {
		t.Error("what was given is changed")
	}
}

// TestParts: what waits and what is kept is of the whole cluster, and stands in one message.
func TestParts(t *testing.T) {
	day := incidenttest.Cleaned(0, nil, 0)
	day.Cleanup.Left, day.Cleanup.Kept, day.Cleanup.Nodes = 3, map[string]int{"untagged": 2}, 5
	for _, id := range []string{"subnet-a", "subnet-b", "subnet-c"} {
		day.Cleanup.Subnets = append(day.Cleanup.Subnets, report.CleanupSubnet{Subnet: id, Nodes: 2})
	}
	type part struct {
		ID                   string
		Subnets, Nodes, Left int
		Kept                 bool
	}
	for _, c := range []struct {
		apart string
		want  []part
	}{
		{"", []part{{"", 3, 5, 3, true}}},
		{"subnet-b", []part{{"/subnet-b", 1, 0, 0, false}, {"", 2, 0, 3, true}}},
		{"subnet-a subnet-b subnet-c", []part{{"/subnet-a", 1, 0, 0, false}, {"/subnet-b", 1, 0, 0, false}, {"/subnet-c", 1, 0, 3, true}}},
	} {
		var got []part
		for _, p := range Parts(day, func(subnet string) bool { return strings.Contains(c.apart, subnet) }) {
			got = append(got, part{strings.TrimPrefix(p.ID, day.ID), len(p.Cleanup.Subnets), p.Cleanup.Nodes, p.Cleanup.Left, p.Cleanup.Kept != nil})
		}
		expect.Same(t, "apart: "+c.apart, got, c.want)
	}
}

// The wait doubles up to a quarter of an hour, of each target by itself.
func TestRefused(t *testing.T) {
	var r ClusterRecord
	now := incidenttest.Noon
	for i, want := range []time.Duration{2, 4, 8, 15, 15, 15} {
		if first := r.Refused(ToSlack, "token_revoked", now); first != (i == 0) {
			t.Errorf("refusal %d is the first: %t", i+1, first)
		}
		want *= time.Minute
		if !r.Held(ToSlack, now.Add(want-time.Second)) || r.Held(ToSlack, now.Add(want)) || r.Held(ToChannel("C1"), now) {
			t.Errorf("refusal %d: %+v, want it held for %s, and nobody else", i+1, r.Refusals, want)
		}
		now = now.Add(want)
	}
	r.Refused(ToChannel("C1"), "is_archived", incidenttest.Noon)
	r.Refused(ToBus, "AccessDeniedException", incidenttest.Noon)
	want := []Refusal{
		{Target: ToBus, Code: "AccessDeniedException", Since: incidenttest.Noon, Times: 1, Next: incidenttest.Noon.Add(2 * time.Minute)},
		{Target: ToSlack, Code: "token_revoked", Since: incidenttest.Noon, Times: 6, Next: now},
		{Target: ToChannel("C1"), Code: "is_archived", Since: incidenttest.Noon, Times: 1, Next: incidenttest.Noon.Add(2 * time.Minute)},
	}
	expect.Same(t, "refusals", r.Refusals, want)
	if !r.Keep(func(x Target) bool { return x != ToBus }) || r.Keep(func(Target) bool { return true }) || len(r.Refusals) != 2 {
		t.Errorf("kept %+v", r.Refusals)
	}
	for range 70 { // years of it
		r.Refused(ToSlack, "token_revoked", now)
	}
	if !r.Held(ToSlack, now) || r.Held(ToSlack, now.Add(lastRetry)) {
		t.Errorf("after many times: %+v", r.Refusals[0])
	}
}

func TestRefusalsAreBounded(t *testing.T) {
	var r ClusterRecord
	for i := range mostRefusals + 5 {
		if !r.Refused(OfSummary(fmt.Sprint(i)), "x", incidenttest.Noon) {
			t.Fatalf("%d is not new", i)
		}
	}
	if len(r.Refusals) != mostRefusals {
		t.Errorf("%d are kept, want %d", len(r.Refusals), mostRefusals)
	}
	if r.Refused(OfSummary("0"), "x", incidenttest.Noon) || r.Refusals[0].Times != 2 {
		t.Errorf("a known one is not counted any more: %+v", r.Refusals[0])
	}
}

// A cluster with open incidents is looked after a day after the last message, and
// its record is not written with each of them.
func TestFollow(t *testing.T) {
	var r ClusterRecord
	if r.Follow(false, false, incidenttest.Noon) || r.Due(incidenttest.Noon) {
		t.Error("nothing is open, and something is remembered")
	}
	if !r.Follow(true, false, incidenttest.Noon) || r.Follow(true, false, incidenttest.Noon.Add(time.Hour)) || !r.Follow(true, false, incidenttest.Noon.Add(time.Hour+1)) {
		t.Errorf("%+v: want it written when something opens, and after more than an hour", r)
	}
	woken := incidenttest.Noon.Add(time.Hour + 1 + 24*time.Hour)
	if r.Due(woken.Add(-1)) || !r.Due(woken) {
		t.Errorf("woken at %s, want %s", r.Wake, woken)
	}
	if !r.Follow(false, false, woken) || r.Due(woken.Add(100*time.Hour)) {
		t.Errorf("%+v is looked after, and nothing is open", r)
	}
	r.Refused(ToBus, "x", incidenttest.Noon)
	if r.Due(incidenttest.Noon.Add(firstRetry-1)) || !r.Due(incidenttest.Noon.Add(firstRetry)) {
		t.Error("what is refused is not tried when it is time")
	}
}
