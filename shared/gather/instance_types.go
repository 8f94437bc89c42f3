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

// InstanceTypes describes instance types.
type InstanceTypes interface {
	DescribeInstanceTypes(context.Context, *ec2.DescribeInstanceTypesInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error)
}

// maxTypes is DescribeInstanceTypes' limit of names.
const maxTypes = 100

func (r *Reader) readInstanceTypes(ctx context.Context, names []string) ([]snapshot.InstanceType, error) {
	var all []snapshot.InstanceType
	for chunk := range slices.Chunk(names, maxTypes) {
		input := &ec2.DescribeInstanceTypesInput{}
		for _, name := range chunk {
			input.InstanceTypes = append(input.InstanceTypes, types.InstanceType(name))
		}
		out, err := r.instanceTypes.DescribeInstanceTypes(ctx, input)
		if err != nil {
			return nil, fmt.Errorf("describe instance types: %w", err)
		}
		for _, t := range out.InstanceTypes {
			all = append(all, instanceType(t))
		}
	}
	return all, nil
}

func instanceType(t types.InstanceTypeInfo) snapshot.InstanceType {
	out := snapshot.InstanceType{
		Name:       string(t.InstanceType),
		Hypervisor: string(t.Hypervisor),
		BareMetal:  aws.ToBool(t.BareMetal),
	}
	if n := t.NetworkInfo; n != nil {
		out.Interfaces = int(aws.ToInt32(n.MaximumNetworkInterfaces))
		out.IPv4PerInterface = int(aws.ToInt32(n.Ipv4AddressesPerInterface))
		out.IPv6PerInterface = int(aws.ToInt32(n.Ipv6AddressesPerInterface))
		// The total counts all cards; the VPC CNI uses the default one.
		for _, card := range n.NetworkCards {
			if c := int(aws.ToInt32(card.MaximumNetworkInterfaces)); c > 0 && aws.ToInt32(card.NetworkCardIndex) == aws.ToInt32(n.DefaultNetworkCardIndex) {
				out.Interfaces = c
			}
		}
	}
	if p := t.ProcessorInfo; p != nil {
		for _, a := range p.SupportedArchitectures {
			out.Architectures = append(out.Architectures, string(a))
		}
		slices.Sort(out.Architectures)
	}
	if v := t.VCpuInfo; v != nil {
		out.CPUs = int(aws.ToInt32(v.DefaultVCpus))
	}
	return out
}
