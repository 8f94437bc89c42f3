package look

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/reading"
	"rollcall/local/simaws/world"
	"rollcall/local/simaws/worldfile"
	"rollcall/shared/askonce"
)

// blackhole is an account with one instance that cannot join.
func blackhole(t *testing.T) Account {
	t.Helper()
	file, err := worldfile.Load("../../worlds/route-blackhole.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w, err := world.New(file, world.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	now := file.Time.Add(12 * time.Minute)
	w.Advance(now)
	a := reading.OfWorld(w, file)
	open, err := a.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(open.Close)
	return Account{ID: a.ID, Region: a.Region, AWS: open.AWS, Endpoints: open.Endpoints, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)}
}

// told are the functions that told something, in their order, with their first cause.
func told(s Seen) []string {
	var list []string
	for _, o := range s.Observations {
		cause := ""
		if len(o.Diagnosis.Causes) > 0 {
			cause = " " + string(o.Diagnosis.Causes[0].Check)
		}
		list = append(list, o.By+cause)
	}
	return list
}

// What the functions tell comes in the order in which report would get it, and what one
// of them asked another does not ask again.
func TestAt(t *testing.T) {
	a := blackhole(t)
	a.Once = &askonce.Once{}
	s, err := At(t.Context(), a)
	if err != nil || len(s.Failed) > 0 {
		t.Fatal(err, s.Failed)
	}
	want := []string{"join-check route/blackhole", "nodegroup-watch", "spot-report", "subnet-watch", "zone-watch"}
	got := told(s)
	for i := range got {
		if i > 0 {
			got[i], _, _ = strings.Cut(got[i], " ") // advice
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	asked := a.Once.Asked()
	if s, err = At(t.Context(), a); err != nil || len(s.Observations) != len(want) || a.Once.Asked() != asked {
		t.Errorf("%v, %d questions more for the same look", err, a.Once.Asked()-asked)
	}
	a.Clusters = []string{"other"}
	if s, err = At(t.Context(), a); err != nil || len(s.Observations)+len(s.Failed) > 0 {
		t.Errorf("%v: a cluster that is not there tells %q, %v", err, told(s), s.Failed)
	}
}

// A refused call for instances of the cluster is looked at first; those of others, and
// what is none, are not.
func TestRefusedCalls(t *testing.T) {
	raw, err := os.ReadFile("../../../events/in/ec2-call-create-fleet-refused.json")
	if err != nil {
		t.Fatal(err)
	}
	var sample struct{ Detail json.RawMessage }
	if err := json.Unmarshal(raw, &sample); err != nil {
		t.Fatal(err)
	}
	a := blackhole(t)
	record := func(cluster string) Record {
		text := strings.ReplaceAll(string(sample.Detail), "kubernetes.io/cluster/prod", "kubernetes.io/cluster/"+cluster)
		text = strings.ReplaceAll(text, "eks-workshop", cluster)
		var tree map[string]any
		if err := json.Unmarshal([]byte(text), &tree); err != nil {
			t.Fatal(err)
		}
		tree["eventTime"] = a.Now().Add(-5 * time.Minute).Format(time.RFC3339)
		out, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, tt := range map[string]struct {
		records []Record
		first   string
	}{
		"none":               {nil, "join-check"},
		"of this cluster":    {[]Record{record("eks-workshop")}, "launch-watch"},
		"of another cluster": {[]Record{record("other")}, "join-check"},
		"what is none":       {[]Record{Record(`{"eventName": "RunInstances"}`), Record(`[]`)}, "join-check"},
	} {
		t.Run(name, func(t *testing.T) {
			a.Clusters = []string{"eks-workshop"}
			a.Refused = func(context.Context) []Record { return tt.records }
			s, err := At(t.Context(), a)
			if err != nil || len(s.Failed) > 0 || !strings.HasPrefix(told(s)[0], tt.first) {
				t.Errorf("%v, %v, told %q, want %s first", err, s.Failed, told(s), tt.first)
			}
		})
	}
}

// A function that panics is told as one that failed, by its name.
func TestPanicsAreTold(t *testing.T) {
	a := blackhole(t)
	a.Endpoints = func(string) (string, []byte, http.RoundTripper, bool) { panic("no way") }
	s, err := At(t.Context(), a)
	if err != nil || len(s.Failed) == 0 || s.Failed[0].Function != "join-check" || s.Failed[0].Err.Error() != "it panicked: no way" {
		t.Errorf("%v, failed %v", err, s.Failed)
	}
}

// Whoever gives up is told so.
func TestGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := blackhole(t)
	cancel()
	if _, err := At(ctx, a); err == nil {
		t.Error("a look that was given up says something")
	}
}

// The settings are those of a new deployment; no launch is given up.
func TestSettings(t *testing.T) {
	c, err := settings()
	if err != nil {
		t.Fatal(err)
	}
	got := []any{c.JoinTime, c.GiveUp, c.ReportHour, len(c.Cleanups), c.CleanupGrace, len(c.CleanupUntagged), c.RunwayHorizon, c.SubnetMetrics}
	want := []any{5 * time.Minute, time.Duration(math.MaxInt64), 8, 0, 30 * time.Minute, 0, 24 * time.Hour, false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Without clusters that are asked for all are looked at.
func TestWatches(t *testing.T) {
	all, some := Account{}, Account{Clusters: []string{"prod"}}
	if !all.watches("dev") || !some.watches("prod") || some.watches("dev") {
		t.Errorf("all watch dev %v, some prod %v and dev %v", all.watches("dev"), some.watches("prod"), some.watches("dev"))
	}
}
