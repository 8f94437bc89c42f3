package eks

import (
	"cmp"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/nodegroup"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

// The times of EKS where a world says none; see EKSRules.
const (
	joinTimeout = 20 * time.Minute
	healthDelay = 5 * time.Minute
	createTime  = 45 * time.Second
	updateTime  = 3 * time.Second
	faultTime   = 2 * time.Minute
)

// CompleteRules fills in the times that a world leaves out.
func CompleteRules(r worldfile.EKSRules) worldfile.EKSRules {
	return worldfile.EKSRules{
		JoinTimeout: cmp.Or(r.JoinTimeout, joinTimeout), HealthDelay: cmp.Or(r.HealthDelay, healthDelay),
		CreateTime: cmp.Or(r.CreateTime, createTime), UpdateTime: cmp.Or(r.UpdateTime, updateTime),
		DeleteTime: r.DeleteTime,
	}
}

// clusterNamed is the cluster that a part of the file means: the named one, or
// the only one.
func clusterNamed(w *state.State, name string) (string, error) {
	all := w.Clusters.All()
	if name == "" && len(all) == 1 {
		return aws.ToString(all[0].Name), nil
	}
	if w.Clusters.Get(name) == nil {
		return "", fmt.Errorf("cluster %q is not in the world", name)
	}
	return name, nil
}

// FailNextUpdate makes the next update that the fault is about fail.
func FailNextUpdate(w *state.State, f worldfile.UpdateFault) {
	defer w.Enter()()
	w.UpdateFaults = append(w.UpdateFaults, deepcopy.Of(f))
}

// takeFault is the fault that a new update meets, nil for none. Each is met
// once.
func takeFault(w *state.State, cluster, name, addon, kind string) *worldfile.UpdateFault {
	for i, f := range w.UpdateFaults {
		if nodegroup.SameCluster(f.Cluster, cluster) && f.Nodegroup == name && f.Addon == addon && (f.Type == "" || f.Type == kind) {
			w.UpdateFaults = append(w.UpdateFaults[:i:i], w.UpdateFaults[i+1:]...)
			f.After = cmp.Or(f.After, faultTime)
			return &f
		}
	}
	return nil
}
