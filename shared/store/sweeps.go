package store

import (
	"context"
	"time"

	"rollcall/shared/overview"
)

// When a cluster was last looked at has the key swept#, <cluster>: one partition for each
// spoke, as who asks for the clusters reads all of them.
const sweptPrefix = "swept#"

// keepSwept is how long it is remembered: the weekly message tells of a week that began two
// weeks ago at most, also of clusters that nobody has looked at since.
const keepSwept = 22 * 24 * time.Hour

// SaveSweep writes when a cluster was last looked at, over whatever is there.
func (s *Store) SaveSweep(ctx context.Context, w overview.Sweep) error {
	w.Format = overview.SweepFormat
	return s.put(ctx, item{
		pk: s.key(sweptPrefix, ""), sk: w.Cluster, kind: "sweep", format: w.Format, version: 1, body: w, expires: w.At.Add(keepSwept),
	}, anyVersion)
}

// Sweep reads when a cluster was last looked at, and how lately; the zero record with its
// name where it never was.
func (s *Store) Sweep(ctx context.Context, cluster string) (overview.Sweep, error) {
	list, err := oneByOne[overview.Sweep](ctx, s, s.key(sweptPrefix, ""), "#sk = :from", cluster, overview.SweepFormat, "when "+cluster+" was last looked at")
	if err != nil || len(list) == 0 {
		return overview.Sweep{Cluster: cluster}, err
	}
	return list[0], nil
}

// RelayUsed reports whether the relay of a cluster that the setting relays does not name may
// still be asked: it was used before there was the setting (overview.Sweep).
func (s *Store) RelayUsed(ctx context.Context, cluster string) (bool, error) {
	swept, err := s.Sweep(ctx, cluster)
	return err == nil && swept.RelayUsed(s.now()), err
}

// Sweeps reads when clusters were last looked at, by name. If some were written by a newer
// version of Rollcall, it gives the others and an error with *NewerFormat in it.
func (s *Store) Sweeps(ctx context.Context) ([]overview.Sweep, error) {
	return partition[overview.Sweep](ctx, s, s.key(sweptPrefix, ""), overview.SweepFormat, "when clusters were last looked at")
}
