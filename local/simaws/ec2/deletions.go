package ec2

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/nodegroup"
)

// DeleteSubnet takes a subnet without interfaces away.
func (s API) DeleteSubnet(in *ec2.DeleteSubnetInput) (*ec2.DeleteSubnetOutput, error) {
	defer s.w.Enter()()
	w, id := s.w, aws.ToString(in.SubnetId)
	if w.Subnets.Get(id) == nil {
		return nil, notFound("InvalidSubnetID.NotFound", "subnet ID")([]string{id})
	}
	for _, i := range w.Interfaces.All() {
		if aws.ToString(i.SubnetId) == id {
			return nil, wire.Errorf("DependencyViolation", "The subnet '%s' has dependencies and cannot be deleted.", id)
		}
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	w.Subnets.Remove(id)
	delete(w.Pools, id)
	for _, t := range w.RouteTables.All() {
		kept := t.Associations[:0:0]
		for _, a := range t.Associations {
			if aws.ToString(a.SubnetId) != id {
				kept = append(kept, a)
			}
		}
		t.Associations = kept
	}
	nodegroup.CheckHealthLater(w)
	return &ec2.DeleteSubnetOutput{}, nil
}

// DeleteLaunchTemplate takes a launch template with all versions away. Groups
// go on naming it.
func (s API) DeleteLaunchTemplate(in *ec2.DeleteLaunchTemplateInput) (*ec2.DeleteLaunchTemplateOutput, error) {
	defer s.w.Enter()()
	id, name := aws.ToString(in.LaunchTemplateId), aws.ToString(in.LaunchTemplateName)
	t := s.w.TemplateNamed(id, name)
	if t == nil {
		if id != "" {
			return nil, wire.Errorf("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", id)
		}
		return nil, wire.Errorf("InvalidLaunchTemplateName.NotFoundException", "The specified launch template, with template name %s, does not exist.", name)
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	out := &ec2.DeleteLaunchTemplateOutput{LaunchTemplate: deepcopy.Of(t)}
	s.w.DropTemplate(aws.ToString(t.LaunchTemplateId))
	nodegroup.CheckHealthLater(s.w)
	return out, nil
}
