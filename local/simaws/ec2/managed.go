package ec2

import (
	"cmp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
)

// Managed resources: what an AWS service (EKS Auto Mode, ECS managed instances,
// Lambda, WorkSpaces) runs in the account carries Operator.Managed. EC2's model
// (botocore 1.43.11, ec2/2016-11-15): seven describe calls have
// IncludeManagedResources, "if true, the output includes resources that are
// managed by Amazon Web Services services, even if managed resource visibility
// is set to hidden"; the visibility is one setting of the account for "all IAM
// principals uniformly" (ModifyManagedResourceVisibility).
//
// Two things the model does not say:
//   - Which of the two an account begins with. What others saw is hidden: "will
//     not get the ENI for managed resource by default"
//     (kubernetes-sigs/aws-load-balancer-controller#4730).
//   - What of resources that a request names by id. They are shown: the feature
//     is about "API list operations" (announcement of 22 April 2026, quoted in
//     hashicorp/terraform-provider-aws#47609), and #4730's review leaves the
//     parameter out where ids are given. A filter by id is a list.

// visibility is the account's setting.
func visibility(w *state.State) ec2types.ManagedResourceDefaultVisibility {
	if v := w.File.EC2.ManagedResourceVisibility; v != nil && v.DefaultVisibility != "" {
		return v.DefaultVisibility
	}
	return ec2types.ManagedResourceDefaultVisibilityHidden
}

// hides tells whether a resource is left out of a list that was asked for with
// the parameter include.
func hides(w *state.State, o *ec2types.OperatorResponse, include *bool) bool {
	return state.IsManaged(o) && !aws.ToBool(include) && visibility(w) == ec2types.ManagedResourceDefaultVisibilityHidden
}

// operatorShown is an operator as it is described: with what the account's
// setting is now.
func operatorShown(w *state.State, o *ec2types.OperatorResponse) *ec2types.OperatorResponse {
	out := deepcopy.Of(o)
	if state.IsManaged(o) {
		out.HiddenByDefault = aws.Bool(visibility(w) == ec2types.ManagedResourceDefaultVisibilityHidden)
	}
	return out
}

// operatorFilters are the two filters of what can be managed.
func operatorFilters[T any](known table.Filters[T], of func(*T) *ec2types.OperatorResponse) table.Filters[T] {
	known["operator.managed"] = func(v *T) []string {
		if state.IsManaged(of(v)) {
			return []string{"true"}
		}
		return []string{"false"}
	}
	known["operator.principal"] = func(v *T) []string {
		if o := of(v); o != nil {
			return table.One(o.Principal)
		}
		return nil
	}
	return known
}

// GetManagedResourceVisibility tells the account's setting.
func (s API) GetManagedResourceVisibility(in *ec2.GetManagedResourceVisibilityInput) (*ec2.GetManagedResourceVisibilityOutput, error) {
	defer s.w.Enter()()
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	return &ec2.GetManagedResourceVisibilityOutput{Visibility: &ec2types.ManagedResourceVisibilitySettings{DefaultVisibility: visibility(s.w)}}, nil
}

// ModifyManagedResourceVisibility changes it.
func (s API) ModifyManagedResourceVisibility(in *ec2.ModifyManagedResourceVisibilityInput) (*ec2.ModifyManagedResourceVisibilityOutput, error) {
	defer s.w.Enter()()
	switch in.DefaultVisibility {
	case ec2types.ManagedResourceDefaultVisibilityHidden, ec2types.ManagedResourceDefaultVisibilityVisible:
	default:
		return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter DefaultVisibility is invalid. Valid values: hidden | visible.", in.DefaultVisibility)
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	settings := &ec2types.ManagedResourceVisibilitySettings{DefaultVisibility: in.DefaultVisibility}
	s.w.File.EC2.ManagedResourceVisibility = settings
	return &ec2.ModifyManagedResourceVisibilityOutput{Visibility: deepcopy.Of(settings)}, nil
}

// GetAllowedImagesSettings returns the account's Allowed AMIs.
func (s API) GetAllowedImagesSettings(in *ec2.GetAllowedImagesSettingsInput) (*ec2.GetAllowedImagesSettingsOutput, error) {
	defer s.w.Enter()()
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	a := s.w.File.EC2.AllowedImagesSettings
	if a == nil {
		return &ec2.GetAllowedImagesSettingsOutput{State: aws.String("disabled"), ManagedBy: ec2types.ManagedByAccount}, nil
	}
	return &ec2.GetAllowedImagesSettingsOutput{State: aws.String(a.State), ManagedBy: cmp.Or(a.ManagedBy, ec2types.ManagedByAccount), ImageCriteria: deepcopy.Of(a.ImageCriteria)}, nil
}

// GetInstanceMetadataDefaults returns the account's metadata defaults.
func (s API) GetInstanceMetadataDefaults(in *ec2.GetInstanceMetadataDefaultsInput) (*ec2.GetInstanceMetadataDefaultsOutput, error) {
	defer s.w.Enter()()
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	d := s.w.File.EC2.InstanceMetadataDefaults
	if d == nil {
		d = &ec2types.InstanceMetadataDefaultsResponse{ManagedBy: ec2types.ManagedByAccount}
	}
	return &ec2.GetInstanceMetadataDefaultsOutput{AccountLevel: deepcopy.Of(d)}, nil
}

// operatorOf is who a request names as the operator.
func operatorOf(o *ec2types.OperatorRequest) string {
	if o == nil {
		return ""
	}
	return aws.ToString(o.Principal)
}

// DescribeVolumeStatus tells that volumes are well.
func (s API) DescribeVolumeStatus(in *ec2.DescribeVolumeStatusInput) (*ec2.DescribeVolumeStatusOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.Volume]{
		Table: s.w.Volumes, ID: func(v *ec2types.Volume) *string { return v.VolumeId }, IDs: in.VolumeIds,
		Missing: notFound("InvalidVolume.NotFound", "volume"), Filters: in.Filters,
		Hidden: func(v *ec2types.Volume) bool { return hides(s.w, v.Operator, in.IncludeManagedResources) },
		Known: table.Filters[ec2types.Volume]{
			"availability-zone":    func(v *ec2types.Volume) []string { return table.One(v.AvailabilityZone) },
			"volume-status.status": func(*ec2types.Volume) []string { return []string{string(ec2types.VolumeStatusInfoStatusOk)} },
		},
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage, IDsBarPaging: "volumeIds",
	}.Run()
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeVolumeStatusOutput{NextToken: next}
	for _, v := range list {
		out.VolumeStatuses = append(out.VolumeStatuses, ec2types.VolumeStatusItem{
			VolumeId: deepcopy.Of(v.VolumeId), AvailabilityZone: deepcopy.Of(v.AvailabilityZone), AvailabilityZoneId: deepcopy.Of(v.AvailabilityZoneId),
			Operator:     operatorShown(s.w, v.Operator),
			VolumeStatus: &ec2types.VolumeStatusInfo{Status: ec2types.VolumeStatusInfoStatusOk},
		})
	}
	return out, nil
}

// refusedByOperator is EC2's refusal of a customer who would end a managed
// instance (aws/eks-node-monitoring-agent#151): its Node object is what a
// customer deletes.
func refusedByOperator(in *ec2types.Instance) error {
	if !state.IsManaged(in.Operator) {
		return nil
	}
	return wire.Errorf("UnauthorizedOperation", "You are not authorized to perform this operation. "+
		"The instance %s is managed by %s: ec2:TerminateInstances is denied with an explicit deny in a resource-based policy.",
		aws.ToString(in.InstanceId), aws.ToString(in.Operator.Principal))
}
