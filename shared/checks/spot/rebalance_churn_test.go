package spot

import (
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestRebalanceChurn(t *testing.T) { checktest.RunCases(t, RebalanceChurn(), rebalanceChurnCases()) }

func rebalanceChurnCases() []checktest.Case {
	// Every fourth node gets a recommendation.
	recommended := func(after, ended time.Duration, more ...func(*snapshot.Past)) *snapshot.Snapshot {
		return healthySpot(func(i int, p *snapshot.Past) {
			if i%4 != 0 || snapshottest.Now().Sub(p.Started) < 2*time.Hour {
				return
			}
			p.Rebalance = p.Ready.Add(after)
			if ended > 0 {
				p.Ended = p.Ready.Add(ended)
			}
			for _, f := range more {
				f(p)
			}
		})
	}
	return []checktest.Case{
		{"no history", snapshottest.PrivateWithNAT(), []string{"pass prod [prod]"}},
		{"nodes live long", healthySpot(func(int, *snapshot.Past) {}), []string{"pass workers [workers]"}},
		{"replaced after six minutes", recommended(2*time.Minute, 6*time.Minute), []string{"fail workers [workers] [] workers: 93 of 384 Spot nodes replaced soon after they joined"}},
		{"recommended after an hour", recommended(61*time.Minute, 65*time.Minute), []string{"pass workers [workers]"}},
		{"EC2 did take them back", recommended(2*time.Minute, 6*time.Minute, func(p *snapshot.Past) { p.Noticed = p.Ready.Add(4 * time.Minute) }), []string{"pass workers [workers]"}},
		{"they lived on for hours", recommended(2*time.Minute, 5*time.Hour), []string{"pass workers [workers]"}},
		{"nobody saw them end", recommended(2*time.Minute, 0), []string{
			"unknown workers [workers] launch history: not read: EC2 recommended a rebalance of 93 nodes of workers soon after they joined; when 93 of them ended was not seen",
		}},
		{"history unread", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.LaunchHistory)), []string{"unknown prod [] launch history: denied"}},
	}
}
