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
	"rollcall/shared/report"
)

// The audit record of a press has the key act#<cluster>, <time>#<id>.
const actPrefix = "act#"

// RecordAct writes the audit record of a press, once: a record that is there
// already stays as it is, and is no error. It tells whether this call wrote it.
func (s *Store) RecordAct(ctx context.Context, a report.ActRecord) (created bool, _ error) {
	a.Format, a.Audited = report.RecordFormat, true
	err := s.put(ctx, item{
		pk: actPrefix + a.Key.Cluster, sk: a.At.UTC().Format(sortable) + "#" + a.ID,
		kind: "audit record", format: a.Format, version: 1, body: a, expires: a.At.Add(keepAudits),
	}, 0)
	var taken *Conflict
	if errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, err
}

// Acts reads the audit records of presses in a cluster since a time, oldest
// first.
func (s *Store) Acts(ctx context.Context, cluster string, since time.Time) ([]report.ActRecord, error) {
	items, err := s.query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:   aws.String("#pk = :pk AND #sk >= :from"),
		ExpressionAttributeNames: map[string]string{"#pk": attrPK, "#sk": attrSK},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": text(actPrefix + cluster), ":from": text(since.UTC().Format(sortable)),
		},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read the presses of %s: %w", cluster, err)
	}
	var list []report.ActRecord
	for _, attributes := range items {
		var a report.ActRecord
		there, err := s.decode(attributes, report.RecordFormat, &a)
		if err != nil {
			return nil, fmt.Errorf("read the presses of %s: %w", cluster, err)
		}
		if there {
			list = append(list, a)
		}
	}
	return list, nil
}

// RecordActs lets a function write the audit records of presses and nothing
// else.
func RecordActs() fn.Grant {
	return write("RecordActs", "Every press of a button, allowed or refused, leaves a record of who pressed what, and what came of it.", actPrefix)
}
