package world

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/addresses"
	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/worldfile"
)

func (w *World) loadNetwork(f *worldfile.File) error {
	e := &f.EC2
	for i := range e.Vpcs {
		v := &e.Vpcs[i]
		or(&v.OwnerId, w.account)
		or(&v.IsDefault, false)
		or(&v.DhcpOptionsId, "default")
		orZero(&v.State, ec2types.VpcStateAvailable)
		orZero(&v.InstanceTenancy, ec2types.TenancyDefault)
	}
	for id, a := range e.VpcAttributes {
		w.vpcAttributes[id] = a
	}
	for i := range e.SecurityGroups {
		g := &e.SecurityGroups[i]
		or(&g.OwnerId, w.account)
		or(&g.GroupName, aws.ToString(g.GroupId))
		or(&g.Description, "")
		or(&g.SecurityGroupArn, w.arn("ec2", "security-group/"+aws.ToString(g.GroupId)))
		w.ownPairs(g.IpPermissions)
		w.ownPairs(g.IpPermissionsEgress)
	}
	for i := range e.InternetGateways {
		or(&e.InternetGateways[i].OwnerId, w.account)
	}
	for i := range e.NetworkAcls {
		or(&e.NetworkAcls[i].OwnerId, w.account)
	}
	for i := range e.NatGateways {
		n := &e.NatGateways[i]
		orZero(&n.State, ec2types.NatGatewayStateAvailable)
		orZero(&n.ConnectivityType, ec2types.ConnectivityTypePublic)
		or(&n.CreateTime, w.start.Add(-long))
	}
	for i := range e.VpcEndpoints {
		p := &e.VpcEndpoints[i]
		or(&p.OwnerId, w.account)
		orZero(&p.State, ec2types.StateAvailable)
		orZero(&p.VpcEndpointType, ec2types.VpcEndpointTypeInterface)
		or(&p.PrivateDnsEnabled, p.VpcEndpointType == ec2types.VpcEndpointTypeInterface)
		or(&p.RequesterManaged, false)
		or(&p.CreationTimestamp, w.start.Add(-long))
		// EC2 gives every endpoint that is made without a policy this one.
		or(&p.PolicyDocument, `{"Statement":[{"Action":"*","Effect":"Allow","Principal":"*","Resource":"*"}]}`)
	}
	for i := range e.DhcpOptions {
		or(&e.DhcpOptions[i].OwnerId, w.account)
	}
	for id, list := range e.PrefixListEntries {
		w.prefixListEntries[id] = list
	}
	for table, list := range e.TransitGatewayRoutes {
		for i := range list {
			orZero(&list[i].State, ec2types.TransitGatewayRouteStateActive)
			orZero(&list[i].Type, ec2types.TransitGatewayRouteTypeStatic)
		}
		w.transitRoutes[table] = list
	}
	for i := range e.TransitGatewayAttachments {
		a := &e.TransitGatewayAttachments[i]
		or(&a.ResourceOwnerId, w.account)
		or(&a.TransitGatewayOwnerId, w.account)
		orZero(&a.State, ec2types.TransitGatewayAttachmentStateAvailable)
		orZero(&a.ResourceType, ec2types.TransitGatewayAttachmentResourceTypeVpc)
	}
	return errors.Join(
		fill(w.vpcs, e.Vpcs, "ec2.Vpcs", func(v *ec2types.Vpc) *string { return v.VpcId }),
		fill(w.securityGroups, e.SecurityGroups, "ec2.SecurityGroups", func(v *ec2types.SecurityGroup) *string { return v.GroupId }),
		w.loadSubnets(e),
		w.loadRouteTables(e),
		fill(w.internetGateways, e.InternetGateways, "ec2.InternetGateways", func(v *ec2types.InternetGateway) *string { return v.InternetGatewayId }),
		fill(w.egressOnlyGateways, e.EgressOnlyInternetGateways, "ec2.EgressOnlyInternetGateways", func(v *ec2types.EgressOnlyInternetGateway) *string {
			return v.EgressOnlyInternetGatewayId
		}),
		fill(w.networkACLs, e.NetworkAcls, "ec2.NetworkAcls", func(v *ec2types.NetworkAcl) *string { return v.NetworkAclId }),
		fill(w.natGateways, e.NatGateways, "ec2.NatGateways", func(v *ec2types.NatGateway) *string { return v.NatGatewayId }),
		fill(w.endpoints, e.VpcEndpoints, "ec2.VpcEndpoints", func(v *ec2types.VpcEndpoint) *string { return v.VpcEndpointId }),
		fill(w.dhcpOptions, e.DhcpOptions, "ec2.DhcpOptions", func(v *ec2types.DhcpOptions) *string { return v.DhcpOptionsId }),
		fill(w.addresses, e.Addresses, "ec2.Addresses", func(v *ec2types.Address) *string { return v.AllocationId }),
		fill(w.prefixLists, e.PrefixLists, "ec2.PrefixLists", func(v *ec2types.PrefixList) *string { return v.PrefixListId }),
		fill(w.managedPrefixLists, e.ManagedPrefixLists, "ec2.ManagedPrefixLists", func(v *ec2types.ManagedPrefixList) *string { return v.PrefixListId }),
		fill(w.volumes, e.Volumes, "ec2.Volumes", func(v *ec2types.Volume) *string { return v.VolumeId }),
		fill(w.peerings, e.VpcPeeringConnections, "ec2.VpcPeeringConnections", func(v *ec2types.VpcPeeringConnection) *string { return v.VpcPeeringConnectionId }),
		fill(w.transitAttachments, e.TransitGatewayAttachments, "ec2.TransitGatewayAttachments", func(v *ec2types.TransitGatewayAttachment) *string {
			return v.TransitGatewayAttachmentId
		}),
	)
}

func (w *World) ownPairs(list []ec2types.IpPermission) {
	for _, p := range list {
		for i := range p.UserIdGroupPairs {
			or(&p.UserIdGroupPairs[i].UserId, w.account)
		}
	}
}

func (w *World) loadSubnets(e *worldfile.EC2File) error {
	var errs []error
	for i := range e.Subnets {
		s := &e.Subnets[i]
		id := aws.ToString(s.SubnetId)
		or(&s.OwnerId, w.account)
		or(&s.AvailabilityZoneId, ids.ZoneID(aws.ToString(s.AvailabilityZone)))
		or(&s.MapPublicIpOnLaunch, false)
		or(&s.DefaultForAz, false)
		or(&s.AssignIpv6AddressOnCreation, false)
		or(&s.Ipv6Native, false)
		or(&s.SubnetArn, w.arn("ec2", "subnet/"+id))
		orZero(&s.State, ec2types.SubnetStateAvailable)
		if w.vpcs.Get(aws.ToString(s.VpcId)) == nil {
			errs = append(errs, fmt.Errorf("ec2.Subnets %s: VPC %q is not in the world", id, aws.ToString(s.VpcId)))
		}
		p, err := addresses.New(aws.ToString(s.CidrBlock))
		if err != nil {
			errs = append(errs, fmt.Errorf("ec2.Subnets %s: %w", id, err))
			continue
		}
		w.pools[id] = p
	}
	for i, r := range e.SubnetCidrReservations {
		p := w.pools[aws.ToString(r.SubnetId)]
		if p == nil {
			errs = append(errs, fmt.Errorf("ec2.SubnetCidrReservations[%d]: subnet %q is not in the world", i, aws.ToString(r.SubnetId)))
		} else if err := p.Reserve(r); err != nil {
			errs = append(errs, fmt.Errorf("ec2.SubnetCidrReservations[%d]: %w", i, err))
		}
	}
	return errors.Join(append(errs,
		fill(w.subnets, e.Subnets, "ec2.Subnets", func(v *ec2types.Subnet) *string { return v.SubnetId }),
		fill(w.cidrReservations, e.SubnetCidrReservations, "ec2.SubnetCidrReservations", func(v *ec2types.SubnetCidrReservation) *string {
			return v.SubnetCidrReservationId
		}))...)
}

func (w *World) loadRouteTables(e *worldfile.EC2File) error {
	var errs []error
	for i := range e.RouteTables {
		t := &e.RouteTables[i]
		id := aws.ToString(t.RouteTableId)
		or(&t.OwnerId, w.account)
		for j := range t.Routes {
			r := &t.Routes[j]
			orZero(&r.State, ec2types.RouteStateActive)
			origin := ec2types.RouteOriginCreateRoute
			if aws.ToString(r.GatewayId) == "local" {
				origin = ec2types.RouteOriginCreateRouteTable
			}
			orZero(&r.Origin, origin)
		}
		for j := range t.Associations {
			a := &t.Associations[j]
			or(&a.RouteTableId, id)
			or(&a.Main, false)
			or(&a.RouteTableAssociationId, w.ids.EC2("rtbassoc"))
			if a.AssociationState == nil {
				a.AssociationState = &ec2types.RouteTableAssociationState{State: ec2types.RouteTableAssociationStateCodeAssociated}
			}
			if s := aws.ToString(a.SubnetId); s != "" && w.subnets.Get(s) == nil {
				errs = append(errs, fmt.Errorf("ec2.RouteTables %s: subnet %q is not in the world", id, s))
			}
		}
	}
	return errors.Join(append(errs, fill(w.routeTables, e.RouteTables, "ec2.RouteTables", func(v *ec2types.RouteTable) *string { return v.RouteTableId }))...)
}
