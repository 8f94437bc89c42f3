package autoscaling

import (
	"context"
	"slices"
	"strings"

	"rollcall/shared/arczonalshift"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Shifts lists what is shifted away from a zone.
type Shifts interface {
	ZonalShifts(ctx context.Context, token string) ([]arczonalshift.ZonalShift, string, error)
	Autoshifts(ctx context.Context, token string) ([]arczonalshift.Autoshift, string, error)
	ManagedResources(ctx context.Context, token string) ([]arczonalshift.ManagedResource, string, error)
}

var _ Shifts = (*arczonalshift.Client)(nil)

// zonalShifts are those that people, experiments and practice runs started.
func zonalShifts(api Shifts) source.Source {
	return source.Source{
		Name: snapshot.ZonalShifts,
		// The service authorization reference has no resource for these lists.
		Calls: []source.Call{{Action: "arc-zonal-shift:ListZonalShifts"}},
		Read: whereShiftIsOn(func(ctx context.Context, v *source.View) (source.Store, error) {
			all, err := source.Pages(ctx, "zonal shifts", api.ZonalShifts)
			if err != nil {
				return nil, err
			}
			var list []snapshot.Shift
			for _, z := range all {
				if group, ours := shifts(v.Snapshot, z.Resource); ours && z.Status == "ACTIVE" {
					list = append(list, snapshot.Shift{
						ID: z.ID, Group: group, ZoneID: z.AwayFrom, Kind: snapshot.ShiftKind(z.Type), Comment: z.Comment,
						Started: z.Started.Time, Expires: z.Expires.Time,
					})
				}
			}
			return func(s *snapshot.Snapshot) { s.Shifts = list }, nil
		}),
	}
}

// autoshifts are those of AWS that are in effect for the cluster or a group. An autoshift
// is of the Region, and moves what has zonal autoshift on: which that is, is listed only
// while there is one.
func autoshifts(api Shifts) source.Source {
	return source.Source{
		Name:  snapshot.AutoshiftsOf,
		Calls: []source.Call{{Action: "arc-zonal-shift:ListAutoshifts"}, {Action: "arc-zonal-shift:ListManagedResources"}},
		Read: whereShiftIsOn(func(ctx context.Context, v *source.View) (source.Store, error) {
			active, err := source.Pages(ctx, "autoshifts", api.Autoshifts)
			if err != nil {
				return nil, err
			}
			if len(active) == 0 {
				return source.Nothing, nil
			}
			all, err := source.Pages(ctx, "resources that are managed for zonal shifts", api.ManagedResources)
			if err != nil {
				return nil, err
			}
			var list []snapshot.Shift
			for _, r := range all {
				group, ours := shifts(v.Snapshot, r.ARN)
				for _, a := range r.Autoshifts {
					now := slices.ContainsFunc(active, func(x arczonalshift.Autoshift) bool { return x.AwayFrom == a.AwayFrom })
					if ours && now && a.Applied == "APPLIED" {
						list = append(list, snapshot.Shift{Group: group, ZoneID: a.AwayFrom, Kind: snapshot.Autoshift, Started: a.Started.Time})
					}
				}
			}
			return func(s *snapshot.Snapshot) { s.Autoshifts = list }, nil
		}),
	}
}

// whereShiftIsOn reads only where the cluster or a group of it has zonal shift on, which is
// off by default: without it there is nothing that ARC could shift.
func whereShiftIsOn(read source.Read) source.Read {
	return func(ctx context.Context, v *source.View) (source.Store, error) {
		s := v.Snapshot
		switch {
		case !s.Has(snapshot.Clusters):
			return nil, v.Unread(snapshot.Clusters)
		case s.Cluster.ZonalShift || slices.ContainsFunc(s.Groups, func(g snapshot.Group) bool { return g.ZonalShift }):
			return read(ctx, v)
		case !s.Has(snapshot.Groups):
			return nil, v.Unread(snapshot.Groups)
		}
		return source.Nothing, nil
	}
}

// shifts returns the group that an ARN is of, empty for the cluster's, and whether a shift
// of it counts.
func shifts(s *snapshot.Snapshot, arn string) (group string, ours bool) {
	if arn == s.Cluster.ARN {
		return "", s.Cluster.ZonalShift
	}
	_, name, is := strings.Cut(arn, ":autoScalingGroupName/")
	return name, is && slices.ContainsFunc(s.Groups, func(g snapshot.Group) bool { return g.Name == name && g.ZonalShift })
}
