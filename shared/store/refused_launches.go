package store

import (
	"context"
	"strings"
	"time"

	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// refusedPrefix begins the partition keys of launches without an Auto Scaling group
// that were refused: refused#<cluster>, <launcher>#<class>.
const refusedPrefix = "refused#"

// RefusedFormat is the version of RefusedRecord that this code writes and reads.
const RefusedFormat = 1

// keepRefused is how long a run of refused calls is remembered after its last
// call: it counts for an hour, and tells for one more that it was there.
const keepRefused = 6 * time.Hour

// RefusedRecord is what is remembered of one launcher and class of refusals.
type RefusedRecord struct {
	snapshot.RefusedLaunch
	Cluster string `json:"cluster"`
	// Version is of the record as it was read.
	Version int `json:"version"`
}

// RefusedLaunches reads those of a cluster.
func (s *Store) RefusedLaunches(ctx context.Context, cluster string) ([]RefusedRecord, error) {
	return partition[RefusedRecord](ctx, s, s.key(refusedPrefix, cluster), RefusedFormat, "the refused launches of "+cluster)
}

// SaveRefusedLaunch writes a record over the version that was read, 0 for none, and
// fails with *Conflict if that is not the newest any more.
func (s *Store) SaveRefusedLaunch(ctx context.Context, r RefusedRecord) error {
	over := r.Version
	r.Version++
	return s.put(ctx, item{
		pk: s.key(refusedPrefix, r.Cluster), sk: strings.Join([]string{r.Launcher, string(r.Class)}, "#"),
		kind: "refused launch", format: RefusedFormat, version: r.Version, body: r, expires: r.Last.Add(keepRefused),
	}, over)
}

// ReadRefusedLaunches is what reading them needs.
func ReadRefusedLaunches() []spec.Read { return read(spec.Actions[Querier]("dynamodb"), spec.Table) }

// RecordRefusedLaunches lets a function write them, and nothing else.
func RecordRefusedLaunches() spec.Grant {
	return write("RecordRefusedLaunches", "Thousands of refused calls an hour are one record, and one message, of which the sweep knows too.", refusedPrefix)
}
