// Package spec describes eni-cleanup: what wakes it and what it may do.
package spec

import (
	"maps"
	"slices"
	"time"

	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/remedy/deleteleakedinterfaces"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// Name is the function's name.
const Name = "eni-cleanup"

// Environment is what the function reads of its environment. The function itself uses
// nothing else of this package but constants (spec.Spec).
func Environment() []spec.Variable {
	return slices.Concat(chosen(), config.SpokeVariables(), []spec.Variable{
		config.Clusters, config.CleanupGrace, config.CleanupCap, config.CleanupShare,
		config.TableName, config.BusName, config.ResultQueueURL, config.LogLevel})
}

// chosen are the settings on which depends what the function may delete.
func chosen() []spec.Variable {
	return []spec.Variable{config.Cleanup, config.CleanupUntagged, config.Remedies}
}

// reads are those of the interfaces of a VPC and of who made them. Interfaces
// are described again just before they are deleted. The reservations that a
// count of addresses goes by are asked for by subnet, and no subnet is in this
// function's scope: it needs no count of what is free.
func reads() []spec.Read {
	list := gather.Reads(snapshot.Clusters, snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf, snapshot.Subnets, snapshot.Interfaces, snapshot.Instances)
	for i := range list {
		list[i].Actions = slices.DeleteFunc(list[i].Actions, func(a string) bool { return a == "ec2:GetSubnetCidrReservations" })
	}
	return list
}

// Spec is what infra deploys.
func Spec() spec.Spec {
	return spec.Spec{
		Name:          Name,
		About:         "Deletes network interfaces that the VPC CNI left when their nodes were terminated, where an operator has opted in, and reports how many addresses that frees.",
		FailureImpact: "Network interfaces of terminated nodes keep their addresses, and subnets can run out.",
		Rules: []spec.Rule{
			{Bus: spec.Bus, Name: "approved", Why: "The deletion of leaked interfaces was approved", Pattern: event.CleanupPattern},
		},
		Schedules: []spec.Schedule{
			{Name: "sweep", Why: "Every 15 minutes leaked interfaces are listed, and deleted if an earlier run found them too", Every: 15 * time.Minute},
		},
		Memory: 512,
		// All that Lambda allows: of thousands of interfaces a run deletes as long
		// as it may, and EC2's bucket keeps no more than 20 seconds' worth until
		// the next one. It stops deleting well before that begins (package main).
		Timeout:     15 * time.Minute,
		Environment: Environment(),
		Assumes:     []spec.SpokeRole{spec.SpokeReader, spec.SpokeCleaner},
		Reads: slices.Concat(
			reads(),
			[]spec.Read{gather.ListClusters()},
			store.ReadCleanups(),
		),
		Grants: append([]spec.Grant{
			store.RecordSightings(),
			store.RecordAudits(),
			spec.Publish("Each delete is an event, for anyone's rules."),
			spec.Send("SendResults", "The number of freed addresses goes to report, the only function that posts to people.", spec.ResultQueue),
		}, store.RecordCleanups()...),
		Chosen: Deletes,
	}
}

// Deletes is the permission to delete, as the settings have it: none where no
// cluster is in mode dry-run or delete, or has the remedy
// delete-leaked-interfaces.
func Deletes(getenv func(string) string) ([]spec.Grant, error) { return DeletesIn(spoke.ID{})(getenv) }

// DeletesIn is the permission to delete in a spoke, as the settings have it for its
// clusters: that of its role cleaner, or of the hub's own function.
func DeletesIn(of spoke.ID) func(getenv func(string) string) ([]spec.Grant, error) {
	return func(getenv func(string) string) ([]spec.Grant, error) {
		c, err := config.Load(getenv, chosen())
		if err != nil {
			return nil, err
		}
		return deletes(c.ForSpoke(of)), nil
	}
}

func deletes(c config.Config) []spec.Grant {
	var clusters []string
	for _, name := range slices.Sorted(maps.Keys(c.Cleanups)) {
		if c.CleanupOf(name) != config.Report {
			clusters = append(clusters, name)
		}
	}
	for name := range c.Remedied {
		if c.RemedyOf(name, optin.DeleteLeakedInterfaces) != optin.Off {
			clusters = append(clusters, name)
		}
	}
	slices.Sort(clusters)
	clusters = slices.Compact(clusters)
	if len(clusters) == 0 {
		return nil
	}
	// A remedy takes nothing that names no cluster.
	var untagged []string
	if acts(c) {
		untagged = c.CleanupUntagged
	}
	return deleteleakedinterfaces.Grants(clusters, untagged)
}

// acts reports whether some cluster is in a mode that acts.
func acts(c config.Config) bool {
	for name := range c.Cleanups {
		if c.CleanupOf(name) != config.Report {
			return true
		}
	}
	return false
}
