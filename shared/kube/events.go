package kube

import (
	"cmp"
	"context"
	"net/url"
	"time"
)

// Event is what is read of a v1 Event.
type Event struct {
	Metadata struct {
		CreationTimestamp time.Time `json:"creationTimestamp"`
	} `json:"metadata"`
	InvolvedObject struct {
		Kind      string `json:"kind"`
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"involvedObject"`
	Reason string `json:"reason"`
	Source struct {
		Component string `json:"component"`
	} `json:"source"`
	ReportingComponent string `json:"reportingComponent"`
	Message            string `json:"message"`
	// FirstTimestamp is when it was first seen; not set by the newer API.
	FirstTimestamp time.Time `json:"firstTimestamp"`
	// One of these is when it was last seen: events of the newer API have
	// EventTime and Series, and a series that repeats is newer than its event.
	LastTimestamp time.Time `json:"lastTimestamp"`
	EventTime     time.Time `json:"eventTime"`
	Series        *struct {
		LastObservedTime time.Time `json:"lastObservedTime"`
	} `json:"series"`
}

// Reporter is the component that reports it: of the older API, or of the newer.
func (e Event) Reporter() string { return cmp.Or(e.Source.Component, e.ReportingComponent) }

// maxEvents bounds the events that are read. EKS keeps them for an hour; a
// node that joins makes about ten.
const maxEvents = 10_000

// NodeEvents lists the events about nodes, which are in the namespace default.
func (c *Client) NodeEvents(ctx context.Context) ([]Event, error) {
	return list[Event](ctx, c, "events in default", "/api/v1/namespaces/default/events", url.Values{"fieldSelector": {"involvedObject.kind=Node"}}, maxEvents)
}

// PodWarnings lists the warnings about pods of all namespaces (kubernetes
// pkg/registry/core/event/strategy.go, ToSelectableFields: type is one of the fields).
func (c *Client) PodWarnings(ctx context.Context) ([]Event, error) {
	return list[Event](ctx, c, "events of pods", "/api/v1/events", url.Values{"fieldSelector": {"involvedObject.kind=Pod,type=Warning"}}, maxEvents)
}

// PoolEvents lists the events about NodeClaims and NodePools. They belong to no
// namespace, so their events are in the namespace default (k8s.io/client-go
// tools/record, makeEvent).
func (c *Client) PoolEvents(ctx context.Context) ([]Event, error) {
	var all []Event
	for _, kind := range []string{"NodeClaim", "NodePool"} {
		more, err := list[Event](ctx, c, "events in default", "/api/v1/namespaces/default/events", url.Values{"fieldSelector": {"involvedObject.kind=" + kind}}, maxEvents)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// SchedulingEvents lists the events about pods that could not be scheduled, of the
// scheduler and of Karpenter.
func (c *Client) SchedulingEvents(ctx context.Context) ([]Event, error) {
	return list[Event](ctx, c, "events", "/api/v1/events", url.Values{"fieldSelector": {"involvedObject.kind=Pod,reason=FailedScheduling"}}, maxEvents)
}
