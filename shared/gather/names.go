package gather

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/snapshot"
)

// Attributes describes the attributes of a VPC.
type Attributes interface {
	DescribeVpcAttribute(context.Context, *ec2.DescribeVpcAttributeInput, ...func(*ec2.Options)) (*ec2.DescribeVpcAttributeOutput, error)
}

// Options describes DHCP options.
type Options interface {
	DescribeDhcpOptions(context.Context, *ec2.DescribeDhcpOptionsInput, ...func(*ec2.Options)) (*ec2.DescribeDhcpOptionsOutput, error)
}

// noDHCP is what a VPC names instead of an id when it has no DHCP options:
// then its instances are told no name server at all, not even Amazon's.
const noDHCP = "default"

func (r *Reader) readVPCDNS(ctx context.Context, vpcs []string) ([]snapshot.VPCAttributes, error) {
	var list []snapshot.VPCAttributes
	for _, vpc := range vpcs {
		a, err := r.readDNS(ctx, vpc)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// readDNS asks for one switch at a time: the call gives no more.
func (r *Reader) readDNS(ctx context.Context, vpc string) (snapshot.VPCAttributes, error) {
	out := snapshot.VPCAttributes{VPC: vpc}
	for _, name := range []types.VpcAttributeName{types.VpcAttributeNameEnableDnsSupport, types.VpcAttributeNameEnableDnsHostnames} {
		got, err := r.attributes.DescribeVpcAttribute(ctx, &ec2.DescribeVpcAttributeInput{VpcId: aws.String(vpc), Attribute: name})
		if err != nil {
			return out, fmt.Errorf("describe %s of %s: %w", name, vpc, err)
		}
		value := got.EnableDnsSupport
		if name == types.VpcAttributeNameEnableDnsHostnames {
			value = got.EnableDnsHostnames
		}
		if value == nil || value.Value == nil {
			return out, fmt.Errorf("describe %s of %s: the answer does not hold it", name, vpc)
		}
		if name == types.VpcAttributeNameEnableDnsHostnames {
			out.DNSHostnames = *value.Value
		} else {
			out.DNSSupport = *value.Value
		}
	}
	return out, nil
}

// dhcp reads the options of the VPCs that were read.
func (l *look) dhcp(ctx context.Context) (store, error) {
	if !l.s.Has(snapshot.VPCs) {
		return nil, unread(snapshot.VPCs)
	}
	var list []snapshot.DHCPOptions
	var ids, nameless []string
	for _, v := range l.s.VPCs {
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
		p := ec2.NewDescribeDhcpOptionsPaginator(l.r.options, &ec2.DescribeDhcpOptionsInput{Filters: anyOf("dhcp-options-id", ids)})
		more, err := pages(ctx, "dhcp options", p.HasMorePages, p.NextPage, func(out *ec2.DescribeDhcpOptionsOutput) []snapshot.DHCPOptions {
			return each(out.DhcpOptions, dhcpOptions)
		})
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	list = unique(list, func(d snapshot.DHCPOptions) string { return d.ID })
	return func(s *snapshot.Snapshot) {
		s.DHCPOptions = list
		for _, id := range nameless {
			s.Lack(snapshot.DHCP, id, snapshot.Failure{Source: snapshot.DHCP, Reason: snapshot.Broken, Call: call(snapshot.VPCs), Message: "EC2 does not say which DHCP options the VPC has"})
		}
		for _, id := range ids {
			if !slices.ContainsFunc(list, func(d snapshot.DHCPOptions) bool { return d.ID == id }) {
				s.Lack(snapshot.DHCP, id, snapshot.Failure{Source: snapshot.DHCP, Reason: snapshot.Broken, Call: call(snapshot.DHCP), Message: "EC2 does not describe these DHCP options"})
			}
		}
	}, nil
}

func dhcpOptions(o types.DhcpOptions) snapshot.DHCPOptions {
	out := snapshot.DHCPOptions{ID: aws.ToString(o.DhcpOptionsId)}
	for _, c := range o.DhcpConfigurations {
		values := each(c.Values, func(v types.AttributeValue) string { return aws.ToString(v.Value) })
		switch aws.ToString(c.Key) {
		case "domain-name":
			out.DomainNames = append(out.DomainNames, values...)
		case "domain-name-servers":
			out.DomainNameServers = append(out.DomainNameServers, values...)
		}
	}
	return out
}
