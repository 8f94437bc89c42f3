// Package spec describes nodegroup-watch: what wakes it and what it may do.
package spec

import (
	"slices"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/evidence"
	"rollcall/shared/gather"
	"rollcall/shared/spec"
	"rollcall/shared/store"
)

// Name is the function's name.
const Name = "nodegroup-watch"

// Environment is what the function reads of its environment. The function itself uses
// nothing else of this package but constants (spec.Spec).
func Environment() []spec.Variable {
	return append(config.SpokeVariables(),
		config.Clusters, config.JoinTime, config.TableName, config.BusName,
		config.ResultQueueURL, config.NodegroupQueueURL, config.InstanceData, config.ReaderRole, config.InVPC, config.Relays, config.Evidence, config.EvidenceBucket, config.KMSKey, config.LogLevel,
	)
}

// Sources are what it reads where a nodegroup is unwell: what explains its
// launches, and what EKS says of nodegroups, the cluster and its add-ons.
func sources() []spec.Read { return gather.Reads(gather.JoinSources(judged())...) }

// judged are the checks that it runs.
func judged() []check.Check { return slices.Concat(checks.OfLaunches(), checks.OfHealth()) }

// Spec is what infra deploys.
func Spec() spec.Spec {
	return spec.Spec{
		Name:          Name,
		About:         "Publishes the event that EKS does not send: a nodegroup's status, health or update has changed. Explains EKS's codes and finds their cause.",
		FailureImpact: "Degraded nodegroups, failed updates and degraded add-ons are not reported; their incidents are not closed.",
		Rules: []spec.Rule{
			{Name: "calls", Why: "Somebody creates, changes or deletes a nodegroup (needs a trail that logs management events)", Pattern: event.EKSCallPattern},
			{Name: "addons", Why: "EKS reports that an add-on is degraded, failed or healthy again", Pattern: event.AddonPattern},
			{Name: "stacks", Why: "CloudFormation creates, changes or deletes a nodegroup", Pattern: event.NodegroupResourcePattern},
			{Bus: spec.Bus, Direct: true, Name: "wanted", Why: "Somebody, or a remedy, requests a check of one cause now", Pattern: event.NodegroupCheckWanted},
		},
		Queue: &spec.Queue{
			Resource: spec.NodegroupQueue,
			// Calls are rare; ten and no window hand over the first at once.
			Batch:       10,
			Concurrency: 2,
			Attempts:    5,
			Retention:   24 * time.Hour,
		},
		Memory:      256,
		Timeout:     60 * time.Second,
		Environment: Environment(),
		Assumes:     []spec.SpokeRole{spec.SpokeReader},
		Reads: slices.Concat(
			sources(),
			[]spec.Read{gather.ListNodegroups()}, // of all that a look at the whole cluster is at
			store.ReadNodegroups(),
		),
		Grants: []spec.Grant{
			gather.ReadInClusters(),
			store.RecordNodegroups(),
			spec.SendResults(),
			spec.Send("LookAgain", "A nodegroup whose status is about to change is checked again.", spec.NodegroupQueue),
			spec.Publish("Every change of a nodegroup is an event that anyone's rule can act on."),
		},
		Chosen: evidence.Grants,
		Kube:   gather.KubeRules(gather.JoinSources(judged())...),
	}
}
