package spot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func ManyRefusals() check.Check {
	return check.Check{
		ID:         checkid.SpotManyRefusals,
		Title:      "EC2 often has no Spot capacity in some pools",
		Confidence: finding.Advice,
		WatchedBy:  []check.Detector{check.SpotReport},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.LaunchHistory},
		Cause:      "EC2 refused at least 5 Spot launches of a nodegroup, and one in five or more, for want of capacity or at the price that was set.",
		Fix:        "Leave out the pools that refuse, and add types and zones. Set no maximum price: Spot is never dearer than on-demand then.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-best-practices.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-capacity.html",
		},
		Run: runManyRefusals,
	}
}

const (
	fewestRefusals = 5
	refusedShare   = 5 // one in five
)

func runManyRefusals(s *facts.View) []finding.Finding {
	names, of := spotOwners(s)
	if len(names) == 0 {
		return nothingToJudge(s)
	}
	var list []finding.Finding
	for _, name := range names {
		pools := map[string]int{}
		refused, placed := 0, 0
		for _, p := range of[name] {
			if p.End != snapshot.Refused || p.Cause != checkid.LaunchInsufficientCapacity && p.Cause != checkid.LaunchSpotPrice {
				continue
			}
			refused++
			if p.Type != "" || p.Zone != "" {
				placed++
				pools[strings.Trim(p.Type+"/"+p.Zone, "/")]++
			}
		}
		switch {
		case refused < fewestRefusals || refused*refusedShare < len(of[name]):
			list = append(list, finding.Finding{
				Outcome: finding.Pass, Resource: name, Covers: []string{name},
				Evidence: []finding.Evidence{{What: "Spot launches of " + name, Value: fmt.Sprintf("%d of %d refused for want of capacity", refused, len(of[name]))}},
			})
		case 2*placed < refused:
			list = append(list, finding.Finding{
				Outcome: finding.Unknown, Resource: name, Covers: []string{name},
				Blocked: unseenEnds(fmt.Sprintf("EC2 refused %d of %d Spot launches of %s, and did not say in which pools", refused, len(of[name]), name)),
			})
		default:
			list = append(list, refusedOften(s, name, pools, refused, len(of[name])))
		}
	}
	return list
}

func refusedOften(s *facts.View, name string, pools map[string]int, refused, requested int) finding.Finding {
	keys := make([]string, 0, len(pools))
	for key := range pools {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(pools[b], pools[a]), cmp.Compare(a, b)) })
	// The pools that have four of five refusals among them: those to change.
	worst, sum := 0, 0
	for worst < len(keys) && sum*5 < refused*4 {
		sum += pools[keys[worst]]
		worst++
	}
	var evidence []finding.Evidence
	for _, key := range keys {
		evidence = append(evidence, finding.Evidence{What: key, Value: fmt.Sprintf("%d refused", pools[key])})
	}
	return finding.Finding{
		Outcome: finding.Fail, Resource: name, Covers: []string{name}, Resources: keys[:worst],
		Title:    phrase.Title("%s: EC2 refused %d of %d Spot launches", name, refused, requested),
		Why:      fmt.Sprintf("EC2 had no Spot capacity for %d of %d launches of %s; %d of them were in %s.", refused, requested, name, sum, phrase.Some(keys[:worst], 4)),
		Evidence: evidence,
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Leave %s out of %s, and add types and zones.", phrase.Some(keys[:worst], 4), name),
			Console: link.EC2(s, "SpotInstances:"),
		},
	}
}
