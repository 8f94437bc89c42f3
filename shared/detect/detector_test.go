package detect

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// harness is a detector with a region, whose messages it keeps.
type harness struct {
	Detector
	names  []string
	failed *snapshot.Failure
	listed int
	counts map[string]int
	sent   []report.Observation
}

func newStand() *harness {
	s := &harness{counts: map[string]int{}}
	s.Detector = Detector{
		By: "join-check", Region: "us-west-2", Reader: s, Results: s, Watches: func(cluster string) bool { return cluster != "other" },
		Now: func() time.Time { return began }, Log: slog.New(slog.DiscardHandler), Count: func(name string, n int) { s.counts[name] += n },
	}
	return s
}

func (s *harness) Clusters(context.Context) ([]string, *snapshot.Failure) {
	s.listed++
	return s.names, s.failed
}

func (s *harness) Read(_ context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	if q.Cluster == "gone" {
		return nil, gather.ErrNoCluster
	}
	return &snapshot.Snapshot{Time: q.Time, Account: q.Account, Region: q.Region, Cluster: snapshot.Cluster{Name: q.Cluster}}, nil
}

func (s *harness) SendResult(_ context.Context, o report.Observation) error {
	s.sent = append(s.sent, o)
	return nil
}

func TestEach(t *testing.T) {
	down := errors.New("down")
	var seen []string
	look := func(_ context.Context, name string) error {
		if seen = append(seen, name); name == "bad" {
			return down
		}
		return nil
	}
	s := newStand()
	s.names = []string{"bad", "dev", "prod"}
	if err := s.Each(t.Context(), nil, look); !errors.Is(err, down) || err.Error() != "sweep cluster bad: down" || !slices.Equal(seen, s.names) || s.counts["SweptClusters"] != 2 {
		t.Errorf("%v, looked at %q, %v", err, seen, s.counts)
	}
	seen = nil
	if err := s.Each(t.Context(), []string{"prod"}, look); err != nil || s.listed != 1 || !slices.Equal(seen, []string{"prod"}) {
		t.Errorf("%v, looked at %q; want the named one, and no list", err, seen)
	}
	seen = nil
	if err := s.Each(t.Context(), []string{}, look); err != nil || len(seen) > 0 {
		t.Errorf("none is named: %v, looked at %q", err, seen)
	}
	s.failed = &snapshot.Failure{Call: "eks:ListClusters", Reason: snapshot.Denied, Message: "no"}
	if err := s.Each(t.Context(), nil, look); err == nil || err.Error() != "list the clusters: eks:ListClusters denied: no" {
		t.Error(err)
	}
}

func TestOne(t *testing.T) {
	s := newStand()
	var seen []string
	look := func(_ context.Context, name string) error { seen = append(seen, name); return nil }
	for _, name := range []string{"prod", "other"} {
		if err := s.One(t.Context(), name, look); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(seen, []string{"prod"}) || s.counts["ForeignClusters"] != 1 {
		t.Errorf("looked at %q, %v", seen, s.counts)
	}
}

func TestIgnoreNoCluster(t *testing.T) {
	s := newStand()
	_, err := s.Read(t.Context(), s.Query("gone", ""))
	if err := s.IgnoreNoCluster(t.Context(), "gone", err); err != nil || s.counts["ForeignClusters"] != 1 {
		t.Errorf("%v, %v", err, s.counts)
	}
	down := errors.New("down")
	if err := s.IgnoreNoCluster(t.Context(), "prod", down); !errors.Is(err, down) || s.counts["ForeignClusters"] != 1 {
		t.Errorf("%v, %v", err, s.counts)
	}
}

// TestMessages: what cannot be read goes back alone.
func TestMessages(t *testing.T) {
	s := newStand()
	started := `{"id":"x","detail-type":"EC2 Instance State-change Notification","source":"aws.ec2","account":"111122223333","time":"2026-11-20T14:59:06Z","region":"us-west-2","detail":{"instance-id":"i-1","state":"running"}}`
	list, failed := s.Messages([]event.Message{{ID: "a", Body: started, Received: 1}, {ID: "b", Body: "{", Received: 3}, {ID: "c", Body: started, Received: 2}})
	got := map[string]bool{}
	for _, m := range list {
		if m.Instance != "i-1" {
			t.Errorf("message %s is about %q", m.Receipt, m.Instance)
		}
		got[m.Receipt] = m.Again
	}
	if diff := cmp.Diff(map[string]bool{"a": false, "c": true}, got); diff != "" || !slices.Equal(failed, []string{"b"}) || s.counts["MalformedEvents"] != 1 {
		t.Errorf("failed %q, %v, messages (-want +got):\n%s", failed, s.counts, diff)
	}
}

// TestRun: one snapshot is judged, and report told of it once.
func TestRun(t *testing.T) {
	s := newStand()
	snap, err := s.Detector.Read(t.Context(), s.Query("prod", "111122223333"))
	if err != nil {
		t.Fatal(err)
	}
	if !snap.Taken.Equal(began) {
		t.Errorf("taken %s", snap.Taken)
	}
	fails := func(id checks.ID) checks.Check {
		return checks.Check{ID: id, Title: string(id), Run: func(*checks.View) []checks.Finding {
			return []checks.Finding{{Outcome: checks.Fail, Resource: "rtb-1", Confidence: checks.Certain, Covers: []string{"subnet-a"}}}
		}}
	}
	o, err := s.Run(t.Context(), snap, Look{
		Checks:   []checks.Check{fails("route/no-egress"), fails("ip/subnet-exhausted")},
		Launches: []report.Launch{{Instance: "i-1"}},
		Unknown:  []diagnose.Unknown{{Check: "node/not-registered"}},
		Untold:   func(c diagnose.Cause) bool { return c.Check == "ip/subnet-exhausted" },
		Absent:   []string{"i-9", "", "i-9"}, Sweep: true,
	})
	if err != nil || len(s.sent) != 1 || cmp.Diff(o, s.sent[0]) != "" {
		t.Fatalf("%v, sent %+v", err, s.sent)
	}
	if c := o.Diagnosis.Causes; len(c) != 1 || c[0].Check != "route/no-egress" {
		t.Errorf("causes %+v", c)
	}
	if o.By != "join-check" || o.ID != "join-check/prod/2026-11-20T14:59:06Z" || len(o.Launches) != 1 || len(o.Diagnosis.Unknown) != 1 || !o.Sweep || !slices.Equal(o.Absent, []string{"i-9"}) {
		t.Errorf("observation %+v", o)
	}
	// Without checks only what could be read is told.
	if o := Judge("eni-cleanup", snap, Look{}); cmp.Diff(diagnose.Diagnosis{}, o.Diagnosis) != "" {
		t.Errorf("nothing was asked, and %+v is said", o.Diagnosis)
	}
}

func TestDistinct(t *testing.T) {
	if got := Distinct([]string{"b", "", "a"}, []string{"b"}); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q", got)
	}
	if got := Distinct([]string{""}); got != nil {
		t.Errorf("%q of nothing, want nil: a nil list may mean all", got)
	}
}
