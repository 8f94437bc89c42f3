package facts

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

// mostClaims is of how many instances it is told what their NodeClaims say: of a
// burst they all say the same.
const mostClaims = 3

// ClaimEvidence is what Karpenter or EKS Auto Mode says of instances that it
// launched: the conditions of their NodeClaims, as they are or as they were when
// they were last seen, and that it ended those that did not register.
func ClaimEvidence(s *snapshot.Snapshot, instances []string) []finding.Evidence {
	claims := map[string]snapshot.NodeClaim{}
	for _, c := range s.NodeClaims {
		if c.Instance != "" {
			claims[c.Instance] = c
		}
	}
	launches := map[string]snapshot.ExpectedJoin{}
	for _, l := range s.Launches {
		launches[l.Instance] = l
	}
	of := map[string]*snapshot.Instance{}
	for i := range s.Instances {
		of[s.Instances[i].ID] = &s.Instances[i]
	}
	var list []finding.Evidence
	var names []string // of instances and NodeClaims that are told
	told := 0
	for _, id := range instances {
		if told == mostClaims {
			break
		}
		before := len(list)
		l := launches[id]
		names = append(names, id)
		if c, is := claims[id]; is {
			names = append(names, c.Name)
			list = append(list, finding.Evidence{What: "NodeClaim " + c.Name, Value: claimSays(c)})
		} else if l.Claim != nil {
			names = append(names, l.Claim.Name)
			list = append(list, finding.Evidence{What: "NodeClaim " + l.Claim.Name, Value: claimSays(*l.Claim) + "; so it was at " + phrase.ClockTime(l.ClaimSeen) + ", and is gone since"})
		}
		if span, timedOut := TimedOut(of[id], l.Started); timedOut {
			list = append(list, finding.Evidence{What: "End of " + id, Value: fmt.Sprintf(
				"%s after its launch: Karpenter ends an instance whose node has not registered 15 minutes after its NodeClaim was made, and deletes the NodeClaim", span)})
		}
		if len(list) > before {
			told++
		}
	}
	return append(list, LogEvidence(s, names...)...)
}

// claimSays is how far a NodeClaim came, and why no further.
func claimSays(c snapshot.NodeClaim) string {
	var parts []string
	for _, step := range []string{"Launched", "Registered", "Initialized"} {
		o, is := c.Conditions[step]
		if !is {
			continue
		}
		text := step
		if o.Status != "True" {
			text = "not " + step
		}
		if !o.Since.IsZero() {
			text += " since " + phrase.ClockTime(o.Since)
		}
		if o.Status != "True" {
			text += ": " + o.Reason
			if o.Message != "" {
				text += " (" + phrase.Clip(strings.TrimSuffix(o.Message, ".")) + ")"
			}
		}
		parts = append(parts, text)
	}
	return cmp.Or(strings.Join(parts, "; "), "has no conditions yet")
}

// registrationTimeout is how long Karpenter waits for a node to register, from
// the making of the NodeClaim on (kubernetes-sigs/karpenter
// pkg/controllers/nodeclaim/lifecycle/liveness.go). The instance is a call or two
// younger than that, and its end takes some seconds: around is for both.
const (
	registrationTimeout = 15 * time.Minute
	around              = time.Minute
)

// TimedOut tells that an instance of a NodePool was ended by a call just when
// Karpenter gives up on what has not registered, and how long after its launch.
func TimedOut(i *snapshot.Instance, started time.Time) (span time.Duration, is bool) {
	if i == nil || !i.Ended() || i.StateReason.Code != UserInitiated || i.NodeClaim() != "" || i.Tags[scheduling.PoolLabel] == "" && i.Tags[AutoPoolTag] == "" {
		return 0, false
	}
	if started.IsZero() {
		started = i.Launched
	}
	span = i.StateReason.When.Sub(started).Round(time.Second)
	return span, !i.StateReason.When.IsZero() && span >= registrationTimeout-around && span <= registrationTimeout+around
}
