package store

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/silence"
	"rollcall/shared/spec"
)

// Silences have the key silence#, <cluster>#<id>: one partition for each spoke, as who
// asks what is silenced reads all of them.
const silencePrefix = "silence#"

// keepSilences is how long a silence is remembered after it was over: what was quiet last
// week can be looked up.
const keepSilences = 30 * 24 * time.Hour

// Silences reads the silences of a cluster, also those that are over. Should one of them
// be of a newer version it gives none, and the error: what that hides is not known here,
// and must not be told as if there were none.
func (s *Store) Silences(ctx context.Context, cluster string) ([]silence.Silence, error) {
	items, err := s.query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:   aws.String("#pk = :pk AND #sk BETWEEN :from AND :to"),
		ExpressionAttributeNames: map[string]string{"#pk": attrPK, "#sk": attrSK},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": text(s.key(silencePrefix, "")), ":from": text(cluster + "#"), ":to": text(cluster + "#g"), // ids are hex digits
		},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read the silences of %s: %w", cluster, err)
	}
	var list []silence.Silence
	for _, attributes := range items {
		var x silence.Silence
		there, err := s.decode(attributes, silence.Format, &x)
		if err != nil {
			return nil, fmt.Errorf("read the silences of %s: %w", cluster, err)
		}
		if there {
			list = append(list, x)
		}
	}
	return list, nil
}

// AllSilences reads those of all clusters. If some were written by a newer version of
// Rollcall, it gives the others and an error with *NewerFormat in it.
func (s *Store) AllSilences(ctx context.Context) ([]silence.Silence, error) {
	return partition[silence.Silence](ctx, s, s.key(silencePrefix, ""), silence.Format, "the silences")
}

// SaveSilence writes a silence over the version that was read, and gives it with its new
// version. It fails with *Conflict if that is not the newest any more.
func (s *Store) SaveSilence(ctx context.Context, x silence.Silence) (silence.Silence, error) {
	if x.Spoke != s.spoke {
		return silence.Silence{}, fmt.Errorf("write the silence of %s: %w", x.Of(), ErrForeign)
	}
	over := x.Version
	x.Version, x.Format = x.Version+1, silence.Format
	err := s.put(ctx, item{
		pk: s.key(silencePrefix, ""), sk: x.Cluster + "#" + x.ID, kind: "silence", format: x.Format, version: x.Version, body: x,
		expires: x.Until.Add(keepSilences),
	}, over)
	if err != nil {
		return silence.Silence{}, err
	}
	return x, nil
}

// RecordSilences lets a function write silences and nothing else.
func RecordSilences() spec.Grant {
	return write("RecordSilences", "Who silenced what, until when and why outlives the function; it ends by itself.", silencePrefix)
}
