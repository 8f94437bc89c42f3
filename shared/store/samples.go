package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/snapshot"
	"rollcall/shared/store/table"
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
		it := table.Item{
			PK: s.t.Key(samplePrefix, x.Subnet), SK: x.At.UTC().Format(minutely),
			Kind: "sample", Format: sampleFormat, Version: 1, Body: sample{x.At.UTC(), x.Free, x.Total},
			Expires: x.At.Add(keepSamples),
		}
		if written == it.PK+it.SK {
			continue
		}
		written = it.PK + it.SK
		if err := s.t.Put(ctx, it, table.AnyVersion); err != nil {
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
	whole := s.t.Now().Add(-keepSamples).Add(time.Hour).Truncate(time.Hour) // from here on no sample has expired
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
	items, err := s.t.Query(ctx, sorted(s.t.Key(samplePrefix, subnet), minutely, since, before))
	if err != nil {
		return nil, fmt.Errorf("read the samples of %s: %w", subnet, err)
	}
	read, err := table.All[sample](s.t, items, sampleFormat)
	if err != nil {
		return nil, fmt.Errorf("read the samples of %s: %w", subnet, err)
	}
	var list []snapshot.Sample
	for _, x := range read {
		list = append(list, snapshot.Sample{Subnet: subnet, At: x.At, Free: x.Free, Total: x.Total})
	}
	return list, nil
}

// sorted asks for the records of a partition whose sort keys are times, from one
// on and before another, if that is not zero.
func sorted(pk, layout string, since, before time.Time) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{
		KeyConditionExpression:   aws.String("#pk = :pk AND #sk >= :since"),
		ExpressionAttributeNames: map[string]string{"#pk": table.AttrPK, "#sk": table.AttrSK},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": table.Text(pk), ":since": table.Text(since.UTC().Format(layout)),
		},
	}
	if !before.IsZero() {
		// Between includes both ends; no key is the next minute's or hour's less a
		// second.
		in.KeyConditionExpression = aws.String("#pk = :pk AND #sk BETWEEN :since AND :last")
		in.ExpressionAttributeValues[":last"] = table.Text(before.Add(-time.Second).UTC().Format(layout))
	}
	return in
}

const (
	// hoursSuffix ends the partition of a subnet's hours: beside its samples they
	// would be among them.
	hoursSuffix = "#hours"
	hourly      = "2006-01-02T15Z"
	// hourFormat is the version of sampleHour that this code writes and reads.
	hourFormat = 1
	// keepHours is as long as launches are kept: a report reads both.
	keepHours = keepLaunches
)

// sampleHour is what a subnet had in an hour.
type sampleHour struct {
	Hour  time.Time `json:"h"`
	Low   int       `json:"l"`
	At    time.Time `json:"a"` // when it had Low
	High  int       `json:"u"`
	Last  int       `json:"f"`
	Total int       `json:"n"`
	Count int       `json:"c"`
}

// RollUp keeps what a subnet had in the hour of a time in one record. Done again
// it writes the same; an hour whose samples may have expired in part is left as
// it is, and one without samples leaves none. It takes one write unit, and half a
// read unit for twelve samples.
func (s *Store) RollUp(ctx context.Context, subnet string, hour time.Time) error {
	hour = hour.UTC().Truncate(time.Hour)
	if hour.Before(s.t.Now().Add(-keepSamples)) {
		return nil
	}
	_, err := s.rollUp(ctx, subnet, hour, hour.Add(time.Hour))
	return err
}

// CatchUp rolls up the hours of a subnet that are over and not rolled up yet,
// those of a week at most, and tells how many. Where nothing is to do it takes
// one read unit, so that it can be asked at every look; for an hour, two and one
// write unit.
func (s *Store) CatchUp(ctx context.Context, subnet string) (int, error) {
	from := s.t.Now().Add(-keepSamples).Add(time.Hour).UTC().Truncate(time.Hour)
	until := s.t.Now().UTC().Truncate(time.Hour)
	last, err := s.lastHour(ctx, subnet)
	if err != nil {
		return 0, err
	}
	if next := last.Add(time.Hour); next.After(from) {
		from = next
	}
	if !from.Before(until) {
		return 0, nil
	}
	return s.rollUp(ctx, subnet, from, until)
}

// lastHour is the last hour of a subnet that was rolled up; zero if none was.
func (s *Store) lastHour(ctx context.Context, subnet string) (time.Time, error) {
	in := sorted(s.t.Key(samplePrefix, subnet+hoursSuffix), hourly, time.Time{}, time.Time{})
	in.TableName, in.ScanIndexForward, in.Limit = &s.t.Name, aws.Bool(false), aws.Int32(1)
	out, err := s.t.Client.Query(ctx, in)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the last hour of %s: %w", subnet, table.Classify(err, table.Item{}, 0))
	}
	list, err := table.All[sampleHour](s.t, out.Items, hourFormat)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the last hour of %s: %w", subnet, err)
	}
	if len(list) == 0 {
		return time.Time{}, nil
	}
	return list[0].Hour, nil
}

// rollUp writes the hours from one until another, as far as there are samples.
func (s *Store) rollUp(ctx context.Context, subnet string, from, until time.Time) (int, error) {
	samples, err := s.raw(ctx, subnet, from, until)
	if err != nil {
		return 0, err
	}
	list := hoursOf(samples)
	var wrong []error
	for _, h := range list {
		wrong = append(wrong, s.t.Put(ctx, table.Item{
			PK: s.t.Key(samplePrefix, subnet+hoursSuffix), SK: h.Hour.Format(hourly),
			Kind: "hour of samples", Format: hourFormat, Version: 1, Body: h, Expires: h.Hour.Add(keepHours),
		}, table.AnyVersion))
	}
	return len(list), errors.Join(wrong...)
}

// hoursOf are the hours of samples, which are sorted by time.
func hoursOf(samples []snapshot.Sample) []sampleHour {
	var list []sampleHour
	for _, x := range samples {
		hour := x.At.UTC().Truncate(time.Hour)
		if n := len(list); n == 0 || !list[n-1].Hour.Equal(hour) {
			list = append(list, sampleHour{Hour: hour, Low: x.Free, At: x.At.UTC(), High: x.Free})
		}
		h := &list[len(list)-1]
		if x.Free < h.Low {
			h.Low, h.At = x.Free, x.At.UTC()
		}
		h.High, h.Last, h.Total = max(h.High, x.Free), x.Free, x.Total
		h.Count++
	}
	return list
}

// hours reads what a subnet had in the hours from that of a time until another.
func (s *Store) hours(ctx context.Context, subnet string, since, until time.Time) ([]sampleHour, error) {
	items, err := s.t.Query(ctx, sorted(s.t.Key(samplePrefix, subnet+hoursSuffix), hourly, since, until))
	if err != nil {
		return nil, fmt.Errorf("read the hours of %s: %w", subnet, err)
	}
	list, err := table.All[sampleHour](s.t, items, hourFormat)
	if err != nil {
		return nil, fmt.Errorf("read the hours of %s: %w", subnet, err)
	}
	return list, nil
}
