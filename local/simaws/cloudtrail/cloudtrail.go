// Package cloudtrail is the wire form of CloudTrail's LookupEvents (JSON 1.1,
// target CloudTrail_20131101), and the record that CloudTrail writes of an API
// call, as plain data: the service's own Go package is not among the
// dependencies.
package cloudtrail

import (
	"encoding/json"
	"fmt"
	"time"
)

// LookupEventsInput asks for events of the last 90 days. All fields may be left
// out.
type LookupEventsInput struct {
	EventCategory    *string
	LookupAttributes []LookupAttribute // one at most
	StartTime        *time.Time
	EndTime          *time.Time
	MaxResults       *int32 // 1 to 50
	NextToken        *string
}

// LookupAttribute is what events must have.
type LookupAttribute struct {
	AttributeKey   string
	AttributeValue string
}

// LookupEventsOutput is a page of events, the newest first.
type LookupEventsOutput struct {
	Events    []Event
	NextToken *string
}

// Event is an event with what can be looked up.
type Event struct {
	EventID     string
	EventName   string
	ReadOnly    string // "true" or "false"
	AccessKeyID string
	EventTime   time.Time
	EventSource string
	Username    string
	Resources   []Resource
	// CloudTrailEvent is the whole record, as JSON in a string.
	CloudTrailEvent string
}

// Resource is something that the call was about.
type Resource struct {
	ResourceType string `json:"ResourceType,omitempty"`
	ResourceName string `json:"ResourceName,omitempty"`
}

// MarshalJSON writes the answer as CloudTrail does: times are seconds since
// 1970, and what is not known is left out.
func (o LookupEventsOutput) MarshalJSON() ([]byte, error) {
	type event struct {
		EventID         string     `json:"EventId"`
		EventName       string     `json:"EventName"`
		ReadOnly        string     `json:"ReadOnly"`
		AccessKeyID     string     `json:"AccessKeyId,omitempty"`
		EventTime       float64    `json:"EventTime"`
		EventSource     string     `json:"EventSource"`
		Username        string     `json:"Username,omitempty"`
		Resources       []Resource `json:"Resources"`
		CloudTrailEvent string     `json:"CloudTrailEvent"`
	}
	out := struct {
		Events    []event `json:"Events"`
		NextToken *string `json:"NextToken,omitempty"`
	}{Events: make([]event, len(o.Events)), NextToken: o.NextToken}
	for i, e := range o.Events {
		out.Events[i] = event{
			EventID: e.EventID, EventName: e.EventName, ReadOnly: e.ReadOnly, AccessKeyID: e.AccessKeyID, EventTime: float64(e.EventTime.Unix()),
			EventSource: e.EventSource, Username: e.Username, Resources: e.Resources, CloudTrailEvent: e.CloudTrailEvent,
		}
		if e.Resources == nil {
			out.Events[i].Resources = []Resource{}
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("write events: %w", err)
	}
	return text, nil
}
