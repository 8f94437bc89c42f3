package store

import (
	"context"
	"time"

	"rollcall/shared/backoff"
	"rollcall/shared/spec"
)

// backoffPrefix begins the partition keys of the records of clusters that do not answer.
const backoffPrefix = "backoff#"

// keepBackoff is how long a record outlives its last write, which is within the hour
// while the cluster is silent.
const keepBackoff = 24 * time.Hour

// Backoff reads how long a cluster's Kubernetes API has been silent; the zero record with
// its name where it is not.
func (s *Store) Backoff(ctx context.Context, cluster string) (backoff.Record, error) {
	list, err := partition[backoff.Record](ctx, s, s.key(backoffPrefix, cluster), backoff.Format, "how long "+cluster+" has not answered")
	if err != nil || len(list) == 0 {
		return backoff.Record{Cluster: cluster}, err
	}
	return list[0], nil
}

// SaveBackoff writes a record over the version that was read, and fails with *Conflict if
// that is not the newest any more. One that tells no silence counts as absent from now on.
func (s *Store) SaveBackoff(ctx context.Context, r backoff.Record) error {
	over := r.Version
	r.Version, r.Format = r.Version+1, backoff.Format
	it := item{
		pk: s.key(backoffPrefix, r.Cluster), sk: "kubernetes", kind: "backoff", format: r.Format, version: r.Version, body: r,
		expires: s.now().Add(keepBackoff),
	}
	if r.Attempts == 0 {
		it.expires = s.now()
	}
	return s.put(ctx, it, over)
}

// RecordTurns lets a function write what is remembered of clusters' turns: when each was
// last looked at, which do not answer, and what people call the account. It is one
// statement, as a role has room for few more.
func RecordTurns() spec.Grant {
	return write("RecordTurns", "A cluster whose Kubernetes API does not answer is asked less often; when each was last looked at is what /rollcall status tells; an account's alias is what messages call it.", backoffPrefix, sweptPrefix, aliasPrefix)
}

// ReadBackoffs is what reading them needs.
func ReadBackoffs() []spec.Read { return read(spec.Actions[Querier]("dynamodb"), spec.Table) }
