// Package incoming keeps what arrives from Slack: which presses were taken, and which requests
// were refused.
package incoming

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/interaction"
	"rollcall/shared/report"
	"rollcall/shared/spec"
	"rollcall/shared/store/table"
)

// Incoming reads and writes these records of a table.
type Incoming struct{ t *table.Table }

// New reads and writes them in the table.
func New(t *table.Table) Incoming { return Incoming{t} }

// A press has the key press#<id of the signed request>, press.
const (
	pressPrefix = "press#"
	pressSort   = "press"
	attrBy      = "by"
	pressFormat = report.PressRecordFormat
)

// KeepPresses is how long a press is remembered: as long as its message may lie in
// the results queue (four days) and in its dead-letter queue (fourteen), and a day
// more. Its signature is good for five minutes.
const KeepPresses = 19 * 24 * time.Hour

// ClaimPress writes down that a press was taken, and reports whether it is the
// first time. By is who claims it: the same one may claim it again, so that a
// write whose answer was lost, and which the client repeats, is not taken for
// another's.
func (s Incoming) ClaimPress(ctx context.Context, id, by string) (bool, error) {
	now := s.t.Now()
	return table.Created(s.putPress(ctx, id, by, "", now.Add(KeepPresses), aws.String("attribute_not_exists(#pk) OR #expires <= :now OR #by = :by"),
		map[string]string{"#pk": table.AttrPK, "#expires": table.AttrExpires, "#by": attrBy},
		map[string]types.AttributeValue{":now": table.Number(now.Unix()), ":by": table.Text(by)}))
}

// PassPress writes down which message a claimed press is passed on as. It comes
// before the message, so that report finds it.
func (s Incoming) PassPress(ctx context.Context, id, by, digest string) error {
	return s.putPress(ctx, id, by, digest, s.t.Now().Add(KeepPresses), aws.String("#by = :by"),
		map[string]string{"#by": attrBy}, map[string]types.AttributeValue{":by": table.Text(by)})
}

// PassedPress reads what is known of a press; nil for one that was not claimed. It
// asks for the newest: a message may arrive at once.
func (s Incoming) PassedPress(ctx context.Context, id string) (*report.PressRecord, error) {
	out, err := s.t.Query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ExpressionAttributeNames:  map[string]string{"#pk": table.AttrPK},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": table.Text(pressPrefix + id)},
		ConsistentRead:            aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read the press %s: %w", id, err)
	}
	if len(out) == 0 {
		return nil, nil
	}
	var r report.PressRecord
	if there, err := s.t.Decode(out[0], pressFormat, &r); err != nil || !there {
		return nil, err
	}
	written, _, err := table.Integer(out[0][table.AttrFormat])
	if err != nil {
		return nil, fmt.Errorf("read the press %s: %w", id, err)
	}
	r.Format = int(written)
	return &r, nil
}

// ReleasePress takes the claim back: the press could not be passed on, and may
// come again. What has expired counts as absent.
func (s Incoming) ReleasePress(ctx context.Context, id, by string) error {
	return s.putPress(ctx, id, by, "", s.t.Now().Add(-time.Second), aws.String("#by = :by"),
		map[string]string{"#by": attrBy}, map[string]types.AttributeValue{":by": table.Text(by)})
}

func (s Incoming) putPress(
	ctx context.Context, id, by, digest string, expires time.Time, condition *string, names map[string]string, values map[string]types.AttributeValue,
) error {
	body, err := json.Marshal(report.PressRecord{Format: pressFormat, Digest: digest})
	if err != nil {
		return fmt.Errorf("encode the press: %w", err)
	}
	_, err = s.t.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.t.Name,
		Item: map[string]types.AttributeValue{
			table.AttrPK: table.Text(pressPrefix + id), table.AttrSK: table.Text(pressSort), attrBy: table.Text(by),
			table.AttrFormat: table.Number(pressFormat), table.AttrVersion: table.Number(1), table.AttrExpires: table.Number(expires.Unix()), table.AttrBody: table.Text(string(body)),
		},
		ConditionExpression: condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	})
	if err != nil {
		return fmt.Errorf("write the press: %w", table.Classify(err, table.Item{SK: pressSort, Version: 1}, 0))
	}
	return nil
}

// RecordPresses lets a function write which presses were taken, and nothing
// else. Who has it can approve in anybody's name: slack-actions alone does.
func RecordPresses() spec.Grant {
	return table.Write("RecordPresses", "A press counts once, and report accepts only presses that slack-actions has recorded.", pressPrefix)
}

// The audit records of refused requests have the key refusal#slack-actions, and
// <minute>#<reason> for unsigned ones: one stands for all of its
// minute, so that a flood fills nothing; <time>#<id> for those of Slack.
const refusalKey = "refusal#slack-actions"

// keepRefusals is how long they are kept, as long as all audit records.
const keepRefusals = table.KeepAudits

// RecordRefusal writes the record of a refused request, and reports whether it
// was written: an unsigned one is not where its minute and reason have one.
func (s Incoming) RecordRefusal(ctx context.Context, r interaction.Record) (bool, error) {
	r.Format = interaction.RecordFormat
	sk := r.At.UTC().Truncate(time.Minute).Format(table.Sortable) + "#" + string(r.Reason)
	if r.Reason.Signed() {
		sk = r.At.UTC().Format(table.Sortable) + "#" + r.Request
	}
	return table.Created(s.t.Put(ctx, table.Item{
		PK: refusalKey, SK: sk, Kind: "refusal", Format: r.Format, Version: 1, Body: r, Expires: r.At.Add(keepRefusals),
	}, 0))
}

// Refusals reads the records of refused requests since a time, oldest first.
func (s Incoming) Refusals(ctx context.Context, from time.Time) ([]interaction.Record, error) {
	return table.Since[interaction.Record](ctx, s.t, refusalKey, from, interaction.RecordFormat, "the refused requests")
}

// RecordRefusals lets a function write the audit records of refused requests,
// and nothing else.
func RecordRefusals() spec.Grant {
	return table.Write("RecordRefusals", "Who tried what, and why it was refused, can be looked up for a year.", refusalKey)
}
