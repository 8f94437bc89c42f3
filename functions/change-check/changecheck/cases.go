package changecheck

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/trail"
)

// incidentCase is one that is looked at.
type incidentCase struct {
	wake
	inc     incident.Incident
	window  trail.Window
	targets []trail.Target
	lookups []trail.Lookup
	// unread says why the history may lack the last good launch.
	unread string
}

// cases are the incidents as the table has them. The event is believed in
// nothing but the key.
func (h handler) cases(ctx context.Context, wakes []wake) ([]incidentCase, error) {
	var list []incidentCase
	past := pasts{memory: h.memory, now: h.Now(), read: map[string][]snapshot.Past{}, wrong: map[string]error{}}
	known := map[string][]incident.Incident{}
	for _, w := range wakes {
		cluster := w.key.Cluster
		if _, ok := known[cluster]; !ok {
			incidents, err := h.memory.Incidents(ctx, cluster)
			if err != nil && len(incidents) == 0 {
				return nil, fmt.Errorf("read the incidents of %s: %w", cluster, err)
			}
			known[cluster] = incidents
		}
		i := slices.IndexFunc(known[cluster], func(inc incident.Incident) bool { return inc.Key == w.key })
		if i < 0 || stale(known[cluster][i], w) {
			h.Log.InfoContext(ctx, "nothing to look for", "cluster", cluster, "check", w.key.Check, "resource", w.key.Resource, "round", w.round)
			h.Count("StaleWakes", 1)
			continue
		}
		if known[cluster][i].IsBlind() {
			// What Rollcall cannot read is nothing that CloudTrail could be asked for, and the
			// launches of ninety days would be read for it.
			h.Log.InfoContext(ctx, "no change is looked for of what cannot be read", "cluster", cluster, "resource", w.key.Resource)
			continue
		}
		c := incidentCase{wake: w, inc: known[cluster][i]}
		var launches []snapshot.Past
		for _, since := range []time.Duration{trail.Usual, trail.Kept} {
			launches = past.of(ctx, cluster, since)
			if c.window = trail.WindowOf(c.inc, launches, past.now); !c.window.From.IsZero() {
				break
			}
		}
		if err := past.wrong[cluster]; err != nil {
			h.Log.WarnContext(ctx, "the history could not be read in full", "cluster", cluster, "error", err.Error())
			if c.window.From.IsZero() {
				c.unread = "the launches of before could not be read in full"
			}
		}
		c.targets = trail.Targets(c.inc, templates(c.inc, launches))
		c.lookups = trail.Lookups(c.targets, c.window)
		list = append(list, c)
	}
	return list, nil
}

// stale tells that a wake is not for the incident as it is now: the reminder is
// of an earlier opening, or the event came twice.
func stale(inc incident.Incident, w wake) bool {
	switch {
	case inc.Number == 0 || inc.Opened.IsZero():
		return true // not said yet
	case w.round > 0:
		return !inc.Opened.Equal(w.opened)
	}
	return inc.RecentChanges != nil && inc.RecentChanges.To.Equal(inc.Began)
}

// templates are the launch templates of the incident's launches.
func templates(inc incident.Incident, history []snapshot.Past) []string {
	var ids []string
	for _, p := range history {
		mine := slices.ContainsFunc(inc.Launches, func(l report.Launch) bool { return l.Instance == p.ID })
		if mine && p.Template.ID != "" && !slices.Contains(ids, p.Template.ID) {
			ids = append(ids, p.Template.ID)
		}
	}
	return ids
}

// pasts reads the history of each cluster once for each time back.
type pasts struct {
	memory Memory
	now    time.Time
	read   map[string][]snapshot.Past
	wrong  map[string]error
}

func (p *pasts) of(ctx context.Context, cluster string, since time.Duration) []snapshot.Past {
	name := cluster + "/" + since.String()
	list, ok := p.read[name]
	if !ok {
		var err error
		if list, err = p.memory.History(ctx, cluster, p.now.Add(-since)); err != nil {
			p.wrong[cluster] = err
		}
		p.read[name] = list
	}
	return list
}
