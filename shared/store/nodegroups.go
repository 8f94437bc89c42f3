package store

import (
	"context"
	"time"

	"rollcall/shared/spec"

	"rollcall/shared/nodegroup"
)

// nodegroupPrefix begins the partition keys of nodegroups' records.
const nodegroupPrefix = "nodegroup#"

// keepDeleted is how long a deleted nodegroup is remembered: one of the same
// name goes on with its sequence of events.
const keepDeleted = 30 * 24 * time.Hour

// Nodegroups reads what is remembered of a cluster's nodegroups, by name. If
// some were written by a newer version of Rollcall, it gives the others and an
// error with *NewerFormat in it.
func (s *Store) Nodegroups(ctx context.Context, cluster string) (map[string]nodegroup.Record, error) {
	list, err := partition[nodegroup.Record](ctx, s, s.key(nodegroupPrefix, cluster), nodegroup.Format, "the nodegroups of "+cluster)
	return by(list, func(r nodegroup.Record) string { return r.Nodegroup }), err
}

// SaveNodegroup writes a nodegroup's record over the version that was read, and
// gives it with its new version. It fails with *Conflict if that version is not
// the newest any more.
func (s *Store) SaveNodegroup(ctx context.Context, r nodegroup.Record) (nodegroup.Record, error) {
	over := r.Version
	r.Version++
	it := item{
		pk: s.key(nodegroupPrefix, r.Cluster), sk: r.Nodegroup,
		kind: "nodegroup", format: r.Format, version: r.Version, body: r,
	}
	if r.Status == nodegroup.Deleted {
		it.expires = r.Seen.Add(keepDeleted)
	}
	if err := s.put(ctx, it, over); err != nil {
		return nodegroup.Record{}, err
	}
	return r, nil
}

// RecordNodegroups lets a function write nodegroups' records and nothing else.
func RecordNodegroups() spec.Grant {
	return write("RecordNodegroups", "EKS sends no event when a nodegroup's status changes: only against what was seen last can a change be told, once.", nodegroupPrefix)
}

// ReadNodegroups is what reading nodegroups, incidents and, by their ids,
// launches needs: nothing is in reach through an index.
func ReadNodegroups() []spec.Read { return read(spec.Actions[Reader]("dynamodb"), spec.Table) }
