package ec2

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
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
