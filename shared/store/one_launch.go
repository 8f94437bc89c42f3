package store

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Launch reads the launch of an instance; nil for one that is not known. It asks as those
// do who may read incidents alone.
func (s *Store) Launch(ctx context.Context, instance string) (*LaunchRecord, error) {
	items, err := s.query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ExpressionAttributeNames:  map[string]string{"#pk": attrPK},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(s.key(launchPrefix, instance))},
		ConsistentRead:            aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read the launch of %s: %w", instance, err)
	}
	list, err := s.launches(items)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}
