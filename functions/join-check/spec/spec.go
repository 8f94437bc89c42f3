// Package spec describes join-check: what wakes it and what it may do.
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
const Name = "join-check"

// Environment is what the function reads of its environment. The function itself uses
// nothing else of this package but constants (spec.Spec).
func Environment() []spec.Variable {
	return append(config.SpokeVariables(),
		config.Clusters, config.JoinTime, config.GiveUp, config.TableName,
		config.ResultQueueURL, config.JoinQueueURL, config.InstanceData, config.DecodeDenied, config.AutoModeLogs, config.ReaderRole, config.InVPC, config.Relays, config.Evidence, config.EvidenceBucket, config.KMSKey, config.LogLevel,
	)
}

// Spec is what infra deploys.
func Spec() spec.Spec {
	return spec.Spec{
		Name:          Name,
		About:         "The roll call: has each launched instance become a Ready node? Reports why not, and rechecks until it has, until it is gone, or until giveUp has passed.",
		FailureImpact: "Instances that did not join are not reported, unless the cause was visible at launch; open incidents are not closed.",
		Rules: []spec.Rule{
			{Name: "launches", Why: "Auto Scaling launches an instance, or fails to", Pattern: event.LaunchPattern},
			{Name: "running", Why: "Instances without an Auto Scaling group start", Pattern: event.RunningPattern},
			{Bus: spec.Bus, Direct: true, Name: "wanted", Why: "Somebody, or a remedy, requests a check of one cause now", Pattern: event.JoinCheckWanted},
		},
		Queue: &spec.Queue{
			Resource:  spec.JoinQueue,
			DelayFrom: config.JoinTime,
			// A burst is looked at together: one list of nodes for all of it.
			Batch:       500,
			Window:      20 * time.Second,
			Concurrency: 2,
			Attempts:    5,
			Retention:   24 * time.Hour,
		},
		Memory:      256,
		Timeout:     60 * time.Second,
		Environment: Environment(),
		Assumes:     []spec.SpokeRole{spec.SpokeReader},
		Reads: slices.Concat(
			gather.Reads(gather.JoinSources(checks.OfLaunches())...),
			store.Reads(),
			store.ReadHistory(),
		),
		Grants: []spec.Grant{
			gather.ReadInClusters(),
			store.RecordLaunches(),
			store.RecordJoinTimes(),
			store.RecordRefusedLaunches(),
			store.RecordSamples(),
			spec.SendResults(),
			spec.Send("LookAgain", "An instance that can still join is checked again.", spec.JoinQueue),
		},
		Chosen: spec.Choices(gather.DecodeDenied, gather.AutoModeLogs, evidence.Grants),
		Kube:   gather.KubeRules(gather.JoinSources(checks.OfLaunches())...),
	}
}
