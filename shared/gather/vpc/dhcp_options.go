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

// dhcpOptions are those of the VPCs that were read.
func dhcp(api ec2.DescribeDhcpOptionsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.DHCP,
		Needs: []snapshot.Source{snapshot.VPCs},
		Calls: []source.Call{{Action: "ec2:DescribeDhcpOptions"}},
		Read: source.Through(api, readDHCP),
	}
}

// noDHCP is what a VPC names instead of an id when it has no DHCP options:
// then its instances are told no name server at all, not even Amazon's.
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
