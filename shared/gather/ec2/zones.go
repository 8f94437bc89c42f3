package ec2

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Zones describes the zones of the Region that the account may use.
type Zones interface {
	DescribeAvailabilityZones(context.Context, *ec2.DescribeAvailabilityZonesInput, ...func(*ec2.Options)) (*ec2.DescribeAvailabilityZonesOutput, error)
}

// zones are those of the region.
func zones(api Zones) source.Source {
	return source.Source{
		Name:  snapshot.ZonesOf,
		Calls: []source.Call{{Action: "ec2:DescribeAvailabilityZones"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.Zone, error) {
			return readZones(ctx, api)
		}, func(x snapshot.Zone) string { return x.Name }, func(s *snapshot.Snapshot) *[]snapshot.Zone { return &s.Zones }),
	}
}

func readZones(ctx context.Context, api Zones) ([]snapshot.Zone, error) {
	out, err := api.DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{})
	if err != nil {
		return nil, fmt.Errorf("describe availability zones: %w", err)
	}
	if len(out.AvailabilityZones) == 0 {
		// No Region is without: that is no answer.
		return nil, fmt.Errorf("describe availability zones: %w", source.ErrHalf)
	}
	return source.Each(out.AvailabilityZones, zone), nil
}

func zone(z types.AvailabilityZone) snapshot.Zone {
	out := snapshot.Zone{
		Name: aws.ToString(z.ZoneName), ID: aws.ToString(z.ZoneId), Kind: aws.ToString(z.ZoneType), State: string(z.State),
	}
	for _, m := range z.Messages {
		if text := aws.ToString(m.Message); text != "" {
			out.Messages = append(out.Messages, text)
		}
	}
	return out
}
