package ec2

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/authorization"
	"rollcall/stage/simaws/ids"
	"rollcall/stage/simaws/lifecycle"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/table"
)

// CreateRouteTable makes a table with the local route only.
func (s API) CreateRouteTable(in *ec2.CreateRouteTableInput) (*ec2.CreateRouteTableOutput, error) {
	defer s.w.Enter()()
	v := s.w.Vpcs.Get(aws.ToString(in.VpcId))
	if v == nil {
		return nil, notFound("InvalidVpcID.NotFound", "vpc ID")([]string{aws.ToString(in.VpcId)})
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	t := &ec2types.RouteTable{
		RouteTableId: aws.String(s.w.IDs.EC2("rtb")), VpcId: state.Copy(in.VpcId), OwnerId: aws.String(s.w.Account),
		Associations: []ec2types.RouteTableAssociation{}, Tags: tagsFor(in.TagSpecifications, ec2types.ResourceTypeRouteTable),
		Routes: []ec2types.Route{{
			DestinationCidrBlock: state.Copy(v.CidrBlock), GatewayId: aws.String("local"),
			Origin: ec2types.RouteOriginCreateRouteTable, State: ec2types.RouteStateActive,
		}},
	}
	s.w.RouteTables.Put(*t.RouteTableId, t)
	return &ec2.CreateRouteTableOutput{RouteTable: state.Copy(t), ClientToken: in.ClientToken}, nil
}

// DeleteRouteTable takes away a table that no subnet uses.
func (s API) DeleteRouteTable(in *ec2.DeleteRouteTableInput) (*ec2.DeleteRouteTableOutput, error) {
	defer s.w.Enter()()
	t, err := routeTable(s.w, in.RouteTableId)
	if err != nil {
		return nil, err
	}
	if len(t.Associations) > 0 {
		return nil, wire.Errorf("DependencyViolation", "The routeTable '%s' has dependencies and cannot be deleted.", *t.RouteTableId)
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	s.w.RouteTables.Remove(*t.RouteTableId)
	return &ec2.DeleteRouteTableOutput{}, nil
}

// AssociateRouteTable gives a subnet a table of its own.
func (s API) AssociateRouteTable(in *ec2.AssociateRouteTableInput) (*ec2.AssociateRouteTableOutput, error) {
	defer s.w.Enter()()
	t, err := routeTable(s.w, in.RouteTableId)
	if err != nil {
		return nil, err
	}
	id := aws.ToString(in.SubnetId)
	sub := s.w.Subnets.Get(id)
	if sub == nil {
		return nil, notFound("InvalidSubnetID.NotFound", "subnet ID")([]string{id})
	}
	if aws.ToString(sub.VpcId) != aws.ToString(t.VpcId) {
		return nil, wire.Errorf("InvalidParameterValue", "route table %s and subnet %s belong to different networks", *t.RouteTableId, id)
	}
	for _, other := range s.w.RouteTables.All() {
		for _, a := range other.Associations {
			if aws.ToString(a.SubnetId) == id {
				return nil, wire.Errorf("Resource.AlreadyAssociated", "the specified association for route table %s conflicts with an existing association", *t.RouteTableId)
			}
		}
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	a := association(s.w, *t.RouteTableId, in.SubnetId, false)
	t.Associations = append(t.Associations, a)
	return &ec2.AssociateRouteTableOutput{AssociationId: state.Copy(a.RouteTableAssociationId), AssociationState: state.Copy(a.AssociationState)}, nil
}

func association(w *state.State, table string, subnet *string, main bool) ec2types.RouteTableAssociation {
	return ec2types.RouteTableAssociation{
		RouteTableAssociationId: aws.String(w.IDs.EC2("rtbassoc")), RouteTableId: aws.String(table), SubnetId: state.Copy(subnet), Main: aws.Bool(main),
		AssociationState: &ec2types.RouteTableAssociationState{State: ec2types.RouteTableAssociationStateCodeAssociated},
	}
}

// AttachInternetGateway attaches a gateway to a VPC that has none.
func (s API) AttachInternetGateway(in *ec2.AttachInternetGatewayInput) (*ec2.AttachInternetGatewayOutput, error) {
	defer s.w.Enter()()
	g, err := internetGateway(s.w, in.InternetGatewayId)
	if err != nil {
		return nil, err
	}
	if len(g.Attachments) > 0 {
		return nil, wire.Errorf("Resource.AlreadyAssociated", "resource %s is already attached to network %s", *g.InternetGatewayId, aws.ToString(g.Attachments[0].VpcId))
	}
	if s.w.Vpcs.Get(aws.ToString(in.VpcId)) == nil {
		return nil, notFound("InvalidVpcID.NotFound", "vpc ID")([]string{aws.ToString(in.VpcId)})
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	g.Attachments = []ec2types.InternetGatewayAttachment{{State: "available", VpcId: state.Copy(in.VpcId)}}
	return &ec2.AttachInternetGatewayOutput{}, nil
}

func internetGateway(w *state.State, id *string) (*ec2types.InternetGateway, error) {
	if g := w.InternetGateways.Get(aws.ToString(id)); g != nil {
		return g, nil
	}
	return nil, notFound("InvalidInternetGatewayID.NotFound", "internetGateway ID")([]string{aws.ToString(id)})
}

// CreateTags sets tags of resources, replacing values of the same key.
func (s API) CreateTags(in *ec2.CreateTagsInput) (*ec2.CreateTagsOutput, error) {
	defer s.w.Enter()()
	lists, err := tagLists(s.w, in.Resources)
	if err != nil {
		return nil, err
	}
	for _, t := range in.Tags {
		if strings.HasPrefix(aws.ToString(t.Key), "aws:") {
			return nil, wire.Errorf("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use")
		}
	}
	if err := authorization.On(s.w, s.caller, "ec2:CreateTags", in.Resources, in.Tags); err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	for _, list := range lists {
		for _, t := range in.Tags {
			*list = slices.DeleteFunc(*list, func(have ec2types.Tag) bool { return aws.ToString(have.Key) == aws.ToString(t.Key) })
			*list = append(*list, state.Copy(t))
		}
	}
	return &ec2.CreateTagsOutput{}, nil
}

// tagLists are the tags of resources, found by the form of their ids.
func tagLists(w *state.State, ids []string) ([]*[]ec2types.Tag, error) {
	var out []*[]ec2types.Tag
	for _, id := range ids {
		var tags *[]ec2types.Tag
		kind := id[:max(strings.LastIndexByte(id, '-'), 0)]
		switch kind {
		case "i":
			if v := w.Instances.Get(id); v != nil {
				tags = &v.Tags
			}
		case "eni":
			if v := w.Interfaces.Get(id); v != nil {
				tags = &v.TagSet
			}
		case "subnet":
			if v := w.Subnets.Get(id); v != nil {
				tags = &v.Tags
			}
		case "vpc":
			if v := w.Vpcs.Get(id); v != nil {
				tags = &v.Tags
			}
		case "rtb":
			if v := w.RouteTables.Get(id); v != nil {
				tags = &v.Tags
			}
		case "sg":
			if v := w.SecurityGroups.Get(id); v != nil {
				tags = &v.Tags
			}
		case "nat":
			if v := w.NATGateways.Get(id); v != nil {
				tags = &v.Tags
			}
		case "vol":
			if v := w.Volumes.Get(id); v != nil {
				tags = &v.Tags
			}
		}
		if tags == nil {
			return nil, wire.Errorf("InvalidID", "The ID '%s' is not valid", id)
		}
		out = append(out, tags)
	}
	return out, nil
}

// mostUserData is how long user data may be, decoded (EC2 user guide, "Run commands
// when you launch an EC2 instance with user data input").
const mostUserData = 16 << 10

// CreateLaunchTemplate makes a template with its first version. What a launch from
// it would be refused for is not looked at, but the user data's length.
func (s API) CreateLaunchTemplate(in *ec2.CreateLaunchTemplateInput) (*ec2.CreateLaunchTemplateOutput, error) {
	defer s.w.Enter()()
	w := s.w
	name := aws.ToString(in.LaunchTemplateName)
	if name == "" || in.LaunchTemplateData == nil {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameters LaunchTemplateName and LaunchTemplateData")
	}
	if err := authorization.Template(w, s.caller, in.TagSpecifications); err != nil {
		return nil, err
	}
	if w.TemplateNamed("", name) != nil {
		return nil, wire.Errorf("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
	}
	if data, err := base64.StdEncoding.DecodeString(aws.ToString(in.LaunchTemplateData.UserData)); err != nil || len(data) > mostUserData {
		if err != nil {
			return nil, wire.Errorf("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")
		}
		return nil, wire.Errorf("InvalidUserData.Malformed", "User data is limited to %d bytes", mostUserData)
	}
	data, err := responseOf(in.LaunchTemplateData)
	if err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	by := s.caller
	if by == "" {
		by = "arn:aws:iam::" + w.Account + ":root"
	}
	v := &ec2types.LaunchTemplateVersion{
		LaunchTemplateId: aws.String(w.IDs.EC2("lt")), LaunchTemplateName: &name, VersionNumber: aws.Int64(1), DefaultVersion: aws.Bool(true),
		CreateTime: aws.Time(w.Now.Truncate(time.Second)), CreatedBy: aws.String(by), VersionDescription: in.VersionDescription, LaunchTemplateData: data,
	}
	w.AddTemplateVersion(v)
	t := w.Templates.Get(*v.LaunchTemplateId)
	t.Tags = tagsFor(in.TagSpecifications, ec2types.ResourceTypeLaunchTemplate)
	return &ec2.CreateLaunchTemplateOutput{LaunchTemplate: state.Copy(t)}, nil
}

// responseOf is a template's data as it is described: the SDK has it as another
// struct with members of the same names.
func responseOf(in *ec2types.RequestLaunchTemplateData) (*ec2types.ResponseLaunchTemplateData, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("read a launch template: %w", err)
	}
	var out ec2types.ResponseLaunchTemplateData
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("read a launch template: %w", err)
	}
	return &out, nil
}

// SearchTransitGatewayRoutes lists the routes of a transit gateway's route
// table. The call wants a filter.
func (s API) SearchTransitGatewayRoutes(in *ec2.SearchTransitGatewayRoutesInput) (*ec2.SearchTransitGatewayRoutesOutput, error) {
	defer s.w.Enter()()
	id := aws.ToString(in.TransitGatewayRouteTableId)
	list, ok := s.w.TransitRoutes[id]
	if !ok {
		return nil, notFound("InvalidRouteTableID.NotFound", "transitGatewayRouteTable ID")([]string{id})
	}
	if len(in.Filters) == 0 {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter Filters")
	}
	found := table.New[ec2types.TransitGatewayRoute]()
	destination := func(v *ec2types.TransitGatewayRoute) *string {
		if v.DestinationCidrBlock != nil {
			return v.DestinationCidrBlock
		}
		return v.PrefixListId
	}
	for i := range list {
		found.Put(aws.ToString(destination(&list[i])), &list[i])
	}
	rows, next, err := table.Selection[ec2types.TransitGatewayRoute]{
		Table: found, ID: destination, Filters: in.Filters,
		Known: table.Filters[ec2types.TransitGatewayRoute]{
			"state":                    func(v *ec2types.TransitGatewayRoute) []string { return []string{string(v.State)} },
			"type":                     func(v *ec2types.TransitGatewayRoute) []string { return []string{string(v.Type)} },
			"route-search.exact-match": func(v *ec2types.TransitGatewayRoute) []string { return table.One(v.DestinationCidrBlock) },
			"prefix-list-id":           func(v *ec2types.TransitGatewayRoute) []string { return table.One(v.PrefixListId) },
			"attachment.resource-id": func(v *ec2types.TransitGatewayRoute) []string {
				return table.Each(v.TransitGatewayAttachments, func(a ec2types.TransitGatewayRouteAttachment) *string { return a.ResourceId })
			},
			"attachment.transit-gateway-attachment-id": func(v *ec2types.TransitGatewayRoute) []string {
				return table.Each(v.TransitGatewayAttachments, func(a ec2types.TransitGatewayRouteAttachment) *string {
					return a.TransitGatewayAttachmentId
				})
			},
		},
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage, Usual: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.SearchTransitGatewayRoutesOutput{Routes: state.CopyEach(rows), NextToken: next, AdditionalRoutesAvailable: aws.Bool(next != nil)}, nil
}

// typeOfferings are the known types in the zones that have them; by region, what
// any of its zones has (EC2 API reference, DescribeInstanceTypeOfferings).
func typeOfferings(w *state.State, by ec2types.LocationType) *table.Table[ec2types.InstanceTypeOffering] {
	all := table.New[ec2types.InstanceTypeOffering]()
	for _, t := range w.InstanceTypes.All() {
		for _, z := range zones(w).All() {
			if !lifecycle.Offers(w, aws.ToString(z.ZoneName), string(t.InstanceType)) {
				continue
			}
			location := w.Region
			switch by {
			case ec2types.LocationTypeAvailabilityZone:
				location = aws.ToString(z.ZoneName)
			case ec2types.LocationTypeAvailabilityZoneId:
				location = aws.ToString(z.ZoneId)
			}
			all.Put(string(t.InstanceType)+" "+location, &ec2types.InstanceTypeOffering{InstanceType: t.InstanceType, Location: &location, LocationType: by})
		}
	}
	return all
}

// DescribeInstanceTypeOfferings lists which types a location has, by region where
// no kind of location is named.
func (s API) DescribeInstanceTypeOfferings(in *ec2.DescribeInstanceTypeOfferingsInput) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	defer s.w.Enter()()
	by := in.LocationType
	if by == "" {
		by = ec2types.LocationTypeRegion
	}
	list, next, err := table.Selection[ec2types.InstanceTypeOffering]{
		Table: typeOfferings(s.w, by), ID: func(v *ec2types.InstanceTypeOffering) *string { return new(string(v.InstanceType) + " " + *v.Location) }, Filters: in.Filters,
		Known: table.Filters[ec2types.InstanceTypeOffering]{
			"instance-type": func(v *ec2types.InstanceTypeOffering) []string { return []string{string(v.InstanceType)} },
			"location":      func(v *ec2types.InstanceTypeOffering) []string { return table.One(v.Location) },
		},
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage, Usual: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeInstanceTypeOfferingsOutput{InstanceTypeOfferings: state.CopyEach(list), NextToken: next}, nil
}

// DescribeVolumes lists volumes.
func (s API) DescribeVolumes(in *ec2.DescribeVolumesInput) (*ec2.DescribeVolumesOutput, error) {
	defer s.w.Enter()()
	attached := func(value func(ec2types.VolumeAttachment) *string) func(*ec2types.Volume) []string {
		return func(v *ec2types.Volume) []string { return table.Each(v.Attachments, value) }
	}
	list, next, err := table.Selection[ec2types.Volume]{
		Table: s.w.Volumes, ID: func(v *ec2types.Volume) *string { return v.VolumeId }, IDs: in.VolumeIds,
		Missing: notFound("InvalidVolume.NotFound", "volume"), Filters: in.Filters,
		Hidden: func(v *ec2types.Volume) bool { return hides(s.w, v.Operator, in.IncludeManagedResources) },
		Known: operatorFilters(table.Filters[ec2types.Volume]{
			"volume-id":              func(v *ec2types.Volume) []string { return table.One(v.VolumeId) },
			"volume-type":            func(v *ec2types.Volume) []string { return []string{string(v.VolumeType)} },
			"status":                 func(v *ec2types.Volume) []string { return []string{string(v.State)} },
			"availability-zone":      func(v *ec2types.Volume) []string { return table.One(v.AvailabilityZone) },
			"availability-zone-id":   func(v *ec2types.Volume) []string { return table.One(v.AvailabilityZoneId) },
			"encrypted":              func(v *ec2types.Volume) []string { return table.YesNo(v.Encrypted) },
			"multi-attach-enabled":   func(v *ec2types.Volume) []string { return table.YesNo(v.MultiAttachEnabled) },
			"size":                   func(v *ec2types.Volume) []string { return []string{strconv.Itoa(int(aws.ToInt32(v.Size)))} },
			"snapshot-id":            func(v *ec2types.Volume) []string { return table.One(v.SnapshotId) },
			"attachment.instance-id": attached(func(a ec2types.VolumeAttachment) *string { return a.InstanceId }),
			"attachment.device":      attached(func(a ec2types.VolumeAttachment) *string { return a.Device }),
			"attachment.status":      attached(func(a ec2types.VolumeAttachment) *string { return aws.String(string(a.State)) }),
		}, func(v *ec2types.Volume) *ec2types.OperatorResponse { return v.Operator }),
		Tags: func(v *ec2types.Volume) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage, IDsBarPaging: "volumeIds",
	}.Run()
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeVolumesOutput{Volumes: state.CopyEach(list), NextToken: next}
	for i := range out.Volumes {
		out.Volumes[i].Operator = operatorShown(s.w, out.Volumes[i].Operator)
	}
	return out, nil
}

// zones are those in which the world has subnets, and those that the file lists.
func zones(w *state.State) *table.Table[ec2types.AvailabilityZone] {
	zones := table.New[ec2types.AvailabilityZone]()
	add := func(name, id *string) {
		if zones.Get(aws.ToString(name)) != nil {
			return
		}
		z := &ec2types.AvailabilityZone{
			ZoneName: state.Copy(name), ZoneId: state.Copy(id), RegionName: aws.String(w.Region),
			State: ec2types.AvailabilityZoneStateAvailable, OptInStatus: ec2types.AvailabilityZoneOptInStatusOptInNotRequired,
			GroupName: aws.String(w.Region + "-zg-1"), NetworkBorderGroup: aws.String(w.Region), ZoneType: aws.String("availability-zone"),
			Messages: []ec2types.AvailabilityZoneMessage{},
		}
		if f := lifecycle.ZoneFault(w, aws.ToString(name)); f != nil {
			if f.State != "" {
				z.State = ec2types.AvailabilityZoneState(f.State)
			}
			for _, text := range f.Messages {
				z.Messages = append(z.Messages, ec2types.AvailabilityZoneMessage{Message: aws.String(text)})
			}
		}
		zones.Put(aws.ToString(name), z)
	}
	for _, sub := range w.Subnets.All() {
		add(sub.AvailabilityZone, sub.AvailabilityZoneId)
	}
	for _, name := range w.File.EC2.Zones {
		add(aws.String(name), aws.String(ids.ZoneID(name)))
	}
	return zones
}

// DescribeAvailabilityZones lists the region's zones with their state.
func (s API) DescribeAvailabilityZones(in *ec2.DescribeAvailabilityZonesInput) (*ec2.DescribeAvailabilityZonesOutput, error) {
	defer s.w.Enter()()
	want := slices.Clone(in.Filters)
	if len(in.ZoneIds) > 0 {
		want = append(want, ec2types.Filter{Name: aws.String("zone-id"), Values: in.ZoneIds})
	}
	list, _, err := table.Selection[ec2types.AvailabilityZone]{
		Table: zones(s.w), ID: func(v *ec2types.AvailabilityZone) *string { return v.ZoneName }, IDs: in.ZoneNames,
		Missing: func(ids []string) *wire.Error {
			return wire.Errorf("InvalidParameterValue", "Invalid availability zone: [%s]", ids[0])
		},
		Filters: want,
		Known: table.Filters[ec2types.AvailabilityZone]{
			"zone-id":       func(v *ec2types.AvailabilityZone) []string { return table.One(v.ZoneId) },
			"zone-name":     func(v *ec2types.AvailabilityZone) []string { return table.One(v.ZoneName) },
			"region-name":   func(v *ec2types.AvailabilityZone) []string { return table.One(v.RegionName) },
			"group-name":    func(v *ec2types.AvailabilityZone) []string { return table.One(v.GroupName) },
			"opt-in-status": func(v *ec2types.AvailabilityZone) []string { return []string{string(v.OptInStatus)} },
			"state":         func(v *ec2types.AvailabilityZone) []string { return []string{string(v.State)} },
			"zone-type":     func(v *ec2types.AvailabilityZone) []string { return table.One(v.ZoneType) },
			"message": func(v *ec2types.AvailabilityZone) []string {
				return table.Each(v.Messages, func(m ec2types.AvailabilityZoneMessage) *string { return m.Message })
			},
		},
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeAvailabilityZonesOutput{AvailabilityZones: state.CopyEach(list)}, nil
}
