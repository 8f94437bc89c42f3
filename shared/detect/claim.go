package detect

import (
	"slices"
	"time"

	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// steps are the conditions of a NodeClaim that tell how far its node came
// (kubernetes-sigs/karpenter pkg/apis/v1/nodeclaim_status.go).
func steps() []string { return []string{"Launched", "Registered", "Initialized"} }

// maxMessage bounds what is remembered of a message, in runes: Karpenter cuts its
// own at 300.
const maxMessage = 300

// KeepClaim remembers what the launch's NodeClaim says: 15 minutes after it was
// made Karpenter deletes one whose node has not registered, and all that it said
// is gone.
func KeepClaim(s *snapshot.Snapshot, l *store.LaunchRecord) {
	i := slices.IndexFunc(s.NodeClaims, func(c snapshot.NodeClaim) bool { return c.Instance != "" && c.Instance == l.Instance })
	if i < 0 {
		return
	}
	c := s.NodeClaims[i]
	kept := &store.Claim{Name: c.Name, Pool: c.Pool, Seen: s.Time}
	for _, step := range steps() {
		if o, is := c.Conditions[step]; is {
			message := []rune(o.Message)
			kept.Conditions = append(kept.Conditions, store.ClaimCondition{
				Type: step, Status: o.Status, Reason: o.Reason, Message: string(message[:min(len(message), maxMessage)]), Since: o.Since,
			})
		}
	}
	l.Claim = kept
}

// recallClaim is the NodeClaim that is remembered of a launch.
func recallClaim(l store.LaunchRecord) (claim *snapshot.NodeClaim, seen time.Time) {
	if l.Claim == nil {
		return nil, time.Time{}
	}
	claim = &snapshot.NodeClaim{Name: l.Claim.Name, Pool: l.Claim.Pool, Instance: l.Instance, Conditions: map[string]snapshot.ObservedCondition{}}
	for _, c := range l.Claim.Conditions {
		claim.Conditions[c.Type] = snapshot.ObservedCondition{Condition: snapshot.Condition{Status: c.Status, Reason: c.Reason, Message: c.Message, Since: c.Since}}
	}
	return claim, l.Claim.Seen
}
