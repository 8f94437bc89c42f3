package spot

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/node/spot"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// taken takes every launch of c5.large in us-west-2b back while it lasts.
func taken(from, until time.Duration) func(int, *snapshot.Past) {
	return func(_ int, p *snapshot.Past) {
		ago := snapshottest.Now().Sub(p.Started)
		if p.Type == "c5.large" && p.Zone == "us-west-2b" && ago <= from && ago > until {
			cameTo(p, snapshot.Reclaimed, "")
		}
	}
}

func TestPoolFailing(t *testing.T) { checktest.RunCases(t, PoolFailing(), poolFailingCases()) }

func poolFailingCases() []checktest.Case {
	well := []string{"pass c5.large/us-west-2a [c5.large/us-west-2a]", "pass c5.large/us-west-2b [c5.large/us-west-2b]", "pass m5.large/us-west-2a [m5.large/us-west-2a]", "pass m5.large/us-west-2b [m5.large/us-west-2b]"}
	with := func(line string) []string { return []string{well[0], line, well[2], well[3]} }
	return []checktest.Case{
		{"no history", snapshottest.PrivateWithNAT(), []string{"pass prod [prod]"}},
		{"all join", healthySpot(func(int, *snapshot.Past) {}), well},
		{"one pool is taken back", healthySpot(taken(48*time.Hour, 0)), with("fail c5.large/us-west-2b [c5.large/us-west-2b] [] Spot pool c5.large/us-west-2b fails: 96 of 96 did not join")},
		{"few launches accuse nobody", healthySpot(taken(2*time.Hour, 0)), well},
		{"it works again: the last ten joined", healthySpot(taken(48*time.Hour, 5*time.Hour)), well},
		{"not used for a day any more", checktest.Change(healthySpot(taken(48*time.Hour, 24*time.Hour)), func(s *snapshot.Snapshot) {
			var kept []snapshot.Past
			for _, p := range s.History {
				if p.Type != "c5.large" || p.Zone != "us-west-2b" || p.End == snapshot.Reclaimed {
					kept = append(kept, p)
				}
			}
			s.History = nil
			for _, p := range kept {
				if p.Type != "c5.large" || p.Zone != "us-west-2b" || s.Time.Sub(p.Started) > 24*time.Hour {
					s.History = append(s.History, p)
				}
			}
		}), well},
		{"a zone that fails accuses no pool", healthySpot(func(_ int, p *snapshot.Past) {
			if p.Zone == "us-west-2b" {
				cameTo(p, snapshot.NotJoined, "")
			}
		}), well},
		{"ends that nobody saw", healthySpot(func(_ int, p *snapshot.Past) {
			if p.Type == "c5.large" && p.Zone == "us-west-2b" {
				cameTo(p, snapshot.Unclear, "")
			}
		}), with("unknown c5.large/us-west-2b [c5.large/us-west-2b] launch history: not read: how 96 of 96 launches of c5.large in us-west-2b ended was not seen")},
		{"history unread", checktest.Change(healthySpot(taken(48*time.Hour, 0)), checktest.Unread(snapshot.LaunchHistory)), []string{"unknown prod [] launch history: denied"}},
	}
}

func TestPoolFailingSaysHowItFails(t *testing.T) {
	f := checktest.Failed(t, PoolFailing(), healthySpot(taken(48*time.Hour, 0)))
	want := "c5.large in us-west-2b: 96 of 96 were taken back before they joined; in the other pools of workers 0 of 288 failed."
	if !strings.HasPrefix(f.Why, want) {
		t.Errorf("Why = %q, want it to begin with %q", f.Why, want)
	}
	if got := checktest.Value(t, f, "c5.large in us-west-2b"); got != "0 of 96 launches joined; the share is between 0 % and 4 % (95 % interval)" {
		t.Errorf("interval = %q", got)
	}
	if got := checktest.Value(t, f, "How its launches ended"); got != "96 reclaimed, 0 joined" {
		t.Errorf("ends = %q", got)
	}
}

func TestWorksAgain(t *testing.T) {
	for _, tt := range []struct {
		name string
		pool spot.Pool
		want bool
	}{
		{"none joined before, four do", spot.Pool{Judged: 24, Failed: 20, Streak: 4}, false},
		{"none joined before, five do", spot.Pool{Judged: 25, Failed: 20, Streak: 5}, true},
		{"three of four joined before: fifteen are chance", spot.Pool{Judged: 55, Failed: 10, Streak: 15}, false},
		{"three of four joined before, seventeen do", spot.Pool{Judged: 57, Failed: 10, Streak: 17}, true},
	} {
		if got := worksAgain(tt.pool); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
