package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// Spokes are the accounts and regions that are watched, and were.
type Spokes interface {
	WatchedSpokes(ctx context.Context) ([]store.WatchedSpoke, error)
	SaveWatchedSpoke(ctx context.Context, w store.WatchedSpoke) error
}

// unwatched closes what is open of the spokes that were taken out of the settings. Nothing
// comes of them any more, and what still comes is left out before anybody sees it.
type unwatched struct {
	spokes Spokes
	// watched are the spokes of the settings, beside the hub's own.
	watched []spoke.ID
	// of is the handler of a spoke that is not watched.
	of func(id spoke.ID) handler
}

// leaveAfter is how long a spoke must be missing in the settings before what is open of it
// is closed: a deployment that is taken back at once closes nothing, and functions of the
// release before it, which still watched it, have ended (Lambda, 15 minutes at most; report
// itself has one).
const leaveAfter = 15 * time.Minute

// due tells what becomes of the spokes: what is to be recorded of them, and which have been
// missing in the settings for so long that what is open there is to be closed.
func due(records []store.WatchedSpoke, watched []spoke.ID, now time.Time) (save []store.WatchedSpoke, left []spoke.ID) {
	known := map[spoke.ID]bool{}
	for _, r := range records {
		known[r.Spoke] = true
		switch in := slices.Contains(watched, r.Spoke); {
		case in && !r.Left.IsZero():
			save = append(save, store.WatchedSpoke{Spoke: r.Spoke})
		case in:
		case r.Left.IsZero():
			save = append(save, store.WatchedSpoke{Spoke: r.Spoke, Left: now})
		case now.Sub(r.Left) >= leaveAfter:
			left = append(left, r.Spoke)
		}
	}
	for _, id := range watched {
		if !known[id] {
			save = append(save, store.WatchedSpoke{Spoke: id})
		}
	}
	return save, left
}

// leave closes what is open of the spokes that are not watched any more. It is done once
// for a schedule.
func (h handler) leave(ctx context.Context, _ json.RawMessage) error {
	u := h.unwatched
	records, err := u.spokes.WatchedSpokes(ctx)
	if newer := new(store.NewerFormat); err != nil && !errors.As(err, &newer) {
		return err
	}
	save, left := due(records, u.watched, h.Now())
	var wrong []error
	for _, w := range save {
		wrong = append(wrong, u.spokes.SaveWatchedSpoke(ctx, w))
	}
	for _, id := range left {
		over, err := u.of(id).closeAll(ctx)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("close what is open in %s, which is no longer watched: %w", id, err))
			continue
		}
		if over {
			h.Log.InfoContext(ctx, "nothing is open any more of an account and region that is no longer watched", "account", id.Account, "region", id.Region)
			wrong = append(wrong, u.spokes.SaveWatchedSpoke(ctx, store.WatchedSpoke{Spoke: id, Done: true}))
		}
	}
	return errors.Join(wrong...)
}

// closeAll closes what is open of a spoke that is not watched, and tells whether all of it is
// closed, said and told. It is the only one that touches these records: messages of the spoke
// are left out before they come to report.
func (h handler) closeAll(ctx context.Context) (over bool, err error) {
	records, err := h.Clusters.ClusterRecords(ctx)
	if err != nil {
		return false, fmt.Errorf("read which clusters have open incidents: %w", err)
	}
	if len(records) == 0 {
		return true, nil
	}
	p := invocation{handler: h, delivery: h.Begin()}
	var wrong []error
	for i, r := range records {
		wrong = append(wrong, p.closeCluster(ctx, r, len(records)-i))
	}
	p.delivery.End(ctx)
	return false, errors.Join(wrong...)
}

func (p *invocation) closeCluster(ctx context.Context, r outbox.ClusterRecord, left int) error {
	now := p.Now()
	nothing := report.Observation{
		Format: report.Format, ID: "unwatched/" + r.Cluster + "/" + now.UTC().Format(time.RFC3339Nano), By: p.By, At: now, Cluster: r.Cluster,
	}.For(p.spoke)
	m := report.Message{Observation: &nothing}.In(p.spoke, p.whose)
	return p.cluster(ctx, clusterBatch{name: r.Cluster, results: []report.Message{m}}, left)
}

// notAmong tells of a cluster that it is none of those that the settings name; without names
// all are watched. What is about no cluster in particular is, as long as the spoke is.
func notAmong(names []string) func(cluster string) bool {
	return func(cluster string) bool {
		return len(names) > 0 && cluster != report.AllClusters && !slices.Contains(names, cluster)
	}
}
