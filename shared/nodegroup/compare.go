package nodegroup

import (
	"slices"
	"time"

	"rollcall/shared/snapshot"
)

// Look is what was seen of one nodegroup at one time.
type Look struct {
	At                         time.Time
	Account, Region, Partition string
	Cluster, Nodegroup         string
	// WokenBy is what made Rollcall look: an event's type, a call, the sweep.
	WokenBy string
	// Seen is nil where EKS, asked for it, has none of this name.
	Seen *snapshot.Nodegroup
	// UpdatesRead tells that Seen's updates were read.
	UpdatesRead bool
}

// Reason is why there is something to tell.
type Reason string

// The reasons.
const (
	// FirstSeen: it was never seen before, and is not simply well.
	FirstSeen     Reason = "first-seen"
	StatusChanged Reason = "status-changed" // with its issues, whichever they are now
	IssuesChanged Reason = "issues-changed" // in the same status
	UpdateChanged Reason = "update-changed" // an update began or ended
	Gone          Reason = "deleted"
)

// Change is one thing that is different from the last look.
type Change struct {
	Reason Reason
	// From is the status before; empty for none.
	From string
	// Update is the one that began or ended.
	Update *Done
}

// Compare holds a look against what is remembered, and gives what is to be
// remembered now and what has changed, in order. The record holds the events
// of the changes. A look that is older than the record changes nothing.
func Compare(last Record, l Look) (Record, []Change) {
	if l.At.Before(last.Seen) {
		return last, nil
	}
	r := last
	r.Format, r.Cluster, r.Nodegroup = Format, l.Cluster, l.Nodegroup
	r.Updates, r.Untold = slices.Clone(last.Updates), slices.Clone(last.Untold)
	var changes []Change
	note := func(c Change) {
		changes = append(changes, c)
		r.tell(c, l)
	}
	gone := last.Known() && last.Status != Deleted && (l.Seen == nil || another(last, *l.Seen))
	if gone {
		r.forget(l.At)
		note(Change{Reason: Gone, From: last.Status})
	}
	if l.Seen == nil {
		if r.Known() {
			r.Seen = l.At
			return r, changes
		}
		return last, nil
	}
	if !r.Known() {
		r.First = l.At
	}
	n := *l.Seen
	before := r
	r.Seen, r.Created, r.ARN = l.At, n.Created, n.ARN
	if r.Status = n.Status; r.Status == "" {
		r.Status = "UNKNOWN"
	}
	if r.Status != before.Status {
		r.Since = l.At
	}
	r.Issues = issuesOf(n.Issues, before.Issues, l.At)
	if l.UpdatesRead {
		ended := r.updates(n.Updates)
		r.Modified = n.Modified
		for _, u := range ended {
			note(Change{Reason: UpdateChanged, From: before.Status, Update: &u})
		}
	}
	switch {
	case !before.Known():
		if r.Status != Active || len(r.Issues) > 0 {
			note(Change{Reason: FirstSeen})
		}
	case r.Status != before.Status:
		note(Change{Reason: StatusChanged, From: before.Status})
	case !sameIssues(r.Issues, before.Issues):
		note(Change{Reason: IssuesChanged, From: before.Status})
	}
	return r, changes
}

// another tells that a nodegroup was deleted and made again under its name.
func another(last Record, n snapshot.Nodegroup) bool {
	return !last.Created.IsZero() && !n.Created.IsZero() && !last.Created.Equal(n.Created)
}

// forget makes the record that of a nodegroup which is gone. Its updates are
// gone with it: whatever one of the same name has later is new.
func (r *Record) forget(at time.Time) {
	r.Status, r.Since, r.Seen = Deleted, at, at
	r.Issues, r.Updates, r.UpdatesRead = nil, nil, true
	r.Modified, r.Again = time.Time{}, time.Time{}
}

// maxUpdates is how many updates are remembered: as many as a look describes.
const maxUpdates = 6

// updates takes in the updates that were read, the newest first, and gives
// those that began or ended since, the oldest first.
func (r *Record) updates(seen []snapshot.Update) []Done {
	first := !r.UpdatesRead
	var newest time.Time
	if len(r.Updates) > 0 {
		newest = r.Updates[0].Created
	}
	known := r.Updates
	var now, changed []Done
	for i, u := range seen {
		d := Done{ID: u.ID, Type: u.Type, Status: u.Status, Created: u.Created, Errors: issuesOf(u.Errors, nil, u.Created)}
		k := slices.IndexFunc(known, func(k Done) bool { return k.ID == u.ID })
		switch {
		case k >= 0 && known[k].Status != InProgress:
			d = known[k] // it has ended: that does not change any more
		case k >= 0 && d.Status != known[k].Status:
			changed = append(changed, d)
		case k >= 0:
		case first:
			// What ended before Rollcall came is told only where it still counts.
			if i == 0 && (d.Status == InProgress || d.Status == Failed) {
				changed = append(changed, d)
			}
		case d.Status == InProgress || !d.Created.Before(newest):
			changed = append(changed, d)
		}
		now = append(now, d)
	}
	r.Updates, r.UpdatesRead = now[:min(len(now), maxUpdates)], true
	slices.Reverse(changed)
	return changed
}
