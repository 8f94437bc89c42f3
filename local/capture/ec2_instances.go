package capture

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
)

// DescribeInstances answers with the instances that the capture holds.
func (a API) DescribeInstances(in *ec2.DescribeInstancesInput) (*ec2.DescribeInstancesOutput, error) {
	all, err := read[ec2.DescribeInstancesOutput](a.c, "ec2-describe-instances")
	if err != nil {
		return nil, err
	}
	var list []ec2types.Instance
	for _, r := range all.Reservations {
		list = append(list, r.Instances...)
	}
	if err := a.c.unseen(in.Filters, list); err != nil {
		return nil, err
	}
	list, err = choice[ec2types.Instance]{
		list: list, ids: in.InstanceIds, id: "InstanceId", missing: "InvalidInstanceID.NotFound", filters: in.Filters,
		also: map[string]string{
			"instance-state-name": "state.name", "availability-zone": "placement.availability-zone",
			"instance.group-id": "security-groups.group-id", "iam-instance-profile.arn": "iam-instance-profile.arn",
			"network-interface.network-interface-id": "network-interfaces.network-interface-id",
		},
	}.run()
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstancesOutput{}
	for _, r := range all.Reservations {
		kept := items(r.Instances, func(in ec2types.Instance) bool {
			return slices.ContainsFunc(list, func(l ec2types.Instance) bool {
				return aws.ToString(l.InstanceId) == aws.ToString(in.InstanceId)
			})
		})
		if len(kept) > 0 {
			r.Instances = kept
			out.Reservations = append(out.Reservations, r)
		}
	}
	return out, nil
}

// DescribeInstanceStatus answers with the states that the capture holds: those
// of running instances, unless it was taken with --include-all-instances.
func (a API) DescribeInstanceStatus(in *ec2.DescribeInstanceStatusInput) (*ec2.DescribeInstanceStatusOutput, error) {
	all, err := read[ec2.DescribeInstanceStatusOutput](a.c, "ec2-describe-instance-status")
	if err != nil {
		return nil, err
	}
	list := all.InstanceStatuses
	if len(in.InstanceIds) > 0 {
		list = items(list, func(s ec2types.InstanceStatus) bool {
			return slices.Contains(in.InstanceIds, aws.ToString(s.InstanceId))
		})
	}
	list, err = choice[ec2types.InstanceStatus]{
		list: list, filters: in.Filters, also: map[string]string{"instance-state-name": "instance-state.name"},
	}.run()
	return &ec2.DescribeInstanceStatusOutput{InstanceStatuses: list}, err
}

// DescribeInstanceTypes answers for types that the capture holds. One that it
// does not hold was not looked up: EC2 has all that an instance can be of.
func (a API) DescribeInstanceTypes(in *ec2.DescribeInstanceTypesInput) (*ec2.DescribeInstanceTypesOutput, error) {
	const file = "ec2-describe-instance-types"
	all, err := read[ec2.DescribeInstanceTypesOutput](a.c, file)
	if err != nil {
		return nil, err
	}
	list := all.InstanceTypes
	if len(in.InstanceTypes) > 0 {
		list = items(list, func(t ec2types.InstanceTypeInfo) bool { return slices.Contains(in.InstanceTypes, t.InstanceType) })
	}
	for _, want := range in.InstanceTypes {
		if !slices.ContainsFunc(list, func(t ec2types.InstanceTypeInfo) bool { return t.InstanceType == want }) {
			return nil, wire.Errorf(NotCaptured, "%s.json "+NotAmong+" %s", file, want)
		}
	}
	list, err = choice[ec2types.InstanceTypeInfo]{list: list, filters: in.Filters}.run()
	return &ec2.DescribeInstanceTypesOutput{InstanceTypes: list}, err
}

// DescribeInstanceTypeOfferings answers with those that the capture holds, which
// are those of the zones.
func (a API) DescribeInstanceTypeOfferings(in *ec2.DescribeInstanceTypeOfferingsInput) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	all, err := read[ec2.DescribeInstanceTypeOfferingsOutput](a.c, "ec2-describe-instance-type-offerings")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.InstanceTypeOffering]{
		list: items(all.InstanceTypeOfferings, func(o ec2types.InstanceTypeOffering) bool { return o.LocationType == in.LocationType }), filters: in.Filters,
	}.run()
	return &ec2.DescribeInstanceTypeOfferingsOutput{InstanceTypeOfferings: list}, err
}

// DescribeCapacityReservations answers with those of the region.
func (a API) DescribeCapacityReservations(in *ec2.DescribeCapacityReservationsInput) (*ec2.DescribeCapacityReservationsOutput, error) {
	all, err := read[ec2.DescribeCapacityReservationsOutput](a.c, "ec2-describe-capacity-reservations")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.CapacityReservation]{
		list: all.CapacityReservations, ids: in.CapacityReservationIds, id: "CapacityReservationId", missing: "InvalidCapacityReservationId.NotFound", filters: in.Filters,
	}.run()
	return &ec2.DescribeCapacityReservationsOutput{CapacityReservations: list}, err
}

// DescribePlacementGroups answers with those of the region.
func (a API) DescribePlacementGroups(in *ec2.DescribePlacementGroupsInput) (*ec2.DescribePlacementGroupsOutput, error) {
	all, err := read[ec2.DescribePlacementGroupsOutput](a.c, "ec2-describe-placement-groups")
	if err != nil {
		return nil, err
	}
	list, err := choice[ec2types.PlacementGroup]{
		list: all.PlacementGroups, ids: in.GroupIds, id: "GroupId", missing: "InvalidPlacementGroup.Unknown", filters: in.Filters,
	}.run()
	return &ec2.DescribePlacementGroupsOutput{PlacementGroups: list}, err
}

// DescribeInstanceAttribute answers with the one attribute that was asked for.
func (a API) DescribeInstanceAttribute(in *ec2.DescribeInstanceAttributeInput) (*ec2.DescribeInstanceAttributeOutput, error) {
	all, err := read[ec2.DescribeInstanceAttributeOutput](a.c, "ec2-describe-instance-attribute", aws.ToString(in.InstanceId), string(in.Attribute))
	if err != nil {
		return nil, err
	}
	out := *all
	out.InstanceId = in.InstanceId
	if out.UserData == nil {
		out.UserData = &ec2types.AttributeValue{}
	} else {
		out.UserData = &ec2types.AttributeValue{Value: inBase64(out.UserData.Value)}
	}
	return &out, nil
}

// GetConsoleOutput answers with the console's text. The CLI has decoded it;
// the API's answer is base64.
func (a API) GetConsoleOutput(in *ec2.GetConsoleOutputInput) (*ec2.GetConsoleOutputOutput, error) {
	all, err := read[ec2.GetConsoleOutputOutput](a.c, "ec2-get-console-output", aws.ToString(in.InstanceId))
	if err != nil {
		return nil, err
	}
	out := *all
	out.InstanceId, out.Output = in.InstanceId, inBase64(out.Output)
	return &out, nil
}

// inBase64 is text as EC2 sends it. What is base64 already is left as it is:
// a console's text never is, as it has spaces and brackets.
func inBase64(text *string) *string {
	if text == nil || *text == "" {
		return text
	}
	packed := strings.Join(strings.Fields(*text), "")
	if _, err := base64.StdEncoding.DecodeString(packed); err == nil {
		return &packed
	}
	return aws.String(base64.StdEncoding.EncodeToString([]byte(*text)))
}
