package report

import (
	"context"
	"time"

	"rollcall/shared/config"
	"rollcall/shared/digest"
	"rollcall/shared/notify"
	"rollcall/shared/outbox"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
)

const notifyTimeout = notify.CallTimeout

// readWithin is how long an answer may read: what there was no time for is said, and the
// function has time left for what else came with the command.
const readWithin = 20 * time.Second

// allOf are the accounts and regions that are watched, the hub's own first, and their
// records.
func allOf(c config.Config, table func(spoke.ID) Table) []watched {
	of := func(id spoke.ID) watched {
		own := table(id)
		return watched{ID: id, table: own, naming: newNaming(c.In(id), own)}
	}
	list := []watched{of(spoke.ID{})}
	for _, s := range c.Others() {
		list = append(list, of(s.ID))
	}
	return list
}

// overview reads how things stand everywhere.
func (p *invocation) overview(ctx context.Context, now time.Time) overview.Overview {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	var parts []overview.Part
	for _, w := range p.watched {
		parts = append(parts, p.part(ctx, w))
	}
	o := overview.Of(parts, now)
	if own, unread := p.workspace(ctx); unread == "" {
		o.Site = own.URL
	}
	return o
}

// part reads one account and region.
func (p *invocation) part(ctx context.Context, w watched) overview.Part {
	part := overview.Part{Spoke: w.ID, Whose: w.whose}
	unread := func(what string, err error) {
		if err == nil {
			return
		}
		p.Log.WarnContext(ctx, "what a command asks for could not be read", "what", what, "spoke", w.String(), "error", err.Error())
		part.Unread = append(part.Unread, what+in(w)+": "+because(err))
	}
	var err error
	part.Sweeps, err = w.table.Sweeps(ctx)
	unread("when clusters were last looked at", err)
	part.Silences, err = w.table.AllSilences(ctx)
	unread("silences", err)
	records, err := w.table.ClusterRecords(ctx)
	unread("which clusters have open incidents", err)
	for _, name := range openIn(records) {
		list, err := w.table.Incidents(ctx, name)
		unread("the incidents of "+name, err)
		part.Incidents = append(part.Incidents, list...)
	}
	return part
}

// openIn are the clusters that have something open.
func openIn(records []outbox.ClusterRecord) (names []string) {
	for _, r := range records {
		if r.Open {
			names = append(names, r.Cluster)
		}
	}
	return names
}

// in says of which account and region something is, where there are several.
func in(w watched) string {
	if w.whose == "" {
		return ""
	}
	return " in " + w.whose
}

// because is why something could not be read, for people.
func because(err error) string { return digest.Because(err) }

// why reads what is stored of an instance, in all accounts and regions: its id is one's
// alone.
func (p *invocation) why(ctx context.Context, instance string, now time.Time) overview.Why {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	out := overview.Why{Instance: instance, Now: now}
	if own, unread := p.workspace(ctx); unread == "" {
		out.Site = own.URL
	}
	for _, w := range p.watched {
		l, err := w.table.Launch(ctx, instance)
		if err != nil {
			p.Log.WarnContext(ctx, "what a command asks for could not be read", "what", "launch", "spoke", w.String(), "error", err.Error())
			out.Unread = append(out.Unread, "launches"+in(w)+": "+because(err))
		}
		if l == nil {
			continue
		}
		past := l.Past()
		found := overview.Found{
			Cluster: overview.Cluster{Cluster: spoke.Cluster{ID: w.ID, Name: l.Cluster}, Whose: w.whose}, Region: first(w.Region, p.hub.Region),
			Nodegroup: first(l.Nodegroup, l.Group), Type: l.Type, Zone: l.Zone, Subnet: l.Subnet,
			Started: l.Started, Registered: l.Registered, Ready: l.Ready, Due: l.Due, Ended: l.Ended, End: past.End, Cause: past.Cause, Says: past.Why,
		}
		list, err := w.table.Incidents(ctx, l.Cluster)
		if err != nil {
			out.Unread = append(out.Unread, "the incidents of "+l.Cluster+in(w)+": "+because(err))
		}
		found.Incidents = overview.Naming(list, instance)
		out.Found = append(out.Found, found)
	}
	return out
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

const (
	// mostReported is of how many clusters a report of all tells: each is a query a day.
	mostReported = 40
	// reportAtOnce is how many clusters are read at once: report has little memory.
	reportAtOnce = 4
	// mostLaunches bounds what is read of one cluster.
	mostLaunches = 5000
)

// report counts the launches and incidents of a time.
func (p *invocation) report(ctx context.Context, ask report.Ask, now time.Time) report.Period {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	q := digest.Ask{From: now.Add(-ask.For), To: now, At: now, Most: mostReported, Launches: mostLaunches, AtOnce: reportAtOnce, Log: p.Log}
	if ask.Cluster.Name != "" {
		of := own(ask.Cluster, p.hub)
		q.Only = &of
	}
	var all []digest.Watched
	for _, w := range p.watched {
		all = append(all, digest.Watched{ID: w.ID, Whose: w.whose, Table: w.table})
	}
	return digest.Read(ctx, all, q)
}

// own is a cluster as records name it: the hub's own has no account.
func own(c spoke.Cluster, hub spoke.ID) spoke.Cluster {
	return spoke.Cluster{ID: c.ID.Of(hub), Name: c.Name}
}
