package gather

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/snapshot"
)

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

func egressOnly(g types.EgressOnlyInternetGateway) snapshot.EgressOnlyGateway {
	return snapshot.EgressOnlyGateway{ID: aws.ToString(g.EgressOnlyInternetGatewayId), Attached: internetGateway(types.InternetGateway{Attachments: g.Attachments}).Attached}
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
		if ip := address(a.PublicIp); ip.IsValid() {
			out.PublicIPs = append(out.PublicIPs, ip)
		}
	}
	return out
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

// inboundOnly tells that an endpoint's private names are for inbound resolver
// endpoints only, as is the default for S3 beside a gateway endpoint: nodes in
// the VPC get S3's public addresses.
func inboundOnly(e types.VpcEndpoint) bool {
	return e.DnsOptions != nil && aws.ToBool(e.DnsOptions.PrivateDnsOnlyForInboundResolverEndpoint)
}
