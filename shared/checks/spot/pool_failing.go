package spot

import (
	"fmt"
	"math"
	"rollcall/shared/checkid"
	"strings"
	"time"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/spot"
	"rollcall/shared/snapshot"
)

func PoolFailing() check.Check {
	return check.Check{
		ID:         checkid.SpotPoolFailing,
		Proof:      check.ByPassing,
		Title:      "A Spot pool joins significantly worse than those beside it",
		Confidence: finding.Certain,
		WatchedBy:  []check.Detector{check.SpotReport},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.LaunchHistory},
		Cause: "Of the launches of one instance type in one zone far fewer become nodes than of the other pools of the same nodegroups at the same time. " +
			"The test is exact, one launch of each half hour counts, and it is corrected for the number of pools and for looking every hour: no healthy pool is accused in 99 of 100 histories of 90 days (docs/spot.md). Launches that failed for a cause of their subnet, role or settings do not count.",
		Fix: "Leave the type out of the nodegroups that launch in that zone, or the zone out of those that launch the type. More types make room for it.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-best-practices.html",
		},
		Run: runPoolFailing,
	}
}

const (
	// poolWorks is how unlikely it must be that so many launches in a row join
	// by chance, and fewestWork the fewest, for a pool that was failing to work
	// again.
	poolWorks  = 0.01
	fewestWork = 5
	// poolLeft is after how long without a launch a pool counts as given up.
	poolLeft = 24 * time.Hour
	// poolUnseen is how many launches with an unseen end are too many.
	poolUnseen = 5
)

func runPoolFailing(s *facts.View) []finding.Finding {
	var list []finding.Finding
	for _, p := range spot.Read(historyOf(s)).Pools {
		if !p.Spot || p.Type == "" || p.Zone == "" {
			continue
		}
		pass := func(what, value string) finding.Finding {
			return finding.Finding{Outcome: finding.Pass, Resource: p.Key(), Covers: []string{p.Key()}, Evidence: []finding.Evidence{{What: what, Value: value}}}
		}
		switch idle := s.Time.Sub(p.Last); {
		case p.Failing && worksAgain(p):
			list = append(list, pass(p.Name(), fmt.Sprintf("the last %d launches joined", p.Streak)))
		case p.Failing && idle >= poolLeft:
			list = append(list, pass(p.Name(), fmt.Sprintf("is not used any more: its last launch was %s, %d hours ago", phrase.ClockTime(p.Last), int(idle.Hours()))))
		case p.Failing:
			list = append(list, failingPool(s, p))
		case p.Unknown >= poolUnseen && p.Unknown > p.Judged:
			list = append(list, finding.Finding{
				Outcome: finding.Unknown, Resource: p.Key(), Covers: []string{p.Key()},
				Blocked: unseenEnds(fmt.Sprintf("how %d of %d launches of %s ended was not seen", p.Unknown, p.Launched, p.Name())),
			})
		default:
			list = append(list, pass(p.Name(), fmt.Sprintf("%d of %d launches joined, those that failed for causes elsewhere left out", p.Judged-p.Failed, p.Judged)))
		}
	}
	if len(list) == 0 {
		return nothingToJudge(s)
	}
	return list
}

// worksAgain tells that as many launches have joined since one failed as the
// pool would hardly have had while it was failing: 5 where none joined, 16
// where three of four did.
func worksAgain(p spot.Pool) bool {
	before := p.Judged - p.Streak
	if before <= 0 || p.Streak < fewestWork {
		return false
	}
	share := float64(before-p.Failed) / float64(before)
	return math.Pow(share, float64(p.Streak)) <= poolWorks
}

func failingPool(s *facts.View, p spot.Pool) finding.Finding {
	f := finding.Finding{
		Outcome: finding.Fail, Resource: p.Key(), Covers: []string{p.Key()}, Resources: p.Nodegroups,
		Title: phrase.Title("Spot pool %s fails: %d of %d did not join", p.Key(), p.Failed, p.Judged),
		Why:   p.Says() + ". By chance a healthy pool does so badly in fewer than 1 of 100 clusters that are watched for 90 days.",
		Evidence: []finding.Evidence{
			{What: p.Name(), Value: fmt.Sprintf("%d of %d launches joined; the share is between %.0f %% and %.0f %% (95 %% interval)", p.Judged-p.Failed, p.Judged, 100*p.Low, 100*p.High)},
			{What: "Other pools of " + phrase.Some(p.Nodegroups, 3), Value: fmt.Sprintf("%d of %d launches joined", p.Rest-p.RestFailed, p.Rest)},
			{What: "Chance", Value: fmt.Sprintf("p = %.2g, corrected for the number of pools and for hourly looks over 90 days", p.P)},
		},
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Leave %s out of %s, and give the nodegroup other types in its place.", p.Name(), phrase.Some(p.Nodegroups, 3)),
			Console: link.EC2(s, "SpotInstances:"),
		},
	}
	var causes []string
	for _, c := range p.Causes {
		causes = append(causes, fmt.Sprintf("%d %s", c.Count, c.Name))
	}
	f.Evidence = append(f.Evidence, finding.Evidence{What: "How its launches ended", Value: strings.Join(append(causes, fmt.Sprintf("%d joined", p.Joined)), ", ")})
	return f
}
