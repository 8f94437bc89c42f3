package detect

import (
	"context"
	"errors"
	"fmt"

	"rollcall/shared/snapshot"
)

// Lister lists the clusters of the region.
type Lister interface {
	Clusters(ctx context.Context) ([]string, *snapshot.Failure)
}

// Each does something for every watched cluster: for the named ones, or for all
// of the region where names is nil. One cluster's trouble does not keep the
// others from being looked at; what it is comes back, with the cluster's name
// behind what was being done ("sweep"). Done is how many had none.
func Each(ctx context.Context, doing string, names []string, from Lister, do func(ctx context.Context, cluster string) error) (done int, err error) {
	if names == nil {
		list, failed := from.Clusters(ctx)
		if failed != nil {
			return 0, fmt.Errorf("list the clusters: %s %s: %s", failed.Call, failed.Reason, failed.Message)
		}
		names = list
	}
	var errs []error
	for _, name := range names {
		if err := do(ctx, name); err != nil {
			errs = append(errs, fmt.Errorf("%s cluster %s: %w", doing, name, err))
		}
	}
	return len(names) - len(errs), errors.Join(errs...)
}
