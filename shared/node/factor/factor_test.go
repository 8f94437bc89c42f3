package factor

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
	"rollcall/tools/testfull"
)

// days is how long a history is: that of the bound.
const days = 90

// kindOfHistory is how launches come and fail in simulated clusters.
type kindOfHistory struct {
	name   string
	groups int
	// bursts is how many there are each day, size the mean number of launches in one.
	bursts, size float64
	// hours is the share of days with one to three hours in which 7 of 10 launches
	// fail, whatever they are, fates the share of bursts in which all fail.
	hours, fates float64
	// bad is what is wrong from badDay on, with the share of launches that fail for it.
	bad  Kind
	rate float64
}

// badDay is after a week of launches, and at noon.
const badDay = 8

// fails is the share of launches that fail where nothing is wrong.
const fails = 0.02

// history is the launches of 90 days, oldest first. Each nodegroup gets a new
// version of its launch template every other week, every second one with a new AMI;
// the plugin is updated every month.
func history(k kindOfHistory, rng *rand.Rand) []Launch {
	type group struct {
		name, architecture string
		types              []string
		rollout, zone      int
	}
	var groups []group
	families := []string{"m5", "c5", "r5", "m6i", "m6g", "c6g"}
	for i := range k.groups {
		g := group{name: "group-" + strconv.Itoa(i), rollout: rng.IntN(14), architecture: "x86_64"}
		from := i % 4
		if i%3 == 2 {
			from, g.architecture = 4, "arm64"
		}
		for _, f := range families[from:min(len(families), from+2)] {
			g.types = append(g.types, f+".large", f+".xlarge")
		}
		groups = append(groups, g)
	}
	start := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	began := start.AddDate(0, 0, badDay).Add(12 * time.Hour)
	var list []Launch
	id := 0
	for day := range days {
		from, until := -1.0, -1.0
		if rng.Float64() < k.hours {
			from = 21 * rng.Float64()
			until = from + 1 + 2*rng.Float64()
		}
		for range poisson(rng, k.bursts) {
			hour := 24 * rng.Float64()
			at := start.AddDate(0, 0, day).Add(time.Duration(hour * float64(time.Hour)))
			g := &groups[rng.IntN(len(groups))]
			doomed := rng.Float64() < k.fates
			version := (day + g.rollout) / 14
			kind := g.types[rng.IntN(len(g.types))]
			for i := range 1 + poisson(rng, k.size-1) {
				zone := (g.zone + i) % 3
				if rng.Float64() < 0.4 {
					kind = g.types[rng.IntN(len(g.types))]
				}
				l := Launch{ID: "i-" + strconv.Itoa(id), Started: at.Add(time.Duration(i*int(rng.Float64()*30)) * time.Second)}
				id++
				ami := "ami-" + g.architecture + strconv.Itoa(version/2)
				group, plugin := g.name, "v1."+strconv.Itoa(20+day/30)
				template := "lt-" + g.name + " version " + strconv.Itoa(version)
				if after := !l.Started.Before(began); after && group == "group-0" {
					switch k.bad {
					case AMI:
						ami, template = "ami-bad", "lt-group-0 version bad"
					case Template:
						template = "lt-group-0 version bad"
					}
				}
				l.Of = [kinds]string{ami, template, plugin, group, kind, familyOf(kind), g.architecture, "on-demand", "subnet-" + strconv.Itoa(zone), "zone-" + strconv.Itoa(zone)}
				if rng.Float64() < 0.3 {
					l.Of[index(Capacity)] = "Spot"
				}
				p := fails
				switch {
				case l.has(k, began):
					p = k.rate
				case doomed:
					p = 1
				case hour >= from && hour < until:
					p = 0.7
				}
				l.Failed = rng.Float64() < p
				list = append(list, l)
			}
			g.zone++
		}
	}
	slices.SortFunc(list, func(a, b Launch) int { return a.Started.Compare(b.Started) })
	return list
}

// has reports whether a launch has what is wrong.
func (l Launch) has(k kindOfHistory, began time.Time) bool {
	if k.bad == "" || l.Started.Before(began) {
		return false
	}
	bad := map[Kind]string{AMI: "ami-bad", Template: "lt-group-0 version bad", Family: "m5"}[k.bad]
	return l.Of[index(k.bad)] == bad
}

// poisson draws from a Poisson distribution with a small mean (Knuth).
func poisson(rng *rand.Rand, mean float64) int {
	n, product, limit := 0, rng.Float64(), math.Exp(-mean)
	for product > limit {
		n++
		product *= rng.Float64()
	}
	return n
}

// story is what one history came to.
type story struct {
	launches, looks int
	// accused is a value that is named and is well.
	accused []Value
	// after is how many launches had what is wrong when it was named, and how long
	// after the first of them; zero where it never was.
	after int
	wait  time.Duration
}

// play looks whenever a launch has failed, a quarter of an hour later, with what
// was launched until then.
func play(k kindOfHistory, seed, number uint64) story {
	list := history(k, rand.New(rand.NewPCG(seed, number)))
	began := list[0].Started.Truncate(24*time.Hour).AddDate(0, 0, badDay).Add(12 * time.Hour)
	out := story{launches: len(list)}
	from, bad := 0, 0
	var first time.Time
	for i, l := range list {
		if l.has(k, began) {
			if bad++; bad == 1 {
				first = l.Started
			}
		}
		if !l.Failed {
			continue
		}
		now := l.Started
		for now.Sub(list[from].Started) > Window {
			from++
		}
		out.looks++
		v := Judge(list[from:i+1], now)
		// It is said of the launches that fail now, or not at all.
		if v.Reason != Named || l.Of[index(v.Shared[0].Kind)] != v.Shared[0].Name {
			continue
		}
		if !l.has(k, began) || !slices.ContainsFunc(append(append(v.Shared, v.Near...), v.Among), func(o Value) bool { return o.Kind == k.bad }) {
			out.accused = v.Shared
			return out
		}
		out.after, out.wait = bad, l.Started.Add(together).Sub(first)
		return out
	}
	return out
}

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// row is some launches with a value each of some kinds, the first at a time before
// noon.
func row(n int, ago, step time.Duration, failed bool, of map[Kind]string) []Launch {
	var list []Launch
	for i := range n {
		l := Launch{Started: noon().Add(-ago + time.Duration(i)*step), Failed: failed}
		for k, name := range of {
			l.Of[index(k)] = name
		}
		l.ID = fmt.Sprintf("%v %v", l.Started, l.Of)
		list = append(list, l)
	}
	return list
}

func with(name string) map[Kind]string { return map[Kind]string{AMI: name} }

const quarter = 15 * time.Minute

// before is a good week: a launch in each of 80 hours.
func before() []Launch { return row(80, 90*time.Hour, time.Hour, false, with("old")) }

func TestJudge(t *testing.T) {
	const hour = time.Hour
	for _, tt := range []struct {
		name string
		list []Launch
		want Reason
	}{
		{"nothing failed", before(), NoFailure},
		{"bad beside good", slices.Concat(before(), row(8, 4*hour, 20*time.Minute, true, with("new")), row(8, 4*hour, 20*time.Minute, false, with("old"))), Named},
		{"twenty at once are one witness", slices.Concat(before(), row(20, hour, time.Second, true, with("new"))), TooFew},
		{"three witnesses are too few", slices.Concat(before(), row(3, hour, quarter, true, with("new"))), TooFew},
		{"nothing to compare with", row(20, 6*hour, quarter, true, with("new")), TooFew},
		{"5 of 5 and 12 of 12 happen in 90 days", slices.Concat(row(12, 14*hour, hour, false, with("old")), row(5, 5*hour, hour, true, with("new"))), ByChance},
		{"a loss that nobody would mind", slices.Concat(row(500, 160*hour, quarter, false, with("old")), row(80, 30*hour, quarter, false, with("new")), row(12, 5*hour, 20*time.Minute, true, with("new"))), ByChance},
		{"all fail in those hours", slices.Concat(before(), row(12, 3*hour, quarter, true, with("new")), row(12, 3*hour, quarter, true, with("old"))), OfItsHour},
		{"nothing else was launched, and it is four hours old", slices.Concat(before(), row(16, 4*hour, quarter, true, with("new"))), OfItsHour},
		{"nothing else was launched in five hours", slices.Concat(before(), row(17, 5*hour, quarter, true, with("new"))), Named},
		{"nothing else but one that failed", slices.Concat(before(), row(17, 5*hour, quarter, true, with("new")), row(1, 2*hour, 0, true, with("old"))), OfItsHour},
		{"it works again", slices.Concat(before(), row(8, 6*hour, 20*time.Minute, true, with("new")), row(8, 6*hour, 20*time.Minute, false, with("old")), row(3, hour, quarter, false, with("new"))), WorksAgain},
		{"two of the last four joined", slices.Concat(before(), row(8, 6*hour, 20*time.Minute, true, with("new")), row(8, 6*hour, 20*time.Minute, false, with("old")), row(2, hour, quarter, false, with("new"))), Named},
		{"it is a week old", slices.Concat(row(80, 300*hour, hour, false, with("old")), row(12, 172*hour, 20*time.Minute, true, with("new")), row(1, hour, 0, true, with("old"))), TooFew},
		{"7 of 7 at once beside 40 of 40 of the same hour", slices.Concat(row(7, hour, time.Second, true, with("new")), row(40, hour, time.Minute, false, with("old"))), Named},
		{"6 of 6 beside 18 of 18", slices.Concat(row(6, hour, 5*time.Minute, true, with("new")), row(18, hour, 2*time.Minute, false, with("old"))), Named},
		{"5 of 5 beside 40 of 40", slices.Concat(row(5, hour, time.Second, true, with("new")), row(40, hour, time.Minute, false, with("old"))), TooFew},
		{"7 of 7 beside 17 of 17", slices.Concat(row(7, hour, time.Second, true, with("new")), row(17, hour, time.Minute, false, with("old"))), TooFew},
		{"7 of 7 beside 40 of 41", slices.Concat(row(7, hour, time.Second, true, with("new")), row(40, hour, time.Minute, false, with("old")), row(1, hour, 0, true, with("old"))), TooFew},
		{"7 of 8 beside 40 of 40", slices.Concat(row(7, hour, time.Second, true, with("new")), row(1, hour/2, 0, false, with("new")), row(40, hour, time.Minute, false, with("old"))), TooFew},
		{"7 of 7, and the others joined the day before", slices.Concat(row(7, hour, time.Second, true, with("new")), row(40, 24*hour, time.Minute, false, with("old"))), TooFew},
		{"of what is not known nothing is said", slices.Concat(row(80, 90*hour, hour, false, nil), row(17, 5*hour, quarter, true, with("new"))), TooFew},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Judge(tt.list, noon())
			if got.Reason != tt.want {
				t.Errorf("%+v, want %s", got, tt.want)
			}
			slices.Reverse(tt.list)
			if diff := cmp.Diff(got, Judge(tt.list, noon())); diff != "" {
				t.Errorf("in another order (-one +other):\n%s", diff)
			}
		})
	}
}

// The correction is by all values that were tried and all looks of 90 days: what is
// named among a few is not among many.
func TestCorrectedForAllThatWasTried(t *testing.T) {
	list := slices.Concat(row(23, 30*time.Hour, time.Hour, false, with("old")), row(6, 6*time.Hour, time.Hour, true, with("new")))
	v := Judge(list, noon())
	if want := (29*90 + 6) / 7; v.Reason != Named || v.Looks != want || v.Tried != 2 || v.Witnesses != 6 {
		t.Fatalf("%+v, want it named in %d looks at 2 values", v, want)
	}
	for i := range list {
		for k := 1; k < kinds; k++ {
			list[i].Of[k] = fmt.Sprint(i % 5)
		}
	}
	if v := Judge(list, noon()); v.Reason != ByChance || v.Tried != 2+5*9 {
		t.Errorf("%+v, want it by chance among 47 values", v)
	}
}

// A zone that fails accuses no type that is launched most of all there.
func TestTheValueThatExplainsIsNamed(t *testing.T) {
	of := func(zone, name string) map[Kind]string { return map[Kind]string{Zone: zone, Type: name} }
	list := slices.Concat(
		row(40, 100*time.Hour, time.Hour, false, of("a", "m5.large")), row(40, 100*time.Hour, time.Hour, false, of("b", "c5.large")), row(10, 100*time.Hour, time.Hour, false, of("b", "m5.large")),
		row(24, 8*time.Hour, 20*time.Minute, true, of("a", "m5.large")), row(3, 6*time.Hour, 2*time.Hour, true, of("a", "c5.large")),
		row(3, 6*time.Hour, 2*time.Hour, false, of("b", "m5.large")), row(24, 8*time.Hour, 20*time.Minute, false, of("b", "c5.large")))
	v := Judge(list, noon())
	if diff := cmp.Diff([]Value{{Zone, "a"}}, v.Shared); v.Reason != Named || diff != "" {
		t.Errorf("%+v, want the zone (-want +got):\n%s", v, diff)
	}
}

func TestTheVerySameLaunchesAreNamedTogether(t *testing.T) {
	of := func(ami, version string) map[Kind]string {
		return map[Kind]string{AMI: ami, Template: "lt-1 version " + version, Type: "m5.large", Family: "m5"}
	}
	list := slices.Concat(row(80, 90*time.Hour, time.Hour, false, of("old", "1")), row(18, 6*time.Hour, quarter, true, of("new", "2")))
	v := Judge(list, noon())
	want := Verdict{
		Reason: Named, Shared: []Value{{AMI, "new"}, {Template, "lt-1 version 2"}}, Failed: 18, Launches: 18, Others: 80, Witnesses: 18,
		P: v.P, Tried: 4, Looks: v.Looks, First: noon().Add(-6 * time.Hour), IDs: v.IDs,
	}
	if diff := cmp.Diff(want, v); diff != "" || len(v.IDs) != 18 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Instead(list, v.Shared[0]); got != "old" {
		t.Errorf("instead of the AMI %q", got)
	}
	if got := Instead(list, Value{Template, "lt-2 version 2"}); got != "" {
		t.Errorf("instead of another template's version %q", got)
	}
	// One that joined has the version and not the AMI: too few to tell them apart.
	list = append(list, row(1, 2*time.Hour, 0, false, of("old", "2"))...)
	v = Judge(list, noon())
	if diff := cmp.Diff([][]Value{{{AMI, "new"}}, {{Template, "lt-1 version 2"}}}, [][]Value{v.Shared, v.Near}); v.Reason != Named || diff != "" {
		t.Errorf("%+v (-want +got):\n%s", v, diff)
	}
	if len(v.Shared) > 0 && v.Among.Kind != "" {
		t.Errorf("among them %v", v.Among)
	}
}

// A type that alone stands for its family says the same twice.
func TestFamilyOfOneType(t *testing.T) {
	of := func(name string) map[Kind]string { return map[Kind]string{Type: name, Family: familyOf(name)} }
	list := slices.Concat(row(80, 90*time.Hour, time.Hour, false, of("m5.large")), row(20, 6*time.Hour, quarter, true, of("c5.large")))
	if diff := cmp.Diff([]Value{{Type, "c5.large"}}, Judge(list, noon()).Shared); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	list = append(list, row(8, 6*time.Hour, 40*time.Minute, true, of("c5.xlarge"))...)
	if diff := cmp.Diff([]Value{{Family, "c5"}}, Judge(list, noon()).Shared); diff != "" {
		t.Errorf("with another type of it (-want +got):\n%s", diff)
	}
}

func TestLaunchOf(t *testing.T) {
	full := snapshot.Past{
		ID: "i-1", Nodegroup: "workers", Group: "eks-workers", Type: "m6g.large", Zone: "us-west-2a", Subnet: "subnet-1", Spot: true,
		Template: snapshot.TemplateRef{ID: "lt-1", Version: "3"}, AMI: "ami-1", Architecture: "arm64", Plugin: "v1.20.4", Started: noon(), End: snapshot.Joined,
	}
	l, says := LaunchOf(full)
	want := Launch{ID: "i-1", Started: noon(), Of: [kinds]string{"ami-1", "lt-1 version 3", "v1.20.4", "workers", "m6g.large", "m6g", "arm64", "Spot", "subnet-1", "us-west-2a"}}
	if diff := cmp.Diff(want, l); !says || diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		end          snapshot.End
		cause        checkid.ID
		missed       bool
		says, failed bool
	}{
		{end: snapshot.NotJoined, says: true, failed: true},
		{end: snapshot.NotJoined, cause: checkid.NodeNotRegistered, says: true, failed: true},
		{end: snapshot.NotJoined, cause: checkid.InstanceCommonFactor, says: true, failed: true},
		{end: snapshot.NotJoined, cause: checkid.RouteNoEgress},
		{end: snapshot.Open, missed: true, says: true, failed: true},
		{end: snapshot.Open},
		{end: snapshot.Refused}, {end: snapshot.Reclaimed}, {end: snapshot.Terminated}, {end: snapshot.Unclear},
	} {
		p := full
		if p.End, p.Cause = tt.end, tt.cause; tt.missed {
			p.Missed = noon()
		}
		if l, says := LaunchOf(p); says != tt.says || l.Failed != tt.failed {
			t.Errorf("%q for %q: says %v, failed %v", tt.end, tt.cause, says, l.Failed)
		}
	}
}

// .ci/run factor plays all histories of docs/factor.md, which takes ten minutes of a core.
var allHistories = flag.Bool("factor.all", false, "play all histories, as docs/factor.md has them")

// histories is how many of a kind are played.
func histories(all, full, smaller int) int {
	if *allHistories {
		return all
	}
	return testfull.Count(full, smaller)
}

func healthyKinds() []kindOfHistory {
	return []kindOfHistory{
		{name: "failures by chance, one nodegroup", groups: 1, bursts: 6, size: 2},
		{name: "failures by chance, six nodegroups", groups: 6, bursts: 16, size: 3},
		{name: "hours in which most fail", groups: 3, bursts: 10, size: 3, hours: 0.3},
		{name: "bursts that fail together", groups: 3, bursts: 10, size: 3, fates: 0.04},
		{name: "all of it", groups: 4, bursts: 12, size: 3, hours: 0.3, fates: 0.02},
	}
}

func badKinds() []kindOfHistory {
	var list []kindOfHistory
	for _, k := range []kindOfHistory{
		{name: "AMI of one of four nodegroups", groups: 4, bad: AMI, rate: 1},
		{name: "AMI of the only nodegroup", groups: 1, bad: AMI, rate: 1},
		{name: "template version of one of four", groups: 4, bad: Template, rate: 1},
		{name: "family", groups: 4, bad: Family, rate: 1},
		{name: "family, every second launch fails", groups: 4, bad: Family, rate: 0.5},
	} {
		k.bursts, k.size = 16*float64(k.groups), 3
		list = append(list, k)
	}
	return list
}

// playAll plays a number of histories of a kind.
func playAll(k kindOfHistory, n int, seed uint64) []story {
	list := make([]story, n)
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				list[i] = play(k, seed, uint64(i))
			}
		})
	}
	wait.Wait()
	return list
}

// No healthy value is accused in 10,000 histories of 90 days, 2,000 of each kind
// (.ci/run factor); make test-full plays a tenth of them. What each rule keeps out is held
// in judge_test.go; the smallest number shows that the histories are played.
func TestHealthyAreNotAccused(t *testing.T) {
	n := histories(2000, 200, 6)
	for _, k := range healthyKinds() {
		accused, launches, looks := 0, 0, 0
		for i, s := range playAll(k, n, 7) {
			launches, looks = launches+s.launches, looks+s.looks
			if s.accused != nil {
				accused++
				t.Errorf("%s, history %d: accuses %v", k.name, i, s.accused)
			}
		}
		t.Logf("%-40s %d of %d accuse; %d launches and %d looks each", k.name, accused, n, launches/n, looks/n)
	}
}

// What is wrong is named, soon. The smaller number still shows a value that
// is never named.
func TestBadAreNamed(t *testing.T) {
	n := histories(400, 40, 6)
	for _, k := range badKinds() {
		var launches []int
		var waits []time.Duration
		accused := 0
		for i, s := range playAll(k, n, 11) {
			if s.accused != nil {
				accused++
				t.Logf("%s, history %d: accuses %v", k.name, i, s.accused)
			}
			if s.after > 0 {
				launches, waits = append(launches, s.after), append(waits, s.wait)
			}
		}
		slices.Sort(launches)
		slices.Sort(waits)
		if len(launches) < n*9/10 {
			t.Errorf("%s: named in %d of %d", k.name, len(launches), n)
			continue
		}
		at := func(share float64) string {
			i := int(share * float64(len(launches)-1))
			return fmt.Sprintf("%d launches, %s", launches[i], waits[i].Round(time.Minute))
		}
		t.Logf("%-40s named in %d of %d: median %s; nine of ten %s; others accused in %d", k.name, len(launches), n, at(0.5), at(0.9), accused)
	}
}
