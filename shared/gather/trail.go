package gather

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/cloudtrail"
	"rollcall/shared/spec"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/trail"
)

// Trails looks up who changed what.
type Trails interface {
	LookupEvents(context.Context, *cloudtrail.Input) (*cloudtrail.Output, error)
}

var _ Trails = (*cloudtrail.Client)(nil)

// ReadTrail is the permission of TrailReader. It takes no resource.
func ReadTrail() spec.Read {
	return spec.Read{Actions: spec.Actions[Trails]("cloudtrail"), Resources: []string{"*"}}
}

// TrailReader reads CloudTrail's records of the last 90 days.
type TrailReader struct {
	trails Trails
	global string
	sleep  func(context.Context, time.Duration) error
	asked  bool
}

const (
	// pace is between two calls. CloudTrail takes two a second of an account and
	// region; two of our invocations at once leave others a part of them.
	pace = 1100 * time.Millisecond
	// trailPage is the largest page (LookupEvents, MaxResults).
	trailPage = 50
	// trailPages bounds one lookup: the newest 200 records of a name.
	trailPages = 4
)

// NewTrail makes a reader. It waits by sleep, in whatever time that is.
func NewTrail(cfg aws.Config, sleep func(context.Context, time.Duration) error) *TrailReader {
	return &TrailReader{trails: cloudtrail.New(cfg), global: globalRegion(cfg.Region), sleep: sleep}
}

// globalRegion is where the calls to global services, IAM's among them, are
// recorded.
func globalRegion(region string) string {
	switch spoke.Partition(region) {
	case "aws-cn":
		return "cn-north-1"
	case "aws-us-gov":
		return "us-gov-west-1"
	}
	return "us-east-1"
}

// ErrManyRecords: there are more records than are read; the older are missing.
var ErrManyRecords = errors.New("there are more records than are read")

// Records are the write calls that a lookup gives, the newest first. What was
// read before something failed is given too.
func (t *TrailReader) Records(ctx context.Context, l trail.Lookup) ([]trail.Record, *snapshot.Failure) {
	records, err := t.records(ctx, l)
	if err == nil {
		return records, nil
	}
	return records, trailFailure(err, l.Resource+l.Call)
}

func (t *TrailReader) records(ctx context.Context, l trail.Lookup) ([]trail.Record, error) {
	in := &cloudtrail.Input{Attribute: cloudtrail.Attribute{Key: "ResourceName", Value: l.Resource}, Start: l.Start, End: l.End, Most: trailPage}
	if l.Call != "" {
		in.Attribute = cloudtrail.Attribute{Key: "EventName", Value: l.Call}
	}
	if l.Global {
		in.Region = t.global
	}
	var list []trail.Record
	err := t.each(ctx, in, func(e cloudtrail.Event) error {
		if e.ReadOnly == "true" {
			return nil
		}
		r, err := trail.Decode([]byte(e.Record))
		if err != nil {
			return fmt.Errorf("record %s: %w", e.ID, err)
		}
		for _, named := range e.Resources {
			r.Asked = append(r.Asked, trail.Text{Field: trail.Listed, Value: named.Name})
		}
		list = append(list, r)
		return nil
	})
	return list, err
}

// each gives the events of the pages of a lookup, the newest first.
func (t *TrailReader) each(ctx context.Context, in *cloudtrail.Input, do func(cloudtrail.Event) error) error {
	for range trailPages {
		if t.asked {
			if err := t.sleep(ctx, pace); err != nil {
				return err
			}
		}
		t.asked = true
		page, err := t.trails.LookupEvents(ctx, in)
		if err != nil {
			return err
		}
		for _, e := range page.Events {
			if err := do(e); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		if page.Next == in.Next {
			return source.ErrHalf // the same page for ever
		}
		in.Next = page.Next
	}
	return ErrManyRecords
}

// LaunchCalls are the records of one call for instances (CreateFleet, RunInstances)
// since a time, oldest first, as CloudTrail has them: what the bus would have brought.
// What was read before something failed is given too.
func (t *TrailReader) LaunchCalls(ctx context.Context, call string, since, now time.Time) ([]json.RawMessage, *snapshot.Failure) {
	in := &cloudtrail.Input{Attribute: cloudtrail.Attribute{Key: "EventName", Value: call}, Start: since, End: now, Most: trailPage}
	var list []json.RawMessage
	err := t.each(ctx, in, func(e cloudtrail.Event) error {
		if json.Valid([]byte(e.Record)) {
			list = append(list, json.RawMessage(e.Record))
		}
		return nil
	})
	slices.Reverse(list)
	if err != nil {
		return list, trailFailure(err, call)
	}
	return list, nil
}

// trailFailure is why a lookup could not be made in full. It is of the source "", as
// no check hangs on it.
func trailFailure(err error, of string) *snapshot.Failure {
	f := source.Source{Calls: []source.Call{{Action: "cloudtrail:LookupEvents"}}}.Failure(err)
	if errors.Is(err, ErrManyRecords) {
		f.Reason, f.Message = snapshot.NotRead, fmt.Sprintf("more than %d records of %s: the older were not read", trailPage*trailPages, of)
	}
	return f
}
