package scheduling

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/network/branch"
	"rollcall/shared/snapshot"
)

// candidate is an instance type that a pool may launch, or a size of any family, or
// anything at all, where both are empty.
type candidate struct{ family, size string }

// SmallestNodes are the nodes that a pool's requirements and those of a pod leave. Karpenter
// leaves out each type that has more of a resource than the limits leave
// (kubernetes-sigs/karpenter pkg/controllers/provisioning/scheduling/scheduler.go,
// filterByRemainingResources). Types that are described count as they are, of others only
// what their names tell. Known has the families and categories of the requirements count
// as the types that there were on branch.AsOf: there may be newer ones.
func SmallestNodes(p snapshot.NodePool, w *snapshot.WaitingPod, described []snapshot.InstanceType, known bool) []map[string]*big.Rat {
	needs := slices.Clone(p.Requirements)
	asks := map[string]*big.Rat{}
	if w != nil {
		for _, key := range sortedKeys(w.Selector) {
			needs = append(needs, snapshot.Requirement{Key: key, Operator: "In", Values: []string{w.Selector[key]}})
		}
		if len(w.Terms) == 1 {
			needs = append(needs, w.Terms[0].Labels...)
		}
		asks = Asks(w)
	}
	var nodes []map[string]*big.Rat
	for _, c := range candidates(needs, known) {
		i := slices.IndexFunc(described, func(t snapshot.InstanceType) bool { return t.Name == c.family+"."+c.size })
		var as *snapshot.InstanceType
		if i >= 0 {
			as = &described[i]
		}
		if node, fits := c.least(needs, asks, as); fits {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// NamesFamilies reports whether a pool's requirements name families, categories or
// generations: of what sizes these are only the table of known types tells.
func NamesFamilies(p snapshot.NodePool) bool {
	return slices.ContainsFunc(p.Requirements, func(r snapshot.Requirement) bool {
		return slices.Contains([]string{"family", "category", "generation"}, about(r.Key))
	})
}

// about is the part of a requirement's key that says what of a type it is about.
func about(key string) string {
	switch key {
	case "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type":
		return "type"
	case "kubernetes.io/arch", "beta.kubernetes.io/arch":
		return "arch"
	}
	for _, group := range []string{snapshot.KarpenterGroup, snapshot.AutoModeGroup} {
		if name, is := strings.CutPrefix(key, group+"/instance-"); is {
			return name
		}
	}
	return ""
}

// candidates are the types or sizes that the requirements list, else any, or all that are
// known.
func candidates(needs []snapshot.Requirement, known bool) (list []candidate) {
	lists := func(what string) (values []string, is bool) {
		for _, r := range needs {
			if about(r.Key) == what && r.Operator == "In" {
				return r.Values, true
			}
		}
		return nil, false
	}
	switch types, byType := lists("type"); {
	case byType:
		for _, t := range types {
			family, size, _ := strings.Cut(t, ".")
			list = append(list, candidate{family, size})
		}
	case known:
		families, _ := lists("family")
		for _, t := range branch.Types() {
			list = append(list, candidate{t[0], t[1]})
		}
		for _, f := range families {
			if !slices.ContainsFunc(list, func(c candidate) bool { return c.family == f }) {
				list = append(list, candidate{family: f}) // newer than the table
			}
		}
	default:
		sizes, bySize := lists("size")
		for _, size := range sizes {
			list = append(list, candidate{size: size})
		}
		if !bySize {
			list = append(list, candidate{})
		}
	}
	return slices.DeleteFunc(list, func(c candidate) bool {
		return slices.ContainsFunc(needs, func(r snapshot.Requirement) bool { return !c.allowed(r) })
	})
}

// familyForm is a family: its category, its generation, and the rest
// (aws/karpenter-provider-aws pkg/providers/instancetype/types.go, instanceTypeScheme).
var familyForm = regexp.MustCompile(`^([a-z]+)-?(\d*)([a-z-]*)`)

// allowed reports whether a type may meet a requirement, as far as its name tells.
func (c candidate) allowed(r snapshot.Requirement) bool {
	m := familyForm.FindStringSubmatch(c.family)
	value := ""
	switch about(r.Key) {
	case "type":
		if value = c.family + "." + c.size; c.family == "" || c.size == "" {
			return true
		}
	case "family":
		value = c.family
	case "size":
		value = c.size
	case "category":
		value = at(m, 1)
	case "generation":
		value = at(m, 2)
	case "arch":
		if c.family == "" {
			return true
		}
		value = "amd64"
		if c.family == "a1" || strings.HasPrefix(at(m, 3), "g") { // Graviton
			value = "arm64"
		}
	}
	return value == "" || requires(r, value, true, true) != FitsNot
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// cpus are how many vCPUs a size has: at the least, and at the most. EC2 has two per
// "large" and four per "xlarge" and multiple of it; of its types for high-performance
// computing it counts cores, which are half as many, and some types have a few more
// (c4.8xlarge 36).
func (c candidate) cpus() (least, most int64) {
	metal, rest := strings.CutPrefix(c.size, "metal-")
	size := c.size
	if rest {
		size = strings.Replace(metal, "xl", "xlarge", 1)
	}
	number, is := strings.CutSuffix(size, "xlarge")
	n, err := strconv.ParseInt(number, 10, 32)
	switch {
	case size == "large":
		return 2, 2
	case size == "nano", size == "micro", size == "small", size == "medium":
		return 1, 2
	case size == "xlarge":
		return 4, 4
	case is && err == nil && (c.family == "" || strings.HasPrefix(c.family, "h")) && n >= 8:
		return 2 * n, 5 * n
	case is && err == nil:
		return 4 * n, 5 * n
	case size == "metal":
		return 8, 1 << 20
	}
	return 1, 1 << 20
}

// perCPU is how much memory the families of a category have per vCPU at the least, in MiB:
// c 2 GiB, m 4, r 8, a little less in the old ones.
func perCPU(family string) int64 {
	return map[string]int64{"c": 1800, "m": 3700, "r": 7500}[at(familyForm.FindStringSubmatch(family), 1)]
}

// least is what a node of the type has at the least; false for one that the requirements
// rule out, or that the pod does not fit.
func (c candidate) least(needs []snapshot.Requirement, asks map[string]*big.Rat, as *snapshot.InstanceType) (map[string]*big.Rat, bool) {
	cpu, mostCPU := c.cpus()
	mib, gpus := cpu*perCPU(c.family), int64(0)
	if as != nil && as.CPUs > 0 {
		cpu, mostCPU, mib, gpus = int64(as.CPUs), int64(as.CPUs), int64(as.MemoryMiB), int64(as.GPU.Count)
	}
	for what, value := range map[string]*int64{"cpu": &cpu, "memory": &mib, "gpu-count": &gpus} {
		for _, r := range needs {
			if about(r.Key) != what {
				continue
			}
			var possible bool
			if *value, possible = raise(*value, r); !possible {
				return nil, false
			}
		}
	}
	node := map[string]*big.Rat{"nodes": big.NewRat(1, 1), "cpu": new(big.Rat).SetInt64(cpu)}
	if a := asks["cpu"]; a != nil {
		if a.Cmp(new(big.Rat).SetInt64(max(cpu, mostCPU))) > 0 {
			return nil, false
		}
		node["cpu"] = larger(node["cpu"], a)
	}
	// A node has less memory than EC2 says of its type: Karpenter takes off 7.5 percent
	// (setting vmMemoryOverheadPercent).
	node["memory"] = larger(new(big.Rat).SetFrac64(mib*9*1024*1024, 10), asks["memory"])
	for name, a := range asks {
		if node[name] == nil {
			node[name] = a
		}
	}
	if gpus > 0 {
		node["nvidia.com/gpu"] = larger(new(big.Rat).SetInt64(gpus), asks["nvidia.com/gpu"])
	}
	return node, true
}

// raise is the least value that meets a requirement and is not below another; false where
// there is none.
func raise(least int64, r snapshot.Requirement) (int64, bool) {
	var values []int64
	for _, text := range r.Values {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return least, true
		}
		values = append(values, n)
	}
	if len(values) == 0 {
		return least, true
	}
	switch slices.Sort(values); r.Operator {
	case "In":
		i := slices.IndexFunc(values, func(n int64) bool { return n >= least })
		if i < 0 {
			return least, false
		}
		return values[i], true
	case "Gt":
		return max(least, values[0]+1), true
	case "Gte":
		return max(least, values[0]), true
	case "Lt":
		return least, least < values[0]
	case "Lte":
		return least, least <= values[0]
	}
	return least, true
}

func larger(a, b *big.Rat) *big.Rat {
	if b != nil && b.Cmp(a) > 0 {
		return b
	}
	return a
}
