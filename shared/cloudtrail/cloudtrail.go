// Package cloudtrail makes the one call of AWS CloudTrail that Rollcall needs.
package cloudtrail

import (
	"context"
	"encoding/json"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/awsjson"
)

// service is CloudTrail (API version 2013-11-01). 50 records of at most 256 KB, its
// limit of an event, would be 12 MB.
func service() awsjson.Service {
	return awsjson.Service{ID: "CloudTrail", Name: "cloudtrail", Target: "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.", MostBytes: 16 << 20}
}

// Client calls CloudTrail.
type Client struct{ calls *awsjson.Client }

// New makes a client of what all AWS clients are made of.
func New(cfg aws.Config) *Client { return &Client{calls: awsjson.New(cfg, service())} }

// Attribute is one attribute that events are looked up by.
type Attribute struct {
	Key   string `json:"AttributeKey"` // ResourceName, EventName
	Value string `json:"AttributeValue"`
}

// Input asks for the events of a time. CloudTrail takes one attribute a call.
type Input struct {
	Attribute Attribute
	// Start and End are inclusive, of whole seconds.
	Start, End time.Time
	// Most is how many events a page has, 1 to 50.
	Most int
	// Next is the page's token, of the page before.
	Next string
	// Region, if set, is another one than the client's.
	Region string
}

// Output is one page, the newest event first.
type Output struct {
	Events []Event `json:"Events"`
	Next   string  `json:"NextToken"`
}

// Event is one recorded call.
type Event struct {
	ID        string     `json:"EventId"`
	Name      string     `json:"EventName"`
	ReadOnly  string     `json:"ReadOnly"` // "true" or "false"
	Source    string     `json:"EventSource"`
	Resources []Resource `json:"Resources"`
	// Record is the whole record, JSON as text.
	Record string `json:"CloudTrailEvent"`
}

// Resource is one that CloudTrail names beside an event.
type Resource struct {
	Type string `json:"ResourceType"`
	Name string `json:"ResourceName"`
}

// LookupEvents gives one page of the account's management events of the last 90
// days. CloudTrail takes two calls a second for an account and region. It fails
// with *smithy.OperationError.
func (c *Client) LookupEvents(ctx context.Context, in *Input) (*Output, error) {
	var page Output
	if err := c.calls.Call(ctx, "LookupEvents", in.Region, in, &page); err != nil {
		return nil, err
	}
	return &page, nil
}

// MarshalJSON writes the request as it goes over the wire.
func (in *Input) MarshalJSON() ([]byte, error) {
	wire := struct {
		Attributes []Attribute `json:"LookupAttributes,omitempty"`
		Start      int64       `json:"StartTime,omitempty"`
		End        int64       `json:"EndTime,omitempty"`
		Most       int         `json:"MaxResults,omitempty"`
		Next       string      `json:"NextToken,omitempty"`
	}{Most: in.Most, Next: in.Next}
	if in.Attribute != (Attribute{}) {
		wire.Attributes = []Attribute{in.Attribute}
	}
	if !in.Start.IsZero() {
		wire.Start = in.Start.Unix()
	}
	if !in.End.IsZero() {
		wire.End = in.End.Unix()
	}
	return json.Marshal(wire)
}
