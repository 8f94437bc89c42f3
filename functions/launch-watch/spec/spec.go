// Package spec describes launch-watch: what wakes it and what it may do.
package spec

import (
	"slices"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/evidence"
	"rollcall/shared/gather"
	"rollcall/shared/spec"
	"rollcall/shared/store"
)

// Name is the function's name.
const Name = "launch-watch"

// Environment is what the function reads of its environment. The function itself uses
// nothing else of this package but constants (spec.Spec).
func Environment() []spec.Variable {
	return append(config.SpokeVariables(),
		config.Clusters, config.JoinTime, config.GiveUp, config.TableName,
		config.ResultQueueURL, config.JoinQueueURL, config.InstanceData, config.DecodeDenied, config.Evidence, config.EvidenceBucket, config.KMSKey, config.LogLevel,
	)
}

// Spec is what infra deploys.
func Spec() spec.Spec {
	return spec.Spec{
		Name:          Name,
		About:         "Checks every launch at once: can an instance in this subnet become a node?",
		FailureImpact: "Causes that are visible at launch are posted minutes later, by join-check, instead of at once.",
		Rules: []spec.Rule{
			{Name: "launches", Why: "Auto Scaling launches an instance, or fails to", Pattern: event.LaunchPattern},
			{Name: "fleets-refused", Why: "EC2 refuses to launch for Karpenter, EKS Auto Mode or anybody without an Auto Scaling group", Pattern: event.FleetRefusedPattern},
			{Name: "fleets-empty", Why: "EC2 accepts such a call and starts no instance: the errors are in its response", Pattern: event.FleetEmptyPattern},
			{Name: "runs-refused", Why: "EC2 refuses to start an instance that neither a fleet nor an Auto Scaling group requested", Pattern: event.RunRefusedPattern},
			{Name: "running", Why: "Instances without an Auto Scaling group start", Pattern: event.RunningPattern},
			{Name: "ended", Why: "An instance that should become a node ends", Pattern: event.EndedPattern},
			{Name: "notices", Why: "EC2 reclaims a Spot instance, or is likely to: distinguishes a reclaimed instance from a broken one", Pattern: event.NoticePattern},
			{Name: "maintenance", Why: "EC2 plans to stop or retire an instance: distinguishes such an end from a broken node", Pattern: event.MaintenancePattern},
		},
		Queue: &spec.Queue{
			Resource: spec.LaunchQueue,
			// Ten and no window: Lambda hands over the first message at once
			// (a window can hold it for 20 seconds), and a burst still comes
			// in batches, of which the first looks at the whole group.
			Batch: 10,
			// Two at once keep a burst of a thousand launches from eating the
			// account's Lambda concurrency and EC2's request buckets.
			Concurrency: 2,
			Attempts:    5,
			Retention:   24 * time.Hour,
		},
		Memory:      256,
		Timeout:     60 * time.Second,
		Environment: Environment(),
		Assumes:     []spec.SpokeRole{spec.SpokeReader},
		Reads: slices.Concat(gather.Reads(gather.LaunchSources(checks.AtLaunch())...), store.ReadLaunches(), store.ReadJoinTimes(), store.ReadRefusedLaunches(),
			[]spec.Read{gather.ReadTemplates()}),
		Grants: []spec.Grant{
			store.RecordLaunches(),
			store.RecordSamples(),
			store.RecordRefusedLaunches(),
			spec.SendResults(),
			spec.Send("AskForRollCall", "Each launch is first checked after a minute: its outcome is known early, and a node that joins and is soon reclaimed is not mistaken for one that never joined.", spec.JoinQueue),
		},
		Chosen: spec.Choices(gather.DecodeDenied, evidence.Grants),
	}
}
