package detect

import (
	"context"
	"time"

	"rollcall/shared/node/outcome"
	"rollcall/shared/store"
)

// Learned is how long the launches of one cluster have to join.
type Learned struct {
	Times   map[string]store.JoinTimes // by nodegroup
	Setting time.Duration
	Now     time.Time
}

// Allow is how long a launch of a nodegroup has.
func (l Learned) Allow(nodegroup string) outcome.Allowance {
	return l.Times[nodegroup].Joins.Allow(l.Setting, l.Now)
}

// Times reads what was learned.
type Times interface {
	JoinTimes(ctx context.Context, cluster string) (map[string]store.JoinTimes, error)
}

// Learn reads what a cluster's nodegroups have taught. Where it cannot be read
// the setting counts, and so it does for the nodegroups of which nothing is known.
func (d Detector) Learn(ctx context.Context, from Times, cluster string, setting time.Duration) Learned {
	times, err := from.JoinTimes(ctx, cluster)
	if err != nil {
		d.Log.WarnContext(ctx, "could not read how long nodes take to join: the setting counts", "cluster", cluster, "error", err.Error())
		d.Count("JoinTimesUnread", 1)
	}
	return Learned{Times: times, Setting: setting, Now: d.Now()}
}
