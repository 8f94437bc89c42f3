package launch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

// What is said of launches without an Auto Scaling group: those of Karpenter, of
// EKS Auto Mode, and of whoever else calls EC2.

// refused is the first run of refused calls, if there is one.
func (f launchFault) refused() *snapshot.RefusedLaunch {
	i := slices.IndexFunc(f.list, func(t facts.Attempt) bool { return t.Refused != nil })
	if i < 0 {
		return nil
	}
	return f.list[i].Refused
}

// since is when the first of the refused calls was made; zero where there is none.
func (f launchFault) since() (first time.Time) {
	for _, t := range f.list {
		if t.Refused != nil && (first.IsZero() || t.Refused.First.Before(first)) {
			first = t.Refused.First
		}
	}
	return first
}

// launcherName is what people call who launches: a NodePool as such.
func launcherName(unit string) string {
	if name, ok := strings.CutPrefix(unit, snapshot.PoolKey("")); ok {
		return "NodePool " + name
	}
	if name, ok := strings.CutPrefix(unit, snapshot.RoleKey("")); ok {
		return "role " + name
	}
	return unit
}

// refusedCalls says since when, by whom and for how much. It is not said when the
// last one was: that would be new with each look.
func refusedCalls(r snapshot.RefusedLaunch) []finding.Evidence {
	value := fmt.Sprintf("%s, refused since %s", r.Call, phrase.ClockTime(r.First))
	if r.Asked > 0 {
		value += fmt.Sprintf(", the first for %d %s", r.Asked, phrase.Plural(r.Asked, "instance", "instances"))
	}
	list := []finding.Evidence{{What: "Calls", Value: value}}
	if r.By != "" {
		list = append(list, finding.Evidence{What: "Called by", Value: r.By})
	}
	if r.Offers > 1 {
		value := fmt.Sprintf("%d types and subnets were told so", r.Offers)
		if len(r.Types) > 0 {
			value += ": " + phrase.Some(r.Types, 5)
		}
		if len(r.Zones) > 0 {
			value += " in " + phrase.Some(r.Zones, 3)
		}
		list = append(list, finding.Evidence{What: "Offers", Value: value})
	}
	if len(r.Other) > 0 {
		list = append(list, finding.Evidence{What: "The others were told", Value: phrase.And(r.Other)})
	}
	return list
}

// showCalls shows the calls as CloudTrail has them, with the message that can be
// decoded.
func showCalls(a *facts.Attempts, r snapshot.RefusedLaunch) string {
	return AWSCommand(a, "cloudtrail", "lookup-events", "--lookup-attributes", "AttributeKey=EventName,AttributeValue="+r.Call,
		"--max-results", "5", "--query", "Events[].CloudTrailEvent", "--output", "text")
}

// meaning and next are the class's, but for what they say of groups.
func meaning(t facts.Attempt) string {
	if t.Refused == nil {
		return t.Verdict.Meaning
	}
	return strings.ReplaceAll(t.Verdict.Meaning, "the launch template", "its launch template or class")
}

func next(t facts.Attempt) string {
	if t.Refused == nil {
		return t.Verdict.Next
	}
	switch t.Verdict.Class {
	case checkid.LaunchInsufficientCapacity:
		return "Allow more instance types, zones or capacity types to " + launcherName(t.Group) + ", or wait: the launch is tried again by itself."
	case checkid.LaunchSubnetFull:
		return "Free addresses in the subnets (leaked network interfaces, unused load balancers), or let the class select others."
	case checkid.LaunchUnsupportedType:
		return "Leave the types out of " + launcherName(t.Group) + " that its zones do not offer, or the zones."
	case checkid.LaunchThrottled:
		return "Find what calls so often (CloudTrail, CloudWatch usage metrics). The launch is tried again by itself."
	case checkid.LaunchTemplate, checkid.LaunchAMI, checkid.LaunchSecurityGroup, checkid.LaunchProfile:
		return "Correct what the class of " + launcherName(t.Group) + " selects, or the launch template that the call names: the message says what."
	}
	return t.Verdict.Next
}
