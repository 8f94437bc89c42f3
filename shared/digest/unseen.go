package digest

import (
	"cmp"
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/overview"
	"rollcall/shared/report"
)

// seen is how a cluster was looked at in the time: gaps are where it was not.
type seen struct {
	name string
	gaps []overview.Gap
	// outside are the times in which it was not known, before its first look.
	outside []overview.Gap
}

// addLooks counts the turns, and tells what was not looked at: once of all that is watched,
// once of an account and region, else of the cluster.
func addLooks(p *report.Period, parts []Part) {
	until := p.To
	if p.At.Before(until) {
		until = p.At
	}
	bySpoke := make([][]seen, len(parts))
	var all []seen
	for i, part := range parts {
		bySpoke[i] = looksOf(p, part, until)
		all = append(all, bySpoke[i]...)
	}
	p.Looks.Since = since(parts, p.From)
	whole := common(all)
	for _, g := range whole {
		p.Unseen = append(p.Unseen, report.Unseen{Reason: report.NothingLooked, Clusters: len(all), From: g.From, To: g.To, Still: g.To.Equal(until)})
	}
	for i, part := range parts {
		left := bySpoke[i]
		var spokes []overview.Gap
		if len(parts) > 1 {
			spokes = without(common(left), whole)
		}
		for _, g := range spokes {
			p.Unseen = append(p.Unseen, report.Unseen{Reason: report.SpokeUnseen, Whose: part.Whose, Clusters: len(left), From: g.From, To: g.To, Still: g.To.Equal(until)})
		}
		if len(parts) > 1 && len(part.Sweeps) == 0 && !part.OfOne && len(part.Unread) == 0 {
			p.Unseen = append(p.Unseen, report.Unseen{Reason: report.SpokeUnknown, Whose: part.Whose, Still: true})
		}
		for _, c := range left {
			for _, g := range without(without(c.gaps, whole), spokes) {
				reason := report.ClusterUnseen
				if g.To.Equal(until) {
					reason = report.ClusterStopped
				}
				p.Unseen = append(p.Unseen, report.Unseen{Reason: reason, Whose: part.Whose, Cluster: c.name, From: g.From, To: g.To, Still: g.To.Equal(until)})
			}
		}
	}
	rank := func(u report.Unseen) int {
		return slices.Index([]report.UnseenReason{report.NothingLooked, report.SpokeUnseen, report.SpokeUnknown, report.Denied, report.ClusterUnseen, report.APISilent, report.PartFailed, report.ClusterStopped}, u.Reason)
	}
	slices.SortStableFunc(p.Unseen, func(a, b report.Unseen) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(b.To.Sub(b.From), a.To.Sub(a.From)), cmp.Compare(b.N, a.N))
	})
}

// since is when the first look of all was noted; zero where that was before the time began, or
// was never.
func since(parts []Part, from time.Time) (first time.Time) {
	for _, part := range parts {
		for _, s := range part.Sweeps {
			if x := s.Turns.Since; !x.IsZero() && (first.IsZero() || x.Before(first)) {
				first = x
			}
		}
	}
	if !first.After(from.Add(overview.Late)) {
		return time.Time{}
	}
	return first
}

// looksOf counts the turns of one account and region. A cluster of which the last look was
// before the time is not one of it, as long as others of its account and region were looked
// at: it is gone, or was taken out of the settings.
func looksOf(p *report.Period, part Part, until time.Time) (list []seen) {
	alive := slices.ContainsFunc(part.Sweeps, func(s overview.Sweep) bool { return s.At.After(p.From) })
	for _, s := range part.Sweeps {
		switch {
		case s.At.Before(p.From) && alive:
			continue
		case s.Turns.Since.IsZero():
			p.Looks.Unnoted++
			continue
		case !s.Turns.Since.Before(until):
			p.Looks.New++
			continue
		case s.Turns.Since.After(p.From.Add(overview.Late)):
			p.Looks.New++
		}
		made, failed, silent := s.Turns.Between(p.From, p.To)
		p.Looks.Made += made
		p.Looks.Failed += failed
		p.Looks.Silent += silent
		if silent > 0 {
			p.Unseen = append(p.Unseen, report.Unseen{Reason: report.APISilent, Whose: part.Whose, Cluster: s.Cluster, N: silent, Of: made})
		}
		if failed > 0 {
			p.Unseen = append(p.Unseen, report.Unseen{Reason: report.PartFailed, Whose: part.Whose, Cluster: s.Cluster, N: failed, Of: made})
		}
		c := seen{name: s.Cluster, gaps: s.GapsBetween(p.From, until)}
		if s.Turns.Since.After(p.From) {
			c.outside = []overview.Gap{{From: p.From, To: s.Turns.Since}}
		}
		list = append(list, c)
	}
	return list
}

// least is how long a time must be in which none of several was looked at: turns are spread
// over five minutes, so that shorter ones are between any two.
const least = 5 * time.Minute

// common are the times in which none of them was looked at. Where one was not known yet it
// tells nothing of the others.
func common(list []seen) []overview.Gap {
	if len(list) == 0 || slices.ContainsFunc(list, func(c seen) bool { return len(c.gaps)+len(c.outside) == 0 }) {
		return nil
	}
	both := slices.Concat(list[0].outside, list[0].gaps)
	for _, c := range list[1:] {
		both = intersect(both, slices.Concat(c.outside, c.gaps))
	}
	// A time in which some were not known and the others were not looked at is one of all.
	return slices.DeleteFunc(both, func(g overview.Gap) bool {
		return !slices.ContainsFunc(list, func(c seen) bool {
			return slices.ContainsFunc(c.gaps, func(x overview.Gap) bool { return overlap(x, g) > 0 })
		})
	})
}

func intersect(a, b []overview.Gap) (list []overview.Gap) {
	for _, x := range a {
		for _, y := range b {
			if overlap(x, y) > least {
				list = append(list, overview.Gap{From: later(x.From, y.From), To: earlier(x.To, y.To)})
			}
		}
	}
	return list
}

// without are the gaps that are not told by those of all: but for the turns' spread they are
// the same.
func without(list, all []overview.Gap) []overview.Gap {
	return slices.DeleteFunc(slices.Clone(list), func(g overview.Gap) bool {
		return slices.ContainsFunc(all, func(x overview.Gap) bool { return g.Lasts()-overlap(g, x) <= 2*overview.Late && overlap(g, x) > 0 })
	})
}

func overlap(a, b overview.Gap) time.Duration {
	return max(earlier(a.To, b.To).Sub(later(a.From, b.From)), 0)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// denied is an incident about Rollcall's own sight.
func denied(whose string, inc incident.Incident, to time.Time) report.Unseen {
	u := report.Unseen{
		Reason: report.Denied, Whose: whose, Cluster: inc.Key.Cluster, From: inc.Opened, To: inc.Resolved,
		Says: cmp.Or(inc.Cause.Title, inc.Key.Resource), Channel: inc.Delivery.Channel, TS: inc.Delivery.TS,
	}
	if inc.State != incident.Closed {
		u.To, u.Still = to, true
	}
	return u
}
