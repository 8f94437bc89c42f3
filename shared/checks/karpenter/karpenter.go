// Package karpenter holds the checks of karpenter: what Karpenter, or EKS Auto
// Mode, which runs it, does not make nodes for.
package karpenter

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// Checks are the checks of the family.
func Checks() []check.Check {
	return []check.Check{
		// NodeClassNotReady: Karpenter makes no node of a class whose condition Ready is
		// not True: the NodeClaim is deleted at once, and no event says so
		// (kubernetes-sigs/karpenter pkg/controllers/nodeclaim/lifecycle/launch.go; what
		// the conditions mean: aws/karpenter-provider-aws pkg/controllers/nodeclass).
		check.New(checkid.KarpenterNodeclassNotReady, nodeClassNotReady, snapshot.Clusters).
			Using(snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf,
				snapshot.AutoNodeClassesOf, snapshot.ClassAccess, snapshot.Nodes, snapshot.WaitingPods,
				snapshot.Subnets, snapshot.SecurityGroups),
		// NodePoolLimit: Karpenter leaves out every instance type that has more of a
		// resource than the pool's limit leaves (kubernetes-sigs/karpenter
		// pkg/controllers/provisioning/scheduling/scheduler.go, filterByRemainingResources;
		// karpenter.sh "spec.limits"). It is no condition of the NodePool: only events of
		// the pods say so.
		check.New(checkid.KarpenterNodepoolLimit, nodePoolLimit, snapshot.Clusters).Using(snapshot.NodePoolsOf,
			snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf, snapshot.Nodes,
			snapshot.WaitingPods, snapshot.PoolEventsOf, snapshot.InstanceTypes),
	}
}

// reconciles is how long a condition may be Unknown. A reconciliation takes seconds, and
// comes again each minute; without the right to make the instance profile it
// stays so for ever (aws/karpenter-provider-aws#8223).
const reconciles = 10 * time.Minute

// nodeClassNotReady judges the classes that NodePools name. A class that no
// NodePool names, one that is being deleted, and a NodePool that is being deleted
// are no fault.
func nodeClassNotReady(s *check.View) []check.Finding {
	blocked, unread := check.KarpenterUnread(s, snapshot.NodePoolsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf)
	if unread && len(s.NodePools) == 0 {
		return []check.Finding{check.Unread(s.Cluster.Name, []string{s.Cluster.Name}, blocked...)}
	}
	if !s.Has(snapshot.NodePoolsOf) {
		return nil // nothing shows Karpenter here
	}
	var v check.Verdicts
	var unseen []check.Finding
	for _, u := range classesInUse(s) {
		switch w := judgeClass(s, u); {
		case w.bad:
			v.Fail(notReady(s, u, w))
		case w.good:
			v.Pass(u.resource, u.covers(), check.Evidence{What: u.title(), Value: "is ready"})
		case unread && !standingKnown(s, u):
			unseen = append(unseen, check.Unread(u.resource, u.covers(), blocked...))
		}
	}
	if len(s.NodePools) == 0 {
		v.Pass(s.Cluster.Name, []string{s.Cluster.Name})
	}
	// What EC2 refused Karpenter is written in the NodeClaims alone, where CloudTrail is not read.
	if blocked, unread := check.KarpenterUnread(s, snapshot.NodeClaimsOf); unread {
		unseen = append(unseen, check.Unread(s.Cluster.Name, []string{s.Cluster.Name}, blocked...))
	}
	return append(v.Findings(), unseen...)
}

// standingKnown reports whether something says how a class stands: it itself, or a NodePool.
func standingKnown(s *check.View, u use) bool {
	_, known := check.Class(s, u.ref)
	return known || slices.ContainsFunc(u.pools, func(p snapshot.NodePool) bool {
		status := p.Conditions["NodeClassReady"].Status
		return status == "True" || status == "False"
	})
}

// use is a class and the NodePools that name it.
type use struct {
	ref      snapshot.ClassRef
	resource string
	pools    []snapshot.NodePool
}

func classesInUse(s *check.View) []use {
	byRef := map[snapshot.ClassRef][]snapshot.NodePool{}
	names := map[string]int{}
	for _, p := range s.NodePools {
		if p.Deleting || p.Class.Name == "" {
			continue
		}
		if byRef[p.Class] == nil {
			names[p.Class.Name]++
		}
		byRef[p.Class] = append(byRef[p.Class], p)
	}
	var list []use
	for ref, pools := range byRef {
		u := use{ref: ref, resource: ref.Name, pools: pools}
		if names[ref.Name] > 1 { // Karpenter's and Auto Mode's, both often "default"
			u.resource = check.ClassKey(ref)
		}
		list = append(list, u)
	}
	slices.SortFunc(list, func(a, b use) int { return strings.Compare(check.ClassKey(a.ref), check.ClassKey(b.ref)) })
	return list
}

func (u use) poolNames() []string {
	var names []string
	for _, p := range u.pools {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

func (u use) covers() []string {
	list := []string{check.ClassKey(u.ref)}
	for _, p := range u.pools {
		list = append(list, check.PoolKey(p.Name))
	}
	return list
}

func (u use) title() string { return kindOf(u.ref) + " " + u.ref.Name }

// kindOf is the kind as people write it.
func kindOf(r snapshot.ClassRef) string {
	switch r.Group {
	case snapshot.KarpenterGroup:
		return "EC2NodeClass"
	case snapshot.AutoModeGroup:
		return "NodeClass"
	}
	return cmp.Or(r.Kind, "NodeClass")
}

// state is how a class stands.
type state struct {
	good, bad bool
	gone      bool
	class     *snapshot.NodeClass
	// of is the condition that says why, and its type.
	of        string
	condition snapshot.ObservedCondition
}

// judgeClass goes by the class's own condition, and where the class was not read
// by what its NodePools say of it.
func judgeClass(s *check.View, u use) state {
	class, known := check.Class(s, u.ref)
	switch {
	case class == nil && known:
		return judgeGone(s, u)
	case class == nil:
		return judgeByPools(s, u)
	case class.Deleting:
		return state{}
	}
	ready := class.Conditions["Ready"]
	w := state{class: class}
	w.of, w.condition = because(*class)
	switch {
	case ready.Status == "True" && ready.Current(class.Generation):
		w.good = true
	case ready.Status == "False":
		w.bad = check.Held(s, ready, class.Generation, check.ClassSettles) && w.condition.Current(class.Generation)
	case ready.Status == "Unknown":
		w.bad = check.Held(s, ready, class.Generation, reconciles) && check.Held(s, w.condition, class.Generation, reconciles)
	}
	return w
}

// judgeGone is for a class that is not there. A NodePool that is not in use may
// name one that is to come.
func judgeGone(s *check.View, u use) state {
	for _, p := range u.pools {
		c := p.Conditions["NodeClassReady"]
		if c.Status == "False" && c.Reason == "NodeClassNotFound" && check.Held(s, c, p.Generation, check.ClassSettles) && inUse(s, p) {
			return state{bad: true, gone: true, of: "NodeClassReady", condition: c}
		}
	}
	return state{}
}

// inUse reports whether a NodePool has nodes, or has asked for some, or that a pod
// waits for it.
func inUse(s *check.View, p snapshot.NodePool) bool {
	used, _ := scheduling.ParseAmount(p.Used["nodes"])
	return used.Sign() > 0 || slices.ContainsFunc(s.NodeClaims, func(c snapshot.NodeClaim) bool { return c.Pool == p.Name && !c.Deleting }) ||
		slices.ContainsFunc(s.Nodes, func(n snapshot.Node) bool { return n.Labels[scheduling.PoolLabel] == p.Name }) ||
		slices.ContainsFunc(s.WaitingPods, func(w snapshot.WaitingPod) bool { return scheduling.PoolTakes(p, &w) && !w.Gated })
}

func judgeByPools(s *check.View, u use) state {
	var w state
	for _, p := range u.pools {
		c := p.Conditions["NodeClassReady"]
		switch {
		case c.Status == "True" && c.Current(p.Generation):
			w.good = true
		case c.Reason == "NodeClassTerminating":
			return state{}
		case c.Status == "False" && c.Reason == "NodeClassReadinessUnknown":
			w.bad = w.bad || check.Held(s, c, p.Generation, reconciles)
		case c.Status == "False":
			w.bad = w.bad || check.Held(s, c, p.Generation, check.ClassSettles) && (c.Reason != "NodeClassNotFound" || inUse(s, p))
		}
		if w.bad && w.of == "" {
			w.of, w.condition = "NodeClassReady", c
		}
	}
	w.good = w.good && !w.bad
	return w
}

// because is the condition of a class that says why it is not ready: Ready
// itself only adds them up. One that waits for the others (DependenciesNotReady)
// says nothing of its own.
func because(class snapshot.NodeClass) (string, snapshot.ObservedCondition) {
	rank := func(name string) int {
		c := class.Conditions[name]
		switch {
		case c.Reason == "DependenciesNotReady":
			return 2
		case c.Status == "False":
			return 0
		}
		return 1
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(class.Conditions)) {
		if status := class.Conditions[name].Status; name != "Ready" && (status == "False" || status == "Unknown") {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return "Ready", class.Conditions["Ready"]
	}
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return list[0], class.Conditions[list[0]]
}

func notReady(s *check.View, u use, w state) check.Finding {
	pools := u.poolNames()
	f := check.Failed(u.resource, u.covers()...).Involving(pools...).
		Titled("%s cannot launch: %s %s", subject(pools), u.title(), short(w)).
		Because("%s launches no node for %s: %s %s.", maker(u.ref), named(pools), u.title(), long(w)).
		ToFix("%s", next(u.ref, w)).
		Command(shell.Command("kubectl", "describe", check.ClassKind(u.ref), u.ref.Name)).
		Console(s.ClusterLink())
	f.Unconditional = true
	if f.Pods = waitFor(s, u); len(f.Pods) > 0 {
		f.Why += fmt.Sprintf(" %s for %s, and no other NodePool can run %s.", waitingPods(f.Pods), check.Plural(len(pools), "it", "them"), check.Plural(len(f.Pods), "it", "them"))
	}
	if w.gone {
		f.Fix.Command = shell.Command("kubectl", "get", "nodepool", pools[0], "-o", "yaml")
	}
	f = f.Noting(u.title(), conditionText(w.of, w.condition))
	if w.class != nil {
		for _, name := range slices.Sorted(maps.Keys(w.class.Conditions)) {
			if c := w.class.Conditions[name]; name != w.of && name != "Ready" && c.Status != "True" && c.Reason != "DependenciesNotReady" {
				f = f.Noting("Also", conditionText(name, c))
			}
		}
		f = f.Showing(instead(s, *w.class, w.of)...)
		if key, value, n := otherValue(s, w); n > 0 {
			f.Fix.Text = fmt.Sprintf("%d %s %s=%s. If the class should use %s, change its term. If not, tag each <subnet> that nothing else selects.",
				n, check.Plural(n, "subnet has", "subnets have"), key, check.Clip(value), check.Plural(n, "it", "these"))
		}
		f = f.Showing(accessUnread(s, *w.class)...)
	}
	f = f.Noting("NodePools", check.Some(pools, 10))
	if w.of == "SubnetsReady" || w.of == "SecurityGroupsReady" {
		f.Fix.Command = cmp.Or(tagAsSelected(s, w), listing(s, w.of), f.Fix.Command)
	}
	return f
}

// accessUnread names what would have shown why the cluster refuses a class's node role.
func accessUnread(s *check.View, class snapshot.NodeClass) []check.Evidence {
	if _, refused := class.Unauthorized(); !refused {
		return nil
	}
	var list []string
	for _, f := range append([]snapshot.Failure{s.Failures[snapshot.ClassAccess]}, slices.Collect(maps.Values(s.Missing[snapshot.ClassAccess]))...) {
		if text := fmt.Sprintf("%s (%s: %s)", snapshot.ClassAccess, f.Reason, f.Call); f.Call != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	return []check.Evidence{{What: "Not checked", Value: strings.Join(list, ", ")}}
}

// waitFor are the pods that only NodePools of the class would take, and that the
// scheduler has found no node for since minutes.
func waitFor(s *check.View, u use) []string {
	var names []string
	for _, w := range check.Unschedulable(s, waits) {
		takes := func(list []snapshot.NodePool) bool {
			return slices.ContainsFunc(list, func(p snapshot.NodePool) bool { return scheduling.PoolTakes(p, w) })
		}
		others := slices.DeleteFunc(slices.Clone(s.NodePools), func(p snapshot.NodePool) bool {
			names, _ := exhausted(s, p, w)
			return p.Class == u.ref || p.Deleting || !usable(s, p) || len(names) > 0
		})
		if takes(u.pools) && !takes(others) {
			names = append(names, w.Key())
		}
	}
	slices.Sort(names)
	return names[:min(len(names), zones.MostPods)]
}

func listing(s *check.View, of string) string {
	if s.Cluster.VPC == "" {
		return ""
	}
	if of == "SubnetsReady" {
		return s.AWSCommand("ec2 describe-subnets", "--filters", "Name=vpc-id,Values="+s.Cluster.VPC, "--query", "Subnets[].[SubnetId,AvailabilityZone,Tags]")
	}
	return s.AWSCommand("ec2 describe-security-groups", "--filters", "Name=vpc-id,Values="+s.Cluster.VPC, "--query", "SecurityGroups[].[GroupId,GroupName,Tags]")
}

// otherValue is the value that subnets have for the tag by which a class selects none, where
// all that have the tag have the same: the class's term may be a misspelling of it.
func otherValue(s *check.View, w state) (key, value string, subnets int) {
	if tagAsSelected(s, w) == "" || len(w.class.Subnets[0].Tags) != 1 {
		return "", "", 0
	}
	values := map[string]int{}
	for key = range w.class.Subnets[0].Tags {
		for _, n := range s.Subnets {
			if has, ok := n.Tags[key]; ok && (s.Cluster.VPC == "" || n.VPC == s.Cluster.VPC) {
				values[has]++
				value = has
			}
		}
	}
	if len(values) != 1 {
		return "", "", 0
	}
	return key, value, values[value]
}

// tagAsSelected is the command that gives one subnet the tags that the class selects by.
// Which subnet is a person's choice: nothing says which one was meant.
func tagAsSelected(s *check.View, w state) string {
	if w.of != "SubnetsReady" || w.condition.Reason != "SubnetsNotFound" || w.class == nil || len(w.class.Subnets) != 1 {
		return ""
	}
	term := w.class.Subnets[0]
	if term.ID != "" || len(term.Tags) == 0 {
		return ""
	}
	var tags []string
	for _, key := range slices.Sorted(maps.Keys(term.Tags)) {
		value := term.Tags[key]
		if value == "*" { // any value (karpenter.sh/docs/concepts/nodeclasses, spec.subnetSelectorTerms)
			value = ""
		}
		if strings.ContainsAny(key+value, ",{}[]") {
			return "" // the AWS CLI's shorthand has no quoting for these
		}
		tags = append(tags, "Key="+key+",Value="+value)
	}
	return s.AWSCommand("ec2 create-tags", "--resources", shell.Placeholder("subnet"), "--tags", tags)
}

// conditionText is a condition as it is, cut: anybody who may write the object's status
// wrote it.
func conditionText(name string, c snapshot.ObservedCondition) string {
	text := name + " is " + cmp.Or(c.Status, "not reported")
	if c.Reason != "" {
		text += ", " + check.Clip(c.Reason)
	}
	if c.Message != "" {
		text += ": " + check.Clip(strings.TrimSuffix(c.Message, "."))
	}
	if !c.Since.IsZero() {
		text += " (since " + check.ClockTime(c.Since) + ")"
	}
	return text
}

func subject(pools []string) string {
	if len(pools) == 1 {
		return "NodePool " + pools[0]
	}
	return fmt.Sprintf("%d NodePools", len(pools))
}

func named(pools []string) string {
	return check.Plural(len(pools), "NodePool ", "NodePools ") + check.Some(pools, 3)
}

func maker(r snapshot.ClassRef) string {
	if r.Group == snapshot.AutoModeGroup {
		return "EKS Auto Mode"
	}
	return "Karpenter"
}

// meaning is a reason in words.
type meaning struct {
	short string // ends a title
	next  string
}

// meanings are Karpenter's reasons (aws/karpenter-provider-aws v1.14.1,
// pkg/controllers/nodeclass/*.go).
func meanings(reason string) (meaning, bool) {
	m, ok := map[string]meaning{
		"SubnetsNotFound":                     {"matches no subnets", "Tag each <subnet> for nodes to match the class's subnetSelectorTerms, or change the terms."},
		"SecurityGroupsNotFound":              {"matches no security groups", "Tag a security group to match the class's securityGroupSelectorTerms, or change the terms."},
		"AMINotFound":                         {"matches no AMIs", "Change the amiSelectorTerms of the class: the alias, id, name or tags match no image that this account can use."},
		"UnsupportedAlias":                    {"has an AMI alias that is not supported", "Change the alias in the amiSelectorTerms of the class."},
		"PlacementGroupNotFound":              {"matches no placement group", "Create the placement group, or remove it from the class."},
		"PlacementGroupResolutionFailed":      {"matches no placement group", "Check that Karpenter's role is allowed to call ec2:DescribePlacementGroups."},
		"CreateFleetAuthCheckFailed":          {"is not allowed to create fleets", "Allow Karpenter's role to call ec2:CreateFleet with the tags of the class, or find the policy that denies it."},
		"CreateLaunchTemplateAuthCheckFailed": {"is not allowed to create launch templates", "Allow Karpenter's role to call ec2:CreateLaunchTemplate with the tags of the class, or find the policy that denies it."},
		"RunInstancesAuthCheckFailed":         {"is not allowed to run instances", "Allow Karpenter's role to call ec2:RunInstances with the tags of the class, or find the policy that denies it."},
		"InstanceProfileNotFound":             {"has an instance profile that does not exist", "Create the instance profile, or name another one in the class."},
		"InstanceProfileCreationFailed":       {"has no instance profile", "Check that the role named in the class exists, and that passing it is allowed (iam:PassRole)."},
		"UnauthorizedNodeRole":                {"has a node role that the cluster rejects", "Create an access entry of type EC2 for the role that the class names, with the policy AmazonEKSAutoNodePolicy. One of another type must be deleted first, and the role must have no path."},
		"UserDataSizeLimitExceeded":           {"has too much user data", "Shorten the user data of the class: EC2 accepts 16 KB."},
		"TagValidationFailed":                 {"has tags that Karpenter reserves", "Remove those tags from the class."},
		"ClusterCIDRResolutionFailed":         {"cannot read the cluster's service range", "Allow Karpenter's role to call eks:DescribeCluster."},
		"InvalidKubeletConfiguration":         {"has an invalid kubelet configuration", "Correct the kubelet section of the class."},
		"UnsupportedKubeletConfiguration":     {"has an unsupported kubelet configuration", "Correct the kubelet section of the class."},
	}[reason]
	return m, ok
}

// short ends a title: what the class lacks.
func short(w state) string {
	if w.gone || w.condition.Reason == "NodeClassNotFound" {
		return "does not exist"
	}
	if m, ok := meanings(w.condition.Reason); ok && w.condition.Status == "False" {
		return m.short
	}
	return "is not ready"
}

// long is the rest of the sentence, with the condition's own reason and message.
func long(w state) string {
	text := short(w)
	if w.condition.Status == "Unknown" {
		text = fmt.Sprintf("is not ready: its condition %s has been Unknown since %s",
			w.of, check.ClockTime(w.condition.Since))
	}
	if w.gone {
		return text
	}
	if said := check.Clip(strings.TrimSuffix(cmp.Or(w.condition.Message, w.condition.Reason), ".")); said != "" {
		text += fmt.Sprintf(" (%s: %q)", w.of, said)
	}
	return text
}

func next(r snapshot.ClassRef, w state) string {
	switch m, ok := meanings(w.condition.Reason); {
	case w.gone || w.condition.Reason == "NodeClassNotFound":
		return fmt.Sprintf("Create the %s %s, or name an existing one in the NodePool.", kindOf(r), r.Name)
	case ok:
		return m.next
	case w.of == "InstanceProfileReady":
		return "Check that the role named in the class exists, and that Karpenter's role is allowed to create and tag instance profiles and pass the role. Only Karpenter's log shows why it is stuck."
	case r.Group == snapshot.AutoModeGroup:
		return "Check the conditions of the NodeClass, and that the cluster's role has the policies for EKS Auto Mode."
	}
	return "Check the conditions of the class, and search Karpenter's log for its name."
}

const mostInstead = 8

// instead is what the class selects by, and what the VPC has of that kind: one
// of them mostly has another value of the same tag.
func instead(s *check.View, class snapshot.NodeClass, of string) []check.Evidence {
	switch of {
	case "SubnetsReady":
		var have []check.Evidence
		for _, n := range s.Subnets {
			if s.Cluster.VPC == "" || n.VPC == s.Cluster.VPC {
				have = append(have, check.Evidence{What: n.ID, Value: strings.TrimSpace(n.Zone + " " + tagsLike(n.Tags, class.Subnets))})
			}
		}
		return selected("Selects subnets by", class.Subnets, have, s.Has(snapshot.Subnets))
	case "SecurityGroupsReady":
		var have []check.Evidence
		for _, g := range s.SecurityGroups {
			if s.Cluster.VPC == "" || g.VPC == s.Cluster.VPC {
				have = append(have, check.Evidence{What: g.ID, Value: strings.TrimSpace(check.Clip(g.Name) + " " + tagsLike(g.Tags, class.Groups))})
			}
		}
		return selected("Selects security groups by", class.Groups, have, s.Has(snapshot.SecurityGroups))
	case "AMIsReady":
		return selected("Selects AMIs by", class.Images, nil, false)
	case "InstanceProfileReady":
		if name := cmp.Or(class.Profile, class.Role); name != "" {
			return []check.Evidence{{What: check.FirstOf(nonEmpty(class.Profile, "Instance profile"), "Role"), Value: check.Clip(name)}}
		}
	}
	return nil
}

// nonEmpty is the word where there is a text.
func nonEmpty(text, word string) []string {
	if text == "" {
		return nil
	}
	return []string{word}
}

func selected(what string, terms []snapshot.SelectorTerm, have []check.Evidence, read bool) []check.Evidence {
	var words []string
	for _, t := range terms {
		words = append(words, term(t))
	}
	var list []check.Evidence
	if len(words) > 0 {
		list = append(list, check.Evidence{What: what, Value: check.Clip(strings.Join(words[:min(len(words), 5)], "; or "))})
	}
	if read && len(have) == 0 {
		return append(list, check.Evidence{What: "In the cluster's VPC", Value: "none"})
	}
	more := len(have) - mostInstead
	list = append(list, have[:min(len(have), mostInstead)]...)
	if more > 0 {
		list = append(list, check.Evidence{What: "More", Value: fmt.Sprint(more)})
	}
	return list
}

func term(t snapshot.SelectorTerm) string {
	var words []string
	for _, pair := range [][2]string{{"id", t.ID}, {"name", t.Name}, {"alias", t.Alias}} {
		if pair[1] != "" {
			words = append(words, pair[0]+" "+check.Clip(pair[1]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.Tags)) {
		words = append(words, "tag "+key+"="+t.Tags[key])
	}
	return strings.Join(words, ", ")
}

// tagsLike are the tags with the keys that the terms name.
func tagsLike(tags map[string]string, terms []snapshot.SelectorTerm) string {
	var words []string
	asked := map[string]bool{}
	for _, t := range terms {
		for key := range t.Tags {
			asked[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(asked)) {
		value, has := tags[key]
		if has {
			words = append(words, check.Clip(key+"="+value))
		} else {
			words = append(words, check.Clip("no tag "+key))
		}
	}
	return strings.Join(words, ", ")
}

// waits is how long the scheduler must have found no node for a pod: what
// Karpenter launches is Ready in a minute or two.
const waits = 5 * time.Minute

func nodePoolLimit(s *check.View) []check.Finding {
	if blocked, unread := check.KarpenterUnread(s, snapshot.NodePoolsOf); unread {
		return []check.Finding{check.Unread(s.Cluster.Name, []string{s.Cluster.Name}, blocked...)}
	}
	if !s.Has(snapshot.NodePoolsOf) {
		return nil // nothing shows Karpenter here
	}
	var v check.Verdicts
	waiting := check.Unschedulable(s, waits)
	for _, p := range s.NodePools {
		covers := []string{check.PoolKey(p.Name)}
		if p.Deleting || !usable(s, p) {
			continue // its limit keeps no pod waiting
		}
		if !s.Has(snapshot.WaitingPods) {
			if names, _ := exhausted(s, p, nil); len(names) > 0 {
				v.Unknown(p.Name, covers, s.Why(snapshot.WaitingPods))
			}
			continue
		}
		var pods []*snapshot.WaitingPod
		by, certain := map[string]bool{}, false
		for _, w := range waiting {
			if !scheduling.PoolTakes(p, w) {
				continue
			}
			kept, sure := exhausted(s, p, w)
			if said := karpenterSays(s, p, w); said {
				if sure = true; len(kept) == 0 {
					kept = slices.Sorted(maps.Keys(p.Limits))
				}
			} else if len(kept) == 0 || takenElsewhere(s, p, w) {
				continue
			}
			pods, certain = append(pods, w), certain || sure
			for _, name := range kept {
				by[name] = true
			}
		}
		if len(pods) > 0 {
			f := limitReached(s, p, pods, slices.Sorted(maps.Keys(by)))
			if !certain {
				f.Confidence = check.Likely
			}
			v.Fail(f)
			continue
		}
		v.Pass(p.Name, covers, check.Evidence{What: "NodePool " + p.Name, Value: "keeps no pod waiting by its limits"})
	}
	if len(s.NodePools) == 0 {
		v.Pass(s.Cluster.Name, []string{s.Cluster.Name})
	}
	return v.Findings()
}

// usable reports whether a NodePool could launch if it had room: one whose class is
// not ready launches nothing, whatever its limits are.
func usable(s *check.View, p snapshot.NodePool) bool {
	class := use{ref: p.Class, resource: p.Class.Name, pools: []snapshot.NodePool{p}}
	return !judgeClass(s, class).bad
}

// takenElsewhere reports whether another NodePool has room for a pod: then it is not
// the limit that keeps it waiting.
func takenElsewhere(s *check.View, p snapshot.NodePool, w *snapshot.WaitingPod) bool {
	return slices.ContainsFunc(s.NodePools, func(o snapshot.NodePool) bool {
		if o.Name == p.Name || o.Deleting || !scheduling.PoolTakes(o, w) || !usable(s, o) {
			return false
		}
		names, _ := exhausted(s, o, w)
		return len(names) == 0
	})
}

// saidFor is how long an event of Karpenter counts: it repeats it every five minutes for as
// long as the pod waits (kubernetes-sigs/karpenter
// pkg/controllers/provisioning/scheduling/events.go).
const saidFor = 10 * time.Minute

// limitForm is Karpenter's own word for it, of both forms (serrors.Wrap since v1.4:
// pkg/controllers/provisioning/scheduling/scheduler.go, addToNewNodeClaim).
var limitForm = regexp.MustCompile(`(?:all available instance types exceed limits for|node limits have been exhausted for) nodepool:? (?:\(NodePool=([a-z0-9.-]+)|"([a-z0-9.-]+)")`)

// karpenterSays reports whether Karpenter says of a pod that a pool's limits keep it.
func karpenterSays(s *check.View, p snapshot.NodePool, w *snapshot.WaitingPod) bool {
	return slices.ContainsFunc(s.PoolEvents, func(e snapshot.PoolEvent) bool {
		return e.Kind == "Pod" && e.Name == w.Key() && s.Time.Sub(e.Last) <= saidFor &&
			slices.ContainsFunc(limitForm.FindAllStringSubmatch(e.Message, -1), func(m []string) bool { return m[1]+m[2] == p.Name })
	})
}

// exhausted are the resources of which a pool's limit leaves too little for each node that
// it may launch for a pod; for no pod, for any node at all. Sure is false where that rests
// on the sizes that families had when the table of types was made.
func exhausted(s *check.View, p snapshot.NodePool, w *snapshot.WaitingPod) (names []string, sure bool) {
	if len(p.Limits) == 0 {
		return nil, false
	}
	if names = over(p, scheduling.SmallestNodes(p, w, s.InstanceTypes, false)); len(names) > 0 {
		return names, true
	}
	if !scheduling.NamesFamilies(p) {
		return nil, false
	}
	return over(p, scheduling.SmallestNodes(p, w, s.InstanceTypes, true)), false
}

// over are the resources of which each of some nodes has more than a pool's limits leave;
// none where one of them fits.
func over(p snapshot.NodePool, nodes []map[string]*big.Rat) []string {
	names := map[string]bool{}
	for _, node := range nodes {
		fits := true
		for name := range p.Limits {
			left, ok := scheduling.Remaining(p.Limits[name], p.Used[name])
			// Every node has CPU, memory, disk and room for pods. Of anything else only
			// those that ask for it need a node that has it.
			every := slices.Contains([]string{"cpu", "memory", "nodes", "pods", "ephemeral-storage"}, name)
			if ok && (node[name] != nil && left.Cmp(node[name]) < 0 || every && left.Sign() <= 0) {
				fits, names[name] = false, true
			}
		}
		if fits {
			return nil
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func limitReached(s *check.View, p snapshot.NodePool, pods []*snapshot.WaitingPod, by []string) check.Finding {
	var names []string
	for _, w := range pods {
		names = append(names, w.Key())
	}
	slices.Sort(names)
	var told []string
	for _, name := range by {
		told = append(told, fmt.Sprintf("%s of %s %s", orZero(p.Used[name]), p.Limits[name], name))
	}
	f := check.Failed(p.Name, check.PoolKey(p.Name)).WithPods(names[:min(len(names), zones.MostPods)]...).
		Titled("NodePool %s has reached its limit: %s", p.Name, check.And(told)).
		Because("%s for a node of NodePool %s, whose limit leaves too little for one: its nodes have %s. No other NodePool can run %s.",
			waitingPods(names), p.Name, check.And(told), check.Plural(len(names), "the pod", "the pods")).
		ToFix("Raise spec.limits of NodePool %s (%s), or move pods off its nodes so that Karpenter removes some.", p.Name, strings.Join(by, ", ")).
		Command(shell.Command("kubectl", "edit", "nodepool", p.Name)).Console(s.ClusterLink())
	f.Unconditional = true
	for _, name := range slices.Sorted(maps.Keys(p.Limits)) {
		value := fmt.Sprintf("%s of %s", orZero(p.Used[name]), p.Limits[name])
		switch left, ok := scheduling.Remaining(p.Limits[name], p.Used[name]); {
		case ok && left.Sign() <= 0:
			value += ", nothing left"
		case ok && name == "cpu" && slices.Contains(by, name):
			if left.IsInt() {
				value += ", " + left.FloatString(0) + " left"
			}
			value += leastCPU(s, p, pods[0])
		}
		f = f.Noting("Limit of "+check.Clip(name), value)
	}
	const most = 5
	for i, w := range pods {
		if i == most {
			f = f.Noting("More pods", fmt.Sprint(len(pods)-most))
			break
		}
		value := "waiting since " + check.ClockTime(w.Since())
		if asks := asked(w); asks != "" {
			value += ", requests " + asks
		}
		f = f.Noting(w.Key(), value+": "+check.Clip(w.Scheduled.Message))
	}
	return f
}

// leastCPU is how many CPUs the smallest node has that a pool may launch for a pod.
func leastCPU(s *check.View, p snapshot.NodePool, w *snapshot.WaitingPod) string {
	var least *big.Rat
	for _, node := range scheduling.SmallestNodes(p, w, s.InstanceTypes, scheduling.NamesFamilies(p)) {
		if least == nil || node["cpu"].Cmp(least) < 0 {
			least = node["cpu"]
		}
	}
	if least == nil || !least.IsInt() {
		return ""
	}
	return "; a node for " + w.Key() + " has at least " + least.FloatString(0)
}

func waitingPods(names []string) string {
	if len(names) == 1 {
		return "Pod " + names[0] + " is waiting"
	}
	return fmt.Sprintf("Pod %s and %d more are waiting", names[0], len(names)-1)
}

// asked is what the pod's first container asks for, where it has one: sums are
// not written as anybody wrote them.
func asked(w *snapshot.WaitingPod) string {
	if len(w.Requests) == 0 {
		return ""
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(w.Requests[0])) {
		words = append(words, w.Requests[0][name]+" "+name)
	}
	text := check.And(words)
	if more := len(w.Requests) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more %s)", more, check.Plural(more, "container", "containers"))
	}
	return check.Clip(text)
}

func orZero(text string) string {
	if text == "" {
		return "0"
	}
	return text
}
