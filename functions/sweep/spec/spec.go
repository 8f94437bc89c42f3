// Package spec describes sweep: what wakes it and what it may do.
package spec

import (
	"slices"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/config"
	"rollcall/shared/evidence"
	"rollcall/shared/gather"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/shared/store"
)

// Name is the function's name.
const Name = "sweep"

// Every is a tick: how often each cluster has its turn. Whoever is on call must know
// within minutes that a pod cannot start or a launch's event was lost; EKS, EC2 and
// Kubernetes send no event for most of what is looked for.
const Every = 5 * time.Minute

// Concurrency is how many clusters are looked at at once where the settings say no other.
// Each invocation takes its share of the accounts' request buckets (awsconf.Limits). A new
// account may have ten invocations at once in all (Lambda, "Quotas": "New AWS accounts have reduced
// concurrency"), and launches and what is said of them come first.
const Concurrency = 4

// Environment is what the function reads of its environment. The function itself uses
// nothing else of this package but constants (spec.Spec).
func Environment() []spec.Variable {
	return append(config.SpokeVariables(),
		config.Clusters, config.JoinTime, config.GiveUp, config.TableName, config.BusName,
		config.ResultQueueURL, config.JoinQueueURL, config.NodegroupQueueURL, config.SweepQueueURL,
		config.InstanceData, config.DecodeDenied, config.AutoModeLogs, config.ReaderRole, config.InVPC, config.Relays, config.Evidence, config.EvidenceBucket, config.KMSKey, config.LogLevel,
		config.Cleanup, config.CleanupGrace, config.CleanupUntagged, config.SubnetMetrics, config.RunwayHorizon, config.SweepConcurrency,
	)
}

// sources are what the detectors read that have their turn with the cluster.
func sources() []snapshot.Source {
	joins := gather.JoinSources(slices.Concat(checks.OfLaunches(), checks.OfHealth()))
	list := slices.Concat(joins, gather.AddressSources(checks.OfAddresses()), gather.ZoneSources(checks.OfZones()))
	slices.Sort(list)
	return slices.Compact(list)
}

// Spec is what infra deploys.
func Spec() spec.Spec {
	return spec.Spec{
		Name:          Name,
		About:         "Checks every cluster every five minutes: its launches, nodegroups, subnets and zones. Reads once what these checks have in common.",
		FailureImpact: "Faults for which AWS sends no event are not found: launches that never joined, degraded nodegroups, full subnets, volumes that no node can reach. Open incidents are not closed.",
		Schedules: []spec.Schedule{
			{Name: "tick", Why: "AWS's events are best effort, and most faults cause none: they are found only by checking", Every: Every},
		},
		Queue: &spec.Queue{
			Resource: spec.SweepQueue,
			// A cluster's turn has an invocation and a deadline of its own.
			Batch:       1,
			Concurrency: Concurrency, ConcurrencyFrom: config.SweepConcurrency,
			// One that failed comes back after its successor and is dropped. What cannot be
			// read is put aside, for a person to see; the next tick has sent another.
			Attempts:    2,
			Retention:   time.Hour,
			NotRedriven: true,
		},
		// They look one after the other; subnet-watch takes 34 MB to count 100,000
		// interfaces (docs/leaks.md), and what they share is bounded.
		Memory: 256,
		// A minute for each of the four; a tick ends before the next begins.
		Timeout:     4 * time.Minute,
		Environment: Environment(),
		Assumes:     []spec.SpokeRole{spec.SpokeReader},
		Reads: slices.Concat(
			gather.Reads(sources()...),
			[]spec.Read{gather.ListClusters(), gather.ListNodegroups()},
			store.Reads(),
			store.ReadHistory(),
		),
		Grants: []spec.Grant{
			gather.ReadInClusters(),
			store.RecordLaunches(),
			store.RecordJoinTimes(),
			store.RecordRefusedLaunches(),
			store.RecordSamples(),
			store.RecordNodegroups(),
			store.RecordTurns(),
			spec.Send("SendTurns", "Every five minutes there is one message for each cluster, spread over that time.", spec.SweepQueue),
			spec.SendResults(),
			spec.Send("LookAgain", "An instance that can still join, and a nodegroup whose status is about to change, are checked again.", spec.JoinQueue, spec.NodegroupQueue),
			spec.Publish("Every change of a nodegroup is an event that anyone's rule can act on."),
		},
		Chosen: spec.Choices(gather.AskAlias, gather.DecodeDenied, gather.AutoModeLogs, evidence.Grants),
		Kube:   gather.KubeRules(sources()...),
	}
}
