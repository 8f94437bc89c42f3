package gather

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/cloudtrail"
	"rollcall/shared/spec"

	"rollcall/shared/snapshot"
	"rollcall/shared/trail"
)

// pagesOfTrail is CloudTrail with a number of pages, and an error after them.
type pagesOfTrail struct {
	pages int
	err   error
	asked []cloudtrail.Input
}

func (p *pagesOfTrail) LookupEvents(_ context.Context, in *cloudtrail.Input) (*cloudtrail.Output, error) {
	p.asked = append(p.asked, *in)
	n := len(p.asked)
	if n > p.pages {
		return nil, p.err
	}
	out := &cloudtrail.Output{Events: []cloudtrail.Event{
		{ID: fmt.Sprint("e", n), Resources: []cloudtrail.Resource{{Type: "AWS::EC2::RouteTable", Name: "rtb-1"}},
			Record: fmt.Sprintf(`{"eventID":"e%d","eventTime":"2026-11-20T14:41:07Z","eventSource":"ec2.amazonaws.com","eventName":"DeleteRoute","userIdentity":{"type":"Root"}}`, n)},
		{ID: "read", ReadOnly: "true", Record: "no JSON, and never looked at"},
	}}
	if n < p.pages || p.err != nil {
		out.Next = fmt.Sprint("page", n+1)
	}
	return out, nil
}

func TestTrailRecords(t *testing.T) {
	denied := &smithy.OperationError{ServiceID: "CloudTrail", OperationName: "LookupEvents", Err: &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "no"}}
	throttled := &smithy.OperationError{ServiceID: "CloudTrail", OperationName: "LookupEvents", Err: &smithy.GenericAPIError{Code: "ThrottlingException"}}
	for name, test := range map[string]struct {
		trails  *pagesOfTrail
		records int
		failed  *snapshot.Failure
	}{
		"two pages":              {&pagesOfTrail{pages: 2}, 2, nil},
		"too many pages":         {&pagesOfTrail{pages: 9}, 4, &snapshot.Failure{Call: "cloudtrail:LookupEvents", Reason: snapshot.NotRead, Message: "more than 200 records of DeleteRoute: the older were not read"}},
		"throttled after a page": {&pagesOfTrail{pages: 1, err: throttled}, 1, &snapshot.Failure{Call: "cloudtrail:LookupEvents", Reason: snapshot.Throttled, Code: "ThrottlingException"}},
		"denied":                 {&pagesOfTrail{err: denied}, 0, &snapshot.Failure{Call: "cloudtrail:LookupEvents", Reason: snapshot.Denied, Code: "AccessDeniedException", Message: "no"}},
	} {
		var waited time.Duration
		r := &TrailReader{trails: test.trails, global: globalRegion("us-west-2"), sleep: func(_ context.Context, d time.Duration) error { waited += d; return nil }}
		records, failed := r.Records(t.Context(), trail.Lookup{Call: "DeleteRoute"})
		if diff := cmp.Diff(test.failed, failed); diff != "" || len(records) != test.records {
			t.Errorf("%s: %d records, want %d; failure (-want +got):\n%s", name, len(records), test.records, diff)
		}
		if calls := len(test.trails.asked); waited != time.Duration(calls-1)*pace {
			t.Errorf("%s: waited %s between %d calls", name, waited, calls)
		}
		for _, rec := range records {
			if !cmp.Equal(rec.Asked, []trail.Text{{Field: trail.Listed, Value: "rtb-1"}}) {
				t.Errorf("%s: what CloudTrail lists is lost: %+v", name, rec)
			}
		}
	}
}

func TestTrailAsks(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	trails := &pagesOfTrail{pages: 1}
	r := &TrailReader{trails: trails, global: globalRegion("cn-northwest-1"), sleep: func(context.Context, time.Duration) error { return nil }}
	if _, failed := r.Records(t.Context(), trail.Lookup{Resource: "nodes", Global: true, Start: noon, End: noon.Add(time.Hour)}); failed != nil {
		t.Fatal(failed)
	}
	want := cloudtrail.Input{Attribute: cloudtrail.Attribute{Key: "ResourceName", Value: "nodes"}, Start: noon, End: noon.Add(time.Hour), Most: 50, Region: "cn-north-1"}
	if diff := cmp.Diff(want, trails.asked[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := globalRegion("us-gov-east-1") + globalRegion("eu-west-1"); got != "us-gov-west-1us-east-1" {
		t.Errorf("global regions %s", got)
	}
}

// Calls for instances come oldest first, as the bus would have brought them; what is
// no JSON is left out.
func TestLaunchCalls(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	trails := &pagesOfTrail{pages: 2}
	r := &TrailReader{trails: trails, sleep: func(context.Context, time.Duration) error { return nil }}
	records, failed := r.LaunchCalls(t.Context(), "CreateFleet", noon, noon.Add(time.Hour))
	if failed != nil || len(records) != 2 || !strings.Contains(string(records[0]), `"e2"`) || !strings.Contains(string(records[1]), `"e1"`) {
		t.Errorf("%s, %v, want both, the older first", records, failed)
	}
	want := cloudtrail.Input{Attribute: cloudtrail.Attribute{Key: "EventName", Value: "CreateFleet"}, Start: noon, End: noon.Add(time.Hour), Most: 50}
	if diff := cmp.Diff(want, trails.asked[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.trails = &pagesOfTrail{pages: 9}
	r.asked = false
	records, failed = r.LaunchCalls(t.Context(), "CreateFleet", noon, noon.Add(time.Hour))
	if len(records) != 4 || failed == nil || failed.Message != "more than 200 records of CreateFleet: the older were not read" {
		t.Errorf("%d records, %+v, want those of four pages, and that there are more", len(records), failed)
	}
}

// What is granted is what is called, and no more.
func TestTrailPermission(t *testing.T) {
	if diff := cmp.Diff(spec.Read{Actions: []string{"cloudtrail:LookupEvents"}, Resources: []string{"*"}}, ReadTrail()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTrailGivesUp(t *testing.T) {
	stopped := errors.New("stopped")
	r := NewTrail(aws.Config{Region: "us-west-2"}, func(context.Context, time.Duration) error { return stopped })
	r.trails = &pagesOfTrail{pages: 3}
	records, failed := r.Records(t.Context(), trail.Lookup{Resource: "rtb-1"})
	if len(records) != 1 || failed == nil || strings.Contains(failed.Message, "older") {
		t.Errorf("%d records, %+v", len(records), failed)
	}
}
