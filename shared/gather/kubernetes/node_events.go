package kubernetes

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"rollcall/shared/spec"

	"rollcall/shared/gather/source"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// nodeEvents are the Kubernetes events about nodes.
func nodeEvents() source.Source {
	return source.Source{
		Name: snapshot.NodeEventsOf,
		Kube: []spec.KubeRule{
			{Namespace: "default", Resources: []string{"events"}, Verbs: []string{"list"}},
		},
		Read: withClient(func(ctx context.Context, v *source.View, client *kube.Client) (source.Store, error) {
			list, err := client.NodeEvents(ctx)
			return keepEvents(source.Each(list, nodeEvent), err)
		}),
	}
}

func nodeEvent(e kube.Event) snapshot.NodeEvent {
	out := snapshot.NodeEvent{Node: e.InvolvedObject.Name, Reason: e.Reason, Message: e.Message}
	times := []time.Time{e.LastTimestamp, e.EventTime}
	if e.Series != nil {
		times = append(times, e.Series.LastObservedTime)
	}
	for _, t := range times {
		if t.After(out.Last) {
			out.Last = t
		}
	}
	if out.Last.IsZero() {
		out.Last = e.Metadata.CreationTimestamp
	}
	return out
}

// keepEvents stores the events by node, in the order in which they happened.
func keepEvents(list []snapshot.NodeEvent, err error) (source.Store, error) {
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b snapshot.NodeEvent) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), a.Last.Compare(b.Last), strings.Compare(a.Reason, b.Reason))
	})
	return func(s *snapshot.Snapshot) { s.NodeEvents = list }, nil
}
