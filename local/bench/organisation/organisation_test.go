package organisation

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sweepspec "rollcall/functions/sweep/spec"
	"rollcall/local/stage"
	"rollcall/local/testfull"
	"rollcall/shared/snapshot"
)

// virtual runs a test in a time that passes at once while nobody works.
func virtual(t *testing.T, test func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		// A bubble begins in the year 2000, whose Unix times have nine digits: Slack's
		// signatures have ten.
		time.Sleep(time.Until(time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)))
		test(t)
	})
}

// settle is how long the last launches are given to have joined, or to be given up, and that
// to be told: the setting giveUp is a quarter of an hour here.
const settle = 20 * time.Minute

// TestCompany: of clusters in several accounts and regions, whose names and ids are the same
// in all, each that answers has its turn in every tick and each that does not within two; each
// launch has its one true outcome; no account's request bucket is emptied; and there is one
// message for each cause. Two accounts with five clusters each show that nothing is mixed up,
// and ten places that it holds for many; the thousand clusters of fifty accounts are
// played by make organisation.
func TestCompany(t *testing.T) {
	c := company{accounts: testfull.Of(5, 2), regions: testfull.Of(2, 1), clusters: 5, nodes: testfull.Of(20, 2)}
	p := play{company: c, minutes: testfull.Of(10, 2), hourly: testfull.Of(1_000, 300), atOnce: 4}
	virtual(t, func(t *testing.T) { p.run(t) })
}

// play is a company, and what happens to it.
type play struct {
	company
	// hourly launches are begun for so many minutes.
	minutes, hourly int
	// atOnce is the setting sweepConcurrency.
	atOnce int
}

func (y play) run(t *testing.T) result {
	p := start(t, y.company, y.atOnce)
	r := p.measured(y)
	p.pass(settle)
	r.turns, r.late = p.turns(t, y.minutes)
	r.ends = p.outcomes(t)
	r.left = p.withinBuckets(t)
	r.messages = p.messages(t)
	r.edits = p.edits()
	if p.failed > 0 {
		t.Errorf("%d invocations failed", p.failed)
	}
	if text := p.out.String(); strings.Contains(text, "a turn is dropped") || strings.Contains(text, "IAM does not allow") {
		t.Error("turns came too late, or a call was refused")
	}
	if t.Failed() {
		text := p.out.String()
		t.Logf("the end of the logs:\n%s", text[max(0, len(text)-200_000):])
	}
	return r
}

// turns holds that each cluster had its turn, and tells how many clusters that answer were
// read in a tick, and how many not before the next.
func (p *played) turns(t *testing.T, minutes int) (read, late int) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for tick := 1; tick < int((time.Duration(minutes)*time.Minute+settle)/sweepspec.Every); tick++ {
		for _, id := range p.places {
			for i := range p.c.clusters {
				cluster := id.In(clusterName(i))
				got, told := p.told[tick][cluster]
				switch {
				case silent(cluster) && got:
					t.Errorf("tick %d: the nodes of %s were read, which does not answer", tick, cluster)
				case silent(cluster) && !told && tick <= 2 && !p.heard(cluster, tick-1):
					t.Errorf("%s had no turn in the ticks %d and %d", cluster, tick-1, tick)
				case !silent(cluster) && !got:
					// The end of a tick's turns may fall into the next.
					late++
					if !p.told[tick+1][cluster] {
						t.Errorf("%s was not read in the ticks %d and %d", cluster, tick, tick+1)
					}
				case got:
					read++
				}
			}
		}
	}
	t.Logf("%d turns read the nodes of a cluster, %d did not that should have", read, late)
	return read, late
}

func (p *played) heard(cluster string, tick int) bool {
	_, told := p.told[tick][cluster]
	return told
}

// outcomes holds that each launch ended once, and as it must: in a nodegroup without a route
// it has not joined, in the others it has; of one in a silent cluster nothing is said.
func (p *played) outcomes(t *testing.T) (count map[snapshot.End]int) {
	t.Helper()
	ends := p.ends()
	count = map[snapshot.End]int{}
	for at, n := range p.launched {
		want := snapshot.Joined
		place, nodegroup, _ := strings.Cut(at, "/"+grows)
		if nodegroup == "" && strings.HasSuffix(at, noRoute) {
			want, place = snapshot.NotJoined, strings.TrimSuffix(at, "/"+noRoute)
		}
		got := ends[at]
		for end, k := range got {
			count[end] += k
		}
		total := 0
		for _, k := range got {
			total += k
		}
		switch {
		case silent(place):
			if total != n || got[snapshot.Joined]+got[snapshot.NotJoined] > 0 {
				t.Errorf("%s, which does not answer: %d launched, told %v", at, n, got)
			}
		case total != n || got[want] != n:
			t.Errorf("%s: %d launched, told %v, want all %q", at, n, got, want)
		}
		delete(ends, at)
	}
	if len(ends) > 0 {
		t.Errorf("launches that nobody made: %v", ends)
	}
	t.Logf("launches ended: %v", count)
	return count
}

// withinBuckets holds that nobody was throttled.
func (p *played) withinBuckets(t *testing.T) map[string]float64 {
	t.Helper()
	left, throttled := p.lowest()
	if throttled > 0 {
		t.Errorf("%d calls throttled", throttled)
	}
	for api := range left {
		if strings.Contains(api, "unfiltered") {
			t.Errorf("%s", api)
		}
	}
	t.Logf("the least that was left in any account's buckets: %v", left)
	return left
}

// messages holds that there is one message for each cause: each missing route, and each
// cluster that does not answer.
func (p *played) messages(t *testing.T) map[string]int {
	t.Helper()
	byCause := map[string]int{}
	for _, m := range p.Slack.Messages(stage.Channel) {
		if m.ThreadTS != "" {
			continue
		}
		all := m.Text + string(m.Blocks)
		cause := "another: " + m.Text
		switch {
		case strings.Contains(all, "rtb-0cd20000000000002"):
			cause = "missing routes"
		case strings.Contains(all, "cannot look into the cluster"):
			cause = "clusters that do not answer"
		}
		byCause[cause]++
	}
	want := map[string]int{}
	for i := range p.places {
		if broken(i) {
			want["missing routes"]++
		}
		for n := range p.c.clusters {
			if silent(clusterName(n)) {
				want["clusters that do not answer"]++
			}
		}
	}
	if fmt.Sprint(byCause) != fmt.Sprint(want) {
		t.Errorf("messages %v, want %v", byCause, want)
	}
	return byCause
}

// edits is how often messages were edited.
func (p *played) edits() (n int) {
	for _, c := range p.Slack.Calls() {
		if c.Method == "chat.update" {
			n++
		}
	}
	return n
}
