package karpenter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/trail"
)

// classTime is how often a class looks for its subnets, groups and images anew
// (KP controllers/nodeclass/subnet.go, RequeueAfter). Tags of subnets come no sooner.
const classTime = time.Minute

// class is what is known of an EC2NodeClass beside its object.
type class struct {
	object map[string]any
	spec   classSpec
	name   string
	// due is when it is looked at next, generation the one that was looked at.
	due        time.Time
	generation int64
	subnets    []*ec2types.Subnet
	groups     []string
	images     map[ec2types.ArchitectureValues]string
	profile    string
	// verdicts are what the dry runs said, by what they were asked with.
	verdicts map[string]verdict
}

// reconcileClasses brings the classes' conditions up to date, and tells when the
// next is due.
func (c *Controller) reconcileClasses() (again time.Time) {
	var check []*class
	c.locked(func() {
		for _, o := range c.k.Objects["ec2nodeclasses"] {
			if x := c.heldClass(o); x != nil {
				check = append(check, x)
			}
		}
	})
	for _, x := range check {
		c.validate(x)
	}
	c.locked(func() {
		for _, o := range c.k.Objects["ec2nodeclasses"] {
			again = earliest(again, c.classes[text(o, "metadata", "name")].due)
		}
	})
	return again
}

// heldClass looks at a class that is due; one whose parts are all there is returned,
// for the dry runs.
func (c *Controller) heldClass(o map[string]any) *class {
	name := text(o, "metadata", "name")
	x := c.classes[name]
	if x == nil {
		x = &class{name: name, verdicts: map[string]verdict{}}
		c.classes[name] = x
		c.heldInit(kindClass, o)
	}
	x.object = o
	if generation := kubestate.Generation(o); x.generation == generation && c.w.Now.Before(x.due) {
		return nil
	}
	x.generation, x.due, x.spec = kubestate.Generation(o), c.w.Now.Add(classTime), specOf[classSpec](o)
	c.heldImages(x)
	c.heldSubnets(x)
	c.heldGroups(x)
	c.heldProfile(x)
	// One that is False keeps the dry runs away, and so does one that is not known.
	status := yes
	for _, name := range dependents(kindClass) {
		if is := conditionOf(o, name).status; name != "ValidationSucceeded" && is != yes && status != no {
			status = is
		}
	}
	if status != yes {
		c.heldSet(kindClass, o, "ValidationSucceeded", status, "DependenciesNotReady", "Awaiting AMI, Instance Profile, Security Group, and Subnet resolution")
		return nil
	}
	return x
}

func (c *Controller) heldSubnets(x *class) {
	x.subnets = nil
	for _, s := range c.w.Subnets.All() {
		if chooses(x.spec.SubnetSelectorTerms, aws.ToString(s.SubnetId), "", tagsOf(s.Tags)) {
			x.subnets = append(x.subnets, s)
		}
	}
	slices.SortStableFunc(x.subnets, func(a, b *ec2types.Subnet) int {
		return cmp.Or(c.heldFree(b)-c.heldFree(a), strings.Compare(*a.SubnetId, *b.SubnetId))
	})
	var list []any
	for _, s := range x.subnets {
		list = append(list, map[string]any{"id": aws.ToString(s.SubnetId), "zone": aws.ToString(s.AvailabilityZone), "zoneID": aws.ToString(s.AvailabilityZoneId)})
	}
	c.heldFound(x, "subnets", list, "SubnetsReady", "SubnetsNotFound", "SubnetSelector did not match any Subnets")
}

// heldFree is how many addresses a subnet has left.
func (c *Controller) heldFree(s *ec2types.Subnet) int {
	if p := c.w.Pools[aws.ToString(s.SubnetId)]; p != nil {
		return p.Free()
	}
	return 0
}

func (c *Controller) heldGroups(x *class) {
	x.groups = nil
	var list []any
	for _, g := range c.w.SecurityGroups.All() {
		if chooses(x.spec.SecurityGroupSelectorTerms, aws.ToString(g.GroupId), aws.ToString(g.GroupName), tagsOf(g.Tags)) {
			x.groups = append(x.groups, aws.ToString(g.GroupId))
			list = append(list, map[string]any{"id": aws.ToString(g.GroupId), "name": aws.ToString(g.GroupName)})
		}
	}
	slices.Sort(x.groups)
	c.heldFound(x, "securityGroups", list, "SecurityGroupsReady", "SecurityGroupsNotFound", "SecurityGroupSelector did not match any SecurityGroups")
}

// heldImages finds the images. Those of an alias are EKS's own of the family, of
// which the newest here is the world's first of an architecture.
func (c *Controller) heldImages(x *class) {
	x.images = map[ec2types.ArchitectureValues]string{}
	var list []any
	for _, i := range c.w.Images.All() {
		fits := chooses(x.spec.AMISelectorTerms, aws.ToString(i.ImageId), aws.ToString(i.Name), tagsOf(i.Tags))
		for _, term := range x.spec.AMISelectorTerms {
			family, _, _ := strings.Cut(term.Alias, "@")
			fits = fits || family != "" && strings.HasPrefix(aws.ToString(i.Name), "amazon-eks-node-"+family+"-")
		}
		if _, have := x.images[i.Architecture]; !fits || have {
			continue
		}
		x.images[i.Architecture] = aws.ToString(i.ImageId)
		list = append(list, map[string]any{"id": aws.ToString(i.ImageId), "name": aws.ToString(i.Name), "requirements": []any{
			map[string]any{"key": "kubernetes.io/arch", "operator": "In", "values": []any{archOf(i.Architecture)}},
		}})
	}
	c.heldFound(x, "amis", list, "AMIsReady", "AMINotFound", "AMISelector did not match any AMIs")
}

func archOf(a ec2types.ArchitectureValues) string {
	if a == ec2types.ArchitectureValuesArm64 {
		return "arm64"
	}
	return "amd64"
}

// heldFound writes what was found into the status, and the condition of it.
func (c *Controller) heldFound(x *class, member string, list []any, name, reason, message string) {
	status, _ := x.object["status"].(map[string]any)
	if len(list) == 0 {
		delete(status, member)
		c.heldSet(kindClass, x.object, name, no, reason, message)
		return
	}
	status[member] = list
	c.heldSet(kindClass, x.object, name, yes, "", "")
}

// heldProfile finds the instance profile, or makes that of the class's role. Where
// there is no such role the condition stays as it is, and only a log tells
// (aws/karpenter-provider-aws#8223).
func (c *Controller) heldProfile(x *class) {
	x.profile = x.spec.InstanceProfile
	for _, p := range c.w.Profiles.All() {
		if x.profile == "" && len(p.Roles) > 0 && aws.ToString(p.Roles[0].RoleName) == x.spec.Role {
			x.profile = aws.ToString(p.InstanceProfileName)
		}
	}
	if role := c.w.Roles.Get(x.spec.Role); x.profile == "" && role != nil {
		x.profile = c.k.Name + "_" + ids.SHA256(c.k.Name + x.name)[:20]
		c.w.Profiles.Put(x.profile, &iamtypes.InstanceProfile{
			InstanceProfileName: aws.String(x.profile), InstanceProfileId: aws.String("AIPA" + strings.ToUpper(c.w.IDs.Hex(17))), Path: aws.String("/"),
			Arn: aws.String("arn:aws:iam::" + c.w.Account + ":instance-profile/" + x.profile), CreateDate: aws.Time(c.w.Now), Roles: []iamtypes.Role{role.Role},
		})
		for operation, parameters := range map[string]map[string]any{
			"iam:CreateInstanceProfile":    {"instanceProfileName": x.profile},
			"iam:AddRoleToInstanceProfile": {"instanceProfileName": x.profile, "roleName": x.spec.Role},
		} {
			trail.RecordHeld(c.w, trail.Call{Operation: operation, CallerARN: c.session(), Parameters: parameters})
		}
	}
	if x.profile == "" {
		return
	}
	status, _ := x.object["status"].(map[string]any)
	status["instanceProfile"] = x.profile
	c.heldSet(kindClass, x.object, "InstanceProfileReady", yes, "", "")
}

func tagsOf(tags []ec2types.Tag) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return out
}

// tags are those of what is launched for a NodePool (KP pkg/utils, GetTags).
func (c *Controller) tags(x *class, pool string) map[string]string {
	out := map[string]string{}
	for key, value := range x.spec.Tags {
		out[key] = value
	}
	out["kubernetes.io/cluster/"+c.k.Name] = "owned"
	out["karpenter.sh/nodepool"] = pool
	out["eks:eks-cluster-name"] = c.k.Name
	out["karpenter.k8s.aws/ec2nodeclass"] = x.name
	return out
}

// heldReady tells whether a class may launch, and if not, as which kind of error
// Karpenter takes that (KP pkg/cloudprovider, Create).
func (c *Controller) heldReady(name string) (*class, failure) {
	o := c.k.Find("ec2nodeclasses", "", name)
	x := c.classes[name]
	if o == nil || x == nil {
		return nil, failure{kind: unresolved, text: fmt.Sprintf("resolving nodeclass, EC2NodeClass.karpenter.k8s.aws %q not found", name)}
	}
	switch ready := conditionOf(o, "Ready"); {
	case ready.status == no, ready.status == yes && ready.generation != kubestate.Generation(o):
		return nil, failure{kind: notReady}
	case ready.status == unknown:
		return nil, failure{kind: refused, reason: "NodeClassReadinessUnknown", message: "NodeClass is in Ready=Unknown"}
	}
	return x, failure{}
}
