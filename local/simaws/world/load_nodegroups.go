package world

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/simaws/eks"
	"rollcall/local/simaws/nodegroup"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

func loadNodegroups(w *state.State, f *worldfile.File) error {
	var errs []error
	for i := range f.EKS.Nodegroups {
		ng := &state.Nodegroup{Nodegroup: f.EKS.Nodegroups[i]}
		cluster, name := aws.ToString(ng.ClusterName), aws.ToString(ng.NodegroupName)
		c := w.Clusters.Get(cluster)
		if c == nil {
			errs = append(errs, fmt.Errorf("eks.nodegroups %s: cluster %q is not in the world", name, cluster))
			continue
		}
		eks.CompleteNodegroup(w, ng, c)
		w.Nodegroups.Put(state.NodegroupKey(cluster, name), ng)
		if err := eks.CompleteNodegroupGroup(w, ng, c); err != nil {
			errs = append(errs, fmt.Errorf("eks.nodegroups %s: %w", name, err))
		}
		nodegroup.WatchCreation(w, ng)
	}
	return errors.Join(errs...)
}
