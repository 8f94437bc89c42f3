// Package scheduling is what decides whether a pod could be on a node: labels, taints,
// amounts, what a NodePool allows, and what kube-scheduler says of it
// (kubernetes.io/docs/concepts/scheduling-eviction).
package scheduling

import (
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/network/branch"
	"rollcall/shared/snapshot"
)

// Obstacle is why the scheduler does not put a pod on some nodes.
type Obstacle struct {
	Kind  obstacleKind
	nodes int    // how many nodes it is about; 0 where the scheduler gives none
	Text  string // as the scheduler has it
}

type obstacleKind int

const (
	OtherObstacle   obstacleKind = iota // a text that is not in the table
	VolumeElsewhere                     // the volume is in another zone than the node
	TooSmall                            // too little CPU, memory, pods, volumes
	NotSelected                         // selector, affinity, name
	Tainted                             // a taint
	Cordoned                            // cordoned
	Unbound                             // the claim has no volume yet
)

// schedulerTable is all that is read of the scheduler's messages: they are text
// only. The words are those of the plugins of kube-scheduler 1.16 to 1.35
// (volumebinding, volumezone, noderesources, nodeaffinity, tainttoleration,
// nodeunschedulable, nodevolumelimits), and of the field.
func schedulerTable() []struct {
	words string
	kind  obstacleKind
} {
	return []struct {
		words string
		kind  obstacleKind
	}{
		{"had volume node affinity conflict", VolumeElsewhere},
		{"didn't match PersistentVolume's node affinity", VolumeElsewhere},
		{"had no available volume zone", VolumeElsewhere},
		{"had no available disk", OtherObstacle},
		{"exceed max volume count", TooSmall},
		{"Insufficient ", TooSmall},
		{"Too many pods", TooSmall},
		{"didn't match Pod's node affinity", NotSelected},
		{"didn't match node selector", NotSelected},
		{"didn't match the requested", NotSelected},
		{"didn't satisfy plugin(s) [NodeAffinity", NotSelected},
		{"had untolerated taint", Tainted},
		{"had taint", Tainted},
		{"had taints", Tainted},
		{"were unschedulable", Cordoned},
		{"didn't find available persistent volumes to bind", Unbound},
		{"unbound immediate PersistentVolumeClaims", Unbound},
		{"waiting for ephemeral volume controller", Unbound},
	}
}

// Obstacles reads a message such as "0/3 nodes are available: 1 Insufficient
// cpu, 2 node(s) had volume node affinity conflict. preemption: 0/3 …". What
// follows on preemption says the same again.
func Obstacles(message string) []Obstacle {
	message, _, _ = strings.Cut(message, " preemption: ")
	if _, list, ok := strings.Cut(message, "nodes are available: "); ok {
		message = list
	} else if _, list, ok := strings.Cut(message, "if a new node is added): "); ok {
		message = list
	}
	message = strings.TrimSuffix(strings.TrimSpace(message), ".")
	if message == "" {
		return nil
	}
	var list []Obstacle
	for _, text := range splitObstacles(message) {
		o := Obstacle{Text: text}
		if number, _, ok := strings.Cut(text, " "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				o.nodes = n
			}
		}
		for _, row := range schedulerTable() {
			if strings.Contains(text, row.words) {
				o.Kind = row.kind
				break
			}
		}
		list = append(list, o)
	}
	return list
}

// splitObstacles splits where a new number begins: a taint may hold commas.
func splitObstacles(list string) []string {
	next := regexp.MustCompile(`, (\d+ )`)
	var parts []string
	from := 0
	for _, at := range next.FindAllStringIndex(list, -1) {
		parts = append(parts, list[from:at[0]])
		from = at[0] + len(", ")
	}
	return append(parts, list[from:])
}

// OfKind are the obstacles of one kind.
func OfKind(list []Obstacle, kind obstacleKind) []string {
	var texts []string
	for _, o := range list {
		if o.Kind == kind {
			texts = append(texts, o.Text)
		}
	}
	return texts
}

// amount is a quantity as Kubernetes writes it (apimachinery pkg/api/resource:
// a decimal number, and a suffix or an exponent).
var amount = regexp.MustCompile(`^([+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40}))(?:(m|u|n|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)|[eE]([+-]?\d{1,2}))?$`)

// ParseAmount reads a quantity: "100", "500m", "400Gi". What is none is zero.
func ParseAmount(text string) (*big.Rat, bool) {
	m := amount.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return new(big.Rat), false
	}
	number := m[1]
	if m[3] != "" {
		number += "e" + m[3]
	}
	n, ok := new(big.Rat).SetString(number)
	if !ok {
		return new(big.Rat), false
	}
	return n.Mul(n, scale(m[2])), true
}

// scale is what a suffix multiplies by.
func scale(suffix string) *big.Rat {
	power := func(base, exponent int64) *big.Rat {
		return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(base), big.NewInt(exponent), nil))
	}
	switch suffix {
	case "m":
		return new(big.Rat).Inv(power(10, 3))
	case "u":
		return new(big.Rat).Inv(power(10, 6))
	case "n":
		return new(big.Rat).Inv(power(10, 9))
	}
	if binary, ok := strings.CutSuffix(suffix, "i"); ok {
		return power(1024, int64(strings.Index("KMGTPE", binary)+1))
	}
	return power(1000, int64(strings.Index("kMGTPE", suffix)+1)*int64(len(suffix)))
}

// Remaining is how much of a limit is left; false where one of both is no amount.
func Remaining(limit, used string) (*big.Rat, bool) {
	l, ok := ParseAmount(limit)
	if !ok {
		return nil, false
	}
	if used == "" {
		return l, l.Sign() == 0 // not counted yet, and of nothing nothing is left
	}
	u, ok := ParseAmount(used)
	if !ok {
		return nil, false
	}
	return new(big.Rat).Sub(l, u), true
}

// fit reports whether Kubernetes would let a pod onto a node, as far as labels
// and taints decide.
type fit int

const (
	FitsNot fit = iota
	FitsMaybe
	fits
)

// Node is a node, or the node that a group would launch, as the scheduler
// judges it.
type Node struct {
	Name   string // of a node that is there
	Labels map[string]string
	Taints []snapshot.Taint
	// Whole reports whether the labels and taints are all that it has.
	Whole bool
}

// Takes reports whether the pod may run there, and why not.
func (b Node) Takes(p *snapshot.WaitingPod) (fit, string) {
	if p == nil {
		return fits, ""
	}
	result := fits
	for _, key := range slices.Sorted(maps.Keys(p.Selector)) {
		switch b.matches(snapshot.Requirement{Key: key, Operator: "In", Values: []string{p.Selector[key]}}) {
		case FitsNot:
			return FitsNot, "it asks for " + key + "=" + p.Selector[key]
		case FitsMaybe:
			result = FitsMaybe
		}
	}
	if len(p.Terms) > 0 {
		best := FitsNot
		for _, t := range p.Terms {
			best = max(best, b.term(t))
		}
		if best == FitsNot {
			return FitsNot, "its node affinity allows none of them"
		}
		result = min(result, best)
	}
	for _, t := range b.Taints {
		if !passing(t.Key) && t.Effect != "PreferNoSchedule" && !tolerated(p.Tolerations, t) {
			return FitsNot, "it does not tolerate the taint " + t.Key
		}
	}
	if !b.Whole {
		result = min(result, FitsMaybe)
	}
	return result, ""
}

// term is what one term of an affinity comes to. A term without a condition
// matches nothing (Kubernetes, NodeSelectorTerm).
func (b Node) term(t snapshot.NodeTerm) fit {
	if len(t.Labels)+len(t.Fields) == 0 {
		return FitsNot
	}
	result := fits
	for _, r := range t.Labels {
		result = min(result, b.matches(r))
	}
	for _, r := range t.Fields {
		// The only field is the node's name, which no new node will have.
		result = min(result, requires(r, b.Name, b.Name != "", true))
	}
	return result
}

func (b Node) matches(r snapshot.Requirement) fit {
	value, has := b.Labels[r.Key]
	return requires(r, value, has, b.Whole)
}

// requires judges one condition; whole reports whether what it has not got is not
// there.
func requires(r snapshot.Requirement, value string, has, whole bool) fit {
	if !has && !whole {
		return FitsMaybe
	}
	ok := false
	switch r.Operator {
	case "In":
		ok = has && slices.Contains(r.Values, value)
	case "NotIn":
		ok = !has || !slices.Contains(r.Values, value)
	case "Exists":
		ok = has
	case "DoesNotExist":
		ok = !has
	case "Gt", "Lt", "Gte", "Lte":
		have, err := strconv.ParseInt(value, 10, 64)
		if err != nil || len(r.Values) != 1 {
			return FitsNot
		}
		want, err := strconv.ParseInt(r.Values[0], 10, 64)
		ok = err == nil && (r.Operator == "Gt" && have > want || r.Operator == "Lt" && have < want || r.Operator == "Gte" && have >= want || r.Operator == "Lte" && have <= want)
	default:
		return FitsMaybe // an operator newer than this code
	}
	if ok {
		return fits
	}
	return FitsNot
}

// passing tells a taint that says how the node is now, not what it is for.
func passing(key string) bool {
	for _, prefix := range []string{"node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "karpenter.sh/", "ebs.csi.aws.com/agent-not-ready"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

func tolerated(list []snapshot.Toleration, t snapshot.Taint) bool {
	return slices.ContainsFunc(list, func(o snapshot.Toleration) bool {
		if o.Effect != "" && o.Effect != t.Effect {
			return false
		}
		if o.Key == "" {
			return o.Operator == "Exists"
		}
		return o.Key == t.Key && (o.Operator == "Exists" || o.Value == t.Value)
	})
}

// InZone returns the node with the zone's own label.
func (b Node) InZone(zone string) Node {
	labels := maps.Clone(b.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	for _, key := range []string{ZoneLabel, "topology.ebs.csi.aws.com/zone", "failure-domain.beta.kubernetes.io/zone"} {
		labels[key] = zone
	}
	b.Labels = labels
	return b
}

// Labels of nodes: kubernetes.io/docs/reference/labels-annotations-taints,
// karpenter.sh/docs/concepts/scheduling, docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html.
const (
	ZoneLabel  = "topology.kubernetes.io/zone"
	HostLabel  = "kubernetes.io/hostname"
	PoolLabel  = "karpenter.sh/nodepool"
	GroupLabel = "eks.amazonaws.com/nodegroup"
)

// PoolTakes reports whether the nodes of a NodePool would take a pod, as far as
// labels and taints decide (kubernetes-sigs/karpenter pkg/scheduling/requirements.go:
// what neither the template nor a well-known label gives cannot be asked for).
func PoolTakes(p snapshot.NodePool, w *snapshot.WaitingPod) bool {
	for _, key := range slices.Sorted(maps.Keys(w.Selector)) {
		if !PoolAllows(p, snapshot.Requirement{Key: key, Operator: "In", Values: []string{w.Selector[key]}}) {
			return false
		}
	}
	if len(w.Terms) > 0 && !slices.ContainsFunc(w.Terms, func(t snapshot.NodeTerm) bool {
		return len(t.Labels) > 0 && len(t.Fields) == 0 && !slices.ContainsFunc(t.Labels, func(r snapshot.Requirement) bool { return !PoolAllows(p, r) })
	}) {
		return false
	}
	return !slices.ContainsFunc(p.Taints, func(t snapshot.Taint) bool { return t.Effect != "PreferNoSchedule" && !tolerated(w.Tolerations, t) })
}

// PoolAllows reports whether some node of the pool meets one condition of a pod.
func PoolAllows(p snapshot.NodePool, r snapshot.Requirement) bool {
	if r.Key == PoolLabel {
		return requires(r, p.Name, true, true) == fits
	}
	if value, has := p.Labels[r.Key]; has {
		return requires(r, value, true, true) == fits
	}
	given := false
	for _, own := range p.Requirements {
		if own.Key != r.Key {
			continue
		}
		given = true
		switch {
		case own.Operator == "DoesNotExist":
			return requires(r, "", false, true) == fits
		case own.Operator == "In" && !slices.ContainsFunc(own.Values, func(v string) bool { return requires(r, v, true, true) == fits }):
			return false
		case r.Operator == "In" && !slices.ContainsFunc(r.Values, func(v string) bool { return requires(own, v, true, true) == fits }):
			return false
		}
	}
	// What the pool leaves open a node may have in any value, if it has it at all.
	return given || wellKnown(r.Key) || requires(r, "", false, true) == fits
}

// wellKnown tells a label that Karpenter gives every node (pkg/apis/v1/labels.go of
// both repositories; those of EKS Auto Mode are under eks.amazonaws.com).
func wellKnown(key string) bool {
	return slices.Contains([]string{ZoneLabel, "topology.k8s.aws/zone-id", "topology.kubernetes.io/region", "node.kubernetes.io/instance-type",
		"kubernetes.io/arch", "kubernetes.io/os", "karpenter.sh/capacity-type"}, key) ||
		strings.HasPrefix(key, "karpenter.k8s.aws/instance-") || strings.HasPrefix(key, "eks.amazonaws.com/instance-")
}

// Requests are what a pod's containers ask for together: at least so much its node
// must have.
func Requests(w *snapshot.WaitingPod) map[string]*big.Rat {
	sum := map[string]*big.Rat{}
	for _, c := range w.Requests {
		for name, text := range c {
			if n, ok := ParseAmount(text); ok {
				if sum[name] == nil {
					sum[name] = new(big.Rat)
				}
				sum[name].Add(sum[name], n)
			}
		}
	}
	return sum
}

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
		for _, key := range slices.Sorted(maps.Keys(w.Selector)) {
			needs = append(needs, snapshot.Requirement{Key: key, Operator: "In", Values: []string{w.Selector[key]}})
		}
		if len(w.Terms) == 1 {
			needs = append(needs, w.Terms[0].Labels...)
		}
		asks = Requests(w)
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
