package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/snapshot"
)

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
	if hour.Before(s.now().Add(-keepSamples)) {
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
	from := s.now().Add(-keepSamples).Add(time.Hour).UTC().Truncate(time.Hour)
	until := s.now().UTC().Truncate(time.Hour)
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
	in := sorted(s.key(samplePrefix, subnet+hoursSuffix), hourly, time.Time{}, time.Time{})
	in.TableName, in.ScanIndexForward, in.Limit = &s.table, aws.Bool(false), aws.Int32(1)
	out, err := s.client.Query(ctx, in)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the last hour of %s: %w", subnet, classify(err, item{}, 0))
	}
	for _, attributes := range out.Items {
		var h sampleHour
		there, err := s.decode(attributes, hourFormat, &h)
		if err != nil {
			return time.Time{}, fmt.Errorf("read the last hour of %s: %w", subnet, err)
		}
		if there {
			return h.Hour, nil
		}
	}
	return time.Time{}, nil
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
		wrong = append(wrong, s.put(ctx, item{
			pk: s.key(samplePrefix, subnet+hoursSuffix), sk: h.Hour.Format(hourly),
			kind: "hour of samples", format: hourFormat, version: 1, body: h, expires: h.Hour.Add(keepHours),
		}, anyVersion))
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
	items, err := s.query(ctx, sorted(s.key(samplePrefix, subnet+hoursSuffix), hourly, since, until))
	if err != nil {
		return nil, fmt.Errorf("read the hours of %s: %w", subnet, err)
	}
	var list []sampleHour
	for _, attributes := range items {
		var h sampleHour
		there, err := s.decode(attributes, hourFormat, &h)
		if err != nil {
			return nil, fmt.Errorf("read the hours of %s: %w", subnet, err)
		}
		if there {
			list = append(list, h)
		}
	}
	return list, nil
}
