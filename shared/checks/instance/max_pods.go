package instance

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/sg"
	"rollcall/shared/snapshot"
)

func runMaxPods(s *check.View) []check.Finding {
	st := s.Boot()
	types := make(map[string]snapshot.InstanceType, len(s.InstanceTypes))
	for _, t := range s.InstanceTypes {
		types[t.Name] = t
	}
	suspects, well := s.WithStarving()
	o := newSorting(st, well)
	sure := map[string]check.Confidence{}
	o.by = func(i *snapshot.Instance) string {
		pods, from, _ := pods(st, i)
		return fmt.Sprintf("%s\n%s\n%d\n%s", st.Origin(i), i.Type, pods, from)
	}
	for _, i := range suspects {
		pods, _, why := pods(st, i)
		switch t, known := types[i.Type]; {
		// Other plugins, IPv6 (always with prefixes, of which there are more
		// than any node runs pods) and Windows count otherwise.
		case s.CNI == nil, s.Cluster.IPv6, s.CNI.Env["ENABLE_IPv6"] == "true", i.Windows:
			o.pass(i)
		case pods == 0 && why.Source != "":
			o.unread(i, why)
		case pods == 0:
			o.pass(i) // the image works it out
		case !known || t.Interfaces == 0 || t.IPv4PerInterface == 0:
			o.unread(i, check.NotRead(snapshot.InstanceTypes, "the capacity of %s is unknown", i.Type))
		case pods > room(t, s.CNI.Env):
			if sure[i.ID] = full(s, st.Nodes[i.ID], room(t, s.CNI.Env)); sure[i.ID] == "" {
				o.pass(i)
				continue
			}
			o.fail(i)
		default:
			o.pass(i)
		}
	}
	return o.findings(func(_ string, of []string) check.Finding {
		f := overfull(st, of, types[st.Instances[of[0]].Type])
		f.Confidence = check.Possible
		if slices.ContainsFunc(of, func(id string) bool { return sure[id] == check.Likely }) {
			f.Confidence = check.Likely
		}
		return f
	})
}

// full is how surely a node's pods wait for addresses because it has none left: empty where
// it runs fewer pods than it has addresses for. Where they were not counted, and of a node
// that did not join, it is possible.
func full(s *check.View, n *snapshot.Node, room int) check.Confidence {
	if n == nil || !n.Joined() {
		return check.Possible
	}
	k := slices.IndexFunc(s.NodePods, func(p snapshot.NodePods) bool { return p.Node == n.Name })
	switch {
	case k < 0:
		return check.Possible
	case s.NodePods[k].Addressed >= room-hostPods:
		return check.Likely
	}
	return ""
}

// pods is the most pods that an instance's kubelet allows, and who says so:
// its node, else its user data. Zero means that neither does; a failure with
// a source means that it cannot be told.
func pods(st *check.BootConfig, i *snapshot.Instance) (pods int, from string, why snapshot.Failure) {
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
func expressed(st *check.BootConfig, i *snapshot.Instance, t *check.DecodedUserData) (pods int, from string, why snapshot.Failure) {
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
	return ", or enable prefix delegation if the subnets have whole /28 blocks free"
}

func overfull(st *check.BootConfig, of []string, t snapshot.InstanceType) check.Finding {
	i := st.Instances[of[0]]
	pods, from, _ := pods(st, i)
	env := st.S.CNI.Env
	most := room(t, env)
	setting := func(name string) check.Evidence {
		value := env[name]
		if value == "" {
			value = "not set"
		}
		return check.Evidence{What: name + " of aws-node", Value: value}
	}
	return check.Failed(st.Origin(i), of...).Affecting(of...).Involving(i.Type).WithPods(st.S.WaitingFor(of)...).
		Titled("%s: max pods is %d, %s has addresses for %d", st.Origin(i), pods, i.Type, most).
		Because("%s allows %d pods on %s, but with the network plugin's settings %s has addresses for %d. Pods beyond that get none.", from, pods, check.Subject(of, "instance"), i.Type, most).
		Noting("Max pods, from "+from, strconv.Itoa(pods)).
		Notingf(i.Type, "%d interfaces, %d IPv4 addresses each", t.Interfaces, t.IPv4PerInterface).
		Showing(setting("ENABLE_PREFIX_DELEGATION"), setting("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG")).
		ToFix("Set max pods to %d or less for %s%s. Then replace the instances.", most, i.Type, orPrefixes(env)).
		Console(console(st, st.Origin(i)))
}

func runForeignSecurityGroups(s *check.View) []check.Finding {
	st := s.Boot()
	suspects, well := st.S.Pending()
	o := newSorting(st, well)
	suffice := sufficient(s)
	for _, i := range suspects {
		group, managed := st.Nodegroup(i)
		lt := st.Template(check.TemplateOf(i))
		if group != nil && (lt == nil || len(lt.Groups) == 0) {
			if given := st.Template(group.Template); given != nil {
				lt = given
			}
		}
		switch {
		case !managed, s.Cluster.SecurityGroup == "", slices.Contains(i.Groups, s.Cluster.SecurityGroup):
			o.pass(i)
		case len(i.Groups) == 0:
			o.unread(i, check.NotRead(snapshot.Instances, "EC2 does not list security groups of terminated instances"))
		case lt == nil:
			o.unread(i, check.NotRead(snapshot.LaunchTemplates, "the launch template of %s is not among those that were read", i.ID))
		case len(lt.Groups) == 0:
			o.pass(i) // the instance was changed, not the template
		case suffice(i.ID):
			o.pass(i) // they let through what the cluster's would
		default:
			o.fail(i)
		}
	}
	return o.findings(func(origin string, of []string) check.Finding { return foreign(st, origin, of) })
}

// sufficient returns whether every security group of an instance was read and allows
// what a node and the control plane need of each other: each check of
// security groups says so of it, and none says or doubts otherwise.
func sufficient(s *check.View) func(id string) bool {
	for _, source := range sg.Needs() {
		if !s.Has(source) {
			return func(string) bool { return false }
		}
	}
	checks := []func(*check.View) []check.Finding{sg.RunNodeEgress, sg.RunClusterIngress, sg.RunKubeletIngress}
	passed, not := map[string]int{}, map[string]bool{}
	for _, run := range checks {
		seen := map[string]bool{}
		for _, f := range run(s) {
			for _, id := range f.Covers {
				if f.Outcome != check.Pass {
					not[id] = true
				} else if !seen[id] {
					seen[id] = true
					passed[id]++
				}
			}
		}
	}
	return func(id string) bool { return passed[id] == len(checks) && !not[id] }
}

func foreign(st *check.BootConfig, origin string, of []string) check.Finding {
	i := st.Instances[of[0]]
	want := st.S.Cluster.SecurityGroup
	f := check.Failed(origin, of...).Affecting(of...).Involving(append([]string{want}, i.Groups...)...).
		Titled("%s keeps %s off %s", origin, want, check.Subject(of, "instance")).
		Because("%s sets the security groups %s, so EKS did not add the cluster's, %s. Those groups must allow all that nodes and control plane need of each other.",
			origin, check.Some(i.Groups, 3), want).
		Noting("Security groups of "+i.ID, strings.Join(i.Groups, ", ")).
		Noting("Security group of the cluster", want).
		ToFix("Add %s to the security groups of %s in a new version, and update the node group to it. For running instances, use the command.", want, origin).
		Console(console(st, origin))
	if len(i.Interfaces) > 0 {
		f.Fix.Command = st.S.AWSCommand("ec2 modify-network-interface-attribute", "--network-interface-id", i.Interfaces[0], "--groups", i.Groups, want)
	} else {
		f.Fix.Command = st.S.AWSCommand("ec2 modify-instance-attribute", "--instance-id", i.ID, "--groups", i.Groups, want)
	}
	return f
}

// minor is a minor version of Kubernetes 1: 35 for 1.35. The zero value is
// "not known".
type minor int

// String writes it as people do: "1.35".
func (m minor) String() string { return fmt.Sprintf("1.%d", int(m)) }

// minorOf reads "1.35", "v1.35.0-eks-1234567" and "1.35+".
func minorOf(version string) minor {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(version, "v"), "1.")
	if !ok {
		return 0
	}
	if i := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		rest = rest[:i]
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n > 999 {
		return 0
	}
	return minor(n)
}

// minorOfImage is the Kubernetes version in the name of an image of EKS
// (Amazon Linux, Bottlerocket, Windows, Ubuntu's for EKS):
//
//	amazon-eks-node-al2023-x86_64-standard-1.35-v20261112
//	amazon-eks-gpu-node-1.32-v20251120
//	bottlerocket-aws-k8s-1.31-nvidia-x86_64-v1.26.1-943d9a41
//	Windows_Server-2022-English-Core-EKS_Optimized-1.33-2025.10.14
//	ubuntu-eks/k8s_1.33/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20251015
//
// Zero for every other name: nothing obliges a name to tell the version.
func minorOfImage(name string) minor {
	for _, mark := range []string{"bottlerocket-aws-k8s-", "EKS_Optimized-", "ubuntu-eks/k8s_"} {
		if _, rest, ok := strings.Cut(name, mark); ok {
			return minorOf(rest)
		}
	}
	if !strings.HasPrefix(name, "amazon-eks-") {
		return 0
	}
	for part := range strings.SplitSeq(name, "-") {
		if m := minorOf(part); m > 0 {
			return m
		}
	}
	return 0
}

// ofAL2 tells the names of EKS images with Amazon Linux 2, which say no system.
func ofAL2(name string) bool {
	for _, prefix := range []string{"amazon-eks-node-1.", "amazon-eks-gpu-node-1.", "amazon-eks-arm64-node-1."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// endOfAL2 is when EKS ended its support for AL2 images (EKS user guide, "EKS
// AL2 AMI deprecation FAQs": 26 November 2025; 1.32 is the last version that
// has one).
func endOfAL2() time.Time { return time.Date(2025, time.November, 26, 0, 0, 0, 0, time.UTC) }

// skew tells what is wrong with a kubelet's version beside a control plane's;
// empty for nothing. A kubelet may not be newer, and at most three minor
// versions older; before 1.25 at most two (kubernetes.io, "Version Skew
// Policy").
func skew(kubelet, plane minor) string {
	oldest := max(plane-3, min(plane-2, 25))
	switch {
	case kubelet == 0, plane == 0:
		return ""
	case kubelet > plane:
		return fmt.Sprintf("Kubernetes %s is newer than the control plane's %s", kubelet, plane)
	case kubelet < oldest:
		return fmt.Sprintf("Kubernetes %s is too old for the control plane's %s, which supports %s and newer", kubelet, plane, oldest)
	}
	return ""
}

// imagesByID are the images that EC2 listed.
func imagesByID(s *check.View) map[string]snapshot.Image {
	list := make(map[string]snapshot.Image, len(s.Images))
	for _, i := range slices.Concat(s.LaunchedImages, s.Images) {
		list[i.ID] = i
	}
	return list
}

func runIMDS(s *check.View) []check.Finding {
	st := s.Boot()
	suspects, well := s.WithStarving()
	starving, want := check.IDs(s.Starving()), s.WithoutMetadata()
	for _, i := range want {
		if !slices.Contains(suspects, i) {
			suspects = append(suspects, i)
		}
	}
	off, near, asked := newSorting(st, check.Except(well, want)), newSorting(st, nil), newSorting(st, nil)
	for _, i := range suspects {
		m := i.Metadata
		switch {
		case m.Endpoint == "disabled":
			off.fail(i)
		case m.Endpoint != "enabled":
			off.unread(i, check.NotRead(snapshot.Instances, "EC2 does not report whether the metadata service is on"))
		case slices.Contains(want, i) && m.HopLimit == 1 && m.Tokens != "optional":
			asked.fail(i)
		case slices.Contains(starving, i.ID): // the plugin is on the host's network
			off.pass(i)
		case m.HopLimit == 1 && m.Tokens != "optional" && !check.OfAutoMode(i):
			// The limit counts for the answer with the token only: where
			// requests without one are allowed, pods use those. Auto Mode means it so.
			near.fail(i)
		default:
			off.pass(i)
		}
	}
	list := off.findings(func(origin string, of []string) check.Finding {
		var sure check.Confidence
		if joined := slices.Concat(starving, check.IDs(want)); !slices.ContainsFunc(of, func(id string) bool { return !slices.Contains(joined, id) }) {
			sure = check.Likely // it joined, and was cut off since
		}
		return metadataFinding(st, origin, of, sure,
			fmt.Sprintf("the metadata service of %s is off", check.Subject(of, "instance")),
			fmt.Sprintf("%s cannot read %s user data, identity and role's credentials: the bootstrap cannot work.", check.Subject(of, "instance"), check.Verb(of, "its", "their")),
			check.Evidence{What: "HttpEndpoint", Value: "disabled"}, "--http-endpoint enabled")
	})
	list = append(list, near.findings(func(origin string, of []string) check.Finding {
		return outOfReach(st, origin, of, check.Possible)
	})...)
	return append(list, asked.findings(func(origin string, of []string) check.Finding {
		return outOfReach(st, origin, of, check.Likely)
	})...)
}

// outOfReach is the finding on instances whose tokens take one hop: likely where the warning
// about a pod there names metadata.
func outOfReach(st *check.BootConfig, origin string, of []string, sure check.Confidence) check.Finding {
	f := metadataFinding(st, origin, of, sure,
		fmt.Sprintf("metadata of %s is out of pods' reach", check.Subject(of, "instance")),
		"Tokens are required and their hop limit is 1: pods outside the host network get no response. Those that read the region, the instance or the role's credentials fail; the kubelet and the network plugin are on the host network and do not.",
		check.Evidence{What: "HttpPutResponseHopLimit, HttpTokens", Value: "1, required"}, "--http-put-response-hop-limit 2")
	for _, w := range st.S.PodWaits() {
		if slices.Contains(of, w.Instance) && w.ForMetadata() {
			f = f.Noting("Pod "+w.Pod, w.Event.Reason+": "+check.Clip(w.Event.Message))
			break
		}
	}
	return f
}

func metadataFinding(st *check.BootConfig, origin string, of []string, sure check.Confidence, says, why string, evidence check.Evidence, option string) check.Finding {
	return check.Failed(origin, of...).Affecting(of...).WithPods(st.S.WaitingFor(of)...).WithConfidence(sure).
		Titled("%s", says).
		Because("%s", why).
		Showing(evidence).
		ToFix("Enable it on %s, and in a new launch template version for future nodes.", check.Subject(of, "instance")).
		Command(st.S.AWSCommand("ec2 modify-instance-metadata-options", "--instance-id", of[0], strings.Fields(option))).
		Console(st.S.EC2Link("InstanceDetails:instanceId=" + of[0]))
}

func runOlderThanCluster(s *check.View) []check.Finding {
	st := s.Boot()
	suspects, well := st.S.Pending()
	o := newSorting(st, well)
	for _, i := range suspects {
		_, managed := st.Nodegroup(i)
		switch {
		case managed: // EKS launches them once the cluster is there
			o.pass(i)
		case s.Cluster.Created.IsZero() || i.Launched.IsZero():
			o.unread(i, check.NotRead(snapshot.Clusters, "the creation time of the cluster or the launch time of the instance is unknown"))
		case i.Launched.Before(s.Cluster.Created), s.Cluster.Status == "CREATING":
			o.fail(i)
		default:
			o.pass(i)
		}
	}
	return o.findings(func(origin string, of []string) check.Finding {
		i := st.Instances[of[0]]
		f := check.Failed(origin, of...).Affecting(of...).
			Titled("%s launched before cluster %s was ready", check.Subject(of, "instance"), s.Cluster.Name).
			Because("%s was launched %s, the cluster was created %s and is %s. The bootstrap runs only at the first start.",
				i.ID, clock(i.Launched), clock(s.Cluster.Created), s.Cluster.Status).
			Noting(i.ID+" launched", clock(i.Launched)).
			Noting("Cluster "+s.Cluster.Name+" created", clock(s.Cluster.Created)+", "+s.Cluster.Status).
			ToFix("Replace %s once the cluster is ACTIVE.", check.Subject(of, "instance")).
			Command(s.AWSCommand("autoscaling terminate-instance-in-auto-scaling-group", "--instance-id", of[0], "--no-should-decrement-desired-capacity")).
			Console(s.EC2Link("InstanceDetails:instanceId=" + of[0]))
		if i.Tags["aws:autoscaling:groupName"] == "" {
			f.Fix.Command = ""
		}
		return f
	})
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func scheduledEvent(s *check.View) []check.Finding {
	l := s.Index()
	suspects, well := l.S.Pending()
	planned := map[string][]snapshot.ScheduledEvent{}
	for _, status := range s.Statuses {
		for _, e := range status.Events {
			if !eventOver(e) {
				planned[status.Instance] = append(planned[status.Instance], e)
			}
		}
	}
	var list []check.Finding
	for _, i := range suspects {
		events := planned[i.ID]
		if len(events) == 0 {
			well = append(well, i)
			continue
		}
		list = append(list, scheduledEventFinding(l, i, events))
	}
	return check.Passing(list, s.Cluster.Name, check.IDs(well))
}

// eventOver reports whether an event is done with. EC2 says so at the beginning of the
// description, and leaves the event in the answer for up to a week (API
// reference, InstanceStatusEvent).
func eventOver(e snapshot.ScheduledEvent) bool {
	return strings.HasPrefix(e.Description, "[Completed]") || strings.HasPrefix(e.Description, "[Canceled]")
}

// ofFailingHost reports whether EC2 plans this for a host that is failing.
func ofFailingHost(e snapshot.ScheduledEvent) bool {
	return e.Code == "instance-retirement" || e.Code == "instance-stop"
}

func scheduledEventFinding(l check.InstanceIndex, i *snapshot.Instance, events []snapshot.ScheduledEvent) check.Finding {
	first := events[0]
	sure := false
	f := check.Finding{
		Outcome: check.Fail, Resource: i.ID, Covers: []string{i.ID}, Instances: []string{i.ID},
		Fix: check.Fix{
			Text:    "Let the group replace " + i.ID + " before the date.",
			Command: l.S.AWSCommand("autoscaling terminate-instance-in-auto-scaling-group", "--no-should-decrement-desired-capacity", "--instance-id", i.ID),
			Console: l.S.EC2Link("InstanceDetails:instanceId=" + i.ID),
		},
	}
	if i.Tags["aws:autoscaling:groupName"] == "" {
		f.Fix.Command = l.S.AWSCommand("ec2 terminate-instances", "--instance-ids", i.ID)
	}
	for _, e := range events {
		f = f.Notingf(i.ID, "%s, not before %s: %s", cmp.Or(e.Code, "event without a code"), atUTC(e.NotBefore), check.Clip(cmp.Or(e.Description, "no description")))
		// A reboot that has begun takes the start with it.
		began := !e.NotBefore.IsZero() && !l.S.Time.Before(e.NotBefore)
		if (ofFailingHost(e) || began) && !sure {
			first, sure = e, true
		}
	}
	if !sure {
		f.Confidence = check.Advice
	}
	f.Title = check.Title("%s: EC2 has scheduled %s", i.ID, cmp.Or(first.Code, "an event"))
	f.Why = fmt.Sprintf("EC2 has scheduled %s of %s, not before %s.", cmp.Or(first.Code, "an event"), i.ID, atUTC(first.NotBefore))
	if ofFailingHost(first) {
		f.Why += " It does so where the host is failing."
	}
	return f
}

func atUTC(t time.Time) string {
	if t.IsZero() {
		return "a time that EC2 does not give"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

func statusCheck(s *check.View) []check.Finding {
	l := s.Index()
	suspects, well := l.S.Pending()
	statuses := map[string]snapshot.InstanceStatus{}
	for _, status := range s.Statuses {
		statuses[status.Instance] = status
	}
	var list []check.Finding
	var groups check.Groups[snapshot.InstanceStatus]
	for _, i := range suspects {
		status, known := statuses[i.ID]
		switch {
		case i.State != "running": // EC2 checks only those
		case impaired(status):
			groups.Add(cmp.Or(i.Owner(), i.ID), status)
		case statusOK(status):
			well = append(well, i)
		case l.Due(i.ID):
			list = append(list, statusUnknown(i.ID, status, known))
		}
	}
	list = check.Passing(list, s.Cluster.Name, check.IDs(well))
	for owner, of := range groups.All() {
		list = append(list, statusCheckFinding(l, owner, of))
	}
	return list
}

func impaired(s snapshot.InstanceStatus) bool { return s.System == "impaired" || s.OS == "impaired" }

// statusOK reports whether both checks say so. An instance that EC2 cannot check has
// passed none.
func statusOK(s snapshot.InstanceStatus) bool { return s.System == "ok" && s.OS == "ok" }

func statusUnknown(id string, s snapshot.InstanceStatus, known bool) check.Finding {
	message := "EC2 reports no status of " + id
	if known {
		message = fmt.Sprintf("EC2 has no result for %s: system %s, instance %s", id, cmp.Or(s.System, "not reported"), cmp.Or(s.OS, "not reported"))
	}
	return check.Unread(id, []string{id}, check.NotRead(snapshot.Statuses, "%s", message))
}

func statusCheckFinding(l check.InstanceIndex, owner string, list []snapshot.InstanceStatus) check.Finding {
	f := check.Finding{Outcome: check.Fail, Resource: owner}
	system := false
	const limit = 5
	for n, s := range list {
		f.Covers = append(f.Covers, s.Instance)
		system = system || s.System == "impaired"
		if n < limit {
			f = f.Notingf(s.Instance, "system status %s, instance status %s", cmp.Or(s.System, "not reported"), cmp.Or(s.OS, "not reported"))
		}
	}
	f.Instances = append([]string(nil), f.Covers...)
	first := list[0].Instance
	f.Title = check.Title("%s %s EC2's status checks", check.Subject(f.Covers, "instance"), check.Verb(f.Covers, "fails", "fail"))
	f.Why = fmt.Sprintf("EC2 reports that %s %s impaired: the operating system does not respond.", check.Some(f.Covers, 3), check.Verb(f.Covers, "is", "are"))
	f.Fix = check.Fix{
		Text:    "Read the console output of " + first + ": usually the operating system or its network did not start.",
		Command: l.S.AWSCommand("ec2 get-console-output", "--latest", "--output", "text", "--instance-id", first),
		Console: l.S.EC2Link("InstanceDetails:instanceId=" + first),
	}
	if system {
		f.Why = fmt.Sprintf("EC2 reports that %s %s impaired: the host or its network is at fault, not what runs on it.", check.Some(f.Covers, 3), check.Verb(f.Covers, "is", "are"))
		f.Fix.Text = "Let the group replace " + first + ": another one runs on another host."
		f.Fix.Command = l.S.AWSCommand("autoscaling terminate-instance-in-auto-scaling-group", "--no-should-decrement-desired-capacity", "--instance-id", first)
		if i := l.Instances[first]; i == nil || i.Tags["aws:autoscaling:groupName"] == "" {
			f.Fix.Text = "Replace " + first + ": another one runs on another host."
			f.Fix.Command = l.S.AWSCommand("ec2 terminate-instances", "--instance-ids", first)
		}
	}
	return f
}
