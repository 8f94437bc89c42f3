package worldgen

import (
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/world"
	"rollcall/shared/preflight"
)

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
