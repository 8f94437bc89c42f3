package facts

import (
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/refusal"
	"rollcall/shared/snapshot"
)

// claimPatience is how long a NodeClaim must have been refused for what does not pass
// by itself: what was just made is known to EC2 some seconds later.
const claimPatience = time.Minute

// refusedClaims takes the launches that Karpenter's own NodeClaims say are refused: it
// keeps one that EC2 refuses for five minutes, with what it was told, and makes the
// next one (kubernetes-sigs/karpenter pkg/controllers/nodeclaim/lifecycle/launch.go and
// liveness.go). A shortage it deletes at once, and tells in an event alone. Where
// CloudTrail told of the same pool's calls, that tells more.
func (a *Attempts) refusedClaims() {
	for _, p := range a.S.NodePools {
		a.Units = append(a.Units, PoolKey(p.Name))
	}
	byUnit, claims, teller := map[string]snapshot.RefusedLaunch{}, map[string][]string{}, map[string]string{}
	var order []string
	for _, c := range a.S.NodeClaims {
		l, unit := c.Conditions["Launched"], PoolKey(c.Pool)
		if c.Pool == "" || c.Deleting || c.Instance != "" || l.Status != "Unknown" || !l.Current(c.Generation) || l.Message == "" {
			continue
		}
		class, told := claimClass(l.Reason, l.Message)
		said, who := claimText(l.Message), "its NodeClaim"
		if told && class == checkid.LaunchUnclassified {
			// "Instance launch failed": what EC2 said may stand in the log.
			if cause, line, is := a.logged(c.Name); is {
				class, said, who = cause, line, "the log of EKS Auto Mode"
			}
		}
		age := a.S.Time.Sub(l.Since)
		if !told || age < claimPatience || refusal.Passes(class) && age < refusal.Patience || a.told(unit) || a.startedSince(unit, l.Since) {
			continue
		}
		key := unit + " " + string(class)
		r, known := byUnit[key]
		switch {
		case !known:
			order, teller[key] = append(order, key), who
			r = snapshot.RefusedLaunch{Launcher: unit, Class: class, Call: "CreateFleet", Text: said, First: l.Since, Last: a.S.Time}
		case l.Since.Before(r.First):
			r.First = l.Since
		}
		byUnit[key], claims[key] = r, append(claims[key], c.Name)
	}
	slices.Sort(order)
	for _, key := range order {
		r := byUnit[key]
		v := activity.Classify(r.Text)
		v.Class = r.Class
		t := Attempt{Group: r.Launcher, Verdict: v, At: r.First, Told: "refused, as " + teller[key] + " says", Refused: &r, Claims: claims[key]}
		if v.Denial != nil {
			t.Denied = &Denied{Denial: *v.Denial}
			t.judgeDenial()
		}
		a.List = append(a.List, t)
	}
}

// told tells that CloudTrail told of refused calls of a pool.
func (a *Attempts) told(unit string) bool {
	return slices.ContainsFunc(a.List, func(t Attempt) bool { return t.Group == unit && t.Refused != nil && t.Told == "refused" })
}

// startedSince tells that an instance of a pool was started since.
func (a *Attempts) startedSince(unit string, at time.Time) bool {
	for _, worked := range a.worked[unit] {
		if worked.After(at) {
			return true
		}
	}
	return false
}

// claimClass is the check that a reason of the condition Launched points to; false
// where Karpenter has not asked EC2, or its class is at fault, which another check
// tells (aws/karpenter-provider-aws pkg/errors/errors.go, ToReasonMessage).
func claimClass(reason, message string) (checkid.ID, bool) {
	switch reason {
	case "", "AwaitingReconciliation", "NodeClassReadinessUnknown", "SubnetResolutionFailed", "InstanceTypeResolutionFailed", "NodeClassNotReady":
		return "", false
	case "SpotSLRCreationFailed":
		return checkid.LaunchServiceRole, true
	case "AMIAuthorizationFailure", "InvalidAMIID", "AMINotFound":
		return checkid.LaunchAMI, true
	case "InstanceProfileNameInvalid":
		return checkid.LaunchProfile, true
	case "LaunchTemplateNotFound", "UserDataSizeLimitExceeded":
		return checkid.LaunchTemplate, true
	case "RequestLimitExceeded":
		return checkid.LaunchThrottled, true
	case "FreeTierIneligible":
		return checkid.LaunchUnsupportedType, true
	case "FleetQuotaExceeded":
		return checkid.LaunchFleetLimit, true
	case "AccountPendingVerification":
		return checkid.LaunchAccountValidation, true
	case "SpotQuotaExceeded":
		return checkid.LaunchSpotLimit, true
	case "VCPULimitExceeded":
		return checkid.LaunchVCPULimit, true
	case "InsufficientFreeAddressesInSubnet":
		return checkid.LaunchSubnetFull, true
	}
	class := activity.Classify(message).Class
	if reason == "Unauthorized" && class == checkid.LaunchUnclassified {
		class = checkid.LaunchUnauthorized
		if strings.Contains(message, "service control policy") || strings.Contains(message, "permission boundary") {
			class = checkid.LaunchPolicyDenied
		}
	}
	return class, true
}

// claimText is what EC2 said, as far as Karpenter gives it on.
func claimText(message string) string {
	for _, prefix := range []string{"Error creating fleet request: ", "creating instance, ", "creating fleet request, "} {
		message = strings.TrimPrefix(message, prefix)
	}
	return activity.Clean(message)
}
