package spot

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/checkid"
	"rollcall/shared/node/spotreport"
	"rollcall/shared/snapshot"
)

func TestArithmetic(t *testing.T) {
	burst := func(demand int, terms ...spotreport.Term) spotreport.Burst {
		b := spotreport.Burst{Subnet: "subnet-0a", Demand: demand, Had: 1251, HadKnown: true, Terms: terms}
		for _, term := range terms {
			b.Launches += term.Count
		}
		return b
	}
	large := func(name string, n int) spotreport.Term {
		return spotreport.Term{Type: name, Count: n, Interfaces: 2, Addresses: 30, Each: 60}
	}
	tests := []struct {
		burst spotreport.Burst
		short string
		types []string
	}{
		{burst(720, large("m5.4xlarge", 3), large("r5.4xlarge", 8), large("c5.4xlarge", 1)),
			"12 nodes × 2 interfaces × 30 addresses = 720; subnet-0a had 1,251",
			[]string{"3 m5.4xlarge × 2 interfaces × 30", "8 r5.4xlarge × 2 interfaces × 30", "1 c5.4xlarge × 2 interfaces × 30"}},
		{burst(94, large("m5.4xlarge", 1), spotreport.Term{Type: "c5.large", Count: 2, Interfaces: 1, Addresses: 17, Each: 17}),
			"1 node × 2 interfaces × 30 addresses + 2 nodes × 17 addresses = 94; subnet-0a had 1,251",
			[]string{"1 m5.4xlarge × 2 interfaces × 30", "2 c5.large × 17"}},
		{burst(3, spotreport.Term{Count: 3, Interfaces: 1, Addresses: 1, Each: 1}),
			"3 nodes × 1 address = 3; subnet-0a had 1,251",
			[]string{"3 of unknown type × 1"}},
		{burst(4000, spotreport.Term{Type: "a", Count: 1, Interfaces: 2, Addresses: 10}, spotreport.Term{Type: "b", Count: 1, Interfaces: 2, Addresses: 15}, spotreport.Term{Type: "c", Count: 1, Interfaces: 2, Addresses: 30}, spotreport.Term{Type: "d", Count: 1, Interfaces: 2, Addresses: 50}),
			"4 nodes of 4 sizes = 4,000; subnet-0a had 1,251",
			[]string{"1 a × 2 interfaces × 10", "1 b × 2 interfaces × 15", "1 c × 2 interfaces × 30", "1 d × 2 interfaces × 50"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.burst.Short(), tt.short); diff != "" {
			t.Errorf("short (-got +want):\n%s", diff)
		}
		if diff := cmp.Diff(tt.burst.ByType(), tt.types); diff != "" {
			t.Errorf("by type (-got +want):\n%s", diff)
		}
	}
}

func noon() time.Time { return time.Date(2026, 11, 20, 14, 2, 0, 0, time.UTC) }

// starts are launches of a type in subnet-0a, some seconds apart.
func starts(n int, kind string, end snapshot.End, change ...func(*snapshot.Past)) []snapshot.Past {
	var list []snapshot.Past
	for i := range n {
		p := snapshot.Past{
			ID: fmt.Sprintf("i-%s%d", kind, i), Nodegroup: "workers-a", Type: kind, Zone: "us-west-2a", Subnet: "subnet-0a", Spot: true,
			Started: noon().Add(time.Duration(i) * time.Second), End: end,
		}
		for _, f := range change {
			f(&p)
		}
		list = append(list, p)
	}
	return list
}

func subnets() []snapshot.Subnet {
	return []snapshot.Subnet{{ID: "subnet-0a", Zone: "us-west-2a", CIDR: netip.MustParsePrefix("10.0.1.0/24")}}
}

func types() []snapshot.InstanceType {
	return []snapshot.InstanceType{
		{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30, Hypervisor: "nitro"},
		{Name: "c5.large", Interfaces: 3, IPv4PerInterface: 10, Hypervisor: "nitro"},
	}
}

func TestBursts(t *testing.T) {
	at := func(ago time.Duration, free int) snapshot.Sample {
		return snapshot.Sample{Subnet: "subnet-0a", At: noon().Add(-ago), Free: free, Total: 251}
	}
	eight := starts(8, "m5.4xlarge", snapshot.NotJoined)
	seen := starts(8, "m5.4xlarge", snapshot.NotJoined, func(p *snapshot.Past) { p.Free, p.FreeAt = 240, p.Started.Add(20*time.Second) })
	late := starts(8, "m5.4xlarge", snapshot.NotJoined, func(p *snapshot.Past) { p.Free, p.FreeAt = 3, p.Started.Add(4*time.Minute) })
	earlier := starts(1, "c5.large", snapshot.Joined, func(p *snapshot.Past) { p.Started = noon().Add(-10 * time.Minute) })
	refused := starts(2, "", snapshot.Refused, func(p *snapshot.Past) {
		p.Cause, p.Started = "launch/subnet-full", noon().Add(time.Minute)
	})
	story := spotreport.Burst{
		Subnet: "subnet-0a", Zone: "us-west-2a", Began: noon(), Last: noon().Add(7 * time.Second), Launches: 8, Nodegroups: []string{"workers-a"},
		Terms: []spotreport.Term{{Type: "m5.4xlarge", Count: 8, Interfaces: 2, Addresses: 30, Each: 60}}, Demand: 480, Had: 251, HadKnown: true, Total: 251, Failed: 8,
	}
	with := func(change func(*spotreport.Burst)) []spotreport.Burst {
		b := story
		change(&b)
		return []spotreport.Burst{b}
	}
	lone := spotreport.Burst{
		Subnet: "subnet-0a", Zone: "us-west-2a", Began: noon().Add(-10 * time.Minute), Last: noon().Add(-10 * time.Minute), Launches: 1, Nodegroups: []string{"workers-a"},
		Terms: []spotreport.Term{{Type: "c5.large", Count: 1, Interfaces: 2, Addresses: 10, Each: 20}}, Demand: 20, Had: 251, HadKnown: true, Total: 251,
	}
	tests := []struct {
		name string
		in   Input
		want []spotreport.Burst
	}{
		{"the Spot story: 480 of 251", Input{History: eight, Samples: []snapshot.Sample{at(4*time.Minute, 251), at(9*time.Minute, 90), at(-time.Minute, 0)}}, with(func(*spotreport.Burst) {})},
		{"a sample of the same second", Input{History: eight, Samples: []snapshot.Sample{at(0, 200)}}, with(func(b *spotreport.Burst) { b.Had = 200 })},
		{"an old sample tells nothing", Input{History: eight, Samples: []snapshot.Sample{at(2*time.Hour, 251)}}, with(func(b *spotreport.Burst) { b.Had, b.HadKnown = 0, false })},
		{"nor does one from before an earlier launch", Input{History: append(earlier, eight...), Samples: []snapshot.Sample{at(11*time.Minute, 251)}},
			append([]spotreport.Burst{lone}, with(func(b *spotreport.Burst) { b.Had, b.HadKnown = 0, false })...)},
		{"what the first launch found, and the eight had taken", Input{History: seen}, with(func(b *spotreport.Burst) { b.Had = 248 })},
		{"a sample from before addresses came back", Input{History: seen, Samples: []snapshot.Sample{at(9*time.Minute, 71)}}, with(func(b *spotreport.Burst) { b.Had = 248 })},
		{"looked at too late", Input{History: late}, with(func(b *spotreport.Burst) { b.Had, b.HadKnown = 0, false })},
		{"settings of aws-node", Input{History: eight, Samples: []snapshot.Sample{at(0, 251)}, CNI: &snapshot.CNI{Env: map[string]string{"WARM_IP_TARGET": "5"}}},
			with(func(b *spotreport.Burst) {
				b.Demand, b.Terms = 48, []spotreport.Term{{Type: "m5.4xlarge", Count: 8, Interfaces: 1, Addresses: 6, Each: 6}}
			})},
		{"custom networking takes one each", Input{History: eight, Samples: []snapshot.Sample{at(0, 251)}, CNI: &snapshot.CNI{Env: map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}}},
			with(func(b *spotreport.Burst) {
				b.Demand, b.Terms = 8, []spotreport.Term{{Type: "m5.4xlarge", Count: 8, Interfaces: 1, Addresses: 1, Each: 1}}
			})},
		{"refused for want of addresses", Input{History: append(eight, refused...), Samples: []snapshot.Sample{at(0, 251)}},
			with(func(b *spotreport.Burst) {
				b.Last, b.Launches, b.Demand, b.Failed = noon().Add(time.Minute), 10, 482, 10
				b.Terms = append(b.Terms, spotreport.Term{Count: 2, Interfaces: 1, Addresses: 1, Each: 1})
			})},
		{"refused for another reason: no burst", Input{History: starts(2, "c5.large", snapshot.Refused, func(p *snapshot.Past) { p.Cause = "launch/kms-key" })}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.Subnets, tt.in.Types = subnets(), types()
			got, _ := Bursts(tt.in)
			if diff := cmp.Diff(got, tt.want, cmpopts.IgnoreFields(spotreport.Burst{}, "IDs")); diff != "" {
				t.Errorf("Bursts (-got +want):\n%s", diff)
			}
		})
	}
}

func TestAssumed(t *testing.T) {
	_, got := Bursts(Input{History: starts(1, "x9.huge", snapshot.Joined)})
	want := []string{
		"The settings of aws-node were not read: assuming its defaults, a first interface full of addresses and a second one in reserve.",
		"The addresses that x9.huge can hold are unknown: each counts with only its own address.",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("assumed (-got +want):\n%s", diff)
	}
}

func TestLongBurstsAreCut(t *testing.T) {
	var list []snapshot.Past
	for i := range 20 {
		list = append(list, snapshot.Past{ID: fmt.Sprint(i), Subnet: "subnet-0a", Type: "c5.large", Started: noon().Add(time.Duration(i) * 4 * time.Minute)})
	}
	got, _ := Bursts(Input{History: list, Types: types()})
	var sizes []int
	for _, b := range got {
		sizes = append(sizes, b.Launches)
	}
	if diff := cmp.Diff(sizes, []int{8, 8, 4}); diff != "" {
		t.Errorf("bursts of a steady stream (-got +want):\n%s", diff)
	}
}

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

func read(list []snapshot.Past) spotreport.Report {
	return Read(Input{Cluster: "prod", From: noon(), To: noon().Add(Window), History: list, Subnets: subnets(), Types: types()})
}

// said are the explanations, a line each.
func said(r spotreport.Report) []string {
	var list []string
	for _, e := range r.Explanations {
		list = append(list, fmt.Sprintf("%s (%d): %s: %s", e.Verdict, e.Of, e.Name, e.Says))
	}
	return list
}

func failing(r spotreport.Report) []string {
	var list []string
	for _, p := range r.Pools {
		if p.Failing {
			list = append(list, p.Describe())
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
		}, []string{"c5.large in us-west-2b: 36 of 72 were reclaimed before they joined; in the other pools of workers-spot 0 of 504 failed"}},
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
	want := spotreport.Funnel{Requested: 18, Refused: 3, Launched: 15, Reclaimed: 4, NotJoined: 2, Joined: 5, Lost: 1, Terminated: 1, Unknown: 2, Open: 1}
	r := read(list)
	if diff := cmp.Diff(r.Spot, want); diff != "" {
		t.Errorf("Spot (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(r.OnDemand, spotreport.Funnel{}); diff != "" {
		t.Errorf("on-demand (-got +want):\n%s", diff)
	}
}

func TestEmptyHistory(t *testing.T) {
	got := Read(Input{Cluster: "prod", CNI: &snapshot.CNI{}})
	if diff := cmp.Diff(got, spotreport.Report{Cluster: "prod", Explanations: []spotreport.Explanation{}}); diff != "" {
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

// random is a history in which some launches of each pool fail, and more of
// the first.
func random(seed uint64) []snapshot.Past {
	rng := rand.New(rand.NewPCG(seed, 1))
	bad := rng.Float64()
	list := week(3, func(p *snapshot.Past) {
		p.Started = p.Started.Add(time.Duration(rng.IntN(1800)) * time.Second)
		switch at := rng.Float64(); {
		case inPool(p) && at < bad, at < 0.05:
			end(p, []snapshot.End{snapshot.Reclaimed, snapshot.NotJoined}[rng.IntN(2)], "")
		}
	})
	return byStart(list)
}

// A look at every hour sees at the end what one look sees, and Perhaps never
// says no where the exact test says yes.
func TestWatchingIsLookingOnce(t *testing.T) {
	named := 0
	for seed := range uint64(40) {
		list := random(seed)
		var hourly, once Watch
		from := noon().Add(-time.Hour)
		for i, p := range list {
			hourly.Add(p)
			once.Add(p)
			if i%10 == 0 {
				possible := hourly.Perhaps(from)
				failing := slices.ContainsFunc(hourly.Look(from), func(st PoolResult) bool { return st.Failing })
				if failing && !possible {
					t.Fatalf("seed %d: a pool is failing, and Perhaps says no", seed)
				}
				if failing {
					named++
				}
			}
		}
		if diff := cmp.Diff(hourly.Look(from), once.Look(from)); diff != "" {
			t.Fatalf("seed %d: (-hourly +once):\n%s", seed, diff)
		}
	}
	if named == 0 {
		t.Error("no pool was ever failing: the test shows nothing")
	}
}

// The order in which launches of one second are listed, and the names of other
// things, change nothing.
func TestReadIsDeterministic(t *testing.T) {
	list := random(3)
	want := read(list)
	rng := rand.New(rand.NewPCG(9, 9))
	for range 5 {
		mixed := slices.Clone(list)
		rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if diff := cmp.Diff(read(mixed), want); diff != "" {
			t.Fatalf("another order (-got +want):\n%s", diff)
		}
	}
}

func TestOldLaunchesAreForgotten(t *testing.T) {
	var w Watch
	for _, p := range week(2, func(p *snapshot.Past) {
		if inPool(p) {
			end(p, snapshot.Reclaimed, "")
		}
	}) {
		w.Add(p)
	}
	if list := w.Look(noon()); !list[0].Failing {
		t.Fatalf("in the window the pool is not failing: %+v", list[0])
	}
	for _, st := range w.Look(noon().Add(3 * 24 * time.Hour)) {
		if st.Failing || st.Judged > 0 {
			t.Errorf("after the window: %+v", st)
		}
	}
}

// What lasts over the end of a half hour counts once.
func TestBurstOverTheHalfHourCountsOnce(t *testing.T) {
	launch := func(pool int, minute int) trial {
		return trial{draw: drawOf(strconv.Itoa(minute)), at: int64(minute * 60), pool: pool, label: label{judged: true, started: true}}
	}
	got := draw([]trial{launch(0, 25), launch(0, 32), launch(0, 61), launch(1, 5), launch(1, 50)}, nil, nearby)
	var at []int64
	for _, tr := range got {
		at = append(at, tr.at/60)
	}
	if diff := cmp.Diff(at, []int64{25, 61, 5, 50}); diff != "" {
		t.Errorf("drawn (-got +want):\n%s", diff)
	}
	if got := draw([]trial{launch(0, 363)}, []trial{launch(0, 358)}, nearby); len(got) != 0 {
		t.Errorf("over the end of a stretch: %v", got)
	}
}

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
		"supported (4): The subnet was too small for the burst: 8 launches at once needed 480 addresses (8 nodes × 2 interfaces × 30 addresses), subnet-0a had 251; this explains 4 of the 4 Spot launches that failed.",
		"open (0): Spot itself: There is no on-demand launch of the same types on the same days to compare with.",
		"ruled out (0): Bad Spot pool: None of the 4 Spot launches that failed is explained by its pool.",
		"ruled out (0): Zone-specific fault: No zone has an unexplained failure: every one of the 4 Spot launches that failed has a cause.",
		"ruled out (0): Spot interruptions: None of the 4 Spot launches that failed was interrupted.",
		"ruled out (0): No Spot capacity: None of the 4 Spot launches that failed was refused for capacity.",
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
		"none of the 4 is explained by its pool.",
		"each of the 4 has a known cause.",
		"none of the 4 was interrupted.",
		"none of the 4 was refused for capacity.",
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
	if diff := cmp.Diff(said(r)[0], "supported (4): The subnet was too small for the burst: 8 launches at once needed 480 addresses (8 nodes × 2 interfaces × 30 addresses), subnet-0a had 251; this explains 4 of the 4 Spot launches that failed."); diff != "" {
		t.Errorf("explanation (-got +want):\n%s", diff)
	}
}

// What the check of bursts found is reported of the bursts, not as another fault.
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
		if e.Verdict == spotreport.Supported && (e.Check != checkid.SpotBurstExceedsSubnet || e.Of != 10) {
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
			"supported (72): Bad Spot pool: c5.large in us-west-2b: 72 of 72 were reclaimed before they joined; in the other pools of workers-spot 0 of 504 failed.",
			"supported (72): Spot interruptions: EC2 reclaimed 72 of the 72 Spot launches that failed before they joined: 72 of c5.large in us-west-2b.",
		}, []string{
			"Remove c5.large in us-west-2b from workers-spot.",
			"Use more pools than c5.large in us-west-2b, with the allocation strategy price-capacity-optimized.",
		}},
		{"a route", func(p *snapshot.Past) {
			if p.Zone == "us-west-2b" && every(3) {
				end(p, snapshot.NotJoined, "route/no-egress")
			}
		}, []string{
			"supported (96): A fault in subnet-b: route/no-egress: route/no-egress explains 96 of the 96 Spot launches that failed: all in subnet-b, where 192 of 288 launches joined.",
		}, []string{"Fix route/no-egress in subnet-b as its own message describes: it cost 96 launches."}},
		{"a zone, and nobody knows why", func(p *snapshot.Past) {
			if p.Zone == "us-west-2b" {
				end(p, snapshot.NotJoined, "")
			}
		}, []string{
			"supported (288): Zone-specific fault in us-west-2b: In us-west-2b 288 of 288 did not join, whatever their type, and no check found why; elsewhere 0 of 288.",
		}, []string{"Check what is specific to us-west-2b (routes, network ACLs, endpoints, AWS Health): 288 launches did not join there."}},
		{"no capacity", func(p *snapshot.Past) {
			if p.Type == "r5.large" && every(4) {
				end(p, snapshot.Refused, "launch/insufficient-capacity")
			}
		}, []string{
			"supported (36): No Spot capacity: EC2 refused 36 of the 36 Spot launches that failed for lack of Spot capacity: 36 of r5.large in us-west-2b.",
		}, []string{"Add types or zones: EC2 had no Spot capacity for 36 launches, most in r5.large in us-west-2b."}},
		{"given up on too early", func(p *snapshot.Past) {
			if every(9) {
				ready := p.Started.Add(7 * time.Minute)
				end(p, snapshot.NotJoined, "node/not-ready")
				p.Ready = ready
			}
		}, []string{
			"supported (64): The join time is too short: 64 of the 64 Spot launches that failed became Ready later, the last after 7 min.",
		}, []string{"Set the join time to 8 min or more: 64 launches became Ready after Rollcall had given up on them."}},
		{"on-demand does better", func(p *snapshot.Past) {
			if p.Spot = every(2); p.Spot && p.Zone == "us-west-2b" {
				end(p, snapshot.Reclaimed, "")
			}
		}, []string{
			"supported (288): Spot interruptions: EC2 reclaimed 288 of the 288 Spot launches that failed before they joined: 72 of c5.large in us-west-2b, 72 of m5.large in us-west-2b, 72 of m6i.large in us-west-2b and 72 elsewhere.",
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
				if e.Verdict == spotreport.Supported {
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
	verdict := func(change func(i int, p *snapshot.Past)) spotreport.Explanation {
		i := 0
		list := week(1, func(p *snapshot.Past) { i++; change(i, p) })
		for _, e := range read(list).Explanations {
			if e.Name == "Spot itself" {
				return e
			}
		}
		return spotreport.Explanation{}
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
		got  spotreport.Explanation
		want spotreport.Explanation
	}{
		{"on-demand does better", worse, spotreport.Explanation{Name: "Spot itself", Verdict: spotreport.Supported, Of: 48, Short: "on-demand 0 of 144 failed, Spot 48 of 144 (same types, same days).", Says: "Of the same types on the same days 48 of 144 Spot launches failed and 0 of 144 on-demand: on-demand does better by more than chance."}},
		{"on-demand does as badly", same, spotreport.Explanation{Name: "Spot itself", Verdict: spotreport.RuledOut, Short: "on-demand 48 of 144 failed, Spot 48 of 144 (same types, same days).", Says: "Of the same types on the same days 48 of 144 Spot launches failed and 48 of 144 on-demand: on-demand does about as badly."}},
		{"too few", few, spotreport.Explanation{Name: "Spot itself", Verdict: spotreport.Open, Short: "on-demand 0 of 2 failed, Spot 1 of 28 (same types, same days), too few to compare.", Says: "Of the same types on the same days 1 of 28 Spot launches failed and 0 of 2 on-demand: too few to compare."}},
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
		if e.Verdict == spotreport.RuledOut && e.Name != "The subnet was too small for the burst" {
			t.Errorf("%s is ruled out: %s", e.Name, e.Says)
		}
	}
}
