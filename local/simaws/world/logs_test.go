package world

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/cloudwatchlogs"
	"rollcall/local/simaws/worldfile"
)

// TestLogs: a world's log groups have what there is by now, page for page.
func TestLogs(t *testing.T) {
	start := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	file := &worldfile.File{Account: "111122223333", Region: "us-west-2", Time: start, Logs: worldfile.LogsFile{
		DeliverySources: []cloudwatchlogs.DeliverySource{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		LogGroups: map[string][]worldfile.LogEvent{"g": {
			{At: start.Add(-time.Minute), Message: "x second"}, {At: start.Add(-2 * time.Minute), Message: "x first"}, {At: start, Message: "y"}, {At: start.Add(time.Minute), Message: "x later"},
		}},
	}}
	w, err := New(file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := w.API()
	var names []string
	var token *string
	for range 3 {
		out, err := a.DescribeDeliverySources(&cloudwatchlogs.ListInput{Limit: aws.Int32(2), NextToken: token})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range out.DeliverySources {
			names = append(names, s.Name)
		}
		if token = out.NextToken; token == nil {
			break
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, names); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	found := func(in cloudwatchlogs.FilterLogEventsInput) (texts []string) {
		in.LogGroupName = aws.String("g")
		out, err := a.FilterLogEvents(&in)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range out.Events {
			texts = append(texts, e.Message)
		}
		return texts
	}
	for name, tt := range map[string]struct {
		in   cloudwatchlogs.FilterLogEventsInput
		want []string
	}{
		"all by now": {cloudwatchlogs.FilterLogEventsInput{}, []string{"x first", "x second", "y"}},
		"filtered":   {cloudwatchlogs.FilterLogEventsInput{FilterPattern: aws.String("?x")}, []string{"x first", "x second"}},
		"since":      {cloudwatchlogs.FilterLogEventsInput{StartTime: aws.Int64(start.Add(-time.Minute).UnixMilli())}, []string{"x second", "y"}},
		"until":      {cloudwatchlogs.FilterLogEventsInput{EndTime: aws.Int64(start.Add(-time.Minute).UnixMilli())}, []string{"x first", "x second"}},
		"one":        {cloudwatchlogs.FilterLogEventsInput{Limit: aws.Int32(1)}, []string{"x first"}},
	} {
		if diff := cmp.Diff(tt.want, found(tt.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, tt := range map[string]struct {
		in   cloudwatchlogs.FilterLogEventsInput
		code string
	}{
		"no group":       {cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String("none")}, "ResourceNotFoundException"},
		"two names":      {cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String("g"), LogGroupIdentifier: aws.String("g")}, "InvalidParameterException"},
		"a page of none": {cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String("g"), Limit: aws.Int32(0)}, "ValidationException"},
		"a false token":  {cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String("g"), NextToken: aws.String("x")}, "ValidationException"},
	} {
		var refused *wire.Error
		if _, err := a.FilterLogEvents(&tt.in); !errors.As(err, &refused) || refused.Code != tt.code {
			t.Errorf("%s: %v, want %s", name, err, tt.code)
		}
	}
}
