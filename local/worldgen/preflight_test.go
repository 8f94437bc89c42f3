package worldgen

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/reading"
	"rollcall/local/simaws/world"
	"rollcall/local/testfull"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/preflight"
	"rollcall/shared/preflight/live"
)

// planned is how many of each kind are planned in as many worlds. By default that is
// about two for each way in which a plan or a world is broken here.
var planned = flag.Int("planned", testfull.Of(1000, 60), "how many nodegroups, launch templates, NodePools and subnets each to plan, judge and make")

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
		{"a template without public addresses", of(Public), func(w *World, p *plan) {
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
	sure := len(v.Refused) > 0 || slices.ContainsFunc(v.Causes, func(c diagnose.Cause) bool { return c.Confidence == checks.Certain })
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
// tell it accuses nobody.
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
			t.Errorf("seed %d: %v\n\tpreflight: %s%s\n\tthe world: %s\n\t%s", seed, p.what, said, told(v), came, w.Shape)
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

// onPage holds the page's row of a kind; with fewer plans than it tells of, it cannot.
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

// told is a verdict in a line.
func told(v preflight.Verdict) string {
	var text string
	for _, r := range v.Refused {
		text += fmt.Sprintf(" [%s: %s]", r.ID, r.Title)
	}
	for _, c := range v.Causes {
		if c.Confidence != checks.Advice {
			text += fmt.Sprintf(" [%s %s: %s]", c.Check, c.Confidence, c.Title)
		}
	}
	for _, u := range v.Unknown {
		text += fmt.Sprintf(" [? %s %v]", u.Check, u.Blocked)
	}
	return text
}
