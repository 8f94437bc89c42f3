package ec2

import (
	"cmp"
	"errors"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/authorization"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/lifecycle"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/trail"
)

// fleetPrincipal is who starts a fleet's instances, in the name of who asked for it.
const fleetPrincipal = "ec2fleet.amazonaws.com"

// mostOverrides is how many types and subnets a fleet of the type instant may have
// (EC2 user guide, "EC2 Fleet quotas").
const mostOverrides = 300

// fleetOffer is a type and a subnet of a fleet, and of which template.
type fleetOffer struct {
	lifecycle.FleetOffer
	version *ec2types.LaunchTemplateVersion
}

// fleet is a CreateFleet that is taken.
type fleet struct {
	caller string
	id     string
	spot   bool
	tags   []ec2types.TagSpecification
	out    *ec2.CreateFleetOutput
}

// CreateFleet starts instances of the types and in the subnets that there are some
// of, at once (type instant). What none could be started of stands in the answer
// of a call that succeeded (aws/karpenter-provider-aws#5850). Only what keeps all
// of it from being started fails the call.
func (s API) CreateFleet(in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
	defer s.w.Enter()()
	w := s.w
	if in.Type != ec2types.FleetTypeInstant {
		return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter Type is invalid: this account has fleets of the type instant alone.", in.Type)
	}
	target := in.TargetCapacitySpecification
	if target == nil || aws.ToInt32(target.TotalTargetCapacity) < 1 {
		return nil, wire.Errorf("InvalidTargetCapacitySpecification", "TotalTargetCapacity must be greater than 0.")
	}
	f := fleet{caller: s.caller, tags: in.TagSpecifications, spot: target.DefaultTargetCapacityType == ec2types.DefaultTargetCapacityTypeSpot}
	offers, err := fleetOffers(w, in.LaunchTemplateConfigs)
	if err != nil {
		return nil, err
	}
	if err := f.refused(w, offers); err != nil {
		return nil, err
	}
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	f.id = "fleet-" + w.IDs.UUID()
	f.out = &ec2.CreateFleetOutput{FleetId: aws.String(f.id), Instances: []ec2types.CreateFleetInstance{}, Errors: []ec2types.CreateFleetError{}}
	missing := int(aws.ToInt32(target.TotalTargetCapacity))
	for _, o := range f.ordered(w, offers) {
		for missing > 0 {
			if err := f.start(w, o); err != nil {
				f.failed(w, o, err)
				break
			}
			missing--
		}
	}
	return f.out, nil
}

// fleetOffers are what a fleet may start. A template that is not there fails the call.
func fleetOffers(w *state.State, configs []ec2types.FleetLaunchTemplateConfigRequest) ([]fleetOffer, error) {
	var list []fleetOffer
	for _, c := range configs {
		if c.LaunchTemplateSpecification == nil {
			return nil, wire.Errorf("MissingParameter", "The request must contain the parameter LaunchTemplateSpecification")
		}
		v, err := namedTemplate(w, c.LaunchTemplateSpecification.LaunchTemplateId, c.LaunchTemplateSpecification.LaunchTemplateName, c.LaunchTemplateSpecification.Version)
		if err != nil {
			return nil, err
		}
		d := v.LaunchTemplateData
		for _, o := range c.Overrides {
			list = append(list, fleetOffer{lifecycle.FleetOffer{
				Type: cmp.Or(string(o.InstanceType), string(d.InstanceType)), Subnet: aws.ToString(o.SubnetId), Image: cmp.Or(aws.ToString(o.ImageId), aws.ToString(d.ImageId)),
			}, v})
		}
	}
	switch {
	case len(list) == 0:
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter LaunchTemplateConfigs with at least one override")
	case len(list) > mostOverrides:
		return nil, wire.Errorf("InvalidParameterCombination", "The number of launch specifications exceeds the limit of %d.", mostOverrides)
	}
	return list, nil
}

// namedTemplate is a version of a template that a request names.
func namedTemplate(w *state.State, id, name, version *string) (*ec2types.LaunchTemplateVersion, error) {
	if w.TemplateNamed(aws.ToString(id), aws.ToString(name)) == nil {
		if id != nil {
			return nil, wire.Errorf("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", *id)
		}
		return nil, wire.Errorf("InvalidLaunchTemplateName.NotFoundException", "The specified launch template, with template name %s, does not exist.", aws.ToString(name))
	}
	v := w.TemplateVersion(aws.ToString(id), aws.ToString(name), aws.ToString(version))
	if v == nil || v.LaunchTemplateData == nil {
		return nil, wire.Errorf("InvalidLaunchTemplateId.VersionNotFound", "Could not find the specified version %s for the launch template.", aws.ToString(version))
	}
	return v, nil
}

// refused asks IAM for the fleet, with each of its subnets.
func (f *fleet) refused(w *state.State, offers []fleetOffer) error {
	var asked []string
	for _, o := range offers {
		if slices.Contains(asked, o.Subnet) {
			continue
		}
		asked = append(asked, o.Subnet)
		l := authorization.Launch{Type: o.Type, Subnet: o.Subnet, Image: o.Image, Spot: f.spot, Tags: f.allTags(o), Template: aws.ToString(o.version.LaunchTemplateId)}
		if err := authorization.Fleet(w, f.caller, l); err != nil {
			return err
		}
	}
	return nil
}

// ordered are the offers in the order in which EC2 tries them, each once.
func (f *fleet) ordered(w *state.State, offers []fleetOffer) []fleetOffer {
	var plain []lifecycle.FleetOffer
	for _, o := range offers {
		if !slices.Contains(plain, o.FleetOffer) {
			plain = append(plain, o.FleetOffer)
		}
	}
	var out []fleetOffer
	for _, p := range lifecycle.InOrder(w, plain, f.spot) {
		out = append(out, offers[slices.IndexFunc(offers, func(o fleetOffer) bool { return o.FleetOffer == p })])
	}
	return out
}

// start is the fleet's own RunInstances, which CloudTrail records too
// (aws/karpenter-provider-aws#8190).
func (f *fleet) start(w *state.State, o fleetOffer) error {
	call := trail.Call{
		Operation: "ec2:RunInstances", CallerARN: f.caller, InvokedBy: fleetPrincipal,
		Parameters: map[string]any{
			"instancesSet": map[string]any{"items": []any{map[string]any{"minCount": 1, "maxCount": 1}}},
			"instanceType": o.Type, "subnetId": o.Subnet, "availabilityZone": zoneOf(w, o.Subnet),
		},
	}
	id, err := f.launch(w, o)
	if err == nil {
		call.Response = map[string]any{"instancesSet": map[string]any{"items": []any{map[string]any{"instanceId": id, "subnetId": o.Subnet, "imageId": o.Image}}}}
	}
	call.Err = err
	trail.RecordHeld(w, call)
	return err
}

func (f *fleet) launch(w *state.State, o fleetOffer) (string, error) {
	spec, err := lifecycle.TemplateSpec(w, o.version, o.Subnet)
	if err != nil {
		return "", err
	}
	spec.InstanceType, spec.Image, spec.Spot = o.Type, o.Image, f.spot
	spec.Tags = f.instanceTags(o)
	if err := authorization.Run(w, f.caller, launchOf(spec, f.allTags(o), aws.ToString(o.version.LaunchTemplateId))); err != nil {
		return "", err
	}
	if err := lifecycle.PoolRefusal(w, o.FleetOffer, f.spot); err != nil {
		return "", err
	}
	in, err := lifecycle.Launch(w, spec)
	if err != nil {
		return "", err
	}
	f.took(w, o, *in.InstanceId)
	return *in.InstanceId, nil
}

// launchOf is a launch as IAM sees it.
func launchOf(s lifecycle.InstanceSpec, tags []ec2types.TagSpecification, template string) authorization.Launch {
	return authorization.Launch{
		Type: s.InstanceType, Subnet: s.Subnet, Image: s.Image, Groups: s.Groups, Spot: s.Spot, Tags: tags,
		Template: template, ProfileARN: s.ProfileARN, TokensRequired: s.RequiresTokens(),
	}
}

// allTags are the tags of the request, then those of the template, as the fleet's
// RunInstances has them.
func (f *fleet) allTags(o fleetOffer) []ec2types.TagSpecification {
	out := deepcopy.Of(f.tags)
	for _, s := range o.version.LaunchTemplateData.TagSpecifications {
		if !slices.ContainsFunc(out, func(have ec2types.TagSpecification) bool { return have.ResourceType == s.ResourceType }) {
			out = append(out, ec2types.TagSpecification{ResourceType: s.ResourceType, Tags: deepcopy.Of(s.Tags)})
		}
	}
	return out
}

func (f *fleet) instanceTags(o fleetOffer) []ec2types.Tag {
	tags := tagsFor(f.allTags(o), ec2types.ResourceTypeInstance)
	for _, t := range [][2]string{
		{"aws:ec2:fleet-id", f.id}, {"aws:ec2launchtemplate:id", aws.ToString(o.version.LaunchTemplateId)},
		{"aws:ec2launchtemplate:version", strconv.FormatInt(aws.ToInt64(o.version.VersionNumber), 10)},
	} {
		tags = append(tags, ec2types.Tag{Key: aws.String(t[0]), Value: aws.String(t[1])})
	}
	return tags
}

// took puts an instance into the answer, beside others of its type and subnet.
func (f *fleet) took(w *state.State, o fleetOffer, id string) {
	with := f.with(w, o)
	for i := range f.out.Instances {
		x := &f.out.Instances[i]
		if aws.ToString(x.LaunchTemplateAndOverrides.Overrides.SubnetId) == o.Subnet && string(x.InstanceType) == o.Type {
			x.InstanceIds = append(x.InstanceIds, id)
			return
		}
	}
	f.out.Instances = append(f.out.Instances, ec2types.CreateFleetInstance{
		InstanceIds: []string{id}, InstanceType: ec2types.InstanceType(o.Type), Lifecycle: f.lifecycle(), LaunchTemplateAndOverrides: with,
	})
}

func (f *fleet) failed(w *state.State, o fleetOffer, err error) {
	code, message := "InternalError", "An internal error has occurred"
	var e *wire.Error
	if errors.As(err, &e) {
		code, message = e.Code, e.Message
	}
	f.out.Errors = append(f.out.Errors, ec2types.CreateFleetError{
		ErrorCode: aws.String(code), ErrorMessage: aws.String(message), Lifecycle: f.lifecycle(), LaunchTemplateAndOverrides: f.with(w, o),
	})
}

func (f *fleet) lifecycle() ec2types.InstanceLifecycle {
	if f.spot {
		return ec2types.InstanceLifecycleSpot
	}
	return ec2types.InstanceLifecycleOnDemand
}

func (f *fleet) with(w *state.State, o fleetOffer) *ec2types.LaunchTemplateAndOverridesResponse {
	return &ec2types.LaunchTemplateAndOverridesResponse{
		LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecification{
			LaunchTemplateId: deepcopy.Of(o.version.LaunchTemplateId), Version: aws.String(strconv.FormatInt(aws.ToInt64(o.version.VersionNumber), 10)),
		},
		Overrides: &ec2types.FleetLaunchTemplateOverrides{
			InstanceType: ec2types.InstanceType(o.Type), SubnetId: aws.String(o.Subnet), AvailabilityZone: aws.String(zoneOf(w, o.Subnet)), ImageId: aws.String(o.Image),
		},
	}
}

// zoneOf is a subnet's zone.
func zoneOf(w *state.State, subnet string) string {
	if s := w.Subnets.Get(subnet); s != nil {
		return aws.ToString(s.AvailabilityZone)
	}
	return ""
}
