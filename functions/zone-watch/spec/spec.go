// Package spec describes zone-watch: what wakes it and what it may do.
package spec

import (
	"slices"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/evidence"
	"rollcall/shared/spec"
	"rollcall/shared/store"

	"rollcall/shared/gather"
)

// Name is the function's name.
const Name = "zone-watch"

// Environment is what the function reads of its environment. The function
// itself uses only this and Name: Spec derives permissions from interfaces by
// reflection, which would make the linker keep every method of every SDK
// client (44 MB instead of 12).
func Environment() []spec.Variable {
	return append(config.SpokeVariables(), config.Clusters, config.TableName, config.ResultQueueURL, config.ReaderRole, config.Evidence, config.EvidenceBucket, config.LogLevel)
}

// every is how often all clusters are looked at. Whoever is on call must know
// within minutes that a pod cannot start. An event that a nodegroup has changed
// comes just before its pods begin to wait, and a reclaimed Spot node, a
// scale-in by an autoscaler or a drained node sends none that names the pods, so
// that a second look after such an event alone would miss most. Two minutes
// after which a waiting pod counts (five beside an autoscaler) and this make at
// most ten. A look at a cluster of two nodegroups takes 17 reads of AWS and
// Kubernetes (measured), so 204 an hour: one each 18 s, far below what the APIs
// allow (EC2's describe calls refill with 20 a second).
const every = 5 * time.Minute

// Spec is what infra deploys.
func Spec() spec.Spec {
	sources := gather.ZoneSources(checks.OfZones())
	return spec.Spec{
		Name:          Name,
		About:         "Watches the volumes of the clusters and the zones in which they live: whether a node is there, or can come, for the pods that need them.",
		FailureImpact: "Volumes in zones without a node are not told before pods wait for them; a zone that is in trouble itself is not told either.",
		Rules: []spec.Rule{
			{Bus: spec.Bus, Name: "changes", Why: "A nodegroup has changed: its new nodes may be in other zones than those they replace", Pattern: event.StatusChangePattern},
			{Bus: spec.Bus, Name: "wanted", Why: "Somebody, or a remedy, wants a cause to be looked at now", Pattern: event.ZoneCheckWanted},
		},
		Schedules: []spec.Schedule{
			{Name: "sweep", Why: "A pod that waits, a volume that is detached, and a node that goes send no event that says so: only a look tells", Every: every},
		},
		// Volumes of other clusters are dropped page by page; what is kept of
		// 20,000 claims and volumes is about 20 MB.
		Memory:      256,
		Timeout:     2 * time.Minute,
		Environment: Environment(),
		Reads: slices.Concat(
			gather.Reads(sources...),
			[]spec.Read{gather.ListClusters(), gather.ListNodegroups()},
			store.ReadHistory(),
		),
		Grants: []spec.Grant{
			gather.ReadInClusters(),
			{
				Sid:       "SendResults",
				Why:       "What was found goes to report, the only function that talks to people.",
				Actions:   []string{"sqs:SendMessage"},
				Resources: []spec.Resource{spec.ResultQueue},
			},
		},
		Chosen: evidence.Grants,
		Kube:   gather.KubeRules(sources...),
	}
}
