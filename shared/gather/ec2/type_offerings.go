package ec2

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

// TypeOfferings describes which types the zones offer.
type TypeOfferings interface {
	DescribeInstanceTypeOfferings(context.Context, *ec2.DescribeInstanceTypeOfferingsInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypeOfferingsOutput, error)
}

// typeOfferings are the zones of the types that the query names; of all where it
// names none. A type that no zone offers is not in the answer.
func typeOfferings(api TypeOfferings) source.Source {
	return source.Source{
		Name:  snapshot.TypeOfferingsOf,
		Calls: []source.Call{{Action: "ec2:DescribeInstanceTypeOfferings"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.TypeOffering, error) {
			return readTypeOfferings(ctx, api, source.Distinct(v.Types))
		}, func(x snapshot.TypeOffering) string { return x.Type }, func(s *snapshot.Snapshot) *[]snapshot.TypeOffering { return &s.TypeOfferings }),
	}
}

func readTypeOfferings(ctx context.Context, api TypeOfferings, names []string) ([]snapshot.TypeOffering, error) {
	input := &ec2.DescribeInstanceTypeOfferingsInput{LocationType: types.LocationTypeAvailabilityZone}
	if len(names) > 0 && len(names) <= ec2api.MaxFilterValues {
		input.Filters = ec2api.AnyOf("instance-type", names)
	}
	p := ec2.NewDescribeInstanceTypeOfferingsPaginator(api, input)
	list, err := ec2api.Pages(ctx, "instance type offerings", p.HasMorePages, p.NextPage, func(out *ec2.DescribeInstanceTypeOfferingsOutput) []types.InstanceTypeOffering {
		return out.InstanceTypeOfferings
	})
	if err != nil {
		return nil, err
	}
	zones := map[string][]string{}
	for _, o := range list {
		zones[string(o.InstanceType)] = append(zones[string(o.InstanceType)], aws.ToString(o.Location))
	}
	var all []snapshot.TypeOffering
	for name, list := range zones {
		slices.Sort(list)
		all = append(all, snapshot.TypeOffering{Type: name, Zones: list})
	}
	return all, nil
}
