package ec2

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// InstanceTypes describes instance types.
type InstanceTypes interface {
	DescribeInstanceTypes(context.Context, *ec2.DescribeInstanceTypesInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error)
}

// instanceTypes are those of the instances, else of the groups, and those that
// the query names.
func instanceTypes(api InstanceTypes) source.Source {
	return source.Source{
		Name:  snapshot.InstanceTypes,
		Calls: []source.Call{{Action: "ec2:DescribeInstanceTypes"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.InstanceType, error) {
			names := source.Distinct(append(typesOf(v.Snapshot.Instances, v.Snapshot.Groups), v.Types...))
			list, err := readInstanceTypes(ctx, api, names, byName)
			if err != nil {
				return nil, err
			}
			written := slices.DeleteFunc(source.Distinct(v.WrittenTypes), func(name string) bool { return slices.Contains(names, name) })
			more, err := readInstanceTypes(ctx, api, written, byFilter)
			return append(list, more...), err
		}, func(x snapshot.InstanceType) string { return x.Name }, func(s *snapshot.Snapshot) *[]snapshot.InstanceType { return &s.InstanceTypes }),
	}
}

// maxTypes is DescribeInstanceTypes' limit of names.
const maxTypes = 100

// byName asks for types of which EC2 refuses the whole call where one is none;
// byFilter leaves those out (a page without a size has a hundred types).
func byName(names []string) *ec2.DescribeInstanceTypesInput {
	input := &ec2.DescribeInstanceTypesInput{}
	for _, name := range names {
		input.InstanceTypes = append(input.InstanceTypes, types.InstanceType(name))
	}
	return input
}

func byFilter(names []string) *ec2.DescribeInstanceTypesInput {
	return &ec2.DescribeInstanceTypesInput{Filters: ec2api.AnyOf("instance-type", names)}
}

func readInstanceTypes(ctx context.Context, api InstanceTypes, names []string, by func([]string) *ec2.DescribeInstanceTypesInput) ([]snapshot.InstanceType, error) {
	var all []snapshot.InstanceType
	for chunk := range slices.Chunk(names, maxTypes) {
		out, err := api.DescribeInstanceTypes(ctx, by(chunk))
		if err != nil {
			return nil, fmt.Errorf("describe instance types: %w", err)
		}
		for _, t := range out.InstanceTypes {
			all = append(all, instanceType(t))
		}
	}
	return all, nil
}

// typesOf are the instances' types. Where no instance is looked at, those that
// the groups name tell what one more node would take.
func typesOf(list []snapshot.Instance, groups []snapshot.Group) []string {
	var names []string
	for _, in := range list {
		if in.Type != "" { // EC2 refuses the whole call for one name that it does not know
			names = append(names, in.Type)
		}
	}
	if len(names) == 0 {
		for _, g := range groups {
			names = append(names, g.Types...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
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
		// The total counts all cards; the VPC CNI uses the default one, unless it is told
		// to manage all (ENABLE_MULTI_NIC).
		for _, card := range n.NetworkCards {
			switch c := int(aws.ToInt32(card.MaximumNetworkInterfaces)); {
			case c == 0:
			case aws.ToInt32(card.NetworkCardIndex) == aws.ToInt32(n.DefaultNetworkCardIndex):
				out.Interfaces = c
			default:
				out.Cards = append(out.Cards, c)
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
	choices(t, &out)
	return out
}

// choices reads what NodePools choose types by, from where Karpenter reads it
// (aws/karpenter-provider-aws pkg/providers/instancetype/types.go, computeRequirements).
func choices(t types.InstanceTypeInfo, out *snapshot.InstanceType) {
	if t.MemoryInfo != nil {
		out.MemoryMiB = int(aws.ToInt64(t.MemoryInfo.SizeInMiB))
	}
	if t.ProcessorInfo != nil {
		out.CPUMaker = aws.ToString(t.ProcessorInfo.Manufacturer)
	}
	if n := t.NetworkInfo; n != nil {
		out.EncryptsInTransit = aws.ToBool(n.EncryptionInTransitSupported)
	}
	if d := t.InstanceStorageInfo; d != nil && d.NvmeSupport != types.EphemeralNvmeSupportUnsupported {
		out.LocalNVMeGB = int(aws.ToInt64(d.TotalSizeInGB))
	}
	if e := t.EbsInfo; e != nil && e.EbsOptimizedInfo != nil && e.EbsOptimizedSupport == types.EbsOptimizedSupportDefault {
		out.EBSMbps = int(aws.ToInt32(e.EbsOptimizedInfo.MaximumBandwidthInMbps))
	}
	if g := t.GpuInfo; g != nil && len(g.Gpus) == 1 {
		out.GPU = snapshot.Device{Name: aws.ToString(g.Gpus[0].Name), Maker: aws.ToString(g.Gpus[0].Manufacturer), Count: int(aws.ToInt32(g.Gpus[0].Count))}
		if m := g.Gpus[0].MemoryInfo; m != nil {
			out.GPU.MemoryMiB = int(aws.ToInt32(m.SizeInMiB))
		}
	}
	if a := t.InferenceAcceleratorInfo; a != nil && len(a.Accelerators) == 1 {
		out.Accelerator = snapshot.Device{Name: aws.ToString(a.Accelerators[0].Name), Maker: aws.ToString(a.Accelerators[0].Manufacturer), Count: int(aws.ToInt32(a.Accelerators[0].Count))}
	}
}
