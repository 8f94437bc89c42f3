package facts

import (
	"slices"
	"strings"
	"time"

	"rollcall/shared/snapshot"
)

// A pod has a sandbox within seconds; the kubelet tries again about every 10 s. One that
// no warning is about may wait for a large volume: that takes longer to be strange.
const (
	stuckFor   = 5 * time.Minute
	silentFor  = 15 * time.Minute
	noSandbox  = "FailedCreatePodSandBox" // kubernetes pkg/kubelet/events/event.go
	noAddress  = "failed to assign an ip address"
	noMount    = "FailedMount"
	noAttached = "FailedAttachVolume"
)

// PodWait is a pod that has no sandbox on a Ready node, for minutes and not for a volume,
// except where the volume's driver waits for the instance's metadata.
type PodWait struct {
	snapshot.StuckPod
	Instance string // empty for a node that is no EC2 instance
	// Event tells why; without a reason no warning is about the pod.
	Event snapshot.PodEvent
}

// ForNetwork tells that the network plugin did not give the pod an address: the runtime
// names it ("failed to setup network for sandbox", containerd pkg/cri/server/sandbox_run.go).
func (w PodWait) ForNetwork() bool {
	text := strings.ToLower(w.Event.Message)
	return slices.ContainsFunc([]string{"cni", "network for sandbox", "networkplugin", noAddress}, func(part string) bool { return strings.Contains(text, part) })
}

// ForAddress tells that the plugin had none to give (amazon-vpc-cni-k8s
// cmd/routed-eni-cni-plugin/cni.go, "add cmd: failed to assign an IP address to container").
func (w PodWait) ForAddress() bool {
	return strings.Contains(strings.ToLower(w.Event.Message), noAddress)
}

// ForMetadata reports whether a driver of the pod's volume cannot read the instance's metadata:
// "operation error ec2imds: GetMetadata" (aws-sdk-go-v2 feature/ec2/imds, ServiceID),
// "EC2MetadataError" (aws-sdk-go aws/ec2metadata/service.go).
func (w PodWait) ForMetadata() bool {
	text := strings.ToLower(w.Event.Message)
	return slices.ContainsFunc([]string{"ec2imds", "ec2 imds", "ec2metadata", "instance metadata", "169.254.169.254"}, func(part string) bool { return strings.Contains(text, part) })
}

// PodWaits are the pods that wait on Ready nodes.
func (v *View) PodWaits() []PodWait { return v.known.waits.Of(func() []PodWait { return podWaits(v) }) }

func podWaits(v *View) []PodWait {
	events := map[string][]snapshot.PodEvent{}
	for _, e := range v.PodEvents {
		events[e.Pod] = append(events[e.Pod], e)
	}
	var list []PodWait
	for _, w := range StuckOnReady(v.Snapshot) {
		var sandbox, volume snapshot.PodEvent
		for _, e := range events[w.Pod] {
			switch e.Reason {
			case noSandbox:
				sandbox = e
			case noMount, noAttached:
				volume = e
			}
		}
		switch {
		case sandbox.Reason != "" && !volume.Last.After(sandbox.Last):
			w.Event = sandbox
		case PodWait{Event: volume}.ForMetadata():
			w.Event = volume
		case volume.Reason != "" || v.Has(snapshot.PodEventsOf) && v.Time.Sub(w.Since) < silentFor:
			continue
		}
		list = append(list, w)
	}
	return list
}

// StuckOnReady are the pods that have no sandbox on a Ready node for minutes, whatever for.
func StuckOnReady(s *snapshot.Snapshot) []PodWait {
	ready := map[string]snapshot.Node{}
	for _, n := range s.Nodes {
		if n.Joined() {
			ready[n.Name] = n
		}
	}
	var list []PodWait
	for _, p := range s.StuckPods {
		if n, is := ready[p.Node]; is && s.Time.Sub(p.Since) >= stuckFor {
			list = append(list, PodWait{StuckPod: p, Instance: n.Instance})
		}
	}
	return list
}

// Starving are the Ready nodes of the scope whose pods the network plugin gives no address.
func (v *View) Starving() []*snapshot.Instance { return v.withPods(PodWait.ForNetwork) }

// WithoutMetadata are the Ready nodes of the scope whose pods wait for the instance's
// metadata.
func (v *View) WithoutMetadata() []*snapshot.Instance { return v.withPods(PodWait.ForMetadata) }

func (v *View) withPods(wait func(PodWait) bool) []*snapshot.Instance {
	waits := map[string]bool{}
	for _, w := range v.PodWaits() {
		waits[w.Instance] = waits[w.Instance] || wait(w)
	}
	return slices.DeleteFunc(slices.Clone(v.Scoped()), func(i *snapshot.Instance) bool { return !waits[i.ID] })
}

// WithStarving are the suspects and, with them, the Ready nodes whose pods get no
// address; well are the other Ready nodes.
func (v *View) WithStarving() (suspects, well []*snapshot.Instance) {
	suspects, well = v.Suspects()
	starving := v.Starving()
	return slices.Concat(suspects, starving), Except(well, starving)
}

// mostWaiting is how many pods a finding names.
const mostWaiting = 20

// WaitingFor are the pods that wait on some instances.
func (v *View) WaitingFor(instances []string) []string {
	var pods []string
	for _, w := range v.PodWaits() {
		if slices.Contains(instances, w.Instance) && len(pods) < mostWaiting {
			pods = append(pods, w.Pod)
		}
	}
	return pods
}
