package launchwatch

import (
	"context"
	"slices"

	"rollcall/shared/detect"
	"rollcall/shared/gather"
	"rollcall/shared/snapshot"
)

// namedByUserData asks the user data of launched instances that carry no cluster's tag,
// and whose group carries none, which cluster they are for: a node without its
// tags is a fault that is otherwise never seen (instance/cluster-tag). What
// cannot be read is left as it is: nobody's.
func (h handler) namedByUserData(ctx context.Context, b *batch, instances []snapshot.Instance, groups []snapshot.Group, foreign []string) map[string]string {
	strangers := slices.DeleteFunc(slices.Clone(instances), func(in snapshot.Instance) bool {
		_, launched := b.launched[in.ID]
		_, tagged := gather.ClusterOf(in.Tags)
		return !launched || tagged || in.Ended() || !slices.Contains(foreign, in.ID) ||
			slices.ContainsFunc(groups, func(g snapshot.Group) bool {
				_, tagged := gather.ClusterOf(g.Tags)
				return tagged && g.Name == detect.GroupOf(in)
			})
	})
	if len(strangers) == 0 {
		return nil
	}
	data, failed := h.reader.UserData(ctx, strangers)
	if failed != nil {
		h.Log.WarnContext(ctx, "could not read the user data of instances without tags", "instances", len(strangers), "call", failed.Call, "reason", failed.Reason)
		return nil
	}
	return detect.NamedByUserData(data)
}
