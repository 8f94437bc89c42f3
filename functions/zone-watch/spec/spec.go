// Package spec describes zone-watch: what wakes it and what it may do.
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
const Name = "zone-watch"

// Environment is what the function reads of its environment. The function itself uses
// nothing else of this package but constants (spec.Spec).
func Environment() []spec.Variable {
	return append(config.SpokeVariables(),
		config.Clusters, config.TableName, config.ResultQueueURL, config.ReaderRole, config.InVPC, config.Relays, config.Evidence, config.EvidenceBucket, config.KMSKey, config.LogLevel,
	)
}

// Spec is what infra deploys.
func Spec() spec.Spec {
	sources := gather.ZoneSources(checks.OfZones())
	return spec.Spec{
		Name:          Name,
		About:         "Watches the clusters' volumes and their zones: is there a node for the pods that need them, or can one launch there?",
		FailureImpact: "Volumes in zones without a node are not reported before pods wait for them; impaired zones are not reported.",
		Rules: []spec.Rule{
			{Bus: spec.Bus, Name: "changes", Why: "A nodegroup has changed: its new nodes can be in other zones than those they replace", Pattern: event.StatusChangePattern},
			{Bus: spec.Bus, Name: "wanted", Why: "Somebody, or a remedy, requests a check of one cause now", Pattern: event.ZoneCheckWanted},
		},
		// Volumes of other clusters are dropped page by page; what is kept of
		// 20,000 claims and volumes is about 20 MB.
		Memory:      256,
		Timeout:     2 * time.Minute,
		Environment: Environment(),
		Assumes:     []spec.SpokeRole{spec.SpokeReader},
		Reads: slices.Concat(
			gather.Reads(sources...),
			[]spec.Read{gather.ListNodegroups()},
			store.ReadHistory(),
		),
		Grants: []spec.Grant{
			gather.ReadInClusters(),
			spec.SendResults(),
		},
		Chosen: evidence.Grants,
		Kube:   gather.KubeRules(sources...),
	}
}
