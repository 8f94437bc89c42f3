package karpenter

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/eks"
	"rollcall/local/simaws/ids"
)

// unregistered is the taint of a node that Karpenter has not seen yet.
const unregistered = "karpenter.sh/unregistered"

// launched is an instance that a fleet brought.
type launched struct {
	id, kind, zone, capacity, image string
}

// ask is what a NodeClaim asks EC2 for. NodeClaims that ask for the same at the same
// time are one call (KP pkg/batcher, CreateFleet: within 35 ms, up to 1,000).
type ask struct {
	class     *class
	pool      string
	capacity  string
	offerings []offering
}

func (a ask) key() string { return fmt.Sprint(a.class.name, a.pool, a.capacity, a.offerings) }

// heldAsk is what a NodeClaim asks for now, or why it cannot ask.
func (c *Controller) heldAsk(x *claim) (ask, failure) {
	k, f := c.heldReady(x.class)
	if f.kind != none {
		return ask{}, f
	}
	list := c.heldOfferings(k, x.labels, x.wants)
	if len(list) == 0 {
		// No call of EC2 is made (KP pkg/providers/instance, filterInstanceTypes).
		return ask{}, failure{kind: short, text: "creating instance, insufficient capacity, all requested instance types were unavailable during launch"}
	}
	a := ask{class: k, pool: x.pool, capacity: "on-demand"}
	if slices.ContainsFunc(list, func(o offering) bool { return o.capacity == "spot" }) {
		a.capacity = "spot"
	}
	list = slices.DeleteFunc(list, func(o offering) bool { return o.capacity != a.capacity })
	types := typesOf(list)
	a.offerings = slices.DeleteFunc(list, func(o offering) bool { return !slices.Contains(types, o.kind) })
	return a, failure{}
}

// fleet makes a call for n instances, and gives those that it brought; what the others
// failed for is the failure.
func (c *Controller) fleet(a ask, n int) ([]launched, failure) {
	var configs []ec2types.FleetLaunchTemplateConfigRequest
	for _, arch := range slices.Sorted(maps.Keys(a.class.images)) {
		var overrides []ec2types.FleetLaunchTemplateOverridesRequest
		c.locked(func() { overrides = c.heldOverrides(a, arch) })
		if len(overrides) == 0 {
			continue
		}
		name, err := c.ensureTemplate(a.class, a.pool, string(overrides[0].InstanceType))
		if err != nil {
			reason, message := reasonOf(err.Error())
			return nil, failure{kind: refused, text: err.Error(), reason: reason, message: "Error getting launch template configs: " + message}
		}
		configs = append(configs, ec2types.FleetLaunchTemplateConfigRequest{
			LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: &name, Version: aws.String("$Latest")}, Overrides: overrides,
		})
	}
	in := c.fleetInput(a.class, a.pool, a.capacity, "", configs)
	in.TargetCapacitySpecification.TotalTargetCapacity = aws.Int32(int32(n))
	out, err := c.api().CreateFleet(in)
	c.record("ec2:CreateFleet", in, out, err)
	if err != nil {
		reason, message := reasonOf(err.Error())
		return nil, failure{kind: refused, text: err.Error(), reason: reason, message: "Error creating fleet request: " + message}
	}
	c.locked(func() { c.heldUnavailable(a, out.Errors) })
	var got []launched
	for _, i := range out.Instances {
		o := i.LaunchTemplateAndOverrides.Overrides
		for _, id := range i.InstanceIds {
			got = append(got, launched{id, string(i.InstanceType), aws.ToString(o.AvailabilityZone), a.capacity, aws.ToString(o.ImageId)})
		}
	}
	if len(out.Errors) == 0 {
		out.Errors = []ec2types.CreateFleetError{{ErrorCode: aws.String("too few instances returned"), ErrorMessage: aws.String("too few instances returned")}}
	}
	return got, fleetFailure(out.Errors)
}

// heldUnavailable notes what EC2 had none of.
func (c *Controller) heldUnavailable(a ask, errs []ec2types.CreateFleetError) {
	for _, e := range errs {
		if o := e.LaunchTemplateAndOverrides; o != nil && o.Overrides != nil && slices.Contains(shortCodes(), aws.ToString(e.ErrorCode)) {
			c.unavailable[offering{string(o.Overrides.InstanceType), aws.ToString(o.Overrides.AvailabilityZone), a.capacity}] = c.w.Now.Add(unavailableTime)
		}
	}
}

// heldOverrides are the types of an architecture, each in one subnet of its zone: the
// one with the most free addresses.
func (c *Controller) heldOverrides(a ask, arch ec2types.ArchitectureValues) []ec2types.FleetLaunchTemplateOverridesRequest {
	var out []ec2types.FleetLaunchTemplateOverridesRequest
	for _, o := range a.offerings {
		info := c.w.InstanceTypes.Get(o.kind)
		i := slices.IndexFunc(a.class.subnets, func(s *ec2types.Subnet) bool { return aws.ToString(s.AvailabilityZone) == o.zone })
		if i < 0 || info == nil || ec2types.ArchitectureValues(info.ProcessorInfo.SupportedArchitectures[0]) != arch {
			continue
		}
		out = append(out, ec2types.FleetLaunchTemplateOverridesRequest{
			InstanceType: ec2types.InstanceType(o.kind), SubnetId: a.class.subnets[i].SubnetId, ImageId: aws.String(a.class.images[arch]), AvailabilityZone: aws.String(o.zone),
			Priority: aws.Float64(float64(c.heldSize(o.kind)) / 100_000),
		})
	}
	return out
}

// fleetInput is the request (KP pkg/providers/instance, CreateFleetInputBuilder).
func (c *Controller) fleetInput(x *class, pool, capacity, template string, configs []ec2types.FleetLaunchTemplateConfigRequest) *awsec2.CreateFleetInput {
	if template != "" {
		configs = []ec2types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: &template, Version: aws.String("$Latest")},
		}}
	}
	in := &awsec2.CreateFleetInput{
		Type: ec2types.FleetTypeInstant, LaunchTemplateConfigs: configs,
		TargetCapacitySpecification: &ec2types.TargetCapacitySpecificationRequest{
			DefaultTargetCapacityType: ec2types.DefaultTargetCapacityType(capacity), TotalTargetCapacity: aws.Int32(1),
		},
		TagSpecifications: tagSpecs(c.tags(x, pool), ec2types.ResourceTypeInstance, ec2types.ResourceTypeVolume, ec2types.ResourceTypeFleet),
	}
	if capacity == "spot" {
		in.SpotOptions = &ec2types.SpotOptionsRequest{AllocationStrategy: ec2types.SpotAllocationStrategyPriceCapacityOptimized}
	} else {
		in.OnDemandOptions = &ec2types.OnDemandOptionsRequest{AllocationStrategy: ec2types.FleetOnDemandAllocationStrategyLowestPrice}
	}
	return in
}

func tagSpecs(tags map[string]string, kinds ...ec2types.ResourceType) []ec2types.TagSpecification {
	var out []ec2types.TagSpecification
	for _, kind := range kinds {
		s := ec2types.TagSpecification{ResourceType: kind}
		for _, key := range slices.Sorted(maps.Keys(tags)) {
			s.Tags = append(s.Tags, ec2types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
		}
		out = append(out, s)
	}
	return out
}

// ensureTemplate makes the launch template of a class and NodePool for the
// architecture of a type, unless it is there: its name is the hash of what is in it
// (KP pkg/providers/launchtemplate).
func (c *Controller) ensureTemplate(x *class, pool, kind string) (name string, err error) {
	var in *awsec2.CreateLaunchTemplateInput
	c.locked(func() {
		data, tags := c.heldTemplate(x, pool, kind), c.tags(x, pool)
		sum, _ := hex.DecodeString(ids.SHA256(fmt.Sprint(*data.ImageId, *data.UserData, *data.IamInstanceProfile.Name, x.groups, tags))[:16])
		name = fmt.Sprintf("karpenter.k8s.aws/%d", binary.BigEndian.Uint64(sum))
		if c.w.TemplateNamed("", name) == nil {
			in = &awsec2.CreateLaunchTemplateInput{LaunchTemplateName: &name, LaunchTemplateData: data, TagSpecifications: tagSpecs(tags, ec2types.ResourceTypeLaunchTemplate)}
		}
	})
	if in == nil {
		return name, nil
	}
	out, err := c.api().CreateLaunchTemplate(in)
	c.record("ec2:CreateLaunchTemplate", in, out, err)
	if err != nil {
		return "", fmt.Errorf("creating launch template, %w", err)
	}
	return name, nil
}

func (c *Controller) heldTemplate(x *class, pool, kind string) *ec2types.RequestLaunchTemplateData {
	arch := ec2types.ArchitectureValuesX8664
	if info := c.w.InstanceTypes.Get(kind); info != nil && info.ProcessorInfo != nil {
		arch = ec2types.ArchitectureValues(info.ProcessorInfo.SupportedArchitectures[0])
	}
	labels := []string{labelPool + "=" + pool, labelClass + "=" + x.name}
	return &ec2types.RequestLaunchTemplateData{
		ImageId: aws.String(x.images[arch]),
		UserData: aws.String(withOwn(x.spec.UserData, eks.NodeConfig(c.w.Clusters.Get(c.k.Name),
			`--node-labels="`+strings.Join(labels, ",")+`"`, `--register-with-taints="`+unregistered+`:NoExecute"`))),
		IamInstanceProfile: &ec2types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: aws.String(x.profile)},
		MetadataOptions: &ec2types.LaunchTemplateInstanceMetadataOptionsRequest{
			HttpEndpoint: ec2types.LaunchTemplateInstanceMetadataEndpointStateEnabled, HttpTokens: ec2types.LaunchTemplateHttpTokensStateRequired, HttpPutResponseHopLimit: aws.Int32(1),
		},
		NetworkInterfaces: []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{
			DeviceIndex: aws.Int32(0), Groups: x.groups, AssociatePublicIpAddress: x.spec.AssociatePublicIPAddress,
		}},
		BlockDeviceMappings: []ec2types.LaunchTemplateBlockDeviceMappingRequest{{
			DeviceName: aws.String("/dev/xvda"), Ebs: &ec2types.LaunchTemplateEbsBlockDeviceRequest{Encrypted: aws.Bool(true), VolumeSize: aws.Int32(20),
				VolumeType: ec2types.VolumeTypeGp3},
		}},
		TagSpecifications: requestTags(c.tags(x, pool), ec2types.ResourceTypeNetworkInterface, ec2types.ResourceTypeSpotInstancesRequest),
	}
}

// withOwn puts a class's own user data before Karpenter's, as a part of the same MIME
// text (KP docs, "NodeClasses", spec.userData of AL2023).
func withOwn(own, encoded string) string {
	text, err := base64.StdEncoding.DecodeString(encoded)
	head, parts, whole := strings.Cut(string(text), "\n--//\n")
	if own == "" || err != nil || !whole {
		return encoded
	}
	return base64.StdEncoding.EncodeToString([]byte(head + "\n--//\nContent-Type: text/x-shellscript\n\n" + own + "\n\n--//\n" + parts))
}

func requestTags(tags map[string]string, kinds ...ec2types.ResourceType) []ec2types.LaunchTemplateTagSpecificationRequest {
	var out []ec2types.LaunchTemplateTagSpecificationRequest
	for _, s := range tagSpecs(tags, kinds...) {
		out = append(out, ec2types.LaunchTemplateTagSpecificationRequest{ResourceType: s.ResourceType, Tags: s.Tags})
	}
	return out
}

// terminate ends an instance; one that EC2 does not know any more is ended.
func (c *Controller) terminate(id string) {
	in := &awsec2.TerminateInstancesInput{InstanceIds: []string{id}}
	out, err := c.api().TerminateInstances(in)
	c.record("ec2:TerminateInstances", in, out, err)
	var e *wire.Error
	if err != nil && (!errors.As(err, &e) || e.Code != "InvalidInstanceID.NotFound") {
		c.w.Log.Warn("Karpenter cannot end an instance", "instance", id, "error", err)
	}
}

// tag gives an instance of a node its name and that of its NodeClaim. Both are not
// among the tags of the launch (KP controllers/nodeclaim/tagging).
func (c *Controller) tag(id, node, claim string) {
	in := &awsec2.CreateTagsInput{Resources: []string{id}, Tags: []ec2types.Tag{
		{Key: aws.String("Name"), Value: aws.String(node)}, {Key: aws.String("karpenter.sh/nodeclaim"), Value: aws.String(claim)},
	}}
	out, err := c.api().CreateTags(in)
	c.record("ec2:CreateTags", in, out, err)
	if err != nil {
		c.w.Log.Warn("Karpenter cannot tag an instance", "instance", id, "error", err)
	}
}
