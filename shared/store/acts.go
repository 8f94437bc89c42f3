package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/spec"

	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// The audit record of a press has the key act#<cluster>, <time>#<id>.
const actPrefix = "act#"

// RecordAct writes the audit record of a press, once: a record that is there
// already stays as it is, and is no error. It tells whether this call wrote it.
func (s *Store) RecordAct(ctx context.Context, a incident.ActRecord) (created bool, _ error) {
	if a.Key.Spoke != s.spoke {
		return false, fmt.Errorf("write the press of %s: %w", a.Key.Name(), ErrForeign)
	}
	a.Format, a.Audited = incident.RecordFormat, true
	err := s.put(ctx, item{
		pk: s.key(actPrefix, a.Key.Cluster), sk: actSort(a.At, a.ID),
		kind: "audit record", format: a.Format, version: 1, body: a, expires: a.At.Add(keepAudits),
	}, 0)
	var taken *Conflict
	if errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, err
}

// ActRecorded tells whether a press of that time was decided on before.
func (s *Store) ActRecorded(ctx context.Context, p report.Press) (bool, error) {
	out, err := s.query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :pk AND #sk = :sk"),
		ExpressionAttributeNames:  map[string]string{"#pk": attrPK, "#sk": attrSK},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(s.key(actPrefix, p.Key.Cluster)), ":sk": text(actSort(p.At, p.ID))},
		ConsistentRead:            aws.Bool(true),
	})
	if err != nil {
		return false, fmt.Errorf("see whether the press %s was decided on: %w", p.ID, err)
	}
	return len(out) > 0, nil
}

func actSort(at time.Time, id string) string { return at.UTC().Format(sortable) + "#" + id }

// Acts reads the audit records of presses in a cluster since a time, oldest
// first.
func (s *Store) Acts(ctx context.Context, cluster string, from time.Time) ([]incident.ActRecord, error) {
	return since[incident.ActRecord](ctx, s, s.key(actPrefix, cluster), from, incident.RecordFormat, "the presses of "+cluster)
}

// RecordActs lets a function write the audit records of presses and nothing
// else.
func RecordActs() spec.Grant {
	return write("RecordActs", "Every press of a button, allowed or refused, leaves a record of who pressed what, and what came of it.", actPrefix)
}
