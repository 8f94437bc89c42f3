package world

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
)

// DescribeInstanceTypes lists the known instance types, 100 to a page.
func (s EC2) DescribeInstanceTypes(in *ec2.DescribeInstanceTypesInput) (*ec2.DescribeInstanceTypesOutput, error) {
	defer s.w.enter()()
	ids := make([]string, len(in.InstanceTypes))
	for i, t := range in.InstanceTypes {
		ids[i] = string(t)
	}
	list, next, err := selection[ec2types.InstanceTypeInfo]{
		table: s.w.instanceTypes, id: func(v *ec2types.InstanceTypeInfo) *string { return ptr(string(v.InstanceType)) }, ids: ids,
		missing: func(ids []string) *wire.Error {
			return wire.Errorf("InvalidInstanceType", "The following supplied instance types do not exist: %v", ids)
		},
		filters: in.Filters,
		known: filters[ec2types.InstanceTypeInfo]{
			"instance-type": func(v *ec2types.InstanceTypeInfo) []string { return []string{string(v.InstanceType)} },
			"bare-metal":    func(v *ec2types.InstanceTypeInfo) []string { return yesNo(v.BareMetal) },
			"processor-info.supported-architecture": func(v *ec2types.InstanceTypeInfo) []string {
				if v.ProcessorInfo == nil {
					return nil
				}
				return each(v.ProcessorInfo.SupportedArchitectures, func(a ec2types.ArchitectureType) *string { return ptr(string(a)) })
			},
			"current-generation": func(v *ec2types.InstanceTypeInfo) []string { return yesNo(v.CurrentGeneration) },
		},
		size: in.MaxResults, token: in.NextToken, min: ec2MinPage, max: 100, usual: 100, idsBarPaging: "instanceTypes",
	}.run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeInstanceTypesOutput{InstanceTypes: clones(list), NextToken: next}, nil
}

// DescribeImages lists images.
func (s EC2) DescribeImages(in *ec2.DescribeImagesInput) (*ec2.DescribeImagesOutput, error) {
	defer s.w.enter()()
	list, next, err := selection[ec2types.Image]{
		table: s.w.images, id: func(v *ec2types.Image) *string { return v.ImageId }, ids: in.ImageIds,
		missing: func(ids []string) *wire.Error {
			return wire.Errorf("InvalidAMIID.NotFound", "The image id '%v' does not exist", ids)
		},
		filters: in.Filters,
		known: filters[ec2types.Image]{
			"image-id":     func(v *ec2types.Image) []string { return one(v.ImageId) },
			"name":         func(v *ec2types.Image) []string { return one(v.Name) },
			"architecture": func(v *ec2types.Image) []string { return []string{string(v.Architecture)} },
			"state":        func(v *ec2types.Image) []string { return []string{string(v.State)} },
			"owner-id":     func(v *ec2types.Image) []string { return one(v.OwnerId) },
		},
		tags: func(v *ec2types.Image) []ec2types.Tag { return v.Tags },
		size: in.MaxResults, token: in.NextToken, min: 1, max: ec2MaxPage,
	}.run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeImagesOutput{Images: clones(list), NextToken: next}, nil
}

// DescribeLaunchTemplateVersions lists versions of one template, or the
// default or latest version of all.
func (s EC2) DescribeLaunchTemplateVersions(in *ec2.DescribeLaunchTemplateVersionsInput) (*ec2.DescribeLaunchTemplateVersionsOutput, error) {
	defer s.w.enter()()
	w := s.w
	chosen := newTable[ec2types.LaunchTemplateVersion]()
	keep := func(v *ec2types.LaunchTemplateVersion) {
		chosen.put(aws.ToString(v.LaunchTemplateId)+"/"+strconv.FormatInt(aws.ToInt64(v.VersionNumber), 10), v)
	}
	id, name := aws.ToString(in.LaunchTemplateId), aws.ToString(in.LaunchTemplateName)
	switch {
	case id != "" || name != "":
		t := w.templateNamed(id, name)
		if t == nil && id != "" {
			return nil, wire.Errorf("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", id)
		}
		if t == nil {
			return nil, wire.Errorf("InvalidLaunchTemplateName.NotFoundException", "At least one of the launch templates specified in the request does not exist.")
		}
		if len(in.Versions) == 0 {
			for _, v := range w.templateVersions.all() {
				if aws.ToString(v.LaunchTemplateId) == aws.ToString(t.LaunchTemplateId) {
					keep(v)
				}
			}
		}
		for _, number := range in.Versions {
			v := w.templateVersion(aws.ToString(t.LaunchTemplateId), "", number)
			if v == nil {
				return nil, wire.Errorf("InvalidLaunchTemplateId.VersionNotFound", "Could not find the specified version %s for the launch template with ID %s.", number, aws.ToString(t.LaunchTemplateId))
			}
			keep(v)
		}
	case len(in.Versions) > 0:
		for _, t := range w.templates.all() {
			for _, number := range in.Versions {
				if number != "$Default" && number != "$Latest" {
					return nil, wire.Errorf("InvalidParameterValue", "Without a launch template only $Latest and $Default are allowed.")
				}
				if v := w.templateVersion(aws.ToString(t.LaunchTemplateId), "", number); v != nil {
					keep(v)
				}
			}
		}
	default:
		return nil, wire.Errorf("MissingParameter", "Either a launch template ID or a launch template name must be specified in the request.")
	}
	list, next, err := selection[ec2types.LaunchTemplateVersion]{
		table: chosen,
		id: func(v *ec2types.LaunchTemplateVersion) *string {
			return ptr(aws.ToString(v.LaunchTemplateId) + "/" + strconv.FormatInt(aws.ToInt64(v.VersionNumber), 10))
		},
		// One that is asked for by id or name is no list of templates.
		hidden: func(v *ec2types.LaunchTemplateVersion) bool {
			return id == "" && name == "" && w.hides(v.Operator, in.IncludeManagedResources)
		},
		filters: in.Filters,
		known: filters[ec2types.LaunchTemplateVersion]{
			"is-default-version": func(v *ec2types.LaunchTemplateVersion) []string { return yesNo(v.DefaultVersion) },
			"instance-type": func(v *ec2types.LaunchTemplateVersion) []string {
				return []string{string(v.LaunchTemplateData.InstanceType)}
			},
			"image-id": func(v *ec2types.LaunchTemplateVersion) []string { return one(v.LaunchTemplateData.ImageId) },
		},
		size: in.MaxResults, token: in.NextToken, min: 1, max: 200, usual: 200,
	}.run()
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeLaunchTemplateVersionsOutput{LaunchTemplateVersions: clones(list), NextToken: next}
	for i := range out.LaunchTemplateVersions {
		out.LaunchTemplateVersions[i].Operator = w.operatorShown(out.LaunchTemplateVersions[i].Operator)
	}
	return out, nil
}

// DescribeLaunchTemplates lists launch templates.
func (s EC2) DescribeLaunchTemplates(in *ec2.DescribeLaunchTemplatesInput) (*ec2.DescribeLaunchTemplatesOutput, error) {
	defer s.w.enter()()
	list, next, err := selection[ec2types.LaunchTemplate]{
		table: s.w.templates, id: func(v *ec2types.LaunchTemplate) *string { return v.LaunchTemplateId }, ids: in.LaunchTemplateIds,
		missing: notFound("InvalidLaunchTemplateId.NotFound", "launch template ID"), filters: in.Filters,
		known: filters[ec2types.LaunchTemplate]{
			"launch-template-name": func(v *ec2types.LaunchTemplate) []string { return one(v.LaunchTemplateName) },
		},
		hidden: func(v *ec2types.LaunchTemplate) bool { return s.w.hides(v.Operator, in.IncludeManagedResources) },
		tags:   func(v *ec2types.LaunchTemplate) []ec2types.Tag { return v.Tags },
		size:   in.MaxResults, token: in.NextToken, min: 1, max: 200, usual: 200,
	}.run()
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeLaunchTemplatesOutput{LaunchTemplates: clones(list), NextToken: next}
	for i := range out.LaunchTemplates {
		out.LaunchTemplates[i].Operator = s.w.operatorShown(out.LaunchTemplates[i].Operator)
	}
	return out, nil
}

// DescribePrefixLists lists AWS's own prefix lists.
func (s EC2) DescribePrefixLists(in *ec2.DescribePrefixListsInput) (*ec2.DescribePrefixListsOutput, error) {
	defer s.w.enter()()
	list, next, err := selection[ec2types.PrefixList]{
		table: s.w.prefixLists, id: func(v *ec2types.PrefixList) *string { return v.PrefixListId }, ids: in.PrefixListIds,
		missing: notFound("InvalidPrefixListId.NotFound", "prefix list ID"), filters: in.Filters,
		known: filters[ec2types.PrefixList]{
			"prefix-list-id":   func(v *ec2types.PrefixList) []string { return one(v.PrefixListId) },
			"prefix-list-name": func(v *ec2types.PrefixList) []string { return one(v.PrefixListName) },
		},
		size: in.MaxResults, token: in.NextToken, min: ec2MinPage, max: ec2MaxPage,
	}.run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribePrefixListsOutput{PrefixLists: clones(list), NextToken: next}, nil
}

// DescribeManagedPrefixLists lists managed prefix lists.
func (s EC2) DescribeManagedPrefixLists(in *ec2.DescribeManagedPrefixListsInput) (*ec2.DescribeManagedPrefixListsOutput, error) {
	defer s.w.enter()()
	list, next, err := selection[ec2types.ManagedPrefixList]{
		table: s.w.managedPrefixLists, id: func(v *ec2types.ManagedPrefixList) *string { return v.PrefixListId }, ids: in.PrefixListIds,
		missing: notFound("InvalidPrefixListID.NotFound", "prefix list ID"), filters: in.Filters,
		known: filters[ec2types.ManagedPrefixList]{
			"prefix-list-id":   func(v *ec2types.ManagedPrefixList) []string { return one(v.PrefixListId) },
			"prefix-list-name": func(v *ec2types.ManagedPrefixList) []string { return one(v.PrefixListName) },
			"owner-id":         func(v *ec2types.ManagedPrefixList) []string { return one(v.OwnerId) },
		},
		tags: func(v *ec2types.ManagedPrefixList) []ec2types.Tag { return v.Tags },
		size: in.MaxResults, token: in.NextToken, min: 1, max: 100, usual: 100,
	}.run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeManagedPrefixListsOutput{PrefixLists: clones(list), NextToken: next}, nil
}

// GetManagedPrefixListEntries lists the blocks of a prefix list.
func (s EC2) GetManagedPrefixListEntries(in *ec2.GetManagedPrefixListEntriesInput) (*ec2.GetManagedPrefixListEntriesOutput, error) {
	defer s.w.enter()()
	id := aws.ToString(in.PrefixListId)
	if s.w.managedPrefixLists.get(id) == nil {
		return nil, notFound("InvalidPrefixListID.NotFound", "prefix list ID")([]string{id})
	}
	return &ec2.GetManagedPrefixListEntriesOutput{Entries: clone(s.w.prefixListEntries[id])}, nil
}
