package vpc

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// endpoints are the VPC endpoints of the VPCs.
func endpoints(api ec2.DescribeVpcEndpointsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.Endpoints,
		Calls: []source.Call{{Action: "ec2:DescribeVpcEndpoints"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.Endpoint, error) {
			return readEndpoints(ctx, api, v.VPCs)
		}, func(x snapshot.Endpoint) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.Endpoint { return &s.Endpoints }),
	}
}

func readEndpoints(ctx context.Context, api ec2.DescribeVpcEndpointsAPIClient, vpcs []string) ([]snapshot.Endpoint, error) {
	p := ec2.NewDescribeVpcEndpointsPaginator(api, &ec2.DescribeVpcEndpointsInput{Filters: ec2api.AnyOf("vpc-id", vpcs)})
	return ec2api.Pages(ctx, "vpc endpoints", p.HasMorePages, p.NextPage, func(out *ec2.DescribeVpcEndpointsOutput) []snapshot.Endpoint {
		return source.Each(out.VpcEndpoints, endpoint)
	})
}

func endpoint(e types.VpcEndpoint) snapshot.Endpoint {
	out := snapshot.Endpoint{
		ID:      aws.ToString(e.VpcEndpointId),
		VPC:     aws.ToString(e.VpcId),
		Service: aws.ToString(e.ServiceName),
		Kind:    string(e.VpcEndpointType),
		// EC2 answers "available" where the SDK's enum says "Available".
		State:       strings.ToLower(string(e.State)),
		PrivateDNS:  aws.ToBool(e.PrivateDnsEnabled) && !inboundOnly(e),
		Subnets:     slices.Sorted(slices.Values(e.SubnetIds)),
		RouteTables: slices.Sorted(slices.Values(e.RouteTableIds)),
		Policy:      aws.ToString(e.PolicyDocument),
		Interfaces:  slices.Sorted(slices.Values(e.NetworkInterfaceIds)),
	}
	if e.LastError != nil {
		out.Error = aws.ToString(e.LastError.Message)
	}
	for _, g := range e.Groups {
		out.Groups = append(out.Groups, aws.ToString(g.GroupId))
	}
	slices.Sort(out.Groups)
	return out
}

// inboundOnly reports whether an endpoint's private names are for inbound resolver
// endpoints only, as is the default for S3 beside a gateway endpoint: nodes in
// the VPC get S3's public addresses.
func inboundOnly(e types.VpcEndpoint) bool {
	return e.DnsOptions != nil && aws.ToBool(e.DnsOptions.PrivateDnsOnlyForInboundResolverEndpoint)
}

// dhcpOptions are those of the VPCs that were read.
func dhcp(api ec2.DescribeDhcpOptionsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.DHCP,
		Needs: []snapshot.Source{snapshot.VPCs},
		Calls: []source.Call{{Action: "ec2:DescribeDhcpOptions"}},
		Read:  source.Through(api, readDHCP),
	}
}

// noDHCP is what a VPC names instead of an id when it has no DHCP options:
// then its instances get no name server at all, not even Amazon's.
const noDHCP = "default"

// readDHCP reads the options of the VPCs that were read.
func readDHCP(ctx context.Context, api ec2.DescribeDhcpOptionsAPIClient, v *source.View) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.VPCs) {
		return nil, v.Unread(snapshot.VPCs)
	}
	var list []snapshot.DHCPOptions
	var ids, nameless []string
	for _, v := range v.Snapshot.VPCs {
		switch v.DHCP {
		case noDHCP:
			list = append(list, snapshot.DHCPOptions{ID: noDHCP})
		case "":
			nameless = append(nameless, v.ID)
		default:
			ids = append(ids, v.DHCP)
		}
	}
	if len(ids) > 0 {
		// A filter rather than the id parameter: options that are being
		// deleted would make EC2 refuse the whole request.
		p := ec2.NewDescribeDhcpOptionsPaginator(api, &ec2.DescribeDhcpOptionsInput{Filters: ec2api.AnyOf("dhcp-options-id", ids)})
		more, err := ec2api.Pages(ctx, "dhcp options", p.HasMorePages, p.NextPage, func(out *ec2.DescribeDhcpOptionsOutput) []snapshot.DHCPOptions {
			return source.Each(out.DhcpOptions, dhcpOptions)
		})
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	list = source.Unique(list, func(d snapshot.DHCPOptions) string { return d.ID })
	return func(s *snapshot.Snapshot) {
		s.DHCPOptions = list
		for _, id := range nameless {
			s.Lack(snapshot.DHCP, id, snapshot.Failure{Source: snapshot.DHCP, Reason: snapshot.Broken, Call: vpcs(nil).Call(), Message: "EC2 does not say which DHCP options the VPC has"})
		}
		for _, id := range ids {
			if !slices.ContainsFunc(list, func(d snapshot.DHCPOptions) bool { return d.ID == id }) {
				s.Lack(snapshot.DHCP, id, snapshot.Failure{Source: snapshot.DHCP, Reason: snapshot.Broken, Call: v.Source.Call(), Message: "EC2 does not describe these DHCP options"})
			}
		}
	}, nil
}

func dhcpOptions(o types.DhcpOptions) snapshot.DHCPOptions {
	out := snapshot.DHCPOptions{ID: aws.ToString(o.DhcpOptionsId)}
	for _, c := range o.DhcpConfigurations {
		values := source.Each(c.Values, func(v types.AttributeValue) string { return aws.ToString(v.Value) })
		switch aws.ToString(c.Key) {
		case "domain-name":
			out.DomainNames = append(out.DomainNames, values...)
		case "domain-name-servers":
			out.DomainNameServers = append(out.DomainNameServers, values...)
		}
	}
	return out
}

// egressOnlyGateways are all of the region's: the call has no filter by VPC.
func egressOnlyGateways(api ec2.DescribeEgressOnlyInternetGatewaysAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.EgressOnly,
		Calls: []source.Call{{Action: "ec2:DescribeEgressOnlyInternetGateways"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.EgressOnlyGateway, error) {
			return readEgressOnly(ctx, api)
		}, func(x snapshot.EgressOnlyGateway) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.EgressOnlyGateway { return &s.EgressOnly }),
	}
}

func readEgressOnly(ctx context.Context, api ec2.DescribeEgressOnlyInternetGatewaysAPIClient) ([]snapshot.EgressOnlyGateway, error) {
	p := ec2.NewDescribeEgressOnlyInternetGatewaysPaginator(api, &ec2.DescribeEgressOnlyInternetGatewaysInput{})
	return ec2api.Pages(ctx, "egress-only internet gateways", p.HasMorePages, p.NextPage, func(out *ec2.DescribeEgressOnlyInternetGatewaysOutput) []snapshot.EgressOnlyGateway {
		return source.Each(out.EgressOnlyInternetGateways, egressOnly)
	})
}

func egressOnly(g types.EgressOnlyInternetGateway) snapshot.EgressOnlyGateway {
	return snapshot.EgressOnlyGateway{ID: aws.ToString(g.EgressOnlyInternetGatewayId), Attached: internetGateway(types.InternetGateway{Attachments: g.Attachments}).Attached}
}

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
		Read:  source.Through(api, readInterfaces),
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

// managed reports whether an AWS service runs a resource in the account, EKS Auto Mode
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

// internetGateways are all of the region's: one that a route leads to may be
// detached, and then no filter by VPC finds it.
func internetGateways(api ec2.DescribeInternetGatewaysAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.InternetGateways,
		Calls: []source.Call{{Action: "ec2:DescribeInternetGateways"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.InternetGateway, error) {
			return readInternetGateways(ctx, api)
		}, func(x snapshot.InternetGateway) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.InternetGateway { return &s.InternetGateways }),
	}
}

func readInternetGateways(ctx context.Context, api ec2.DescribeInternetGatewaysAPIClient) ([]snapshot.InternetGateway, error) {
	p := ec2.NewDescribeInternetGatewaysPaginator(api, &ec2.DescribeInternetGatewaysInput{})
	return ec2api.Pages(ctx, "internet gateways", p.HasMorePages, p.NextPage, func(out *ec2.DescribeInternetGatewaysOutput) []snapshot.InternetGateway {
		return source.Each(out.InternetGateways, internetGateway)
	})
}

func internetGateway(g types.InternetGateway) snapshot.InternetGateway {
	out := snapshot.InternetGateway{ID: aws.ToString(g.InternetGatewayId)}
	for _, a := range g.Attachments {
		// EC2 answers "available" for attached internet gateways, though the
		// enum documents only "attached".
		switch a.State {
		case types.AttachmentStatusAttaching, types.AttachmentStatusDetaching, types.AttachmentStatusDetached:
		default:
			// "available", or nothing known: what lists the VPC is not accused of
			// being off it.
			out.Attached = append(out.Attached, aws.ToString(a.VpcId))
		}
	}
	slices.Sort(out.Attached)
	return out
}

// natGateways are those of the VPCs. Their zones are those of their subnets: zonesOfGateways.
func natGateways(api ec2.DescribeNatGatewaysAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.NATGateways,
		Calls: []source.Call{{Action: "ec2:DescribeNatGateways"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.NATGateway, error) {
			return readNATGateways(ctx, api, v.VPCs)
		}, func(x snapshot.NATGateway) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.NATGateway { return &s.NATGateways }),
	}
}

func readNATGateways(ctx context.Context, api ec2.DescribeNatGatewaysAPIClient, vpcs []string) ([]snapshot.NATGateway, error) {
	p := ec2.NewDescribeNatGatewaysPaginator(api, &ec2.DescribeNatGatewaysInput{Filter: ec2api.AnyOf("vpc-id", vpcs)})
	return ec2api.Pages(ctx, "nat gateways", p.HasMorePages, p.NextPage, func(out *ec2.DescribeNatGatewaysOutput) []snapshot.NATGateway {
		return source.Each(out.NatGateways, natGateway)
	})
}

func natGateway(g types.NatGateway) snapshot.NATGateway {
	out := snapshot.NATGateway{
		ID:     aws.ToString(g.NatGatewayId),
		VPC:    aws.ToString(g.VpcId),
		Subnet: aws.ToString(g.SubnetId),
		State:  string(g.State),
		// Gateways from before private ones existed may lack the field.
		Public:     g.ConnectivityType != types.ConnectivityTypePrivate,
		Failure:    aws.ToString(g.FailureMessage),
		RouteTable: aws.ToString(g.RouteTableId),
	}
	for _, a := range g.NatGatewayAddresses {
		if ip := ec2api.AddressOf(a.PublicIp); ip.IsValid() && (a.Status == "" || a.Status == types.NatGatewayAddressStatusSucceeded) {
			out.Addresses = append(out.Addresses, snapshot.NATAddress{IP: ip, Zone: aws.ToString(a.AvailabilityZone), ZoneID: aws.ToString(a.AvailabilityZoneId)})
		}
	}
	for _, p := range g.AttachedAppliances {
		if p.AttachmentState == types.NatGatewayApplianceStateAttached {
			out.Proxy = cmp.Or(aws.ToString(p.ApplianceArn), string(p.Type))
		}
	}
	return out
}

func ZoneOf(subnets []snapshot.Subnet, id string) string {
	for _, s := range subnets {
		if s.ID == id {
			return s.Zone
		}
	}
	return ""
}

// networkACLs are those of the VPCs.
func networkACLs(api ec2.DescribeNetworkAclsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.NetworkACLs,
		Calls: []source.Call{{Action: "ec2:DescribeNetworkAcls"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.NetworkACL, error) {
			return readNetworkACLs(ctx, api, v.VPCs)
		}, func(x snapshot.NetworkACL) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.NetworkACL { return &s.NetworkACLs }),
	}
}

func readNetworkACLs(ctx context.Context, api ec2.DescribeNetworkAclsAPIClient, vpcs []string) ([]snapshot.NetworkACL, error) {
	p := ec2.NewDescribeNetworkAclsPaginator(api, &ec2.DescribeNetworkAclsInput{Filters: ec2api.AnyOf("vpc-id", vpcs)})
	return ec2api.Pages(ctx, "network acls", p.HasMorePages, p.NextPage, func(out *ec2.DescribeNetworkAclsOutput) []snapshot.NetworkACL {
		return source.Each(out.NetworkAcls, networkACL)
	})
}

func networkACL(a types.NetworkAcl) snapshot.NetworkACL {
	out := snapshot.NetworkACL{
		ID:      aws.ToString(a.NetworkAclId),
		VPC:     aws.ToString(a.VpcId),
		Default: aws.ToBool(a.IsDefault),
		Entries: source.Each(a.Entries, aclEntry),
	}
	for _, s := range a.Associations {
		if id := aws.ToString(s.SubnetId); id != "" {
			out.Subnets = append(out.Subnets, id)
		}
	}
	slices.Sort(out.Subnets)
	slices.SortStableFunc(out.Entries, func(a, b snapshot.ACLEntry) int {
		if a.Egress != b.Egress {
			if a.Egress {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.Number, b.Number)
	})
	return out
}

func aclEntry(e types.NetworkAclEntry) snapshot.ACLEntry {
	out := snapshot.ACLEntry{
		Number:   int(aws.ToInt32(e.RuleNumber)),
		Egress:   aws.ToBool(e.Egress),
		Allow:    e.RuleAction == types.RuleActionAllow,
		Protocol: aws.ToString(e.Protocol),
		To:       65535, // a rule without a range is about all ports
		CIDR:     source.Prefix(e.CidrBlock),
	}
	if !out.CIDR.IsValid() {
		out.CIDR = source.Prefix(e.Ipv6CidrBlock)
	}
	if r := e.PortRange; r != nil && r.From != nil && r.To != nil {
		out.From, out.To = int(*r.From), int(*r.To)
	}
	return out
}

// peerings are the peering connections that routes lead to.
func peerings(api ec2.DescribeVpcPeeringConnectionsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.Peerings,
		Needs: []snapshot.Source{snapshot.RouteTables},
		After: []snapshot.Source{
			snapshot.TransitGateways, // whose far route tables lead to some too
		},
		Calls: []source.Call{{Action: "ec2:DescribeVpcPeeringConnections"}},
		Read:  source.Through(api, readPeerings),
	}
}

func readPeerings(ctx context.Context, api ec2.DescribeVpcPeeringConnectionsAPIClient, v *source.View) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.RouteTables) {
		return nil, v.Unread(snapshot.RouteTables)
	}
	ids := targets(v.Snapshot, snapshot.ToPeering)
	if len(ids) == 0 {
		return source.Nothing, nil
	}
	p := ec2.NewDescribeVpcPeeringConnectionsPaginator(api, &ec2.DescribeVpcPeeringConnectionsInput{Filters: ec2api.AnyOf("vpc-peering-connection-id", ids)})
	list, err := ec2api.Pages(ctx, "vpc peering connections", p.HasMorePages, p.NextPage, func(out *ec2.DescribeVpcPeeringConnectionsOutput) []snapshot.Peering {
		return source.Each(out.VpcPeeringConnections, peering)
	})
	return source.Keep(list, err, func(x snapshot.Peering) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.Peering { return &s.Peerings })
}

func peering(c types.VpcPeeringConnection) snapshot.Peering {
	out := snapshot.Peering{ID: aws.ToString(c.VpcPeeringConnectionId), Requester: peerVPC(c.RequesterVpcInfo), Accepter: peerVPC(c.AccepterVpcInfo)}
	if c.Status != nil {
		out.State = string(c.Status.Code)
	}
	return out
}

func peerVPC(v *types.VpcPeeringConnectionVpcInfo) snapshot.PeerVPC {
	if v == nil {
		return snapshot.PeerVPC{}
	}
	out := snapshot.PeerVPC{VPC: aws.ToString(v.VpcId), Account: aws.ToString(v.OwnerId), Region: aws.ToString(v.Region)}
	for _, b := range v.CidrBlockSet {
		out.CIDRs = ec2api.AppendValid(out.CIDRs, source.Prefix(b.CidrBlock))
	}
	if p := source.Prefix(v.CidrBlock); len(out.CIDRs) == 0 {
		out.CIDRs = ec2api.AppendValid(out.CIDRs, p)
	}
	for _, b := range v.Ipv6CidrBlockSet {
		out.CIDRs = ec2api.AppendValid(out.CIDRs, source.Prefix(b.Ipv6CidrBlock))
	}
	return out
}

// PrefixLists describes prefix lists and what is in them.
type PrefixLists interface {
	DescribeManagedPrefixLists(context.Context, *ec2.DescribeManagedPrefixListsInput, ...func(*ec2.Options)) (*ec2.DescribeManagedPrefixListsOutput, error)
	GetManagedPrefixListEntries(context.Context, *ec2.GetManagedPrefixListEntriesInput, ...func(*ec2.Options)) (*ec2.GetManagedPrefixListEntriesOutput, error)
}

// prefixLists are the lists that the route tables and security groups name,
// those of AWS among them: their entries can be read like a customer's.
func prefixLists(api PrefixLists) source.Source {
	return source.Source{
		Name:  snapshot.PrefixListEntries,
		Needs: []snapshot.Source{snapshot.RouteTables},
		After: []snapshot.Source{
			snapshot.SecurityGroups,
			snapshot.TransitGateways, // whose far route tables name some too
		},
		Calls: []source.Call{
			{Action: "ec2:DescribeManagedPrefixLists"},
			// AWS's own lists bear the account "aws", shared ones their owner's.
			{Action: "ec2:GetManagedPrefixListEntries", Resources: []string{"arn:${Partition}:ec2:${Region}:*:prefix-list/*"}},
		},
		Read: source.Through(api, readPrefixLists),
	}
}

func readPrefixLists(ctx context.Context, api PrefixLists, v *source.View) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.RouteTables) && !v.Snapshot.Has(snapshot.SecurityGroups) {
		return nil, v.Unread(snapshot.RouteTables)
	}
	ids := listsNamed(v.Snapshot)
	if len(ids) == 0 {
		return source.Nothing, nil
	}
	var list []snapshot.PrefixList
	for chunk := range slices.Chunk(ids, ec2api.MaxFilterValues) {
		p := ec2.NewDescribeManagedPrefixListsPaginator(api, &ec2.DescribeManagedPrefixListsInput{Filters: ec2api.AnyOf("prefix-list-id", chunk)})
		more, err := ec2api.Pages(ctx, "managed prefix lists", p.HasMorePages, p.NextPage, func(out *ec2.DescribeManagedPrefixListsOutput) []snapshot.PrefixList {
			return source.Each(out.PrefixLists, func(m types.ManagedPrefixList) snapshot.PrefixList {
				return snapshot.PrefixList{ID: aws.ToString(m.PrefixListId), Name: aws.ToString(m.PrefixListName)}
			})
		})
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	lacks := map[string]snapshot.Failure{}
	for _, id := range ids {
		if !slices.ContainsFunc(list, func(p snapshot.PrefixList) bool { return p.ID == id }) {
			lacks[id] = snapshot.Failure{Source: snapshot.PrefixListEntries, Reason: snapshot.Broken, Call: v.Source.Call(), Message: "EC2 does not describe this prefix list"}
		}
	}
	var read []snapshot.PrefixList
	for _, p := range list {
		cidrs, err := entriesOf(ctx, api, p.ID)
		switch {
		case err == nil:
			p.CIDRs = cidrs
			read = append(read, p)
		case source.Gone(err):
			lacks[p.ID] = *v.Source.Failure(err)
		default:
			return nil, err
		}
	}
	read = source.Unique(read, func(p snapshot.PrefixList) string { return p.ID })
	return func(s *snapshot.Snapshot) {
		s.PrefixLists = read
		source.LackAll(s, snapshot.PrefixListEntries, lacks)
	}, nil
}

func entriesOf(ctx context.Context, api PrefixLists, id string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	p := ec2.NewGetManagedPrefixListEntriesPaginator(api, &ec2.GetManagedPrefixListEntriesInput{PrefixListId: aws.String(id)})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("get the entries of %s: %w", id, err)
		}
		for _, e := range page.Entries {
			list = ec2api.AppendValid(list, source.Prefix(e.Cidr))
		}
	}
	return list, nil
}

// listsNamed are the prefix lists that routes and rules name.
func listsNamed(s *snapshot.Snapshot) []string {
	var ids []string
	for _, t := range s.RouteTables {
		for _, r := range t.Routes {
			ids = append(ids, r.PrefixList)
		}
	}
	for _, g := range s.SecurityGroups {
		for _, r := range slices.Concat(g.Ingress, g.Egress) {
			ids = append(ids, r.PrefixLists...)
		}
	}
	return source.Distinct(ids)
}
