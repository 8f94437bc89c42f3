package store

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

// keepSamples is how long each sample is kept: a week, as a week of the same days
// tells what is usual, and a day in which the hours may still be rolled up.
const keepSamples = 8 * day

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
			pk: s.key(samplePrefix, x.Subnet), sk: x.At.UTC().Format(minutely),
			kind: "sample", format: sampleFormat, version: 1, body: sample{x.At.UTC(), x.Free, x.Total},
			expires: x.At.Add(keepSamples),
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

// Samples reads what a subnet had since a time, oldest first: each sample as long
// as it is kept, and of the hours before that the least that it had, at the time
// of it. It costs half a read unit for 25 samples or hours: 50 for eight days, 30
// more for 90.
func (s *Store) Samples(ctx context.Context, subnet string, since time.Time) ([]snapshot.Sample, error) {
	list, err := s.raw(ctx, subnet, since, time.Time{})
	if err != nil {
		return nil, err
	}
	whole := s.now().Add(-keepSamples).Add(time.Hour).Truncate(time.Hour) // from here on no sample has expired
	if !since.Before(whole) {
		return list, nil
	}
	hours, err := s.hours(ctx, subnet, since, whole)
	if err != nil || len(hours) == 0 {
		return list, err
	}
	rolled := make(map[time.Time]bool, len(hours))
	var all []snapshot.Sample
	for _, h := range hours {
		rolled[h.Hour.UTC()] = true
		if !h.At.Before(since) {
			all = append(all, snapshot.Sample{Subnet: subnet, At: h.At.UTC(), Free: h.Low, Total: h.Total})
		}
	}
	for _, x := range list {
		if !rolled[x.At.UTC().Truncate(time.Hour)] {
			all = append(all, x)
		}
	}
	slices.SortStableFunc(all, func(a, b snapshot.Sample) int { return a.At.Compare(b.At) })
	return all, nil
}

// raw reads the samples of a subnet since a time, and before another if that is
// not zero.
func (s *Store) raw(ctx context.Context, subnet string, since, before time.Time) ([]snapshot.Sample, error) {
	items, err := s.query(ctx, sorted(s.key(samplePrefix, subnet), minutely, since, before))
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

// sorted asks for the records of a partition whose sort keys are times, from one
// on and before another, if that is not zero.
func sorted(pk, layout string, since, before time.Time) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{
		KeyConditionExpression:   aws.String("#pk = :pk AND #sk >= :since"),
		ExpressionAttributeNames: map[string]string{"#pk": attrPK, "#sk": attrSK},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": text(pk), ":since": text(since.UTC().Format(layout)),
		},
	}
	if !before.IsZero() {
		// Between includes both ends; no key is the next minute's or hour's less a
		// second.
		in.KeyConditionExpression = aws.String("#pk = :pk AND #sk BETWEEN :since AND :last")
		in.ExpressionAttributeValues[":last"] = text(before.Add(-time.Second).UTC().Format(layout))
	}
	return in
}
