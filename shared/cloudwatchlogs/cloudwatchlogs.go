// Package cloudwatchlogs makes the few calls of Amazon CloudWatch Logs that Rollcall
// needs: where the logs of a resource are delivered to, and what stands in a log
// group. Members and bounds are those of botocore's model (logs/2014-03-28).
package cloudwatchlogs

import (
	"context"
	"encoding/json"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/awsjson"
)

// service is CloudWatch Logs. A page of events is 1 MB of messages at most
// (FilterLogEvents); as JSON in JSON they are larger.
func service() awsjson.Service {
	return awsjson.Service{ID: "CloudWatch Logs", Name: "logs", Target: "Logs_20140328.", MostBytes: 8 << 20}
}

// Client calls CloudWatch Logs.
type Client struct{ calls *awsjson.Client }

// New makes a client of what all AWS clients are made of.
func New(cfg aws.Config) *Client { return &Client{calls: awsjson.New(cfg, service())} }

// DeliverySource is a resource whose logs are delivered, and which of its logs.
type DeliverySource struct {
	Name      string   `json:"name"`
	Resources []string `json:"resourceArns"` // "currently, only one ARN can be in the array"
	LogType   string   `json:"logType"`
}

// Delivery connects a source with a destination, by its name and by its ARN.
type Delivery struct {
	Source      string `json:"deliverySourceName"`
	Destination string `json:"deliveryDestinationArn"`
	Type        string `json:"deliveryDestinationType"` // S3, CWL, FH, XRAY
}

// DeliveryDestination is where logs are delivered to.
type DeliveryDestination struct {
	ARN           string `json:"arn"`
	Configuration struct {
		// Resource is the ARN of a log group, a bucket or a stream.
		Resource string `json:"destinationResourceArn"`
	} `json:"deliveryDestinationConfiguration"`
}

// mostOfPage is the largest page of the three lists (DescribeLimit).
const mostOfPage = 50

// List asks for a page of one of the three.
type List struct {
	Limit int    `json:"limit"`
	Next  string `json:"nextToken,omitempty"`
}

// DescribeDeliverySources gives a page of the sources of the account in the region,
// and the token of the next page. It fails with *smithy.OperationError, as all calls
// do here.
func (c *Client) DescribeDeliverySources(ctx context.Context, token string) (list []DeliverySource, next string, err error) {
	var out struct {
		List []DeliverySource `json:"deliverySources"`
		Next string           `json:"nextToken"`
	}
	err = c.calls.Call(ctx, "DescribeDeliverySources", "", List{mostOfPage, token}, &out)
	return out.List, out.Next, err
}

// DescribeDeliveries gives a page of the deliveries likewise.
func (c *Client) DescribeDeliveries(ctx context.Context, token string) (list []Delivery, next string, err error) {
	var out struct {
		List []Delivery `json:"deliveries"`
		Next string     `json:"nextToken"`
	}
	err = c.calls.Call(ctx, "DescribeDeliveries", "", List{mostOfPage, token}, &out)
	return out.List, out.Next, err
}

// DescribeDeliveryDestinations gives a page of the destinations likewise.
func (c *Client) DescribeDeliveryDestinations(ctx context.Context, token string) (list []DeliveryDestination, next string, err error) {
	var out struct {
		List []DeliveryDestination `json:"deliveryDestinations"`
		Next string                `json:"nextToken"`
	}
	err = c.calls.Call(ctx, "DescribeDeliveryDestinations", "", List{mostOfPage, token}, &out)
	return out.List, out.Next, err
}

// Filter asks for events of a log group.
type Filter struct {
	Group string
	// Pattern is at most 1,024 characters.
	Pattern string
	// Start and End are of whole milliseconds.
	Start, End time.Time
	Most       int // 1 to 10,000
	Next       string
}

// MarshalJSON writes the request as it goes over the wire.
func (f Filter) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Group   string `json:"logGroupName"`
		Pattern string `json:"filterPattern,omitempty"`
		Start   int64  `json:"startTime"`
		End     int64  `json:"endTime"`
		Most    int    `json:"limit"`
		Next    string `json:"nextToken,omitempty"`
	}{f.Group, f.Pattern, f.Start.UnixMilli(), f.End.UnixMilli(), f.Most, f.Next})
}

// Event is a log event.
type Event struct {
	At      time.Time
	Message string
}

// FilterLogEvents gives a page of events and the token of the next page. A page may
// be empty and not the last.
func (c *Client) FilterLogEvents(ctx context.Context, f Filter) (list []Event, next string, err error) {
	var out struct {
		Events []struct {
			At      int64  `json:"timestamp"`
			Message string `json:"message"`
		} `json:"events"`
		Next string `json:"nextToken"`
	}
	if err := c.calls.Call(ctx, "FilterLogEvents", "", f, &out); err != nil {
		return nil, "", err
	}
	for _, e := range out.Events {
		list = append(list, Event{time.UnixMilli(e.At).UTC(), e.Message})
	}
	return list, out.Next, nil
}
