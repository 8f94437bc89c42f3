package store

import (
	"context"
	"time"

	"rollcall/shared/overview"
)

// When a cluster was last looked at has the key swept#, <cluster>: one partition for each
// spoke, as who asks for the clusters reads all of them.
const sweptPrefix = "swept#"

// keepSwept is how long it is remembered: a cluster that was late yesterday is told as
// late, one that was taken out of the settings last week is not told.
const keepSwept = 48 * time.Hour

// SaveSweep writes when a cluster was last looked at, over whatever is there.
func (s *Store) SaveSweep(ctx context.Context, w overview.Sweep) error {
	w.Format = overview.SweepFormat
	return s.put(ctx, item{
		pk: s.key(sweptPrefix, ""), sk: w.Cluster, kind: "sweep", format: w.Format, version: 1, body: w, expires: w.At.Add(keepSwept),
	}, anyVersion)
}

// Sweeps reads when clusters were last looked at, by name. If some were written by a newer
// version of Rollcall, it gives the others and an error with *NewerFormat in it.
func (s *Store) Sweeps(ctx context.Context) ([]overview.Sweep, error) {
	return partition[overview.Sweep](ctx, s, s.key(sweptPrefix, ""), overview.SweepFormat, "when clusters were last looked at")
}
