package ec2

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/authorization"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/state"
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
		RouteTableId: aws.String(s.w.IDs.EC2("rtb")), VpcId: deepcopy.Of(in.VpcId), OwnerId: aws.String(s.w.Account),
		Associations: []ec2types.RouteTableAssociation{}, Tags: tagsFor(in.TagSpecifications, ec2types.ResourceTypeRouteTable),
		Routes: []ec2types.Route{{
			DestinationCidrBlock: deepcopy.Of(v.CidrBlock), GatewayId: aws.String("local"),
			Origin: ec2types.RouteOriginCreateRouteTable, State: ec2types.RouteStateActive,
		}},
	}
	s.w.RouteTables.Put(*t.RouteTableId, t)
	return &ec2.CreateRouteTableOutput{RouteTable: deepcopy.Of(t), ClientToken: in.ClientToken}, nil
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
	return &ec2.AssociateRouteTableOutput{AssociationId: deepcopy.Of(a.RouteTableAssociationId), AssociationState: deepcopy.Of(a.AssociationState)}, nil
}

func association(w *state.State, table string, subnet *string, main bool) ec2types.RouteTableAssociation {
	return ec2types.RouteTableAssociation{
		RouteTableAssociationId: aws.String(w.IDs.EC2("rtbassoc")), RouteTableId: aws.String(table), SubnetId: deepcopy.Of(subnet), Main: aws.Bool(main),
		AssociationState: &ec2types.RouteTableAssociationState{State: ec2types.RouteTableAssociationStateCodeAssociated},
	}
}

// associationAt finds an association by its id.
func associationAt(w *state.State, id *string) (*ec2types.RouteTable, int, error) {
	for _, t := range w.RouteTables.All() {
		for i, a := range t.Associations {
			if aws.ToString(a.RouteTableAssociationId) == aws.ToString(id) {
				return t, i, nil
			}
		}
	}
	return nil, 0, notFound("InvalidAssociationID.NotFound", "association ID")([]string{aws.ToString(id)})
}

// DisassociateRouteTable leaves a subnet to the VPC's main table.
func (s API) DisassociateRouteTable(in *ec2.DisassociateRouteTableInput) (*ec2.DisassociateRouteTableOutput, error) {
	defer s.w.Enter()()
	t, i, err := associationAt(s.w, in.AssociationId)
	if err != nil {
		return nil, err
	}
	if aws.ToBool(t.Associations[i].Main) {
		return nil, wire.Errorf("InvalidParameterValue", "cannot disassociate the main route table association %s", aws.ToString(in.AssociationId))
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	t.Associations = slices.Delete(t.Associations, i, i+1)
	return &ec2.DisassociateRouteTableOutput{}, nil
}

// ReplaceRouteTableAssociation moves a subnet, or the VPC, to another table.
func (s API) ReplaceRouteTableAssociation(in *ec2.ReplaceRouteTableAssociationInput) (*ec2.ReplaceRouteTableAssociationOutput, error) {
	defer s.w.Enter()()
	from, i, err := associationAt(s.w, in.AssociationId)
	if err != nil {
		return nil, err
	}
	to, err := routeTable(s.w, in.RouteTableId)
	if err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	old := from.Associations[i]
	from.Associations = slices.Delete(from.Associations, i, i+1)
	a := association(s.w, *to.RouteTableId, old.SubnetId, aws.ToBool(old.Main))
	to.Associations = append(to.Associations, a)
	return &ec2.ReplaceRouteTableAssociationOutput{NewAssociationId: deepcopy.Of(a.RouteTableAssociationId), AssociationState: deepcopy.Of(a.AssociationState)}, nil
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
	g.Attachments = []ec2types.InternetGatewayAttachment{{State: "available", VpcId: deepcopy.Of(in.VpcId)}}
	return &ec2.AttachInternetGatewayOutput{}, nil
}

// DetachInternetGateway detaches a gateway; the routes to it turn to
// blackhole.
func (s API) DetachInternetGateway(in *ec2.DetachInternetGatewayInput) (*ec2.DetachInternetGatewayOutput, error) {
	defer s.w.Enter()()
	g, err := internetGateway(s.w, in.InternetGatewayId)
	if err != nil {
		return nil, err
	}
	if len(g.Attachments) == 0 || aws.ToString(g.Attachments[0].VpcId) != aws.ToString(in.VpcId) {
		return nil, wire.Errorf("Gateway.NotAttached", "resource %s is not attached to network %s", *g.InternetGatewayId, aws.ToString(in.VpcId))
	}
	for _, eni := range s.w.Interfaces.All() {
		if eni.Association != nil && aws.ToString(eni.VpcId) == *in.VpcId {
			return nil, wire.Errorf("DependencyViolation", "Network %s has some mapped public address(es). Please unmap those public address(es) before detaching the gateway.", *in.VpcId)
		}
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	g.Attachments = []ec2types.InternetGatewayAttachment{}
	s.w.Blackhole(func(r *ec2types.Route) bool { return aws.ToString(r.GatewayId) == *g.InternetGatewayId })
	return &ec2.DetachInternetGatewayOutput{}, nil
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
			*list = append(*list, deepcopy.Of(t))
		}
	}
	return &ec2.CreateTagsOutput{}, nil
}

// DeleteTags takes tags away: by key, and by value where one is given.
func (s API) DeleteTags(in *ec2.DeleteTagsInput) (*ec2.DeleteTagsOutput, error) {
	defer s.w.Enter()()
	lists, err := tagLists(s.w, in.Resources)
	if err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	for _, list := range lists {
		*list = slices.DeleteFunc(*list, func(have ec2types.Tag) bool {
			return len(in.Tags) == 0 || slices.ContainsFunc(in.Tags, func(t ec2types.Tag) bool {
				return aws.ToString(t.Key) == aws.ToString(have.Key) && (t.Value == nil || *t.Value == aws.ToString(have.Value))
			})
		})
	}
	return &ec2.DeleteTagsOutput{}, nil
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
