// Package digest counts what came of the launches and incidents of a time: for the weekly
// message, and for who asks. It decides from the records alone; what could not be read, and
// what was not looked at while it lasted, stands beside it and is never taken for nothing.
package digest

import (
	"cmp"
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// Part is what was read of one account and region.
type Part struct {
	Spoke spoke.ID
	Whose string
	// Sweeps are the looks at its clusters, Records what is remembered of deliveries.
	Sweeps   []overview.Sweep
	Records  []outbox.ClusterRecord
	Silences []silence.Silence
	Clusters []Cluster
	// OfOne tells that one cluster was asked for, and no other was read.
	OfOne bool
	// Unread is what could not be read, for people.
	Unread []string
}

// Cluster is what was counted of one cluster.
type Cluster struct {
	Name      string
	Launches  report.Tally
	Causes    []report.CauseCount
	Joins     []time.Duration
	Incidents []incident.Incident
	Freed     []snapshot.Returned
}

// Count counts a cluster's launches that began in a time.
func Count(name string, past []snapshot.Past, from, to time.Time) Cluster {
	c := Cluster{Name: name}
	for _, p := range past {
		if p.Started.Before(from) || !p.Started.Before(to) {
			continue
		}
		c.Launches.All++
		switch {
		case p.End == snapshot.Joined:
			c.Launches.Joined++
			if d, ok := p.Joining(); ok {
				c.Joins = append(c.Joins, d)
			}
		case p.End == snapshot.NotJoined, p.End == snapshot.Refused, p.End == snapshot.Open && !p.Missed.IsZero():
			c.Launches.Failed++
			c.Causes = addCause(c.Causes, report.CauseCount{Check: p.Cause, N: 1})
		case p.End == snapshot.Reclaimed:
			c.Launches.Reclaimed++
		case p.End == snapshot.Open:
			c.Launches.Waiting++
		default:
			c.Launches.Other++
		}
	}
	return c
}

func addCause(list []report.CauseCount, c report.CauseCount) []report.CauseCount {
	i := slices.IndexFunc(list, func(x report.CauseCount) bool { return x.Check == c.Check })
	if i < 0 {
		return append(list, c)
	}
	list[i].N += c.N
	return list
}

// Of is the digest of what was read of a time.
func Of(parts []Part, from, to, at time.Time) report.Period {
	p := report.Period{From: from, To: to, At: at}
	var joins []time.Duration
	for _, part := range parts {
		p.Unread = append(p.Unread, part.Unread...)
		for _, c := range part.Clusters {
			p.Clusters++
			joins = append(joins, c.Joins...)
			p.Launches = sum(p.Launches, c.Launches)
			for _, x := range c.Causes {
				p.Causes = addCause(p.Causes, x)
			}
			addIncidents(&p, part.Whose, c)
			addFreed(&p, c.Freed)
		}
		for _, s := range part.Silences {
			if s.Standing(at) {
				p.Silences = append(p.Silences, report.Quiet{Silence: s, Whose: part.Whose})
			}
		}
		for _, s := range part.Sweeps {
			if n := s.Soonest; n != nil && at.Sub(n.At) < day {
				p.Soonest = append(p.Soonest, report.PeriodSubnet{Whose: part.Whose, Cluster: s.Cluster, ID: n.ID, Zone: n.Zone, Free: n.Free, Total: n.Total, Empty: n.Empty, At: n.At})
			}
		}
		for _, r := range part.Records {
			for _, x := range r.Refusals {
				p.Faults = append(p.Faults, report.Fault{Whose: part.Whose, Cluster: r.Cluster, Target: string(x.Target), Code: x.Code, Since: x.Since})
			}
		}
	}
	p.Silenced = len(p.Silences)
	p.Joining = joining(joins)
	addLooks(&p, parts)
	order(&p)
	return p
}

const day = 24 * time.Hour

func sum(a, b report.Tally) report.Tally {
	return report.Tally{
		All: a.All + b.All, Joined: a.Joined + b.Joined, Failed: a.Failed + b.Failed,
		Reclaimed: a.Reclaimed + b.Reclaimed, Other: a.Other + b.Other, Waiting: a.Waiting + b.Waiting,
	}
}

// fewestJoins is of how many launches the times are told: of fewer they are chance.
const fewestJoins = 5

// joining is the middle of the times, and the one that 95 of 100 do not exceed (the nearest
// rank: no time is told that none took).
func joining(list []time.Duration) *report.Joining {
	n := len(list)
	if n < fewestJoins {
		return nil
	}
	slices.Sort(list)
	return &report.Joining{Median: list[(n-1)/2], Most95: list[(n*95+99)/100-1], N: n}
}

func addFreed(p *report.Period, list []snapshot.Returned) {
	if len(list) > 0 {
		p.Freed.Clusters++
	}
	for _, r := range list {
		p.Freed.Interfaces += r.Interfaces
		p.Freed.Addresses += r.Addresses
	}
}

// addIncidents takes a cluster's incidents in. Those about Rollcall's own sight are not
// counted as incidents of it, but told with what it could not look at.
func addIncidents(p *report.Period, whose string, c Cluster) {
	own := report.PeriodCluster{Whose: whose, Cluster: c.Name, Launches: c.Launches}
	for _, inc := range c.Incidents {
		open := inc.State != incident.Closed
		overlaps := inc.Opened.Before(p.To) && !inc.Resolved.Before(p.From)
		if inc.Number == 0 || !open && !overlaps {
			continue
		}
		if inc.Subject().Own {
			p.Unseen = append(p.Unseen, denied(whose, inc, p.To))
			continue
		}
		own.Seen++
		if !inc.Opened.Before(p.From) && inc.Opened.Before(p.To) {
			p.Opened++
		}
		switch {
		case open:
			own.Open++
			p.Open++
			if inc.Severity() == incident.Critical {
				p.Critical++
			}
		case inc.Resolved.Before(p.To):
			p.Resolved++
		}
		p.Incidents = append(p.Incidents, inShort(whose, inc, p.At))
		addRemedies(p, inc)
	}
	p.Seen += own.Seen
	if own.Seen > 0 || c.Launches.Failed > 0 {
		p.Wrong = append(p.Wrong, own)
	}
}

func inShort(whose string, inc incident.Incident, at time.Time) report.PeriodIncident {
	i := report.PeriodIncident{
		Whose: whose, Cluster: inc.Key.Cluster, Nodegroups: inc.Subject().Nodegroups, Check: inc.Key.Check,
		Title:    cmp.Or(inc.Cause.Title, string(inc.Key.Check)+" "+inc.Key.Resource),
		Severity: string(inc.Severity()), Opened: inc.Opened, Affected: max(inc.Affected, len(inc.Launches)), Number: inc.Number,
		Acked: inc.Ack != nil, Muted: inc.Muted(at), Silenced: inc.Silence != nil, Channel: inc.Delivery.Channel, TS: inc.Delivery.TS,
	}
	if inc.State == incident.Closed {
		i.Closed, i.Ending = inc.Resolved, string(inc.Resolution)
	}
	for _, o := range inc.Offers {
		i.Approval = i.Approval || waits(o, at)
	}
	return i
}

// waits tells an offer on which a person may decide.
func waits(o incident.Offer, at time.Time) bool {
	return o.State == incident.Offered && (o.Expires.IsZero() || at.Before(o.Expires))
}

// addRemedies counts what came of the remedies of an incident that ran in the time, and those
// that wait for a person now.
func addRemedies(p *report.Period, inc incident.Incident) {
	add := func(remedy, came string) {
		for i := range p.Remedies {
			if p.Remedies[i].Remedy == remedy && p.Remedies[i].Came == came {
				p.Remedies[i].N++
				return
			}
		}
		p.Remedies = append(p.Remedies, report.PeriodRemedy{Remedy: remedy, Came: came, N: 1})
	}
	for _, o := range inc.Offers {
		name := string(o.Plan.Remedy)
		ran := o.Run != nil && !o.Run.Began.Before(p.From) && o.Run.Began.Before(p.To)
		switch {
		case waits(o, p.At):
			add(name, report.RemedyWaits)
		case !ran:
		case o.State == incident.Helped:
			add(name, report.RemedyHelped)
		case o.State == incident.Unhelpful:
			add(name, report.RemedyUnhelpful)
		case o.Unverified():
			add(name, report.RemedyUnverified)
		default:
			add(name, report.RemedyNotDone)
		}
	}
}

// order has the worst first.
func order(p *report.Period) {
	severity := func(i report.PeriodIncident) int {
		return slices.Index([]string{string(incident.Critical), string(incident.Warning), string(incident.Info)}, i.Severity)
	}
	slices.SortStableFunc(p.Incidents, func(a, b report.PeriodIncident) int {
		return cmp.Or(number(b.IsOpen())-number(a.IsOpen()), severity(a)-severity(b), cmp.Compare(b.Lasted(p.At), a.Lasted(p.At)), cmp.Compare(b.Affected, a.Affected), cmp.Compare(a.Title, b.Title))
	})
	slices.SortStableFunc(p.Wrong, func(a, b report.PeriodCluster) int {
		return cmp.Or(b.Open-a.Open, b.Launches.Failed-a.Launches.Failed, b.Seen-a.Seen, cmp.Compare(a.Whose, b.Whose), cmp.Compare(a.Cluster, b.Cluster))
	})
	slices.SortStableFunc(p.Causes, func(a, b report.CauseCount) int { return cmp.Or(b.N-a.N, cmp.Compare(a.Check, b.Check)) })
	slices.SortStableFunc(p.Remedies, func(a, b report.PeriodRemedy) int { return cmp.Compare(a.Remedy, b.Remedy) })
	slices.SortStableFunc(p.Silences, func(a, b report.Quiet) int { return a.Until.Compare(b.Until) })
	slices.SortStableFunc(p.Faults, func(a, b report.Fault) int { return a.Since.Compare(b.Since) })
	slices.SortStableFunc(p.Soonest, func(a, b report.PeriodSubnet) int {
		sooner := func(x, y report.PeriodSubnet) bool {
			return overview.Subnet{ID: x.ID, Free: x.Free, Empty: x.Empty}.Sooner(overview.Subnet{ID: y.ID, Free: y.Free, Empty: y.Empty})
		}
		return number(sooner(b, a)) - number(sooner(a, b))
	})
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
