package gather

import (
	"context"
	"slices"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/gather/vpc"
	"rollcall/shared/snapshot"
)

// InterfacesByID describes interfaces again, by their ids: those that are
// there, sorted. A filter rather than the id parameter: one id that EC2 does
// not know would make it refuse the whole request.
func (r *Reader) InterfacesByID(ctx context.Context, ids []string) ([]snapshot.Interface, *snapshot.Failure) {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	var all []snapshot.Interface
	for chunk := range slices.Chunk(ids, ec2api.MaxFilterValues) {
		list, err := vpc.DescribeInterfaces(ctx, r.ec2, ec2api.AnyOf("network-interface-id", chunk))
		if err != nil {
			return nil, known(snapshot.Interfaces).Failure(err)
		}
		all = append(all, list...)
	}
	return source.Unique(all, func(x snapshot.Interface) string { return x.ID }), nil
}
