package world

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/simaws/state"
	"rollcall/local/simaws/zonalshift"
)

// zonalShiftAPI is the world's ARC zonal shift.
type zonalShiftAPI struct{ w *state.State }

// ListZonalShifts lists the account's zonal shifts and practice runs.
func (s zonalShiftAPI) ListZonalShifts(in *zonalshift.Input) (json.RawMessage, error) {
	defer s.w.Enter()()
	return zonalshift.Written(zonalshift.ListZonalShiftsOutput{Items: s.w.ZonalShifts()}.Fitting(in), nil)
}

// ListAutoshifts lists those of the Region.
func (s zonalShiftAPI) ListAutoshifts(in *zonalshift.Input) (json.RawMessage, error) {
	defer s.w.Enter()()
	return zonalshift.Written(zonalshift.ListAutoshiftsOutput{Items: s.w.Autoshifts()}.Fitting(in), nil)
}

// ListManagedResources lists what EKS and Auto Scaling have registered.
func (s zonalShiftAPI) ListManagedResources(*zonalshift.Input) (json.RawMessage, error) {
	defer s.w.Enter()()
	var out zonalshift.ListManagedResourcesOutput
	add := func(arn, name string, autoshift bool, subnets []string) {
		r := zonalshift.ManagedResource{Arn: arn, Name: name, ZonalAutoshiftStatus: "DISABLED", PracticeRunStatus: "DISABLED", AppliedWeights: map[string]float64{}}
		if autoshift {
			r.ZonalAutoshiftStatus, r.PracticeRunStatus = "ENABLED", "ENABLED"
		}
		for _, id := range subnets {
			if sub := s.w.Subnets.Get(id); sub != nil {
				r.AvailabilityZones = append(r.AvailabilityZones, aws.ToString(sub.AvailabilityZoneId))
			}
		}
		slices.Sort(r.AvailabilityZones)
		r.AvailabilityZones = slices.Compact(r.AvailabilityZones)
		r.ZonalShifts, r.Autoshifts = s.w.ShiftsOf(arn, autoshift)
		for _, z := range r.AvailabilityZones {
			r.AppliedWeights[z] = 1
			if slices.ContainsFunc(slices.Concat(r.ZonalShifts, r.Autoshifts), func(a zonalshift.AppliedShift) bool { return a.AppliedStatus == "APPLIED" && a.AwayFrom == z }) {
				r.AppliedWeights[z] = 0
			}
		}
		out.Items = append(out.Items, r)
	}
	for _, c := range s.w.Clusters.All() {
		if state.ClusterManaged(c) {
			var subnets []string
			if c.ResourcesVpcConfig != nil {
				subnets = c.ResourcesVpcConfig.SubnetIds
			}
			add(aws.ToString(c.Arn), aws.ToString(c.Name), true, subnets)
		}
	}
	for _, g := range s.w.Groups.All() {
		if state.GroupManaged(g) {
			add(aws.ToString(g.AutoScalingGroupARN), g.Name(), s.w.GroupAutoshift(g), g.Subnets())
		}
	}
	slices.SortFunc(out.Items, func(a, b zonalshift.ManagedResource) int { return strings.Compare(a.Arn, b.Arn) })
	return zonalshift.Written(out, nil)
}
