package spot

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// week is a launch of each of four types in each of two zones, every 40
// minutes for some days; change decides how each ends.
func week(days int, change func(*snapshot.Past)) []snapshot.Past {
	var list []snapshot.Past
	for i := range days * 36 {
		for _, kind := range []string{"c5.large", "m5.large", "m6i.large", "r5.large"} {
			for _, zone := range []string{"us-west-2a", "us-west-2b"} {
				p := snapshot.Past{
					ID: fmt.Sprintf("i-%d%s%s", i, kind, zone), Nodegroup: "workers-spot", Type: kind, Zone: zone, Subnet: "subnet-" + zone[9:], Spot: true,
					Started: noon().Add(time.Duration(i) * 40 * time.Minute), End: snapshot.Joined,
				}
				p.Ready = p.Started.Add(time.Minute)
				change(&p)
				list = append(list, p)
			}
		}
	}
	return list
}

func inPool(p *snapshot.Past) bool { return p.Type == "c5.large" && p.Zone == "us-west-2b" }

func end(p *snapshot.Past, e snapshot.End, cause checkid.ID) {
	p.End, p.Cause, p.Ready = e, cause, time.Time{}
}

func read(list []snapshot.Past) Report {
	return Read(Input{Cluster: "prod", From: noon(), To: noon().Add(Window), History: list, Subnets: subnets(), Types: types()})
}

// said are the explanations, a line each.
func said(r Report) []string {
	var list []string
	for _, e := range r.Explanations {
		list = append(list, fmt.Sprintf("%s (%d): %s: %s", e.Verdict, e.Of, e.Name, e.Says))
	}
	return list
}

func failing(r Report) []string {
	var list []string
	for _, p := range r.Pools {
		if p.Failing {
			list = append(list, p.Says())
		}
	}
	return list
}

func TestPoolsThatFail(t *testing.T) {
	turn := 0
	every := func(n int) bool { turn++; return turn%n == 0 }
	tests := []struct {
		name   string
		change func(*snapshot.Past)
		want   []string
	}{
		{"all join", func(*snapshot.Past) {}, nil},
		{"one pool is taken back", func(p *snapshot.Past) {
			if inPool(p) && every(2) {
				end(p, snapshot.Reclaimed, "")
			}
		}, []string{"c5.large in us-west-2b: 36 of 72 were taken back before they joined; in the other pools of workers-spot 0 of 504 failed"}},
		{"one pool does not join", func(p *snapshot.Past) {
			if inPool(p) {
				end(p, snapshot.NotJoined, "node/not-registered")
			}
		}, []string{"c5.large in us-west-2b: 72 of 72 did not join; in the other pools of workers-spot 0 of 504 failed"}},
		{"a zone fails, and nobody knows why", func(p *snapshot.Past) {
			if p.Zone == "us-west-2b" {
				end(p, snapshot.NotJoined, "")
			}
		}, nil},
		{"a cause that has a name elsewhere", func(p *snapshot.Past) {
			if inPool(p) {
				end(p, snapshot.NotJoined, "route/no-egress")
			}
		}, nil},
		{"ended by somebody, or unseen, or open", func(p *snapshot.Past) {
			if inPool(p) {
				end(p, []snapshot.End{snapshot.Terminated, snapshot.Unclear, snapshot.Open, "an end of a later version"}[turn%4], "")
				turn++
			}
		}, nil},
		{"hours in which all fail", func(p *snapshot.Past) {
			if p.Started.Hour() < 8 {
				end(p, snapshot.NotJoined, "")
			}
		}, nil},
		{"on-demand is not judged", func(p *snapshot.Past) {
			if p.Spot = !inPool(p); !p.Spot {
				end(p, snapshot.NotJoined, "")
			}
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			turn = 0
			if diff := cmp.Diff(failing(read(week(2, tt.change))), tt.want); diff != "" {
				t.Errorf("failing pools (-got +want):\n%s", diff)
			}
		})
	}
}

// Thirty launches of one pool that fail in one burst are one piece of
// evidence.
func TestOneBurstAccusesNobody(t *testing.T) {
	list := week(2, func(*snapshot.Past) {})
	for i := range 30 {
		list = append(list, snapshot.Past{
			ID: fmt.Sprintf("i-burst%d", i), Nodegroup: "workers-spot", Type: "c5.large", Zone: "us-west-2b", Subnet: "subnet-b", Spot: true,
			Started: noon().Add(time.Hour + time.Duration(i)*time.Second), End: snapshot.Reclaimed,
		})
	}
	if got := failing(read(list)); got != nil {
		t.Errorf("failing = %v, want none", got)
	}
}

func TestFunnel(t *testing.T) {
	var list []snapshot.Past
	add := func(n int, e snapshot.End, change func(*snapshot.Past)) {
		list = append(list, starts(n, string(e), e, change)...)
	}
	nothing := func(*snapshot.Past) {}
	add(3, snapshot.Refused, nothing)
	add(4, snapshot.Reclaimed, nothing)
	add(2, snapshot.NotJoined, nothing)
	add(5, snapshot.Joined, func(p *snapshot.Past) {
		p.Ready = p.Started.Add(time.Minute)
		if strings.HasSuffix(p.ID, "1") {
			p.Ended, p.Lost = p.Ready.Add(59*time.Minute), true
		}
		if strings.HasSuffix(p.ID, "2") {
			p.Ended, p.Lost = p.Ready.Add(time.Hour), true
		}
		if strings.HasSuffix(p.ID, "3") { // scaled in
			p.Ended = p.Ready.Add(10 * time.Minute)
		}
	})
	add(1, snapshot.Terminated, nothing)
	add(1, snapshot.Unclear, nothing)
	add(1, snapshot.Open, nothing)
	add(1, "an end of a later version", nothing)
	want := Funnel{Requested: 18, Refused: 3, Launched: 15, Reclaimed: 4, NotJoined: 2, Joined: 5, Lost: 1, Terminated: 1, Unknown: 2, Open: 1}
	r := read(list)
	if diff := cmp.Diff(r.Spot, want); diff != "" {
		t.Errorf("Spot (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(r.OnDemand, Funnel{}); diff != "" {
		t.Errorf("on-demand (-got +want):\n%s", diff)
	}
}

func TestEmptyHistory(t *testing.T) {
	got := Read(Input{Cluster: "prod", CNI: &snapshot.CNI{}})
	if diff := cmp.Diff(got, Report{Cluster: "prod", Explanations: []Explanation{}}); diff != "" {
		t.Errorf("Read (-got +want):\n%s", diff)
	}
}

func BenchmarkRead(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	list := make([]snapshot.Past, 100000)
	for i := range list {
		p := &list[i]
		zone := string(rune('a' + rng.IntN(3)))
		*p = snapshot.Past{
			ID: fmt.Sprintf("i-%d", i), Nodegroup: fmt.Sprintf("workers-%d", rng.IntN(10)), Type: fmt.Sprintf("m%d.large", rng.IntN(20)),
			Zone: "us-west-2" + zone, Subnet: "subnet-" + zone, Spot: rng.IntN(4) > 0,
			Started: noon().Add(time.Duration(rng.Int64N(int64(Window)))), End: snapshot.Joined,
		}
		p.Ready = p.Started.Add(time.Minute)
		if rng.IntN(20) == 0 {
			end(p, snapshot.NotJoined, "")
		}
	}
	b.ResetTimer()
	for range b.N {
		Read(Input{From: noon(), To: noon().Add(Window), History: list, Types: types()})
	}
}
