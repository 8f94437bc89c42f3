package vpc

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// interfaces are the control plane's, which EKS describes as its own, those
// that routes lead to, and those in which transit gateways stand. A VPC can
// have tens of thousands: never all of them.
func interfaces(api ec2.DescribeNetworkInterfacesAPIClient) source.Source {
	return source.Source{
		Name: snapshot.Interfaces,
		After: []snapshot.Source{
			snapshot.RouteTables,
			snapshot.TransitGateways,
			snapshot.Subnets,
		},
		Calls: []source.Call{{Action: "ec2:DescribeNetworkInterfaces"}},
		Read: source.Through(api, readInterfaces),
	}
}

func readInterfaces(ctx context.Context, api ec2.DescribeNetworkInterfacesAPIClient, v *source.View) (source.Store, error) {
	list, err := DescribeInterfaces(ctx, api, append(ec2api.In("vpc-id", v.VPCs[0]), ec2api.In("description", "Amazon EKS "+v.Snapshot.Cluster.Name)...))
	if err != nil {
		return nil, err
	}
	for chunk := range slices.Chunk(targets(v.Snapshot, snapshot.ToInterface), ec2api.MaxFilterValues) {
		more, err := DescribeInterfaces(ctx, api, ec2api.AnyOf("network-interface-id", chunk))
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	if vpcs := attachedVPCs(v.Snapshot); len(vpcs) > 0 {
		more, err := DescribeInterfaces(ctx, api, append(ec2api.AnyOf("vpc-id", vpcs), ec2api.In("interface-type", string(types.NetworkInterfaceTypeTransitGateway))...))
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	list = source.Unique(list, func(x snapshot.Interface) string { return x.ID })
	return func(s *snapshot.Snapshot) { s.Interfaces = list }, nil
}

// attachedVPCs are the VPCs with a transit gateway whose subnets were read.
func attachedVPCs(s *snapshot.Snapshot) []string {
	var ids []string
	for _, a := range s.Attachments {
		if a.Kind == string(types.TransitGatewayAttachmentResourceTypeVpc) && slices.ContainsFunc(s.Subnets, func(x snapshot.Subnet) bool { return x.VPC == a.Resource }) {
			ids = append(ids, a.Resource)
		}
	}
	return source.Distinct(ids)
}

func DescribeInterfaces(ctx context.Context, api ec2.DescribeNetworkInterfacesAPIClient, filters []types.Filter) ([]snapshot.Interface, error) {
	p := ec2.NewDescribeNetworkInterfacesPaginator(api, &ec2.DescribeNetworkInterfacesInput{Filters: filters})
	return ec2api.Pages(ctx, "network interfaces", p.HasMorePages, p.NextPage, func(out *ec2.DescribeNetworkInterfacesOutput) []snapshot.Interface {
		return source.Each(out.NetworkInterfaces, networkInterface)
	})
}

// managed tells that an AWS service runs a resource in the account, EKS Auto Mode
// its nodes' interfaces: only that service may change it (EC2 API,
// OperatorResponse).
func managed(o *types.OperatorResponse) bool { return o != nil && aws.ToBool(o.Managed) }

func networkInterface(n types.NetworkInterface) snapshot.Interface {
	out := snapshot.Interface{
		ID:               aws.ToString(n.NetworkInterfaceId),
		Account:          aws.ToString(n.OwnerId),
		VPC:              aws.ToString(n.VpcId),
		Subnet:           aws.ToString(n.SubnetId),
		Zone:             aws.ToString(n.AvailabilityZone),
		Description:      aws.ToString(n.Description),
		Status:           string(n.Status),
		Kind:             string(n.InterfaceType),
		RequesterManaged: aws.ToBool(n.RequesterManaged) || managed(n.Operator),
		SourceCheck:      aws.ToBool(n.SourceDestCheck),
		Attached:         n.Attachment != nil,
		Tags:             ec2api.Tags(n.TagSet),
	}
	for _, g := range n.Groups {
		out.Groups = append(out.Groups, aws.ToString(g.GroupId))
	}
	slices.Sort(out.Groups)
	if n.Attachment != nil {
		out.Instance = aws.ToString(n.Attachment.InstanceId)
	}
	if n.Association != nil {
		out.PublicIP = ec2api.AddressOf(n.Association.PublicIp)
	}
	for _, a := range n.PrivateIpAddresses {
		if ip := ec2api.AddressOf(a.PrivateIpAddress); ip.IsValid() {
			out.PrivateIPs = append(out.PrivateIPs, ip)
		}
	}
	if ip := ec2api.AddressOf(n.PrivateIpAddress); ip.IsValid() && !slices.Contains(out.PrivateIPs, ip) {
		out.PrivateIPs = append(out.PrivateIPs, ip)
	}
	for _, b := range n.Ipv4Prefixes {
		out.Prefixes = ec2api.AppendValid(out.Prefixes, source.Prefix(b.Ipv4Prefix))
	}
	for _, a := range n.Ipv6Addresses {
		if ip := ec2api.AddressOf(a.Ipv6Address); ip.IsValid() {
			out.IPv6 = append(out.IPv6, ip)
		}
	}
	return out
}
