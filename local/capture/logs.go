package capture

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/simaws/cloudwatchlogs"
)

// filterLogEvents is the operation whose files hold what log groups had.
const filterLogEvents = "logs-filter-log-events"

// LogGroups are the names of the log groups of which the capture holds events, sorted.
func (c *Capture) LogGroups() []string {
	var list []string
	for _, name := range c.names(filterLogEvents) {
		if _, keys := splitName(name); len(keys) > 0 {
			list = append(list, strings.Join(keys, "."))
		}
	}
	return list
}

// DescribeDeliverySources answers with the sources of deliveries.
func (a API) DescribeDeliverySources(*cloudwatchlogs.ListInput) (cloudwatchlogs.DescribeDeliverySourcesOutput, error) {
	return plain[cloudwatchlogs.DescribeDeliverySourcesOutput](a.c, "logs-describe-delivery-sources")
}

// DescribeDeliveries answers with the deliveries.
func (a API) DescribeDeliveries(*cloudwatchlogs.ListInput) (cloudwatchlogs.DescribeDeliveriesOutput, error) {
	return plain[cloudwatchlogs.DescribeDeliveriesOutput](a.c, "logs-describe-deliveries")
}

// DescribeDeliveryDestinations answers with the destinations of deliveries.
func (a API) DescribeDeliveryDestinations(*cloudwatchlogs.ListInput) (cloudwatchlogs.DescribeDeliveryDestinationsOutput, error) {
	return plain[cloudwatchlogs.DescribeDeliveryDestinationsOutput](a.c, "logs-describe-delivery-destinations")
}

// FilterLogEvents answers with those events of a log group that the capture holds and
// that fit.
func (a API) FilterLogEvents(in *cloudwatchlogs.FilterLogEventsInput) (cloudwatchlogs.FilterLogEventsOutput, error) {
	out, err := plain[cloudwatchlogs.FilterLogEventsOutput](a.c, filterLogEvents, aws.ToString(in.LogGroupName))
	if err != nil {
		return out, err
	}
	return cloudwatchlogs.FilterLogEventsOutput{Events: items(out.Events, func(e cloudwatchlogs.LogEvent) bool {
		late := in.EndTime != nil && e.Timestamp > *in.EndTime
		early := in.StartTime != nil && e.Timestamp < *in.StartTime
		return !late && !early && cloudwatchlogs.Matches(aws.ToString(in.FilterPattern), e.Message)
	})}, nil
}

// plain is read of an answer that is handed on as a value.
func plain[O any](c *Capture, operation string, keys ...string) (O, error) {
	out, err := read[O](c, operation, keys...)
	if err != nil {
		var none O
		return none, err
	}
	return *out, nil
}
