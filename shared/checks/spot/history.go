package spot

import (
	"cmp"
	"slices"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/node/spot"
	"rollcall/shared/snapshot"
)

// historyOf is the launch history of a snapshot as package spot judges it.
func historyOf(s *facts.View) spot.Input {
	in := spot.Input{
		Cluster: s.Cluster.Name, From: s.Time, To: s.Time,
		History: s.History, Samples: s.Samples, Subnets: s.Subnets, Types: s.InstanceTypes, Groups: s.Groups, CNI: s.CNI, IPv6: s.Cluster.IPv6,
	}
	for _, p := range s.History {
		if p.Started.Before(in.From) {
			in.From = p.Started
		}
	}
	return in
}

// spotOwners are the nodegroups (or groups) with Spot launches, each with
// those, by name.
func spotOwners(s *facts.View) ([]string, map[string][]snapshot.Past) {
	of := map[string][]snapshot.Past{}
	var names []string
	for _, p := range s.History {
		if !p.Spot {
			continue
		}
		name := cmp.Or(p.Nodegroup, p.Group, "without a group")
		if of[name] == nil {
			names = append(names, name)
		}
		of[name] = append(of[name], p)
	}
	slices.Sort(names)
	return names, of
}

// nothingToJudge passes a history without Spot launches.
func nothingToJudge(s *facts.View) []finding.Finding {
	return []finding.Finding{{
		Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: []string{s.Cluster.Name},
		Evidence: []finding.Evidence{{What: "Spot launches", Value: "none in the history"}},
	}}
}

// unseenEnds is what keeps from judging launches whose ends nobody saw.
func unseenEnds(message string) []snapshot.Failure {
	return []snapshot.Failure{{Source: snapshot.LaunchHistory, Reason: snapshot.NotRead, Message: message}}
}
