package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/snapshot"
)

// batchSize is DynamoDB's limit of keys in a BatchGetItem.
const batchSize = 100

// GetLaunches reads the launches of some instances, by instance id; those of
// refused launches without one by the id of their scaling activity. Those that
// are not known are not in the map.
func (s *Store) GetLaunches(ctx context.Context, instances []string) (map[string]LaunchRecord, error) {
	// DynamoDB refuses a batch that names a key twice.
	instances = slices.Compact(slices.Sorted(slices.Values(instances)))
	launches := map[string]LaunchRecord{}
	for chunk := range slices.Chunk(instances, batchSize) {
		keys := make([]map[string]types.AttributeValue, 0, len(chunk))
		for _, id := range chunk {
			keys = append(keys, map[string]types.AttributeValue{attrPK: text(s.key(launchPrefix, id)), attrSK: text(launchSort)})
		}
		items, err := s.batchGet(ctx, keys)
		if err != nil {
			return nil, fmt.Errorf("read %d launches: %w", len(instances), err)
		}
		list, err := s.launches(items)
		if err != nil {
			return nil, fmt.Errorf("read %d launches: %w", len(instances), err)
		}
		for _, l := range list {
			launches[l.ID()] = l
		}
	}
	return launches, nil
}

const launchSort = "launch"

// How often, and after how long at first, keys are asked for again that
// DynamoDB left out for want of throughput.
const (
	batchAttempts = 6
	firstWait     = 50 * time.Millisecond
)

// batchGet reads keys, and asks again for those that DynamoDB left out.
func (s *Store) batchGet(ctx context.Context, keys []map[string]types.AttributeValue) ([]map[string]types.AttributeValue, error) {
	var items []map[string]types.AttributeValue
	request := map[string]types.KeysAndAttributes{s.table: {Keys: keys, ConsistentRead: aws.Bool(true)}}
	for attempt := range batchAttempts {
		out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: request})
		if err != nil {
			return nil, classify(err, item{}, 0)
		}
		items = append(items, out.Responses[s.table]...)
		if len(out.UnprocessedKeys) == 0 {
			return items, nil
		}
		request = out.UnprocessedKeys
		if err := s.wait(ctx, firstWait<<attempt); err != nil {
			return nil, err
		}
	}
	return nil, &AtLimit{Code: "UnprocessedKeys", cause: fmt.Errorf("%d keys left out %d times", len(request[s.table].Keys), batchAttempts)}
}

// OpenLaunches reads the launches of a cluster whose outcome is not known,
// oldest first. What was written in the last second may be missing: an index
// follows its table.
func (s *Store) OpenLaunches(ctx context.Context, cluster string) ([]LaunchRecord, error) {
	launches, err := s.openLaunches(ctx, cluster)
	if err != nil {
		return nil, err
	}
	return launches, nil
}

// openLaunches gives those that it can read beside an error about the others.
func (s *Store) openLaunches(ctx context.Context, cluster string) ([]LaunchRecord, error) {
	items, err := s.query(ctx, &dynamodb.QueryInput{
		IndexName:                 aws.String(OpenIndex),
		KeyConditionExpression:    aws.String("#open = :cluster"),
		ExpressionAttributeNames:  map[string]string{"#open": attrOpen},
		ExpressionAttributeValues: map[string]types.AttributeValue{":cluster": text(s.spoke.In(cluster))},
	})
	if err != nil {
		return nil, fmt.Errorf("read the open launches of %s: %w", cluster, err)
	}
	launches, err := s.launches(items)
	if err != nil {
		return launches, fmt.Errorf("read the open launches of %s: %w", cluster, err)
	}
	return launches, nil
}

// launches gives those that it can read beside an error about the others.
func (s *Store) launches(items []map[string]types.AttributeValue) ([]LaunchRecord, error) {
	var launches []LaunchRecord
	var wrong []error
	for _, attributes := range items {
		var l LaunchRecord
		there, err := s.decode(attributes, LaunchFormat, &l)
		if err != nil {
			wrong = append(wrong, err)
		}
		if there {
			launches = append(launches, l)
		}
	}
	return launches, errors.Join(wrong...)
}

// CreateLaunch records a launch unless it is recorded already, whichever event
// or sweep brought it first.
func (s *Store) CreateLaunch(ctx context.Context, l LaunchRecord) (created bool, err error) {
	l.Version = 0
	err = s.putLaunch(ctx, l)
	var exists *Conflict
	if errors.As(err, &exists) {
		return false, nil
	}
	return err == nil, err
}

// SaveLaunch writes a launch over the version that was read. It fails with
// *Conflict if that version is not the newest any more.
func (s *Store) SaveLaunch(ctx context.Context, l LaunchRecord) error {
	if l.Version == 0 {
		return fmt.Errorf("save the launch of %s: it was never read", l.ID())
	}
	return s.putLaunch(ctx, l)
}

func (s *Store) putLaunch(ctx context.Context, l LaunchRecord) error {
	over := l.Version
	l.Version++
	it := item{
		pk: s.key(launchPrefix, l.ID()), sk: launchSort,
		kind: "launch", format: LaunchFormat, version: l.Version, body: l,
		expires: l.Started.Add(keepLaunches),
	}
	if !l.Status.Final() {
		it.open, it.started = s.spoke.In(l.Cluster), l.Started
	}
	if l.End != snapshot.Open {
		past, err := encodePast(l.Past())
		if err != nil {
			return fmt.Errorf("encode the launch of %s: %w", l.ID(), err)
		}
		it.day, it.began, it.past = dayOf(s.spoke.In(l.Cluster), l.Started), l.Started, past
	}
	return s.put(ctx, it, over)
}
