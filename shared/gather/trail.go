package gather

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/cloudtrail"
	"rollcall/shared/spec"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
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
	switch Partition(region) {
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
// read before something failed is given too. The failure is of the source "",
// as no check hangs on it.
func (t *TrailReader) Records(ctx context.Context, l trail.Lookup) ([]trail.Record, *snapshot.Failure) {
	records, err := t.records(ctx, l)
	if err == nil {
		return records, nil
	}
	f := source.Source{Calls: []source.Call{{Action: "cloudtrail:LookupEvents"}}}.Failure(err)
	if errors.Is(err, ErrManyRecords) {
		f.Reason, f.Message = snapshot.NotRead, fmt.Sprintf("more than %d records of %s%s: the older were not read", trailPage*trailPages, l.Resource, l.Call)
	}
	return records, f
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
	for range trailPages {
		if t.asked {
			if err := t.sleep(ctx, pace); err != nil {
				return list, err
			}
		}
		t.asked = true
		page, err := t.trails.LookupEvents(ctx, in)
		if err != nil {
			return list, err
		}
		for _, e := range page.Events {
			if e.ReadOnly == "true" {
				continue
			}
			r, err := trail.Decode([]byte(e.Record))
			if err != nil {
				return list, fmt.Errorf("record %s: %w", e.ID, err)
			}
			for _, named := range e.Resources {
				r.Asked = append(r.Asked, trail.Text{Field: trail.Listed, Value: named.Name})
			}
			list = append(list, r)
		}
		if page.Next == "" {
			return list, nil
		}
		if page.Next == in.Next {
			return list, source.ErrHalf // the same page for ever
		}
		in.Next = page.Next
	}
	return list, ErrManyRecords
}
