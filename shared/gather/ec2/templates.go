package ec2

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// LaunchTemplates describes versions of launch templates.
type LaunchTemplates interface {
	DescribeLaunchTemplateVersions(context.Context, *ec2.DescribeLaunchTemplateVersionsInput, ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplateVersionsOutput, error)
}

// launchTemplates are the versions that the scope's instances came from, and
// those that the groups would launch from now.
func launchTemplates(api LaunchTemplates) source.Source {
	return source.Source{
		Name: snapshot.LaunchTemplates,
		After: []snapshot.Source{
			snapshot.Nodegroups,
		},
		Calls: []source.Call{{Action: "ec2:DescribeLaunchTemplateVersions"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			return readLaunchTemplates(ctx, api, v)
		},
	}
}

// maxTemplates bounds the versions that are read in one look.
const maxTemplates = 10

// readLaunchTemplates reads one version a call: one that
// was deleted would make EC2 refuse the others too. What is missing is noted
// under the template's id and version, "lt-0abc version 3", and where the
// whole template is gone under its id too.
func readLaunchTemplates(ctx context.Context, api LaunchTemplates, v *source.View) (source.Store, error) {
	var list []snapshot.LaunchTemplate
	lacks := map[string]snapshot.Failure{}
	for i, ref := range templates(v) {
		if i >= maxTemplates {
			lacks[versionKey(ref)] = v.Source.Skipped(fmt.Sprintf("%d other versions of launch templates were read in this look", maxTemplates))
			continue
		}
		got, err := readTemplate(ctx, api, ref)
		switch {
		case err == nil:
			list = addTemplates(list, got)
		case source.Gone(err):
			f := *v.Source.Failure(err)
			lacks[versionKey(ref)] = f
			if f.Code != "InvalidLaunchTemplateId.VersionNotFound" {
				lacks[templateKey(ref)] = f
			}
		default:
			return nil, err
		}
	}
	list = source.Sorted(list, func(t snapshot.LaunchTemplate) string { return t.ID + " " + t.Version })
	return func(s *snapshot.Snapshot) {
		s.LaunchTemplates = list
		source.LackAll(s, snapshot.LaunchTemplates, lacks)
	}, nil
}

// addTemplates adds versions, once each: one may be asked for by its number
// and as the latest, and only the second question tells that it is.
func addTemplates(list, more []snapshot.LaunchTemplate) []snapshot.LaunchTemplate {
	for _, t := range more {
		i := slices.IndexFunc(list, func(have snapshot.LaunchTemplate) bool { return have.ID == t.ID && have.Version == t.Version })
		if i < 0 {
			list = append(list, t)
			continue
		}
		list[i].Latest = list[i].Latest || t.Latest
	}
	return list
}

// templates are the versions in use, those of the scope's instances first.
func templates(v *source.View) []snapshot.TemplateRef {
	var refs []snapshot.TemplateRef
	add := func(ref snapshot.TemplateRef) {
		if ref.ID != "" {
			ref.Name = "" // the instances' tags name a template by its id alone
		}
		if (ref.ID != "" || ref.Name != "") && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	for _, in := range v.InScope() {
		add(in.Template)
	}
	for _, g := range v.Snapshot.Groups {
		add(g.Template)
	}
	for _, n := range v.Snapshot.Nodegroups {
		add(n.Template)
	}
	return refs
}

func templateKey(ref snapshot.TemplateRef) string {
	if ref.ID != "" {
		return ref.ID
	}
	return ref.Name
}

func versionKey(ref snapshot.TemplateRef) string {
	return templateKey(ref) + " version " + ref.Version
}

func readTemplate(ctx context.Context, api LaunchTemplates, ref snapshot.TemplateRef) ([]snapshot.LaunchTemplate, error) {
	p := ec2.NewDescribeLaunchTemplateVersionsPaginator(api, templateInput(ref))
	return ec2api.Pages(ctx, "launch template "+versionKey(ref), p.HasMorePages, p.NextPage, func(out *ec2.DescribeLaunchTemplateVersionsOutput) []snapshot.LaunchTemplate {
		return source.Each(out.LaunchTemplateVersions, func(v types.LaunchTemplateVersion) snapshot.LaunchTemplate {
			t := launchTemplate(v)
			t.Latest = ref.Version == "$Latest"
			return t
		})
	})
}

func templateInput(ref snapshot.TemplateRef) *ec2.DescribeLaunchTemplateVersionsInput {
	input := &ec2.DescribeLaunchTemplateVersionsInput{Versions: []string{ref.Version}}
	if ref.Version == "" {
		input.Versions = []string{"$Default"}
	}
	if ref.ID != "" {
		input.LaunchTemplateId = aws.String(ref.ID)
	} else {
		input.LaunchTemplateName = aws.String(ref.Name)
	}
	return input
}

func launchTemplate(v types.LaunchTemplateVersion) snapshot.LaunchTemplate {
	out := snapshot.LaunchTemplate{
		ID:      aws.ToString(v.LaunchTemplateId),
		Name:    aws.ToString(v.LaunchTemplateName),
		Default: aws.ToBool(v.DefaultVersion),
	}
	if v.VersionNumber != nil {
		out.Version = strconv.FormatInt(*v.VersionNumber, 10)
	}
	d := v.LaunchTemplateData
	if d == nil {
		return out
	}
	out.Image, out.Type = aws.ToString(d.ImageId), string(d.InstanceType)
	out.Groups = slices.Clone(d.SecurityGroupIds)
	if data, err := base64.StdEncoding.DecodeString(aws.ToString(d.UserData)); err == nil {
		out.UserData = data
	} else {
		out.UserData = []byte(aws.ToString(d.UserData)) // EC2 would refuse to launch it; what is there is shown
	}
	if m := d.MetadataOptions; m != nil {
		out.Metadata = snapshot.Metadata{Endpoint: string(m.HttpEndpoint), HopLimit: int(aws.ToInt32(m.HttpPutResponseHopLimit)), Tokens: string(m.HttpTokens)}
	}
	if p := d.IamInstanceProfile; p != nil {
		if out.Profile = aws.ToString(p.Arn); out.Profile == "" {
			out.Profile = aws.ToString(p.Name)
		}
	}
	for _, n := range d.NetworkInterfaces {
		out.Groups = append(out.Groups, n.Groups...)
		if fabric(n.InterfaceType) {
			out.EFAs = append(out.EFAs, snapshot.EFA{Groups: slices.Sorted(slices.Values(n.Groups))})
		}
		if aws.ToInt32(n.DeviceIndex) != 0 || aws.ToInt32(n.NetworkCardIndex) != 0 {
			continue
		}
		out.Subnet = aws.ToString(n.SubnetId)
		out.KeepsInterface = n.DeleteOnTermination != nil && !*n.DeleteOnTermination
		if n.AssociatePublicIpAddress != nil {
			out.PublicIP = strconv.FormatBool(*n.AssociatePublicIpAddress)
		}
	}
	out.Groups = source.Distinct(out.Groups)
	out.GroupsTwice = len(d.SecurityGroupIds) > 0 && len(d.NetworkInterfaces) > 0
	out.Spot = d.InstanceMarketOptions != nil && d.InstanceMarketOptions.MarketType == types.MarketTypeSpot
	if c := d.CapacityReservationSpecification; c != nil && c.CapacityReservationTarget != nil {
		out.Reservation = aws.ToString(c.CapacityReservationTarget.CapacityReservationId)
	}
	if p := d.Placement; p != nil {
		out.PlacementGroup, out.Host = cmp.Or(aws.ToString(p.GroupName), aws.ToString(p.GroupId)), cmp.Or(aws.ToString(p.HostId), aws.ToString(p.HostResourceGroupArn))
		if p.Tenancy != types.TenancyDefault {
			out.Tenancy = string(p.Tenancy)
		}
	}
	for _, b := range d.BlockDeviceMappings {
		if b.Ebs != nil {
			out.KMSKeys = append(out.KMSKeys, aws.ToString(b.Ebs.KmsKeyId))
		}
	}
	out.KMSKeys = source.Distinct(out.KMSKeys)
	return out
}
