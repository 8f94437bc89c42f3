package store

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// A launcher's runs are remembered one for each class, over the version that was
// read, until hours after the last call.
func TestRefusedLaunches(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	s, ctx := open(t, &now), t.Context()
	of := func(pool string, class checkid.ID, cluster string) RefusedRecord {
		return RefusedRecord{Cluster: cluster, RefusedLaunch: snapshot.RefusedLaunch{Launcher: snapshot.PoolKey(pool), Class: class, First: now, Last: now, Text: "no"}}
	}
	list := []RefusedRecord{of("a", checkid.LaunchKMSKey, "prod"), of("a", checkid.LaunchUnauthorized, "prod"), of("b", checkid.LaunchUnauthorized, "prod")}
	for _, r := range append(list, of("a", checkid.LaunchKMSKey, "other")) {
		if err := s.SaveRefusedLaunch(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	for i := range list {
		list[i].Version = 1
	}
	got, err := s.RefusedLaunches(ctx, "prod")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(list, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var conflict *Conflict
	if err := s.SaveRefusedLaunch(ctx, of("a", checkid.LaunchKMSKey, "prod")); !errors.As(err, &conflict) {
		t.Errorf("written over what was not read: %v", err)
	}
	now = now.Add(keepRefused)
	if got, err := s.RefusedLaunches(ctx, "prod"); err != nil || len(got) > 0 {
		t.Errorf("hours later: %v, %v", got, err)
	}
}
