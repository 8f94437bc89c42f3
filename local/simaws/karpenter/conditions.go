package karpenter

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/local/simaws/kubestate"
)

const (
	yes     = "True"
	no      = "False"
	unknown = "Unknown"
)

// The kinds, and the conditions that make each Ready (KC pkg/apis/v1, KP pkg/apis/v1).
const (
	kindClaim = "NodeClaim"
	kindPool  = "NodePool"
	kindClass = "EC2NodeClass"
)

func dependents(kind string) []string {
	return map[string][]string{
		kindClaim: {"Initialized", "Launched", "Registered"},
		kindPool:  {"NodeClassReady", "ValidationSucceeded"},
		kindClass: {"AMIsReady", "InstanceProfileReady", "SecurityGroupsReady", "SubnetsReady", "ValidationSucceeded"},
	}[kind]
}

// condition is a condition as it stands.
type condition struct {
	status, reason, message string
	since                   time.Time
	generation              int64
}

// conditionOf is a condition of an object; one that is not there is Unknown.
func conditionOf(o map[string]any, name string) condition {
	list, _ := kubestate.At(o, "status", "conditions").([]any)
	for _, item := range list {
		if kubestate.At(item, "type") != name {
			continue
		}
		c := condition{status: text(item, "status"), reason: text(item, "reason"), message: text(item, "message")}
		c.generation, _ = kubestate.At(item, "observedGeneration").(int64)
		c.since, _ = time.Parse(time.RFC3339, text(item, "lastTransitionTime"))
		return c
	}
	return condition{status: unknown}
}

func text(o any, keys ...string) string {
	s, _ := kubestate.At(o, keys...).(string)
	return s
}

// heldSet writes a condition, with what it makes of Ready, and tells of a change of
// its status as Karpenter does (awslabs/operatorpkg status/controller.go). The time
// of its transition is that of its status.
func (c *Controller) heldSet(kind string, o map[string]any, name, status, reason, message string) {
	if status == yes {
		reason, message = name, ""
	}
	if !c.heldWrite(kind, o, name, status, reason, message) {
		return
	}
	if slices.Contains(dependents(kind), name) {
		c.heldRoll(kind, o)
	}
	c.k.Touch(o)
}

// heldInit gives a new object its conditions.
func (c *Controller) heldInit(kind string, o map[string]any) {
	for _, name := range append(dependents(kind), "Ready") {
		if conditionOf(o, name).reason == "" {
			c.heldWrite(kind, o, name, unknown, "AwaitingReconciliation", "object is awaiting reconciliation")
		}
	}
}

// heldRoll writes Ready: it is False where one of the others is, else Unknown where
// one is not True.
func (c *Controller) heldRoll(kind string, o map[string]any) {
	var not []string
	status, reason := yes, "Ready"
	for _, name := range dependents(kind) {
		switch s := conditionOf(o, name).status; {
		case s == yes:
			continue
		case s == no:
			status, reason = no, "UnhealthyDependents"
			not = append(not, name+"="+s)
		default:
			if status == yes {
				status, reason = unknown, "ReconcilingDependents"
			}
			not = append(not, name+"="+s)
		}
	}
	c.heldWrite(kind, o, "Ready", status, reason, strings.Join(not, ", "))
}

func (c *Controller) heldWrite(kind string, o map[string]any, name, status, reason, message string) bool {
	st, ok := o["status"].(map[string]any)
	if !ok {
		st = map[string]any{}
		o["status"] = st
	}
	now, generation := kubestate.Time(c.w.Now), kubestate.Generation(o)
	list, _ := st["conditions"].([]any)
	for _, item := range list {
		have, ok := item.(map[string]any)
		if !ok || have["type"] != name {
			continue
		}
		if have["status"] == status && have["reason"] == reason && have["message"] == message && have["observedGeneration"] == generation {
			return false
		}
		if have["status"] != status {
			have["lastTransitionTime"] = now
			c.heldTransition(kind, o, name, fmt.Sprint(have["status"]), status, reason, message)
		}
		have["status"], have["reason"], have["message"], have["observedGeneration"] = status, reason, message, generation
		return true
	}
	st["conditions"] = append(list, map[string]any{
		"type": name, "status": status, "reason": reason, "message": message, "lastTransitionTime": now, "observedGeneration": generation,
	})
	return true
}

func (c *Controller) heldTransition(kind string, o map[string]any, name, from, to, reason, message string) {
	said := fmt.Sprintf("Status condition transitioned, Type: %s, Status: %s -> %s, Reason: %s", name, from, to, reason)
	if message != "" {
		said += ", Message: " + message
	}
	c.heldSay(kind, o, name, "Normal", said)
}

// heldSay tells an event of the controller.
func (c *Controller) heldSay(kind string, o map[string]any, reason, level, message string) {
	c.k.Say(o, kind, "karpenter", reason, level, message, c.w.Now)
}
