package worldgen

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"go.yaml.in/yaml/v3"

	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/preflight"
	"rollcall/shared/preflight/live"
	"rollcall/stage/reading"
	"rollcall/stage/simaws/world"
	"rollcall/tools/testfull"
)

// planned is how many of each kind are planned in as many worlds. By default that is
// about two for each way in which a plan or a world is broken here.
var planned = flag.Int("planned", testfull.Count(1000, 60), "how many nodegroups, launch templates, NodePools and subnets each to plan, judge and make")

// plan is a nodegroup in the making.
type plan struct {
	in map[string]any // as --cli-input-json has it
	// given is its launch template, nil for none.
	given *ec2types.ResponseLaunchTemplateData
	what  []string
}

func (p *plan) set(field string, value any) { p.in[field] = value }

// template is the data of the plan's launch template, made where there is none.
func (p *plan) template() *ec2types.ResponseLaunchTemplateData {
	if p.given == nil {
		p.given = &ec2types.ResponseLaunchTemplateData{}
	}
	return p.given
}

// change is one way in which a plan can be other than it should be, or only look so.
type change struct {
	name    string
	applies func(*World) bool
	change  func(*World, *plan)
}

// changes are those, beside what is wrong with the world.
func changes() []change {
	notWindows := linux
	return []change{
		{"a role that is not there", always, func(_ *World, p *plan) { p.set("nodeRole", roleARN("/", "nobody")) }},
		{"a role that is no ARN", always, func(_ *World, p *plan) { p.set("nodeRole", "workers") }},
		{"a subnet that is not there", always, func(_ *World, p *plan) { p.set("subnets", []string{"subnet-0dead000000000000"}) }},
		{"a subnet of another VPC", func(w *World) bool { return w.foreignSubnet() != "" }, func(w *World, p *plan) { p.set("subnets", []string{w.foreignSubnet()}) }},
		{"a type that is not there", always, func(_ *World, p *plan) { p.set("instanceTypes", []string{"m9.mega"}) }},
		{"a type of another architecture", always, func(_ *World, p *plan) { p.set("instanceTypes", []string{"m6g.large"}) }},
		{"several types", always, func(_ *World, p *plan) { p.set("instanceTypes", []string{"m5.large", "m5a.large", "c5.large"}) }},
		{"types of two architectures", always, func(_ *World, p *plan) { p.set("instanceTypes", []string{"m5.large", "m6g.large"}) }},
		{"an AMI type that is not there", always, func(_ *World, p *plan) { p.set("amiType", "AL2027_x86_64_STANDARD") }},
		{"an image of Amazon Linux 2 for a new cluster", func(w *World) bool { return w.version != "1.32" }, func(_ *World, p *plan) { p.set("amiType", "AL2_x86_64") }},
		{"sizes that contradict each other", always, func(_ *World, p *plan) {
			p.set("scalingConfig", map[string]any{"minSize": 3, "maxSize": 5, "desiredSize": 1})
		}},
		{"a name that is taken", managed, func(w *World, p *plan) { p.set("nodegroupName", w.nodegroup) }},
		{"another version", always, func(_ *World, p *plan) { p.set("version", "1.29") }},
		{"the cluster's version", always, func(w *World, p *plan) { p.set("version", w.version) }},
		{"a small disk", func(w *World) bool { return !w.Shape.Template && w.Shape.Groups == ClusterGroup }, func(_ *World, p *plan) { p.set("diskSize", 8) }},
		{"a large disk", func(w *World) bool { return w.Shape.Groups == ClusterGroup }, func(_ *World, p *plan) { p.set("diskSize", 200) }},
		{"a disk beside a template", always, func(_ *World, p *plan) {
			p.template()
			p.set("diskSize", 100)
		}},
		{"types in the template too", always, func(_ *World, p *plan) { p.template().InstanceType = instanceType }},
		{"types in the template alone", always, func(_ *World, p *plan) {
			p.template().InstanceType = instanceType
			delete(p.in, "instanceTypes")
		}},
		{"a profile in the template", always, func(w *World, p *plan) {
			p.template().IamInstanceProfile = &ec2types.LaunchTemplateIamInstanceProfileSpecification{Arn: &w.profile}
		}},
		{"a template that is not there", always, func(_ *World, p *plan) {
			p.set("launchTemplate", map[string]any{"id": "lt-0dead000000000000", "version": "1"})
		}},
		{"a version of a template that is not there", always, func(_ *World, p *plan) {
			p.template()
			p.set("launchTemplate", map[string]any{"version": "7"})
		}},
		{"an image of its own", notWindows, func(w *World, p *plan) {
			p.template().ImageId, p.template().UserData = &w.image, aws.String(userData(w.Shape.Image, w.start()))
			delete(p.in, "amiType")
		}},
		{"an image of its own, and an AMI type", notWindows, func(w *World, p *plan) {
			p.template().ImageId, p.template().UserData = &w.image, aws.String(userData(w.Shape.Image, w.start()))
		}},
		{"an image of its own that nobody tells where to join", func(w *World) bool { return w.Shape.Image == AL2023 || w.Shape.Image == AL2 }, func(w *World, p *plan) {
			p.template().ImageId = &w.image
			delete(p.in, "amiType")
		}},
		{"an image of its own that joins another cluster", notWindows, func(w *World, p *plan) {
			s := w.start()
			s.cluster = "staging"
			p.template().ImageId, p.template().UserData = &w.image, aws.String(userData(w.Shape.Image, s))
			delete(p.in, "amiType")
		}},
		{"an image for another architecture", notWindows, func(w *World, p *plan) {
			p.template().ImageId, p.template().UserData = &w.image, aws.String(userData(w.Shape.Image, w.start()))
			delete(p.in, "amiType")
			p.set("instanceTypes", []string{"m6g.large"})
		}},
		{"groups that let nothing out", always, func(w *World, p *plan) { p.template().SecurityGroupIds = []string{w.addGroup("closed", nil, nil)} }},
		{"groups that let all out and nothing in", always, func(w *World, p *plan) {
			p.template().SecurityGroupIds = []string{w.addGroup("open", nil, w.anywhere("-1", 0, 0))}
		}},
		{"a template without public addresses", egressIn(Public), func(w *World, p *plan) {
			p.template().NetworkInterfaces = []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecification{{DeviceIndex: aws.Int32(0), AssociatePublicIpAddress: aws.Bool(false), Groups: []string{w.nodeGroup}}}
			p.template().SecurityGroupIds = nil
		}},
		{"a metadata service that is off", always, func(_ *World, p *plan) {
			p.template().MetadataOptions = &ec2types.LaunchTemplateInstanceMetadataOptions{HttpEndpoint: ec2types.LaunchTemplateInstanceMetadataEndpointStateDisabled}
		}},
		{"a type that no zone has", always, func(w *World, _ *plan) { w.withhold(w.nodeZones(), string(instanceType)) }},
		{"a type that one zone does not have", always, func(w *World, _ *plan) { w.withhold(w.nodeZones()[:1], string(instanceType)) }},
		{"two types, each in another zone", always, func(w *World, p *plan) {
			p.set("instanceTypes", []string{"m5.large", "m5a.large"})
			w.withhold(w.nodeZones()[:1], "m5.large")
			w.withhold(w.nodeZones()[1:], "m5a.large")
		}},
		{"a subnet that is full", always, func(w *World, _ *plan) {
			for _, id := range w.Subnets {
				w.subnet(id).AvailableIpAddressCount = aws.Int32(0)
			}
		}},
	}
}

// foreignSubnet is a subnet of a VPC that is not the cluster's; empty for none.
func (w *World) foreignSubnet() string {
	for _, s := range w.File.EC2.Subnets {
		if *s.VpcId != w.vpc {
			return *s.SubnetId
		}
	}
	return ""
}

// nodeZones are those of the nodes' subnets.
func (w *World) nodeZones() []string {
	var list []string
	for _, id := range w.Subnets {
		list = append(list, *w.subnet(id).AvailabilityZone)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// withhold takes a type away from zones.
func (w *World) withhold(zones []string, name string) {
	if w.File.EC2.NotOffered == nil {
		w.File.EC2.NotOffered = map[string][]string{}
	}
	for _, z := range zones {
		w.File.EC2.NotOffered[z] = append(w.File.EC2.NotOffered[z], name)
	}
}

func (w *World) addGroup(name string, in, out []ec2types.IpPermission) string {
	id := w.id("sg")
	w.File.EC2.SecurityGroups = append(w.File.EC2.SecurityGroups, ec2types.SecurityGroup{
		GroupId: &id, VpcId: &w.vpc, GroupName: &name, Description: &name, IpPermissions: in, IpPermissionsEgress: out,
	})
	return id
}

// farGroup makes a copy of the nodes' security group in another VPC.
func (w *World) farGroup(associated bool) string {
	far := w.id("vpc")
	w.makeVPC(far, "10.251.0.0/16")
	g := *find(w.File.EC2.SecurityGroups, func(g *ec2types.SecurityGroup) bool { return *g.GroupId == w.nodeGroup })
	id := w.addGroup("far", g.IpPermissions, g.IpPermissionsEgress)
	find(w.File.EC2.SecurityGroups, func(g *ec2types.SecurityGroup) bool { return *g.GroupId == id }).VpcId = &far
	if associated {
		w.File.EC2.SecurityGroupVpcAssociations = append(w.File.EC2.SecurityGroupVpcAssociations, ec2types.SecurityGroupVpcAssociation{
			GroupId: &id, VpcId: &w.vpc, State: ec2types.SecurityGroupVpcAssociationStateAssociated,
		})
	}
	return id
}

// newPlan is the nodegroup that goes with a world's shape.
func newPlan(w *World) *plan {
	kinds := map[Image]string{AL2023: "AL2023_x86_64_STANDARD", AL2: "AL2_x86_64", Bottlerocket: "BOTTLEROCKET_x86_64", Windows: "WINDOWS_CORE_2022_x86_64"}
	p := &plan{in: map[string]any{
		"clusterName": cluster, "nodegroupName": "planned", "nodeRole": w.role, "subnets": w.Subnets, "amiType": kinds[w.Shape.Image], "instanceTypes": []string{string(instanceType)},
		"scalingConfig": map[string]any{"minSize": 1, "maxSize": len(w.Subnets) + 1, "desiredSize": len(w.Subnets)},
	}}
	if w.Shape.Groups != ClusterGroup {
		p.template().SecurityGroupIds = []string{w.nodeGroup}
	}
	return p
}

// settle puts the plan's launch template into the world, and writes the plan.
func (p *plan) settle(t *testing.T, w *World) []byte {
	t.Helper()
	if p.given != nil {
		ref, ok := p.in["launchTemplate"].(map[string]any)
		if !ok {
			ref = map[string]any{"version": "1"}
			p.in["launchTemplate"] = ref
		}
		if ref["id"] == nil {
			ref["id"] = w.addTemplate("planned-given", p.given)
		}
	}
	data, err := json.Marshal(p.in)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// hiddenFault works or not by what the servers forward, which nothing in the account
// tells: preflight says likely, and the world has no rule.
const hiddenFault = "name servers of one's own"

// draftOf draws a world, perhaps with a fault, and a plan, perhaps changed.
func draftOf(seed uint64) (*World, *plan) {
	r := rand.New(rand.NewPCG(seed, 0x706c616e))
	w := worldFor(seed)
	p := newPlan(w)
	if what := w.breakOne(r); what != "" {
		p.what = append(p.what, what)
	}
	if r.IntN(2) == 0 {
		list := slices.DeleteFunc(changes(), func(c change) bool { return !c.applies(w) })
		c := list[r.IntN(len(list))]
		c.change(w, p)
		p.what = append(p.what, "plan: "+c.name)
	}
	return w, p
}

// judged is what preflight says of a plan in a world, and how the world then
// makes it.
func judged(t *testing.T, w *World, text []byte) (preflight.Verdict, string) {
	t.Helper()
	made, err := world.New(w.File, world.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := preflight.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return verdictOf(t, w, made, parsed), becomes(t, made, text)
}

// verdictOf is what preflight says of a plan in a world.
func verdictOf(t *testing.T, w *World, made *world.World, parsed preflight.Plan) preflight.Verdict {
	t.Helper()
	a := reading.OfWorld(made, w.File)
	reader, closing, err := a.Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer closing()
	v, err := live.Judge(t.Context(), reader, parsed, live.Where{Account: a.ID, Region: a.Region, Cluster: cluster, Time: a.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// making is how long a nodegroup is given: longer than EKS waits for its nodes.
const making = 30 * time.Minute

// becomes makes the nodegroup, and tells what became of it: "joins", or why not.
func becomes(t *testing.T, w *world.World, text []byte) string {
	t.Helper()
	out, err := w.Call("eks:CreateNodegroup", text)
	if err != nil {
		return "refused: " + err.Error()
	}
	name := *out.(*eks.CreateNodegroupOutput).Nodegroup.NodegroupName
	w.Advance(w.Now().Add(making))
	got, err := w.EKS().DescribeNodegroup(&eks.DescribeNodegroupInput{ClusterName: aws.String(cluster), NodegroupName: &name})
	if err != nil {
		t.Fatal(err)
	}
	if got.Nodegroup.Status == ekstypes.NodegroupStatusActive {
		return joins
	}
	why := string(got.Nodegroup.Status)
	for _, i := range got.Nodegroup.Health.Issues {
		why += " " + string(i.Code)
	}
	return why
}

const joins = "joins"

// What preflight says of a plan.
const (
	accepts  = "accepted"
	refuses  = "refused"
	expects  = "likely to fail"
	cannot   = "cannot tell"
	mistaken = "likely to fail, and joined"
)

func saysOf(v preflight.Verdict) string {
	sure := len(v.Refused) > 0 || slices.ContainsFunc(v.Causes, func(c diagnosis.Cause) bool { return c.Confidence == finding.Certain })
	switch {
	case sure:
		return refuses
	case v.Fails():
		return expects
	case len(v.Unknown) > 0:
		return cannot
	}
	return accepts
}

// TestPreflightAgreesWithTheWorld holds that a nodegroup that preflight accepts is
// made and joins, and that one that it refuses is refused or does not join, by
// the world's own rules. What it calls likely fails nearly always; where it cannot
// tell it flags none.
func TestPreflightAgreesWithTheWorld(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(*planned) {
		w, p := draftOf(seed)
		v, came := judged(t, w, p.settle(t, w))
		said := saysOf(v)
		counts[said]++
		if said == expects && came == joins {
			counts[mistaken]++
		}
		if said == accepts && came != joins || said == refuses && came == joins {
			t.Errorf("seed %d: %v\n\tpreflight: %s%s\n\tthe world: %s\n\t%s", seed, p.what, said, verdictLine(v), came, w.Shape)
		}
	}
	t.Logf("of %d: %v", *planned, counts)
	shares(t, counts)
	onPage(t, "nodegroups", counts)
}

// shares holds that there are enough of what is accepted and refused, and that what
// is likely to fail mostly does.
func shares(t *testing.T, counts map[string]int) {
	t.Helper()
	for _, said := range []string{accepts, refuses} {
		if counts[said] < *planned/4 {
			t.Errorf("%s: %d of %d: the test is about less than it says", said, counts[said], *planned)
		}
	}
	// A template's groups that let in nothing are likely to be the cause where a node
	// is missing; beside a public endpoint nodes join with them. One alone is no share.
	if counts[mistaken] > 1 && counts[mistaken]*10 > counts[expects] {
		t.Errorf("%s: %d of %d", mistaken, counts[mistaken], counts[expects])
	}
}

// onPage holds the page's row of a kind; with fewer plans than it has, it cannot.
func onPage(t *testing.T, kind string, counts map[string]int) {
	t.Helper()
	if *planned != 1000 {
		return
	}
	page, err := os.ReadFile("../../docs/diagnose.md")
	if err != nil {
		t.Fatal(err)
	}
	of := func(said string, less int) string { return fmt.Sprintf("%d of %d", counts[said]-less, counts[said]) }
	row := fmt.Sprintf("| %s | %s | %s | %s | %d |", kind, of(accepts, 0), of(refuses, 0), of(expects, counts[mistaken]), counts[cannot])
	if !strings.Contains(string(page), row) {
		t.Errorf("docs/diagnose.md has not %s", row)
	}
}

// verdictLine is a verdict in a line.
func verdictLine(v preflight.Verdict) string {
	var text string
	for _, r := range v.Refused {
		text += fmt.Sprintf(" [%s: %s]", r.ID, r.Title)
	}
	for _, c := range v.Causes {
		if c.Confidence != finding.Advice {
			text += fmt.Sprintf(" [%s %s: %s]", c.Check, c.Confidence, c.Title)
		}
	}
	for _, u := range v.Unknown {
		text += fmt.Sprintf(" [? %s %v]", u.Check, u.Blocked)
	}
	return text
}

// poolChanges are ways in which a NodePool or its class can be other than it should
// be, or only look so.
func poolChanges() []struct {
	name    string
	applies func(*World) bool
	change  func(*World, *nodePoolPlan)
} {
	type change = struct {
		name    string
		applies func(*World) bool
		change  func(*World, *nodePoolPlan)
	}
	tagged := func(value string) []any { return []any{map[string]any{"tags": map[string]any{discovery: value}}} }
	return []change{
		{"a class that is nowhere", always, func(_ *World, p *nodePoolPlan) { p.ref = "nobody" }},
		{"a class that the cluster has", always, func(_ *World, p *nodePoolPlan) { p.held = true }},
		{"no subnet of the tag", always, func(_ *World, p *nodePoolPlan) { p.class["subnetSelectorTerms"] = tagged("nobody") }},
		{"any value of the tag", always, func(_ *World, p *nodePoolPlan) { p.class["subnetSelectorTerms"] = tagged("*") }},
		{"no security group of the tag", always, func(_ *World, p *nodePoolPlan) { p.class["securityGroupSelectorTerms"] = tagged("nobody") }},
		{"a security group that lets nothing out", always, func(w *World, p *nodePoolPlan) {
			p.class["securityGroupSelectorTerms"] = []any{map[string]any{"id": w.addGroup("closed", nil, nil)}}
		}},
		{"a security group by its name", always, func(w *World, p *nodePoolPlan) {
			g := w.securityGroup(w.nodeGroup)
			p.class["securityGroupSelectorTerms"] = []any{map[string]any{"name": *g.GroupName}}
		}},
		{"a role that is not there", always, func(_ *World, p *nodePoolPlan) { p.class["role"] = "nobody" }},
		{"a profile in place of a role", karpenters, func(_ *World, p *nodePoolPlan) {
			delete(p.class, "role")
			p.class["instanceProfile"] = "workers-profile"
		}},
		{"a role and a profile", karpenters, func(_ *World, p *nodePoolPlan) { p.class["instanceProfile"] = "workers-profile" }},
		{"a role that nobody lets in", karpenters, func(w *World, p *nodePoolPlan) {
			w.makeNodeRole("/", "strangers", Managed, true)
			p.class["role"] = "strangers"
		}},
		{"a zone without a subnet", always, func(_ *World, p *nodePoolPlan) { p.require("topology.kubernetes.io/zone", "In", nil, "us-west-2z") }},
		{"one of the zones", always, func(w *World, p *nodePoolPlan) {
			p.require("topology.kubernetes.io/zone", "In", nil, w.nodeZones()[0])
		}},
		{"a type", always, func(_ *World, p *nodePoolPlan) {
			p.require("node.kubernetes.io/instance-type", "In", named("m5.xlarge"), "m5.xlarge")
		}},
		{"a type that is not there beside one that is", always, func(_ *World, p *nodePoolPlan) {
			p.require("node.kubernetes.io/instance-type", "In", named("m5.xlarge"), "m9.mega", "m5.xlarge")
		}},
		{"a type that is not there", always, func(_ *World, p *nodePoolPlan) {
			p.require("node.kubernetes.io/instance-type", "In", named("m9.mega"), "m9.mega")
		}},
		{"a type that no zone has", always, func(w *World, p *nodePoolPlan) {
			p.require("node.kubernetes.io/instance-type", "In", named("m5.xlarge"), "m5.xlarge")
			w.withhold(w.nodeZones(), "m5.xlarge")
		}},
		{"a type that one zone does not have", always, func(w *World, p *nodePoolPlan) {
			p.require("node.kubernetes.io/instance-type", "In", named("m5.xlarge"), "m5.xlarge")
			w.withhold(w.nodeZones()[:1], "m5.xlarge")
		}},
		{"families", always, func(w *World, p *nodePoolPlan) {
			p.require(prefixOf(w)+"instance-family", "In", func(t ec2types.InstanceTypeInfo) bool { return slices.Contains([]string{"c5", "r5"}, family(t)) }, "c5", "r5")
		}},
		{"a family that is not there", always, func(w *World, p *nodePoolPlan) {
			p.require(prefixOf(w)+"instance-family", "In", func(ec2types.InstanceTypeInfo) bool { return false }, "zz9")
		}},
		{"categories of later generations", always, func(w *World, p *nodePoolPlan) {
			p.require(prefixOf(w)+"instance-category", "In", func(t ec2types.InstanceTypeInfo) bool { return strings.ContainsAny(family(t)[:1], "cm") }, "c", "m")
			p.require(prefixOf(w)+"instance-generation", "Gt", func(t ec2types.InstanceTypeInfo) bool { return family(t)[1] > '5' }, "5")
		}},
		{"few CPUs", always, func(w *World, p *nodePoolPlan) {
			p.require(prefixOf(w)+"instance-cpu", "Lt", func(t ec2types.InstanceTypeInfo) bool { return *t.VCpuInfo.DefaultVCpus < 8 }, "8")
		}},
		{"much memory", always, func(w *World, p *nodePoolPlan) {
			p.require(prefixOf(w)+"instance-memory", "Gt", func(t ec2types.InstanceTypeInfo) bool { return *t.MemoryInfo.SizeInMiB > 30000 }, "30000")
		}},
		{"more memory than any has", always, func(w *World, p *nodePoolPlan) {
			p.require(prefixOf(w)+"instance-memory", "Gt", func(t ec2types.InstanceTypeInfo) bool { return *t.MemoryInfo.SizeInMiB > 90_000_000 }, "90000000")
		}},
		{"a GPU, which no type has", always, func(w *World, p *nodePoolPlan) {
			p.require(prefixOf(w)+"instance-gpu-count", "Exists", func(t ec2types.InstanceTypeInfo) bool { return t.GpuInfo != nil })
		}},
		{"no GPU", always, func(w *World, p *nodePoolPlan) {
			p.require(prefixOf(w)+"instance-gpu-name", "DoesNotExist", func(t ec2types.InstanceTypeInfo) bool { return t.GpuInfo == nil })
		}},
		{"Arm", always, func(_ *World, p *nodePoolPlan) { p.require("kubernetes.io/arch", "In", isArm, "arm64") }},
		{"no Arm", always, func(_ *World, p *nodePoolPlan) {
			p.require("kubernetes.io/arch", "NotIn", func(t ec2types.InstanceTypeInfo) bool { return !isArm(t) }, "arm64")
		}},
		{"a metadata service that is off", karpenters, func(_ *World, p *nodePoolPlan) {
			p.class["metadataOptions"] = map[string]any{"httpEndpoint": "disabled"}
		}},
		{"an image by its id", aliases, func(w *World, p *nodePoolPlan) { p.image(w) }},
		{"an image by its tags", aliases, func(w *World, p *nodePoolPlan) {
			p.image(w)
			w.tagImage("golden", "yes")
			p.class["amiSelectorTerms"] = []any{map[string]any{"tags": map[string]any{"golden": "*"}}}
		}},
		{"an image by its name", aliases, func(w *World, p *nodePoolPlan) {
			p.image(w)
			i := w.tagImage("golden", "yes")
			*i.Name += "-golden"
			p.class["amiSelectorTerms"] = []any{map[string]any{"name": "*-golden"}}
		}},
		{"an image by tags that none has", aliases, func(w *World, p *nodePoolPlan) {
			p.image(w)
			p.class["amiSelectorTerms"], p.noImage = []any{map[string]any{"tags": map[string]any{"golden": "yes"}}}, true
		}},
		{"an image by its tags, of an owner whom the class does not name", aliases, func(w *World, p *nodePoolPlan) {
			p.image(w)
			i := w.tagImage("golden", "yes")
			i.OwnerId, i.ImageOwnerAlias = aws.String("999988887777"), nil
			p.class["amiSelectorTerms"], p.noImage = []any{map[string]any{"tags": map[string]any{"golden": "yes"}}}, true
		}},
		{"an image by its id for another architecture", aliases, func(w *World, p *nodePoolPlan) {
			p.image(w)
			p.require("kubernetes.io/arch", "In", isArm, "arm64")
		}},
		{"an image of one's own that nobody tells where to join", aliases, func(w *World, p *nodePoolPlan) {
			p.image(w)
			p.class["amiFamily"], p.class["userData"] = "Custom", "#!/bin/bash\necho hello\n"
		}},
		{"an image of one's own that is told", aliases, func(w *World, p *nodePoolPlan) {
			p.image(w)
			data, _ := base64.StdEncoding.DecodeString(userData(w.Shape.Image, w.start()))
			p.class["amiFamily"], p.class["userData"] = "Custom", string(data)
		}},
		{"an alias that nobody knows", karpenters, func(_ *World, p *nodePoolPlan) {
			p.class["amiSelectorTerms"] = []any{map[string]any{"alias": "ubuntu@latest"}}
		}},
		{"Amazon Linux 2 for a new cluster", func(w *World) bool { return karpenters(w) && w.version != "1.32" && w.Shape.Image == AL2023 }, func(_ *World, p *nodePoolPlan) {
			p.class["amiSelectorTerms"] = []any{map[string]any{"alias": "al2@latest"}}
		}},
		{"a class of Auto Mode where there is none", karpenters, func(_ *World, p *nodePoolPlan) {
			p.auto = true
			delete(p.class, "amiSelectorTerms")
		}},
		{"no public addresses", func(w *World) bool { return w.Shape.Egress == Public && karpenters(w) }, func(_ *World, p *nodePoolPlan) { p.class["associatePublicIPAddress"] = false }},
		{"a subnet that is full", always, func(w *World, _ *nodePoolPlan) {
			for _, id := range w.Subnets {
				w.subnet(id).AvailableIpAddressCount = aws.Int32(0)
			}
		}},
	}
}

// tagImage gives the world's own image a tag.
func (w *World) tagImage(key, value string) *ec2types.Image {
	i := find(w.File.EC2.Images, func(i *ec2types.Image) bool { return *i.ImageId == w.image })
	i.Tags = append(i.Tags, tag(key, value))
	return i
}

// prefixOf begins the labels of types: Karpenter's, or Auto Mode's.
func prefixOf(w *World) string {
	if w.Shape.Image == AutoImage {
		return "eks.amazonaws.com/"
	}
	return "karpenter.k8s.aws/"
}

// image names the world's own image.
func (p *nodePoolPlan) image(w *World) {
	_, kind := poolImage(w.Shape.Image)
	p.class["amiSelectorTerms"], p.class["amiFamily"] = []any{map[string]any{"id": w.image}}, kind
}

// nodePoolPlan is a NodePool in the making, with its class.
type nodePoolPlan struct {
	class map[string]any // of its manifest
	auto  bool
	ref   string
	// noImage is set where the class selects no image.
	noImage bool
	// held is set where the cluster has the class, and not the file.
	held         bool
	requirements []want
	what         []string
}

// want is a requirement, and the test's own rule for it.
type want struct {
	key, operator string
	values        []string
	meets         func(ec2types.InstanceTypeInfo) bool // nil for what is no type's
}

// discovery is the tag by which classes find what they use.
const discovery = "karpenter.sh/discovery"

// poolImage is how an EC2NodeClass names a kind of image.
func poolImage(image Image) (alias, family string) {
	switch image {
	case AL2:
		return "al2@latest", "AL2"
	case Bottlerocket:
		return "bottlerocket@latest", "Bottlerocket"
	case Windows:
		return "windows2022@latest", "Windows2022"
	}
	return "al2023@latest", "AL2023"
}

func (p *nodePoolPlan) require(key, operator string, meets func(ec2types.InstanceTypeInfo) bool, values ...string) {
	p.requirements = append(p.requirements, want{key, operator, values, meets})
}

func family(t ec2types.InstanceTypeInfo) string {
	name, _, _ := strings.Cut(string(t.InstanceType), ".")
	return name
}

func isArm(t ec2types.InstanceTypeInfo) bool {
	return slices.Contains(t.ProcessorInfo.SupportedArchitectures, ec2types.ArchitectureTypeArm64)
}

func named(names ...string) func(ec2types.InstanceTypeInfo) bool {
	return func(t ec2types.InstanceTypeInfo) bool { return slices.Contains(names, string(t.InstanceType)) }
}

func karpenters(w *World) bool { return w.Shape.Image != AutoImage }

func aliases(w *World) bool { return karpenters(w) && w.Shape.Image != Windows }

// draftPool draws a world, perhaps with a fault, and a NodePool, perhaps changed.
func draftPool(seed uint64) (*World, *nodePoolPlan) {
	r := rand.New(rand.NewPCG(seed, 0x6e70))
	w := New(seed)
	for _, id := range w.Subnets {
		w.subnet(id).Tags = append(w.subnet(id).Tags, tag(discovery, cluster))
	}
	g := w.securityGroup(w.nodeGroup)
	g.Tags = append(g.Tags, tag(discovery, cluster))
	mine := []any{map[string]any{"tags": map[string]any{discovery: cluster}}}
	p := &nodePoolPlan{auto: w.Shape.Image == AutoImage, ref: "planned", class: map[string]any{"role": "workers", "subnetSelectorTerms": mine, "securityGroupSelectorTerms": mine}}
	if !p.auto {
		alias, _ := poolImage(w.Shape.Image)
		p.class["amiSelectorTerms"] = []any{map[string]any{"alias": alias}}
	}
	if what := w.breakOne(r); what != "" {
		p.what = append(p.what, what)
	}
	if r.IntN(2) == 0 {
		list := poolChanges()
		for i := r.IntN(len(list)); ; i = (i + 1) % len(list) {
			if c := list[i]; c.applies(w) {
				c.change(w, p)
				p.what = append(p.what, "plan: "+c.name)
				break
			}
		}
	}
	return w, p
}

// manifests are the NodePool and its class, as kubectl takes them.
func (p *nodePoolPlan) manifests(t *testing.T, w *World) preflight.Plan {
	t.Helper()
	group, kind := "karpenter.k8s.aws", "EC2NodeClass"
	if p.auto {
		group, kind = "eks.amazonaws.com", "NodeClass"
	}
	var requirements []any
	for _, r := range p.requirements {
		requirements = append(requirements, map[string]any{"key": r.key, "operator": r.operator, "values": r.values})
	}
	class := map[string]any{"apiVersion": group + "/v1", "kind": kind, "metadata": map[string]any{"name": "planned"}, "spec": p.class}
	docs := []any{map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": "batch"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"nodeClassRef": map[string]any{"group": group, "kind": kind, "name": p.ref}, "requirements": requirements}}},
	}}
	if p.held {
		k := w.File.Kubernetes[cluster]
		if p.auto {
			k.NodeClasses = append(k.NodeClasses, class)
		} else {
			k.EC2NodeClasses = append(k.EC2NodeClasses, class)
		}
		w.File.Kubernetes[cluster] = k
	} else {
		docs = append(docs, class)
	}
	var text []string
	for _, doc := range docs {
		data, err := yaml.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, string(data))
	}
	plan, err := preflight.Parse([]byte(strings.Join(text, "---\n")))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// selected are the ids of what terms select, by the test's own rule.
func selected(terms any, id, name string, tags []ec2types.Tag) bool {
	return slices.ContainsFunc(terms.([]any), func(item any) bool {
		term := item.(map[string]any)
		if term["id"] != nil || term["name"] != nil {
			return term["id"] == id || term["name"] == name
		}
		want := term["tags"].(map[string]any)[discovery]
		return slices.ContainsFunc(tags, func(t ec2types.Tag) bool { return *t.Key == discovery && (want == "*" || *t.Value == want) })
	})
}

// launch is one instance that Karpenter would start.
type launch struct {
	subnet, kind, image string
	arm                 bool
	groups              []string
}

// launches are one for each subnet and architecture of which the NodePool makes
// nodes, by the test's own reading of the manifests, or why it makes none.
func (p *nodePoolPlan) launches(w *World, made *world.World, r *rand.Rand) ([]launch, string) {
	switch {
	case p.ref != "planned":
		return nil, "no class"
	case p.auto != (w.Shape.Image == AutoImage):
		return nil, "no Auto Mode"
	case p.class["role"] != nil && p.class["instanceProfile"] != nil:
		return nil, "two roles"
	case p.class["role"] == "nobody":
		return nil, "no role"
	case p.noImage:
		return nil, "no image"
	}
	alias, byAlias := "", false
	if !p.auto {
		alias, byAlias = p.class["amiSelectorTerms"].([]any)[0].(map[string]any)["alias"].(string)
		if alias == "ubuntu@latest" || alias == "al2@latest" && w.version != "1.32" {
			return nil, "no image"
		}
	}
	var subnets []ec2types.Subnet
	for _, s := range w.File.EC2.Subnets {
		if selected(p.class["subnetSelectorTerms"], *s.SubnetId, "", s.Tags) && !slices.ContainsFunc(p.requirements, func(r want) bool {
			return r.key == "topology.kubernetes.io/zone" && !slices.Contains(r.values, *s.AvailabilityZone)
		}) {
			subnets = append(subnets, s)
		}
	}
	var groups []string
	for _, g := range w.File.EC2.SecurityGroups {
		if selected(p.class["securityGroupSelectorTerms"], *g.GroupId, *g.GroupName, g.Tags) {
			groups = append(groups, *g.GroupId)
		}
	}
	if len(subnets) == 0 || len(groups) == 0 {
		return nil, "the class is not ready"
	}
	types, err := made.EC2().DescribeInstanceTypes(&ec2.DescribeInstanceTypesInput{})
	if err != nil {
		return nil, err.Error()
	}
	var list []launch
	for _, s := range subnets {
		for _, arm := range []bool{false, true} {
			if arm && (w.Shape.Image == Windows || !p.auto && !byAlias) {
				continue // no image
			}
			var fit []string
			for _, t := range types.InstanceTypes {
				if isArm(t) == arm && !slices.Contains(w.File.EC2.NotOffered[*s.AvailabilityZone], string(t.InstanceType)) &&
					!slices.ContainsFunc(p.requirements, func(r want) bool { return r.meets != nil && !r.meets(t) }) {
					fit = append(fit, string(t.InstanceType))
				}
			}
			if len(fit) == 0 {
				continue
			}
			image := w.image
			if byAlias || p.auto {
				image = "" // the newest of the architecture, which whoever launches knows
			}
			list = append(list, launch{*s.SubnetId, fit[r.IntN(len(fit))], image, arm, groups})
		}
	}
	if len(list) == 0 {
		return nil, "no type"
	}
	return list, ""
}

// makeProfile makes an instance profile of a role.
func (w *World) makeProfile(name, role string) {
	w.File.IAM.InstanceProfiles = append(w.File.IAM.InstanceProfiles, iamtypes.InstanceProfile{InstanceProfileName: &name, Roles: []iamtypes.Role{{RoleName: &role}}})
}

// groupOf is a group that starts a launch of Karpenter's, by a launch template of its
// own, as Karpenter does.
func (p *nodePoolPlan) groupOf(w *World, n int, l launch) string {
	name := "karpenter-" + strconv.Itoa(n)
	data := w.templateData(fleet{ami: l.image, role: "workers", data: userData(w.Shape.Image, w.start())})
	data.InstanceType, data.SecurityGroupIds = ec2types.InstanceType(l.kind), l.groups
	switch p.class["role"] {
	case "workers":
		data.IamInstanceProfile.Name = aws.String("karpenter-made")
	case "strangers":
		data.IamInstanceProfile.Name = aws.String("strangers-profile")
	}
	if m, ok := p.class["metadataOptions"].(map[string]any); ok {
		data.MetadataOptions.HttpEndpoint = ec2types.LaunchTemplateInstanceMetadataEndpointState(m["httpEndpoint"].(string))
	}
	if p.class["amiFamily"] == "Custom" {
		text, _ := p.class["userData"].(string)
		data.UserData = aws.String(base64.StdEncoding.EncodeToString([]byte(text)))
	}
	if public, ok := p.class["associatePublicIPAddress"].(bool); ok {
		data.NetworkInterfaces = []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecification{{DeviceIndex: aws.Int32(0), AssociatePublicIpAddress: &public, Groups: l.groups}}
		data.SecurityGroupIds = nil
	}
	data.TagSpecifications = []ec2types.LaunchTemplateTagSpecification{{ResourceType: ec2types.ResourceTypeInstance, Tags: []ec2types.Tag{
		tag("karpenter.sh/nodepool", "batch"), tag("karpenter.k8s.aws/ec2nodeclass", "planned"), tag("eks:eks-cluster-name", cluster),
	}}}
	w.emptyGroup(name, w.addTemplate(name, data), l.subnet)
	return name
}

// runAuto starts Auto Mode's instances, and tells what became of them.
func runAuto(t *testing.T, w *World, made *world.World, list []launch) string {
	t.Helper()
	var ids []string
	for _, l := range list {
		out, err := made.EC2().RunInstances(&ec2.RunInstancesInput{
			SubnetId: &l.subnet, InstanceType: ec2types.InstanceType(l.kind), ImageId: &l.image, SecurityGroupIds: l.groups, MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
			IamInstanceProfile: &ec2types.IamInstanceProfileSpecification{Name: aws.String("karpenter-made")}, Operator: &ec2types.OperatorRequest{Principal: aws.String("eks.amazonaws.com")},
			TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeInstance, Tags: []ec2types.Tag{
				tag("eks:eks-cluster-name", cluster), tag("eks:kubernetes-node-pool-name", "batch"), tag("eks:kubernetes-node-class-name", "planned"), tag("kubernetes.io/cluster/"+cluster, "owned"),
			}}},
		})
		if err != nil {
			return "refused: " + err.Error()
		}
		ids = append(ids, *out.Instances[0].InstanceId)
	}
	made.Advance(made.Now().Add(making))
	for i, id := range ids {
		if !made.IsReady(id) {
			return fmt.Sprintf("%s in %s is no Ready node", list[i].kind, list[i].subnet)
		}
	}
	return joins
}

// TestPreflightOfNodePoolsAgreesWithTheWorld holds that the nodes of a NodePool join
// in each subnet, of each architecture, where preflight accepts it, and that they do
// not in all, or there are none, where it refuses it.
func TestPreflightOfNodePoolsAgreesWithTheWorld(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(*planned) {
		w, p := draftPool(seed)
		plan := p.manifests(t, w)
		images := map[bool]string{false: w.makeImage(w.Shape.Image), true: w.makeImage(w.Shape.Image)}
		i := find(w.File.EC2.Images, func(i *ec2types.Image) bool { return *i.ImageId == images[true] })
		i.Architecture = ec2types.ArchitectureValuesArm64
		*i.Name = strings.ReplaceAll(*i.Name, "x86_64", "arm64")
		w.makeProfile("karpenter-made", "workers")
		bare, err := world.New(w.File, world.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		list, why := p.launches(w, bare, rand.New(rand.NewPCG(seed, 0x6c61)))
		var groups []string
		for n := range list {
			if list[n].image == "" {
				list[n].image = images[list[n].arm]
			}
			if !p.auto {
				groups = append(groups, p.groupOf(w, n, list[n]))
			}
		}
		made, err := world.New(w.File, world.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		v := verdictOf(t, w, made, plan)
		came := "makes none: " + why
		switch {
		case why != "":
		case p.auto:
			came = runAuto(t, w, made, list)
		default:
			came = launched(t, made, groups)
		}
		compare(t, counts, seed, w, p.what, v, came)
	}
	t.Logf("of %d: %v", *planned, counts)
	shares(t, counts)
	onPage(t, "NodePools", counts)
}

// subnetPlan is a subnet that is there, or one that would be made.
type subnetPlan struct {
	id string
	// in is what create-subnet takes; nil for one that is there.
	in   map[string]any
	what []string
}

// draftSubnet draws a world of managed nodegroups, perhaps with a fault, and a
// subnet for their next nodes.
func draftSubnet(seed uint64) (*World, *subnetPlan) {
	r := rand.New(rand.NewPCG(seed, 0x7370))
	w := worldFor(seed)
	for skip := uint64(1); w.Shape.Fleet != ManagedGroup || w.Shape.Image == AutoImage; skip++ {
		w = New(seed + skip*1_000_000)
	}
	p := &subnetPlan{}
	// The world lets the roles of nodegroups that are there in, whatever aws-auth says
	// now; which image EKS starts hangs on the AMI type, not on the one that is broken.
	if what := w.breakOne(r, "no aws-auth", "nobody let the role in", "aws-auth is no YAML", "the profile is mapped in place of the role",
		"the role is mapped with its path", "an image for another architecture"); what != "" {
		p.what = append(p.what, what)
	}
	free := w.block(250, 24).String()
	p.in = map[string]any{"VpcId": w.vpc, "CidrBlock": free, "AvailabilityZone": w.nodeZones()[0]}
	const mine = "one of the nodegroups'"
	switch kinds := []string{mine, mine, mine, mine, mine, mine, mine, mine, mine, mine, "another of the VPC", "one that is not there", "another VPC's", "planned", "planned", "planned, taken", "planned, outside of the VPC", "planned, in no zone", "planned, too small"}; kinds[r.IntN(len(kinds))] {
	case mine:
		p.in, p.id = nil, pick(r, w.Subnets...)
	case "another of the VPC":
		p.in, p.id = nil, pick(r, slices.Concat(w.private, w.public)...)
	case "one that is not there":
		p.in, p.id = nil, "subnet-0dead000000000000"
	case "another VPC's":
		if id := w.foreignSubnet(); id != "" {
			p.in, p.id = nil, id
		}
	case "planned, taken":
		p.in["CidrBlock"] = *w.subnet(w.Subnets[0]).CidrBlock
	case "planned, outside of the VPC":
		p.in["CidrBlock"] = "192.168.4.0/24"
	case "planned, in no zone":
		p.in["AvailabilityZone"] = "us-west-2z"
	case "planned, too small":
		p.in["CidrBlock"] = w.block(250, 29).String()
	}
	return w, p
}

// TestPreflightOfSubnetsAgreesWithTheWorld holds that the next node of each
// nodegroup joins in a subnet that preflight accepts, and not so all in one that it
// refuses, or that EC2 does not make it.
func TestPreflightOfSubnetsAgreesWithTheWorld(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(*planned) {
		w, p := draftSubnet(seed)
		before, err := world.New(w.File, world.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		v := verdictOf(t, w, before, p.plan(t))
		compare(t, counts, seed, w, append(p.what, p.text()), v, p.becomes(t, w, before))
	}
	t.Logf("of %d: %v", *planned, counts)
	shares(t, counts)
	onPage(t, "subnets", counts)
}

func (p *subnetPlan) text() string {
	if p.in == nil {
		return "subnet " + p.id
	}
	return "subnet " + p.in["CidrBlock"].(string)
}

func (p *subnetPlan) plan(t *testing.T) preflight.Plan {
	t.Helper()
	plan, err := preflight.ParseSubnet(p.id)
	if p.in != nil {
		data, failed := json.Marshal(p.in)
		if failed != nil {
			t.Fatal(failed)
		}
		plan, err = preflight.Parse(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// becomes makes the subnet where it can be, by EC2's rules as the test reads them,
// and has each nodegroup launch one more node there.
func (p *subnetPlan) becomes(t *testing.T, w *World, made *world.World) string {
	t.Helper()
	id := p.id
	if p.in != nil {
		block := netip.MustParsePrefix(p.in["CidrBlock"].(string))
		taken := slices.ContainsFunc(w.File.EC2.Subnets, func(s ec2types.Subnet) bool {
			return *s.VpcId == w.vpc && netip.MustParsePrefix(*s.CidrBlock).Overlaps(block)
		})
		if taken || block.Bits() > 28 || !w.range4.Contains(block.Addr()) || p.in["AvailabilityZone"] == "us-west-2z" {
			return "refused by EC2"
		}
		id = w.id("subnet")
		w.File.EC2.Subnets = append(w.File.EC2.Subnets, ec2types.Subnet{
			SubnetId: &id, VpcId: &w.vpc, CidrBlock: aws.String(block.String()), AvailabilityZone: aws.String(p.in["AvailabilityZone"].(string)), State: ec2types.SubnetStateAvailable,
		})
		for i := range w.File.EC2.NetworkAcls {
			if a := &w.File.EC2.NetworkAcls[i]; aws.ToBool(a.IsDefault) && *a.VpcId == w.vpc {
				a.Associations = append(a.Associations, ec2types.NetworkAclAssociation{NetworkAclId: a.NetworkAclId, SubnetId: &id, NetworkAclAssociationId: aws.String("aclassoc-0planned")})
			}
		}
		var err error
		if made, err = world.New(w.File, world.Options{Seed: 1}); err != nil {
			t.Fatal(err)
		}
	} else if s := w.subnet(id); s == nil || *s.VpcId != w.vpc {
		return "refused by EC2"
	}
	var groups []string
	for _, ng := range w.File.EKS.Nodegroups {
		groups = append(groups, *ng.Resources.AutoScalingGroups[0].Name)
	}
	had := members(t, made, groups)
	for i, g := range groups {
		if _, err := made.AutoScaling().UpdateAutoScalingGroup(&autoscaling.UpdateAutoScalingGroupInput{
			AutoScalingGroupName: &g, VPCZoneIdentifier: &id, DesiredCapacity: aws.Int32(int32(len(had[i].Instances) + 1)),
		}); err != nil {
			t.Fatal(err)
		}
	}
	made.Advance(made.Now().Add(making))
	for i, g := range members(t, made, groups) {
		if !slices.ContainsFunc(g.Instances, func(in astypes.Instance) bool {
			old := slices.ContainsFunc(had[i].Instances, func(o astypes.Instance) bool { return *o.InstanceId == *in.InstanceId })
			return !old && made.IsReady(*in.InstanceId)
		}) {
			return *g.AutoScalingGroupName + " has no new Ready node"
		}
	}
	return joins
}

func members(t *testing.T, w *world.World, groups []string) []astypes.AutoScalingGroup {
	t.Helper()
	var list []astypes.AutoScalingGroup
	for _, g := range groups {
		out, err := w.AutoScaling().DescribeAutoScalingGroups(&autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{g}})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, out.AutoScalingGroups...)
	}
	return list
}

// block is a range of the VPC that begins at its n-th /24.
func (w *World) block(n byte, bits int) netip.Prefix {
	a := w.range4.Addr().As4()
	a[2] = n
	return netip.PrefixFrom(netip.AddrFrom4(a), bits)
}
