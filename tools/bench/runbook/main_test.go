package main

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"rollcall/shared/checkid"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/testfull"
)

func TestJudge(t *testing.T) {
	other := Finding{Step: "1", Names: []checkid.ID{"sg/cluster-ingress"}}
	cause := Finding{Step: "9a", Names: []checkid.ID{"route/nat-unusable", "route/blackhole"}}
	symptom := Finding{Step: "22", Names: []checkid.ID{"route/blackhole"}, Symptom: true}
	tests := map[string]struct {
		report Report
		want   theirs
	}{
		"no warning":        {Report{}, nothing},
		"another warning":   {Report{Findings: []Finding{other}}, nothing},
		"the cause first":   {Report{Findings: []Finding{cause, other}}, causeFirst},
		"the cause behind":  {Report{Findings: []Finding{other, cause}}, amongOthers},
		"a symptom":         {Report{Findings: []Finding{other, symptom}}, onlySymptom},
		"symptom and cause": {Report{Findings: []Finding{symptom, cause}}, amongOthers},
		"stopped":           {Report{Stopped: "Windows is not supported"}, didNotRun},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := judge(tt.report, []string{"route/blackhole"}); got != tt.want {
				t.Errorf("judge = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestBest(t *testing.T) {
	r := row{
		expect: worldfile.Expect{Incidents: []worldfile.ExpectedIncident{{Cause: "iam/access-missing", Or: []string{"iam/access-wrong-arn"}}}},
		runs: []Report{
			{Stopped: "the instance is not running"},
			{Findings: []Finding{{Step: "11", Names: []checkid.ID{"iam/access-wrong-arn"}}}},
		},
		ours: diagnosis{Incidents: []incident{{Cause: "route/no-egress"}, {Cause: "iam/access-missing"}}},
	}
	if _, level := r.best(); level != causeFirst {
		t.Errorf("best = %d, want the run that names the cause", level)
	}
	if first, named := r.named(); first || !named {
		t.Errorf("named = %t, %t, want behind another", first, named)
	}
	r.runs = nil
	if _, level := r.best(); level != noInstance {
		t.Errorf("best of no run = %d, want noInstance", level)
	}
	if r.kind() != broken {
		t.Errorf("kind = %d, want broken", r.kind())
	}
	r.expect.Incidents[0].Cause = "node/not-registered"
	if r.kind() != untold {
		t.Errorf("kind = %d of a symptom, want untold", r.kind())
	}
}

const (
	corpus   = "../../../stage/worlds/corpus"
	pageFile = "../../../docs/runbook.md"
)

// TestPageIsFresh holds that the committed page has a row for each world and
// no other, and that the runbook's half of it is what the model says now.
// Rollcall's half takes the functions' binaries: go run ./tools/bench/runbook writes it. Every sixth
// world shows that the page is one of this model; make test-full looks at all.
func TestPageIsFresh(t *testing.T) {
	text, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	files, err := worldsOf(corpus)
	if err != nil {
		t.Fatal(err)
	}
	var looked []string
	for i := 0; i < len(files); i += testfull.Count(1, 6) {
		looked = append(looked, files[i])
	}
	rows := make([]row, len(looked))
	var g errgroup.Group
	g.SetLimit(4)
	for i, file := range looked {
		g.Go(func() error {
			var err error
			rows[i], err = look(t.Context(), file)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, r := range rows {
		if r.check == "" || r.kind() == untold {
			continue
		}
		want++
		if r.kind() == broken && len(r.own.health)+len(r.own.conditions) > 0 {
			want++
			if !strings.Contains(page, "\n"+r.ownHalf()) {
				t.Errorf("the page is stale, run go run ./tools/bench/runbook: it lacks %q", r.ownHalf())
			}
		}
		if !strings.Contains(page, "\n"+r.half()) {
			t.Errorf("the page is stale, run go run ./tools/bench/runbook: it lacks %q", r.half())
		}
	}
	if got := strings.Count(page, "\n| ["); testfull.Asked() && got != want {
		t.Errorf("the page has %d worlds, the corpus %d: run go run ./tools/bench/runbook", got, want)
	}
}
