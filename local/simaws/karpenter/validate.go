package karpenter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
)

// verdictTime is how long Karpenter believes what its dry runs said, the bad as the
// good (KP pkg/cache, ValidationTTL).
const verdictTime = 30 * time.Minute

// verdict is what the dry runs said of a class; without a reason it may launch.
type verdict struct {
	reason, message string
	until           time.Time
}

// validate asks EC2 with dry runs whether the role may launch for a class, unless
// that is known (KP controllers/nodeclass/validation.go). It makes the launch
// template in earnest.
func (c *Controller) validate(x *class) {
	var key string
	var types []string
	c.locked(func() {
		key = c.heldKey(x)
		types = c.heldTypesFor(x)
	})
	if v, known := x.verdicts[key]; known && c.w.Now.Before(v.until) {
		c.locked(func() { c.heldVerdict(x, v) })
		return
	}
	v, ok := c.dryRuns(x, types)
	if !ok {
		return // asked again when the class is due
	}
	v.until = c.w.Now.Add(verdictTime)
	c.locked(func() {
		x.verdicts = map[string]verdict{key: v}
		c.heldVerdict(x, v)
	})
}

func (c *Controller) heldVerdict(x *class, v verdict) {
	if v.reason == "" {
		c.heldSet(kindClass, x.object, "ValidationSucceeded", yes, "", "")
		return
	}
	c.heldSet(kindClass, x.object, "ValidationSucceeded", no, v.reason, v.message)
}

// heldKey is all that a verdict hangs on.
func (c *Controller) heldKey(x *class) string {
	var subnets []string
	for _, s := range x.subnets {
		subnets = append(subnets, aws.ToString(s.SubnetId))
	}
	slices.Sort(subnets)
	tags := c.tags(x, "")
	var pairs []string
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		pairs = append(pairs, k+"="+tags[k])
	}
	return fmt.Sprint(x.object["spec"], subnets, x.groups, x.images, x.profile, pairs)
}

// dryRuns makes the three calls, and says which of them the role may not make. It is
// false where they say something else, which Karpenter only logs.
func (c *Controller) dryRuns(x *class, types []string) (verdict, bool) {
	if len(types) == 0 {
		return verdict{}, false
	}
	template, err := c.ensureTemplate(x, "", types[0])
	var e *wire.Error
	if errors.As(err, &e) && e.Code == "InvalidUserData.Malformed" && strings.Contains(e.Message, "limited to") {
		return verdict{reason: "UserDataSizeLimitExceeded", message: "User data is limited to 16384 bytes"}, true // KP v1.14.1
	}
	if err != nil {
		return verdictOf("CreateLaunchTemplateAuthCheckFailed", "ec2:CreateLaunchTemplate", err)
	}
	fleet := c.fleetInput(x, "", "on-demand", template, nil)
	for _, s := range x.subnets {
		fleet.LaunchTemplateConfigs[0].Overrides = append(fleet.LaunchTemplateConfigs[0].Overrides, ec2types.FleetLaunchTemplateOverridesRequest{
			InstanceType: ec2types.InstanceType(types[0]), SubnetId: s.SubnetId,
		})
	}
	fleet.DryRun = aws.Bool(true)
	_, err = c.api().CreateFleet(fleet)
	c.record("ec2:CreateFleet", fleet, nil, err)
	if v, ok := verdictOf("CreateFleetAuthCheckFailed", "ec2:CreateFleet", err); !ok || v.reason != "" {
		return v, ok
	}
	// The first subnet's error counts, unless another one works.
	var first error
	for i, s := range x.subnets {
		run := &awsec2.RunInstancesInput{
			DryRun: aws.Bool(true), MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: ec2types.InstanceType(types[0]),
			LaunchTemplate:    &ec2types.LaunchTemplateSpecification{LaunchTemplateName: &template, Version: aws.String("$Latest")},
			NetworkInterfaces: []ec2types.InstanceNetworkInterfaceSpecification{{DeviceIndex: aws.Int32(0), SubnetId: s.SubnetId}},
			TagSpecifications: tagSpecs(c.tags(x, ""), ec2types.ResourceTypeInstance, ec2types.ResourceTypeVolume, ec2types.ResourceTypeNetworkInterface),
		}
		_, err := c.api().RunInstances(run)
		c.record("ec2:RunInstances", run, nil, err)
		if isDryRun(err) {
			return verdict{}, true
		}
		if i == 0 {
			first = err
		}
	}
	return verdictOf("RunInstancesAuthCheckFailed", "ec2:RunInstances", first)
}

// verdictOf is what an error of a dry run says: only that the role may not, or that
// all is well.
func verdictOf(reason, action string, err error) (verdict, bool) {
	if isDryRun(err) {
		return verdict{}, true
	}
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != "UnauthorizedOperation" {
		return verdict{}, false
	}
	_, message := reasonOf(e.Error())
	return verdict{reason: reason, message: fmt.Sprintf("Controller isn't authorized to call %s: %s", action, message)}, true
}

func isDryRun(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && e.Code == "DryRunOperation"
}
