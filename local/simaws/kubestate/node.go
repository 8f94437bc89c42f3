package kubestate

import (
	"slices"
	"time"
)

// notReady is the taint of a node that is not Ready.
const notReady = "node.kubernetes.io/not-ready"

// SetReady writes the Ready condition and the taint that goes with it.
func SetReady(node map[string]any, ready bool, reason, message string, now time.Time) {
	status := "False"
	if ready {
		status = "True"
		Untaint(node, notReady)
	} else {
		Taint(node, notReady, "NoSchedule")
	}
	SetCondition(node, "Ready", status, reason, message, now)
}

// SetCondition writes a condition of a node or a pod. Its transition is now
// where its status differs.
func SetCondition(node map[string]any, kind, status, reason, message string, now time.Time) {
	st, ok := node["status"].(map[string]any)
	if !ok {
		return
	}
	list, _ := st["conditions"].([]any)
	for _, item := range list {
		c, ok := item.(map[string]any)
		if !ok || c["type"] != kind {
			continue
		}
		if c["status"] != status {
			c["lastTransitionTime"] = Time(now)
		}
		c["status"], c["reason"], c["message"], c["lastHeartbeatTime"] = status, reason, message, Time(now)
		return
	}
	st["conditions"] = append(list, map[string]any{
		"lastHeartbeatTime": Time(now), "lastTransitionTime": Time(now),
		"message": message, "reason": reason, "status": status, "type": kind,
	})
}

// Taint adds a taint to a node that does not have it.
func Taint(node map[string]any, key, effect string) {
	spec, ok := node["spec"].(map[string]any)
	if !ok {
		return
	}
	list, _ := spec["taints"].([]any)
	if !slices.ContainsFunc(list, func(t any) bool { return At(t, "key") == key }) {
		spec["taints"] = append(slices.Clone(list), map[string]any{"effect": effect, "key": key})
	}
}

// Time is a time as Kubernetes writes it.
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Untaint takes a taint away.
func Untaint(node map[string]any, key string) {
	spec, ok := node["spec"].(map[string]any)
	if !ok {
		return
	}
	list, _ := spec["taints"].([]any)
	list = slices.DeleteFunc(slices.Clone(list), func(t any) bool { return At(t, "key") == key })
	if len(list) == 0 {
		delete(spec, "taints")
		return
	}
	spec["taints"] = list
}
