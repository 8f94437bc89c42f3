// Package spec describes spot-report: what wakes it and what it may do.
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
const Name = "spot-report"

// Environment is what the function reads of its environment. The function itself uses
// nothing else of this package but constants (spec.Spec).
func Environment() []spec.Variable {
	return append(config.SpokeVariables(),
		config.Clusters, config.ReportHour, config.WeeklyAt, config.TableName,
		config.ResultQueueURL, config.ReaderRole, config.InVPC, config.Relays, config.Evidence, config.EvidenceBucket, config.LogLevel,
	)
}

// Spec is what infra deploys.
func Spec() spec.Spec {
	sources := gather.PoolSources(checks.OfPools())
	return spec.Spec{
		Name: Name,
		About: "Weighs the history of Spot launches: judges the pools every hour, and once a day says in Slack what fails where, why, and what to change; " +
			"once a week says what came of all clusters.",
		FailureImpact: "Spot pools that fail are not named, and there is neither a daily Spot report nor a weekly message. Launches are watched all the same.",
		Rules: []spec.Rule{
			{Name: "asked", Why: "Somebody wants a Spot report now", Pattern: event.AskedPattern},
		},
		Schedules: []spec.Schedule{
			{Name: "hourly", Why: "Pools are judged every hour, and the subnets' addresses noted; one of these runs makes the daily report, one the weekly message", Every: time.Hour},
		},
		// Drawing takes a processor: at 1,769 MiB Lambda gives a whole one.
		Memory:      1024,
		Timeout:     5 * time.Minute,
		Environment: Environment(),
		Assumes:     []spec.SpokeRole{spec.SpokeReader},
		Reads: slices.Concat(
			gather.Reads(sources...),
			[]spec.Read{gather.ListClusters(), gather.ListNodegroups()},
			store.ReadHistory(),
		),
		Grants: []spec.Grant{
			gather.ReadInClusters(),
			store.RecordSamples(),
			spec.SendResults(),
		},
		Chosen: evidence.Grants,
		Kube:   gather.KubeRules(sources...),
	}
}
