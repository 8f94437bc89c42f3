package world

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

const (
	// trailTime is how long a call takes to become an event; see TrailRules.
	trailTime = 30 * time.Second
	// lookupTime and lookupSpread are how long it takes to be found; see
	// TrailRules. CloudTrail's guide says "within 5 minutes on average".
	lookupTime   = 3 * time.Minute
	lookupSpread = 2 * time.Minute
	// trailKept is how far back CloudTrail's event history goes.
	trailKept = 90 * 24 * time.Hour
	// trailSeed sets the ids of recorded calls apart from all others.
	trailSeed = 0x747261696c
)

// APICall is an API call as CloudTrail records it.
type APICall struct {
	// Operation is the call, such as "eks:CreateNodegroup".
	Operation string
	// CallerARN is who made it; empty is a person of the account. A service's
	// principal, such as autoscaling.amazonaws.com, is that service.
	CallerARN   string
	AccessKeyID string
	// InvokedBy is the service that called in the caller's name, if one did.
	InvokedBy string
	RequestID string
	// Input and Output are the SDK's structs; nil where the call was refused
	// before it was read, or failed.
	Input, Output any
	// Err is why the call failed, nil where it did not.
	Err error
}

// trailed are the calls that this world tells the bus of.
func trailed() []string {
	return []string{"eks:CreateNodegroup", "eks:UpdateNodegroupConfig", "eks:UpdateNodegroupVersion", "eks:DeleteNodegroup"}
}

// isWrite tells whether a call changes something.
func isWrite(operation string) bool {
	service, name, _ := strings.Cut(operation, ":")
	if !slices.Contains([]string{"ec2", "autoscaling", "eks", "iam"}, service) {
		return false // queues, tables and events are no management of the account
	}
	for _, verb := range []string{"Describe", "Get", "List", "Search", "Lookup"} {
		if strings.HasPrefix(name, verb) {
			return false
		}
	}
	return true
}

// Record keeps a call that changes something, and puts it on the bus some time
// later, as CloudTrail does. Only calls about nodegroups come to the bus: no
// others have a rule that would hear them.
func (w *World) Record(c APICall) {
	if !isWrite(c.Operation) {
		return
	}
	defer w.enter()()
	r := w.trailRecord(c)
	w.remember(r, nil)
	if w.file.Trail.None || !slices.Contains(trailed(), c.Operation) {
		return
	}
	e := envelope{
		ID: w.trailIDs.UUID(), DetailType: "AWS API Call via CloudTrail", Source: "aws.eks",
		Time: r.EventTime, Resources: []string{}, Detail: r,
	}
	w.after(w.file.Trail.Delay, func() { w.put(e) })
}

// serviceCall remembers what an AWS service did by itself through a role that
// is linked to it.
func (w *World) serviceCall(operation, role, principal string, parameters, response map[string]any) {
	_, session, _ := strings.Cut(role, "ServiceRoleFor")
	r := w.trailRecord(APICall{
		Operation: operation, InvokedBy: principal,
		CallerARN: "arn:aws:sts::" + w.account + ":assumed-role/" + role + "/" + cmp.Or(session, role),
	})
	r.RequestParameters, r.ResponseElements = parameters, response
	w.remember(r, nil)
}
