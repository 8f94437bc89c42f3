// Package trail is the account's CloudTrail: it records API calls, tells the
// bus of those about nodegroups and for instances, and answers LookupEvents from what it records.
package trail

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rollcall/local/simaws/state"
)

const (
	// EventTime is how long a call takes to become an event; see TrailRules.
	EventTime = 30 * time.Second
	// LookupTime and lookupSpread are how long it takes to be found; see
	// TrailRules. CloudTrail's guide says "within 5 minutes on average".
	LookupTime   = 3 * time.Minute
	LookupSpread = 2 * time.Minute
	// trailKept is how far back CloudTrail's event history goes.
	trailKept = 90 * 24 * time.Hour
)

// Call is an API call as CloudTrail records it.
type Call struct {
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
	// Parameters and Response are in place of those of Input and Output, where the
	// call has none: of what a service did.
	Parameters, Response map[string]any
	// UserAgent and SourceIP are the caller's, where they are not the usual ones.
	UserAgent, SourceIP string
	// Federated is the OIDC provider's ARN of a session that was assumed with its
	// token.
	Federated string
	// Err is why the call failed, nil where it did not.
	Err error
}

// trailed are the calls that this world tells the bus of, and the source that the
// bus has for them.
func trailed() map[string]string {
	return map[string]string{
		"eks:CreateNodegroup": "aws.eks", "eks:UpdateNodegroupConfig": "aws.eks", "eks:UpdateNodegroupVersion": "aws.eks", "eks:DeleteNodegroup": "aws.eks",
		"ec2:CreateFleet": "aws.ec2", "ec2:RunInstances": "aws.ec2",
	}
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
// later, as CloudTrail does. Only calls about nodegroups and for instances come to
// the bus: no others have a rule that would hear them.
func Record(w *state.State, c Call) {
	if !isWrite(c.Operation) {
		return
	}
	defer w.Enter()()
	RecordHeld(w, c)
}

// RecordHeld is Record within what holds the state.
func RecordHeld(w *state.State, c Call) {
	r := trailRecord(w, c)
	remember(w, r, nil)
	source, told := trailed()[c.Operation]
	if w.File.Trail.None || !told {
		return
	}
	e := state.Envelope{
		ID: w.TrailIDs.UUID(), DetailType: "AWS API Call via CloudTrail", Source: source,
		Time: r.EventTime, Resources: []string{}, Detail: r,
	}
	w.After(w.File.Trail.Delay, func() { w.Put(e) })
}

// RecordServiceCall remembers what an AWS service did by itself through a role that
// is linked to it.
func RecordServiceCall(w *state.State, operation, role, principal string, parameters, response map[string]any) {
	_, session, _ := strings.Cut(role, "ServiceRoleFor")
	r := trailRecord(w, Call{
		Operation: operation, InvokedBy: principal,
		CallerARN: "arn:aws:sts::" + w.Account + ":assumed-role/" + role + "/" + cmp.Or(session, role),
	})
	r.RequestParameters, r.ResponseElements = parameters, response
	remember(w, r, nil)
}
