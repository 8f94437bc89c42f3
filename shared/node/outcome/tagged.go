package outcome

import (
	"time"

	"rollcall/shared/snapshot"
)

// registration is how long Karpenter waits for a node: then it ends the instance
// (kubernetes-sigs/karpenter pkg/controllers/nodeclaim/lifecycle/liveness.go,
// registrationTimeout).
const registration = 15 * time.Minute

// asking is by how much the instance may be younger than its NodeClaim, from whose
// making on Karpenter counts: a call or two to EC2.
const asking = time.Minute

// tagged tells that Karpenter has named the NodeClaim on an instance, which it
// does only once the node has registered (snapshot.Instance.NodeClaim).
func tagged(in *snapshot.Instance) bool { return in != nil && in.NodeClaim() != "" }

// untagged tells that an instance of Karpenter is past the time to register, or
// lived past it, and no tag came. Where no instance of the cluster has one,
// Karpenter perhaps may not set it: then that it lacks says nothing.
func (s Seen) untagged(started, now time.Time) bool {
	in, allowed := s.Instance, registration
	if in == nil || !s.Tagging || !in.ByKarpenter() || in.NodeClaim() != "" {
		return false
	}
	if in.Ended() {
		now, allowed = in.StateReason.When, registration-asking
	}
	return now.Sub(started) >= allowed
}
