package ec2

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

func instance(in types.Instance) snapshot.Instance {
	out := snapshot.Instance{
		ID:           aws.ToString(in.InstanceId),
		Type:         string(in.InstanceType),
		Launched:     aws.ToTime(in.LaunchTime),
		Subnet:       aws.ToString(in.SubnetId),
		VPC:          aws.ToString(in.VpcId),
		PrivateIP:    ec2api.AddressOf(in.PrivateIpAddress),
		PublicIP:     ec2api.AddressOf(in.PublicIpAddress),
		PrivateDNS:   aws.ToString(in.PrivateDnsName),
		Architecture: string(in.Architecture),
		AMI:          aws.ToString(in.ImageId),
		Spot:         in.InstanceLifecycle == types.InstanceLifecycleTypeSpot,
		Tags:         ec2api.Tags(in.Tags),
		Windows:      windows(in.Platform, in.PlatformDetails),
		SourceCheck:  aws.ToBool(in.SourceDestCheck),
		Transition:   aws.ToString(in.StateTransitionReason),
	}
	if m := in.MetadataOptions; m != nil {
		out.Metadata = snapshot.Metadata{Endpoint: string(m.HttpEndpoint), HopLimit: int(aws.ToInt32(m.HttpPutResponseHopLimit)), Tokens: string(m.HttpTokens)}
	}
	// EC2 and Auto Scaling set these tags on what they launch from a template.
	if id := out.Tags["aws:ec2launchtemplate:id"]; id != "" {
		out.Template = snapshot.TemplateRef{ID: id, Version: out.Tags["aws:ec2launchtemplate:version"]}
	}
	if o := in.Operator; o != nil && aws.ToBool(o.Managed) {
		out.Operator = aws.ToString(o.Principal)
	}
	attached(&out, in.NetworkInterfaces)
	if ip := ec2api.AddressOf(in.Ipv6Address); ip.IsValid() && !slices.Contains(out.IPv6, ip) {
		out.IPv6 = append(out.IPv6, ip)
	}
	if in.State != nil {
		out.State = string(in.State.Name)
	}
	if in.Placement != nil {
		out.Zone, out.PlacementGroup = aws.ToString(in.Placement.AvailabilityZone), aws.ToString(in.Placement.GroupName)
	}
	if in.IamInstanceProfile != nil {
		out.Profile = aws.ToString(in.IamInstanceProfile.Arn)
	}
	for _, g := range in.SecurityGroups {
		out.Groups = append(out.Groups, aws.ToString(g.GroupId))
	}
	slices.Sort(out.Groups)
	if in.StateReason != nil {
		out.StateReason.Code = aws.ToString(in.StateReason.Code)
		out.StateReason.Message = aws.ToString(in.StateReason.Message)
	}
	out.StateReason.When = transition(out.Transition)
	return out
}

var transitionTime = regexp.MustCompile(`\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) GMT\)`)

// transition reads the time in "User initiated (2026-11-20 14:59:58 GMT)",
// the only place where EC2 tells when an instance ended.
func transition(reason string) time.Time {
	m := transitionTime.FindStringSubmatch(reason)
	if m == nil {
		return time.Time{}
	}
	t, err := time.Parse("2006-01-02 15:04:05", m[1])
	if err != nil {
		return time.Time{}
	}
	return t
}

// attached keeps what an instance's interfaces tell, the primary one first.
func attached(out *snapshot.Instance, list []types.InstanceNetworkInterface) {
	place := func(n types.InstanceNetworkInterface) (card, device int32) {
		if a := n.Attachment; a != nil {
			return aws.ToInt32(a.NetworkCardIndex), aws.ToInt32(a.DeviceIndex)
		}
		return 1 << 30, 0 // one that says nothing is not taken for the primary
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b types.InstanceNetworkInterface) int {
		ac, ad := place(a)
		bc, bd := place(b)
		return cmp.Or(cmp.Compare(ac, bc), cmp.Compare(ad, bd))
	})
	for _, n := range list {
		if id := aws.ToString(n.NetworkInterfaceId); id != "" {
			out.Interfaces = append(out.Interfaces, id)
		}
		if fabric(n.InterfaceType) {
			efa := snapshot.EFA{ID: aws.ToString(n.NetworkInterfaceId)}
			for _, g := range n.Groups {
				efa.Groups = append(efa.Groups, aws.ToString(g.GroupId))
			}
			slices.Sort(efa.Groups)
			out.EFAs = append(out.EFAs, efa)
		}
		for _, a := range n.Ipv6Addresses {
			if ip := ec2api.AddressOf(a.Ipv6Address); ip.IsValid() {
				out.IPv6 = append(out.IPv6, ip)
			}
		}
	}
}

// fabric tells an Elastic Fabric Adapter by its interface's type (EC2 API,
// InstanceNetworkInterface and LaunchTemplateInstanceNetworkInterfaceSpecification).
func fabric(kind *string) bool {
	return aws.ToString(kind) == "efa" || aws.ToString(kind) == "efa-only"
}

// windows tells a Windows platform: the API writes "windows" where the SDK's
// enum says "Windows", and images that bring their own licence say it in the
// details alone.
func windows(p types.PlatformValues, details *string) bool {
	return strings.EqualFold(string(p), "windows") || strings.HasPrefix(aws.ToString(details), "Windows")
}

// instanceTypes are those of the instances, else of the groups, and those that
// the query names.
func instanceTypes(api ec2.DescribeInstanceTypesAPIClient) source.Source {
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

func readInstanceTypes(ctx context.Context, api ec2.DescribeInstanceTypesAPIClient, names []string, by func([]string) *ec2.DescribeInstanceTypesInput) ([]snapshot.InstanceType, error) {
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
