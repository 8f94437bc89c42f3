package kubestate

import (
	"fmt"
	"time"
)

// eventsKept is how long the API server keeps events (--event-ttl).
const eventsKept = time.Hour

// Tell adds an event about a node, as the kubelet and the node controller do,
// and forgets what is too old. Such events outlive the node.
func (k *Cluster) Tell(node map[string]any, component, reason, message string, now time.Time) {
	k.Say(node, "Node", component, reason, "Normal", message, now)
}

// Say adds an event about an object.
func (k *Cluster) Say(object map[string]any, kind, component, reason, level, message string, now time.Time) {
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		return
	}
	name := fmt.Sprint(meta["name"])
	// Events about what has no namespace are kept in default.
	namespace, about := "default", map[string]any{"kind": kind, "name": name, "uid": name}
	if n, ok := meta["namespace"].(string); ok {
		namespace, about = n, map[string]any{"kind": kind, "name": name, "namespace": n, "uid": meta["uid"]}
	}
	at := Time(now)
	k.Version++
	k.Objects["events"] = append(k.Objects["events"], map[string]any{
		"apiVersion": "v1", "kind": "Event",
		"metadata": map[string]any{
			"name": fmt.Sprintf("%s.%016x", name, k.Version), "namespace": namespace,
			"creationTimestamp": at, "resourceVersion": fmt.Sprint(k.Version), "uid": fmt.Sprintf("00000000-0000-4000-8000-%012x", k.Version),
		},
		"involvedObject": about,
		"reason":         reason, "message": message, "type": level,
		"source":         map[string]any{"component": component},
		"firstTimestamp": at, "lastTimestamp": at, "count": 1,
	})
	k.events = append(k.events, now)
	// The world's own events, if any, come first and stay.
	own := len(k.Objects["events"]) - len(k.events)
	old := 0
	for old < len(k.events) && now.Sub(k.events[old]) > eventsKept {
		old++
	}
	if old > 0 {
		list := k.Objects["events"]
		k.Objects["events"] = append(list[:own:own], list[own+old:]...)
		k.events = k.events[old:]
	}
}
