// Package spec describes remediate: what wakes it and what it may do.
package spec

import (
	"maps"
	"slices"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/remedies"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// Name is the function's name.
const Name = "remediate"

// Environment is what the function reads of its environment. The function itself uses
// nothing else of this package but constants (spec.Spec).
func Environment() []spec.Variable {
	return slices.Concat(chosen(), config.SpokeVariables(), []spec.Variable{
		config.Clusters, config.RemedyLimit, config.ApprovalTime, config.JoinTime, config.CleanupGrace,
		config.TableName, config.BusName, config.ResultQueueURL, config.RemedyQueueURL, config.InstanceData, config.ReaderRole, config.InVPC, config.Relays, config.LogLevel})
}

// chosen are the settings on which depends what the function may change.
func chosen() []spec.Variable {
	return []spec.Variable{config.Remedies, config.RemedyVPCs, config.RemedyRoles}
}

// sources are what any plan may rest on: a remedy's own, and those of the
// checks whose causes have one, or whose instances may be replaced.
func sources() []snapshot.Source {
	var list []check.Check
	for _, c := range checks.All() {
		if c.Remedy != "" {
			list = append(list, c)
		}
	}
	all := gather.JoinSources(slices.Concat(checks.OfLaunches(), list))
	for _, r := range remedies.All() {
		all = slices.Concat(all, r.Sources(""))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Spec is what infra deploys.
func Spec() spec.Spec {
	return spec.Spec{
		Name:          Name,
		About:         "Plans remedies for incidents, where an operator enables it; applies what a person or a policy approved, once, after a recheck; and reports the result.",
		FailureImpact: "No remedy is offered or applied; approved ones wait.",
		Rules: []spec.Rule{
			{Bus: spec.Bus, Name: "incidents", Why: "An incident is opened, changed or comes back, or a remedy for it was approved", Pattern: event.RemedyPattern},
		},
		Queue: &spec.Queue{
			Resource: spec.RemedyQueue,
			// Each message is a look of some seconds and at most one run.
			Batch:       1,
			Concurrency: 2,
			Attempts:    5,
			Retention:   24 * time.Hour,
		},
		Memory:      256,
		Timeout:     90 * time.Second,
		Environment: Environment(),
		Assumes:     []spec.SpokeRole{spec.SpokeReader, spec.SpokeRemediator},
		Reads: slices.Concat(
			gather.Reads(sources()...),
			[]spec.Read{gather.ListNodegroups()}, // which groups are managed ones, and what they are doing
			store.ReadRuns(),
		),
		Grants: append(store.RecordRuns(),
			gather.ReadInClusters(),
			spec.Send("SendResults", "Plans and their results go to report, the only function that posts to people.", spec.ResultQueue),
			spec.Send("LookAgain", "An instance whose cause is gone may join by itself: it is checked again before it is replaced.", spec.RemedyQueue),
			spec.Publish("After a remedy, the check that found the cause runs at once."),
		),
		Chosen: Changes,
		Kube:   gather.KubeRules(sources()...),
	}
}

// Changes is the permission to change things, as the settings have it: none
// where no cluster has opted in to a remedy. Each remedy says what it takes
// (grants.go in its folder). AWS itself then refuses what is in another VPC, or of
// another cluster, whatever a fault in our code asks for.
func Changes(getenv func(string) string) ([]spec.Grant, error) { return ChangesIn(spoke.ID{})(getenv) }

// ChangesIn is the permission to change things in a spoke, as the settings have it for
// its clusters: that of its role remediator, or of the hub's own function.
func ChangesIn(of spoke.ID) func(getenv func(string) string) ([]spec.Grant, error) {
	return func(getenv func(string) string) ([]spec.Grant, error) {
		c, err := config.Load(getenv, chosen())
		if err != nil {
			return nil, err
		}
		return changes(c.ForSpoke(of)), nil
	}
}

func changes(c config.Config) []spec.Grant {
	var grants []spec.Grant
	for _, r := range remedies.All() {
		if r.Elsewhere == "" {
			grants = append(grants, r.Grants(optIn(c, r.Name))...)
		}
	}
	return action.Join(grants)
}

// optIn is what the settings let a remedy do.
func optIn(c config.Config, r optin.Remedy) action.OptIn {
	all := slices.Sorted(maps.Keys(c.Remedied))
	return action.OptIn{
		Clusters: slices.DeleteFunc(slices.Clone(all), func(cluster string) bool { return c.RemedyOf(cluster, r) == optin.Off }),
		Any:      all, VPCs: c.RemedyVPCs, Roles: c.RemedyRoles,
	}
}
