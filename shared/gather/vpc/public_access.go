package vpc

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// PublicAccess describes VPC Block Public Access.
type PublicAccess interface {
	DescribeVpcBlockPublicAccessOptions(context.Context, *ec2.DescribeVpcBlockPublicAccessOptionsInput, ...func(*ec2.Options)) (*ec2.DescribeVpcBlockPublicAccessOptionsOutput, error)
	DescribeVpcBlockPublicAccessExclusions(context.Context, *ec2.DescribeVpcBlockPublicAccessExclusionsInput, ...func(*ec2.Options)) (*ec2.DescribeVpcBlockPublicAccessExclusionsOutput, error)
}

// publicAccess is who blocks public access, and what is exempt. What is blocked is in
// the answers about VPCs and subnets: this is read only where something is.
func publicAccess(api PublicAccess) source.Source {
	return source.Source{
		Name:  snapshot.PublicAccessOf,
		After: []snapshot.Source{snapshot.VPCs, snapshot.Subnets},
		Calls: []source.Call{{Action: "ec2:DescribeVpcBlockPublicAccessOptions"}, {Action: "ec2:DescribeVpcBlockPublicAccessExclusions"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			// An answer of EC2 from before the feature has no mode.
			if !slices.ContainsFunc(v.Snapshot.VPCs, func(x snapshot.VPC) bool { return x.BlockMode != snapshot.BlockOff }) &&
				!slices.ContainsFunc(v.Snapshot.Subnets, func(x snapshot.Subnet) bool { return x.BlockMode != snapshot.BlockOff }) {
				return source.Nothing, nil
			}
			access, err := readPublicAccess(ctx, api)
			return func(s *snapshot.Snapshot) { s.PublicAccess = &access }, err
		},
	}
}

func readPublicAccess(ctx context.Context, api PublicAccess) (snapshot.PublicAccess, error) {
	var access snapshot.PublicAccess
	out, err := api.DescribeVpcBlockPublicAccessOptions(ctx, &ec2.DescribeVpcBlockPublicAccessOptionsInput{})
	if err != nil {
		return access, fmt.Errorf("describe vpc block public access options: %w", err)
	}
	if o := out.VpcBlockPublicAccessOptions; o != nil {
		access.Mode = snapshot.BlockMode(o.InternetGatewayBlockMode)
		access.Changing = o.State == types.VpcBlockPublicAccessStateUpdateInProgress
		access.ByPolicy = o.ManagedBy == types.ManagedByDeclarativePolicy
		access.NoExclusions = o.ExclusionsAllowed == types.VpcBlockPublicAccessExclusionsAllowedNotAllowed
	}
	in := &ec2.DescribeVpcBlockPublicAccessExclusionsInput{}
	for {
		out, err := api.DescribeVpcBlockPublicAccessExclusions(ctx, in)
		if err != nil {
			return access, fmt.Errorf("describe vpc block public access exclusions: %w", err)
		}
		access.Exclusions = append(access.Exclusions, source.Each(out.VpcBlockPublicAccessExclusions, exclusion)...)
		if more, err := ec2api.TurnPage(&in.NextToken, out.NextToken); err != nil || !more {
			return access, err
		}
	}
}

func exclusion(e types.VpcBlockPublicAccessExclusion) snapshot.Exclusion {
	// arn:aws:ec2:us-west-2:123456789012:subnet/subnet-0ab1
	_, id, _ := strings.Cut(aws.ToString(e.ResourceArn), "/")
	out := snapshot.Exclusion{ID: aws.ToString(e.ExclusionId), Resource: id, Egress: e.InternetGatewayExclusionMode == types.InternetGatewayExclusionModeAllowEgress}
	switch e.State {
	case types.VpcBlockPublicAccessExclusionStateCreateComplete, types.VpcBlockPublicAccessExclusionStateUpdateComplete:
		out.Active = true
	case types.VpcBlockPublicAccessExclusionStateCreateInProgress, types.VpcBlockPublicAccessExclusionStateUpdateInProgress,
		types.VpcBlockPublicAccessExclusionStateDeleteInProgress, types.VpcBlockPublicAccessExclusionStateDisableInProgress:
		out.Changing = true
	}
	return out
}
