// Package spec describes change-check: what wakes it and what it may do.
package spec

import (
	"slices"
	"time"

	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/spec"
	"rollcall/shared/store"
)

// Name is the function's name.
const Name = "change-check"

// Environment is what the function reads of its environment. The function itself uses
// nothing else of this package but constants (spec.Spec).
func Environment() []spec.Variable {
	return append(config.SpokeVariables(), config.Clusters, config.TableName, config.ResultQueueURL, config.ChangeQueueURL, config.ChangeNames, config.LogLevel)
}

// Spec is what infra deploys.
func Spec() spec.Spec {
	return spec.Spec{
		Name:          Name,
		About:         "Looks up in CloudTrail who changed what a new incident is about, between the last launch that joined and the first that did not.",
		FailureImpact: "Messages lack the line Changed: who changed what before the incident.",
		Rules: []spec.Rule{
			{Bus: spec.Bus, Name: "opened", Why: "An incident begins, or comes back", Pattern: event.OpenedPattern},
		},
		Queue: &spec.Queue{
			Resource: spec.ChangeQueue,
			// Incidents that begin together ask CloudTrail the same things: they are
			// looked up once for all of them. CloudTrail is minutes late anyway.
			Batch:       5,
			Window:      5 * time.Second,
			Concurrency: 2, // Lambda's least; CloudTrail takes two calls a second
			Attempts:    5,
			Retention:   24 * time.Hour,
		},
		// History may hold the launches of 90 days.
		Memory: 256, // it waits for CloudTrail's two calls a second: docs/lambda.md
		// Five incidents with 16 lookups each, 1.1 s apart, and then some.
		Timeout:     3 * time.Minute,
		Environment: Environment(),
		Assumes:     []spec.SpokeRole{spec.SpokeReader},
		Reads:       slices.Concat([]spec.Read{gather.ReadTrail()}, store.ReadHistory()),
		Grants: []spec.Grant{
			spec.SendResults(),
			spec.Send("LookAgain", "CloudTrail can list a call up to 15 minutes late: it is searched again.", spec.ChangeQueue),
		},
	}
}
