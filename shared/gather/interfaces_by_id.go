package gather

import (
	"context"
	"slices"

	"rollcall/shared/snapshot"
)

// InterfacesByID describes interfaces again, by their ids: those that are
// there, sorted. A filter rather than the id parameter: one id that EC2 does
// not know would make it refuse the whole request.
func (r *Reader) InterfacesByID(ctx context.Context, ids []string) ([]snapshot.Interface, *snapshot.Failure) {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	var all []snapshot.Interface
	for chunk := range slices.Chunk(ids, maxFilterValues) {
		list, err := r.readInterfaces(ctx, anyOf("network-interface-id", chunk))
		if err != nil {
			return nil, failure(snapshot.Interfaces, call(snapshot.Interfaces), err)
		}
		all = append(all, list...)
	}
	return unique(all, func(x snapshot.Interface) string { return x.ID }), nil
}
