// Package logs is the account's CloudWatch Logs API: what is delivered where, and
// what stands in log groups. It has what the world's file has; nothing writes there.
package logs

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/cloudwatchlogs"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/table"
)

// API is the world's CloudWatch Logs API, one method for each operation.
type API struct{ w *state.State }

// New is the CloudWatch Logs API of an account.
func New(w *state.State) API { return API{w} }

const (
	mostOfList   = 50    // of a page (DescribeLimit)
	mostOfEvents = 10000 // likewise (EventsLimit)
)

// DescribeDeliverySources lists the sources of deliveries.
func (s API) DescribeDeliverySources(in *cloudwatchlogs.ListInput) (cloudwatchlogs.DescribeDeliverySourcesOutput, error) {
	defer s.w.Enter()()
	list, next, err := page(s.w.File.Logs.DeliverySources, in.Limit, in.NextToken, mostOfList)
	return cloudwatchlogs.DescribeDeliverySourcesOutput{DeliverySources: list, NextToken: next}, err
}

// DescribeDeliveries lists the deliveries.
func (s API) DescribeDeliveries(in *cloudwatchlogs.ListInput) (cloudwatchlogs.DescribeDeliveriesOutput, error) {
	defer s.w.Enter()()
	list, next, err := page(s.w.File.Logs.Deliveries, in.Limit, in.NextToken, mostOfList)
	return cloudwatchlogs.DescribeDeliveriesOutput{Deliveries: list, NextToken: next}, err
}

// DescribeDeliveryDestinations lists the destinations of deliveries.
func (s API) DescribeDeliveryDestinations(in *cloudwatchlogs.ListInput) (cloudwatchlogs.DescribeDeliveryDestinationsOutput, error) {
	defer s.w.Enter()()
	list, next, err := page(s.w.File.Logs.DeliveryDestinations, in.Limit, in.NextToken, mostOfList)
	return cloudwatchlogs.DescribeDeliveryDestinationsOutput{DeliveryDestinations: list, NextToken: next}, err
}

// FilterLogEvents finds events of a log group that are there by now.
func (s API) FilterLogEvents(in *cloudwatchlogs.FilterLogEventsInput) (cloudwatchlogs.FilterLogEventsOutput, error) {
	defer s.w.Enter()()
	var out cloudwatchlogs.FilterLogEventsOutput
	if (in.LogGroupName == nil) == (in.LogGroupIdentifier == nil) {
		return out, wire.Errorf("InvalidParameterException", "Either logGroupName or logGroupIdentifier must be given, and not both.")
	}
	name := aws.ToString(in.LogGroupName) + aws.ToString(in.LogGroupIdentifier)
	name = strings.TrimPrefix(name, "arn:aws:logs:"+s.w.Region+":"+s.w.Account+":log-group:")
	events, is := s.w.File.Logs.LogGroups[name]
	if !is {
		return out, wire.Errorf("ResourceNotFoundException", "The specified log group does not exist.")
	}
	var found []cloudwatchlogs.LogEvent
	for i, e := range events {
		at := e.At.UnixMilli()
		switch {
		case e.At.After(s.w.Now), in.StartTime != nil && at < *in.StartTime, in.EndTime != nil && at > *in.EndTime:
		case cloudwatchlogs.Matches(aws.ToString(in.FilterPattern), e.Message):
			found = append(found, cloudwatchlogs.LogEvent{LogStreamName: "eks-auto-mode", Timestamp: at, Message: e.Message, EventId: strconv.Itoa(i)})
		}
	}
	slices.SortStableFunc(found, func(a, b cloudwatchlogs.LogEvent) int { return int(a.Timestamp - b.Timestamp) })
	var err error
	out.Events, out.NextToken, err = page(found, in.Limit, in.NextToken, mostOfEvents)
	return out, err
}

// page is a page of a list, and the token of the next.
func page[T any](list []T, limit *int32, token *string, most int32) ([]T, *string, error) {
	if limit == nil {
		limit = &most
	}
	if *limit < 1 || *limit > most {
		return nil, nil, wire.Errorf("ValidationException", "The limit must be between 1 and %d.", most)
	}
	from := 0
	if token != nil {
		text, ok := table.ReadToken(*token)
		n, err := strconv.Atoi(text)
		if !ok || err != nil || n < 0 || n > len(list) {
			return nil, nil, wire.Errorf("ValidationException", "The next token is not valid.")
		}
		from = n
	}
	to := min(from+int(*limit), len(list))
	out := append([]T{}, list[from:to]...)
	if to == len(list) {
		return out, nil, nil
	}
	return out, aws.String(table.WriteToken(strconv.Itoa(to))), nil
}
