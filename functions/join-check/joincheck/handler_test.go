package joincheck

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/functions/join-check/spec"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

func bench(t *testing.T, o stagetest.Options) *stagetest.Bench {
	t.Helper()
	return stagetest.Start(t, spec.Spec(), Build, o)
}

// launched is a bench on which one instance was launched, with the events of
// its launch.
func launched(t *testing.T, o stagetest.Options) (b *stagetest.Bench, instance string, news []string) {
	t.Helper()
	b = bench(t, o)
	b.Scale(1)
	news = b.News(0)
	return b, b.Instance(news[0]), news
}

// healthy is a world in which nodes join, and which launches none by itself.
var healthy = stagetest.Options{World: "healthy-nat.yaml", Over: "timeline: []\n"}

func sample(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../events/in", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestMissed(t *testing.T) {
	b, id, news := launched(t, stagetest.Options{})
	b.Advance(5 * time.Minute)
	if back := b.Send(append(news, news...)...); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	o := b.Observation()
	if len(o.Launches) != 1 || o.Launches[0].Instance != id || o.Launches[0].Status != outcome.Missed {
		t.Errorf("launches %+v, want that %s missed the roll", o.Launches, id)
	}
	if got := stagetest.Causes(o)["route/no-egress"]; got != stagetest.Table {
		t.Errorf("causes %v, want %s", stagetest.Causes(o), stagetest.Table)
	}
	l, ok := b.Launch(id)
	if !ok || l.Status != outcome.Missed || l.Looks != 1 || !l.Due.Equal(l.Started.Add(5*time.Minute)) {
		t.Errorf("record %+v (%v)", l, ok)
	}
	if got := b.Counts(); got["Missed"] != 1 || got["Joined"] != 0 {
		t.Errorf("counts %v, want one missed", got)
	}
	if got := b.Reminders(); len(got) > 0 {
		t.Errorf("reminders %v; the sweep looks again", got)
	}
}

func TestJoined(t *testing.T) {
	b, id, news := launched(t, healthy)
	b.Advance(5 * time.Minute)
	b.Calls()
	b.Send(news...)
	calls := b.Calls()
	o := b.Observation()
	if len(o.Launches) != 1 || o.Launches[0].Status != outcome.Joined || o.Launches[0].Ready.IsZero() {
		t.Fatalf("launches %+v, want one that joined and when", o.Launches)
	}
	l, _ := b.Launch(id)
	if l.Status != outcome.Joined || !l.Registered.Equal(o.Launches[0].Registered) || !l.Ready.After(l.Registered) || l.Ready.After(b.Now()) {
		t.Errorf("record %+v", l)
	}
	if calls["ec2:DescribeRouteTables"] > 0 {
		t.Errorf("the network was read though all have joined: %v", calls)
	}
	// It is final: whatever comes later costs one read of its record.
	b.Send(news...)
	if n := len(b.Observations()); n > 0 {
		t.Errorf("%d observations of a launch whose outcome is known", n)
	}
	if diff := cmp.Diff(map[string]int{"dynamodb:BatchGetItem": 1}, b.Calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestWaiting: who is called before it is due is called again when it is.
func TestWaiting(t *testing.T) {
	b, id, news := launched(t, healthy)
	b.Send(news[0])
	l, _ := b.Launch(id)
	if l.Status != outcome.Waiting {
		t.Fatalf("record %+v, want one that waits", l)
	}
	if got := b.Reminders()[id]; got != detect.Soon {
		t.Errorf("asked again in %s, want %s", got, detect.Soon)
	}
	b.Observations()
	b.Advance(2 * time.Minute)
	reminder, err := event.LookAgain(spoke.ID{}, []string{id}, b.Now())
	if err != nil {
		t.Fatal(err)
	}
	b.Send(string(reminder))
	if l, _ := b.Launch(id); l.Status != outcome.Joined {
		t.Errorf("record %+v, want that the second look saw it join", l)
	}
}

func TestWaitingWhileAnIncidentIsOpen(t *testing.T) {
	b, id, news := launched(t, healthy)
	_, err := b.Store.SaveIncident(t.Context(), incident.Incident{
		Format: report.Format, Key: report.Key{Cluster: stagetest.Cluster, Check: "route/no-egress", Resource: stagetest.Table},
		State: incident.Open, Covers: []string{stagetest.Subnet},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Send(news[0])
	if got := b.Reminders()[id]; got != detect.Soon {
		t.Errorf("asked again in %s, want %s", got, detect.Soon)
	}
	// What the incident is about is judged, so that it can be closed.
	o := b.Observation()
	if !slices.ContainsFunc(o.Diagnosis.Passed, func(p diagnose.Passed) bool {
		return p.Check == "route/no-egress" && slices.Contains(p.Covers, stagetest.Subnet)
	}) {
		t.Errorf("passed %+v, want route/no-egress for %s", o.Diagnosis.Passed, stagetest.Subnet)
	}
}

func TestGone(t *testing.T) {
	b, id, news := launched(t, stagetest.Options{})
	b.Send(news[0])
	b.Observations()
	b.Call("ec2:TerminateInstances", `{"InstanceIds":["`+id+`"]}`)
	b.Advance(5 * time.Minute)
	b.Send(news[1])
	o := b.Observation()
	i := slices.IndexFunc(o.Launches, func(l report.Launch) bool { return l.Instance == id })
	if i < 0 || o.Launches[i].Status != outcome.Gone || o.Launches[i].Ended.IsZero() || o.Launches[i].EndedWhy == "" {
		t.Errorf("launches %+v, want that %s is gone, when and why", o.Launches, id)
	}
	if l, _ := b.Launch(id); l.Status != outcome.Gone || l.Subnet != stagetest.Subnet {
		t.Errorf("record %+v, want gone, and where it was", l)
	}
}

// TestForgotten: a recorded launch that EC2 does not describe any more is gone.
func TestForgotten(t *testing.T) {
	b := bench(t, stagetest.Options{})
	started := b.Now().Add(-2 * time.Hour)
	if _, err := b.Store.CreateLaunch(t.Context(), store.LaunchRecord{
		Launch:  outcome.Launch{Instance: "i-0ccccccccccccccc1", Subnet: stagetest.Subnet, Started: started, Status: outcome.Waiting},
		Cluster: stagetest.Cluster,
		Due:     started.Add(5 * time.Minute),
	}); err != nil {
		t.Fatal(err)
	}
	if back := b.Send(running("i-0ccccccccccccccc1"), running("i-0ccccccccccccccc2")); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	if o := b.Observation(); len(o.Launches) != 1 || o.Launches[0].Status != outcome.Gone {
		t.Errorf("launches %+v, want one that is gone", o.Launches)
	}
	if got := b.Counts(); got["UnknownInstances"] != 1 || got["Gone"] != 1 {
		t.Errorf("counts %v, want one gone, and one that nobody knows", got)
	}
}

func TestGivenUp(t *testing.T) {
	b, id, news := launched(t, stagetest.Options{Over: `
autoscaling:
  LifecycleHooks: []
`})
	b.Advance(3 * time.Hour)
	b.Send(news[0])
	if l, _ := b.Launch(id); l.Status != outcome.GivenUp {
		t.Errorf("record %+v, want given up", l)
	}
	if o := b.Observation(); stagetest.Causes(o)["route/no-egress"] != stagetest.Table {
		t.Errorf("causes %v: what is given up is explained all the same", stagetest.Causes(o))
	}
}

func TestMalformedAloneIsGivenBack(t *testing.T) {
	b, _, news := launched(t, stagetest.Options{})
	if back := b.Send("{", news[0], "[]"); !slices.Equal(back, []string{"m0", "m2"}) {
		t.Errorf("gave back %q, want the two that cannot be read", back)
	}
	if o := b.Observation(); len(o.Launches) != 1 {
		t.Errorf("%d launches, want that of the good message", len(o.Launches))
	}
	if got := b.Counts(); got["MalformedEvents"] != 2 {
		t.Errorf("counts %v, want 2 malformed events", got)
	}
}

// TestLostRace: two invocations look at one launch; the second to write adds
// what it knows to what the first has written.
func TestLostRace(t *testing.T) {
	counts := map[string]int{}
	first := store.LaunchRecord{Launch: outcome.Launch{Instance: "i-1", Status: outcome.Waiting}, Version: 2}
	first.Learn(outcome.Facts{Noticed: time.Unix(100, 0)})
	table := &late{have: first}
	h := handler{launches: table, Detector: detect.Detector{Count: func(name string, n int) { counts[name] += n }}}
	mine := store.LaunchRecord{Launch: outcome.Launch{Instance: "i-1", Status: outcome.Missed}, Version: 1}
	mine.Learn(outcome.Facts{Missed: time.Unix(200, 0)})
	if err := h.save(t.Context(), true, mine); err != nil || counts["LostRaces"] != 1 {
		t.Errorf("error %v, counts %v; want one lost race and no error", err, counts)
	}
	if got := table.have; got.Noticed.IsZero() || got.Missed.IsZero() || got.Status != outcome.Missed || got.Version != 3 {
		t.Errorf("record %+v, want what both knew", got)
	}
}

// late is a table that holds a newer version than was read.
type late struct {
	Launches
	have store.LaunchRecord
}

func (l *late) GetLaunches(context.Context, []string) (map[string]store.LaunchRecord, error) {
	return map[string]store.LaunchRecord{l.have.ID(): l.have}, nil
}

func (l *late) SaveLaunch(_ context.Context, with store.LaunchRecord) error {
	if with.Version != l.have.Version {
		return fmt.Errorf("save: %w", &store.Conflict{Record: "i-1", Over: with.Version})
	}
	with.Version++
	l.have = with
	return nil
}
