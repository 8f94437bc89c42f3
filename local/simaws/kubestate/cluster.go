// Package kubestate is what the Kubernetes API of a simulated cluster has: its
// objects as kubectl's JSON, their versions and events, and what can be read off
// them.
package kubestate

import (
	"strconv"
	"time"

	"rollcall/local/simaws/table"
	"rollcall/local/simaws/worldfile"
)

// Cluster is what the Kubernetes API of one cluster has.
type Cluster struct {
	Name    string
	Nodes   *table.Table[map[string]any]
	Objects map[string][]map[string]any
	// Version is the resource version of the newest change.
	Version int64
	// events are when each event that the world made was told, oldest first.
	events []time.Time
	// Sets are the pods that the world's scheduler places.
	Sets []*SetPod
	// KubernetesVersion is the cluster's, such as 1.34.
	KubernetesVersion string
	// Watch, if any, is called with each change of an object, within what holds the
	// state.
	Watch func()
}

// SetPod is a pod that the world's scheduler places.
type SetPod struct {
	Set worldfile.SetFile
	// Claim is the name of its claim, empty without one.
	Claim  string
	Name   string
	Object map[string]any
	// Told is what the scheduler last said of it.
	Told string
}

// ENIConfigs is the plural of the CNI's custom networking.
const ENIConfigs = "eniconfigs"

// customKinds are there only where somebody, or EKS Auto Mode, has put their
// definitions.
func customKinds() []string {
	return []string{ENIConfigs, "nodepools", "nodeclaims", "ec2nodeclasses", "nodeclasses"}
}

// Touch gives a changed object the next resource version.
func (k *Cluster) Touch(object map[string]any) {
	k.Version++
	if meta, ok := object["metadata"].(map[string]any); ok {
		meta["resourceVersion"] = strconv.FormatInt(k.Version, 10)
	}
	if k.Watch != nil {
		k.Watch()
	}
}
