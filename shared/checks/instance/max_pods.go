package instance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func MaxPods() check.Check {
	return usingStart(check.Check{
		ID:         checkid.InstanceMaxPods,
		Title:      "More pods are allowed than the interfaces have addresses for",
		Confidence: finding.Likely,
		Proof:      check.ByPassingUnmet,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.InstanceTypes, snapshot.AWSNode},
		Uses:       []snapshot.Source{snapshot.WaitingPods, snapshot.PodEventsOf, snapshot.PodsOnNodes},
		// A node whose subnet has none to give has fewer than its interfaces could hold.
		After: []checkid.ID{checkid.IPSubnetExhausted, checkid.IPFragmented},
		Cause: "The kubelet's max pods is above what the network plugin can give addresses to: interfaces x (addresses of each - 1) + 2, with prefixes 16 times as many addresses, with custom networking one interface less. Pods beyond it get no address. It is likely where pods wait for one on a Ready node that has given out all it can; it keeps no node from joining.",
		Fix:   "Leave max pods to the image's own calculation, lower it, or switch prefix delegation on.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-increase-ip-addresses.html",
		},
		Run: runMaxPods,
	})
}

func runMaxPods(s *facts.View) []finding.Finding {
	st := s.Boot()
	types := make(map[string]snapshot.InstanceType, len(s.InstanceTypes))
	for _, t := range s.InstanceTypes {
		types[t.Name] = t
	}
	suspects, well := s.WithStarving()
	passed := facts.IDs(well)
	blind := map[snapshot.Failure][]string{}
	g := facts.NewGrouped(st)
	sure := map[string]finding.Confidence{}
	g.Of = func(i *snapshot.Instance) string {
		pods, from, _ := pods(st, i)
		return fmt.Sprintf("%s\n%s\n%d\n%s", st.Origin(i), i.Type, pods, from)
	}
	for _, i := range suspects {
		pods, _, why := pods(st, i)
		switch t, known := types[i.Type]; {
		// Other plugins, IPv6 (always with prefixes, of which there are more
		// than any node runs pods) and Windows count otherwise.
		case s.CNI == nil, s.Cluster.IPv6, s.CNI.Env["ENABLE_IPv6"] == "true", i.Windows:
			passed = append(passed, i.ID)
		case pods == 0 && why.Source != "":
			blind[why] = append(blind[why], i.ID)
		case pods == 0:
			passed = append(passed, i.ID) // the image works it out
		case !known || t.Interfaces == 0 || t.IPv4PerInterface == 0:
			why := snapshot.Failure{Source: snapshot.InstanceTypes, Reason: snapshot.NotRead, Message: "what " + i.Type + " can carry is not known"}
			blind[why] = append(blind[why], i.ID)
		case pods > room(t, s.CNI.Env):
			if sure[i.ID] = full(s, st.Nodes[i.ID], room(t, s.CNI.Env)); sure[i.ID] == "" {
				passed = append(passed, i.ID)
				continue
			}
			g.Add(i)
		default:
			passed = append(passed, i.ID)
		}
	}
	var list []finding.Finding
	if len(passed) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: passed})
	}
	list = append(list, unlooked(s, blind)...)
	for _, of := range g.All() {
		f := overfull(st, of, types[st.Instances[of[0]].Type])
		f.Confidence = finding.Possible
		if slices.ContainsFunc(of, func(id string) bool { return sure[id] == finding.Likely }) {
			f.Confidence = finding.Likely
		}
		list = append(list, f)
	}
	return list
}

// full is how surely a node's pods wait for addresses because it has none left: empty where
// it runs fewer pods than it has addresses for. Where they were not counted, and of a node
// that did not join, it is possible.
func full(s *facts.View, n *snapshot.Node, room int) finding.Confidence {
	if n == nil || !n.Joined() {
		return finding.Possible
	}
	k := slices.IndexFunc(s.NodePods, func(p snapshot.NodePods) bool { return p.Node == n.Name })
	switch {
	case k < 0:
		return finding.Possible
	case s.NodePods[k].Addressed >= room-hostPods:
		return finding.Likely
	}
	return ""
}

// pods is the most pods that an instance's kubelet allows, and who says so:
// its node, else its user data. Zero means that neither does; a failure with
// a source means that it cannot be told.
func pods(st *facts.BootConfig, i *snapshot.Instance) (pods int, from string, why snapshot.Failure) {
	if n := st.Nodes[i.ID]; n != nil && n.MaxPods > 0 {
		return n.MaxPods, "node " + n.Name, snapshot.Failure{}
	}
	t, why := st.Data(i)
	if t == nil {
		return 0, "", why
	}
	if t.Err != nil {
		return 0, "", t.Undecoded()
	}
	if t.DropIn {
		return 0, "", notTold(t, "it writes a NodeConfig into /etc/eks/nodeadm.d, which takes precedence and may set max pods")
	}
	if !t.MaxPods.Known() {
		return expressed(st, i, t)
	}
	pods, err := strconv.Atoi(t.MaxPods.Value)
	if err != nil || pods < 0 {
		return 0, "", snapshot.Failure{}
	}
	return pods, "user data", snapshot.Failure{}
}

// expressed is what nodeadm's maxPodsExpression makes of an instance's type, where EKS adds
// no max pods of its own: in a managed node group that does, its value comes first (EKS user
// guide, "How maxPods is determined"). An expression that nodeadm cannot evaluate, or that
// gives no pods, is left out (nodeadm/internal/kubelet).
func expressed(st *facts.BootConfig, i *snapshot.Instance, t *facts.DecodedUserData) (pods int, from string, why snapshot.Failure) {
	at := slices.IndexFunc(st.S.InstanceTypes, func(k snapshot.InstanceType) bool { return k.Name == i.Type })
	if merges, known := st.Merges(i); t.MaxPodsExpression == "" || merges || !known || at < 0 {
		return 0, "", snapshot.Failure{}
	}
	k := st.S.InstanceTypes[at]
	pods, ok := evaluate(t.MaxPodsExpression, map[string]int{
		"default_enis": k.Interfaces, "ips_per_eni": k.IPv4PerInterface, "max_pods": k.Interfaces*(k.IPv4PerInterface-1) + 2,
	})
	if !ok {
		return 0, "", notTold(t, "its maxPodsExpression cannot be followed")
	}
	return max(pods, 0), "maxPodsExpression " + shortened(t.MaxPodsExpression), snapshot.Failure{}
}

// evaluate computes the arithmetic of an expression: integers, names, + - * / and
// parentheses. What else CEL has it does not follow.
func evaluate(text string, names map[string]int) (value int, ok bool) {
	a := arithmetic{left: strings.ReplaceAll(text, " ", ""), names: names}
	value = a.sum()
	return value, !a.lost && a.left == ""
}

// arithmetic reads an expression from its left end; lost is set by what is not understood.
type arithmetic struct {
	left  string
	names map[string]int
	lost  bool
}

func (a *arithmetic) next(of string) byte {
	if a.left == "" || !strings.Contains(of, a.left[:1]) {
		return 0
	}
	c := a.left[0]
	a.left = a.left[1:]
	return c
}

func (a *arithmetic) sum() int {
	value := a.product()
	for {
		switch a.next("+-") {
		case '+':
			value += a.product()
		case '-':
			value -= a.product()
		default:
			return value
		}
	}
}

func (a *arithmetic) product() int {
	value := a.value()
	for {
		switch a.next("*/") {
		case '*':
			value *= a.value()
		case '/':
			by := a.value()
			if a.lost = a.lost || by == 0; a.lost {
				return 0
			}
			value /= by
		default:
			return value
		}
	}
}

func (a *arithmetic) value() int {
	if a.next("(") != 0 {
		value := a.sum()
		a.lost = a.lost || a.next(")") == 0
		return value
	}
	word := a.left
	if end := strings.IndexFunc(word, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }); end >= 0 {
		word = word[:end]
	}
	a.left = a.left[len(word):]
	value, known := a.names[word]
	if n, err := strconv.Atoi(word); err == nil {
		return n
	}
	a.lost = a.lost || !known
	return value
}

// hostPods are aws-node and kube-proxy, which use the host's address (Amazon VPC CNI,
// "Setup": max pods).
const hostPods = 2

// room is how many pods the plugin can give addresses to.
func room(t snapshot.InstanceType, env map[string]string) int {
	interfaces, each := t.Interfaces, t.IPv4PerInterface-1
	if most, err := strconv.Atoi(env["MAX_ENI"]); err == nil && most > 0 {
		interfaces = min(interfaces, most)
	}
	if env["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"] == "true" {
		interfaces-- // the primary one has no pods then
	}
	if env["ENABLE_PREFIX_DELEGATION"] == "true" && (t.Hypervisor == "nitro" || t.BareMetal || t.Hypervisor == "") {
		each *= 16 // a prefix is a /28
	}
	return max(0, interfaces)*max(0, each) + hostPods
}

// orPrefixes is the other way out, where prefix delegation is not on.
func orPrefixes(env map[string]string) string {
	if env["ENABLE_PREFIX_DELEGATION"] == "true" {
		return ""
	}
	return ", or switch prefix delegation on if the subnets have whole /28 blocks free"
}

func overfull(st *facts.BootConfig, of []string, t snapshot.InstanceType) finding.Finding {
	i := st.Instances[of[0]]
	pods, from, _ := pods(st, i)
	env := st.S.CNI.Env
	most := room(t, env)
	setting := func(name string) finding.Evidence {
		value := env[name]
		if value == "" {
			value = "not set"
		}
		return finding.Evidence{What: name + " of aws-node", Value: value}
	}
	return finding.Finding{
		Outcome: finding.Fail, Resource: st.Origin(i), Covers: of, Instances: of, Resources: []string{i.Type},
		Title: phrase.Title("%s: max pods is %d, %s has addresses for %d", st.Origin(i), pods, i.Type, most),
		Why:   fmt.Sprintf("%s allows %d pods on %s, but with the network plugin's settings %s has addresses for %d. Pods beyond that get none.", from, pods, phrase.Subject(of, "instance"), i.Type, most),
		Evidence: []finding.Evidence{
			{What: "Max pods, from " + from, Value: strconv.Itoa(pods)},
			{What: i.Type, Value: fmt.Sprintf("%d interfaces, %d IPv4 addresses each", t.Interfaces, t.IPv4PerInterface)},
			setting("ENABLE_PREFIX_DELEGATION"), setting("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"),
		},
		Pods: st.S.WaitingFor(of),
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Set max pods to %d or less for %s%s. Then replace the instances.", most, i.Type, orPrefixes(env)),
			Console: console(st, st.Origin(i)),
		},
	}
}
