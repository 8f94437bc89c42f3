package world

import (
	"cmp"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/simaws/deepcopy"
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

func completeEKSRules(r worldfile.EKSRules) worldfile.EKSRules {
	return worldfile.EKSRules{
		JoinTimeout: cmp.Or(r.JoinTimeout, joinTimeout), HealthDelay: cmp.Or(r.HealthDelay, healthDelay),
		CreateTime: cmp.Or(r.CreateTime, createTime), UpdateTime: cmp.Or(r.UpdateTime, updateTime),
		DeleteTime: r.DeleteTime,
	}
}

// clusterNamed is the cluster that a part of the file means: the named one, or
// the only one.
func (w *World) clusterNamed(name string) (string, error) {
	all := w.clusters.All()
	if name == "" && len(all) == 1 {
		return aws.ToString(all[0].Name), nil
	}
	if w.clusters.Get(name) == nil {
		return "", fmt.Errorf("cluster %q is not in the world", name)
	}
	return name, nil
}

// sameCluster tells whether the cluster that a part of the file names, if any,
// is this one.
func sameCluster(named, cluster string) bool { return named == "" || named == cluster }

// FailNextUpdate makes the next update that the fault is about fail.
func (w *World) FailNextUpdate(f worldfile.UpdateFault) {
	defer w.enter()()
	w.updateFaults = append(w.updateFaults, deepcopy.Of(f))
}

// takeFault is the fault that a new update meets, nil for none. Each is met
// once.
func (w *World) takeFault(cluster, nodegroup, addon, kind string) *worldfile.UpdateFault {
	for i, f := range w.updateFaults {
		if sameCluster(f.Cluster, cluster) && f.Nodegroup == nodegroup && f.Addon == addon && (f.Type == "" || f.Type == kind) {
			w.updateFaults = append(w.updateFaults[:i:i], w.updateFaults[i+1:]...)
			f.After = cmp.Or(f.After, faultTime)
			return &f
		}
	}
	return nil
}
