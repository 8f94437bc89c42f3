package event

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/spoke"
)

func TestSweepCluster(t *testing.T) {
	tick := time.Date(2026, 11, 23, 12, 5, 0, 0, time.UTC)
	raw, err := SweepCluster(spoke.ID{}, "prod", "111122223333", "eu-west-1", tick)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(raw)
	want := Trigger{
		ID: "sweep/prod/2026-11-23T12:05:00Z", Kind: ClusterSweep, Source: "rollcall", Type: "Rollcall Cluster Sweep",
		Account: "111122223333", Region: "eu-west-1", Time: tick, Cluster: "prod",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	raw, err = SweepCluster(spoke.ID{}, "", "111122223333", "eu-west-1", tick)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Parse(raw)
	// A spoke's is whose it says, and comes from the hub.
	other, hub := spoke.ID{Account: "222233334444", Region: "us-west-2"}, spoke.ID{Account: "111122223333", Region: "eu-west-1"}
	theirs, wrong := SweepCluster(other, "prod", other.Account, other.Region, tick)
	if wrong != nil {
		t.Fatal(wrong)
	}
	turn, wrong := Parse(theirs)
	whose, forged := WhoseIs(theirs, hub)
	if wrong != nil || forged != nil || turn.Account != other.Account || turn.Region != other.Region || turn.ID == got.ID || whose.Spoke != other {
		t.Errorf("%v, %v, a spoke's turn %+v of %+v", wrong, forged, turn, whose)
	}
	var malformed *Malformed
	if !errors.As(err, &malformed) || malformed.Err.Error() != "the cluster is missing" {
		t.Errorf("error %v, want that the cluster is missing", err)
	}
}
