package kubestate

import (
	"time"
)

// PodWaits writes the status of a pod whose container is being created.
func PodWaits(p map[string]any, container string) {
	p["status"] = map[string]any{"phase": "Pending", "containerStatuses": []any{map[string]any{
		"name": container, "ready": false, "restartCount": 0, "state": map[string]any{"waiting": map[string]any{"reason": "ContainerCreating"}},
	}}}
}

// PodRuns writes the status of a pod that runs with an address.
func PodRuns(p map[string]any, ip string, now time.Time) {
	p["status"] = map[string]any{"phase": "Running", "podIP": ip, "containerStatuses": []any{map[string]any{
		"name": At(p, "metadata", "labels", "app"), "ready": true, "restartCount": 0, "state": map[string]any{"running": map[string]any{"startedAt": Time(now)}},
	}}}
}
