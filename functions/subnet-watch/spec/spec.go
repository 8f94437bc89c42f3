// Package spec describes subnet-watch: what wakes it and what it may do.
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
const Name = "subnet-watch"

// Environment is what the function reads of its environment. The function itself uses
// nothing else of this package but constants (spec.Spec).
func Environment() []spec.Variable {
	return append(config.SpokeVariables(),
		config.Clusters, config.TableName, config.ResultQueueURL, config.ReaderRole, config.InVPC, config.Relays, config.Evidence, config.EvidenceBucket, config.KMSKey, config.LogLevel,
		// What it says of eni-cleanup, and of the time that is left.
		config.Cleanup, config.CleanupGrace, config.CleanupUntagged, config.SubnetMetrics, config.RunwayHorizon,
	)
}

// Spec is what infra deploys.
func Spec() spec.Spec {
	sources := gather.AddressSources(checks.OfAddresses())
	return spec.Spec{
		Name:          Name,
		About:         "Watches the addresses of the subnets in which nodes are launched: what is left, what holds them, when they run out, and whether the groups' maximums still fit.",
		FailureImpact: "Subnets that run out of addresses, and leaked network interfaces, are not reported before launches fail because of them; the subnets' metrics stop.",
		Rules: []spec.Rule{
			{Bus: spec.Bus, Direct: true, Name: "wanted", Why: "Somebody, or a remedy, requests a check of one cause now", Pattern: event.AddressCheckWanted},
		},
		// An interface is counted and forgotten: 100,000 of them take no more than
		// one page. What is idle is kept, with a week of samples.
		Memory:      512,
		Timeout:     2 * time.Minute,
		Environment: Environment(),
		Assumes:     []spec.SpokeRole{spec.SpokeReader},
		Reads: slices.Concat(
			gather.Reads(sources...),
			[]spec.Read{gather.ListNodegroups()},
			store.ReadSamples(), // and the incidents, by the same right
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
