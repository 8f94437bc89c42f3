package worldgen

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

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
