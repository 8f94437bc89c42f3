package detect

import (
	"context"
	"errors"
	"fmt"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// AssumeRole is the call by which the hub becomes a spoke's role.
const AssumeRole = source.AssumeRole

// Each does something for every watched cluster: for the named ones, or for all
// of the region where names is nil. One cluster's trouble does not keep the
// others from being looked at. SweptClusters counts those that had none.
func (d Detector) Each(ctx context.Context, names []string, do func(ctx context.Context, cluster string) error) error {
	if names == nil {
		list, failed := d.Reader.Clusters(ctx)
		if failed != nil && (failed.Call == AssumeRole || !d.Spoke.Hub() && failed.Reason == snapshot.Denied) {
			// sweep says so, once; there is nothing to do again at once.
			d.Log.WarnContext(ctx, "nothing of the spoke may be looked at", "call", failed.Call, "code", failed.Code, "error", failed.Message)
			d.Count("BlindSweeps", 1)
			return nil
		}
		if failed != nil {
			return fmt.Errorf("list the clusters: %s %s: %s", failed.Call, failed.Reason, failed.Message)
		}
		names = list
	}
	var errs []error
	for _, name := range names {
		if err := do(ctx, name); err != nil {
			errs = append(errs, fmt.Errorf("sweep cluster %s: %w", name, err))
		}
	}
	d.Count("SweptClusters", len(names)-len(errs))
	return errors.Join(errs...)
}

// One does something for one cluster that an event names, if it is watched.
func (d Detector) One(ctx context.Context, cluster string, do func(ctx context.Context, cluster string) error) error {
	if !d.Watches(cluster) {
		d.Count("ForeignClusters", 1)
		return nil
	}
	return do(ctx, cluster)
}
