package kubernetes

import (
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

// LoadShifts cordons the nodes in zones that are shifted away from for their cluster, as
// long as that lasts: "All the nodes in the impacted AZ will be cordoned", and "will not be
// terminated and the Pods will not be evicted from these nodes" (EKS user guide, "Learn
// about ARC zonal shift in Amazon EKS").
func LoadShifts(w *state.State, f *worldfile.File) error {
	if len(f.ArcZonalShift.ZonalShifts)+len(f.ArcZonalShift.Autoshifts) == 0 {
		return nil
	}
	cordoned := map[string]bool{} // instances that a shift cordoned
	names := slices.Sorted(maps.Keys(w.Kubernetes))
	for _, name := range names {
		cordonShifted(w, w.Kubernetes[name], cordoned)
	}
	var times []time.Time
	for _, z := range f.ArcZonalShift.ZonalShifts {
		times = append(times, z.StartTime, z.ExpiryTime)
	}
	for _, a := range f.ArcZonalShift.Autoshifts {
		times = append(times, a.StartTime, a.EndTime)
	}
	for _, at := range times {
		if at.After(w.Now) {
			w.At(at, func() {
				for _, name := range names {
					cordonShifted(w, w.Kubernetes[name], cordoned)
					Schedule(w, w.Kubernetes[name])
				}
			})
		}
	}
	return nil
}

func cordonShifted(w *state.State, k *kubestate.Cluster, cordoned map[string]bool) {
	const taint = "node.kubernetes.io/unschedulable"
	for _, in := range w.Instances.All() {
		id := aws.ToString(in.InstanceId)
		n := k.Nodes.Get(id)
		if n == nil || in.Placement == nil {
			continue
		}
		spec, _ := (*n)["spec"].(map[string]any)
		shifted := w.ClusterShifted(k.Name, aws.ToString(in.Placement.AvailabilityZoneId))
		switch {
		case spec == nil || shifted == cordoned[id] || shifted && spec["unschedulable"] == true:
			continue
		case shifted:
			spec["unschedulable"] = true
			kubestate.Taint(*n, taint, "NoSchedule")
		default:
			delete(spec, "unschedulable")
			kubestate.Untaint(*n, taint)
		}
		cordoned[id] = shifted
		k.Touch(*n)
	}
}
