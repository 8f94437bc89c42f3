package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
	simec2 "rollcall/local/simaws/ec2"
	"rollcall/local/simaws/trail"
	"rollcall/local/simaws/worldfile"
)

const (
	fleetCaller   = "arn:aws:sts::111122223333:assumed-role/karpenter/1729504785943908908"
	fleetImage    = "ami-0a1e2d3c4b5a69788"
	fleetTemplate = "karpenter.k8s.aws/12345678901234567890"
	fleetSubnetA  = "subnet-0b20000000000000a"
	fleetSubnetB  = "subnet-0b20000000000000b"
	denyBigTypes  = `{"Version":"2012-10-17","Statement":[{"Sid":"SmallTypesOnly","Effect":"Deny","Action":"ec2:RunInstances","Resource":"arn:aws:ec2:*:*:instance/*","Condition":{"StringNotLike":{"ec2:InstanceType":["t3.*"]}}}]}`
	mayAll        = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:*","iam:PassRole"],"Resource":"*"}]}`
)

// fleetWorld is the workshop with a controller's role and a launch template.
func fleetWorld(t *testing.T, change ...func(*worldfile.File)) (*World, *[]json.RawMessage) {
	t.Helper()
	w, events := openWith(t, "healthy-nat", func(f *worldfile.File) {
		f.IAM.Roles = append(f.IAM.Roles, worldfile.RoleFile{
			Role:           iamtypes.Role{RoleName: aws.String("karpenter")},
			RolePolicyList: []iamtypes.PolicyDetail{{PolicyName: aws.String("karpenter"), PolicyDocument: aws.String(mayAll)}},
		})
		for _, c := range change {
			c(f)
		}
	})
	if _, err := w.EC2().CreateLaunchTemplate(&ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: aws.String(fleetTemplate),
		LaunchTemplateData: &ec2types.RequestLaunchTemplateData{
			ImageId:            aws.String(fleetImage),
			IamInstanceProfile: &ec2types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: aws.String("eks-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f")},
			NetworkInterfaces:  []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{DeviceIndex: aws.Int32(0), Groups: []string{"sg-0e50000000000000f"}}},
		},
	}); err != nil {
		t.Fatal(err)
	}
	return w, events
}

// fleetOf asks for Spot or on-demand instances of types in two subnets, in the form
// of the samples.
func fleetOf(n int32, capacity ec2types.DefaultTargetCapacityType, overrides ...string) *ec2.CreateFleetInput {
	zones := map[string]string{fleetSubnetA: "us-west-2a", fleetSubnetB: "us-west-2b"}
	in := &ec2.CreateFleetInput{
		Type:                        ec2types.FleetTypeInstant,
		TargetCapacitySpecification: &ec2types.TargetCapacitySpecificationRequest{DefaultTargetCapacityType: capacity, TotalTargetCapacity: aws.Int32(n)},
		LaunchTemplateConfigs: []ec2types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: aws.String(fleetTemplate), Version: aws.String("$Latest")},
		}},
	}
	if capacity == ec2types.DefaultTargetCapacityTypeSpot {
		in.SpotOptions = &ec2types.SpotOptionsRequest{AllocationStrategy: ec2types.SpotAllocationStrategyPriceCapacityOptimized}
	}
	for _, o := range overrides {
		kind, subnet, _ := strings.Cut(o, " ")
		in.LaunchTemplateConfigs[0].Overrides = append(in.LaunchTemplateConfigs[0].Overrides, ec2types.FleetLaunchTemplateOverridesRequest{
			InstanceType: ec2types.InstanceType(kind), SubnetId: aws.String(subnet), AvailabilityZone: aws.String(zones[subnet]), ImageId: aws.String(fleetImage),
		})
	}
	for _, kind := range []ec2types.ResourceType{ec2types.ResourceTypeInstance, ec2types.ResourceTypeVolume, ec2types.ResourceTypeFleet} {
		tags := ec2types.TagSpecification{ResourceType: kind}
		for _, tag := range []string{"karpenter.sh/nodepool=default", "karpenter.k8s.aws/ec2nodeclass=default", "eks:eks-cluster-name=eks-workshop",
			"kubernetes.io/cluster/eks-workshop=owned", "cost-center=4711"} {
			key, value, _ := strings.Cut(tag, "=")
			tags.Tags = append(tags.Tags, ec2types.Tag{Key: aws.String(key), Value: aws.String(value)})
		}
		in.TagSpecifications = append(in.TagSpecifications, tags)
	}
	return in
}

// asCaller makes the call in the role's name, and records it as the controller's.
func asCaller(w *World, in *ec2.CreateFleetInput) (*ec2.CreateFleetOutput, error) {
	out, err := simec2.For(w.State, fleetCaller).CreateFleet(in)
	c := trail.Call{
		Operation: "ec2:CreateFleet", CallerARN: fleetCaller, Input: in, Err: err, SourceIP: "52.10.20.30", UserAgent: "karpenter.sh-1.5.0",
		Federated: "arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/CCB6EXAMPLE0000000000000000000000",
	}
	if err == nil {
		c.Output = out
	}
	w.Record(c)
	return out, err
}

// shapes are the paths of a JSON value with the kind of what is there: "a.b[].c string".
func shapes(v any, path string, into map[string]bool) map[string]bool {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			shapes(member, path+"."+key, into)
		}
	case []any:
		for _, member := range v {
			shapes(member, path+"[]", into)
		}
	default:
		into[fmt.Sprintf("%s %T", strings.TrimPrefix(path, "."), v)] = true
	}
	return into
}

// ofInstances are members that the answer has of an instance too (botocore's model,
// ec2/2016-11-15, CreateFleetInstance), which the sample was not given.
func ofInstances() []string {
	const of = "detail.responseElements.CreateFleetResponse.fleetInstanceSet.item.launchTemplateAndOverrides."
	return []string{of + "launchTemplateSpecification.launchTemplateId string", of + "launchTemplateSpecification.version float64", of + "overrides.imageId string"}
}

func withoutCapacity(kind string) func(*worldfile.File) {
	return func(f *worldfile.File) {
		f.Spot.Pools = append(f.Spot.Pools, worldfile.PoolFile{Type: kind, Zone: "us-west-2a", Capacity: aws.Int(0)}, worldfile.PoolFile{Type: kind,
			Zone: "us-west-2a", OnDemand: true, Capacity: aws.Int(0)})
	}
}

func underPolicy(document string) func(*worldfile.File) {
	return func(f *worldfile.File) {
		f.Organizations.ServiceControlPolicies = append(f.Organizations.ServiceControlPolicies, worldfile.ControlPolicy{Name: "test", Document: document})
	}
}

// What the world's trail tells of a fleet has the members of the true samples, each
// of their kind, and no others.
func TestFleetsAreRecordedAsTheSamples(t *testing.T) {
	dry := fleetOf(1, "spot", "m5.large "+fleetSubnetA, "m5.xlarge "+fleetSubnetB)
	dry.DryRun = aws.Bool(true)
	for sample, test := range map[string]struct {
		change func(*worldfile.File)
		in     *ec2.CreateFleetInput
		call   string
	}{
		"ec2-call-create-fleet-refused": {underPolicy(`{"Statement":[{"Effect":"Deny","Action":"ec2:CreateFleet","Resource":"*"}]}`),
			fleetOf(29, "spot", "m5.large "+fleetSubnetA, "m5.xlarge "+fleetSubnetB), "CreateFleet"},
		"ec2-call-create-fleet-no-capacity": {func(f *worldfile.File) { withoutCapacity("m5.large")(f); withoutCapacity("m5.xlarge")(f) },
			fleetOf(29, "spot", "m5.large "+fleetSubnetA, "m5.xlarge "+fleetSubnetA), "CreateFleet"},
		"ec2-call-create-fleet-partial": {withoutCapacity("m5.large"), fleetOf(1, "spot", "m5.large "+fleetSubnetA, "m5.large "+fleetSubnetB), "CreateFleet"},
		"ec2-call-create-fleet-dry-run": {func(*worldfile.File) {}, dry, "CreateFleet"},
		"ec2-call-run-instances-by-fleet": {withoutCapacity("m5.large"),
			fleetOf(1, "spot", "m5.large "+fleetSubnetA), "RunInstances"},
	} {
		t.Run(sample, func(t *testing.T) {
			text, err := os.ReadFile("../../../events/in/" + sample + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			w, events := fleetWorld(t, test.change)
			// EC2 guesses that there is less left where much was taken.
			if _, err := w.EC2().CreateFleet(fleetOf(8, "spot", "m5.large "+fleetSubnetB)); err != nil {
				t.Fatal(err)
			}
			_, _ = asCaller(w, test.in) // what it answers is held elsewhere
			w.Advance(w.Start().Add(time.Minute))
			var got map[string]any
			for _, e := range recorded(t, *events) {
				if e["detail"].(map[string]any)["eventName"] == test.call {
					got = e
				}
			}
			if got == nil {
				t.Fatalf("%s was not told: %v", test.call, recorded(t, *events))
			}
			has := shapes(got, "", map[string]bool{})
			for _, more := range ofInstances() {
				delete(has, more)
			}
			if diff := cmp.Diff(slices.Sorted(maps.Keys(shapes(want, "", map[string]bool{}))), slices.Sorted(maps.Keys(has))); diff != "" {
				t.Errorf("(-sample +world):\n%s", diff)
			}
			for _, member := range []string{"eventSource", "eventVersion", "eventType", "eventCategory", "awsRegion", "readOnly", "errorCode"} {
				if a, b := want["detail"].(map[string]any)[member], got["detail"].(map[string]any)[member]; a != b {
					t.Errorf("%s: %v, want %v", member, b, a)
				}
			}
			if got["source"] != "aws.ec2" || got["detail-type"] != want["detail-type"] {
				t.Errorf("%v of %v", got["detail-type"], got["source"])
			}
		})
	}
}

// An answer over CloudTrail's size is left out of the record.
func TestLongAnswerIsLeftOut(t *testing.T) {
	w, events := fleetWorld(t, underPolicy(denyBigTypes))
	in := fleetOf(1, "on-demand", "m5.large "+fleetSubnetA)
	for i := range 110 {
		o := in.LaunchTemplateConfigs[0].Overrides[0]
		o.ImageId = aws.String(fmt.Sprintf("ami-0a1e2d3c4b5a6%04d", i))
		in.LaunchTemplateConfigs[0].Overrides = append(in.LaunchTemplateConfigs[0].Overrides, o)
	}
	out, err := asCaller(w, in)
	if err != nil || len(out.Errors) != 111 {
		t.Fatalf("%d errors, %v", len(out.Errors), err)
	}
	w.Advance(w.Start().Add(time.Minute))
	for _, e := range recorded(t, *events) {
		d := e["detail"].(map[string]any)
		if d["eventName"] == "CreateFleet" && (d["responseElements"] != nil || d["errorCode"] != nil) {
			t.Errorf("the answer of 111 errors is in the record")
		}
	}
}

// Each thing that keeps a fleet from an instance is said in EC2's words, and where
// EC2 says it: in the answer, or by failing the call.
func TestFleetRefusals(t *testing.T) {
	own := func(document string) func(*worldfile.File) {
		return func(f *worldfile.File) {
			f.IAM.Roles[len(f.IAM.Roles)-1].RolePolicyList[0].PolicyDocument = aws.String(document)
		}
	}
	both := func(a, b func(*worldfile.File)) func(*worldfile.File) {
		return func(f *worldfile.File) { a(f); b(f) }
	}
	usual := fleetOf(1, "on-demand", "m5.large "+fleetSubnetA)
	noTemplate := fleetOf(1, "on-demand", "m5.large "+fleetSubnetA)
	noTemplate.LaunchTemplateConfigs[0].LaunchTemplateSpecification.LaunchTemplateName = aws.String("karpenter.k8s.aws/1")
	noImage := fleetOf(1, "on-demand", "m6g.large "+fleetSubnetA)
	untagged := fleetOf(1, "on-demand", "m5.large "+fleetSubnetA)
	untagged.TagSpecifications = nil
	tagged := `{"Statement":[{"Effect":"Deny","Action":"ec2:RunInstances","Resource":"arn:aws:ec2:*:*:instance/*","Condition":{"Null":{"aws:RequestTag/cost-center":"true"}}}]}`
	for name, test := range map[string]struct {
		change func(*worldfile.File)
		in     *ec2.CreateFleetInput
		// whole tells that the call fails.
		whole      bool
		code, says string
	}{
		"a policy of the organisation, on the type": {underPolicy(denyBigTypes), usual, false, "UnauthorizedOperation",
			"User: " + fleetCaller + " is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:us-west-2:111122223333:instance/* with an explicit deny in a service control policy. Encoded authorization failure message: "},
		"a policy of the organisation, on a tag": {underPolicy(tagged), untagged, false, "UnauthorizedOperation", "with an explicit deny in a service control policy"},
		"the tag that it wants":                  {underPolicy(tagged), usual, false, "", ""},
		"a policy of the organisation, on the fleet": {underPolicy(`{"Statement":{"Effect":"Deny","Action":"ec2:CreateFleet","Resource":"*"}}`), usual,
			true, "UnauthorizedOperation",
			"ec2:CreateFleet on resource: arn:aws:ec2:us-west-2:111122223333:fleet/* with an explicit deny in a service control policy"},
		"the role's own policy denies": {own(`{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"ec2:RunInstances","Resource":"arn:aws:ec2:*:*:subnet/*"}]}`), usual, false, "UnauthorizedOperation",
			"ec2:RunInstances on resource: arn:aws:ec2:us-west-2:111122223333:subnet/" + fleetSubnetA + " with an explicit deny in an identity-based policy"},
		"the role's own policy is silent": {own(`{"Statement":[{"Effect":"Allow","Action":"ec2:Run*","Resource":"*"}]}`), usual, true, "UnauthorizedOperation",
			"because no identity-based policy allows the ec2:CreateFleet action"},
		"no tags": {own(`{"Statement":[{"Effect":"Allow","Action":["ec2:RunInstances","ec2:CreateFleet","iam:PassRole"],"Resource":"*"}]}`), usual, true, "UnauthorizedOperation",
			"ec2:CreateTags on resource: arn:aws:ec2:us-west-2:111122223333:fleet/* because no identity-based policy allows the ec2:CreateTags action"},
		"the role of the nodes may not be passed": {own(`{"Statement":[{"Effect":"Allow","Action":"ec2:*","Resource":"*"}]}`), usual, false, "UnauthorizedOperation",
			"iam:PassRole on resource: arn:aws:iam::111122223333:role/eksctl-eks-workshop-NodeInstanceRole because no identity-based policy allows the iam:PassRole action"},
		"the boundary is silent": {both(own(mayAll), func(f *worldfile.File) {
			f.IAM.Policies = append(f.IAM.Policies, iamtypes.ManagedPolicyDetail{Arn: aws.String("arn:aws:iam::111122223333:policy/edge"),
				PolicyName: aws.String("edge"), PolicyVersionList: []iamtypes.PolicyVersion{{IsDefaultVersion: true, VersionId: aws.String("v1"),
					Document: aws.String(`{"Statement":[{"Effect":"Allow","Action":"ec2:Describe*","Resource":"*"}]}`)}}})
			f.IAM.Roles[len(f.IAM.Roles)-1].PermissionsBoundary = &iamtypes.AttachedPermissionsBoundary{PermissionsBoundaryArn: aws.String("arn:aws:iam::111122223333:policy/edge")}
		}), usual, true, "UnauthorizedOperation", "because no permissions boundary allows the ec2:CreateFleet action"},
		"no capacity": {withoutCapacity("m5.large"), usual, false, "InsufficientInstanceCapacity",
			"We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-west-2a)."},
		"no Spot capacity": {withoutCapacity("m5.large"), fleetOf(1, "spot", "m5.large "+fleetSubnetA), false, "InsufficientInstanceCapacity",
			"There is no Spot capacity available that matches your request."},
		"the Spot quota": {func(f *worldfile.File) { f.Spot.VCPULimit = 1 }, fleetOf(1, "spot", "m5.large "+fleetSubnetA), false,
			"MaxSpotInstanceCountExceeded", "Max spot instance count exceeded"},
		"the quota on demand": {func(f *worldfile.File) { f.EC2.VCPULimit = 1 }, usual, false, "VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit of 1 allows"},
		"another architecture": {func(*worldfile.File) {}, noImage, false, "InvalidParameterValue",
			"The architecture 'arm64' of the specified instance type does not match the architecture 'x86_64' of the specified AMI."},
		"no such template": {func(*worldfile.File) {}, noTemplate, true, "InvalidLaunchTemplateName.NotFoundException",
			"The specified launch template, with template name karpenter.k8s.aws/1, does not exist."},
		"nothing": {func(*worldfile.File) {}, usual, false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := fleetWorld(t, test.change)
			before := len(w.Instances.All())
			out, err := asCaller(w, test.in)
			var code, says string
			var whole *wire.Error
			switch {
			case errors.As(err, &whole):
				code, says = whole.Code, whole.Message
			case err != nil:
				t.Fatal(err)
			case len(out.Errors) > 0:
				code, says = *out.Errors[0].ErrorCode, *out.Errors[0].ErrorMessage
			}
			if code != test.code || !strings.Contains(says, test.says) || (whole != nil) != test.whole {
				t.Errorf("%s: %s; the call fails: %v", code, says, whole != nil)
			}
			if started := len(w.Instances.All()) - before; (started == 1) != (test.code == "") {
				t.Errorf("%d instances were started", started)
			}
		})
	}
}

// One call brings as many as there are, of the types and subnets that have them, and
// tells of the others once each.
func TestFleetIsPartlyServed(t *testing.T) {
	w, _ := fleetWorld(t, func(f *worldfile.File) {
		f.Spot.Pools = append(f.Spot.Pools,
			worldfile.PoolFile{Type: "m5.large", Zone: "us-west-2a", OnDemand: true, Capacity: aws.Int(3)}, // one of them runs
			worldfile.PoolFile{Type: "m5.large", Zone: "us-west-2b", OnDemand: true, Capacity: aws.Int(4)})
	})
	out, err := asCaller(w, fleetOf(10, "on-demand", "m5.large "+fleetSubnetA, "m5.large "+fleetSubnetB, "m5.large "+fleetSubnetA))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range out.Instances {
		got = append(got, fmt.Sprintf("%d %s %s %s", len(i.InstanceIds), i.InstanceType, *i.LaunchTemplateAndOverrides.Overrides.AvailabilityZone, i.Lifecycle))
	}
	for _, e := range out.Errors {
		got = append(got, *e.ErrorCode+" "+*e.LaunchTemplateAndOverrides.Overrides.AvailabilityZone)
	}
	if diff := cmp.Diff([]string{"2 m5.large us-west-2a on-demand", "3 m5.large us-west-2b on-demand", "InsufficientInstanceCapacity us-west-2a",
		"InsufficientInstanceCapacity us-west-2b"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	in := w.Instances.Get(out.Instances[0].InstanceIds[0])
	var tags []string
	for _, tag := range in.Tags {
		tags = append(tags, *tag.Key)
	}
	slices.Sort(tags)
	if diff := cmp.Diff([]string{"aws:ec2:fleet-id", "aws:ec2launchtemplate:id", "aws:ec2launchtemplate:version", "cost-center", "eks:eks-cluster-name",
		"karpenter.k8s.aws/ec2nodeclass", "karpenter.sh/nodepool", "kubernetes.io/cluster/eks-workshop"}, tags); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
}
