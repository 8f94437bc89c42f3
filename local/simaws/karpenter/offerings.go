package karpenter

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

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
