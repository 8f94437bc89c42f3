package state

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/snapshot"
)

// sampleFormat is the version of sample that this code writes and reads.
const sampleFormat = 1

// sample is what a subnet had at one time.
type sample struct {
	At    time.Time `json:"t"`
	Free  int       `json:"f"`
	Total int       `json:"n"`
}

// minutely is a time as the sort key of samples.
const minutely = "2006-01-02T15:04Z"

// RecordSamples keeps what subnets had: at most one sample a minute of each, as
// one is as good as another. A second one of the same minute is no error.
func (s *Store) RecordSamples(ctx context.Context, samples []snapshot.Sample) error {
	samples = slices.Clone(samples)
	slices.SortFunc(samples, func(a, b snapshot.Sample) int {
		if c := strings.Compare(a.Subnet, b.Subnet); c != 0 {
			return c
		}
		return a.At.Compare(b.At)
	})
	written := ""
	for _, x := range samples {
		it := item{
			pk: samplePrefix + x.Subnet, sk: x.At.UTC().Format(minutely),
			kind: "sample", format: sampleFormat, version: 1, body: sample{x.At.UTC(), x.Free, x.Total},
			expires: x.At.Add(keepLaunches),
		}
		if written == it.pk+it.sk {
			continue
		}
		written = it.pk + it.sk
		if err := s.put(ctx, it, anyVersion); err != nil {
			return err
		}
	}
	return nil
}

// Samples reads what a subnet had since a time, oldest first.
func (s *Store) Samples(ctx context.Context, subnet string, since time.Time) ([]snapshot.Sample, error) {
	items, err := s.query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:   aws.String("#pk = :pk AND #sk >= :since"),
		ExpressionAttributeNames: map[string]string{"#pk": attrPK, "#sk": attrSK},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": text(samplePrefix + subnet), ":since": text(since.UTC().Format(minutely)),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read the samples of %s: %w", subnet, err)
	}
	var list []snapshot.Sample
	for _, attributes := range items {
		var x sample
		there, err := s.decode(attributes, sampleFormat, &x)
		if err != nil {
			return nil, fmt.Errorf("read the samples of %s: %w", subnet, err)
		}
		if there {
			list = append(list, snapshot.Sample{Subnet: subnet, At: x.At, Free: x.Free, Total: x.Total})
		}
	}
	return list, nil
}
