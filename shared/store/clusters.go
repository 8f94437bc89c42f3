package store

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/outbox"
	"rollcall/shared/spec"
)

// What report remembers of clusters: cluster#, <cluster>. It is one partition, as
// the tick reads all of them. A record outlives the cluster's closed incidents, which
// are found by it.
const clusterPrefix = "cluster#"

// keepCluster is how long a record outlives its last write: it is written every
// hour while anything is open.
const keepCluster = 90 * 24 * time.Hour

// keepQuiet is keepCluster where nothing is open: the last incident was closed before
// the write, and is kept for keepClosed after that.
const keepQuiet = keepClosed + time.Hour

// ClusterRecord reads what is remembered of a cluster; the zero record with its
// name where there is nothing.
func (s *Store) ClusterRecord(ctx context.Context, cluster string) (outbox.ClusterRecord, error) {
	list, err := oneByOne[outbox.ClusterRecord](ctx, s, s.key(clusterPrefix, ""), "#sk = :from", cluster, outbox.ClusterFormat, "what is remembered of "+cluster)
	if err != nil || len(list) == 0 {
		return outbox.ClusterRecord{Cluster: cluster}, err
	}
	return list[0], nil
}

// ClusterRecords reads the records of the clusters with something open, owed or
// refused, by name. If some were written by a newer version of Rollcall, it gives the
// others and an error with *NewerFormat in it.
func (s *Store) ClusterRecords(ctx context.Context) ([]outbox.ClusterRecord, error) {
	list, err := partition[outbox.ClusterRecord](ctx, s, s.key(clusterPrefix, ""), outbox.ClusterFormat, "what is remembered of clusters")
	return slices.DeleteFunc(list, quiet), err
}

func quiet(r outbox.ClusterRecord) bool { return !r.Open && !r.Owed && len(r.Refusals) == 0 }

// Clusters returns the names of all clusters that have or may have incidents in the
// table, closed ones among them, sorted: those with a record, and those that were swept,
// as earlier releases kept no record after the last incident was closed.
func (s *Store) Clusters(ctx context.Context) ([]string, error) {
	var names []string
	for _, prefix := range []string{clusterPrefix, sweptPrefix} {
		items, err := s.query(ctx, &dynamodb.QueryInput{
			KeyConditionExpression:    aws.String("#pk = :pk"),
			ExpressionAttributeNames:  map[string]string{"#pk": attrPK},
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(s.key(prefix, ""))},
			ConsistentRead:            aws.Bool(true),
		})
		if err != nil {
			return nil, fmt.Errorf("read which clusters have incidents: %w", err)
		}
		for _, attributes := range items {
			_, there, err := s.there(attributes, math.MaxInt) // of any format: the name is the key
			if err != nil {
				return nil, fmt.Errorf("read which clusters have incidents: %w", err)
			}
			if name, ok := attributes[attrSK].(*types.AttributeValueMemberS); ok && there {
				names = append(names, name.Value)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// SaveClusterRecord writes a record over the version that was read, and fails with
// *Conflict if that is not the newest any more.
func (s *Store) SaveClusterRecord(ctx context.Context, r outbox.ClusterRecord) error {
	over := r.Version
	r.Version, r.Format = r.Version+1, outbox.ClusterFormat
	it := item{
		pk: s.key(clusterPrefix, ""), sk: r.Cluster, kind: "cluster", format: r.Format, version: r.Version, body: r,
		expires: s.now().Add(keepCluster),
	}
	if quiet(r) {
		it.expires = s.now().Add(keepQuiet)
	}
	return s.put(ctx, it, over)
}

// RecordClusters lets a function write what is remembered of clusters.
func RecordClusters() spec.Grant {
	return write("RecordClusters", "Who refuses what is said, and until when it is not tried again, outlives the function; so does which clusters have open incidents.", clusterPrefix)
}
