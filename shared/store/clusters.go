package store

import (
	"context"
	"time"

	"rollcall/shared/spec"

	"rollcall/shared/outbox"
)

// What report remembers of clusters: cluster#, <cluster>. It is one partition, as
// the tick reads all of them, and only clusters with something open have one.
const clusterPrefix = "cluster#"

// keepCluster is how long a record outlives its last write: it is written every
// hour while anything is open.
const keepCluster = 90 * 24 * time.Hour

// ClusterRecord reads what is remembered of a cluster; the zero record with its
// name where there is nothing.
func (s *Store) ClusterRecord(ctx context.Context, cluster string) (outbox.ClusterRecord, error) {
	list, err := oneByOne[outbox.ClusterRecord](ctx, s, s.key(clusterPrefix, ""), "#sk = :from", cluster, outbox.ClusterFormat, "what is remembered of "+cluster)
	if err != nil || len(list) == 0 {
		return outbox.ClusterRecord{Cluster: cluster}, err
	}
	return list[0], nil
}

// ClusterRecords reads what is remembered of all clusters, by name. If some were
// written by a newer version of Rollcall, it gives the others and an error with
// *NewerFormat in it.
func (s *Store) ClusterRecords(ctx context.Context) ([]outbox.ClusterRecord, error) {
	return partition[outbox.ClusterRecord](ctx, s, s.key(clusterPrefix, ""), outbox.ClusterFormat, "what is remembered of clusters")
}

// SaveClusterRecord writes a record over the version that was read, and fails with
// *Conflict if that is not the newest any more. One that says nothing counts as
// absent from now on.
func (s *Store) SaveClusterRecord(ctx context.Context, r outbox.ClusterRecord) error {
	over := r.Version
	r.Version, r.Format = r.Version+1, outbox.ClusterFormat
	it := item{
		pk: s.key(clusterPrefix, ""), sk: r.Cluster, kind: "cluster", format: r.Format, version: r.Version, body: r,
		expires: s.now().Add(keepCluster),
	}
	if !r.Open && !r.Owed && len(r.Refusals) == 0 {
		it.expires = s.now()
	}
	return s.put(ctx, it, over)
}

// RecordClusters lets a function write what is remembered of clusters.
func RecordClusters() spec.Grant {
	return write("RecordClusters", "Who refuses what is said, and until when it is not tried again, outlives the function; so does which clusters have open incidents.", clusterPrefix)
}
