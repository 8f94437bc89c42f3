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
		config.ResultQueueURL, config.ReaderRole, config.InVPC, config.Relays, config.Evidence, config.EvidenceBucket, config.KMSKey, config.LogLevel,
	)
}

// Spec is what infra deploys.
func Spec() spec.Spec {
	sources := gather.PoolSources(checks.OfPools())
	return spec.Spec{
		Name: Name,
		About: "Evaluates the history of Spot launches: every hour each pool; once a day it posts in Slack what fails where, why, and what to change; " +
			"once a week, how all clusters did.",
		FailureImpact: "Failing Spot pools are not reported, and there is neither a daily Spot report nor a weekly message. Launches are watched all the same.",
		Rules: []spec.Rule{
			{Name: "asked", Why: "Somebody requests a Spot report now", Pattern: event.AskedPattern},
		},
		Schedules: []spec.Schedule{
			{Name: "hourly", Why: "Every hour the pools are evaluated and the subnets' free addresses recorded; one of these runs posts the daily report, another the weekly message", Every: time.Hour},
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
