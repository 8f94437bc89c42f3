package spot_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat/distuv"

	"rollcall/shared/checkid"
	"rollcall/shared/node/spot"
	"rollcall/shared/snapshot"
)

// historiesOfEach is how many histories of a kind are played; docs/spot.md is of seed 1.
var (
	historiesOfEach = flag.Int("spot.histories", 0, "histories of each kind with healthy pools, as docs/spot.md has 10,000; a tenth as many of each with a faulty one")
	historiesSeed   = flag.Uint64("spot.seed", 7, "seed of the histories")
)

// 300 histories of 90 days, looked at every hour: with a bound of 1 % at most 3
// of them are expected to accuse a healthy pool, and the bound is not reached
// by far.
func TestHealthyPoolsAreNotAccused(t *testing.T) {
	scenarios := wellScenarios()
	accused, histories := 0, 0
	for i, s := range scenarios {
		n := 300 / len(scenarios)
		if i < 300%len(scenarios) {
			n++
		}
		m := measure(t, s, max(n, *historiesOfEach))
		accused, histories = accused+m.accused, histories+m.histories
		t.Logf("%-28s %6d launches in one, %d looked at, a healthy pool accused in %d, 95 %% bound on that %.2f %%", s.name, m.launches/int64(m.histories), m.histories, m.accused, 100*m.bound())
	}
	if accused*100 > histories {
		t.Errorf("a healthy pool was accused in %d of %d histories, want at most one of 100", accused, histories)
	}
}

func TestFaultyPoolsAreNamed(t *testing.T) {
	for _, s := range faultyScenarios() {
		most := map[float64]int{0: 40, 0.25: 60, 0.5: 120}[s.joins]
		if most == 0 && *historiesOfEach == 0 {
			continue
		}
		m := measure(t, s, max(20, *historiesOfEach/10))
		t.Logf("%-55s named in %d of %d, median %s, 90th percentile %s; a healthy pool accused in %d", s.name, m.named, m.histories, m.until(0.5), m.until(0.9), m.accused)
		if most > 0 && (m.named != m.histories || m.accused > 0 || m.waits[m.named/2] > most) {
			t.Errorf("%s: named in %d of %d, median %s launches, want %d at most; healthy accused in %d", s.name, m.named, m.histories, m.until(0.5), most, m.accused)
		}
	}
}

// A test that accuses at the first failure would be found out: the measure
// itself can fail.
func TestAccusedIsCounted(t *testing.T) {
	s := wellScenarios()[0]
	s.faulty, s.joins = true, 0
	h := newHistory(s, instanceIDs(), 1, 1)
	got := play(h)
	if !got.named || got.accused || got.until == 0 {
		t.Fatalf("a pool in which nothing joins: %+v", got)
	}
	h = newHistory(s, instanceIDs(), 1, 1)
	h.blamed = "another type"
	if got := play(h); !got.accused || got.named {
		t.Errorf("the same pool, taken for healthy: %+v", got)
	}
}

// days is how long a history is: that of the bound in package spot.
const days = 90

// healthy is the share of launches that join where nothing is wrong.
const healthy = 0.98

// scenario is a kind of history.
type scenario struct {
	name  string
	about string
	types int
	zones int
	// bursts is how many bursts there are each day, size the mean number of
	// launches in one.
	bursts, size float64
	// together is the chance that all launches of a pool in a burst share one
	// fate, full that the later launches of a burst in a subnet all fail.
	together, full float64
	// zone is a zone that does not work for two days of each nine, named the
	// chance that a check says why.
	zone  bool
	named float64
	// hours reports whether there are hours in which most launches fail.
	hours bool
	// joins is the share of the first pool's launches that join, if it is
	// faulty, and taken the share of the others that EC2 takes back.
	faulty bool
	joins  float64
	taken  float64
}

// history makes the launches of a history, one day after another.
type history struct {
	scenario
	rng   *rand.Rand
	start time.Time
	count int
	ids   []string
	types []string
	zones []string
	// blamed is the type whose pool in the first zone is to be found.
	blamed string
	// subnets are those of each nodegroup, one in each zone.
	groups  [2]string
	subnets [2][]string
	// list and order are a day's launches, and pointers to them by time.
	list  []snapshot.Past
	order []*snapshot.Past
	// bad are the hours of the day in which most launches fail.
	bad [24]bool
}

// newHistory is the history of that number. The ids are shared by all.
func newHistory(s scenario, ids []string, seed, number uint64) *history {
	h := &history{
		scenario: s, ids: ids, rng: rand.New(rand.NewPCG(seed, number)), start: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC),
		groups: [2]string{"workers-a", "workers-b"},
	}
	h.count = h.rng.IntN(len(ids))
	for i := range s.types {
		h.types = append(h.types, "m"+strconv.Itoa(i)+".large")
	}
	h.blamed = h.types[0]
	for i := range s.zones {
		h.zones = append(h.zones, "us-west-2"+string(rune('a'+i)))
		for g := range h.groups {
			h.subnets[g] = append(h.subnets[g], h.groups[g]+h.zones[i])
		}
	}
	return h
}

// day is the launches of a day, oldest first. They are overwritten by the next.
func (h *history) day(n int) []*snapshot.Past {
	h.bad = [24]bool{}
	if h.hours && h.rng.Float64() < 0.3 {
		from := h.rng.IntN(22)
		h.bad[from], h.bad[from+1] = true, h.rng.Float64() < 0.5
	}
	h.list, h.order = h.list[:0], h.order[:0]
	midnight := h.start.AddDate(0, 0, n)
	for range h.poisson(h.bursts) {
		h.burst(n, midnight.Add(time.Duration(h.rng.Int64N(int64(24*time.Hour)))))
	}
	for i := range h.list {
		h.order = append(h.order, &h.list[i])
	}
	slices.SortStableFunc(h.order, func(a, b *snapshot.Past) int { return a.Started.Compare(b.Started) })
	return h.order
}

// burst adds the launches of a burst: of one of two nodegroups, in turn over
// the zones, most of a zone in the type that is easiest to have there just
// then, within up to ten minutes.
func (h *history) burst(day int, at time.Time) {
	group := h.rng.IntN(2)
	size := 1 + h.poisson(h.size-1)
	length := time.Duration(h.rng.Int64N(int64(10 * time.Minute)))
	easiest := make([]int, len(h.zones))
	for i := range easiest {
		easiest[i] = h.rng.IntN(len(h.types))
	}
	fates := map[int]bool{} // by pool: whether all fail
	full := -1
	if h.rng.Float64() < h.full {
		full = h.rng.IntN(len(h.zones))
	}
	first := h.rng.IntN(len(h.zones))
	for i := range size {
		zone := (first + i) % len(h.zones)
		kind := easiest[zone]
		if h.rng.Float64() < 0.4 {
			kind = h.rng.IntN(len(h.types))
		}
		began := at.Add(length * time.Duration(i) / time.Duration(size))
		p := snapshot.Past{
			ID: h.ids[h.count%len(h.ids)], Nodegroup: h.groups[group], Type: h.types[kind], Zone: h.zones[zone], Subnet: h.subnets[group][zone], Spot: true,
			Started: began, End: snapshot.Joined, Ready: began.Add(time.Minute),
		}
		h.count++
		pool := kind*len(h.zones) + zone
		if _, cast := fates[pool]; !cast {
			fates[pool] = h.rng.Float64() < h.together
		}
		h.decide(&p, day, pool, fates[pool] || full == zone && i >= size/2)
		h.list = append(h.list, p)
	}
}

// decide casts how a launch ends.
func (h *history) decide(p *snapshot.Past, day, pool int, doomed bool) {
	joins, taken := healthy, 0.5
	switch {
	case h.faulty && pool == 0:
		joins, taken = h.joins, h.taken
	case doomed:
		joins = 0
	case h.hours && h.bad[p.Started.Hour()]:
		joins, taken = 0.3, 0
	case h.scenario.zone && day%9 < 2 && p.Zone == h.zones[day/9%len(h.zones)]:
		joins, taken = 0.05, 0
		if h.rng.Float64() < h.named {
			p.Cause = checkid.RouteNoEgress
		}
	}
	switch {
	case h.rng.Float64() < joins:
		p.Cause = ""
	case h.rng.Float64() < taken:
		p.End, p.Cause, p.Ready = snapshot.Reclaimed, "", time.Time{}
		p.Noticed = p.Started.Add(time.Minute)
	default:
		p.End, p.Ready = snapshot.NotJoined, time.Time{}
	}
}

// poisson draws from a Poisson distribution with a small mean (Knuth).
func (h *history) poisson(mean float64) int {
	n, product, limit := 0, h.rng.Float64(), math.Exp(-mean)
	for product > limit {
		n++
		product *= h.rng.Float64()
	}
	return n
}

// measured is what one kind of history came to.
type measured struct {
	scenario  scenario
	histories int
	launches  int64
	// accused is in how many histories a healthy pool was accused at least once.
	accused int
	// named is in how many the faulty pool was, waits how many of its launches
	// it took there, sorted.
	named int
	waits []int
}

// story is what one history came to.
type story struct {
	launches int
	accused  bool
	named    bool
	until    int
}

// measure plays histories of a kind. The same seed plays the same.
func measure(t *testing.T, s scenario, histories int) measured {
	stories, ids := make([]story, histories), instanceIDs()
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range stories {
		g.Go(func() error {
			stories[i] = play(newHistory(s, ids, *historiesSeed, uint64(i)))
			return t.Context().Err()
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	m := measured{scenario: s, histories: histories}
	for _, one := range stories {
		m.launches += int64(one.launches)
		if one.accused {
			m.accused++
		}
		if one.named {
			m.named++
			m.waits = append(m.waits, one.until)
		}
	}
	slices.Sort(m.waits)
	return m
}

// instanceIDs are more ids than a history has launches.
func instanceIDs() []string {
	ids := make([]string, 1<<15)
	for i := range ids {
		ids[i] = fmt.Sprintf("i-%017x", i)
	}
	return ids
}

// play looks at a history every hour, as long as there is something new to
// find: a faulty pool that is not named yet, a healthy one not accused yet.
func play(h *history) story {
	var w spot.Watch
	var out story
	kind, zone := h.blamed, h.zones[0]
	fresh, tried := false, 0
	var last time.Time
	for day := range days {
		list := h.day(day)
		midnight := h.start.AddDate(0, 0, day)
		for hour := 1; hour <= 24; hour++ {
			now := midnight.Add(time.Duration(hour) * time.Hour)
			for len(list) > 0 && list[0].Started.Before(now) {
				p := list[0]
				list = list[1:]
				w.Add(*p)
				out.launches++
				fresh = true
				if h.faulty && p.Type == kind && p.Zone == zone {
					tried++
				}
			}
			// A look at which nothing is new and nothing too old finds the same.
			from := now.Add(-spot.Window).Truncate(6 * time.Hour)
			if !fresh && from.Equal(last) {
				continue
			}
			if fresh, last = false, from; !w.Perhaps(from) {
				continue
			}
			for _, st := range w.Look(from) {
				switch {
				case !st.Failing:
				case h.faulty && st.Type == kind && st.Zone == zone:
					if !out.named {
						out.named, out.until = true, tried
					}
				default:
					out.accused = true
				}
			}
			if h.faulty && out.named || out.accused && !h.faulty {
				return out
			}
		}
	}
	return out
}

// until is after how many launches a share of all histories had the faulty
// pool named.
func (m measured) until(share float64) string {
	i := int(share * float64(m.histories))
	if i >= len(m.waits) {
		return fmt.Sprintf("not within %d days", days)
	}
	return fmt.Sprint(m.waits[i])
}

// bound is the upper end of the interval (Clopper-Pearson, 95 %, one-sided) of
// the share of histories in which a healthy pool is accused.
func (m measured) bound() float64 {
	if m.accused >= m.histories {
		return 1
	}
	return distuv.Beta{Alpha: float64(m.accused + 1), Beta: float64(m.histories - m.accused)}.Quantile(0.95)
}

// wellScenarios are histories in which every pool is healthy.
func wellScenarios() []scenario {
	usual := scenario{types: 4, zones: 3, bursts: 12, size: 5}
	make := func(name, about string, change func(*scenario)) scenario {
		s := usual
		s.name, s.about = name, about
		change(&s)
		return s
	}
	return []scenario{
		make("independent", "each launch fails by itself", func(*scenario) {}),
		make("bursts that fail together", "in 3 of 100 bursts all launches of a pool fail, in 5 of 100 the later ones of a subnet, with no cause found", func(s *scenario) { s.together, s.full = 0.03, 0.05 }),
		make("a zone fails, cause named", "two days of nine a zone does not work; a check says why of 9 of 10", func(s *scenario) { s.zone, s.named = true, 0.9 }),
		make("a zone fails, cause unknown", "the same, and no check says why", func(s *scenario) { s.zone = true }),
		make("hours in which most fail", "every third day one or two hours in which 70 % fail, anywhere", func(s *scenario) { s.hours = true }),
		make("40 pools", "14 types in 3 zones, twice the bursts", func(s *scenario) { s.types, s.bursts = 14, 24 }),
		make("few launches", "one burst a day, of two launches", func(s *scenario) { s.bursts, s.size = 1, 2 }),
		make("two types, all together", "2 types in 2 zones, and both kinds of bursts that fail together", func(s *scenario) { s.types, s.zones, s.together, s.full = 2, 2, 0.05, 0.1 }),
	}
}

// faultyScenarios have one pool that does not work, from the first day on.
func faultyScenarios() []scenario {
	var list []scenario
	for _, kind := range []struct {
		name  string
		taken float64
	}{{"taken back before they join", 1}, {"do not join, no cause found", 0}} {
		for _, joins := range []float64{0, 0.25, 0.5, 0.75} {
			list = append(list, scenario{
				name: fmt.Sprintf("%.0f %% join, others %s", 100*joins, kind.name), about: kind.name,
				types: 4, zones: 3, bursts: 24, size: 5, faulty: true, joins: joins, taken: kind.taken,
			})
		}
	}
	return list
}
