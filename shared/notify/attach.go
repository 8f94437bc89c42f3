package notify

import (
	"context"
	"errors"
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/slack"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/store"
)

// sent is a note that Slack has taken. What had to be shortened is shared as a
// file when all words of this invocation are said.
func (v *Invocation) sent(inc incident.Incident, n incident.Note, ts string) incident.Note {
	if _, shortened := slack.Attached(inc.AsOf(n), n); !shortened {
		return n.Sent(ts)
	}
	v.filesOwed = append(v.filesOwed, inc.Key.Cluster)
	return n.SentShortened(ts)
}

// noteOwedFiles remembers that a file of an earlier invocation is still to be shared.
func (v *Invocation) noteOwedFiles(inc incident.Incident) {
	if slices.ContainsFunc(inc.Delivery.Notes, incident.Note.Owes) {
		v.filesOwed = append(v.filesOwed, inc.Key.Cluster)
	}
}

// shareFiles shares the files that are due, when all words are said. What Slack does
// not take now stays in the record for the next invocation.
func (v *Invocation) shareFiles(ctx context.Context) {
	slices.Sort(v.filesOwed)
	for _, cluster := range slices.Compact(v.filesOwed) {
		if v.slackDown || v.filesDown {
			return
		}
		if d := v.clusters[cluster]; d != nil && d.record.Held(outbox.ToSlack, v.Now()) {
			continue
		}
		incidents, err := v.Incidents.Incidents(ctx, cluster)
		if err != nil {
			v.Log.WarnContext(ctx, "files could not be shared, they will be with the next observation", "cluster", cluster, "error", err.Error())
			continue
		}
		for _, inc := range incidents {
			for _, n := range inc.Delivery.Notes {
				if deadline, ends := ctx.Deadline(); ends && time.Until(deadline) < uploadTimeout+lastCall {
					v.unfinished = append(v.unfinished, cluster)
					return
				}
				if n.Owes() && !v.slackDown && !v.filesDown {
					v.shareFile(ctx, inc, n)
				}
			}
		}
	}
}

// shareFile shares the file of one note. The attempt is written before it is made,
// so that a crash neither loses the file nor repeats it more than once.
func (v *Invocation) shareFile(ctx context.Context, inc incident.Incident, n incident.Note) {
	f, is := slack.Attached(inc.AsOf(n), n)
	if !is || n.Attach.Tries >= incident.MostShares || inc.Delivery.TS == "" {
		v.note(ctx, inc, n.ID, func(said *incident.Delivery, n *incident.Note) { *n = n.Sent(n.TS) })
		return
	}
	if !v.note(ctx, inc, n.ID, func(_ *incident.Delivery, n *incident.Note) { n.Attach = &incident.Attach{Tries: n.Attach.Tries + 1} }) {
		return
	}
	limited, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	_, err := v.Files.Share(limited, inc.Delivery.Channel, inc.Delivery.TS, f)
	if err == nil {
		v.Count("SlackFiles", 1)
		v.note(ctx, inc, n.ID, func(said *incident.Delivery, n *incident.Note) { *n, said.Unshared = n.Sent(n.TS), "" })
		return
	}
	v.Count("SlackFailures", 1)
	var e *slackapi.Error
	if !errors.As(err, &e) || e.Retryable() {
		v.filesDown = true
		v.Log.WarnContext(ctx, "Slack did not take a file, it is tried again with the next observation", "cluster", inc.Key.Cluster, "check", inc.Key.Check, "resource", inc.Key.Resource, "note", n.ID, "error", err.Error())
		if e == nil || e.Kind != slackapi.Unavailable || e.Method != completes {
			// It was not shared yet, so it is certain that nobody sees it.
			v.note(ctx, inc, n.ID, func(_ *incident.Delivery, n *incident.Note) { n.Attach = &incident.Attach{Tries: n.Attach.Tries - 1} })
		}
		return
	}
	reason := string(e.Kind)
	if e.Code != "" {
		reason = e.Code
	}
	if inc.Delivery.Unshared != reason {
		v.Log.ErrorContext(ctx, "a reply goes without the file that has all of it", "cluster", inc.Key.Cluster, "check", inc.Key.Check, "resource", inc.Key.Resource, "note", n.ID, "error", err.Error())
	}
	v.note(ctx, inc, n.ID, func(said *incident.Delivery, n *incident.Note) { *n, said.Unshared = n.Sent(n.TS), reason })
}

// completes is the call that shows a file in the thread: before it nobody sees it.
const completes = "files.completeUploadExternal"

// note changes a note that owes its file in the record as it is now, and tells
// whether it did. It is recorded even if time is running out.
func (v *Invocation) note(ctx context.Context, inc incident.Incident, id string, change func(*incident.Delivery, *incident.Note)) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 1500*time.Millisecond)
	defer cancel()
	var err error
	for range attempts {
		var list []incident.Incident
		if list, err = v.Incidents.Incidents(ctx, inc.Key.Cluster); err != nil {
			break
		}
		i := slices.IndexFunc(list, func(x incident.Incident) bool { return x.Key == inc.Key })
		if i < 0 {
			return false
		}
		now := list[i]
		now.Delivery.Notes = slices.Clone(now.Delivery.Notes)
		k := slices.IndexFunc(now.Delivery.Notes, func(n incident.Note) bool { return n.ID == id && n.Owes() })
		if k < 0 {
			return false
		}
		change(&now.Delivery, &now.Delivery.Notes[k])
		_, err = v.Incidents.SaveIncident(ctx, now)
		var conflict *store.Conflict
		if !errors.As(err, &conflict) {
			break
		}
		v.Count("LostRaces", 1)
	}
	if err != nil {
		v.Log.WarnContext(ctx, "what became of a file is not recorded", "cluster", inc.Key.Cluster, "note", id, "error", err.Error())
	}
	return err == nil
}
