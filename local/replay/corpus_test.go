package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rollcall"
	"rollcall/local/capture"
	"rollcall/local/diagnose/look"
	"rollcall/local/payload"
	"rollcall/local/platform/template"
	"rollcall/local/programs"
	"rollcall/local/reading"
	"rollcall/local/simaws"
	"rollcall/local/simaws/worldfile"
	"rollcall/local/stage"
	"rollcall/local/testfull"
	"rollcall/shared/checks"
	"rollcall/shared/event"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
)

// worldStage is a world on the stage with all functions, in this process, at a time when
// its launches are past their join time.
func worldStage(t *testing.T, world string, settings map[string]string, faults ...simaws.FaultRule) *played {
	t.Helper()
	p := &played{}
	file, err := worldfile.Load(world)
	if err != nil {
		t.Fatal(err)
	}
	s, err := stage.Start(t.Context(), stage.Options{
		World: world, At: file.Time.Add(12 * time.Minute), Quiet: true, Rate: 1e-3, Programs: programs.All(), Files: rollcall.Files(),
		Template: "infra/Rollcall.template.json", Rights: "deploy/clusterrole.yaml", Settings: settings, CallFaults: faults,
		Sent: func(_, body string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.sent = append(p.sent, body)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	p.Stage = s
	return p
}

// played is a stage and what was sent on it.
type played struct {
	*stage.Stage
	mu   sync.Mutex
	sent []string
}

// sweeps has each detector sweep once, and gives what they tell.
func sweeps(t *testing.T, s *played) []report.Observation {
	t.Helper()
	seen := sweepsOf(t, s, "")
	s.sent = nil
	return seen
}

// sweepsOf is the same for one detector, or all.
func sweepsOf(t *testing.T, s *played, one string) []report.Observation {
	t.Helper()
	var seen []report.Observation
	for _, f := range s.Template.Functions {
		name := stage.Folder(f)
		if name != "spot-report" && name != cmp.Or(one, "sweep") || one != "" && name != one {
			continue
		}
		for _, raw := range wakes(t, s, f) {
			if r, err := s.Runtime.Invoke(t.Context(), f.Name, raw); err != nil || r.FunctionError != "" {
				t.Fatalf("%s: %v %s %s", f.Name, err, r.FunctionError, r.Payload)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, body := range s.sent {
		if m, err := report.DecodeMessage([]byte(body)); err == nil && m.Observation != nil {
			seen = append(seen, *m.Observation)
		}
	}
	return seen
}

// wakes are the events by which a detector looks at all clusters: its schedule's, or the
// turn of each cluster, which comes to sweep by its queue.
func wakes(t *testing.T, s *played, f template.Function) (list [][]byte) {
	t.Helper()
	now := s.Clock.Now().UTC()
	if stage.Folder(f) == "spot-report" {
		raw, err := json.Marshal(map[string]any{
			"version": "0", "id": "a1b2c3d4-0000-4000-8000-000000000000", "detail-type": "Scheduled Event", "source": "aws.events",
			"account": s.Template.AccountID, "region": s.Template.Region, "time": now.Format(time.RFC3339), "resources": []string{}, "detail": map[string]any{},
		})
		if err != nil {
			t.Fatal(err)
		}
		return [][]byte{raw}
	}
	for _, cluster := range s.World.Clusters() {
		raw, err := event.SweepCluster(spoke.ID{}, cluster, s.Template.AccountID, s.Template.Region, now)
		if err == nil && stage.Folder(f) == "sweep" {
			raw, _, err = payload.Wrap(raw, f, s.Template, now)
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, raw)
	}
	return list
}

// kept is the evidence under a key, unpacked as a capture.
func kept(t *testing.T, s *played, key string) *capture.Capture {
	t.Helper()
	body := s.S3.Object(s.Template.S3Buckets[0].Name, key)
	if body == nil {
		t.Fatalf("there is no %s among %q", key, s.S3.Keys(s.Template.S3Buckets[0].Name))
	}
	dir := t.TempDir()
	if _, err := Unpack(body, dir); err != nil {
		t.Fatal(err)
	}
	c, err := capture.Open(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range c.Warnings {
		t.Errorf("a warning of the capture: %s", w)
	}
	return c
}

// diagnosed are the causes that today's code finds in a capture, as "check of resource".
func diagnosed(t *testing.T, c *capture.Capture, by string) (causes []string, seen []report.Observation) {
	t.Helper()
	account := reading.OfCapture(c)
	served, err := account.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	found, err := look.At(t.Context(), look.Account{
		ID: account.ID, Region: account.Region, AWS: served.AWS, Endpoints: served.Endpoints, Clusters: c.Clusters, Functions: []string{by}, Logs: c.LogGroups(),
		Refused: func(context.Context) []look.Record { return c.LaunchCalls() }, Now: func() time.Time { return c.Time }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found.Failed {
		t.Errorf("%s failed: %v", f.Function, f.Err)
	}
	return causesOf(found.Observations), found.Observations
}

func causesOf(seen []report.Observation) []string {
	var all []string
	for _, o := range seen {
		for _, c := range o.Diagnosis.Causes {
			if c.Confidence != checks.Advice {
				all = append(all, fmt.Sprintf("%s of %s (%s)", c.Check, c.Resource, c.Confidence))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestSameVerdict: what each function found in each world of the corpus that it finds
// something in is found again in the evidence that it kept. Each twenty-ninth world still
// has every function and most kinds of answers.
func TestSameVerdict(t *testing.T) {
	paths, err := filepath.Glob("../worlds/corpus/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("worlds: %v", err)
	}
	every := testfull.Of(1, 29)
	looked, replayed := 0, 0
	for i, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		if i%every != 0 || name == "unseen" || strings.HasSuffix(name, "-healthy") || strings.HasPrefix(name, "base") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := worldStage(t, path, nil)
			seen := sweeps(t, s)
			for _, o := range seen {
				looked++
				want := causesOf([]report.Observation{o})
				if len(want) == 0 {
					continue
				}
				replayed++
				got, again := diagnosed(t, kept(t, s, o.Evidence), o.By)
				for _, cause := range want {
					if !slices.Contains(got, cause) {
						t.Errorf("%s found %s; in its evidence is found %q", o.By, cause, got)
						for _, a := range again {
							for _, f := range a.Blind {
								t.Logf("%s: %s %s %s %s", a.By, f.Source, f.Call, f.Reason, f.Message)
							}
						}
					}
				}
				// Nor is anything found that was not found then.
				for _, cause := range got {
					if !slices.Contains(want, cause) {
						t.Errorf("in the evidence of %s is found %s, which it did not find then: %q", o.By, cause, want)
					}
				}
			}
		})
	}
	if replayed < testfull.Of(200, 5) {
		t.Errorf("%d verdicts of %d were replayed", replayed, looked)
	}
}
