package ec2

import (
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/table"
)

// DescribeCapacityReservations lists capacity reservations.
func (s API) DescribeCapacityReservations(in *ec2.DescribeCapacityReservationsInput) (*ec2.DescribeCapacityReservationsOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.CapacityReservation]{
		Table: s.w.CapacityReservations, ID: func(v *ec2types.CapacityReservation) *string { return v.CapacityReservationId }, IDs: in.CapacityReservationIds,
		Missing: func(ids []string) *wire.Error {
			return wire.Errorf("InvalidCapacityReservationId.NotFound", "The capacity reservation ID '%v' does not exist", ids)
		},
		Filters: in.Filters,
		Known: table.Filters[ec2types.CapacityReservation]{
			"state":             func(v *ec2types.CapacityReservation) []string { return []string{string(v.State)} },
			"instance-type":     func(v *ec2types.CapacityReservation) []string { return table.One(v.InstanceType) },
			"availability-zone": func(v *ec2types.CapacityReservation) []string { return table.One(v.AvailabilityZone) },
		},
		Tags: func(v *ec2types.CapacityReservation) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: 1, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeCapacityReservationsOutput{CapacityReservations: deepcopy.Each(list), NextToken: next}, nil
}

// DescribePlacementGroups lists placement groups: all of them, for the call has no pages.
func (s API) DescribePlacementGroups(in *ec2.DescribePlacementGroupsInput) (*ec2.DescribePlacementGroupsOutput, error) {
	defer s.w.Enter()()
	list, _, err := table.Selection[ec2types.PlacementGroup]{
		Table: s.w.PlacementGroups, ID: func(v *ec2types.PlacementGroup) *string { return v.GroupId }, IDs: in.GroupIds,
		Missing: func(ids []string) *wire.Error {
			return wire.Errorf("InvalidPlacementGroup.Unknown", "The Placement Group '%v' is unknown.", ids)
		},
		Filters: in.Filters,
		Known: table.Filters[ec2types.PlacementGroup]{
			"group-name":   func(v *ec2types.PlacementGroup) []string { return table.One(v.GroupName) },
			"group-arn":    func(v *ec2types.PlacementGroup) []string { return table.One(v.GroupArn) },
			"spread-level": func(v *ec2types.PlacementGroup) []string { return []string{string(v.SpreadLevel)} },
			"state":        func(v *ec2types.PlacementGroup) []string { return []string{string(v.State)} },
			"strategy":     func(v *ec2types.PlacementGroup) []string { return []string{string(v.Strategy)} },
		},
		Tags: func(v *ec2types.PlacementGroup) []ec2types.Tag { return v.Tags },
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribePlacementGroupsOutput{PlacementGroups: deepcopy.Each(list)}, nil
}
