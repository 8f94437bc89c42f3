package karpenter

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/ids"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/trail"
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

// heldReady returns whether a class may launch, and if not, as which kind of error
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

const (
	// poolMemory is how many launches of a NodePool count for its health, and half of
	// it how many failed ones make it ill (KC pkg/state/nodepoolhealth).
	poolMemory = 4
	healthy    = "NodeRegistrationHealthy"
)

// heldPools brings the NodePools' conditions and sums up to date
// (KC controllers/nodepool/readiness, /counter).
func (c *Controller) heldPools() {
	for _, o := range c.k.Objects["nodepools"] {
		c.heldInit(kindPool, o)
		c.heldSet(kindPool, o, "ValidationSucceeded", yes, "", "")
		name := specOf[poolSpec](o).Template.Spec.NodeClassRef.Name
		class := c.k.Find("ec2nodeclasses", "", name)
		switch ready := conditionOf(class, "Ready"); {
		case class == nil:
			c.heldSet(kindPool, o, "NodeClassReady", no, "NodeClassNotFound", "NodeClass not found on cluster")
		case ready.status == unknown:
			c.heldSet(kindPool, o, "NodeClassReady", no, "NodeClassReadinessUnknown", "Node Class Readiness Unknown")
		case ready.status == no:
			c.heldSet(kindPool, o, "NodeClassReady", no, ready.reason, ready.message)
		default:
			c.heldSet(kindPool, o, "NodeClassReady", yes, "", "")
		}
		c.heldShiftEvents(o)
		status, _ := o["status"].(map[string]any)
		cpu, memory, nodes := c.heldUsed(text(o, "metadata", "name"))
		status["resources"] = map[string]any{"cpu": strconv.Itoa(cpu), "memory": fmt.Sprintf("%dMi", memory), "nodes": strconv.Itoa(nodes)}
	}
}

// heldShiftEvents says once of a NodePool that a zone into which it can launch is shifted
// away from, and once that it no longer is (KP pkg/controllers/arczonalshift and
// pkg/cloudprovider/events).
func (c *Controller) heldShiftEvents(pool map[string]any) {
	spec := specOf[poolSpec](pool).Template.Spec
	x := c.classes[spec.NodeClassRef.Name]
	if x == nil {
		return
	}
	for _, s := range x.subnets {
		zone, id := aws.ToString(s.AvailabilityZone), aws.ToString(s.AvailabilityZoneId)
		allowed := !slices.ContainsFunc(spec.Requirements, func(r requirement) bool {
			return r.Key == labelZone && !r.admits(map[string]string{labelZone: zone})
		})
		key := text(pool, "metadata", "name") + "/" + id
		shifted := allowed && c.heldShifted(id)
		switch {
		case shifted && !c.shifted[key]:
			c.heldSay(kindPool, pool, "ZonalShiftActive", "Warning", fmt.Sprintf("Zonal shift detected: offerings in zone %s (%s) are unavailable for this NodePool", zone, id))
		case !shifted && c.shifted[key]:
			c.heldSay(kindPool, pool, "ZonalShiftCleared", "Normal", fmt.Sprintf("Zonal shift cleared: offerings in zone %s (%s) are restored for this NodePool", zone, id))
		}
		c.shifted[key] = shifted
	}
}

// heldUsed is what a NodePool's NodeClaims have.
func (c *Controller) heldUsed(pool string) (cpu, memory, nodes int) {
	for _, x := range c.claims {
		if x.pool != pool {
			continue
		}
		nodes++
		if info := c.w.InstanceTypes.Get(x.labels[labelType]); info != nil && info.VCpuInfo != nil && info.MemoryInfo != nil {
			cpu += int(aws.ToInt32(info.VCpuInfo.DefaultVCpus))
			memory += int(aws.ToInt64(info.MemoryInfo.SizeInMiB))
		}
	}
	return cpu, memory, nodes
}

// heldLimited reports whether a NodePool has what it may have: one more node of the
// smallest type would be too much.
func (c *Controller) heldLimited(pool string, limits map[string]json.RawMessage, smallest string) bool {
	cpu, memory, nodes := c.heldUsed(pool)
	if info := c.w.InstanceTypes.Get(smallest); info != nil && info.VCpuInfo != nil && info.MemoryInfo != nil {
		cpu += int(aws.ToInt32(info.VCpuInfo.DefaultVCpus))
		memory += int(aws.ToInt64(info.MemoryInfo.SizeInMiB))
	}
	over := func(name string, have int) bool {
		raw, ok := limits[name]
		if !ok {
			return false
		}
		text := strings.Trim(string(raw), `"`)
		scale := 1.0
		if name == "memory" {
			for unit, mib := range map[string]float64{"Gi": 1024, "Mi": 1, "Ti": 1024 * 1024} {
				if strings.HasSuffix(text, unit) {
					text, scale = strings.TrimSuffix(text, unit), mib
				}
			}
		}
		most, err := strconv.ParseFloat(text, 64)
		return err == nil && float64(have) > most*scale
	}
	return over("cpu", cpu) || over("memory", memory) || over("nodes", nodes+1)
}

// heldOutcome remembers how a NodeClaim's launch ended. Failed ones of which there
// are half as many as count make the NodePool's registration health False, with the
// launch's reason where it did not launch (KC lifecycle/liveness.go, registration.go).
func (c *Controller) heldOutcome(x *claim, joined bool) {
	o := c.k.Find("nodepools", "", x.pool)
	if o == nil {
		return
	}
	list := append(c.pools[x.pool], joined)
	list = list[max(0, len(list)-poolMemory):]
	c.pools[x.pool] = list
	failed := 0
	for _, well := range list {
		if !well {
			failed++
		}
	}
	launched := conditionOf(x.object, "Launched")
	switch {
	case joined && 2*failed < poolMemory:
		c.heldSet(kindPool, o, healthy, yes, "", "")
	case joined || 2*failed < poolMemory || conditionOf(o, healthy).status == no:
	case launched.status == yes:
		c.heldSet(kindPool, o, healthy, no, "RegistrationFailed", "Failed to register node")
	default:
		c.heldSet(kindPool, o, healthy, no, launched.reason, launched.message)
	}
}

const (
	labelPool     = "karpenter.sh/nodepool"
	labelClass    = "karpenter.k8s.aws/ec2nodeclass"
	labelCapacity = "karpenter.sh/capacity-type"
	labelType     = "node.kubernetes.io/instance-type"
	labelZone     = "topology.kubernetes.io/zone"
	// unavailableTime is how long an offering is left out that EC2 had none of
	// (KP pkg/cache, UnavailableOfferingsTTL).
	unavailableTime = 3 * time.Minute
	// mostTypes is how many instance types one call has (KP pkg/providers/instance,
	// maxInstanceTypes).
	mostTypes = 60
)

// offering is a type in a zone, on demand or Spot.
type offering struct{ kind, zone, capacity string }

// heldOfferings are those of a class that some requirements admit, the smallest type
// first. Those that EC2 had none of just now are left out, and those in a zone that is
// shifted away from (KP pkg/providers/arczonalshift, IsZonalShifted).
func (c *Controller) heldOfferings(x *class, labels map[string]string, wants []requirement) []offering {
	var out []offering
	zones := map[string]bool{}
	for _, s := range x.subnets {
		if !c.heldShifted(aws.ToString(s.AvailabilityZoneId)) {
			zones[aws.ToString(s.AvailabilityZone)] = true
		}
	}
	for _, info := range c.w.InstanceTypes.All() {
		if info.ProcessorInfo == nil || len(info.ProcessorInfo.SupportedArchitectures) == 0 {
			continue
		}
		arch := ec2types.ArchitectureValues(info.ProcessorInfo.SupportedArchitectures[0])
		if x.images[arch] == "" {
			continue
		}
		for _, zone := range slices.Sorted(maps.Keys(zones)) {
			for _, capacity := range []string{"on-demand", "spot"} {
				o := offering{string(info.InstanceType), zone, capacity}
				has := offeringLabels(info, arch, o)
				maps.Copy(has, labels)
				if c.unavailable[o].After(c.w.Now) || slices.ContainsFunc(wants, func(r requirement) bool { return !r.admits(has) }) {
					continue
				}
				out = append(out, o)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b offering) int {
		return cmp.Or(c.heldSize(a.kind)-c.heldSize(b.kind), strings.Compare(a.kind, b.kind))
	})
	return out
}

// heldShifted reports whether the integration is on, and the zone shifted away from for the
// cluster: Karpenter reads the cluster's own shifts.
func (c *Controller) heldShifted(zoneID string) bool {
	return c.f.ZonalShift && c.w.ClusterShifted(c.k.Name, zoneID)
}

// heldSize ranks types as their price does: by their memory.
func (c *Controller) heldSize(kind string) int {
	if t := c.w.InstanceTypes.Get(kind); t != nil && t.MemoryInfo != nil {
		return int(aws.ToInt64(t.MemoryInfo.SizeInMiB))
	}
	return 0
}

// offeringLabels are those by which requirements choose (KP docs, "Well-Known Labels").
func offeringLabels(info *ec2types.InstanceTypeInfo, arch ec2types.ArchitectureValues, o offering) map[string]string {
	family, size, _ := strings.Cut(o.kind, ".")
	digit := strings.IndexAny(family, "0123456789")
	out := map[string]string{
		labelType: o.kind, labelZone: o.zone, labelCapacity: o.capacity, "kubernetes.io/arch": archOf(arch), "kubernetes.io/os": "linux",
		"karpenter.k8s.aws/instance-family": family, "karpenter.k8s.aws/instance-size": size,
	}
	if digit > 0 {
		out["karpenter.k8s.aws/instance-category"], out["karpenter.k8s.aws/instance-generation"] = family[:digit], family[digit:digit+1]
	}
	if info.VCpuInfo != nil {
		out["karpenter.k8s.aws/instance-cpu"] = strconv.Itoa(int(aws.ToInt32(info.VCpuInfo.DefaultVCpus)))
	}
	if info.MemoryInfo != nil {
		out["karpenter.k8s.aws/instance-memory"] = strconv.FormatInt(aws.ToInt64(info.MemoryInfo.SizeInMiB), 10)
	}
	return out
}

// typesOf are the types of offerings, in their order, and not too many.
func typesOf(list []offering) []string {
	var out []string
	for _, o := range list {
		if !slices.Contains(out, o.kind) && len(out) < mostTypes {
			out = append(out, o.kind)
		}
	}
	return out
}

// heldTypesFor are the types that the dry runs ask with: those of the class's NodePools
// (KP validation.go, getPrioritizedInstanceTypes).
func (c *Controller) heldTypesFor(x *class) []string {
	var list []offering
	for _, o := range c.k.Objects["nodepools"] {
		if p := specOf[poolSpec](o); p.Template.Spec.NodeClassRef.Name == x.name {
			list = append(list, c.heldOfferings(x, nil, p.Template.Spec.Requirements)...)
		}
	}
	if len(list) == 0 {
		return []string{"m5.large"}
	}
	return typesOf(list)
}

// failedTime is how long Karpenter does not say again that a pod fits no NodePool
// (KC provisioning/scheduling/events.go).
const failedTime = 5 * time.Minute

// heldWaiting reports whether a pod waits which no NodeClaim is for.
func (c *Controller) heldWaiting() bool { return len(c.heldPods()) > 0 }

// heldPods are the pods that the scheduler has given up on and that no NodeClaim is
// for (KC pkg/utils/pod, IsProvisionable).
func (c *Controller) heldPods() []map[string]any {
	var out []map[string]any
	for _, p := range c.k.Objects["pods"] {
		if scheduled := conditionOf(p, "PodScheduled"); scheduled.status != no || scheduled.reason != "Unschedulable" || text(p, "spec", "nodeName") != "" {
			continue
		}
		uid := text(p, "metadata", "uid")
		if uid == "" || slices.ContainsFunc(c.claims, func(x *claim) bool { return !x.ending && slices.Contains(x.pods, uid) }) || ofDaemonSet(p) {
			continue
		}
		out = append(out, p)
	}
	return out
}

func ofDaemonSet(p map[string]any) bool {
	owners, _ := kubestate.At(p, "metadata", "ownerReferences").([]any)
	return slices.ContainsFunc(owners, func(o any) bool { return text(o, "kind") == "DaemonSet" })
}

// heldProvision makes NodeClaims for the pods that wait: those of one NodePool that
// want the same nodes share one. The pods of this world ask for no CPU and memory.
func (c *Controller) heldProvision() {
	type batch struct {
		pool map[string]any
		pods []map[string]any
	}
	batches := map[string]*batch{}
	pools := c.heldReadyPools()
	for _, p := range c.heldPods() {
		pool, why := c.heldPoolFor(p, pools)
		if pool == nil {
			if why != "" {
				c.heldUnfit(p, why)
			}
			continue
		}
		key := text(pool, "metadata", "name") + fmt.Sprint(podSelector(p))
		if batches[key] == nil {
			batches[key] = &batch{pool: pool}
		}
		batches[key].pods = append(batches[key].pods, p)
	}
	for _, key := range slices.Sorted(maps.Keys(batches)) {
		c.heldCreate(batches[key].pool, batches[key].pods)
	}
}

// heldReadyPools are the NodePools that may launch, the heaviest first: the others are
// passed over, of which only a log tells (KC provisioning/provisioner.go, NewScheduler).
func (c *Controller) heldReadyPools() []map[string]any {
	var out []map[string]any
	for _, o := range c.k.Objects["nodepools"] {
		if conditionOf(o, "Ready").status == yes && specOf[poolSpec](o).Replicas == nil {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b map[string]any) int {
		if x, y := specOf[poolSpec](a).Weight, specOf[poolSpec](b).Weight; x != y {
			return y - x
		}
		return strings.Compare(text(a, "metadata", "name"), text(b, "metadata", "name"))
	})
	return out
}

// heldPoolFor is the first NodePool that a pod fits, or why it fits none; without any
// NodePool nothing is said.
func (c *Controller) heldPoolFor(p map[string]any, pools []map[string]any) (map[string]any, string) {
	var why []string
	for _, o := range pools {
		spec, name := specOf[poolSpec](o), text(o, "metadata", "name")
		offerings := c.heldOfferings(c.classes[spec.Template.Spec.NodeClassRef.Name], poolLabels(name, spec), wantsOf(p, spec))
		switch t := untolerated(p, spec.Template.Spec.Taints); {
		case t != "":
			why = append(why, fmt.Sprintf("incompatible with nodepool %q, did not tolerate taint %s", name, t))
		case len(offerings) == 0:
			why = append(why, fmt.Sprintf("incompatible with nodepool %q, no instance type satisfied resources and requirements", name))
		case c.heldLimited(name, spec.Limits, offerings[0].kind):
			// serrors.Wrap writes what it is about behind the error (KC v1.14
			// provisioning/scheduling/scheduler.go, addToNewNodeClaim).
			why = append(why, fmt.Sprintf("all available instance types exceed limits for nodepool (NodePool=%s)", name))
		default:
			return o, ""
		}
	}
	return nil, strings.Join(why, "; ")
}

func (c *Controller) heldUnfit(p map[string]any, why string) {
	uid := text(p, "metadata", "uid")
	if at, told := c.failed[uid]; told && c.w.Now.Sub(at) < failedTime {
		return
	}
	c.failed[uid] = c.w.Now
	c.heldSay("Pod", p, "FailedScheduling", "Warning", "Failed to schedule pod, "+why)
}

func poolLabels(name string, spec poolSpec) map[string]string {
	labels := maps.Clone(spec.Template.Metadata.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[labelPool], labels[labelClass] = name, spec.Template.Spec.NodeClassRef.Name
	return labels
}

// wantsOf are the requirements of a NodePool and of a pod's node selector.
func wantsOf(p map[string]any, spec poolSpec) []requirement {
	wants := slices.Clone(spec.Template.Spec.Requirements)
	selector := podSelector(p)
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		wants = append(wants, requirement{Key: key, Operator: "In", Values: []string{selector[key]}})
	}
	return wants
}

func podSelector(p map[string]any) map[string]string {
	out := map[string]string{}
	selector, _ := kubestate.At(p, "spec", "nodeSelector").(map[string]any)
	for key, value := range selector {
		out[key] = fmt.Sprint(value)
	}
	return out
}

// untolerated is the first taint that keeps a pod away, as Kubernetes writes it.
func untolerated(p map[string]any, taints []taint) string {
	tolerations, _ := kubestate.At(p, "spec", "tolerations").([]any)
	for _, t := range taints {
		if t.Effect != "PreferNoSchedule" && !slices.ContainsFunc(tolerations, func(o any) bool {
			key, operator, effect := text(o, "key"), text(o, "operator"), text(o, "effect")
			return (key == t.Key || key == "" && operator == "Exists") && (effect == "" || effect == t.Effect) && (operator == "Exists" || text(o, "value") == t.Value)
		}) {
			return t.Key + "=" + t.Value + ":" + t.Effect
		}
	}
	return ""
}

// heldCreate makes the NodeClaim of pods (KC provisioning/scheduling/nodeclaimtemplate.go).
func (c *Controller) heldCreate(pool map[string]any, pods []map[string]any) {
	spec, name := specOf[poolSpec](pool), text(pool, "metadata", "name")
	labels, wants := poolLabels(name, spec), wantsOf(pods[0], spec)
	types := typesOf(c.heldOfferings(c.classes[spec.Template.Spec.NodeClassRef.Name], labels, wants))
	x := &claim{name: name + "-" + suffix(c.w.IDs.Hex(10)), pool: name, class: spec.Template.Spec.NodeClassRef.Name, labels: labels, wants: wants,
		startup: spec.Template.Spec.StartupTaints}
	for _, p := range pods {
		x.pods = append(x.pods, text(p, "metadata", "uid"))
	}
	shown := append(slices.Clone(wants), requirement{Key: labelType, Operator: "In", Values: types}, requirement{Key: labelPool, Operator: "In", Values: []string{name}})
	x.object = map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": kindClaim,
		"metadata": map[string]any{
			"name": x.name, "generateName": name + "-", "uid": c.w.IDs.UUID(), "generation": int64(1), "creationTimestamp": kubestate.Time(c.w.Now),
			"labels": plainOf(labels), "finalizers": []any{"karpenter.sh/termination"}, "annotations": map[string]any{},
			"ownerReferences": []any{map[string]any{"apiVersion": "karpenter.sh/v1", "kind": kindPool, "name": name, "uid": text(pool, "metadata", "uid"),
				"blockOwnerDeletion": true}},
		},
		"spec": map[string]any{
			"nodeClassRef": plainOf(spec.Template.Spec.NodeClassRef), "requirements": plainOf(shown), "expireAfter": "720h",
			"resources": map[string]any{"requests": map[string]any{"pods": fmt.Sprint(len(pods))}},
		},
		"status": map[string]any{},
	}
	own, _ := x.object["spec"].(map[string]any)
	if len(spec.Template.Spec.Taints) > 0 {
		own["taints"] = plainOf(spec.Template.Spec.Taints)
	}
	if len(spec.Template.Spec.StartupTaints) > 0 {
		own["startupTaints"] = plainOf(spec.Template.Spec.StartupTaints)
	}
	c.heldInit(kindClaim, x.object)
	c.claims = append(c.claims, x)
	c.k.Objects["nodeclaims"] = append(c.k.Objects["nodeclaims"], x.object)
	c.k.Touch(x.object)
	for _, p := range pods {
		c.heldSay("Pod", p, "Nominated", "Normal", "Pod should schedule on: nodeclaim/"+x.name)
	}
}

// suffix is what the API server adds to a generated name: five of the letters and
// digits that make no words (k8s.io/apimachinery pkg/util/rand).
func suffix(digits string) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	var b strings.Builder
	for i := 0; i+2 <= len(digits) && b.Len() < 5; i += 2 {
		n := 0
		_, _ = fmt.Sscanf(digits[i:i+2], "%x", &n) // they are digits
		b.WriteByte(alphabet[n%len(alphabet)])
	}
	return b.String()
}

// requirement is one of spec.requirements.
type requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

type taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

type classRef struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
}

// poolSpec is what a NodePool wants.
type poolSpec struct {
	Weight   int
	Replicas *int
	Limits   map[string]json.RawMessage
	Template struct {
		Metadata struct{ Labels map[string]string }
		Spec     struct {
			NodeClassRef  classRef
			Requirements  []requirement
			Taints        []taint
			StartupTaints []taint
			ExpireAfter   string
		}
	}
}

// selector is a term by which a class finds subnets, security groups or images.
type selector struct {
	ID, Name, Alias string
	Tags            map[string]string
}

// classSpec is what an EC2NodeClass wants.
type classSpec struct {
	Role, InstanceProfile      string
	UserData                   string
	SubnetSelectorTerms        []selector
	SecurityGroupSelectorTerms []selector
	AMISelectorTerms           []selector
	Tags                       map[string]string
	AssociatePublicIPAddress   *bool
}

// specOf reads an object's spec. What is of another form is as if it were not there:
// the API server refuses it.
func specOf[T any](o map[string]any) T {
	var out T
	if b, err := json.Marshal(o["spec"]); err == nil {
		_ = json.Unmarshal(b, &out)
	}
	return out
}

// plainOf is a value as a Kubernetes object has it.
func plainOf(v any) any {
	var out any
	if b, err := json.Marshal(v); err == nil {
		_ = json.Unmarshal(b, &out) // what was just written can be read
	}
	return out
}

// admits reports whether labels meet a requirement (Kubernetes, node selector
// operators, and Karpenter's Gte and Lte).
func (r requirement) admits(labels map[string]string) bool {
	have, ok := labels[r.Key]
	number := func(than func(have, want int) bool) bool {
		a, err1 := strconv.Atoi(have)
		if len(r.Values) != 1 {
			return false
		}
		b, err2 := strconv.Atoi(r.Values[0])
		return err1 == nil && err2 == nil && than(a, b)
	}
	switch r.Operator {
	case "In":
		return ok && slices.Contains(r.Values, have)
	case "NotIn":
		return !ok || !slices.Contains(r.Values, have)
	case "Exists":
		return ok
	case "DoesNotExist":
		return !ok
	case "Gt":
		return number(func(a, b int) bool { return a > b })
	case "Lt":
		return number(func(a, b int) bool { return a < b })
	case "Gte":
		return number(func(a, b int) bool { return a >= b })
	case "Lte":
		return number(func(a, b int) bool { return a <= b })
	}
	return false
}

// chooses reports whether one of some terms fits: by id, or by name and tags, where
// "*" is any value of a tag (KP docs, "NodeClasses", spec.subnetSelectorTerms).
func chooses(terms []selector, id, name string, tags map[string]string) bool {
	return slices.ContainsFunc(terms, func(s selector) bool {
		if s.ID != "" {
			return s.ID == id
		}
		if s.Name != "" && s.Name != name || s.Name == "" && len(s.Tags) == 0 {
			return false
		}
		for key, value := range s.Tags {
			if have, ok := tags[key]; !ok || value != "*" && value != have {
				return false
			}
		}
		return true
	})
}

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
