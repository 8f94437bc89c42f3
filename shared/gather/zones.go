package gather

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/snapshot"
)

// Zones describes the zones of the Region that the account may use.
type Zones interface {
	DescribeAvailabilityZones(context.Context, *ec2.DescribeAvailabilityZonesInput, ...func(*ec2.Options)) (*ec2.DescribeAvailabilityZonesOutput, error)
}

var _ Zones = (*ec2.Client)(nil)

func (r *Reader) readZones(ctx context.Context) ([]snapshot.Zone, error) {
	out, err := r.zones.DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{})
	if err != nil {
		return nil, fmt.Errorf("describe availability zones: %w", err)
	}
	if len(out.AvailabilityZones) == 0 {
		// No Region is without: that is no answer.
		return nil, fmt.Errorf("describe availability zones: %w", errHalf)
	}
	return each(out.AvailabilityZones, zone), nil
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
