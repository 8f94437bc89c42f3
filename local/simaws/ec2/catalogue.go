package ec2

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/lifecycle"
	"rollcall/local/simaws/table"
)

// DescribeInstanceTypes lists the known instance types, 100 to a page.
func (s API) DescribeInstanceTypes(in *ec2.DescribeInstanceTypesInput) (*ec2.DescribeInstanceTypesOutput, error) {
	defer s.w.Enter()()
	ids := make([]string, len(in.InstanceTypes))
	for i, t := range in.InstanceTypes {
		ids[i] = string(t)
	}
	list, next, err := table.Selection[ec2types.InstanceTypeInfo]{
		Table: s.w.InstanceTypes, ID: func(v *ec2types.InstanceTypeInfo) *string { return new(string(v.InstanceType)) }, IDs: ids,
		Missing: func(ids []string) *wire.Error {
			return wire.Errorf("InvalidInstanceType", "The following supplied instance types do not exist: %v", ids)
		},
		Filters: in.Filters,
		Known: table.Filters[ec2types.InstanceTypeInfo]{
			"instance-type": func(v *ec2types.InstanceTypeInfo) []string { return []string{string(v.InstanceType)} },
			"bare-metal":    func(v *ec2types.InstanceTypeInfo) []string { return table.YesNo(v.BareMetal) },
			"processor-info.supported-architecture": func(v *ec2types.InstanceTypeInfo) []string {
				if v.ProcessorInfo == nil {
					return nil
				}
				return table.Each(v.ProcessorInfo.SupportedArchitectures, func(a ec2types.ArchitectureType) *string { return new(string(a)) })
			},
			"current-generation": func(v *ec2types.InstanceTypeInfo) []string { return table.YesNo(v.CurrentGeneration) },
		},
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: 100, Usual: 100, IDsBarPaging: "instanceTypes",
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeInstanceTypesOutput{InstanceTypes: deepcopy.Each(list), NextToken: next}, nil
}

// DescribeImages lists images.
func (s API) DescribeImages(in *ec2.DescribeImagesInput) (*ec2.DescribeImagesOutput, error) {
	defer s.w.Enter()()
	chosen := table.New[ec2types.Image]()
	for _, i := range s.w.Images.All() {
		if i.State != ec2types.ImageStateDeregistered && !lifecycle.ImageHidden(s.w, *i.ImageId) && (len(in.Owners) == 0 || s.owned(i, in.Owners)) {
			chosen.Put(*i.ImageId, i)
		}
	}
	list, next, err := table.Selection[ec2types.Image]{
		Table: chosen, ID: func(v *ec2types.Image) *string { return v.ImageId }, IDs: in.ImageIds,
		Missing: func(ids []string) *wire.Error {
			return wire.Errorf("InvalidAMIID.NotFound", "The image id '%v' does not exist", ids)
		},
		Filters: in.Filters,
		Known: table.Filters[ec2types.Image]{
			"image-id":     func(v *ec2types.Image) []string { return table.One(v.ImageId) },
			"name":         func(v *ec2types.Image) []string { return table.One(v.Name) },
			"architecture": func(v *ec2types.Image) []string { return []string{string(v.Architecture)} },
			"state":        func(v *ec2types.Image) []string { return []string{string(v.State)} },
			"owner-id":     func(v *ec2types.Image) []string { return table.One(v.OwnerId) },
		},
		Tags: func(v *ec2types.Image) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: 1, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeImagesOutput{Images: deepcopy.Each(list), NextToken: next}, nil
}

// DescribeInstanceImageMetadata describes the images of instances, also those that are
// deregistered; of an image that the world does not have it knows the id alone.
func (s API) DescribeInstanceImageMetadata(in *ec2.DescribeInstanceImageMetadataInput) (*ec2.DescribeInstanceImageMetadataOutput, error) {
	defer s.w.Enter()()
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	list, next, err := table.Selection[ec2types.Instance]{
		Table: s.w.Instances, ID: func(v *ec2types.Instance) *string { return v.InstanceId }, IDs: in.InstanceIds, Missing: instanceMissing, Filters: in.Filters,
		Known: table.Filters[ec2types.Instance]{
			"availability-zone":   func(v *ec2types.Instance) []string { return table.One(v.Placement.AvailabilityZone) },
			"instance-id":         func(v *ec2types.Instance) []string { return table.One(v.InstanceId) },
			"instance-state-name": func(v *ec2types.Instance) []string { return []string{string(v.State.Name)} },
			"instance-type":       func(v *ec2types.Instance) []string { return []string{string(v.InstanceType)} },
		},
		Tags: func(v *ec2types.Instance) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstanceImageMetadataOutput{NextToken: next}
	for _, v := range list {
		m := &ec2types.ImageMetadata{ImageId: v.ImageId}
		if i := s.w.Images.Get(aws.ToString(v.ImageId)); i != nil {
			m = &ec2types.ImageMetadata{
				ImageId: i.ImageId, Name: i.Name, OwnerId: i.OwnerId, ImageOwnerAlias: i.ImageOwnerAlias, State: i.State, IsPublic: i.Public,
				CreationDate: i.CreationDate, DeprecationTime: i.DeprecationTime, ImageAllowed: i.ImageAllowed,
			}
		}
		out.InstanceImageMetadata = append(out.InstanceImageMetadata, ec2types.InstanceImageMetadata{
			InstanceId: v.InstanceId, InstanceType: v.InstanceType, LaunchTime: v.LaunchTime, AvailabilityZone: v.Placement.AvailabilityZone,
			OwnerId: aws.String(s.w.Account), State: v.State, Tags: v.Tags, ImageMetadata: m,
		})
	}
	return deepcopy.Of(out), nil
}

// owned tells that an image is one of some owners: accounts, "self", or an alias such as
// "amazon" (EC2 API, DescribeImages, Owner.N).
func (s API) owned(i *ec2types.Image, owners []string) bool {
	owner := cmp.Or(aws.ToString(i.OwnerId), s.w.Account)
	return slices.ContainsFunc(owners, func(o string) bool {
		return o == owner || o == "self" && owner == s.w.Account || o != "" && o == aws.ToString(i.ImageOwnerAlias)
	})
}

// DescribeLaunchTemplateVersions lists versions of one template, or the
// default or latest version of all.
func (s API) DescribeLaunchTemplateVersions(in *ec2.DescribeLaunchTemplateVersionsInput) (*ec2.DescribeLaunchTemplateVersionsOutput, error) {
	defer s.w.Enter()()
	w := s.w
	chosen := table.New[ec2types.LaunchTemplateVersion]()
	keep := func(v *ec2types.LaunchTemplateVersion) {
		chosen.Put(aws.ToString(v.LaunchTemplateId)+"/"+strconv.FormatInt(aws.ToInt64(v.VersionNumber), 10), v)
	}
	id, name := aws.ToString(in.LaunchTemplateId), aws.ToString(in.LaunchTemplateName)
	switch {
	case id != "" || name != "":
		t := w.TemplateNamed(id, name)
		if t == nil && id != "" {
			return nil, wire.Errorf("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", id)
		}
		if t == nil {
			return nil, wire.Errorf("InvalidLaunchTemplateName.NotFoundException", "At least one of the launch templates specified in the request does not exist.")
		}
		if len(in.Versions) == 0 {
			for _, v := range w.TemplateVersions.All() {
				if aws.ToString(v.LaunchTemplateId) == aws.ToString(t.LaunchTemplateId) {
					keep(v)
				}
			}
		}
		for _, number := range in.Versions {
			v := w.TemplateVersion(aws.ToString(t.LaunchTemplateId), "", number)
			if v == nil {
				return nil, wire.Errorf("InvalidLaunchTemplateId.VersionNotFound", "Could not find the specified version %s for the launch template with ID %s.", number, aws.ToString(t.LaunchTemplateId))
			}
			keep(v)
		}
	case len(in.Versions) > 0:
		for _, t := range w.Templates.All() {
			for _, number := range in.Versions {
				if number != "$Default" && number != "$Latest" {
					return nil, wire.Errorf("InvalidParameterValue", "Without a launch template only $Latest and $Default are allowed.")
				}
				if v := w.TemplateVersion(aws.ToString(t.LaunchTemplateId), "", number); v != nil {
					keep(v)
				}
			}
		}
	default:
		return nil, wire.Errorf("MissingParameter", "Either a launch template ID or a launch template name must be specified in the request.")
	}
	list, next, err := table.Selection[ec2types.LaunchTemplateVersion]{
		Table: chosen,
		ID: func(v *ec2types.LaunchTemplateVersion) *string {
			return new(aws.ToString(v.LaunchTemplateId) + "/" + strconv.FormatInt(aws.ToInt64(v.VersionNumber), 10))
		},
		// One that is asked for by id or name is no list of templates.
		Hidden: func(v *ec2types.LaunchTemplateVersion) bool {
			return id == "" && name == "" && hides(w, v.Operator, in.IncludeManagedResources)
		},
		Filters: in.Filters,
		Known: table.Filters[ec2types.LaunchTemplateVersion]{
			"is-default-version": func(v *ec2types.LaunchTemplateVersion) []string { return table.YesNo(v.DefaultVersion) },
			"instance-type": func(v *ec2types.LaunchTemplateVersion) []string {
				return []string{string(v.LaunchTemplateData.InstanceType)}
			},
			"image-id": func(v *ec2types.LaunchTemplateVersion) []string { return table.One(v.LaunchTemplateData.ImageId) },
		},
		Size: in.MaxResults, Token: in.NextToken, Min: 1, Max: 200, Usual: 200,
	}.Run()
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeLaunchTemplateVersionsOutput{LaunchTemplateVersions: deepcopy.Each(list), NextToken: next}
	for i := range out.LaunchTemplateVersions {
		out.LaunchTemplateVersions[i].Operator = operatorShown(w, out.LaunchTemplateVersions[i].Operator)
	}
	return out, nil
}

// DescribeLaunchTemplates lists launch templates.
func (s API) DescribeLaunchTemplates(in *ec2.DescribeLaunchTemplatesInput) (*ec2.DescribeLaunchTemplatesOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.LaunchTemplate]{
		Table: s.w.Templates, ID: func(v *ec2types.LaunchTemplate) *string { return v.LaunchTemplateId }, IDs: in.LaunchTemplateIds,
		Missing: notFound("InvalidLaunchTemplateId.NotFound", "launch template ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.LaunchTemplate]{
			"launch-template-name": func(v *ec2types.LaunchTemplate) []string { return table.One(v.LaunchTemplateName) },
		},
		Hidden: func(v *ec2types.LaunchTemplate) bool { return hides(s.w, v.Operator, in.IncludeManagedResources) },
		Tags:   func(v *ec2types.LaunchTemplate) []ec2types.Tag { return v.Tags },
		Size:   in.MaxResults, Token: in.NextToken, Min: 1, Max: 200, Usual: 200,
	}.Run()
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeLaunchTemplatesOutput{LaunchTemplates: deepcopy.Each(list), NextToken: next}
	for i := range out.LaunchTemplates {
		out.LaunchTemplates[i].Operator = operatorShown(s.w, out.LaunchTemplates[i].Operator)
	}
	return out, nil
}

// DescribePrefixLists lists AWS's own prefix lists.
func (s API) DescribePrefixLists(in *ec2.DescribePrefixListsInput) (*ec2.DescribePrefixListsOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.PrefixList]{
		Table: s.w.PrefixLists, ID: func(v *ec2types.PrefixList) *string { return v.PrefixListId }, IDs: in.PrefixListIds,
		Missing: notFound("InvalidPrefixListId.NotFound", "prefix list ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.PrefixList]{
			"prefix-list-id":   func(v *ec2types.PrefixList) []string { return table.One(v.PrefixListId) },
			"prefix-list-name": func(v *ec2types.PrefixList) []string { return table.One(v.PrefixListName) },
		},
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribePrefixListsOutput{PrefixLists: deepcopy.Each(list), NextToken: next}, nil
}

// DescribeManagedPrefixLists lists managed prefix lists.
func (s API) DescribeManagedPrefixLists(in *ec2.DescribeManagedPrefixListsInput) (*ec2.DescribeManagedPrefixListsOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.ManagedPrefixList]{
		Table: s.w.ManagedPrefixLists, ID: func(v *ec2types.ManagedPrefixList) *string { return v.PrefixListId }, IDs: in.PrefixListIds,
		Missing: notFound("InvalidPrefixListID.NotFound", "prefix list ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.ManagedPrefixList]{
			"prefix-list-id":   func(v *ec2types.ManagedPrefixList) []string { return table.One(v.PrefixListId) },
			"prefix-list-name": func(v *ec2types.ManagedPrefixList) []string { return table.One(v.PrefixListName) },
			"owner-id":         func(v *ec2types.ManagedPrefixList) []string { return table.One(v.OwnerId) },
		},
		Tags: func(v *ec2types.ManagedPrefixList) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: 1, Max: 100, Usual: 100,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeManagedPrefixListsOutput{PrefixLists: deepcopy.Each(list), NextToken: next}, nil
}

// GetManagedPrefixListEntries lists the blocks of a prefix list.
func (s API) GetManagedPrefixListEntries(in *ec2.GetManagedPrefixListEntriesInput) (*ec2.GetManagedPrefixListEntriesOutput, error) {
	defer s.w.Enter()()
	id := aws.ToString(in.PrefixListId)
	if s.w.ManagedPrefixLists.Get(id) == nil {
		return nil, notFound("InvalidPrefixListID.NotFound", "prefix list ID")([]string{id})
	}
	return &ec2.GetManagedPrefixListEntriesOutput{Entries: deepcopy.Of(s.w.PrefixListEntries[id])}, nil
}
