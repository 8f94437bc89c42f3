package spot

import (
	"fmt"
	"rollcall/shared/checkid"
	"time"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func RebalanceChurn() check.Check {
	return check.Check{
		ID:         checkid.SpotRebalanceChurn,
		Title:      "Capacity rebalancing replaces nodes soon after they join",
		Confidence: finding.Advice,
		WatchedBy:  []check.Detector{check.SpotReport},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.LaunchHistory},
		Uses:       []snapshot.Source{snapshot.Nodes},
		Cause: "EC2 recommends a rebalance within 15 minutes of a node's joining, and capacity rebalancing replaces it although EC2 never takes it back: at least 5 nodes of a nodegroup, and one in ten or more. " +
			"Managed node groups with Spot capacity always rebalance.",
		Fix: "Give the nodegroup more types and zones, so that Auto Scaling need not take pools that are about to run short; use the allocation strategy price-capacity-optimized. A group of one's own can do without capacity rebalancing.",
		Links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-capacity-rebalancing.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/rebalance-recommendations.html",
		},
		Run: runRebalanceChurn,
	}
}

const (
	fewestReplaced = 5
	replacedShare  = 10 // one in ten
	// soonAfter is how long after it joined a node counts as hardly there.
	soonAfter = 15 * time.Minute
)

func runRebalanceChurn(s *facts.View) []finding.Finding {
	names, of := spotOwners(s)
	if len(names) == 0 {
		return nothingToJudge(s)
	}
	lives := s.Ready()
	var list []finding.Finding
	for _, name := range names {
		joined, unseen := 0, 0
		var replaced []snapshot.Past
		for _, p := range of[name] {
			if p.End != snapshot.Joined || p.Ready.IsZero() {
				continue
			}
			joined++
			lived, ended := p.Lived()
			switch {
			case p.Rebalance.IsZero() || p.Rebalance.Sub(p.Ready) > soonAfter || !p.Noticed.IsZero():
			case ended && lived < time.Hour:
				replaced = append(replaced, p)
			case p.Ended.IsZero() && !lives[p.ID] && s.Time.Sub(p.Ready) > time.Hour:
				unseen++
			}
		}
		many := func(n int) bool { return n >= fewestReplaced && n*replacedShare >= joined }
		switch {
		case many(len(replaced)):
			list = append(list, churning(s, name, replaced, joined))
		case many(len(replaced) + unseen):
			list = append(list, finding.Finding{
				Outcome: finding.Unknown, Resource: name, Covers: []string{name},
				Blocked: unseenEnds(fmt.Sprintf("EC2 recommended a rebalance of %d nodes of %s soon after they joined; when %d of them ended was not seen", len(replaced)+unseen, name, unseen)),
			})
		default:
			list = append(list, finding.Finding{
				Outcome: finding.Pass, Resource: name, Covers: []string{name},
				Evidence: []finding.Evidence{{What: "Nodes of " + name, Value: fmt.Sprintf("%d of %d replaced within an hour after a rebalance recommendation", len(replaced), joined)}},
			})
		}
	}
	return list
}

func churning(s *facts.View, name string, replaced []snapshot.Past, joined int) finding.Finding {
	pools := map[string]int{}
	var total time.Duration
	var keys []string
	for _, p := range replaced {
		lived, _ := p.Lived()
		total += lived
		key := p.Type + "/" + p.Zone
		if pools[key]++; pools[key] == 1 {
			keys = append(keys, key)
		}
	}
	last := replaced[len(replaced)-1]
	return finding.Finding{
		Outcome: finding.Fail, Resource: name, Covers: []string{name}, Resources: keys,
		Title: phrase.Title("%s: %d of %d Spot nodes replaced soon after they joined", name, len(replaced), joined),
		Why: fmt.Sprintf("EC2 recommended a rebalance of %d of the %d nodes of %s within %s of their joining, and they were replaced after %s on average; EC2 took none of them back.",
			len(replaced), joined, name, phrase.Minutes(soonAfter), phrase.Minutes((total / time.Duration(len(replaced))).Round(time.Minute))),
		Evidence: []finding.Evidence{
			{What: "Pools", Value: phrase.Some(keys, 5)},
			{What: last.ID, Value: fmt.Sprintf("Ready %s, rebalance recommended %s, ended %s", phrase.ClockTime(last.Ready), phrase.ClockTime(last.Rebalance), phrase.ClockTime(last.Ended))},
		},
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Give %s more types and zones to choose from, with the allocation strategy price-capacity-optimized.", name),
			Console: link.EC2(s, "AutoScalingGroups:"),
		},
	}
}
