package gather

import (
	"context"
	"maps"
	"slices"

	gatherec2 "rollcall/shared/gather/ec2"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// UserData reads the user data of instances that may be of any cluster, or of
// none, within the bounds of one look. What could not be read is left out;
// the failure is that of a look which could read nothing at all.
func (r *Reader) UserData(ctx context.Context, instances []snapshot.Instance) ([]snapshot.UserData, *snapshot.Failure) {
	s := &snapshot.Snapshot{Instances: instances}
	for _, in := range instances {
		s.Scope.Instances = append(s.Scope.Instances, in.ID)
	}
	of := gatherec2.UserData(r.ec2)
	store, err := of.ReadFrom(ctx, source.View{Query: Query{Instances: instances, Scope: s.Scope}, Snapshot: s})
	if err != nil {
		return nil, of.Failure(err)
	}
	store(s)
	if lacks := s.Missing[snapshot.UserDataOf]; len(s.UserData) == 0 && len(lacks) > 0 {
		f := lacks[slices.Min(slices.Collect(maps.Keys(lacks)))]
		return nil, &f
	}
	return s.UserData, nil
}
