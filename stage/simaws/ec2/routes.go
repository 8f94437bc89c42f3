package ec2

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/lifecycle"
	"rollcall/stage/simaws/reach"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/table"
)

// DescribeRouteTables lists route tables.
func (s API) DescribeRouteTables(in *ec2.DescribeRouteTablesInput) (*ec2.DescribeRouteTablesOutput, error) {
	defer s.w.Enter()()
	assoc := func(value func(ec2types.RouteTableAssociation) *string) func(*ec2types.RouteTable) []string {
		return func(t *ec2types.RouteTable) []string { return table.Each(t.Associations, value) }
	}
	route := func(value func(ec2types.Route) *string) func(*ec2types.RouteTable) []string {
		return func(t *ec2types.RouteTable) []string { return table.Each(t.Routes, value) }
	}
	list, next, err := table.Selection[ec2types.RouteTable]{
		Table: s.w.RouteTables, ID: func(v *ec2types.RouteTable) *string { return v.RouteTableId }, IDs: in.RouteTableIds,
		Missing: notFound("InvalidRouteTableID.NotFound", "routeTable ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.RouteTable]{
			"route-table-id":                         func(v *ec2types.RouteTable) []string { return table.One(v.RouteTableId) },
			"vpc-id":                                 func(v *ec2types.RouteTable) []string { return table.One(v.VpcId) },
			"owner-id":                               func(v *ec2types.RouteTable) []string { return table.One(v.OwnerId) },
			"association.subnet-id":                  assoc(func(a ec2types.RouteTableAssociation) *string { return a.SubnetId }),
			"association.gateway-id":                 assoc(func(a ec2types.RouteTableAssociation) *string { return a.GatewayId }),
			"association.route-table-id":             assoc(func(a ec2types.RouteTableAssociation) *string { return a.RouteTableId }),
			"association.route-table-association-id": assoc(func(a ec2types.RouteTableAssociation) *string { return a.RouteTableAssociationId }),
			"association.main":                       assoc(func(a ec2types.RouteTableAssociation) *string { return aws.String(table.YesNo(a.Main)[0]) }),
			"route.destination-cidr-block":           route(func(r ec2types.Route) *string { return r.DestinationCidrBlock }),
			"route.destination-ipv6-cidr-block":      route(func(r ec2types.Route) *string { return r.DestinationIpv6CidrBlock }),
			"route.destination-prefix-list-id":       route(func(r ec2types.Route) *string { return r.DestinationPrefixListId }),
			"route.gateway-id":                       route(func(r ec2types.Route) *string { return r.GatewayId }),
			"route.nat-gateway-id":                   route(func(r ec2types.Route) *string { return r.NatGatewayId }),
			"route.instance-id":                      route(func(r ec2types.Route) *string { return r.InstanceId }),
			"route.transit-gateway-id":               route(func(r ec2types.Route) *string { return r.TransitGatewayId }),
			"route.vpc-peering-connection-id":        route(func(r ec2types.Route) *string { return r.VpcPeeringConnectionId }),
			"route.origin":                           route(func(r ec2types.Route) *string { return aws.String(string(r.Origin)) }),
			"route.state":                            route(func(r ec2types.Route) *string { return aws.String(string(r.State)) }),
		},
		Tags: func(v *ec2types.RouteTable) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: 100,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeRouteTablesOutput{RouteTables: state.CopyEach(list), NextToken: next}, nil
}

// CreateRoute adds a route to a target that exists.
func (s API) CreateRoute(in *ec2.CreateRouteInput) (*ec2.CreateRouteOutput, error) {
	defer s.w.Enter()()
	t, err := routeTable(s.w, in.RouteTableId)
	if err != nil {
		return nil, err
	}
	r := ec2types.Route{
		DestinationCidrBlock: in.DestinationCidrBlock, DestinationIpv6CidrBlock: in.DestinationIpv6CidrBlock, DestinationPrefixListId: in.DestinationPrefixListId,
		GatewayId: in.GatewayId, NatGatewayId: in.NatGatewayId, InstanceId: in.InstanceId, NetworkInterfaceId: in.NetworkInterfaceId,
		TransitGatewayId: in.TransitGatewayId, VpcPeeringConnectionId: in.VpcPeeringConnectionId, EgressOnlyInternetGatewayId: in.EgressOnlyInternetGatewayId,
		Origin: ec2types.RouteOriginCreateRoute, State: ec2types.RouteStateActive,
	}
	if in.VpcEndpointId != nil {
		r.GatewayId = in.VpcEndpointId
	}
	if err := checkRoute(s.w, t, &r); err != nil {
		return nil, err
	}
	if i := routeIndex(t, &r); i >= 0 {
		if !sameTarget(t.Routes[i], r) {
			return nil, wire.Errorf("RouteAlreadyExists", "The route identified by %s already exists.", destination(&r))
		}
		// The same route again is not an error.
		return &ec2.CreateRouteOutput{Return: aws.Bool(true)}, nil
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	t.Routes = append(t.Routes, r)
	return &ec2.CreateRouteOutput{Return: aws.Bool(true)}, nil
}

// ReplaceRoute changes the target of a route.
func (s API) ReplaceRoute(in *ec2.ReplaceRouteInput) (*ec2.ReplaceRouteOutput, error) {
	defer s.w.Enter()()
	t, err := routeTable(s.w, in.RouteTableId)
	if err != nil {
		return nil, err
	}
	r := ec2types.Route{
		DestinationCidrBlock: in.DestinationCidrBlock, DestinationIpv6CidrBlock: in.DestinationIpv6CidrBlock, DestinationPrefixListId: in.DestinationPrefixListId,
		GatewayId: in.GatewayId, NatGatewayId: in.NatGatewayId, InstanceId: in.InstanceId, NetworkInterfaceId: in.NetworkInterfaceId,
		TransitGatewayId: in.TransitGatewayId, VpcPeeringConnectionId: in.VpcPeeringConnectionId, EgressOnlyInternetGatewayId: in.EgressOnlyInternetGatewayId,
		Origin: ec2types.RouteOriginCreateRoute, State: ec2types.RouteStateActive,
	}
	if in.VpcEndpointId != nil {
		r.GatewayId = in.VpcEndpointId
	}
	if err := checkRoute(s.w, t, &r); err != nil {
		return nil, err
	}
	i := routeIndex(t, &r)
	if i < 0 {
		return nil, wire.Errorf("InvalidParameterValue", "There is no route defined for '%s' in the route table. Use CreateRoute instead.", destination(&r))
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	t.Routes[i] = r
	return &ec2.ReplaceRouteOutput{}, nil
}

// DeleteRoute takes a route away; the local one stays.
func (s API) DeleteRoute(in *ec2.DeleteRouteInput) (*ec2.DeleteRouteOutput, error) {
	defer s.w.Enter()()
	t, err := routeTable(s.w, in.RouteTableId)
	if err != nil {
		return nil, err
	}
	r := ec2types.Route{DestinationCidrBlock: in.DestinationCidrBlock, DestinationIpv6CidrBlock: in.DestinationIpv6CidrBlock, DestinationPrefixListId: in.DestinationPrefixListId}
	i := routeIndex(t, &r)
	if i < 0 {
		return nil, wire.Errorf("InvalidRoute.NotFound", "no route with destination-cidr-block %s in route table %s", destination(&r), aws.ToString(in.RouteTableId))
	}
	if aws.ToString(t.Routes[i].GatewayId) == "local" {
		return nil, wire.Errorf("InvalidParameterValue", "cannot remove local route %s in route table %s", destination(&r), aws.ToString(in.RouteTableId))
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	t.Routes = slices.Delete(t.Routes, i, i+1)
	return &ec2.DeleteRouteOutput{}, nil
}

func routeTable(w *state.State, id *string) (*ec2types.RouteTable, error) {
	if t := w.RouteTables.Get(aws.ToString(id)); t != nil {
		return t, nil
	}
	return nil, notFound("InvalidRouteTableID.NotFound", "routeTable ID")([]string{aws.ToString(id)})
}

// checkRoute says whether a route can be made: one destination, one target,
// and the target exists where the table's VPC can use it.
func checkRoute(w *state.State, t *ec2types.RouteTable, r *ec2types.Route) error {
	if destination(r) == "" {
		return wire.Errorf("MissingParameter", "The request must contain the parameter destinationCidrBlock or destinationIpv6CidrBlock or destinationPrefixListId")
	}
	if c := aws.ToString(r.DestinationCidrBlock); c != "" {
		p, err := netip.ParsePrefix(c)
		if err != nil || !p.Addr().Is4() {
			return wire.Errorf("InvalidParameterValue", "Value (%s) for parameter destinationCidrBlock is invalid. This is not a valid CIDR block.", c)
		}
		// EC2 takes 10.0.0.1/16 for 10.0.0.0/16.
		r.DestinationCidrBlock = aws.String(p.Masked().String())
	}
	targets := 0
	for _, target := range []*string{r.GatewayId, r.NatGatewayId, r.InstanceId, r.NetworkInterfaceId, r.TransitGatewayId, r.VpcPeeringConnectionId, r.EgressOnlyInternetGatewayId} {
		if target != nil {
			targets++
		}
	}
	if targets != 1 {
		return wire.Errorf("InvalidParameterCombination", "The parameter gatewayId, natGatewayId, instanceId, networkInterfaceId, transitGatewayId or vpcPeeringConnectionId must be given exactly once")
	}
	return checkTarget(w, t, r)
}

func checkTarget(w *state.State, t *ec2types.RouteTable, r *ec2types.Route) error {
	vpc := aws.ToString(t.VpcId)
	switch {
	case r.NatGatewayId != nil:
		n := w.NATGateways.Get(*r.NatGatewayId)
		if n == nil || n.State == ec2types.NatGatewayStateDeleted || n.State == ec2types.NatGatewayStateFailed {
			return wire.Errorf("InvalidNatGatewayID.NotFound", "The natGateway ID '%s' does not exist", *r.NatGatewayId)
		}
		if aws.ToString(n.VpcId) != vpc {
			return wire.Errorf("InvalidParameterValue", "route table %s and network gateway %s belong to different networks", aws.ToString(t.RouteTableId), *r.NatGatewayId)
		}
	case strings.HasPrefix(aws.ToString(r.GatewayId), "igw-"):
		if w.InternetGateways.Get(*r.GatewayId) == nil {
			return notFound("InvalidInternetGatewayID.NotFound", "internetGateway ID")([]string{*r.GatewayId})
		}
		if !reach.GatewayAttached(w, *r.GatewayId, vpc) {
			return wire.Errorf("InvalidParameterValue", "route table %s and network gateway %s belong to different networks", aws.ToString(t.RouteTableId), *r.GatewayId)
		}
	case strings.HasPrefix(aws.ToString(r.GatewayId), "vpce-"):
		if w.Endpoints.Get(*r.GatewayId) == nil {
			return notFound("InvalidVpcEndpointId.NotFound", "Vpc Endpoint Id")([]string{*r.GatewayId})
		}
	case r.GatewayId != nil && !strings.HasPrefix(*r.GatewayId, "vgw-"):
		return wire.Errorf("InvalidGatewayID.NotFound", "The gateway ID '%s' does not exist", *r.GatewayId)
	case r.NetworkInterfaceId != nil:
		if w.Interfaces.Get(*r.NetworkInterfaceId) == nil {
			return notFound("InvalidNetworkInterfaceID.NotFound", "networkInterface ID")([]string{*r.NetworkInterfaceId})
		}
	case r.InstanceId != nil:
		in := w.Instances.Get(*r.InstanceId)
		if in == nil || state.Ended(in) {
			return wire.Errorf("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", *r.InstanceId)
		}
	case r.VpcPeeringConnectionId != nil:
		if w.Peerings.Get(*r.VpcPeeringConnectionId) == nil {
			return notFound("InvalidVpcPeeringConnectionID.NotFound", "vpcPeeringConnection ID")([]string{*r.VpcPeeringConnectionId})
		}
	case r.EgressOnlyInternetGatewayId != nil:
		if w.EgressOnlyGateways.Get(*r.EgressOnlyInternetGatewayId) == nil {
			return notFound("InvalidGatewayID.NotFound", "eigw ID")([]string{*r.EgressOnlyInternetGatewayId})
		}
	case r.TransitGatewayId != nil:
		if !slices.ContainsFunc(w.TransitAttachments.All(), func(a *ec2types.TransitGatewayAttachment) bool {
			return aws.ToString(a.TransitGatewayId) == *r.TransitGatewayId && aws.ToString(a.ResourceId) == vpc
		}) {
			return wire.Errorf("InvalidTransitGatewayID.NotFound", "Transit Gateway %s was deleted or does not exist.", *r.TransitGatewayId)
		}
	}
	return nil
}

func destination(r *ec2types.Route) string {
	for _, d := range []*string{r.DestinationCidrBlock, r.DestinationIpv6CidrBlock, r.DestinationPrefixListId} {
		if aws.ToString(d) != "" {
			return *d
		}
	}
	return ""
}

func routeIndex(t *ec2types.RouteTable, r *ec2types.Route) int {
	return slices.IndexFunc(t.Routes, func(have ec2types.Route) bool { return destination(&have) == destination(r) })
}

func sameTarget(a, b ec2types.Route) bool {
	pairs := [][2]*string{
		{a.GatewayId, b.GatewayId}, {a.NatGatewayId, b.NatGatewayId}, {a.InstanceId, b.InstanceId}, {a.NetworkInterfaceId, b.NetworkInterfaceId},
		{a.TransitGatewayId, b.TransitGatewayId}, {a.VpcPeeringConnectionId, b.VpcPeeringConnectionId}, {a.EgressOnlyInternetGatewayId, b.EgressOnlyInternetGatewayId},
	}
	for _, p := range pairs {
		if aws.ToString(p[0]) != aws.ToString(p[1]) {
			return false
		}
	}
	return true
}

// NATInterface makes the interface of a NAT gateway.
func NATInterface(w *state.State, n *ec2types.NatGateway, id string) error {
	if len(n.NatGatewayAddresses) == 0 {
		n.NatGatewayAddresses = []ec2types.NatGatewayAddress{{}}
	}
	a := &n.NatGatewayAddresses[0]
	eni, err := w.CreateInterface(state.InterfaceSpec{Subnet: aws.ToString(n.SubnetId), Description: "Interface for NAT Gateway " + id, Primary: aws.ToString(a.PrivateIp)})
	if err != nil {
		return fmt.Errorf("ec2.NatGateways %s: %w", id, err)
	}
	if a.NetworkInterfaceId != nil {
		renameInterface(w, eni, *a.NetworkInterfaceId)
	}
	eni.InterfaceType = ec2types.NetworkInterfaceTypeNatGateway
	serve(w, eni, "amazon-nat")
	a.NetworkInterfaceId, a.PrivateIp = eni.NetworkInterfaceId, eni.PrivateIpAddress
	state.Default(&a.IsPrimary, true)
	state.DefaultPlain(&a.Status, ec2types.NatGatewayAddressStatusSucceeded)
	if n.ConnectivityType == ec2types.ConnectivityTypePublic {
		state.Default(&a.PublicIp, w.NextPublicIP())
		state.Default(&a.AllocationId, w.IDs.EC2("eipalloc"))
		state.Default(&a.AssociationId, w.IDs.EC2("eipassoc"))
		eni.Association = &ec2types.NetworkInterfaceAssociation{
			AllocationId: a.AllocationId, AssociationId: a.AssociationId, IpOwnerId: aws.String(w.Account),
			PublicIp: a.PublicIp, PublicDnsName: aws.String(w.PublicName(*a.PublicIp)),
		}
	}
	if n.VpcId == nil {
		n.VpcId = eni.VpcId
	}
	return nil
}

// EndpointInterfaces makes the interfaces of an interface endpoint, one for each subnet.
func EndpointInterfaces(w *state.State, e *ec2types.VpcEndpoint) error {
	var errs []error
	for _, subnet := range e.SubnetIds {
		eni, err := w.CreateInterface(state.InterfaceSpec{
			Subnet: subnet, Description: "VPC Endpoint Interface " + aws.ToString(e.VpcEndpointId), Groups: state.SecurityGroupIDs(e.Groups),
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("ec2.VpcEndpoints %s: %w", aws.ToString(e.VpcEndpointId), err))
			continue
		}
		eni.InterfaceType = ec2types.NetworkInterfaceTypeVpcEndpoint
		serve(w, eni, "amazon-aws")
		e.NetworkInterfaceIds = append(e.NetworkInterfaceIds, *eni.NetworkInterfaceId)
	}
	for i := range e.Groups {
		if sg := w.SecurityGroups.Get(aws.ToString(e.Groups[i].GroupId)); sg != nil {
			e.Groups[i].GroupName = sg.GroupName
		}
	}
	return errors.Join(errs...)
}

// serve makes an interface one that a service of AWS holds.
func serve(w *state.State, eni *ec2types.NetworkInterface, owner string) {
	eni.RequesterManaged = aws.Bool(true)
	eni.RequesterId = aws.String(w.Account)
	eni.SourceDestCheck = aws.Bool(!strings.Contains(owner, "nat"))
	eni.Status = ec2types.NetworkInterfaceStatusInUse
	eni.Attachment = &ec2types.NetworkInterfaceAttachment{
		AttachmentId: aws.String(w.IDs.EC2("ela-attach")), AttachTime: aws.Time(w.Now), DeleteOnTermination: aws.Bool(false),
		DeviceIndex: aws.Int32(1), InstanceOwnerId: aws.String("amazon-aws"), Status: ec2types.AttachmentStatusAttached,
	}
}

func renameInterface(w *state.State, eni *ec2types.NetworkInterface, id string) {
	w.Interfaces.Remove(*eni.NetworkInterfaceId)
	eni.NetworkInterfaceId = aws.String(id)
	w.Interfaces.Put(id, eni)
}

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

// hides reports whether a resource is left out of a list that was asked for with
// the parameter include.
func hides(w *state.State, o *ec2types.OperatorResponse, include *bool) bool {
	return state.IsManaged(o) && !aws.ToBool(include) && visibility(w) == ec2types.ManagedResourceDefaultVisibilityHidden
}

// operatorShown is an operator as it is described: with what the account's
// setting is now.
func operatorShown(w *state.State, o *ec2types.OperatorResponse) *ec2types.OperatorResponse {
	out := state.Copy(o)
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
	return &ec2.ModifyManagedResourceVisibilityOutput{Visibility: state.Copy(settings)}, nil
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
	return &ec2.GetAllowedImagesSettingsOutput{State: aws.String(a.State), ManagedBy: cmp.Or(a.ManagedBy, ec2types.ManagedByAccount), ImageCriteria: state.Copy(a.ImageCriteria)}, nil
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
	return &ec2.GetInstanceMetadataDefaultsOutput{AccountLevel: state.Copy(d)}, nil
}

// operatorOf is who a request names as the operator.
func operatorOf(o *ec2types.OperatorRequest) string {
	if o == nil {
		return ""
	}
	return aws.ToString(o.Principal)
}

// DescribeVolumeStatus returns each volume as healthy.
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
			VolumeId: state.Copy(v.VolumeId), AvailabilityZone: state.Copy(v.AvailabilityZone), AvailabilityZoneId: state.Copy(v.AvailabilityZoneId),
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

// DescribeVpcs lists VPCs.
func (s API) DescribeVpcs(in *ec2.DescribeVpcsInput) (*ec2.DescribeVpcsOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.Vpc]{
		Table: s.w.Vpcs, ID: func(v *ec2types.Vpc) *string { return v.VpcId }, IDs: in.VpcIds,
		Missing: notFound("InvalidVpcID.NotFound", "vpc ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.Vpc]{
			"vpc-id":          func(v *ec2types.Vpc) []string { return table.One(v.VpcId) },
			"cidr":            func(v *ec2types.Vpc) []string { return table.One(v.CidrBlock) },
			"state":           func(v *ec2types.Vpc) []string { return []string{string(v.State)} },
			"owner-id":        func(v *ec2types.Vpc) []string { return table.One(v.OwnerId) },
			"is-default":      func(v *ec2types.Vpc) []string { return table.YesNo(v.IsDefault) },
			"dhcp-options-id": func(v *ec2types.Vpc) []string { return table.One(v.DhcpOptionsId) },
		},
		Tags: func(v *ec2types.Vpc) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeVpcsOutput{Vpcs: state.CopyEach(list), NextToken: next}, nil
}

// DescribeVpcAttribute shows one of a VPC's DNS switches.
func (s API) DescribeVpcAttribute(in *ec2.DescribeVpcAttributeInput) (*ec2.DescribeVpcAttributeOutput, error) {
	defer s.w.Enter()()
	id := aws.ToString(in.VpcId)
	if s.w.Vpcs.Get(id) == nil {
		return nil, notFound("InvalidVpcID.NotFound", "vpc ID")([]string{id})
	}
	a := s.w.VPCAttributes[id]
	on := func(b *bool) *ec2types.AttributeBooleanValue {
		return &ec2types.AttributeBooleanValue{Value: aws.Bool(b == nil || *b)}
	}
	out := &ec2.DescribeVpcAttributeOutput{VpcId: in.VpcId}
	switch in.Attribute {
	case ec2types.VpcAttributeNameEnableDnsSupport:
		out.EnableDnsSupport = on(a.EnableDnsSupport)
	case ec2types.VpcAttributeNameEnableDnsHostnames:
		out.EnableDnsHostnames = on(a.EnableDnsHostnames)
	case ec2types.VpcAttributeNameEnableNetworkAddressUsageMetrics:
		out.EnableNetworkAddressUsageMetrics = &ec2types.AttributeBooleanValue{Value: aws.Bool(false)}
	default:
		return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter attribute is invalid.", in.Attribute)
	}
	return out, nil
}

// DescribeSubnets lists subnets with their free addresses as of now.
func (s API) DescribeSubnets(in *ec2.DescribeSubnetsInput) (*ec2.DescribeSubnetsOutput, error) {
	defer s.w.Enter()()
	zone := func(v *ec2types.Subnet) []string { return table.One(v.AvailabilityZone) }
	cidr := func(v *ec2types.Subnet) []string { return table.One(v.CidrBlock) }
	list, next, err := table.Selection[ec2types.Subnet]{
		Table: s.w.Subnets, ID: func(v *ec2types.Subnet) *string { return v.SubnetId }, IDs: in.SubnetIds,
		Missing: notFound("InvalidSubnetID.NotFound", "subnet ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.Subnet]{
			"subnet-id":               func(v *ec2types.Subnet) []string { return table.One(v.SubnetId) },
			"vpc-id":                  func(v *ec2types.Subnet) []string { return table.One(v.VpcId) },
			"availability-zone":       zone,
			"availability-zone-id":    func(v *ec2types.Subnet) []string { return table.One(v.AvailabilityZoneId) },
			"cidr-block":              cidr,
			"state":                   func(v *ec2types.Subnet) []string { return []string{string(v.State)} },
			"owner-id":                func(v *ec2types.Subnet) []string { return table.One(v.OwnerId) },
			"map-public-ip-on-launch": func(v *ec2types.Subnet) []string { return table.YesNo(v.MapPublicIpOnLaunch) },
			"default-for-az":          func(v *ec2types.Subnet) []string { return table.YesNo(v.DefaultForAz) },
			"available-ip-address-count": func(v *ec2types.Subnet) []string {
				return []string{strconv.Itoa(s.w.Pools[*v.SubnetId].Free())}
			},
		},
		Tags: func(v *ec2types.Subnet) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	out := state.CopyEach(list)
	for i := range out {
		out[i].AvailableIpAddressCount = aws.Int32(int32(s.w.Pools[*out[i].SubnetId].Free()))
	}
	return &ec2.DescribeSubnetsOutput{Subnets: out, NextToken: next}, nil
}

// ModifySubnetAttribute changes whether launches get a public address.
func (s API) ModifySubnetAttribute(in *ec2.ModifySubnetAttributeInput) (*ec2.ModifySubnetAttributeOutput, error) {
	defer s.w.Enter()()
	v := s.w.Subnets.Get(aws.ToString(in.SubnetId))
	if v == nil {
		return nil, notFound("InvalidSubnetID.NotFound", "subnet ID")([]string{aws.ToString(in.SubnetId)})
	}
	if in.MapPublicIpOnLaunch == nil {
		return nil, wire.Errorf("InvalidParameterCombination", "This world changes mapPublicIpOnLaunch only.")
	}
	v.MapPublicIpOnLaunch = in.MapPublicIpOnLaunch.Value
	return &ec2.ModifySubnetAttributeOutput{}, nil
}

// GetSubnetCidrReservations lists the reserved blocks of a subnet.
func (s API) GetSubnetCidrReservations(in *ec2.GetSubnetCidrReservationsInput) (*ec2.GetSubnetCidrReservationsOutput, error) {
	defer s.w.Enter()()
	id := aws.ToString(in.SubnetId)
	if s.w.Subnets.Get(id) == nil {
		return nil, notFound("InvalidSubnetID.NotFound", "subnet ID")([]string{id})
	}
	out := &ec2.GetSubnetCidrReservationsOutput{}
	for _, r := range s.w.CidrReservations.All() {
		if aws.ToString(r.SubnetId) == id {
			out.SubnetIpv4CidrReservations = append(out.SubnetIpv4CidrReservations, state.Copy(*r))
		}
	}
	return out, nil
}

// DescribeInternetGateways lists internet gateways.
func (s API) DescribeInternetGateways(in *ec2.DescribeInternetGatewaysInput) (*ec2.DescribeInternetGatewaysOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.InternetGateway]{
		Table: s.w.InternetGateways, ID: func(v *ec2types.InternetGateway) *string { return v.InternetGatewayId }, IDs: in.InternetGatewayIds,
		Missing: notFound("InvalidInternetGatewayID.NotFound", "internetGateway ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.InternetGateway]{
			"internet-gateway-id": func(v *ec2types.InternetGateway) []string { return table.One(v.InternetGatewayId) },
			"owner-id":            func(v *ec2types.InternetGateway) []string { return table.One(v.OwnerId) },
			"attachment.vpc-id": func(v *ec2types.InternetGateway) []string {
				return table.Each(v.Attachments, func(a ec2types.InternetGatewayAttachment) *string { return a.VpcId })
			},
			"attachment.state": func(v *ec2types.InternetGateway) []string {
				return table.Each(v.Attachments, func(a ec2types.InternetGatewayAttachment) *string { return aws.String(string(a.State)) })
			},
		},
		Tags: func(v *ec2types.InternetGateway) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeInternetGatewaysOutput{InternetGateways: state.CopyEach(list), NextToken: next}, nil
}

// DescribeEgressOnlyInternetGateways lists IPv6's gateways.
func (s API) DescribeEgressOnlyInternetGateways(in *ec2.DescribeEgressOnlyInternetGatewaysInput) (*ec2.DescribeEgressOnlyInternetGatewaysOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.EgressOnlyInternetGateway]{
		Table: s.w.EgressOnlyGateways, ID: func(v *ec2types.EgressOnlyInternetGateway) *string { return v.EgressOnlyInternetGatewayId },
		IDs: in.EgressOnlyInternetGatewayIds, Missing: notFound("InvalidGatewayID.NotFound", "eigw ID"), Filters: in.Filters,
		Tags: func(v *ec2types.EgressOnlyInternetGateway) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: 255,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeEgressOnlyInternetGatewaysOutput{EgressOnlyInternetGateways: state.CopyEach(list), NextToken: next}, nil
}

// DescribeNetworkAcls lists network ACLs.
func (s API) DescribeNetworkAcls(in *ec2.DescribeNetworkAclsInput) (*ec2.DescribeNetworkAclsOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.NetworkAcl]{
		Table: s.w.NetworkACLs, ID: func(v *ec2types.NetworkAcl) *string { return v.NetworkAclId }, IDs: in.NetworkAclIds,
		Missing: notFound("InvalidNetworkAclID.NotFound", "networkAcl ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.NetworkAcl]{
			"network-acl-id": func(v *ec2types.NetworkAcl) []string { return table.One(v.NetworkAclId) },
			"vpc-id":         func(v *ec2types.NetworkAcl) []string { return table.One(v.VpcId) },
			"default":        func(v *ec2types.NetworkAcl) []string { return table.YesNo(v.IsDefault) },
			"owner-id":       func(v *ec2types.NetworkAcl) []string { return table.One(v.OwnerId) },
			"association.subnet-id": func(v *ec2types.NetworkAcl) []string {
				return table.Each(v.Associations, func(a ec2types.NetworkAclAssociation) *string { return a.SubnetId })
			},
		},
		Tags: func(v *ec2types.NetworkAcl) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeNetworkAclsOutput{NetworkAcls: state.CopyEach(list), NextToken: next}, nil
}

// DescribeDhcpOptions lists DHCP option sets.
func (s API) DescribeDhcpOptions(in *ec2.DescribeDhcpOptionsInput) (*ec2.DescribeDhcpOptionsOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.DhcpOptions]{
		Table: s.w.DhcpOptions, ID: func(v *ec2types.DhcpOptions) *string { return v.DhcpOptionsId }, IDs: in.DhcpOptionsIds,
		Missing: notFound("InvalidDhcpOptionID.NotFound", "dhcpOption ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.DhcpOptions]{
			"dhcp-options-id": func(v *ec2types.DhcpOptions) []string { return table.One(v.DhcpOptionsId) },
			"owner-id":        func(v *ec2types.DhcpOptions) []string { return table.One(v.OwnerId) },
			"key": func(v *ec2types.DhcpOptions) []string {
				return table.Each(v.DhcpConfigurations, func(c ec2types.DhcpConfiguration) *string { return c.Key })
			},
		},
		Tags: func(v *ec2types.DhcpOptions) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeDhcpOptionsOutput{DhcpOptions: state.CopyEach(list), NextToken: next}, nil
}

// DescribeVpcPeeringConnections lists VPC peerings.
func (s API) DescribeVpcPeeringConnections(in *ec2.DescribeVpcPeeringConnectionsInput) (*ec2.DescribeVpcPeeringConnectionsOutput, error) {
	defer s.w.Enter()()
	side := func(get func(*ec2types.VpcPeeringConnection) *ec2types.VpcPeeringConnectionVpcInfo) func(*ec2types.VpcPeeringConnection) []string {
		return func(v *ec2types.VpcPeeringConnection) []string {
			if i := get(v); i != nil {
				return table.One(i.VpcId)
			}
			return nil
		}
	}
	list, next, err := table.Selection[ec2types.VpcPeeringConnection]{
		Table: s.w.Peerings, ID: func(v *ec2types.VpcPeeringConnection) *string { return v.VpcPeeringConnectionId }, IDs: in.VpcPeeringConnectionIds,
		Missing: notFound("InvalidVpcPeeringConnectionID.NotFound", "vpcPeeringConnection ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.VpcPeeringConnection]{
			"vpc-peering-connection-id": func(v *ec2types.VpcPeeringConnection) []string { return table.One(v.VpcPeeringConnectionId) },
			"accepter-vpc-info.vpc-id":  side(func(v *ec2types.VpcPeeringConnection) *ec2types.VpcPeeringConnectionVpcInfo { return v.AccepterVpcInfo }),
			"requester-vpc-info.vpc-id": side(func(v *ec2types.VpcPeeringConnection) *ec2types.VpcPeeringConnectionVpcInfo {
				return v.RequesterVpcInfo
			}),
			"status-code": func(v *ec2types.VpcPeeringConnection) []string {
				if v.Status == nil {
					return nil
				}
				return []string{string(v.Status.Code)}
			},
		},
		Tags: func(v *ec2types.VpcPeeringConnection) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeVpcPeeringConnectionsOutput{VpcPeeringConnections: state.CopyEach(list), NextToken: next}, nil
}

// DescribeTransitGatewayAttachments lists transit gateway attachments.
func (s API) DescribeTransitGatewayAttachments(in *ec2.DescribeTransitGatewayAttachmentsInput) (*ec2.DescribeTransitGatewayAttachmentsOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.TransitGatewayAttachment]{
		Table: s.w.TransitAttachments, ID: func(v *ec2types.TransitGatewayAttachment) *string { return v.TransitGatewayAttachmentId },
		IDs: in.TransitGatewayAttachmentIds, Missing: notFound("InvalidTransitGatewayAttachmentID.NotFound", "transitGatewayAttachment ID"), Filters: in.Filters,
		Known: table.Filters[ec2types.TransitGatewayAttachment]{
			"transit-gateway-attachment-id": func(v *ec2types.TransitGatewayAttachment) []string { return table.One(v.TransitGatewayAttachmentId) },
			"transit-gateway-id":            func(v *ec2types.TransitGatewayAttachment) []string { return table.One(v.TransitGatewayId) },
			"resource-id":                   func(v *ec2types.TransitGatewayAttachment) []string { return table.One(v.ResourceId) },
			"resource-type":                 func(v *ec2types.TransitGatewayAttachment) []string { return []string{string(v.ResourceType)} },
			"state":                         func(v *ec2types.TransitGatewayAttachment) []string { return []string{string(v.State)} },
		},
		Tags: func(v *ec2types.TransitGatewayAttachment) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeTransitGatewayAttachmentsOutput{TransitGatewayAttachments: state.CopyEach(list), NextToken: next}, nil
}

// DescribeVpcBlockPublicAccessOptions gives the account's mode in the Region.
func (s API) DescribeVpcBlockPublicAccessOptions(*ec2.DescribeVpcBlockPublicAccessOptionsInput) (*ec2.DescribeVpcBlockPublicAccessOptionsOutput, error) {
	defer s.w.Enter()()
	return &ec2.DescribeVpcBlockPublicAccessOptionsOutput{VpcBlockPublicAccessOptions: state.Copy(s.w.File.EC2.VpcBlockPublicAccessOptions)}, nil
}

// DescribeVpcBlockPublicAccessExclusions lists what is exempt from it.
func (s API) DescribeVpcBlockPublicAccessExclusions(in *ec2.DescribeVpcBlockPublicAccessExclusionsInput) (*ec2.DescribeVpcBlockPublicAccessExclusionsOutput, error) {
	defer s.w.Enter()()
	all := table.New[ec2types.VpcBlockPublicAccessExclusion]()
	for i := range s.w.File.EC2.VpcBlockPublicAccessExclusions {
		e := &s.w.File.EC2.VpcBlockPublicAccessExclusions[i]
		all.Put(aws.ToString(e.ExclusionId), e)
	}
	list, next, err := table.Selection[ec2types.VpcBlockPublicAccessExclusion]{
		Table: all, ID: func(v *ec2types.VpcBlockPublicAccessExclusion) *string { return v.ExclusionId },
		Filters: in.Filters,
		Known: table.Filters[ec2types.VpcBlockPublicAccessExclusion]{
			"resource-arn": func(v *ec2types.VpcBlockPublicAccessExclusion) []string { return table.One(v.ResourceArn) },
			"state":        func(v *ec2types.VpcBlockPublicAccessExclusion) []string { return []string{string(v.State)} },
		},
		Tags: func(v *ec2types.VpcBlockPublicAccessExclusion) []ec2types.Tag { return v.Tags },
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeVpcBlockPublicAccessExclusionsOutput{VpcBlockPublicAccessExclusions: state.CopyEach(list), NextToken: next}, nil
}

// DescribeSecurityGroupVpcAssociations lists the further VPCs of security groups.
func (s API) DescribeSecurityGroupVpcAssociations(in *ec2.DescribeSecurityGroupVpcAssociationsInput) (*ec2.DescribeSecurityGroupVpcAssociationsOutput, error) {
	defer s.w.Enter()()
	all := table.New[ec2types.SecurityGroupVpcAssociation]()
	for i := range s.w.File.EC2.SecurityGroupVpcAssociations {
		a := &s.w.File.EC2.SecurityGroupVpcAssociations[i]
		all.Put(aws.ToString(a.GroupId)+" "+aws.ToString(a.VpcId), a)
	}
	list, next, err := table.Selection[ec2types.SecurityGroupVpcAssociation]{
		Table: all, ID: func(v *ec2types.SecurityGroupVpcAssociation) *string {
			return aws.String(aws.ToString(v.GroupId) + " " + aws.ToString(v.VpcId))
		},
		Filters: in.Filters,
		Known: table.Filters[ec2types.SecurityGroupVpcAssociation]{
			"group-id":       func(v *ec2types.SecurityGroupVpcAssociation) []string { return table.One(v.GroupId) },
			"group-owner-id": func(v *ec2types.SecurityGroupVpcAssociation) []string { return table.One(v.GroupOwnerId) },
			"state":          func(v *ec2types.SecurityGroupVpcAssociation) []string { return []string{string(v.State)} },
			"vpc-id":         func(v *ec2types.SecurityGroupVpcAssociation) []string { return table.One(v.VpcId) },
			"vpc-owner-id":   func(v *ec2types.SecurityGroupVpcAssociation) []string { return table.One(v.VpcOwnerId) },
		},
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeSecurityGroupVpcAssociationsOutput{SecurityGroupVpcAssociations: state.CopyEach(list), NextToken: next}, nil
}

// DescribeInstanceStatus shows the status checks of running instances, or of
// all where the caller asks for all.
func (s API) DescribeInstanceStatus(in *ec2.DescribeInstanceStatusInput) (*ec2.DescribeInstanceStatusOutput, error) {
	defer s.w.Enter()()
	running := table.New[ec2types.Instance]()
	for _, v := range s.w.Instances.All() {
		if aws.ToBool(in.IncludeAllInstances) || v.State.Name == ec2types.InstanceStateNameRunning {
			running.Put(*v.InstanceId, v)
		}
	}
	for _, id := range in.InstanceIds {
		if s.w.Instances.Get(id) == nil {
			return nil, instanceMissing([]string{id})
		}
	}
	ids := in.InstanceIds
	if len(ids) > 0 {
		// An id that is not running is not an error; it is only not shown.
		asked := table.New[ec2types.Instance]()
		for _, id := range ids {
			if v := running.Get(id); v != nil {
				asked.Put(id, v)
			}
		}
		if in.MaxResults != nil {
			return nil, wire.Errorf("InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults")
		}
		running = asked
	}
	list, next, err := table.Selection[ec2types.Instance]{
		Table: running, ID: func(v *ec2types.Instance) *string { return v.InstanceId }, Filters: in.Filters,
		Hidden: func(v *ec2types.Instance) bool {
			return len(ids) == 0 && hides(s.w, v.Operator, in.IncludeManagedResources)
		},
		Known: operatorFilters(table.Filters[ec2types.Instance]{
			"availability-zone":      func(v *ec2types.Instance) []string { return table.One(v.Placement.AvailabilityZone) },
			"instance-state-name":    func(v *ec2types.Instance) []string { return []string{string(v.State.Name)} },
			"instance-status.status": func(v *ec2types.Instance) []string { return []string{string(checks(s.w, v))} },
			"system-status.status":   func(v *ec2types.Instance) []string { return []string{string(checks(s.w, v))} },
		}, func(v *ec2types.Instance) *ec2types.OperatorResponse { return v.Operator }),
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstanceStatusOutput{NextToken: next}
	for _, v := range list {
		if told, ok := listedStatus(s.w, v); ok {
			out.InstanceStatuses = append(out.InstanceStatuses, told)
			continue
		}
		status := checks(s.w, v)
		detail := ec2types.InstanceStatusDetails{Name: ec2types.StatusNameReachability, Status: ec2types.StatusTypePassed}
		if status == ec2types.SummaryStatusInitializing {
			detail.Status = ec2types.StatusTypeInitializing
		}
		summary := func() *ec2types.InstanceStatusSummary {
			return &ec2types.InstanceStatusSummary{Status: status, Details: []ec2types.InstanceStatusDetails{detail}}
		}
		out.InstanceStatuses = append(out.InstanceStatuses, ec2types.InstanceStatus{
			InstanceId: state.Copy(v.InstanceId), InstanceState: state.Copy(v.State), AvailabilityZone: state.Copy(v.Placement.AvailabilityZone),
			InstanceStatus: summary(), SystemStatus: summary(), Operator: operatorShown(s.w, v.Operator),
		})
	}
	return out, nil
}

func checks(w *state.State, v *ec2types.Instance) ec2types.SummaryStatus {
	switch {
	case v.State.Name != ec2types.InstanceStateNameRunning:
		return ec2types.SummaryStatusNotApplicable
	case w.Now.Sub(*v.LaunchTime) < lifecycle.StatusCheckTime:
		return ec2types.SummaryStatusInitializing
	}
	return ec2types.SummaryStatusOk
}

// listedStatus is the status of an instance that the world's file lists. EC2 checks
// running instances only; their events it shows in any state.
func listedStatus(w *state.State, v *ec2types.Instance) (ec2types.InstanceStatus, bool) {
	for _, listed := range w.File.EC2.InstanceStatuses {
		if aws.ToString(listed.InstanceId) != *v.InstanceId {
			continue
		}
		out := state.Copy(listed)
		out.Operator = operatorShown(w, v.Operator)
		out.InstanceState, out.AvailabilityZone = state.Copy(v.State), state.Copy(v.Placement.AvailabilityZone)
		for _, of := range []**ec2types.InstanceStatusSummary{&out.InstanceStatus, &out.SystemStatus} {
			if *of == nil || v.State.Name != ec2types.InstanceStateNameRunning {
				*of = &ec2types.InstanceStatusSummary{Status: checks(w, v)}
			}
		}
		return out, true
	}
	return ec2types.InstanceStatus{}, false
}
