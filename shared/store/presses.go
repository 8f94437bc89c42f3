package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/spec"

	"rollcall/shared/report"
)

// A press has the key press#<id of the signed request>, press.
const (
	pressPrefix = "press#"
	pressSort   = "press"
	attrBy      = "by"
	pressFormat = report.PressRecordFormat
)

// keepPresses is how long a press is remembered: as long as its message may lie in
// the results queue (four days) and in its dead-letter queue (fourteen), and a day
// more. Its signature is good for five minutes.
const keepPresses = 19 * 24 * time.Hour

// ClaimPress writes down that a press was taken, and tells whether it is the
// first time. By is who claims it: the same one may claim it again, so that a
// write whose answer was lost, and which the client repeats, is not taken for
// somebody else's.
func (s *Store) ClaimPress(ctx context.Context, id, by string) (bool, error) {
	now := s.now()
	err := s.putPress(ctx, id, by, "", now.Add(keepPresses), aws.String("attribute_not_exists(#pk) OR #expires <= :now OR #by = :by"),
		map[string]string{"#pk": attrPK, "#expires": attrExpires, "#by": attrBy},
		map[string]types.AttributeValue{":now": number(now.Unix()), ":by": text(by)})
	var taken *Conflict
	if errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, err
}

// PassPress writes down which message a claimed press is passed on as. It comes
// before the message, so that report finds it.
func (s *Store) PassPress(ctx context.Context, id, by, digest string) error {
	return s.putPress(ctx, id, by, digest, s.now().Add(keepPresses), aws.String("#by = :by"),
		map[string]string{"#by": attrBy}, map[string]types.AttributeValue{":by": text(by)})
}

// PassedPress reads what is known of a press; nil for one that nobody took. It
// asks for the newest: a message may arrive at once.
func (s *Store) PassedPress(ctx context.Context, id string) (*report.PressRecord, error) {
	out, err := s.query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ExpressionAttributeNames:  map[string]string{"#pk": attrPK},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(pressPrefix + id)},
		ConsistentRead:            aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read the press %s: %w", id, err)
	}
	if len(out) == 0 {
		return nil, nil
	}
	var r report.PressRecord
	if there, err := s.decode(out[0], pressFormat, &r); err != nil || !there {
		return nil, err
	}
	written, _, err := integer(out[0][attrFormat])
	if err != nil {
		return nil, fmt.Errorf("read the press %s: %w", id, err)
	}
	r.Format = int(written)
	return &r, nil
}

// ReleasePress takes the claim back: the press could not be passed on, and may
// come again. What has expired counts as absent.
func (s *Store) ReleasePress(ctx context.Context, id, by string) error {
	return s.putPress(ctx, id, by, "", s.now().Add(-time.Second), aws.String("#by = :by"),
		map[string]string{"#by": attrBy}, map[string]types.AttributeValue{":by": text(by)})
}

func (s *Store) putPress(
	ctx context.Context, id, by, digest string, expires time.Time, condition *string, names map[string]string, values map[string]types.AttributeValue,
) error {
	body, err := json.Marshal(report.PressRecord{Format: pressFormat, Digest: digest})
	if err != nil {
		return fmt.Errorf("encode the press: %w", err)
	}
	_, err = s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.table,
		Item: map[string]types.AttributeValue{
			attrPK: text(pressPrefix + id), attrSK: text(pressSort), attrBy: text(by),
			attrFormat: number(pressFormat), attrVersion: number(1), attrExpires: number(expires.Unix()), attrBody: text(string(body)),
		},
		ConditionExpression: condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	})
	if err != nil {
		return fmt.Errorf("write the press: %w", classify(err, item{sk: pressSort, version: 1}, 0))
	}
	return nil
}

// RecordPresses lets a function write which presses were taken, and nothing
// else. Who has it can approve in anybody's name: slack-actions alone does.
func RecordPresses() spec.Grant {
	return write("RecordPresses", "A press counts once, and report believes a press only whose record slack-actions has written.", pressPrefix)
}
