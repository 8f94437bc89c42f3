package worldgen

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"go.yaml.in/yaml/v3"

	"rollcall/local/simaws/world"
	"rollcall/shared/preflight"
)

// nodePoolPlan is a NodePool in the making, with its class.
type nodePoolPlan struct {
	class map[string]any // of its manifest
	auto  bool
	ref   string
	// noImage tells that the class selects no image.
	noImage bool
	// held tells that the cluster has the class, and not the file.
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
