package ec2

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

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
		// The total counts all cards; the VPC CNI uses the default one, unless it is set
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

// InstanceAttributes describes attributes of instances.
type InstanceAttributes interface {
	DescribeInstanceAttribute(context.Context, *ec2.DescribeInstanceAttributeInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceAttributeOutput, error)
}

// UserData is that of the instances that have not joined.
func UserData(api InstanceAttributes) source.Source {
	return source.Source{
		Name: snapshot.UserDataOf,
		After: []snapshot.Source{
			snapshot.Nodes, // which tell who has joined
		},
		Calls: []source.Call{
			{Action: "ec2:DescribeInstanceAttribute", Resources: []string{"arn:${Partition}:ec2:${Region}:${Account}:instance/*"}},
		},
		Read: source.Through(api, readUserData),
	}
}

const (
	// MaxUserData bounds how many different user data are read in one look.
	MaxUserData = 10
	// maxTries is how many instances of one kind are asked for theirs: those
	// that end meanwhile have none to give.
	maxTries = 3
	// GroupTag is set by EC2 Auto Scaling on what it launches.
	GroupTag = "aws:autoscaling:groupName"
)

// origin is what decides an instance's user data.
type origin struct {
	template, version, group string
	// image tells the launch configurations that a group has had apart.
	image string
	// instance is set for one that no other can stand for.
	instance string
}

func originOf(in snapshot.Instance) origin {
	o := origin{template: in.Template.ID, version: in.Template.Version, group: in.Tags[GroupTag]}
	if o.template == "" {
		o.image = in.AMI
		if o.group == "" {
			o.instance = in.ID
		}
	}
	return o
}

// readUserData reads the user data once for each origin of the instances that have
// not joined: EC2 gives it of one instance at a time.
func readUserData(ctx context.Context, api InstanceAttributes, v *source.View) (source.Store, error) {
	suspects := map[origin][]snapshot.Instance{}
	var order []origin
	for _, in := range v.NotJoined() {
		o := originOf(in)
		if suspects[o] == nil {
			order = append(order, o)
		}
		suspects[o] = append(suspects[o], in)
	}
	sharing := map[origin][]string{}
	for _, in := range v.InScope() {
		o := originOf(in)
		sharing[o] = append(sharing[o], in.ID)
	}
	var list []snapshot.UserData
	lacks := map[string]snapshot.Failure{}
	for i, o := range order {
		if i >= MaxUserData {
			for _, in := range suspects[o] {
				lacks[in.ID] = v.Source.Skipped(fmt.Sprintf("the user data of %d other kinds of instance were read in this look", MaxUserData))
			}
			continue
		}
		got, err := userDataOfAny(ctx, api, suspects[o])
		if err != nil {
			f := *v.Source.Failure(err)
			if f.Reason == snapshot.Denied {
				return nil, err
			}
			for _, in := range suspects[o] {
				lacks[in.ID] = f
			}
			continue
		}
		got.Instances = slices.Sorted(slices.Values(sharing[o]))
		list = append(list, got)
	}
	list = source.Sorted(list, func(u snapshot.UserData) string { return u.From })
	return func(s *snapshot.Snapshot) {
		s.UserData = list
		source.LackAll(s, snapshot.UserDataOf, lacks)
	}, nil
}

// userDataOfAny asks one instance after the other until one has an answer.
func userDataOfAny(ctx context.Context, api InstanceAttributes, of []snapshot.Instance) (snapshot.UserData, error) {
	var err error
	for _, in := range of[:min(len(of), maxTries)] {
		var data []byte
		data, err = userDataOf(ctx, api, in.ID)
		if err == nil && len(data) == 0 && over(in) {
			err = source.ForgottenError{Instance: in.ID}
		}
		if err == nil {
			return snapshot.UserData{From: in.ID, Data: data}, nil
		}
		if !ended(err) {
			break
		}
	}
	return snapshot.UserData{}, err
}

// over reports whether an instance is terminated, or will be in a moment. One that is
// stopped keeps its user data.
func over(in snapshot.Instance) bool { return in.State == "shutting-down" || in.State == "terminated" }

func userDataOf(ctx context.Context, api InstanceAttributes, id string) ([]byte, error) {
	out, err := api.DescribeInstanceAttribute(ctx, &ec2.DescribeInstanceAttributeInput{
		InstanceId: aws.String(id), Attribute: types.InstanceAttributeNameUserData,
	})
	if err != nil {
		return nil, fmt.Errorf("describe the user data of %s: %w", id, err)
	}
	if out.UserData == nil {
		return nil, nil
	}
	data, err := base64.StdEncoding.DecodeString(aws.ToString(out.UserData.Value))
	if err != nil {
		return nil, fmt.Errorf("decode the user data of %s: %w", id, err)
	}
	return data, nil
}

// ended tells a refusal because the instance is gone, or going.
func ended(err error) bool {
	var api smithy.APIError
	var forgotten source.ForgottenError
	return errors.As(err, &forgotten) || source.Gone(err) || errors.As(err, &api) && api.ErrorCode() == "IncorrectInstanceState"
}

// typeOfferings are the zones of the types that the query names; of all where it
// names none. A type that no zone offers is not in the answer.
func typeOfferings(api ec2.DescribeInstanceTypeOfferingsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.TypeOfferingsOf,
		Calls: []source.Call{{Action: "ec2:DescribeInstanceTypeOfferings"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.TypeOffering, error) {
			return readTypeOfferings(ctx, api, source.Distinct(v.Types))
		}, func(x snapshot.TypeOffering) string { return x.Type }, func(s *snapshot.Snapshot) *[]snapshot.TypeOffering { return &s.TypeOfferings }),
	}
}

func readTypeOfferings(ctx context.Context, api ec2.DescribeInstanceTypeOfferingsAPIClient, names []string) ([]snapshot.TypeOffering, error) {
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

// volumes are those whose tags say that they are the cluster's, and those that
// its PersistentVolumes name.
func volumes(api ec2.DescribeVolumesAPIClient) source.Source {
	return source.Source{
		Name: snapshot.VolumesOf,
		After: []snapshot.Source{
			snapshot.PersistentVolumes, // which name volumes
		},
		Calls: []source.Call{{Action: "ec2:DescribeVolumes"}},
		Read:  source.Through(api, readVolumes),
	}
}

// volumePage is the page of DescribeVolumes that EC2 advises (the most that it
// gives where a filter is set is 1,000, before 2024 500).
const volumePage = 500

// readVolumes reads the volumes whose tags say that they are the cluster's, and
// those that its PersistentVolumes name. Everything else in the account is
// dropped page by page: its owner is not known, or is another cluster.
func readVolumes(ctx context.Context, api ec2.DescribeVolumesAPIClient, v *source.View) (source.Store, error) {
	cluster := v.Cluster
	keys := append([]string{"kubernetes.io/cluster/" + cluster}, snapshot.ClusterTags()...)
	named := namedVolumes(v)
	list, err := describeVolumes(ctx, api, ec2api.AnyOf("tag-key", keys), func(x snapshot.Volume) bool {
		return x.BelongsTo(cluster) || named[x.ID]
	})
	if err != nil {
		return nil, err
	}
	for _, x := range list {
		delete(named, x.ID)
	}
	// Volumes that were made by hand, or with a driver that knows no cluster,
	// have no tag to find them by. A filter rather than the id parameter: one
	// that was deleted would make EC2 refuse the whole request.
	var ids []string
	for id := range named {
		ids = append(ids, id)
	}
	for chunk := range slices.Chunk(source.Distinct(ids), ec2api.MaxFilterValues) {
		more, err := describeVolumes(ctx, api, ec2api.AnyOf("volume-id", chunk), func(snapshot.Volume) bool { return true })
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	list = source.Unique(list, func(x snapshot.Volume) string { return x.ID })
	return func(s *snapshot.Snapshot) { s.Volumes = list }, nil
}

// namedVolumes are the EBS volumes that PersistentVolumes name.
func namedVolumes(v *source.View) map[string]bool {
	named := map[string]bool{}
	if v.Snapshot.Has(snapshot.PersistentVolumes) {
		for _, p := range v.Snapshot.PersistentVolumes {
			if p.Volume != "" {
				named[p.Volume] = true
			}
		}
	}
	return named
}

func describeVolumes(ctx context.Context, api ec2.DescribeVolumesAPIClient, filters []types.Filter, wanted func(snapshot.Volume) bool) ([]snapshot.Volume, error) {
	p := ec2.NewDescribeVolumesPaginator(api, &ec2.DescribeVolumesInput{Filters: filters, MaxResults: aws.Int32(volumePage)})
	return ec2api.Pages(ctx, "volumes", p.HasMorePages, p.NextPage, func(out *ec2.DescribeVolumesOutput) []snapshot.Volume {
		return slices.DeleteFunc(source.Each(out.Volumes, volume), func(v snapshot.Volume) bool { return !wanted(v) })
	})
}

func volume(v types.Volume) snapshot.Volume {
	out := snapshot.Volume{
		ID:      aws.ToString(v.VolumeId),
		Zone:    aws.ToString(v.AvailabilityZone),
		State:   string(v.State),
		Type:    string(v.VolumeType),
		GiB:     int(aws.ToInt32(v.Size)),
		Outpost: aws.ToString(v.OutpostArn),
		Created: aws.ToTime(v.CreateTime).UTC(),
		Tags:    ec2api.Tags(v.Tags),
	}
	for _, a := range v.Attachments {
		if a.State != types.VolumeAttachmentStateDetached {
			out.Attached = append(out.Attached, aws.ToString(a.InstanceId))
		}
	}
	out.Attached = source.Distinct(out.Attached)
	return out
}

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
