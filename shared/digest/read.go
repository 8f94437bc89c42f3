package digest

import (
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
	list := []Watched{watched(c.In(spoke.ID{}), table)}
	for _, s := range c.Others() {
		list = append(list, watched(c.In(s.ID), table))
	}
	return list
}

func watched(c config.Config, table func(spoke.ID) Records) Watched {
	own := table(c.Spoke)
	w := Watched{ID: c.Spoke, Whose: c.Whose(), Table: own}
	if c.WantsAlias() {
		w.named = func(ctx context.Context) (string, error) {
			a, _, err := own.Alias(ctx)
			return c.WhoseBy(a.Alias), err
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
		log.WarnContext(ctx, "the account's alias could not be read: it is called "+w.Whose, "spoke", w.String(), "error", err.Error())
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
	// Log is told what could not be read.
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
	period := Of(parts, ask.From, ask.To, ask.At)
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
		a.Log.WarnContext(ctx, "what a report is of could not be read", "what", what, "spoke", w.String(), "error", err.Error())
		part.Unread = append(part.Unread, what+w.in()+": "+Because(err))
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
			a.Log.WarnContext(ctx, "what a report is of could not be read", "what", what, "cluster", c.name, "spoke", c.watched.String(), "error", err.Error())
			c.unread = append(c.unread, what+" of "+c.name+c.watched.in()+": "+Because(err))
		}
	}
	past, err := t.RecentHistory(ctx, c.name, a.From, a.Launches)
	unread("the launches", err)
	if len(past) >= a.Launches {
		c.unread = append(c.unread, "launches of "+c.name+c.watched.in()+" beyond the newest "+strconv.Itoa(a.Launches))
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

// in says of which account and region something is, where there are several.
func (w Watched) in() string {
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
		return "there was no time left"
	}
	return "the table did not answer; the error is in the function's log"
}
