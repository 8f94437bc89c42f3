package ec2

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/lifecycle"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
)

// typeOfferings are the known types in the zones that have them; by region, what
// any of its zones has (EC2 API reference, DescribeInstanceTypeOfferings).
func typeOfferings(w *state.State, by ec2types.LocationType) *table.Table[ec2types.InstanceTypeOffering] {
	all := table.New[ec2types.InstanceTypeOffering]()
	for _, t := range w.InstanceTypes.All() {
		for _, z := range zones(w).All() {
			if !lifecycle.Offers(w, aws.ToString(z.ZoneName), string(t.InstanceType)) {
				continue
			}
			location := w.Region
			switch by {
			case ec2types.LocationTypeAvailabilityZone:
				location = aws.ToString(z.ZoneName)
			case ec2types.LocationTypeAvailabilityZoneId:
				location = aws.ToString(z.ZoneId)
			}
			all.Put(string(t.InstanceType)+" "+location, &ec2types.InstanceTypeOffering{InstanceType: t.InstanceType, Location: &location, LocationType: by})
		}
	}
	return all
}

// DescribeInstanceTypeOfferings lists which types a location has, by region where
// no kind of location is named.
func (s API) DescribeInstanceTypeOfferings(in *ec2.DescribeInstanceTypeOfferingsInput) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	defer s.w.Enter()()
	by := in.LocationType
	if by == "" {
		by = ec2types.LocationTypeRegion
	}
	list, next, err := table.Selection[ec2types.InstanceTypeOffering]{
		Table: typeOfferings(s.w, by), ID: func(v *ec2types.InstanceTypeOffering) *string { return new(string(v.InstanceType) + " " + *v.Location) }, Filters: in.Filters,
		Known: table.Filters[ec2types.InstanceTypeOffering]{
			"instance-type": func(v *ec2types.InstanceTypeOffering) []string { return []string{string(v.InstanceType)} },
			"location":      func(v *ec2types.InstanceTypeOffering) []string { return table.One(v.Location) },
		},
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage, Usual: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	return &ec2.DescribeInstanceTypeOfferingsOutput{InstanceTypeOfferings: deepcopy.Each(list), NextToken: next}, nil
}
