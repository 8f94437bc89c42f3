package kube

import (
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
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"involvedObject"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// One of these is when it was last seen: events of the newer API have
	// EventTime and Series, and a series that repeats is newer than its event.
	LastTimestamp time.Time `json:"lastTimestamp"`
	EventTime     time.Time `json:"eventTime"`
	Series        *struct {
		LastObservedTime time.Time `json:"lastObservedTime"`
	} `json:"series"`
}

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
