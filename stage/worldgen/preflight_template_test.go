package worldgen

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/preflight"
	"rollcall/stage/simaws/world"
)

// version is a version of a launch template in the making, for nodes that are managed
// by their Auto Scaling group alone.
type version struct {
	data    *ec2types.ResponseLaunchTemplateData
	subnets []string
	// id is the template's, where it is there to be read; else its data is judged.
	id   string
	what []string
}

// templateChanges are ways in which a version can be other than it should be, or
// only look so.
func templateChanges() []struct {
	name    string
	applies func(*World) bool
	change  func(*World, *version)
} {
	type change = struct {
		name    string
		applies func(*World) bool
		change  func(*World, *version)
	}
	return []change{
		{"no image", always, func(_ *World, v *version) { v.data.ImageId = nil }},
		{"a newer image", of3(AL2023, AL2), func(w *World, v *version) {
			id := w.makeImage(AL2023)
			find(w.File.EC2.Images, func(i *ec2types.Image) bool { return *i.ImageId == id }).Name = aws.String("amazon-eks-node-al2023-x86_64-standard-1.39-v20261112")
			v.data.ImageId, v.data.UserData = &id, aws.String(userData(AL2023, w.start()))
		}},
		{"a type of another architecture", always, func(_ *World, v *version) { v.data.InstanceType = "m6g.large" }},
		{"a type that is not there", always, func(_ *World, v *version) { v.data.InstanceType = "m9.mega" }},
		{"another type", always, func(_ *World, v *version) { v.data.InstanceType = "c5.large" }},
		{"no profile", always, func(_ *World, v *version) { v.data.IamInstanceProfile = nil }},
		{"a profile that is not there", always, func(_ *World, v *version) {
			v.data.IamInstanceProfile = &ec2types.LaunchTemplateIamInstanceProfileSpecification{Name: aws.String("nobody")}
		}},
		{"a profile by its ARN", always, func(w *World, v *version) {
			v.data.IamInstanceProfile = &ec2types.LaunchTemplateIamInstanceProfileSpecification{Arn: &w.profile}
		}},
		{"a role that nobody lets in", always, func(w *World, v *version) {
			w.makeNodeRole("/", "strangers", Managed, true)
			v.data.IamInstanceProfile = &ec2types.LaunchTemplateIamInstanceProfileSpecification{Name: aws.String("strangers-profile")}
		}},
		{"user data of another cluster", linux, func(w *World, v *version) {
			s := w.start()
			s.cluster = "staging"
			v.data.UserData = aws.String(userData(w.Shape.Image, s))
		}},
		{"too much user data", linux, func(w *World, v *version) {
			v.data.UserData = aws.String(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("#", 17<<10))))
		}},
		{"groups that let nothing out", always, func(w *World, v *version) { v.data.SecurityGroupIds = []string{w.addGroup("closed", nil, nil)} }},
		{"a group of another VPC that is associated", always, func(w *World, v *version) { v.data.SecurityGroupIds = []string{w.farGroup(true)} }},
		{"a group of another VPC", always, func(w *World, v *version) { v.data.SecurityGroupIds = []string{w.farGroup(false)} }},
		{"a group that is not there", always, func(_ *World, v *version) { v.data.SecurityGroupIds = []string{"sg-0dead000000000000"} }},
		{"a metadata service that is off", always, func(_ *World, v *version) {
			v.data.MetadataOptions = &ec2types.LaunchTemplateInstanceMetadataOptions{HttpEndpoint: ec2types.LaunchTemplateInstanceMetadataEndpointStateDisabled}
		}},
		{"no public addresses", egressIn(Public), func(w *World, v *version) {
			v.data.NetworkInterfaces = []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecification{{DeviceIndex: aws.Int32(0), AssociatePublicIpAddress: aws.Bool(false), Groups: v.data.SecurityGroupIds}}
			v.data.SecurityGroupIds = nil
		}},
		{"groups of the interface", always, func(_ *World, v *version) {
			v.data.NetworkInterfaces = []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecification{{DeviceIndex: aws.Int32(0), Groups: v.data.SecurityGroupIds}}
			v.data.SecurityGroupIds = nil
		}},
		{"a subnet that is not there", always, func(_ *World, v *version) { v.subnets = []string{"subnet-0dead000000000000"} }},
		{"a type that no zone has", always, func(w *World, _ *version) { w.withhold(w.nodeZones(), string(instanceType)) }},
		{"a subnet that is full", always, func(w *World, _ *version) {
			for _, id := range w.Subnets {
				w.subnet(id).AvailableIpAddressCount = aws.Int32(0)
			}
		}},
	}
}

// of3 applies to images of a kind.
func of3(images ...Image) func(*World) bool {
	return func(w *World) bool { return slices.Contains(images, w.Shape.Image) }
}

// draftVersion draws a world, perhaps with a fault, and a version of a launch
// template, perhaps changed.
func draftVersion(seed uint64) (*World, *version) {
	r := rand.New(rand.NewPCG(seed, 0x6c74))
	w := worldFor(seed)
	v := &version{data: w.templateData(fleet{ami: w.image, role: "workers", data: userData(w.Shape.Image, w.start())}), subnets: w.Subnets}
	if what := w.breakOne(r); what != "" {
		v.what = append(v.what, what)
		v.data.UserData = w.givenUserData(v.data.UserData)
	}
	if r.IntN(2) == 0 {
		list := templateChanges()
		for i := r.IntN(len(list)); ; i = (i + 1) % len(list) {
			if c := list[i]; c.applies(w) {
				c.change(w, v)
				v.what = append(v.what, "plan: "+c.name)
				break
			}
		}
	}
	if r.IntN(2) == 0 {
		v.id = w.addTemplate("planned", v.data)
	}
	return w, v
}

// worldFor is a generated world whose young nodes' role is no role of Auto Mode, which
// is none for other nodes.
func worldFor(seed uint64) *World {
	w := New(seed)
	for skip := uint64(1); w.Shape.Image == AutoImage; skip++ {
		w = New(seed + skip*1_000_000)
	}
	return w
}

// breakOne breaks every other world by a fault that keeps new nodes out.
func (w *World) breakOne(r *rand.Rand, but ...string) string {
	if r.IntN(2) != 0 {
		return ""
	}
	faults := slices.DeleteFunc(Faults(), func(f Fault) bool {
		return !f.Applies(w) || f.reach == lets || f.reach == noLaunch || f.Name == hiddenFault || slices.Contains(but, f.Name)
	})
	f := faults[r.IntN(len(faults))]
	f.breaks(w)
	return "world: " + f.Name
}

// givenUserData is what a fault of user data made of it: it changed the young
// instances', where the plan takes after them.
func (w *World) givenUserData(have *string) *string {
	if text, ok := w.File.EC2.UserData[w.Young[0]]; ok {
		return &text
	}
	return have
}

// plan is the version as a user gives it to preflight.
func (v *version) plan(t *testing.T) preflight.Plan {
	t.Helper()
	p, err := preflight.ParseTemplateRef(v.id + ":1")
	if v.id == "" {
		data, failed := json.Marshal(map[string]any{"LaunchTemplateName": "planned", "LaunchTemplateData": v.data})
		if failed != nil {
			t.Fatal(failed)
		}
		p, err = preflight.Parse(withoutNulls(t, data))
	}
	if err != nil {
		t.Fatal(err)
	}
	p.In = v.subnets
	return p
}

// withoutNulls is a document as a person writes it: without what is not said.
func withoutNulls(t *testing.T, data []byte) []byte {
	t.Helper()
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(pruned(tree))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func pruned(tree any) any {
	switch v := tree.(type) {
	case map[string]any:
		for key, value := range v {
			if value = pruned(value); value == nil || value == "" {
				delete(v, key)
			} else {
				v[key] = value
			}
		}
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	}
	return tree
}

// group puts an Auto Scaling group without instances into the world, for a subnet:
// what launches from the version.
func (w *World) emptyGroup(name, template, subnet string) {
	w.File.AutoScaling.AutoScalingGroups = append(w.File.AutoScaling.AutoScalingGroups, astypes.AutoScalingGroup{
		AutoScalingGroupName: &name, MinSize: aws.Int32(0), MaxSize: aws.Int32(1), DesiredCapacity: aws.Int32(0), VPCZoneIdentifier: &subnet, CreatedTime: w.long(),
		LaunchTemplate: &astypes.LaunchTemplateSpecification{LaunchTemplateId: &template, Version: aws.String("1")},
		Tags:           []astypes.TagDescription{{Key: aws.String("kubernetes.io/cluster/" + cluster), Value: aws.String("owned"), PropagateAtLaunch: aws.Bool(true)}},
	})
}

// launched has groups launch one instance each, and tells what became of them:
// "joins" where each has a Ready node.
func launched(t *testing.T, w *world.World, groups []string) string {
	t.Helper()
	for _, name := range groups {
		if _, err := w.AutoScaling().SetDesiredCapacity(&autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: &name, DesiredCapacity: aws.Int32(1)}); err != nil {
			t.Fatal(err)
		}
	}
	w.Advance(w.Now().Add(making))
	out, err := w.AutoScaling().DescribeAutoScalingGroups(&autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: groups})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range out.AutoScalingGroups {
		if !slices.ContainsFunc(g.Instances, func(i astypes.Instance) bool { return w.IsReady(*i.InstanceId) }) {
			return fmt.Sprintf("%s has no Ready node", *g.AutoScalingGroupName)
		}
	}
	return joins
}

// TestPreflightOfTemplatesAgreesWithTheWorld holds that nodes of an Auto Scaling
// group join in each of its subnets where preflight accepts its launch template, and
// that they do not in all where it refuses it.
func TestPreflightOfTemplatesAgreesWithTheWorld(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(*planned) {
		w, v := draftVersion(seed)
		template := v.id
		if template == "" {
			template = w.addTemplate("launched", v.data)
		}
		var groups []string
		if v.subnets[0] != "subnet-0dead000000000000" { // a group of which the world would be no world
			for _, subnet := range v.subnets {
				groups = append(groups, "planned-"+subnet)
				w.emptyGroup("planned-"+subnet, template, subnet)
			}
		}
		made, err := world.New(w.File, world.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		verdict := verdictOf(t, w, made, v.plan(t))
		came := "refused: no such subnet"
		if len(groups) > 0 {
			came = launched(t, made, groups)
		}
		compare(t, counts, seed, w, v.what, verdict, came)
	}
	t.Logf("of %d: %v", *planned, counts)
	shares(t, counts)
	onPage(t, "launch templates", counts)
}

// compare counts what was said, and holds that the world says it too.
func compare(t *testing.T, counts map[string]int, seed uint64, w *World, what []string, v preflight.Verdict, came string) {
	t.Helper()
	said := saysOf(v)
	counts[said]++
	if said == expects && came == joins {
		counts[mistaken]++
	}
	if said == accepts && came != joins || said == refuses && came == joins {
		t.Errorf("seed %d: %v\n\tpreflight: %s%s\n\tthe world: %s\n\t%s", seed, what, said, verdictLine(v), came, w.Shape)
	}
}
