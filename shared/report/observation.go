// Package report is what is reported: the messages on the results queue, by
// detectors (Observation, Summary), people (Press), remedies (Proposal,
// RemedyResult) and the look at CloudTrail (Changes). It knows nothing of incidents
// but their Key.
package report

import (
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// Observation is what a detector saw of one cluster at one time: the body of
// a message on the results queue. Detectors never talk to Slack.
type Observation struct {
	// Format is the version of this type; a newer one than ours is refused
	// and waits in the dead-letter queue for the deployment that knows it.
	Format  int       `json:"format"`
	ID      string    `json:"id"`
	By      string    `json:"by"` // the function
	At      time.Time `json:"at"`
	Account string    `json:"account"`
	Region  string    `json:"region"`
	// Partition is "aws", "aws-cn" or "aws-us-gov".
	Partition string `json:"partition"`
	Cluster   string `json:"cluster"`
	// Spoke is whose the cluster is, as the hub sees it, and Whose the name that people
	// know that by. Report knows them; on the queue the account and region say it.
	Spoke spoke.ID `json:"-"`
	Whose string   `json:"-"`

	// Diagnosis is what the checks said.
	Diagnosis diagnose.Diagnosis `json:"diagnosis"`
	// Launches are the launches looked at, and how each stands now.
	Launches []Launch `json:"launches,omitempty"`
	// Facts is what a person would look up next, in the thread: the
	// nodegroup's status, the scaling activity, what could not be seen.
	Facts []Fact `json:"facts,omitempty"`
	// Blind are the sources that could not be read, whichever check needed them.
	Blind []snapshot.Failure `json:"blind,omitempty"`
	// Read are the sources that were read in full: the proof that a missing
	// permission is there now. That nothing is said of a source is no proof.
	Read []snapshot.Source `json:"read,omitempty"`
	// Absent are subnets and instances that were asked for, by a source that
	// was read in full, and do not exist any more.
	Absent []string `json:"absent,omitempty"`
	// Charts are pictures for messages about the subnets that they are of.
	Charts []Chart `json:"charts,omitempty"`
	// Tags are those of the nodegroups that causes and launches name, by nodegroup.
	Tags map[string]map[string]string `json:"tags,omitempty"`
	// Capacity is what the groups that causes and launches name want and have. A group of
	// which that could not be read, or not be counted, is not among them.
	Capacity []Capacity `json:"capacity,omitempty"`
	// Sweep is set on the observations of a sweep. They come for every
	// watched cluster even when nothing is wrong: time passes with them.
	Sweep bool `json:"sweep,omitempty"`
	// ClusterGone tells that EKS was asked for the cluster by its name, and answered
	// that it has none (DescribeCluster, ResourceNotFoundException): neither a list
	// that lacks it nor a refusal says so.
	ClusterGone bool `json:"clusterGone,omitempty"`
	// Evidence is the key under which what was read is kept, if it is; it may not be
	// there yet, or could not be written.
	Evidence string `json:"evidence,omitempty"`
}

// Format is the version of Observation that this code writes and reads.
const Format = 1

// AssumeRole is the call by which the hub becomes a spoke's role; what could not be looked
// at for want of it is all of a spoke.
const AssumeRole = "sts:AssumeRole"

// KubernetesAPI stands for the Kubernetes API of a cluster where nobody answers there: what
// is asked of it fails together, and is one fault.
const KubernetesAPI = "kubernetes"

// NoCleaner is the code of a delete that was not sent, as a spoke's role cleaner does not
// let the hub in: of all codes of failures the one that is not a service's.
const NoCleaner = "RoleNotAssumed"

// formatOf is the format of a message of a spoke, where the hub's own have another: a
// release that knows no spokes would take it for one about the hub's own cluster of that
// name, and refuses what is of a newer format.
func formatOf(of spoke.ID, hubs int) int {
	if of.Hub() {
		return hubs
	}
	return hubs + 1
}

// For is an observation of a spoke's cluster, as it is sent.
func (obs Observation) For(of spoke.ID) Observation {
	obs.Format = formatOf(of, Format)
	if !of.Hub() {
		obs.Account, obs.Region, obs.Partition = of.Account, of.Region, of.Partition()
	}
	return obs
}

// Launch is how one launch stands.
type Launch = outcome.Launch

// LaunchStatus is how a launch stands.
type LaunchStatus = outcome.LaunchStatus

// The standings. Waiting and Missed may still change.
const (
	Waiting = outcome.Waiting
	Missed  = outcome.Missed
	Joined  = outcome.Joined
	Gone    = outcome.Gone
	GivenUp = outcome.GivenUp
)

// Chart is a small picture.
type Chart struct {
	// Of is the subnet whose free addresses it shows.
	Of  string `json:"of"`
	PNG []byte `json:"png"`
	// Alt says in words what it shows.
	Alt string `json:"alt"`
	// Returned is how many addresses it shows as given back by a cleanup.
	Returned int `json:"returned,omitempty"`
}

// Fact is one line for the thread.
type Fact struct {
	What  string `json:"what"`
	Value string `json:"value"`
}

// Of is the observed cluster.
func (obs Observation) Of() spoke.Cluster { return spoke.Cluster{ID: obs.Spoke, Name: obs.Cluster} }

// Key is the key of the incident of a check of the observed cluster.
func (obs Observation) Key(check checks.ID, resource string) Key {
	return Key{Spoke: obs.Spoke, Cluster: obs.Cluster, Check: check, Resource: resource}
}

// LaunchesOf are the launches that a cause keeps from joining. Ready nodes whose pods wait
// are not among them: that a node joins proves nothing about a cause of pods.
func (obs Observation) LaunchesOf(cause diagnose.Cause) []Launch {
	list := make([]Launch, 0, len(cause.Instances))
	for _, id := range cause.Instances {
		if l := obs.LaunchOf(id); l.Status != Joined || !cause.OfPods() {
			list = append(list, l)
		}
	}
	return list
}

// LaunchOf is what the observation says of an instance, even if it is no more
// than that it exists.
func (obs Observation) LaunchOf(id string) Launch {
	for _, l := range obs.Launches {
		if l.Instance == id {
			return l
		}
	}
	return Launch{Instance: id, Status: Waiting}
}
