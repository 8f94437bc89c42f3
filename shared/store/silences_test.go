package store

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/overview"
	"rollcall/shared/silence"
	"rollcall/shared/spoke"
)

func silenced(cluster, id string, until time.Time) silence.Silence {
	return silence.Silence{ID: id, Cluster: cluster, From: until.Add(-time.Hour), Until: until, At: until.Add(-time.Hour), By: silence.Person{ID: "U0ONCALL01"}}
}

// A cluster's silences are its own: not those of one whose name begins with its name, nor
// of one of its name in another account.
func TestSilencesAreOfOneCluster(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	s := open(t, &now)
	elsewhere := s.In(spoke.ID{Account: "222233334444", Region: "eu-west-1"})
	for _, x := range []silence.Silence{silenced("prod", "00000001", now.Add(time.Hour)), silenced("prod", "ffffffff", now.Add(time.Hour)), silenced("prod-2", "00000002", now), silenced("pro", "00000003", now)} {
		if _, err := s.SaveSilence(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	theirs := silenced("prod", "00000004", now.Add(time.Hour))
	if _, err := s.SaveSilence(t.Context(), silence.Silence{ID: "x", Cluster: "prod", Spoke: spoke.ID{Account: "222233334444", Region: "eu-west-1"}}); !errors.Is(err, ErrForeign) {
		t.Errorf("another account's is written: %v", err)
	}
	theirs.Spoke = spoke.ID{Account: "222233334444", Region: "eu-west-1"}
	if _, err := elsewhere.SaveSilence(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	ids := func(list []silence.Silence, err error) (ids []string) {
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			ids = append(ids, x.Cluster+" "+x.ID)
		}
		return ids
	}
	for _, test := range []struct {
		got, want []string
	}{
		{ids(s.Silences(t.Context(), "prod")), []string{"prod 00000001", "prod ffffffff"}},
		{ids(s.Silences(t.Context(), "prod-2")), []string{"prod-2 00000002"}},
		{ids(s.Silences(t.Context(), "dev")), nil},
		{ids(elsewhere.Silences(t.Context(), "prod")), []string{"prod 00000004"}},
		{ids(elsewhere.AllSilences(t.Context())), []string{"prod 00000004"}},
		{ids(s.AllSilences(t.Context())), []string{"pro 00000003", "prod 00000001", "prod ffffffff", "prod-2 00000002"}},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// What a newer version wrote is never taken for no silence: the cluster's cannot be read,
// and another cluster's can.
func TestNewerSilences(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	s := open(t, &now)
	x := silenced("prod", "00000001", now.Add(time.Hour))
	if err := s.put(t.Context(), item{pk: silencePrefix, sk: "prod#00000001", kind: "silence", format: silence.Format + 1, version: 1, body: x, expires: now.Add(time.Hour)}, 0); err != nil {
		t.Fatal(err)
	}
	var newer *NewerFormat
	if list, err := s.Silences(t.Context(), "prod"); !errors.As(err, &newer) || list != nil {
		t.Errorf("%v, %v; want that it cannot be read", list, err)
	}
	if list, err := s.Silences(t.Context(), "prod-2"); err != nil || list != nil {
		t.Errorf("another cluster's: %v, %v", list, err)
	}
	if _, err := s.AllSilences(t.Context()); !errors.As(err, &newer) {
		t.Errorf("all: %v", err)
	}
	x.Version = 1
	var taken *Conflict
	if _, err := s.SaveSilence(t.Context(), x); !errors.As(err, &taken) {
		t.Errorf("written over: %v", err)
	}
}

// A silence is written once for each version, and forgotten a month after its end.
func TestSaveSilence(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	s := open(t, &now)
	x, err := s.SaveSilence(t.Context(), silenced("prod", "00000001", now.Add(time.Hour)))
	if err != nil || x.Version != 1 || x.Format != silence.Format {
		t.Fatalf("%+v, %v", x, err)
	}
	var taken *Conflict
	if _, err := s.SaveSilence(t.Context(), silenced("prod", "00000001", now.Add(time.Hour))); !errors.As(err, &taken) {
		t.Errorf("a second time: %v", err)
	}
	x.Ended = now
	if x, err = s.SaveSilence(t.Context(), x); err != nil || x.Version != 2 {
		t.Errorf("%+v, %v", x, err)
	}
	now = x.Until.Add(keepSilences)
	if list, err := s.Silences(t.Context(), "prod"); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestSweeps(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	s := open(t, &now)
	for _, w := range []overview.Sweep{{Cluster: "prod", At: now}, {Cluster: "dev", At: now}, {Cluster: "prod", At: now.Add(time.Second), Failed: []string{"zone-watch"}}} {
		if err := s.SaveSweep(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	want := []overview.Sweep{{Cluster: "dev", Format: 1, At: now}, {Cluster: "prod", Format: 1, At: now.Add(time.Second), Failed: []string{"zone-watch"}}}
	got, err := s.Sweeps(t.Context())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	now = now.Add(keepSwept + time.Second)
	if got, err := s.Sweeps(t.Context()); err != nil || len(got) > 0 {
		t.Errorf("two days later: %v, %v", got, err)
	}
}

func TestOneLaunch(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	s := open(t, &now)
	if l, err := s.Launch(t.Context(), "i-1"); err != nil || l != nil {
		t.Errorf("%v, %v; want none", l, err)
	}
	l := LaunchRecord{Cluster: "prod"}
	l.Instance, l.Started = "i-1", now
	if _, err := s.CreateLaunch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Launch(t.Context(), "i-1"); err != nil || got == nil || got.Cluster != "prod" {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := s.In(spoke.ID{Account: "222233334444", Region: "eu-west-1"}).Launch(t.Context(), "i-1"); err != nil || got != nil {
		t.Errorf("of another account: %v, %v", got, err)
	}
}
