// Package cloudwatchlogs is the wire form of the calls of CloudWatch Logs that tell
// where logs are delivered to and what a log group holds (JSON 1.1, target
// Logs_20140328), as plain data: the service's own Go package is not among the
// dependencies.
package cloudwatchlogs

import (
	"slices"
	"strings"
)

// ListInput asks for a page of a list: of sources, deliveries or destinations.
type ListInput struct {
	Limit     *int32 // 1 to 50
	NextToken *string
}

// DeliverySource is what describe-delivery-sources prints of one.
type DeliverySource struct {
	Name         string   `json:"name"`
	Arn          string   `json:"arn,omitempty"`
	ResourceArns []string `json:"resourceArns"`
	Service      string   `json:"service,omitempty"`
	LogType      string   `json:"logType"`
}

// Delivery is what describe-deliveries prints of one.
type Delivery struct {
	Id                      string `json:"id,omitempty"`
	Arn                     string `json:"arn,omitempty"`
	DeliverySourceName      string `json:"deliverySourceName"`
	DeliveryDestinationArn  string `json:"deliveryDestinationArn"`
	DeliveryDestinationType string `json:"deliveryDestinationType,omitempty"`
}

// DeliveryDestination is what describe-delivery-destinations prints of one.
type DeliveryDestination struct {
	Name                             string                           `json:"name,omitempty"`
	Arn                              string                           `json:"arn"`
	DeliveryDestinationType          string                           `json:"deliveryDestinationType,omitempty"`
	OutputFormat                     string                           `json:"outputFormat,omitempty"`
	DeliveryDestinationConfiguration DeliveryDestinationConfiguration `json:"deliveryDestinationConfiguration"`
}

// DeliveryDestinationConfiguration names a log group, a bucket or a stream.
type DeliveryDestinationConfiguration struct {
	DestinationResourceArn string `json:"destinationResourceArn"`
}

// DescribeDeliverySourcesOutput is a page of sources.
type DescribeDeliverySourcesOutput struct {
	DeliverySources []DeliverySource `json:"deliverySources"`
	NextToken       *string          `json:"nextToken,omitempty"`
}

// DescribeDeliveriesOutput is a page of deliveries.
type DescribeDeliveriesOutput struct {
	Deliveries []Delivery `json:"deliveries"`
	NextToken  *string    `json:"nextToken,omitempty"`
}

// DescribeDeliveryDestinationsOutput is a page of destinations.
type DescribeDeliveryDestinationsOutput struct {
	DeliveryDestinations []DeliveryDestination `json:"deliveryDestinations"`
	NextToken            *string               `json:"nextToken,omitempty"`
}

// FilterLogEventsInput asks for events of a log group. Times are milliseconds since
// 1970.
type FilterLogEventsInput struct {
	LogGroupName       *string
	LogGroupIdentifier *string
	StartTime, EndTime *int64
	FilterPattern      *string
	Limit              *int32
	NextToken          *string
}

// FilterLogEventsOutput is a page of events, the oldest first.
type FilterLogEventsOutput struct {
	Events    []LogEvent `json:"events"`
	NextToken *string    `json:"nextToken,omitempty"`
}

// LogEvent is an event. Timestamp is in milliseconds since 1970.
type LogEvent struct {
	LogStreamName string `json:"logStreamName,omitempty"`
	Timestamp     int64  `json:"timestamp"`
	Message       string `json:"message"`
	EventId       string `json:"eventId,omitempty"`
}

// Matches reports whether a message fits a filter pattern, as far as Rollcall writes such:
// terms, in quotes or not. All without a question mark must be in it; where each has
// one, any (CloudWatch Logs user guide, "Filter pattern syntax").
func Matches(pattern, message string) bool {
	var all, any []string
	for rest := strings.TrimSpace(pattern); rest != ""; rest = strings.TrimSpace(rest) {
		list := &all
		if after, alternative := strings.CutPrefix(rest, "?"); alternative {
			rest, list = after, &any
		}
		term := rest
		if quoted, is := strings.CutPrefix(rest, `"`); is {
			term, rest, _ = strings.Cut(quoted, `"`)
		} else {
			term, rest, _ = strings.Cut(rest, " ")
		}
		*list = append(*list, term)
	}
	has := func(term string) bool { return strings.Contains(message, term) }
	if len(all) == 0 && len(any) > 0 {
		return slices.ContainsFunc(any, has)
	}
	return !slices.ContainsFunc(all, func(term string) bool { return !has(term) })
}
