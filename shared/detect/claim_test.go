package detect

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// TestClaimIsRemembered: what the NodeClaim of a launch said is told to the checks
// after Karpenter has deleted it.
func TestClaimIsRemembered(t *testing.T) {
	at := time.Date(2026, 11, 20, 14, 48, 0, 0, time.UTC)
	says := func(status, message string) snapshot.ObservedCondition {
		return snapshot.ObservedCondition{Condition: snapshot.Condition{Status: status, Reason: "NodeNotFound", Message: message, Since: at}}
	}
	long := strings.Repeat("ä", 400)
	s := &snapshot.Snapshot{Time: at.Add(6 * time.Minute), NodeClaims: []snapshot.NodeClaim{
		{Name: "asked", Pool: "gpu"},
		{Name: "gpu-x7k2p", Pool: "gpu", Instance: "i-1", Conditions: map[string]snapshot.ObservedCondition{"Registered": says("Unknown", long), "Launched": says("True", ""), "Ready": says("Unknown", "")}},
	}}
	l := store.LaunchRecord{Launch: outcome.Launch{Instance: "i-1"}}
	KeepClaim(s, &l)
	want := &snapshot.NodeClaim{Name: "gpu-x7k2p", Pool: "gpu", Instance: "i-1", Conditions: map[string]snapshot.ObservedCondition{
		"Launched": says("True", ""), "Registered": says("Unknown", long[:600]),
	}}
	e := Expected(l)
	if diff := cmp.Diff(want, e.Claim); diff != "" || !e.ClaimSeen.Equal(s.Time) {
		t.Errorf("seen %v (-want +got):\n%s", e.ClaimSeen, diff)
	}
	// Gone, it is remembered as it was.
	KeepClaim(&snapshot.Snapshot{Time: at.Add(16 * time.Minute)}, &l)
	if diff := cmp.Diff(want, Expected(l).Claim); diff != "" || !l.Claim.Seen.Equal(s.Time) {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
	// Of a launch without an instance, and of none at all, nothing.
	none := store.LaunchRecord{Activity: "a"}
	KeepClaim(s, &none)
	if got := Expected(none); got.Claim != nil || !got.ClaimSeen.IsZero() {
		t.Errorf("%+v", got)
	}
}
