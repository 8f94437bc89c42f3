// Package ec2 is the account's EC2 API: one method for each operation, with its
// filters, pages and errors.
package ec2

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/authorization"
	"rollcall/stage/simaws/lifecycle"
	"rollcall/stage/simaws/nodegroup"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/table"
	"rollcall/stage/simaws/trail"
)

// API is the world's EC2 API, one method for each operation.
type API struct {
	w *state.State
	// caller is the ARN of the role's session that IAM judges calls that launch by;
	// empty is a caller that may do everything, or whom others judge.
	caller string
}

// New is the EC2 API of an account.
func New(w *state.State) API { return API{w: w} }

// For is the EC2 API as a role's session has it, by its ARN.
func For(w *state.State, caller string) API { return API{w, caller} }

// ec2MinPage and ec2MaxPage bound MaxResults in most of EC2's calls.
const (
	ec2MinPage = 5
	ec2MaxPage = 1000
)

// dryRun answers a call that asked only whether it would be allowed.
func dryRun(asked *bool) error {
	if !aws.ToBool(asked) {
		return nil
	}
	return &wire.Error{Code: "DryRunOperation", Message: "Request would have succeeded, but DryRun flag is set.", Status: 412}
}

// notFound makes the error of ids that do not exist.
func notFound(code, kind string) func([]string) *wire.Error {
	return func(ids []string) *wire.Error {
		if len(ids) == 1 {
			return wire.Errorf(code, "The %s '%s' does not exist", kind, ids[0])
		}
		return wire.Errorf(code, "The %ss '%s' do not exist", kind, strings.Join(ids, ", "))
	}
}

// tagsFor are the tags that a create call gives a new resource.
func tagsFor(specs []ec2types.TagSpecification, kind ec2types.ResourceType) []ec2types.Tag {
	var out []ec2types.Tag
	for _, s := range specs {
		if s.ResourceType == kind {
			out = append(out, state.Copy(s.Tags)...)
		}
	}
	return out
}

// rulesPerGroup is how many rules a security group may have in one direction
// (EC2's default quota, "Inbound or outbound rules per security group"). IPv4
// and IPv6 are counted apart, and a group that is named counts in both.
const rulesPerGroup = 60

// authorize adds rules to one direction of a group, all of them or none.
func authorize(w *state.State, g *ec2types.SecurityGroup, have *[]ec2types.IpPermission, add []ec2types.IpPermission, dry *bool) error {
	add = split(add)
	if len(add) == 0 {
		return wire.Errorf("MissingParameter", "The request must contain the parameter ipPermissions with at least one source or destination")
	}
	known := split(*have)
	for i, p := range add {
		same := func(k ec2types.IpPermission) bool { return peer(k) == peer(p) }
		if slices.ContainsFunc(known, same) {
			return wire.Errorf("InvalidPermission.Duplicate", "the specified rule \"peer: %s, %s, from port: %s, to port: %s, ALLOW\" already exists", peer(p)[3], peer(p)[0], peer(p)[1], peer(p)[2])
		}
		if slices.ContainsFunc(add[:i], same) {
			return wire.Errorf("InvalidParameterValue", "The same permission must not appear multiple times")
		}
		if err := checkRule(w, g, p); err != nil {
			return err
		}
	}
	for _, six := range []bool{false, true} {
		if count(known, six)+count(add, six) > rulesPerGroup {
			return wire.Errorf("RulesPerSecurityGroupLimitExceeded", "The maximum number of rules per security group has been reached.")
		}
	}
	if err := dryRun(dry); err != nil {
		return err
	}
	w.OwnPairs(add)
	*have = append(*have, add...)
	return nil
}

// count is how many rules count against the quota of an address family.
func count(rules []ec2types.IpPermission, six bool) int {
	n := 0
	for _, p := range rules {
		if len(p.IpRanges) > 0 && six || len(p.Ipv6Ranges) > 0 && !six {
			continue
		}
		n++
	}
	return n
}

// checkRule says whether a rule of one peer makes sense in a group's VPC.
func checkRule(w *state.State, g *ec2types.SecurityGroup, p ec2types.IpPermission) error {
	protocol := aws.ToString(p.IpProtocol)
	if protocol == "" {
		return wire.Errorf("MissingParameter", "The request must contain the parameter ipProtocol")
	}
	if from, to := p.FromPort, p.ToPort; protocol == "tcp" || protocol == "udp" || protocol == "6" || protocol == "17" {
		switch {
		case from == nil || to == nil:
			return wire.Errorf("InvalidParameterValue", "Invalid value 'null' for portRange. Must specify both from and to ports with TCP/UDP.")
		case *from < 0 || *to > 65535 || *from > *to:
			return wire.Errorf("InvalidParameterValue", "Invalid value '%d-%d' for portRange. Must be 0-65535, from not above to.", *from, *to)
		}
	}
	for _, r := range p.IpRanges {
		if prefix, err := netip.ParsePrefix(aws.ToString(r.CidrIp)); err != nil || !prefix.Addr().Is4() {
			return wire.Errorf("InvalidParameterValue", "CIDR block %s is malformed", aws.ToString(r.CidrIp))
		}
	}
	for _, pair := range p.UserIdGroupPairs {
		if pair.UserId != nil && *pair.UserId != w.Account {
			continue // a group of a peered account, which this world does not have
		}
		other, err := securityGroup(w, pair.GroupId)
		if err != nil {
			return err
		}
		if aws.ToString(other.VpcId) != aws.ToString(g.VpcId) && !peered(w, aws.ToString(other.VpcId), aws.ToString(g.VpcId)) {
			return wire.Errorf("InvalidGroup.NotFound", "You have specified two resources that belong to different networks.")
		}
	}
	return nil
}

// peered reports whether two VPCs have an active peering.
func peered(w *state.State, a, b string) bool {
	return slices.ContainsFunc(w.Peerings.All(), func(p *ec2types.VpcPeeringConnection) bool {
		if p.AccepterVpcInfo == nil || p.RequesterVpcInfo == nil || p.Status == nil || p.Status.Code != ec2types.VpcPeeringConnectionStateReasonCodeActive {
			return false
		}
		x, y := aws.ToString(p.AccepterVpcInfo.VpcId), aws.ToString(p.RequesterVpcInfo.VpcId)
		return x == a && y == b || x == b && y == a
	})
}

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
	return &ec2.DescribeCapacityReservationsOutput{CapacityReservations: state.CopyEach(list), NextToken: next}, nil
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
	return &ec2.DescribePlacementGroupsOutput{PlacementGroups: state.CopyEach(list)}, nil
}

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
	return &ec2.DescribeInstanceTypesOutput{InstanceTypes: state.CopyEach(list), NextToken: next}, nil
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
	return &ec2.DescribeImagesOutput{Images: state.CopyEach(list), NextToken: next}, nil
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
	return state.Copy(out), nil
}

// owned reports whether an image is one of some owners: accounts, "self", or an alias such as
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
	out := &ec2.DescribeLaunchTemplateVersionsOutput{LaunchTemplateVersions: state.CopyEach(list), NextToken: next}
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
	out := &ec2.DescribeLaunchTemplatesOutput{LaunchTemplates: state.CopyEach(list), NextToken: next}
	for i := range out.LaunchTemplates {
		out.LaunchTemplates[i].Operator = operatorShown(s.w, out.LaunchTemplates[i].Operator)
	}
	return out, nil
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
	return &ec2.DescribeManagedPrefixListsOutput{PrefixLists: state.CopyEach(list), NextToken: next}, nil
}

// GetManagedPrefixListEntries lists the blocks of a prefix list.
func (s API) GetManagedPrefixListEntries(in *ec2.GetManagedPrefixListEntriesInput) (*ec2.GetManagedPrefixListEntriesOutput, error) {
	defer s.w.Enter()()
	id := aws.ToString(in.PrefixListId)
	if s.w.ManagedPrefixLists.Get(id) == nil {
		return nil, notFound("InvalidPrefixListID.NotFound", "prefix list ID")([]string{id})
	}
	return &ec2.GetManagedPrefixListEntriesOutput{Entries: state.Copy(s.w.PrefixListEntries[id])}, nil
}

// fleetPrincipal is who starts a fleet's instances, in the name of who asked for it.
const fleetPrincipal = "ec2fleet.amazonaws.com"

// mostOverrides is how many types and subnets a fleet of the type instant may have
// (EC2 user guide, "EC2 Fleet quotas").
const mostOverrides = 300

// fleetOffer is a type and a subnet of a fleet, and of which template.
type fleetOffer struct {
	lifecycle.FleetOffer
	version *ec2types.LaunchTemplateVersion
}

// fleet is a CreateFleet that is taken.
type fleet struct {
	caller string
	id     string
	spot   bool
	tags   []ec2types.TagSpecification
	out    *ec2.CreateFleetOutput
}

// CreateFleet starts instances of the types and in the subnets that there are some
// of, at once (type instant). What none could be started of stands in the answer
// of a call that succeeded (aws/karpenter-provider-aws#5850). Only what keeps all
// of it from being started fails the call.
func (s API) CreateFleet(in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
	defer s.w.Enter()()
	w := s.w
	if in.Type != ec2types.FleetTypeInstant {
		return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter Type is invalid: this account has fleets of the type instant alone.", in.Type)
	}
	target := in.TargetCapacitySpecification
	if target == nil || aws.ToInt32(target.TotalTargetCapacity) < 1 {
		return nil, wire.Errorf("InvalidTargetCapacitySpecification", "TotalTargetCapacity must be greater than 0.")
	}
	f := fleet{caller: s.caller, tags: in.TagSpecifications, spot: target.DefaultTargetCapacityType == ec2types.DefaultTargetCapacityTypeSpot}
	offers, err := fleetOffers(w, in.LaunchTemplateConfigs)
	if err != nil {
		return nil, err
	}
	if err := f.refused(w, offers); err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	f.id = "fleet-" + w.IDs.UUID()
	f.out = &ec2.CreateFleetOutput{FleetId: aws.String(f.id), Instances: []ec2types.CreateFleetInstance{}, Errors: []ec2types.CreateFleetError{}}
	missing := int(aws.ToInt32(target.TotalTargetCapacity))
	for _, o := range f.ordered(w, offers) {
		for missing > 0 {
			if err := f.start(w, o); err != nil {
				f.failed(w, o, err)
				break
			}
			missing--
		}
	}
	return f.out, nil
}

// fleetOffers are what a fleet may start. A template that is not there fails the call.
func fleetOffers(w *state.State, configs []ec2types.FleetLaunchTemplateConfigRequest) ([]fleetOffer, error) {
	var list []fleetOffer
	for _, c := range configs {
		if c.LaunchTemplateSpecification == nil {
			return nil, wire.Errorf("MissingParameter", "The request must contain the parameter LaunchTemplateSpecification")
		}
		v, err := namedTemplate(w, c.LaunchTemplateSpecification.LaunchTemplateId, c.LaunchTemplateSpecification.LaunchTemplateName, c.LaunchTemplateSpecification.Version)
		if err != nil {
			return nil, err
		}
		d := v.LaunchTemplateData
		for _, o := range c.Overrides {
			list = append(list, fleetOffer{lifecycle.FleetOffer{
				Type: cmp.Or(string(o.InstanceType), string(d.InstanceType)), Subnet: aws.ToString(o.SubnetId), Image: cmp.Or(aws.ToString(o.ImageId), aws.ToString(d.ImageId)),
			}, v})
		}
	}
	switch {
	case len(list) == 0:
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter LaunchTemplateConfigs with at least one override")
	case len(list) > mostOverrides:
		return nil, wire.Errorf("InvalidParameterCombination", "The number of launch specifications exceeds the limit of %d.", mostOverrides)
	}
	return list, nil
}

// namedTemplate is a version of a template that a request names.
func namedTemplate(w *state.State, id, name, version *string) (*ec2types.LaunchTemplateVersion, error) {
	if w.TemplateNamed(aws.ToString(id), aws.ToString(name)) == nil {
		if id != nil {
			return nil, wire.Errorf("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", *id)
		}
		return nil, wire.Errorf("InvalidLaunchTemplateName.NotFoundException", "The specified launch template, with template name %s, does not exist.", aws.ToString(name))
	}
	v := w.TemplateVersion(aws.ToString(id), aws.ToString(name), aws.ToString(version))
	if v == nil || v.LaunchTemplateData == nil {
		return nil, wire.Errorf("InvalidLaunchTemplateId.VersionNotFound", "Could not find the specified version %s for the launch template.", aws.ToString(version))
	}
	return v, nil
}

// refused asks IAM for the fleet, with each of its subnets.
func (f *fleet) refused(w *state.State, offers []fleetOffer) error {
	var asked []string
	for _, o := range offers {
		if slices.Contains(asked, o.Subnet) {
			continue
		}
		asked = append(asked, o.Subnet)
		l := authorization.Launch{Type: o.Type, Subnet: o.Subnet, Image: o.Image, Spot: f.spot, Tags: f.allTags(o), Template: aws.ToString(o.version.LaunchTemplateId)}
		if err := authorization.Fleet(w, f.caller, l); err != nil {
			return err
		}
	}
	return nil
}

// ordered are the offers in the order in which EC2 tries them, each once.
func (f *fleet) ordered(w *state.State, offers []fleetOffer) []fleetOffer {
	var plain []lifecycle.FleetOffer
	for _, o := range offers {
		if !slices.Contains(plain, o.FleetOffer) {
			plain = append(plain, o.FleetOffer)
		}
	}
	var out []fleetOffer
	for _, p := range lifecycle.InOrder(w, plain, f.spot) {
		out = append(out, offers[slices.IndexFunc(offers, func(o fleetOffer) bool { return o.FleetOffer == p })])
	}
	return out
}

// start is the fleet's own RunInstances, which CloudTrail records too
// (aws/karpenter-provider-aws#8190).
func (f *fleet) start(w *state.State, o fleetOffer) error {
	call := trail.Call{
		Operation: "ec2:RunInstances", CallerARN: f.caller, InvokedBy: fleetPrincipal,
		Parameters: map[string]any{
			"instancesSet": map[string]any{"items": []any{map[string]any{"minCount": 1, "maxCount": 1}}},
			"instanceType": o.Type, "subnetId": o.Subnet, "availabilityZone": zoneOf(w, o.Subnet),
		},
	}
	id, err := f.launch(w, o)
	if err == nil {
		call.Response = map[string]any{"instancesSet": map[string]any{"items": []any{map[string]any{"instanceId": id, "subnetId": o.Subnet, "imageId": o.Image}}}}
	}
	call.Err = err
	trail.RecordHeld(w, call)
	return err
}

func (f *fleet) launch(w *state.State, o fleetOffer) (string, error) {
	spec, err := lifecycle.TemplateSpec(w, o.version, o.Subnet)
	if err != nil {
		return "", err
	}
	spec.InstanceType, spec.Image, spec.Spot = o.Type, o.Image, f.spot
	spec.Tags = f.instanceTags(o)
	if err := authorization.Run(w, f.caller, launchOf(spec, f.allTags(o), aws.ToString(o.version.LaunchTemplateId))); err != nil {
		return "", err
	}
	if err := lifecycle.PoolRefusal(w, o.FleetOffer, f.spot); err != nil {
		return "", err
	}
	in, err := lifecycle.Launch(w, spec)
	if err != nil {
		return "", err
	}
	f.took(w, o, *in.InstanceId)
	return *in.InstanceId, nil
}

// launchOf is a launch as IAM sees it.
func launchOf(s lifecycle.InstanceSpec, tags []ec2types.TagSpecification, template string) authorization.Launch {
	return authorization.Launch{
		Type: s.InstanceType, Subnet: s.Subnet, Image: s.Image, Groups: s.Groups, Spot: s.Spot, Tags: tags,
		Template: template, ProfileARN: s.ProfileARN, TokensRequired: s.RequiresTokens(),
	}
}

// allTags are the tags of the request, then those of the template, as the fleet's
// RunInstances has them.
func (f *fleet) allTags(o fleetOffer) []ec2types.TagSpecification {
	out := state.Copy(f.tags)
	for _, s := range o.version.LaunchTemplateData.TagSpecifications {
		if !slices.ContainsFunc(out, func(have ec2types.TagSpecification) bool { return have.ResourceType == s.ResourceType }) {
			out = append(out, ec2types.TagSpecification{ResourceType: s.ResourceType, Tags: state.Copy(s.Tags)})
		}
	}
	return out
}

func (f *fleet) instanceTags(o fleetOffer) []ec2types.Tag {
	tags := tagsFor(f.allTags(o), ec2types.ResourceTypeInstance)
	for _, t := range [][2]string{
		{"aws:ec2:fleet-id", f.id}, {"aws:ec2launchtemplate:id", aws.ToString(o.version.LaunchTemplateId)},
		{"aws:ec2launchtemplate:version", strconv.FormatInt(aws.ToInt64(o.version.VersionNumber), 10)},
	} {
		tags = append(tags, ec2types.Tag{Key: aws.String(t[0]), Value: aws.String(t[1])})
	}
	return tags
}

// took puts an instance into the answer, beside others of its type and subnet.
func (f *fleet) took(w *state.State, o fleetOffer, id string) {
	with := f.with(w, o)
	for i := range f.out.Instances {
		x := &f.out.Instances[i]
		if aws.ToString(x.LaunchTemplateAndOverrides.Overrides.SubnetId) == o.Subnet && string(x.InstanceType) == o.Type {
			x.InstanceIds = append(x.InstanceIds, id)
			return
		}
	}
	f.out.Instances = append(f.out.Instances, ec2types.CreateFleetInstance{
		InstanceIds: []string{id}, InstanceType: ec2types.InstanceType(o.Type), Lifecycle: f.lifecycle(), LaunchTemplateAndOverrides: with,
	})
}

func (f *fleet) failed(w *state.State, o fleetOffer, err error) {
	code, message := "InternalError", "An internal error has occurred"
	var e *wire.Error
	if errors.As(err, &e) {
		code, message = e.Code, e.Message
	}
	f.out.Errors = append(f.out.Errors, ec2types.CreateFleetError{
		ErrorCode: aws.String(code), ErrorMessage: aws.String(message), Lifecycle: f.lifecycle(), LaunchTemplateAndOverrides: f.with(w, o),
	})
}

func (f *fleet) lifecycle() ec2types.InstanceLifecycle {
	if f.spot {
		return ec2types.InstanceLifecycleSpot
	}
	return ec2types.InstanceLifecycleOnDemand
}

func (f *fleet) with(w *state.State, o fleetOffer) *ec2types.LaunchTemplateAndOverridesResponse {
	return &ec2types.LaunchTemplateAndOverridesResponse{
		LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecification{
			LaunchTemplateId: state.Copy(o.version.LaunchTemplateId), Version: aws.String(strconv.FormatInt(aws.ToInt64(o.version.VersionNumber), 10)),
		},
		Overrides: &ec2types.FleetLaunchTemplateOverrides{
			InstanceType: ec2types.InstanceType(o.Type), SubnetId: aws.String(o.Subnet), AvailabilityZone: aws.String(zoneOf(w, o.Subnet)), ImageId: aws.String(o.Image),
		},
	}
}

// zoneOf is a subnet's zone.
func zoneOf(w *state.State, subnet string) string {
	if s := w.Subnets.Get(subnet); s != nil {
		return aws.ToString(s.AvailabilityZone)
	}
	return ""
}

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
	out := &ec2.DeleteLaunchTemplateOutput{LaunchTemplate: state.Copy(t)}
	s.w.DropTemplate(aws.ToString(t.LaunchTemplateId))
	nodegroup.CheckHealthLater(s.w)
	return out, nil
}
