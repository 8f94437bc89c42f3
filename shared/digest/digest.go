// Package digest counts what came of the launches and incidents of a time: for the weekly
// message, and for who asks. It decides from the records alone; what could not be read, and
// what was not looked at while it lasted, stands beside it and is never taken for nothing.
package digest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/outbox"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
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
	// OfOne is set where one cluster was asked for, and no other was read.
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

// NewPeriod is the digest of what was read of a time.
func NewPeriod(parts []Part, from, to, at time.Time) report.Period {
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

// fewestJoins is of how many launches the times are reported: of fewer they are chance.
const fewestJoins = 5

// joining is the middle of the times, and the one that 95 of 100 do not exceed (the nearest
// rank: each is a time that a launch took).
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
// counted as incidents of it, but reported with what it could not read.
func addIncidents(p *report.Period, whose string, c Cluster) {
	own := report.PeriodCluster{Whose: whose, Cluster: c.Name, Launches: c.Launches}
	for _, inc := range c.Incidents {
		addFeedback(p, inc)
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

// addFeedback counts what people said of an incident in the time.
func addFeedback(p *report.Period, inc incident.Incident) {
	for _, f := range inc.Feedback {
		if f.At.Before(p.From) || !f.At.Before(p.To) {
			continue
		}
		i := slices.IndexFunc(p.Feedback, func(c report.FeedbackCount) bool { return c.Check == inc.Key.Check })
		if i < 0 {
			p.Feedback = append(p.Feedback, report.FeedbackCount{Check: inc.Key.Check})
			i = len(p.Feedback) - 1
		}
		switch c := &p.Feedback[i]; f.Says {
		case report.SayRight:
			c.Right++
		case report.SayWrong:
			c.Wrong++
		case report.SayNotUseful:
			c.NotUseful++
		}
	}
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
	slices.SortStableFunc(p.Feedback, func(a, b report.FeedbackCount) int {
		return cmp.Or(b.Wrong-a.Wrong, b.NotUseful-a.NotUseful, b.Right-a.Right, cmp.Compare(a.Check, b.Check))
	})
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

// Table is what is read of the records of one account and region.
type Table interface {
	Sweeps(ctx context.Context) ([]overview.Sweep, error)
	ClusterRecords(ctx context.Context) ([]outbox.ClusterRecord, error)
	AllSilences(ctx context.Context) ([]silence.Silence, error)
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
	RecentHistory(ctx context.Context, cluster string, since time.Time, most int) ([]snapshot.Past, error)
	Audits(ctx context.Context, cluster string, from time.Time) ([]leak.Audit, error)
}

var _ Table = (*store.Store)(nil)

// Watched is an account and a region, and its records.
type Watched struct {
	spoke.ID
	Whose string
	Table Table
	// named, if any, tells what people call it by now.
	named func(ctx context.Context) (string, error)
}

// Records are those of one account and region, with the name that people know it by.
type Records interface {
	Table
	Alias(ctx context.Context) (store.Alias, bool, error)
}

var _ Records = (*store.Store)(nil)

// All are the accounts and regions that are watched, the hub's own first, and their records.
func All(c config.Config, table func(spoke.ID) Records) []Watched {
	list := []Watched{watched(c.ForSpoke(spoke.ID{}), table)}
	for _, s := range c.Others() {
		list = append(list, watched(c.ForSpoke(s.ID), table))
	}
	return list
}

func watched(c config.Config, table func(spoke.ID) Records) Watched {
	own := table(c.Spoke)
	w := Watched{ID: c.Spoke, Whose: c.SpokeName(), Table: own}
	if c.WantsAlias() {
		w.named = func(ctx context.Context) (string, error) {
			a, _, err := own.Alias(ctx)
			return c.SpokeNameBy(a.Alias), err
		}
	}
	return w
}

// name puts in what people call it by now. Where that cannot be read it is the account's
// number, which is no gap in what is counted.
func (w Watched) name(ctx context.Context, log *slog.Logger) Watched {
	if w.named == nil {
		return w
	}
	whose, err := w.named(ctx)
	if err != nil {
		log.WarnContext(ctx, "could not read the account's alias: using "+w.Whose, "spoke", w.String(), "error", err.Error())
		return w
	}
	w.Whose = whose
	return w
}

// Ask is what is to be read.
type Ask struct {
	From, To, At time.Time
	// Only is the one cluster that is asked for; nil for all.
	Only *spoke.Cluster
	// Most is of how many clusters it tells, Launches bounds what is read of one.
	Most, Launches int
	// AtOnce is how many clusters are read at once.
	AtOnce int
	// Log gets what could not be read.
	Log *slog.Logger
}

// The bounds of what is read for the weekly message.
const (
	mostWatched  = 5000
	mostLaunches = 20_000
	readAtOnce   = 10
)

// Weekly is what is read for the weekly message.
func Weekly(from, to, at time.Time, log *slog.Logger) Ask {
	return Ask{From: from, To: to, At: at, Most: mostWatched, Launches: mostLaunches, AtOnce: readAtOnce, Log: log}
}

// Read counts what came of a time. It costs for each cluster a query for each day and five
// more, and what they find.
func Read(ctx context.Context, watched []Watched, ask Ask) report.Period {
	var parts []Part
	var wanted []*cluster
	left := 0
	for _, w := range watched {
		w = w.name(ctx, ask.Log)
		part, names := ask.part(ctx, w)
		for _, name := range names {
			if len(wanted) == ask.Most {
				left++
				continue
			}
			wanted = append(wanted, &cluster{watched: w, part: len(parts), name: name})
		}
		parts = append(parts, part)
	}
	each(wanted, ask.AtOnce, func(c *cluster) { c.read(ctx, ask) })
	for _, c := range wanted {
		if c.late {
			left++
			continue
		}
		p := &parts[c.part]
		p.Clusters = append(p.Clusters, c.counted)
		p.Unread = append(p.Unread, c.unread...)
	}
	period := NewPeriod(parts, ask.From, ask.To, ask.At)
	period.LeftOut = left
	return period
}

// part reads what is of one account and region, and gives the names of its clusters.
func (a Ask) part(ctx context.Context, w Watched) (Part, []string) {
	part := Part{Spoke: w.ID, Whose: w.Whose, OfOne: a.Only != nil}
	unread := func(what string, err error) {
		if err == nil {
			return
		}
		a.Log.WarnContext(ctx, "could not read the data of a report", "what", what, "spoke", w.String(), "error", err.Error())
		part.Unread = append(part.Unread, what+w.place()+": "+Because(err))
	}
	var err error
	part.Sweeps, err = w.Table.Sweeps(ctx)
	unread("which clusters are watched", err)
	part.Records, err = w.Table.ClusterRecords(ctx)
	unread("which clusters have open incidents", err)
	part.Silences, err = w.Table.AllSilences(ctx)
	unread("silences", err)
	var names []string
	for _, s := range part.Sweeps {
		if s.At.After(a.From) {
			names = append(names, s.Cluster)
		}
	}
	for _, r := range part.Records {
		if r.Cluster != report.AllClusters { // which is none: its record is of what is said of all
			names = append(names, r.Cluster)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if a.Only != nil {
		other := func(name string) bool { return spoke.Cluster{ID: w.ID, Name: name} != *a.Only }
		names = slices.DeleteFunc(names, other)
		part.Sweeps = slices.DeleteFunc(part.Sweeps, func(s overview.Sweep) bool { return other(s.Cluster) })
		part.Records = slices.DeleteFunc(part.Records, func(r outbox.ClusterRecord) bool { return other(r.Cluster) })
		part.Silences = slices.DeleteFunc(part.Silences, func(s silence.Silence) bool { return other(s.Cluster) })
	}
	return part, names
}

// cluster is one that is read.
type cluster struct {
	watched Watched
	part    int
	name    string

	counted Cluster
	unread  []string
	late    bool
}

// read reads one cluster. Of its launches nothing but numbers is held.
func (c *cluster) read(ctx context.Context, a Ask) {
	if ctx.Err() != nil {
		c.late = true
		return
	}
	t := c.watched.Table
	unread := func(what string, err error) {
		if err != nil {
			a.Log.WarnContext(ctx, "could not read the data of a report", "what", what, "cluster", c.name, "spoke", c.watched.String(), "error", err.Error())
			c.unread = append(c.unread, what+" of "+c.name+c.watched.place()+": "+Because(err))
		}
	}
	past, err := t.RecentHistory(ctx, c.name, a.From, a.Launches)
	unread("the launches", err)
	if len(past) >= a.Launches {
		c.unread = append(c.unread, "launches of "+c.name+c.watched.place()+" beyond the newest "+strconv.Itoa(a.Launches))
	}
	c.counted = Count(c.name, past, a.From, a.To)
	c.counted.Incidents, err = t.Incidents(ctx, c.name)
	unread("the incidents", err)
	audits, err := t.Audits(ctx, c.name, a.From)
	unread("what eni-cleanup deleted", err)
	audits = slices.DeleteFunc(audits, func(x leak.Audit) bool { return !x.At.Before(a.To) })
	c.counted.Freed = leak.Returned(audits, leak.Deleted)
}

// each does something with each of a list, some at once.
func each(list []*cluster, atOnce int, do func(*cluster)) {
	var wait sync.WaitGroup
	next := make(chan *cluster)
	for range max(atOnce, 1) {
		wait.Go(func() {
			for c := range next {
				do(c)
			}
		})
	}
	for _, c := range list {
		next <- c
	}
	close(next)
	wait.Wait()
}

// place says of which account and region something is, where there are several.
func (w Watched) place() string {
	if w.Whose == "" {
		return ""
	}
	return " in " + w.Whose
}

// Because is why something could not be read, for people.
func Because(err error) string {
	var newer *store.NewerFormat
	var limit *store.AtLimit
	switch {
	case errors.As(err, &newer):
		return "written by a newer version of Rollcall"
	case errors.As(err, &limit):
		return "the table is at its limit"
	case errors.Is(err, context.DeadlineExceeded):
		return "no time left"
	}
	return "DynamoDB did not respond; the error is in the function's log"
}

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
