package preflight

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/snapshot"
)

const (
	typeLabel     = "node.kubernetes.io/instance-type"
	archLabel     = "kubernetes.io/arch"
	osLabel       = "kubernetes.io/os"
	capacityLabel = "karpenter.sh/capacity-type"
)

// namedTypes are the types that the NodePools name; none where one of them leaves
// it to what zones offer.
func (p *PoolsPlan) namedTypes() []string {
	var list []string
	for _, pool := range p.pools {
		named := typesNamed(pool.observed())
		if len(named) == 0 {
			return nil
		}
		list = append(list, named...)
	}
	return distinct(list)
}

func typesNamed(p snapshot.NodePool) []string {
	for _, r := range p.Requirements {
		if r.Key == typeLabel && r.Operator == "In" {
			return r.Values
		}
	}
	if name := p.Labels[typeLabel]; name != "" {
		return []string{name}
	}
	return nil
}

// allows tells that a NodePool's requirements and labels take a value of a label.
func allows(p snapshot.NodePool, key, value string) bool {
	if have, fixed := p.Labels[key]; fixed && have != value {
		return false
	}
	return !slices.ContainsFunc(p.Requirements, func(r snapshot.Requirement) bool { return r.Key == key && !meets(r, value) })
}

// meets tells that a value meets a requirement (kubernetes-sigs/karpenter
// pkg/scheduling/requirement.go).
func meets(r snapshot.Requirement, value string) bool {
	number := func(text string) float64 {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return math.NaN() // which is neither above nor below anything
		}
		return n
	}
	bound := math.NaN()
	if len(r.Values) > 0 {
		bound = number(r.Values[0])
	}
	switch r.Operator {
	case "In":
		return slices.Contains(r.Values, value)
	case "NotIn":
		return !slices.Contains(r.Values, value)
	case "DoesNotExist":
		return value == ""
	case "Exists":
		return value != ""
	case "Gt":
		return number(value) > bound
	case "Gte":
		return number(value) >= bound
	case "Lt":
		return number(value) < bound
	case "Lte":
		return number(value) <= bound
	}
	return true
}

// typeName takes the category and the generation of a type's name apart, as
// Karpenter does (aws/karpenter-provider-aws pkg/providers/instancetype/types.go,
// instanceTypeScheme).
var typeName = regexp.MustCompile(`^([a-z]+)(?:-[0-9]+tb)?([0-9]+).*\.`)

// labelsOfName are the labels that a type's name gives.
func labelsOfName(name string) map[string]string {
	labels := map[string]string{"instance-family": "", "instance-size": ""}
	labels["instance-family"], labels["instance-size"], _ = strings.Cut(name, ".")
	if m := typeName.FindStringSubmatch(name); m != nil {
		labels["instance-category"], labels["instance-generation"] = m[1], m[2]
	}
	return labels
}

// takes tells that a NodePool takes a type, as far as labels under Karpenter's and
// Auto Mode's prefixes are known here.
func takes(p snapshot.NodePool, labels map[string]string) bool {
	for key, value := range labels {
		if !allows(p, snapshot.KarpenterGroup+"/"+key, value) || !allows(p, snapshot.AutoModeGroup+"/"+key, value) {
			return false
		}
	}
	return true
}

// candidates are the types that the zones offer and a NodePool takes by their
// names. Where nobody could look at the offers it is those that it names.
func (d *Draft) candidates(n *nodes, zones map[string]bool) []string {
	named := typesNamed(*n.pool)
	if !d.S.Has(snapshot.TypeOfferingsOf) {
		n.unlike = len(named) == 0
		return cmpOr(slices.Clone(named), []string{defaultType})
	}
	var list []string
	for _, o := range d.S.TypeOfferings {
		offered := slices.ContainsFunc(o.Zones, func(z string) bool { return zones[z] })
		if offered && allows(*n.pool, typeLabel, o.Type) && takes(*n.pool, labelsOfName(o.Type)) {
			list = append(list, o.Type)
		}
	}
	return list
}

// labelsOfType are the labels that EC2's description of a type gives; empty where a type
// has none (aws/karpenter-provider-aws pkg/providers/instancetype/types.go,
// computeRequirements; EKS user guide, "Create a Node Pool for EKS Auto Mode", which has
// the same under its own prefix). The bandwidth of the network is in a table of
// Karpenter's alone.
func labelsOfType(t snapshot.InstanceType) map[string]string {
	kebab := func(text string) string { return strings.ToLower(strings.ReplaceAll(text, " ", "-")) }
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	labels := map[string]string{
		"instance-cpu": strconv.Itoa(t.CPUs), "instance-hypervisor": t.Hypervisor, "instance-memory": number(t.MemoryMiB), "instance-cpu-manufacturer": kebab(t.CPUMaker),
		"instance-ebs-bandwidth": number(t.EBSMbps), "instance-local-nvme": number(t.LocalNVMeGB), "instance-encryption-in-transit-supported": strconv.FormatBool(t.EncryptsInTransit),
	}
	for kind, d := range map[string]snapshot.Device{"gpu": t.GPU, "accelerator": t.Accelerator} {
		labels["instance-"+kind+"-name"], labels["instance-"+kind+"-manufacturer"], labels["instance-"+kind+"-count"] = kebab(d.Name), kebab(d.Maker), number(d.Count)
	}
	labels["instance-gpu-memory"] = number(t.GPU.MemoryMiB)
	if t.MemoryMiB == 0 {
		delete(labels, "instance-memory") // EC2 tells it of each: nobody read it
	}
	return labels
}

// fits tells that a NodePool and the images of its class take a described type.
func (n *nodes) fits(t snapshot.InstanceType) bool {
	if !takes(*n.pool, labelsOfType(t)) {
		return false
	}
	return slices.ContainsFunc(t.Architectures, func(a string) bool {
		imaged := len(n.stocks) == 0 || slices.ContainsFunc(n.stocks, func(i *snapshot.Image) bool { return i.Architecture == a })
		return imaged && allows(*n.pool, archLabel, map[string]string{"x86_64": "amd64", "arm64": "arm64"}[a])
	})
}

// represent keeps one type for each architecture: what keeps nodes out is told of
// types by it alone. It is the one with the fewest CPUs of two and more, for the
// smallest types take few pods.
func (d *Draft) represent(n *nodes) {
	if n.unlike || !d.S.Has(snapshot.InstanceTypes) {
		n.types = n.types[:min(len(n.types), 1)]
		return
	}
	best := map[string]snapshot.InstanceType{}
	better := func(a, b snapshot.InstanceType) int {
		small := func(t snapshot.InstanceType) int {
			if t.CPUs < 2 {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(small(a), small(b)), cmp.Compare(a.CPUs, b.CPUs), cmp.Compare(b.Interfaces*b.IPv4PerInterface, a.Interfaces*a.IPv4PerInterface), strings.Compare(a.Name, b.Name))
	}
	for _, t := range d.S.InstanceTypes {
		if !slices.Contains(n.types, t.Name) || !n.fits(t) || len(t.Architectures) == 0 {
			continue
		}
		arch := t.Architectures[len(t.Architectures)-1] // i386 comes before x86_64
		if have, ok := best[arch]; !ok || better(t, have) < 0 {
			best[arch] = t
		}
	}
	n.types = nil
	for _, arch := range sortedKeys(best) {
		n.types = append(n.types, best[arch].Name)
	}
}
