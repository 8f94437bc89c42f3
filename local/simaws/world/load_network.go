package world

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/addresses"
	"rollcall/local/simaws/defaults"
	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

func loadNetwork(w *state.State, f *worldfile.File) error {
	e := &f.EC2
	for i := range e.Vpcs {
		v := &e.Vpcs[i]
		defaults.Set(&v.OwnerId, w.Account)
		defaults.Set(&v.IsDefault, false)
		defaults.Set(&v.DhcpOptionsId, "default")
		defaults.SetPlain(&v.State, ec2types.VpcStateAvailable)
		defaults.SetPlain(&v.InstanceTenancy, ec2types.TenancyDefault)
	}
	loadPublicAccess(w, e)
	for id, a := range e.VpcAttributes {
		w.VPCAttributes[id] = a
	}
	for i := range e.SecurityGroups {
		g := &e.SecurityGroups[i]
		defaults.Set(&g.OwnerId, w.Account)
		defaults.Set(&g.GroupName, aws.ToString(g.GroupId))
		defaults.Set(&g.Description, "")
		defaults.Set(&g.SecurityGroupArn, w.ARN("ec2", "security-group/"+aws.ToString(g.GroupId)))
		w.OwnPairs(g.IpPermissions)
		w.OwnPairs(g.IpPermissionsEgress)
	}
	for i := range e.InternetGateways {
		defaults.Set(&e.InternetGateways[i].OwnerId, w.Account)
	}
	for i := range e.NetworkAcls {
		defaults.Set(&e.NetworkAcls[i].OwnerId, w.Account)
	}
	for i := range e.NatGateways {
		n := &e.NatGateways[i]
		defaults.SetPlain(&n.State, ec2types.NatGatewayStateAvailable)
		defaults.SetPlain(&n.ConnectivityType, ec2types.ConnectivityTypePublic)
		defaults.Set(&n.CreateTime, w.Start.Add(-state.Age))
	}
	for i := range e.VpcEndpoints {
		p := &e.VpcEndpoints[i]
		defaults.Set(&p.OwnerId, w.Account)
		defaults.SetPlain(&p.State, ec2types.StateAvailable)
		defaults.SetPlain(&p.VpcEndpointType, ec2types.VpcEndpointTypeInterface)
		defaults.Set(&p.PrivateDnsEnabled, p.VpcEndpointType == ec2types.VpcEndpointTypeInterface)
		defaults.Set(&p.RequesterManaged, false)
		defaults.Set(&p.CreationTimestamp, w.Start.Add(-state.Age))
		// EC2 gives every endpoint that is made without a policy this one.
		defaults.Set(&p.PolicyDocument, `{"Statement":[{"Action":"*","Effect":"Allow","Principal":"*","Resource":"*"}]}`)
	}
	for i := range e.DhcpOptions {
		defaults.Set(&e.DhcpOptions[i].OwnerId, w.Account)
	}
	for id, list := range e.PrefixListEntries {
		w.PrefixListEntries[id] = list
	}
	for table, list := range e.TransitGatewayRoutes {
		for i := range list {
			defaults.SetPlain(&list[i].State, ec2types.TransitGatewayRouteStateActive)
			defaults.SetPlain(&list[i].Type, ec2types.TransitGatewayRouteTypeStatic)
		}
		w.TransitRoutes[table] = list
	}
	for i := range e.TransitGatewayAttachments {
		a := &e.TransitGatewayAttachments[i]
		defaults.Set(&a.ResourceOwnerId, w.Account)
		defaults.Set(&a.TransitGatewayOwnerId, w.Account)
		defaults.SetPlain(&a.State, ec2types.TransitGatewayAttachmentStateAvailable)
		defaults.SetPlain(&a.ResourceType, ec2types.TransitGatewayAttachmentResourceTypeVpc)
	}
	return errors.Join(
		fill(w.Vpcs, e.Vpcs, "ec2.Vpcs", func(v *ec2types.Vpc) *string { return v.VpcId }),
		fill(w.SecurityGroups, e.SecurityGroups, "ec2.SecurityGroups", func(v *ec2types.SecurityGroup) *string { return v.GroupId }),
		loadSubnets(w, e),
		loadRouteTables(w, e),
		fill(w.InternetGateways, e.InternetGateways, "ec2.InternetGateways", func(v *ec2types.InternetGateway) *string { return v.InternetGatewayId }),
		fill(w.EgressOnlyGateways, e.EgressOnlyInternetGateways, "ec2.EgressOnlyInternetGateways", func(v *ec2types.EgressOnlyInternetGateway) *string {
			return v.EgressOnlyInternetGatewayId
		}),
		fill(w.NetworkACLs, e.NetworkAcls, "ec2.NetworkAcls", func(v *ec2types.NetworkAcl) *string { return v.NetworkAclId }),
		fill(w.NATGateways, e.NatGateways, "ec2.NatGateways", func(v *ec2types.NatGateway) *string { return v.NatGatewayId }),
		fill(w.Endpoints, e.VpcEndpoints, "ec2.VpcEndpoints", func(v *ec2types.VpcEndpoint) *string { return v.VpcEndpointId }),
		fill(w.DhcpOptions, e.DhcpOptions, "ec2.DhcpOptions", func(v *ec2types.DhcpOptions) *string { return v.DhcpOptionsId }),
		fill(w.Addresses, e.Addresses, "ec2.Addresses", func(v *ec2types.Address) *string { return v.AllocationId }),
		fill(w.PrefixLists, e.PrefixLists, "ec2.PrefixLists", func(v *ec2types.PrefixList) *string { return v.PrefixListId }),
		fill(w.ManagedPrefixLists, e.ManagedPrefixLists, "ec2.ManagedPrefixLists", func(v *ec2types.ManagedPrefixList) *string { return v.PrefixListId }),
		fill(w.Volumes, e.Volumes, "ec2.Volumes", func(v *ec2types.Volume) *string { return v.VolumeId }),
		fill(w.Peerings, e.VpcPeeringConnections, "ec2.VpcPeeringConnections", func(v *ec2types.VpcPeeringConnection) *string { return v.VpcPeeringConnectionId }),
		fill(w.TransitAttachments, e.TransitGatewayAttachments, "ec2.TransitGatewayAttachments", func(v *ec2types.TransitGatewayAttachment) *string {
			return v.TransitGatewayAttachmentId
		}),
	)
}

// loadPublicAccess completes VPC Block Public Access: the account's mode is in force in
// its VPCs and subnets, except where an exclusion that is complete exempts one, or the
// VPC that it is in. One that allows egress makes block-bidirectional into block-ingress,
// and is ignored by block-ingress (VPC user guide, "VPC BPA basics"; "Advanced example",
// scenarios 4 to 6). Whose a shared subnet is decides: "To enable VPC BPA on the VPCs and
// subnets in your account, you must own the VPCs and subnets."
func loadPublicAccess(w *state.State, e *worldfile.EC2File) {
	o := e.VpcBlockPublicAccessOptions
	if o == nil {
		o = &ec2types.VpcBlockPublicAccessOptions{}
		e.VpcBlockPublicAccessOptions = o
	}
	defaults.Set(&o.AwsAccountId, w.Account)
	defaults.Set(&o.AwsRegion, w.Region)
	defaults.SetPlain(&o.InternetGatewayBlockMode, ec2types.InternetGatewayBlockModeOff)
	defaults.SetPlain(&o.State, ec2types.VpcBlockPublicAccessStateUpdateComplete)
	defaults.SetPlain(&o.ManagedBy, ec2types.ManagedByAccount)
	defaults.SetPlain(&o.ExclusionsAllowed, ec2types.VpcBlockPublicAccessExclusionsAllowedAllowed)
	in := func(mine bool, arns ...string) *ec2types.BlockPublicAccessStates {
		mode := ec2types.BlockPublicAccessMode(o.InternetGatewayBlockMode)
		if !mine {
			mode = ec2types.BlockPublicAccessModeOff
		}
		for i := range e.VpcBlockPublicAccessExclusions {
			x := &e.VpcBlockPublicAccessExclusions[i]
			defaults.SetPlain(&x.State, ec2types.VpcBlockPublicAccessExclusionStateCreateComplete)
			defaults.SetPlain(&x.InternetGatewayExclusionMode, ec2types.InternetGatewayExclusionModeAllowBidirectional)
			inForce := x.State == ec2types.VpcBlockPublicAccessExclusionStateCreateComplete || x.State == ec2types.VpcBlockPublicAccessExclusionStateUpdateComplete
			switch {
			case !inForce || !slices.Contains(arns, aws.ToString(x.ResourceArn)):
			case x.InternetGatewayExclusionMode == ec2types.InternetGatewayExclusionModeAllowBidirectional:
				mode = ec2types.BlockPublicAccessModeOff
			case mode == ec2types.BlockPublicAccessModeBlockBidirectional:
				mode = ec2types.BlockPublicAccessModeBlockIngress
			}
		}
		return &ec2types.BlockPublicAccessStates{InternetGatewayBlockMode: mode}
	}
	for i := range e.Vpcs {
		if v := &e.Vpcs[i]; v.BlockPublicAccessStates == nil {
			v.BlockPublicAccessStates = in(aws.ToString(v.OwnerId) == w.Account, w.ARN("ec2", "vpc/"+aws.ToString(v.VpcId)))
		}
	}
	for i := range e.Subnets {
		s := &e.Subnets[i]
		defaults.Set(&s.OwnerId, w.Account)
		if s.BlockPublicAccessStates == nil {
			s.BlockPublicAccessStates = in(*s.OwnerId == w.Account, w.ARN("ec2", "vpc/"+aws.ToString(s.VpcId)), w.ARN("ec2", "subnet/"+aws.ToString(s.SubnetId)))
		}
	}
}

func loadSubnets(w *state.State, e *worldfile.EC2File) error {
	var errs []error
	for i := range e.Subnets {
		s := &e.Subnets[i]
		id := aws.ToString(s.SubnetId)
		defaults.Set(&s.OwnerId, w.Account)
		defaults.Set(&s.AvailabilityZoneId, ids.ZoneID(aws.ToString(s.AvailabilityZone)))
		defaults.Set(&s.MapPublicIpOnLaunch, false)
		defaults.Set(&s.DefaultForAz, false)
		defaults.Set(&s.AssignIpv6AddressOnCreation, false)
		defaults.Set(&s.Ipv6Native, false)
		defaults.Set(&s.SubnetArn, w.ARN("ec2", "subnet/"+id))
		defaults.SetPlain(&s.State, ec2types.SubnetStateAvailable)
		if w.Vpcs.Get(aws.ToString(s.VpcId)) == nil {
			errs = append(errs, fmt.Errorf("ec2.Subnets %s: VPC %q is not in the world", id, aws.ToString(s.VpcId)))
		}
		p, err := addresses.New(aws.ToString(s.CidrBlock))
		if err != nil {
			errs = append(errs, fmt.Errorf("ec2.Subnets %s: %w", id, err))
			continue
		}
		w.Pools[id] = p
	}
	for i, r := range e.SubnetCidrReservations {
		p := w.Pools[aws.ToString(r.SubnetId)]
		if p == nil {
			errs = append(errs, fmt.Errorf("ec2.SubnetCidrReservations[%d]: subnet %q is not in the world", i, aws.ToString(r.SubnetId)))
		} else if err := p.Reserve(r); err != nil {
			errs = append(errs, fmt.Errorf("ec2.SubnetCidrReservations[%d]: %w", i, err))
		}
	}
	return errors.Join(append(errs,
		fill(w.Subnets, e.Subnets, "ec2.Subnets", func(v *ec2types.Subnet) *string { return v.SubnetId }),
		fill(w.CidrReservations, e.SubnetCidrReservations, "ec2.SubnetCidrReservations", func(v *ec2types.SubnetCidrReservation) *string {
			return v.SubnetCidrReservationId
		}))...)
}

func loadRouteTables(w *state.State, e *worldfile.EC2File) error {
	var errs []error
	for i := range e.RouteTables {
		t := &e.RouteTables[i]
		id := aws.ToString(t.RouteTableId)
		defaults.Set(&t.OwnerId, w.Account)
		for j := range t.Routes {
			r := &t.Routes[j]
			defaults.SetPlain(&r.State, ec2types.RouteStateActive)
			origin := ec2types.RouteOriginCreateRoute
			if aws.ToString(r.GatewayId) == "local" {
				origin = ec2types.RouteOriginCreateRouteTable
			}
			defaults.SetPlain(&r.Origin, origin)
		}
		for j := range t.Associations {
			a := &t.Associations[j]
			defaults.Set(&a.RouteTableId, id)
			defaults.Set(&a.Main, false)
			defaults.Set(&a.RouteTableAssociationId, w.IDs.EC2("rtbassoc"))
			if a.AssociationState == nil {
				a.AssociationState = &ec2types.RouteTableAssociationState{State: ec2types.RouteTableAssociationStateCodeAssociated}
			}
			if s := aws.ToString(a.SubnetId); s != "" && w.Subnets.Get(s) == nil {
				errs = append(errs, fmt.Errorf("ec2.RouteTables %s: subnet %q is not in the world", id, s))
			}
		}
	}
	return errors.Join(append(errs, fill(w.RouteTables, e.RouteTables, "ec2.RouteTables", func(v *ec2types.RouteTable) *string { return v.RouteTableId }))...)
}
