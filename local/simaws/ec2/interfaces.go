package ec2

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/lifecycle"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
)

func interfaceFilters() table.Filters[ec2types.NetworkInterface] {
	type eni = ec2types.NetworkInterface
	attached := func(value func(*ec2types.NetworkInterfaceAttachment) *string) func(*eni) []string {
		return func(v *eni) []string {
			if v.Attachment == nil {
				return nil
			}
			return table.One(value(v.Attachment))
		}
	}
	return operatorFilters(table.Filters[eni]{
		"network-interface-id": func(v *eni) []string { return table.One(v.NetworkInterfaceId) },
		"subnet-id":            func(v *eni) []string { return table.One(v.SubnetId) },
		"vpc-id":               func(v *eni) []string { return table.One(v.VpcId) },
		"availability-zone":    func(v *eni) []string { return table.One(v.AvailabilityZone) },
		"description":          func(v *eni) []string { return table.One(v.Description) },
		"status":               func(v *eni) []string { return []string{string(v.Status)} },
		"interface-type":       func(v *eni) []string { return []string{string(v.InterfaceType)} },
		"owner-id":             func(v *eni) []string { return table.One(v.OwnerId) },
		"requester-id":         func(v *eni) []string { return table.One(v.RequesterId) },
		"requester-managed":    func(v *eni) []string { return table.YesNo(v.RequesterManaged) },
		"mac-address":          func(v *eni) []string { return table.One(v.MacAddress) },
		"private-dns-name":     func(v *eni) []string { return table.One(v.PrivateDnsName) },
		"private-ip-address":   func(v *eni) []string { return table.One(v.PrivateIpAddress) },
		"source-dest-check":    func(v *eni) []string { return table.YesNo(v.SourceDestCheck) },
		"group-id": func(v *eni) []string {
			return table.Each(v.Groups, func(g ec2types.GroupIdentifier) *string { return g.GroupId })
		},
		"addresses.private-ip-address": func(v *eni) []string {
			return table.Each(v.PrivateIpAddresses, func(a ec2types.NetworkInterfacePrivateIpAddress) *string { return a.PrivateIpAddress })
		},
		"addresses.primary": func(v *eni) []string {
			return table.Each(v.PrivateIpAddresses, func(a ec2types.NetworkInterfacePrivateIpAddress) *string {
				return aws.String(table.YesNo(a.Primary)[0])
			})
		},
		"association.public-ip": func(v *eni) []string {
			if v.Association == nil {
				return nil
			}
			return table.One(v.Association.PublicIp)
		},
		"attachment.attachment-id":     attached(func(a *ec2types.NetworkInterfaceAttachment) *string { return a.AttachmentId }),
		"attachment.instance-id":       attached(func(a *ec2types.NetworkInterfaceAttachment) *string { return a.InstanceId }),
		"attachment.instance-owner-id": attached(func(a *ec2types.NetworkInterfaceAttachment) *string { return a.InstanceOwnerId }),
		"attachment.status":            attached(func(a *ec2types.NetworkInterfaceAttachment) *string { return aws.String(string(a.Status)) }),
		"attachment.delete-on-termination": attached(func(a *ec2types.NetworkInterfaceAttachment) *string {
			return aws.String(table.YesNo(a.DeleteOnTermination)[0])
		}),
		"attachment.device-index": attached(func(a *ec2types.NetworkInterfaceAttachment) *string {
			return aws.String(strconv.Itoa(int(aws.ToInt32(a.DeviceIndex))))
		}),
	}, func(v *eni) *ec2types.OperatorResponse { return v.Operator })
}

// DescribeNetworkInterfaces lists network interfaces.
func (s API) DescribeNetworkInterfaces(in *ec2.DescribeNetworkInterfacesInput) (*ec2.DescribeNetworkInterfacesOutput, error) {
	defer s.w.Enter()()
	list, next, err := table.Selection[ec2types.NetworkInterface]{
		Table: s.w.Interfaces, ID: func(v *ec2types.NetworkInterface) *string { return v.NetworkInterfaceId }, IDs: in.NetworkInterfaceIds,
		Missing: notFound("InvalidNetworkInterfaceID.NotFound", "networkInterface ID"), Filters: in.Filters, Known: interfaceFilters(),
		Tags:   func(v *ec2types.NetworkInterface) []ec2types.Tag { return v.TagSet },
		Hidden: func(v *ec2types.NetworkInterface) bool { return hides(s.w, v.Operator, in.IncludeManagedResources) },
		Size:   in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
		IDsBarPaging: "networkInterfaceIdSet",
	}.Run()
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeNetworkInterfacesOutput{NetworkInterfaces: deepcopy.Each(list), NextToken: next}
	for i := range out.NetworkInterfaces {
		out.NetworkInterfaces[i].Operator = operatorShown(s.w, out.NetworkInterfaces[i].Operator)
	}
	return out, nil
}

func networkInterface(w *state.State, id *string) (*ec2types.NetworkInterface, error) {
	if eni := w.Interfaces.Get(aws.ToString(id)); eni != nil {
		return eni, nil
	}
	return nil, notFound("InvalidNetworkInterfaceID.NotFound", "networkInterface ID")([]string{aws.ToString(id)})
}

// CreateNetworkInterface makes an interface and takes its addresses.
func (s API) CreateNetworkInterface(in *ec2.CreateNetworkInterfaceInput) (*ec2.CreateNetworkInterfaceOutput, error) {
	defer s.w.Enter()()
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	groups := in.Groups
	if sub := s.w.Subnets.Get(aws.ToString(in.SubnetId)); sub != nil && len(groups) == 0 {
		groups = s.w.DefaultGroup(aws.ToString(sub.VpcId))
	}
	eni, err := s.w.CreateInterface(state.InterfaceSpec{
		Subnet: aws.ToString(in.SubnetId), Description: aws.ToString(in.Description), Groups: groups,
		Tags: tagsFor(in.TagSpecifications, ec2types.ResourceTypeNetworkInterface), Primary: aws.ToString(in.PrivateIpAddress),
		Secondary: int(aws.ToInt32(in.SecondaryPrivateIpAddressCount)), Prefixes: int(aws.ToInt32(in.Ipv4PrefixCount)),
	})
	if err != nil {
		return nil, err
	}
	return &ec2.CreateNetworkInterfaceOutput{NetworkInterface: deepcopy.Of(eni), ClientToken: in.ClientToken}, nil
}

// DeleteNetworkInterface deletes an interface that nothing uses.
func (s API) DeleteNetworkInterface(in *ec2.DeleteNetworkInterfaceInput) (*ec2.DeleteNetworkInterfaceOutput, error) {
	defer s.w.Enter()()
	eni, err := networkInterface(s.w, in.NetworkInterfaceId)
	if err != nil {
		return nil, err
	}
	if eni.Attachment != nil || eni.Status == ec2types.NetworkInterfaceStatusInUse {
		return nil, wire.Errorf("InvalidParameterValue", "Network interface '%s' is currently in use.", *eni.NetworkInterfaceId)
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	s.w.DropInterface(eni)
	return &ec2.DeleteNetworkInterfaceOutput{}, nil
}

// AttachNetworkInterface puts an interface on an instance.
func (s API) AttachNetworkInterface(in *ec2.AttachNetworkInterfaceInput) (*ec2.AttachNetworkInterfaceOutput, error) {
	defer s.w.Enter()()
	eni, err := networkInterface(s.w, in.NetworkInterfaceId)
	if err != nil {
		return nil, err
	}
	i := s.w.Instances.Get(aws.ToString(in.InstanceId))
	if i == nil {
		return nil, wire.Errorf("InvalidInstanceID.NotFound", "%s", lifecycle.InstanceIDs([]string{aws.ToString(in.InstanceId)}))
	}
	if eni.Attachment != nil {
		return nil, wire.Errorf("InvalidNetworkInterface.InUse", "Interface: [%s] in use.", *eni.NetworkInterfaceId)
	}
	if t := s.w.InstanceTypes.Get(string(i.InstanceType)); t != nil && t.NetworkInfo != nil && len(s.w.Attached[*i.InstanceId]) >= int(aws.ToInt32(t.NetworkInfo.MaximumNetworkInterfaces)) {
		return nil, wire.Errorf("AttachmentLimitExceeded", "Interface count %d exceeds the limit for %s", len(s.w.Attached[*i.InstanceId])+1, i.InstanceType)
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	s.w.Attach(eni, *i.InstanceId, aws.ToInt32(in.DeviceIndex), false)
	return &ec2.AttachNetworkInterfaceOutput{AttachmentId: deepcopy.Of(eni.Attachment.AttachmentId), NetworkCardIndex: aws.Int32(0)}, nil
}

// DetachNetworkInterface takes an interface off an instance.
func (s API) DetachNetworkInterface(in *ec2.DetachNetworkInterfaceInput) (*ec2.DetachNetworkInterfaceOutput, error) {
	defer s.w.Enter()()
	for _, eni := range s.w.Interfaces.All() {
		if eni.Attachment == nil || aws.ToString(eni.Attachment.AttachmentId) != aws.ToString(in.AttachmentId) {
			continue
		}
		if aws.ToInt32(eni.Attachment.DeviceIndex) == 0 || aws.ToString(eni.Attachment.InstanceId) == "" {
			return nil, wire.Errorf("OperationNotPermitted", "The network interface at device index 0 cannot be detached.")
		}
		if err := dryRun(in.DryRun); err != nil {
			return nil, err
		}
		s.w.Detach(eni)
		return &ec2.DetachNetworkInterfaceOutput{}, nil
	}
	return nil, wire.Errorf("InvalidAttachmentID.NotFound", "An interface attachment with the id '%s' does not exist", aws.ToString(in.AttachmentId))
}

// AssignPrivateIpAddresses adds addresses or /28 prefixes to an interface.
func (s API) AssignPrivateIpAddresses(in *ec2.AssignPrivateIpAddressesInput) (*ec2.AssignPrivateIpAddressesOutput, error) {
	defer s.w.Enter()()
	eni, err := networkInterface(s.w, in.NetworkInterfaceId)
	if err != nil {
		return nil, err
	}
	if len(in.PrivateIpAddresses) > 0 || len(in.Ipv4Prefixes) > 0 {
		return nil, wire.Errorf("InvalidParameterCombination", "This world assigns addresses by count only.")
	}
	if aws.ToInt32(in.SecondaryPrivateIpAddressCount) < 0 || aws.ToInt32(in.Ipv4PrefixCount) < 0 {
		return nil, wire.Errorf("InvalidParameterValue", "A number of addresses must not be negative.")
	}
	p := s.w.Pools[aws.ToString(eni.SubnetId)]
	addrs, ok := p.Allocate(int(aws.ToInt32(in.SecondaryPrivateIpAddressCount)))
	if !ok {
		return nil, state.ErrSubnetFull()
	}
	blocks, ok := p.AllocatePrefixes(int(aws.ToInt32(in.Ipv4PrefixCount)))
	if !ok {
		for _, a := range addrs {
			p.Release(a)
		}
		return nil, wire.Errorf("InsufficientCidrBlocks", "The specified subnet does not have enough free cidr blocks to satisfy the request.")
	}
	s.w.AddAddresses(eni, addrs, blocks)
	out := &ec2.AssignPrivateIpAddressesOutput{NetworkInterfaceId: in.NetworkInterfaceId}
	for _, a := range addrs {
		out.AssignedPrivateIpAddresses = append(out.AssignedPrivateIpAddresses, ec2types.AssignedPrivateIpAddress{PrivateIpAddress: aws.String(a.String())})
	}
	for _, b := range blocks {
		out.AssignedIpv4Prefixes = append(out.AssignedIpv4Prefixes, ec2types.Ipv4PrefixSpecification{Ipv4Prefix: aws.String(b.String())})
	}
	return out, nil
}

// UnassignPrivateIpAddresses takes secondary addresses or prefixes away.
func (s API) UnassignPrivateIpAddresses(in *ec2.UnassignPrivateIpAddressesInput) (*ec2.UnassignPrivateIpAddressesOutput, error) {
	defer s.w.Enter()()
	eni, err := networkInterface(s.w, in.NetworkInterfaceId)
	if err != nil {
		return nil, err
	}
	p := s.w.Pools[aws.ToString(eni.SubnetId)]
	for _, addr := range in.PrivateIpAddresses {
		i := slices.IndexFunc(eni.PrivateIpAddresses, func(a ec2types.NetworkInterfacePrivateIpAddress) bool {
			return aws.ToString(a.PrivateIpAddress) == addr && !aws.ToBool(a.Primary)
		})
		if i < 0 {
			return nil, wire.Errorf("InvalidParameterValue", "Some of [%s] are not assigned to interface %s", addr, *eni.NetworkInterfaceId)
		}
		s.w.ReleaseAddress(p, addr)
		eni.PrivateIpAddresses = slices.Delete(eni.PrivateIpAddresses, i, i+1)
	}
	for _, block := range in.Ipv4Prefixes {
		i := slices.IndexFunc(eni.Ipv4Prefixes, func(b ec2types.Ipv4PrefixSpecification) bool { return aws.ToString(b.Ipv4Prefix) == block })
		parsed, err := netip.ParsePrefix(block)
		if i < 0 || err != nil {
			return nil, wire.Errorf("InvalidParameterValue", "Some of [%s] are not assigned to interface %s", block, *eni.NetworkInterfaceId)
		}
		p.ReleaseBlock(parsed)
		eni.Ipv4Prefixes = slices.Delete(eni.Ipv4Prefixes, i, i+1)
	}
	return &ec2.UnassignPrivateIpAddressesOutput{}, nil
}
