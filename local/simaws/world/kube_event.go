package world

import (
	"fmt"
	"time"
)

// eventsKept is how long the API server keeps events (--event-ttl).
const eventsKept = time.Hour

// tell adds an event about a node, as the kubelet and the node controller do,
// and forgets what is too old. Such events outlive the node.
func (k *cluster) tell(node map[string]any, component, reason, message string, now time.Time) {
	k.say(node, "Node", component, reason, "Normal", message, now)
}

// say adds an event about an object.
func (k *cluster) say(object map[string]any, kind, component, reason, level, message string, now time.Time) {
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
	at := kubeTime(now)
	k.version++
	k.objects["events"] = append(k.objects["events"], map[string]any{
		"apiVersion": "v1", "kind": "Event",
		"metadata": map[string]any{
			"name": fmt.Sprintf("%s.%016x", name, k.version), "namespace": namespace,
			"creationTimestamp": at, "resourceVersion": fmt.Sprint(k.version), "uid": fmt.Sprintf("00000000-0000-4000-8000-%012x", k.version),
		},
		"involvedObject": about,
		"reason":         reason, "message": message, "type": level,
		"source":         map[string]any{"component": component},
		"firstTimestamp": at, "lastTimestamp": at, "count": 1,
	})
	k.events = append(k.events, now)
	// The world's own events, if any, come first and stay.
	own := len(k.objects["events"]) - len(k.events)
	old := 0
	for old < len(k.events) && now.Sub(k.events[old]) > eventsKept {
		old++
	}
	if old > 0 {
		list := k.objects["events"]
		k.objects["events"] = append(list[:own:own], list[own+old:]...)
		k.events = k.events[old:]
	}
}
