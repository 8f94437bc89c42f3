package state

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/fn"
)

// A press has the key press#<id of the signed request>, press.
const (
	pressPrefix = "press#"
	pressSort   = "press"
	attrBy      = "by"
	pressFormat = 1
)

// keepPresses is how long a press is remembered: longer than its signature is
// good (five minutes, and one ahead), whatever the clocks say.
const keepPresses = time.Hour

// ClaimPress writes down that a press was taken, and tells whether it is the
// first time. By is who claims it: the same one may claim it again, so that a
// write whose answer was lost, and which the client repeats, is not taken for
// somebody else's.
func (s *Store) ClaimPress(ctx context.Context, id, by string) (bool, error) {
	now := s.now()
	err := s.putPress(ctx, id, by, now.Add(keepPresses), aws.String("attribute_not_exists(#pk) OR #expires <= :now OR #by = :by"),
		map[string]string{"#pk": attrPK, "#expires": attrExpires, "#by": attrBy},
		map[string]types.AttributeValue{":now": number(now.Unix()), ":by": text(by)})
	var taken *Conflict
	if errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, err
}

// ReleasePress takes the claim back: the press could not be passed on, and may
// come again. What has expired counts as absent.
func (s *Store) ReleasePress(ctx context.Context, id, by string) error {
	return s.putPress(ctx, id, by, s.now().Add(-time.Second), aws.String("#by = :by"),
		map[string]string{"#by": attrBy}, map[string]types.AttributeValue{":by": text(by)})
}

func (s *Store) putPress(ctx context.Context, id, by string, expires time.Time, condition *string, names map[string]string, values map[string]types.AttributeValue) error {
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.table,
		Item: map[string]types.AttributeValue{
			attrPK: text(pressPrefix + id), attrSK: text(pressSort), attrBy: text(by),
			attrFormat: number(pressFormat), attrVersion: number(1), attrExpires: number(expires.Unix()), attrBody: text("{}"),
		},
		ConditionExpression: condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	})
	if err != nil {
		return fmt.Errorf("write the press: %w", classify(err, item{sk: pressSort, version: 1}, 0))
	}
	return nil
}

// RecordPresses lets a function write which presses were taken, and nothing
// else.
func RecordPresses() fn.Grant {
	return write("RecordPresses", "A press counts once: a copy of its signed request is refused.", pressPrefix)
}
