package joincheck

import (
	"context"
	"slices"

	"rollcall/shared/incident"
)

// tellGone tells report that EKS has no cluster of this name, if anything of it is
// open. EKS was asked for it by its name, and answered so.
func (h handler) tellGone(ctx context.Context, cluster string, r roll) error {
	if !slices.ContainsFunc(r.incidents, unclosed) {
		return nil
	}
	h.Log.InfoContext(ctx, "EKS does not have the cluster any more, its incidents are closed", "cluster", cluster)
	h.Count("DeletedClusters", 1)
	o := h.About(cluster, r.account)
	o.ClusterGone = true
	return h.Tell(ctx, o)
}

func unclosed(inc incident.Incident) bool { return inc.State != incident.Closed }
