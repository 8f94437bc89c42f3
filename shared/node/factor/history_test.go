package factor

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
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

// has tells that a launch has what is wrong.
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
