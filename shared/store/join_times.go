package store

import (
	"context"
	"time"

	"rollcall/shared/node/outcome"
)

// joinTimesFormat is the version of JoinTimes that this code writes and reads.
const joinTimesFormat = 1

// JoinTimes is how long the nodes of one nodegroup took to join.
type JoinTimes struct {
	Nodegroup string        `json:"nodegroup"`
	Joins     outcome.Joins `json:"joins"`
	// Version is of the record as it was read; 0 stands for none.
	Version int `json:"version"`
}

// keepJoinTimes is how long the joins of a nodegroup that launches no more are
// kept: they count for 30 days.
const keepJoinTimes = 31 * 24 * time.Hour

// JoinTimes reads those of all nodegroups of a cluster, by nodegroup. If some
// were written by a newer version of Rollcall, it gives the others and an error
// with *NewerFormat in it.
func (s *Store) JoinTimes(ctx context.Context, cluster string) (map[string]JoinTimes, error) {
	list, err := partition[JoinTimes](ctx, s, s.key(joinTimePrefix, cluster), joinTimesFormat, "the join times of "+cluster)
	return by(list, func(t JoinTimes) string { return t.Nodegroup }), err
}

// SaveJoinTimes writes a nodegroup's join times over the version that was read.
// It fails with *Conflict if that version is not the newest any more.
func (s *Store) SaveJoinTimes(ctx context.Context, cluster string, t JoinTimes) error {
	over := t.Version
	t.Version++
	return s.put(ctx, item{
		pk: s.key(joinTimePrefix, cluster), sk: t.Nodegroup,
		kind: "join times", format: joinTimesFormat, version: t.Version, body: t,
		expires: s.now().Add(keepJoinTimes),
	}, over)
}
