package spot

import (
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// The Spot story: two groups start at once in one /24.
func TestTheSpotStory(t *testing.T) {
	n := 0
	list := starts(8, "m5.4xlarge", snapshot.Joined, func(p *snapshot.Past) {
		p.Ready = p.Started.Add(70 * time.Second)
		if n++; n > 4 {
			end(p, snapshot.NotJoined, "ip/subnet-exhausted")
		}
	})
	list = append(list, starts(4, "c5.large", snapshot.Joined, func(p *snapshot.Past) {
		p.Started = p.Started.Add(-20 * time.Hour)
		p.Ready = p.Started.Add(70 * time.Second)
	})...)
	got := Read(Input{
		Cluster: "prod", From: noon().Add(-Window), To: noon().Add(time.Hour), History: list, Subnets: subnets(), Types: types(),
		CNI: &snapshot.CNI{}, Samples: []snapshot.Sample{{Subnet: "subnet-0a", At: noon().Add(-time.Minute), Free: 251, Total: 251}},
	})
	if diff := cmp.Diff(said(got), []string{
		"supported (4): The subnet was too small for the burst: 8 launches at once needed 480 addresses (8 nodes × 2 interfaces × 30 addresses), subnet-0a had 251; that explains 4 of the 4 Spot launches that failed.",
		"open (0): Spot itself: There is no on-demand launch of the same types on the same days to compare with.",
		"ruled out (0): One pool does not work: None of the 4 Spot launches that failed points at its pool.",
		"ruled out (0): An unknown fault in one zone: In no zone is one of the 4 Spot launches that failed left without an explanation.",
		"ruled out (0): Spot took them back: EC2 took back none of the 4 Spot launches that failed.",
		"ruled out (0): EC2 had no capacity: EC2 refused none of the 4 Spot launches that failed for want of capacity.",
		"ruled out (0): The join time is too short: None of the 4 Spot launches that failed became Ready later; of those that joined 95 % took at most 70 s.",
	}); diff != "" {
		t.Errorf("explanations (-got +want):\n%s", diff)
	}
	var short []string
	for _, e := range got.Explanations {
		short = append(short, e.Short)
	}
	if diff := cmp.Diff(short, []string{
		"8 nodes × 2 interfaces × 30 addresses = 480; subnet-0a had 251.",
		"no on-demand launch to compare with.",
		"none of the 4 points at its pool.",
		"in no zone is one of the 4 left unexplained.",
		"EC2 took back none of the 4.",
		"it refused none of the 4 for that.",
		"none of the 4 became Ready later; 95 % join within 70 s.",
	}); diff != "" {
		t.Errorf("in short (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(got.Change, []string{"Give workers-a a /22 in us-west-2a instead of subnet-0a."}); diff != "" {
		t.Errorf("change (-got +want):\n%s", diff)
	}
	if got.Assumed != nil {
		t.Errorf("assumed %q, want nothing", got.Assumed)
	}
}

// A burst whose launches all joined had what it asked for, whatever was seen: it
// is not counted with those that had not.
func TestBurstsThatSucceeded(t *testing.T) {
	list := starts(8, "m5.4xlarge", snapshot.Joined, func(p *snapshot.Past) {
		if p.Started.Sub(noon()) > 3*time.Second {
			end(p, snapshot.NotJoined, "ip/subnet-exhausted")
		}
	})
	list = append(list, starts(12, "c5.large", snapshot.Joined, func(p *snapshot.Past) { p.Started = p.Started.Add(2 * time.Hour) })...)
	sample := func(after time.Duration, free int) snapshot.Sample {
		return snapshot.Sample{Subnet: "subnet-0a", At: noon().Add(after), Free: free, Total: 251}
	}
	r := Read(Input{
		From: noon().Add(-Window), To: noon().Add(3 * time.Hour), History: list, Subnets: subnets(), Types: types(),
		CNI: &snapshot.CNI{}, Samples: []snapshot.Sample{sample(-time.Minute, 251), sample(2*time.Hour-time.Minute, 71)},
	})
	if diff := cmp.Diff(said(r)[0], "supported (4): The subnet was too small for the burst: 8 launches at once needed 480 addresses (8 nodes × 2 interfaces × 30 addresses), subnet-0a had 251; that explains 4 of the 4 Spot launches that failed."); diff != "" {
		t.Errorf("explanation (-got +want):\n%s", diff)
	}
}

// What the check of bursts found is told of the bursts, not as another fault.
func TestWhatTheBurstCheckFound(t *testing.T) {
	list := starts(8, "m5.4xlarge", snapshot.NotJoined, func(p *snapshot.Past) { end(p, snapshot.NotJoined, checkid.SpotBurstExceedsSubnet) })
	list = append(list, starts(2, "c5.large", snapshot.Joined, func(p *snapshot.Past) {
		p.Started = p.Started.Add(10 * time.Minute)
		end(p, snapshot.NotJoined, checkid.SpotBurstExceedsSubnet)
	})...)
	r := Read(Input{
		From: noon().Add(-Window), To: noon().Add(3 * time.Hour), History: list, Subnets: subnets(), Types: types(),
		CNI: &snapshot.CNI{}, Samples: []snapshot.Sample{{Subnet: "subnet-0a", At: noon().Add(-time.Minute), Free: 251, Total: 251}},
	})
	for _, e := range r.Explanations {
		if e.Verdict == Supported && (e.Check != checkid.SpotBurstExceedsSubnet || e.Of != 10) {
			t.Errorf("%s explains %d: %s", e.Name, e.Of, e.Says)
		}
	}
}

// What is supported, and what to change, over histories of two days.
func TestSupported(t *testing.T) {
	// What a message shows on one line of a desk's screen.
	const line = 110
	turn := 0
	every := func(n int) bool { turn++; return turn%n == 0 }
	tests := []struct {
		name   string
		change func(*snapshot.Past)
		want   []string
		does   []string
	}{
		{"one pool is taken back: the pool is named before Spot as such", func(p *snapshot.Past) {
			if inPool(p) {
				end(p, snapshot.Reclaimed, "")
			}
		}, []string{
			"supported (72): One pool does not work: c5.large in us-west-2b: 72 of 72 were taken back before they joined; in the other pools of workers-spot 0 of 504 failed.",
			"supported (72): Spot took them back: EC2 took back 72 of the 72 Spot launches that failed before they had joined: 72 of c5.large in us-west-2b.",
		}, []string{
			"Leave c5.large in us-west-2b out of workers-spot.",
			"Use more pools than c5.large in us-west-2b, with the allocation strategy price-capacity-optimized.",
		}},
		{"a route", func(p *snapshot.Past) {
			if p.Zone == "us-west-2b" && every(3) {
				end(p, snapshot.NotJoined, "route/no-egress")
			}
		}, []string{
			"supported (96): A fault in subnet-b: route/no-egress: route/no-egress explains 96 of the 96 Spot launches that failed: all in subnet-b, where 192 of 288 launches joined.",
		}, []string{"Fix route/no-egress in subnet-b, as its own message says: it cost 96 launches."}},
		{"a zone, and nobody knows why", func(p *snapshot.Past) {
			if p.Zone == "us-west-2b" {
				end(p, snapshot.NotJoined, "")
			}
		}, []string{
			"supported (288): An unknown fault in us-west-2b: In us-west-2b 288 of 288 did not join, whatever their type, and no check found why; elsewhere 0 of 288.",
		}, []string{"Look at what is particular to us-west-2b (routes, network ACLs, endpoints, AWS Health): 288 launches did not join there."}},
		{"no capacity", func(p *snapshot.Past) {
			if p.Type == "r5.large" && every(4) {
				end(p, snapshot.Refused, "launch/insufficient-capacity")
			}
		}, []string{
			"supported (36): EC2 had no capacity: EC2 refused 36 of the 36 Spot launches that failed for want of Spot capacity: 36 of r5.large in us-west-2b.",
		}, []string{"Add types or zones: EC2 had no Spot capacity for 36 launches, most in r5.large in us-west-2b."}},
		{"given up on too early", func(p *snapshot.Past) {
			if every(9) {
				ready := p.Started.Add(7 * time.Minute)
				end(p, snapshot.NotJoined, "node/not-ready")
				p.Ready = ready
			}
		}, []string{
			"supported (64): The join time is too short: 64 of the 64 Spot launches that failed became Ready later, the last after 7 min.",
		}, []string{"Set the join time to 8 min or more: 64 launches became Ready after they had been given up on."}},
		{"on-demand does better", func(p *snapshot.Past) {
			if p.Spot = every(2); p.Spot && p.Zone == "us-west-2b" {
				end(p, snapshot.Reclaimed, "")
			}
		}, []string{
			"supported (288): Spot took them back: EC2 took back 288 of the 288 Spot launches that failed before they had joined: 72 of c5.large in us-west-2b, 72 of m5.large in us-west-2b, 72 of m6i.large in us-west-2b and 72 elsewhere.",
			"supported (288): Spot itself: Of the same types on the same days 288 of 288 Spot launches failed and 0 of 288 on-demand: on-demand does better by more than chance.",
		}, []string{
			"Use more pools than c5.large in us-west-2b, with the allocation strategy price-capacity-optimized.",
			"Add types: workers-spot has 4 pools.",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			turn = 0
			r := read(week(2, tt.change))
			var got []string
			for i, e := range r.Explanations {
				if n := utf8.RuneCountInString(e.Name + ": " + e.Short); n > line || e.Short == "" {
					t.Errorf("%s: %s has %d characters, a line has %d", e.Name, e.Short, n, line)
				}
				if e.Verdict == Supported {
					got = append(got, said(r)[i])
				}
			}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("supported (-got +want):\n%s", diff)
			}
			if diff := cmp.Diff(r.Change, tt.does); diff != "" {
				t.Errorf("change (-got +want):\n%s", diff)
			}
		})
	}
}

func TestSpotItself(t *testing.T) {
	verdict := func(change func(i int, p *snapshot.Past)) Explanation {
		i := 0
		list := week(1, func(p *snapshot.Past) { i++; change(i, p) })
		for _, e := range read(list).Explanations {
			if e.Name == "Spot itself" {
				return e
			}
		}
		return Explanation{}
	}
	worse := verdict(func(i int, p *snapshot.Past) {
		if p.Spot = i%2 == 0; p.Spot && i%3 == 0 {
			end(p, snapshot.NotJoined, "")
		}
	})
	same := verdict(func(i int, p *snapshot.Past) {
		if p.Spot = i%2 == 0; i%3 == 0 {
			end(p, snapshot.NotJoined, "")
		}
	})
	few := verdict(func(i int, p *snapshot.Past) {
		if p.Spot = i > 2; i == 9 {
			end(p, snapshot.NotJoined, "")
		}
	})
	for _, tt := range []struct {
		name string
		got  Explanation
		want Explanation
	}{
		{"on-demand does better", worse, Explanation{Name: "Spot itself", Verdict: Supported, Of: 48, Short: "on-demand 0 of 144 failed, Spot 48 of 144 (same types, same days).", Says: "Of the same types on the same days 48 of 144 Spot launches failed and 0 of 144 on-demand: on-demand does better by more than chance."}},
		{"on-demand does as badly", same, Explanation{Name: "Spot itself", Verdict: RuledOut, Short: "on-demand 48 of 144 failed, Spot 48 of 144 (same types, same days).", Says: "Of the same types on the same days 48 of 144 Spot launches failed and 48 of 144 on-demand: on-demand does about as badly."}},
		{"too few", few, Explanation{Name: "Spot itself", Verdict: Open, Short: "on-demand 0 of 2 failed, Spot 1 of 28 (same types, same days), too few to tell.", Says: "Of the same types on the same days 1 of 28 Spot launches failed and 0 of 2 on-demand: too few to tell."}},
	} {
		if diff := cmp.Diff(tt.got, tt.want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", tt.name, diff)
		}
	}
}

// Where the ends of many launches were not seen, nothing is ruled out for want
// of launches that show it.
func TestUnseenEndsRuleNothingOut(t *testing.T) {
	turn := 0
	r := read(week(1, func(p *snapshot.Past) {
		switch turn++; {
		case turn%7 == 0:
			end(p, snapshot.NotJoined, "route/no-egress")
		case turn%5 == 0:
			end(p, snapshot.Unclear, "")
		}
	}))
	for _, e := range r.Explanations {
		if e.Verdict == RuledOut && e.Name != "The subnet was too small for the burst" {
			t.Errorf("%s is ruled out: %s", e.Name, e.Says)
		}
	}
}
