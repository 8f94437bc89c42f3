package result

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// JoinTime is the time in which an instance must have joined of which no history
// is known.
const JoinTime = 5 * time.Minute

// unknowns are the checks that could not look and were needed.
func unknowns(seen []report.Observation, bare func(cluster string) bool) []Unknown {
	all := []Unknown{}
	add := func(u Unknown) {
		if !slices.Contains(all, u) {
			all = append(all, u)
		}
	}
	for _, o := range seen {
		without := bare != nil && bare(o.Cluster)
		launches := Standing(seen, o.Cluster)
		absent := absentOf(launches, o.At)
		for _, u := range o.Diagnosis.Unknown {
			for _, f := range u.Blocked {
				if without && f.Code == snapshot.NotCaptured || remembered(u, f) || Unasked(u, f, absent) || !needed(u, f, absent, gone(launches)) && !(u.Check == missed && (tells(f.Source) || f.Source == snapshot.UserDataOf)) {
					continue
				}
				add(Unknown{Check: string(u.Check), Resource: cmp.Or(strings.Join(u.Covers, " "), o.Cluster), Reason: Reason(f)})
			}
		}
		for _, f := range o.Blind {
			if tells(f.Source) && !(without && f.Code == snapshot.NotCaptured) {
				add(Unknown{Check: string(missed), Resource: o.Cluster, Reason: Reason(f)})
			}
		}
	}
	return all
}

// missed is the check that tells who has not joined.
const missed = checks.ID(checkid.NodeNotRegistered)

// tells reports whether a source is one without which it is not known which instances
// are nodes: where it was not read nothing is healthy.
func tells(s snapshot.Source) bool {
	return s == snapshot.Instances || s == snapshot.Clusters || s == snapshot.Nodes
}

// ofInstances are the groups of checks that look for what keeps an instance
// from joining. Where all have joined nobody needs them.
func ofInstances() []string {
	return []string{"route", "endpoint", "sg", "nacl", "dns", "iam", "instance", "node", "spot"}
}

// gone are the launches that ended before they were seen as nodes.
func gone(launches map[string]report.Launch) []report.Launch {
	var all []report.Launch
	for _, l := range launches {
		if l.Status == outcome.Gone {
			all = append(all, l)
		}
	}
	return all
}

// needed tells whether the answer would have mattered. Of an instance that ended before
// it was a node all that was kept from being read may have: EC2 forgets the rest of it
// itself, but for whether it had been a node.
func needed(u diagnose.Unknown, f snapshot.Failure, absent, gone []report.Launch) bool {
	group, _, _ := strings.Cut(string(u.Check), "/")
	switch {
	case u.Check == checkid.InstanceEndedEarly || u.Check == checkid.SpotReclaimedBeforeJoin:
		absent = gone
	case f.Call != "" && (f.Reason != snapshot.NotRead || f.Code == snapshot.NotCaptured):
		absent = slices.Concat(absent, gone)
	}
	if !slices.Contains(ofInstances(), group) || u.Check == checkid.NodeNotInitialized { // that is about Ready nodes
		return true
	}
	if len(u.Covers) == 0 {
		return len(absent) > 0
	}
	subjects := items(u.Covers)
	if len(subjects) == 0 {
		return len(absent) > 0
	}
	return slices.ContainsFunc(absent, func(l report.Launch) bool {
		return slices.Contains(subjects, l.Instance) || slices.Contains(subjects, l.Subnet)
	})
}

// remembered tells that a check could not look into what Rollcall itself
// remembers. A capture is one moment: it has no history of launches, and
// whoever took it could not have asked for one. What is short now (an empty
// subnet, a refused launch) other checks tell. The pools of Spot are judged by
// days of that history, and never explain why one instance is not a node.
//
// Nor is it told that nobody read the updates of nodegroups because the
// nodegroups themselves were not read: that is told already. (Updates that
// nobody captured are silent, package gather says why; a call that was refused
// is told.)
func remembered(u diagnose.Unknown, f snapshot.Failure) bool {
	return f.Source == snapshot.LaunchHistory || f.Source == snapshot.Updates && f.Reason == snapshot.NotRead ||
		slices.ContainsFunc(checks.OfPools(), func(c checks.Check) bool { return c.ID == u.Check })
}

// items are the instances and subnets among the ids.
func items(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return !strings.HasPrefix(id, "i-") && !strings.HasPrefix(id, "subnet-")
	})
}

// absentOf are the launches that are there and did not become nodes in their
// time.
func absentOf(launches map[string]report.Launch, at time.Time) []report.Launch {
	var all []report.Launch
	for _, l := range launches {
		switch l.Status {
		case outcome.Missed, outcome.GivenUp:
			all = append(all, l)
		case outcome.Waiting:
			if at.Sub(l.Started) >= JoinTime {
				all = append(all, l)
			}
		}
	}
	return all
}

// Reason says why a source could not be looked at: the call, what became of
// it, and what was said.
func Reason(f snapshot.Failure) string {
	text := string(f.Reason)
	if f.Call != "" {
		text = f.Call + ": " + text
	}
	detail := f.Message
	if f.Code != "" && f.Code != snapshot.NotCaptured {
		detail = strings.TrimSuffix(f.Code+": "+f.Message, ": ")
	}
	if detail != "" {
		text += " (" + detail + ")"
	}
	return text
}
