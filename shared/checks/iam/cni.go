package iam

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/access/policy"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/vpccni"
	"rollcall/shared/snapshot"
)

// cniIdentity is the role that aws-node really uses.
type cniIdentity struct {
	// none tells that the cluster runs no aws-node.
	none bool
	// role is empty where aws-node uses the role of the node that it is on.
	role string
	how  string
	// hop is the Pod Identity association where EKS assumes role with the credentials
	// of another one; nil elsewhere. sessions are the session policies that limit role.
	hop      *snapshot.PodIdentity
	sessions []snapshot.Policy
	// later is the role that its service account has by now, where the pod was
	// made before that was so.
	later string
	// doubt is set where a Pod Identity association could change the answer
	// and those could not be read.
	doubt *snapshot.Failure
}

// lower makes a finding about the identity likely where it may be another one.
func (who cniIdentity) lower(f *finding.Finding) {
	if who.doubt != nil {
		f.Confidence = finding.Likely
		f.Evidence = append(f.Evidence, finding.Evidence{
			What: "Pod Identity associations", Value: fmt.Sprintf("not read (%s: %s): one for aws-node would change which role it uses", who.doubt.Call, who.doubt.Reason),
		})
	}
}

// whoIsCNI tells the identity of aws-node: a Pod Identity association comes
// before the service account's annotation (the EKS Pod Identity webhook sets
// only the first), and the node's own role is what is left.
func whoIsCNI(s *facts.View) (cniIdentity, *snapshot.Failure) {
	if s.Has(snapshot.AWSNode) && s.CNI == nil {
		return cniIdentity{none: true}, nil
	}
	var who cniIdentity
	if !s.Has(snapshot.PodIdentities) {
		f := s.Why(snapshot.PodIdentities)
		who.doubt = &f
	}
	for _, a := range s.PodIdentities {
		if a.Namespace == "kube-system" && a.ServiceAccount == "aws-node" {
			return associated(a), nil
		}
	}
	if s.CNI != nil && s.CNI.Role != "" {
		who.role, who.how = s.CNI.Role, "annotation eks.amazonaws.com/role-arn of kube-system/aws-node"
		return who, nil
	}
	for _, a := range s.Addons {
		if a.Name == "vpc-cni" && a.Role != "" {
			who.role, who.how = a.Role, "add-on vpc-cni"
			return who, nil
		}
	}
	if !s.Has(snapshot.AWSNode) {
		f := s.Why(snapshot.AWSNode)
		return cniIdentity{}, &f
	}
	who.how = "the node's own role"
	return who, nil
}

// associated is the identity that a Pod Identity association gives: its target role where
// it names one, within its session policy, which limits the target role alone (EKS API
// reference, CreatePodIdentityAssociation).
func associated(a snapshot.PodIdentity) cniIdentity {
	const of = "Pod Identity association of kube-system/aws-node"
	who := cniIdentity{role: a.Role, how: of}
	if a.Target != "" {
		who.role, who.hop, who.how = a.Target, &a, "target role of the "+of+", assumed with "+facts.LastPart(a.Role)
	}
	if a.Policy != "" {
		who.sessions = []snapshot.Policy{{Name: "the session policy of the " + of, Document: a.Policy}}
	}
	return who
}

// hopRefusals are the calls by which EKS assumes the target role and that are refused, by
// the association's own role or by the target's trust policy; failures are what keeps from
// deciding. A trust policy that names the role itself needs no grant of that role; one that
// names the account does (IAM user guide, "Policy evaluation logic"; EKS user guide, "Access
// AWS resources using EKS Pod Identity Target IAM Roles").
func hopRefusals(s *facts.View, own, target snapshot.Role, a snapshot.PodIdentity) (ungranted, trust []refusal, open []snapshot.Failure) {
	needs := []need{{"sts:AssumeRole", target.ARN, true}}
	if !a.Untagged {
		needs = append(needs, need{"sts:TagSession", target.ARN, true})
	}
	document, err := policy.Parse(target.Trust)
	if err != nil {
		return nil, nil, []snapshot.Failure{unparsed("the trust policy of "+target.ARN, err)}
	}
	document.Name = "the trust policy of " + target.Name
	named := slices.ContainsFunc(document.Statements, func(t policy.Statement) bool {
		return !t.Deny && slices.Contains(t.Principals, policy.Principal{Kind: "AWS", Value: own.ARN})
	})
	for _, n := range needs {
		known := callFacts(s)
		known["sts:ExternalId"] = []string{}
		if a.ExternalID != "" {
			known["sts:ExternalId"] = []string{a.ExternalID}
		}
		by := document.Decide(policy.Request{Action: n.action, Resource: n.resource, Caller: policy.Caller{ARN: own.ARN}, Facts: known})
		switch by.Verdict {
		case policy.Silent, policy.Denied:
			by.Document = document.Name
			trust = append(trust, refusal{n, by})
		case policy.Depends:
			open = append(open, snapshot.Failure{Source: snapshot.Roles, Reason: snapshot.NotRead, Message: fmt.Sprintf("whether %s may assume %s %s", own.Name, target.Name, by)})
		}
	}
	g := granted(s, own, needs)
	for _, r := range g.vital() {
		if !named || r.by.Document != "" {
			ungranted = append(ungranted, r)
		}
	}
	return ungranted, trust, append(open, g.undecided(own.ARN)...)
}

// cniNeeds are the actions that aws-node calls (amazon-vpc-cni-k8s, "IAM
// policy"). The vital ones it needs before it is ready: it looks at the
// instance's interfaces and gives the first one addresses. The others come
// with more pods, or when a node goes.
func cniNeeds(s *facts.View, types typesKnown) []need {
	eni := fmt.Sprintf("arn:%s:ec2:%s:%s:network-interface/*", s.Partition, s.Region, s.Account)
	list := []need{{"ec2:DescribeNetworkInterfaces", policy.Unscoped, true}}
	if s.CNI != nil && searchesGroups(*s.CNI) {
		list = append(list, need{"ec2:DescribeSecurityGroups", policy.Unscoped, true})
	}
	if s.Cluster.IPv6 {
		list = append(list, need{"ec2:AssignIpv6Addresses", eni, true})
		if s.CNI != nil && readsSubnets(*s.CNI) {
			list = append(list, need{"ec2:DescribeSubnets", policy.Unscoped, true})
		}
	} else {
		list = append(list, need{"ec2:AssignPrivateIpAddresses", eni, true})
		for _, action := range []string{"AttachNetworkInterface", "CreateNetworkInterface", "ModifyNetworkInterfaceAttribute"} {
			list = append(list, need{"ec2:" + action, eni, false})
		}
	}
	list = append(list, need{"ec2:CreateTags", eni, false})
	if len(types.unknown)+len(types.untold) > 0 {
		list = append(list, need{describeTypes, policy.Unscoped, len(types.unknown) > 0})
	}
	return list
}

// searchesGroups tells that a version of the plugin does not start without
// ec2:DescribeSecurityGroups: 1.22.0 and 1.22.1 look for groups by tag, unless
// subnet discovery is off or custom networking on (amazon-vpc-cni-k8s pull
// request 3709, terraform-aws-eks-pod-identity issue 60; taken back in 1.22.2).
func searchesGroups(c snapshot.CNI) bool {
	version, ok := vpccni.OfImage(c.Image)
	return ok && (version == vpccni.Version{1, 22, 0} || version == vpccni.Version{1, 22, 1}) && discovers(c)
}

// readsSubnets tells that a version of the plugin does not start without
// ec2:DescribeSubnets in an IPv6 cluster, whose policy nobody but its owner writes: from
// 1.22.1 on (awsdocs/amazon-eks-user-guide#1248, eksctl#8835, karpenter-provider-aws#9608:
// "checking to exclude configured subnet"). AmazonEKS_CNI_Policy of IPv4 has it.
func readsSubnets(c snapshot.CNI) bool {
	version, ok := vpccni.OfImage(c.Image)
	return ok && !version.Before(vpccni.Version{1, 22, 1}) && discovers(c)
}

// discovers tells that subnet discovery is on, as it is where nothing is said.
func discovers(c snapshot.CNI) bool {
	return !strings.EqualFold(c.Env["ENABLE_SUBNET_DISCOVERY"], "false") &&
		!strings.EqualFold(c.Env["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"], "true")
}

// auto tells that EKS Auto Mode made an instance: neither a node group, an
// Auto Scaling group nor a Karpenter beside it did. Those bring their own network plugin.
func auto(s *facts.View, i *snapshot.Instance) bool {
	return s.Cluster.AutoMode && !i.ByKarpenter() && i.Tags["eks:nodegroup-name"] == "" && i.Tags["aws:autoscaling:groupName"] == ""
}

// isAuto tells that every instance of a role group is Auto Mode's.
func isAuto(c facts.RoleGroup, s *facts.View) bool {
	return !slices.ContainsFunc(slices.Concat(c.Suspects, c.Well), func(i *snapshot.Instance) bool { return !auto(s, i) })
}

// before is the identity of a pod of aws-node that was made before its service
// account had a role: the webhook gives a pod its credentials when it is made,
// and one without uses those of its node.
func (who cniIdentity) before() cniIdentity {
	return cniIdentity{how: "the node's own role: the pod was made before " + who.how + " was set", later: who.role}
}

// olderPods parts the suspects whose pod of aws-node tells that it has no role
// of its own from the others. A pod whose containers were not read tells nothing.
func olderPods(s *facts.View, list []facts.RoleGroup) (rest, older []facts.RoleGroup) {
	without := map[string]bool{} // by the node's name
	for _, p := range s.Pods {
		if strings.HasPrefix(p.Name, "aws-node") && p.Identity.Told {
			without[p.Node] = p.Identity.Role == "" && !p.Identity.ByAssociation
		}
	}
	nodes := s.Index().Nodes
	for _, c := range list {
		kept, old := c, c
		kept.Suspects, old.Suspects, old.Well = nil, nil, nil
		for _, i := range c.Suspects {
			if n := nodes[i.ID]; n != nil && without[n.Name] && !auto(s, i) {
				old.Suspects = append(old.Suspects, i)
				continue
			}
			kept.Suspects = append(kept.Suspects, i)
		}
		rest = append(rest, kept)
		if len(old.Suspects) > 0 {
			older = append(older, old)
		}
	}
	return rest, older
}

func cniRolePolicies(s *facts.View) []finding.Finding {
	list, blind := s.RoleGroups()
	for i := range list {
		list[i] = list[i].WithStarving(s)
	}
	who, unknown := whoIsCNI(s)
	switch {
	case unknown != nil:
		for _, c := range list {
			blind = append(blind, c.Blocked(*unknown)...)
		}
		return blind
	case who.role != "":
		// One role for the aws-node of all instances, whatever theirs, but for
		// those whose pod was made before.
		list, older := olderPods(s, list)
		for _, c := range older {
			blind = append(blind, cni(c, s, who.before())...)
		}
		if all := with((facts.RoleGroup{Role: who.role}), s, list); len(all.All()) > 0 {
			blind = append(blind, own(all, s, who)...)
		}
		return blind
	}
	for _, c := range list {
		if who.none || isAuto(c, s) {
			blind = append(blind, c.Pass("aws-node", "does not run here"))
			continue
		}
		blind = append(blind, cni(c, s, who)...)
	}
	return blind
}

// with adds the instances of the roleGroups on which aws-node runs. It keeps them
// from becoming Ready, not from registering: where the nodes were read, those
// that have not registered still are suspects, as they come to it later.
func with(c facts.RoleGroup, s *facts.View, list []facts.RoleGroup) facts.RoleGroup {
	for _, other := range list {
		if isAuto(other, s) {
			continue
		}
		c.Suspects = append(c.Suspects, other.Suspects...)
		c.Well = append(c.Well, other.Well...)
	}
	return c
}

// own judges the aws-node that has a role of its own. A target role that EKS cannot assume
// gives no credentials, whatever it may do.
func own(c facts.RoleGroup, s *facts.View, who cniIdentity) []finding.Finding {
	if who.hop == nil || len(c.Suspects) == 0 {
		return cni(c, s, who)
	}
	target, gone, why := facts.ReadRole(s, who.role)
	switch {
	case gone:
		return cni(c, s, who)
	case why != nil: // another account's, mostly
		return c.Blocked(*why)
	}
	first := c
	first.Role = who.hop.Role
	role, gone, why := facts.ReadRole(s, first.Role)
	switch {
	case gone:
		return first.Judged(cniGone(first, s, cniIdentity{role: first.Role, how: "Pod Identity association of kube-system/aws-node"}))
	case why != nil:
		return c.Blocked(*why)
	}
	ungranted, untrusted, open := hopRefusals(s, role, target, *who.hop)
	switch lacks := append(ungranted, untrusted...); {
	case len(lacks) > 0:
		if len(untrusted) > 0 {
			first.Role = target.ARN
		}
		return first.Judged(cannotAssume(s, role, target, *who.hop, ungranted, untrusted))
	case len(open) > 0:
		return c.Blocked(open...)
	}
	return cni(c, s, who)
}

func cannotAssume(s *facts.View, role, target snapshot.Role, a snapshot.PodIdentity, ungranted, untrusted []refusal) finding.Finding {
	lacks := append(slices.Clone(ungranted), untrusted...)
	f := finding.Finding{
		Outcome: finding.Fail,
		Title:   phrase.Title("aws-node gets no credentials: %s may not assume %s", role.Name, target.Name),
		Why: fmt.Sprintf("The Pod Identity association of kube-system/aws-node gives it %s, which EKS assumes with %s. That is refused: %s. Without credentials the network of a new node is not ready.",
			target.ARN, role.ARN, because(lacks)),
		Evidence: []finding.Evidence{
			{What: "Not allowed", Value: strings.Join(actionNames(lacks), ", ")},
			policiesHeld(role),
			{What: "Trust policy of " + target.Name, Value: phrase.Clip(target.Trust)},
		},
		Fix: finding.Fix{Console: link.Role(s, role.ARN)},
	}
	actions := []string{"sts:AssumeRole", "sts:TagSession"}
	if a.Untagged {
		actions = actions[:1]
	}
	if len(untrusted) == 0 {
		f.Fix.Text = fmt.Sprintf("Allow %s on %s in a policy of %s.", phrase.And(actions), target.ARN, role.Name)
		if slices.ContainsFunc(ungranted, func(r refusal) bool { return r.by.Document != "" }) {
			f.Fix.Text, _ = howToGrant(s, role.ARN, ungranted)
		}
		return f
	}
	f.Fix.Console = link.Role(s, target.ARN)
	f.Fix.Text = fmt.Sprintf("Let the trust policy of %s allow %s to %s.", target.Name, phrase.And(actions), role.ARN)
	if a.ExternalID != "" {
		f.Fix.Text += " The association's sts:ExternalId is " + a.ExternalID + "."
	}
	return f
}

func cni(c facts.RoleGroup, s *facts.View, who cniIdentity) []finding.Finding {
	if len(c.Suspects) == 0 {
		return []finding.Finding{c.Pass(c.Name(), "all of its instances are Ready nodes")}
	}
	role, gone, why := facts.ReadRole(s, c.Role)
	switch {
	case gone && who.role == "": // the node's own role: iam/profile-missing says so
		return nil
	case gone:
		return c.Judged(cniGone(c, s, who))
	case why != nil:
		return c.Blocked(*why)
	}
	types := knownTypes(s, c.Suspects)
	needs := cniNeeds(s, types)
	g := granted(s, role, needs, who.sessions...)
	vital := g.vital()
	switch {
	case len(vital) > 0:
		f := cniLacks(c, s, who, role, g, vital)
		if lacksTypes(vital) {
			f.Why += types.why()
			f.Evidence = append(f.Evidence, types.evidence()...)
			f.Fix.Text += " A version of the plugin that knows the type need not ask."
		}
		who.lower(&f)
		return c.Judged(f)
	case len(g.undecided(c.Role)) > 0:
		return c.Blocked(g.undecided(c.Role)...)
	case who.doubt != nil:
		return c.Blocked(*who.doubt)
	case types.unread != nil && lacksTypes(g.missing):
		return c.Blocked(*types.unread)
	case len(surelyMissing(g)) > 0:
		f := cniLacks(c, s, who, role, g, surelyMissing(g))
		f.Confidence = finding.Possible
		f.Why = fmt.Sprintf("aws-node uses %s (%s), which may not %s: %s. It starts without, and fails when a node needs a further interface.",
			c.Role, who.how, phrase.And(actionNames(surelyMissing(g))), because(surelyMissing(g)))
		return c.Judged(f)
	}
	return []finding.Finding{c.Pass("aws-node", fmt.Sprintf("uses %s (%s), which may %s", c.Role, who.how, strings.Join(vitalActions(needs), ", ")))}
}

// surelyMissing are the missing needs, unless a policy is not understood.
func surelyMissing(g grants) []refusal {
	if len(g.unread) > 0 {
		return slices.DeleteFunc(slices.Clone(g.missing), func(r refusal) bool { return r.by.Verdict != policy.Denied })
	}
	return g.missing
}

func cniLacks(c facts.RoleGroup, s *facts.View, who cniIdentity, role snapshot.Role, g grants, lacks []refusal) finding.Finding {
	f := finding.Finding{
		Outcome: finding.Fail,
		Title:   phrase.Title("aws-node may not %s", phrase.Some(actionNames(lacks), 1)),
		Why: fmt.Sprintf("aws-node uses %s (%s), which may not %s: %s. Until it may, the network of a new node is not ready.",
			c.Role, who.how, phrase.And(actionNames(lacks)), because(lacks)),
		Evidence: []finding.Evidence{
			{What: "aws-node", Value: "uses " + c.Role + ": " + who.how},
			policiesHeld(role),
			{What: "Not allowed", Value: strings.Join(actionNames(g.missing), ", ")},
		},
		Fix: finding.Fix{Console: link.Role(s, c.Role)},
	}
	if s.CNI != nil && s.CNI.Image != "" {
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Image of aws-node", Value: s.CNI.Image})
	}
	f.Fix.Text, f.Fix.Command = howToGrant(s, c.Role, lacks)
	if who.later != "" {
		f.Fix.Text = fmt.Sprintf("Make the pods of aws-node anew: they then use %s. A pod keeps the credentials that it was made with.", who.later)
		f.Fix.Command = "kubectl rollout restart daemonset/aws-node --namespace kube-system"
	}
	return f
}

func cniGone(c facts.RoleGroup, s *facts.View, who cniIdentity) finding.Finding {
	f := finding.Finding{
		Outcome: finding.Fail,
		Title:   phrase.Title("aws-node's role %s was deleted", c.Name()),
		Why: fmt.Sprintf("aws-node uses %s (%s), which IAM no longer has. It gets no credentials, so the network of a new node is not ready.",
			c.Role, who.how),
		Evidence: []finding.Evidence{{What: c.Role, Value: "iam:GetRole: " + facts.NoSuchEntity}, {What: "aws-node", Value: "uses " + c.Role + ": " + who.how}},
		Fix: finding.Fix{
			Text:    "Make the role again, or let aws-node use another one, and restart its pods.",
			Console: link.Role(s, c.Role),
		},
	}
	who.lower(&f)
	return f
}

// describeTypes is the action by which the plugin learns of a type that is not in
// its own table. Without it, it ends: "Failed calling DescribeInstanceTypes for
// `c9g.large`: … UnauthorizedOperation" (aws/amazon-vpc-cni-k8s pkg/awsutils/awsutils.go,
// FetchInstanceTypeLimits).
const describeTypes = "ec2:DescribeInstanceTypes"

// typesKnown are the instance types of some instances by what the running version of
// the plugin knows of them.
type typesKnown struct {
	version  vpccni.Version
	unknown  []string // that are not in its table
	untold   []string // of which the data does not say
	unread   *snapshot.Failure
	releases vpccni.Releases
}

// knownTypes looks the types of instances up in the table of the running version.
func knownTypes(s *facts.View, list []*snapshot.Instance) typesKnown {
	var k typesKnown
	var types []string
	for _, i := range list {
		if i.Type != "" && !i.Windows && !slices.Contains(types, i.Type) {
			types = append(types, i.Type)
		}
	}
	slices.Sort(types)
	if s.CNI == nil || len(types) == 0 {
		return k
	}
	version, ok := vpccni.OfImage(s.CNI.Image)
	if !ok {
		k.untold = types
		k.unread = &snapshot.Failure{Source: snapshot.AWSNode, Reason: snapshot.Broken,
			Message: fmt.Sprintf("the version in the image %q is not understood: whether it knows %s without asking EC2 cannot be told", s.CNI.Image, strings.Join(types, ", "))}
		return k
	}
	k.version, k.releases = version, vpccni.ReadReleases()
	for _, name := range types {
		switch knows, told := k.releases.Know(version, name); {
		case !told:
			k.untold = append(k.untold, name)
		case !knows:
			k.unknown = append(k.unknown, name)
		}
	}
	if len(k.untold) > 0 {
		k.unread = &snapshot.Failure{Source: snapshot.AWSNode, Reason: snapshot.NotRead,
			Message: fmt.Sprintf("whether %s knows %s without asking EC2 is not in the data, which goes up to %s of %s", version, strings.Join(k.untold, ", "), k.releases.Newest, k.releases.Date)}
	}
	return k
}

// why ends the reason of a finding.
func (k typesKnown) why() string {
	return fmt.Sprintf(" %s of the plugin does not know %s without asking EC2.", k.version, strings.Join(k.unknown, ", "))
}

// evidence is what the plugin does not know, and from where that is known.
func (k typesKnown) evidence() []finding.Evidence {
	if len(k.unknown) == 0 {
		return nil
	}
	return []finding.Evidence{
		{What: "Not in the table of " + k.version.String(), Value: strings.Join(k.unknown, ", ")},
		{What: "Tables of instance types", Value: fmt.Sprintf("%s, up to %s of %s", vpccni.Source, k.releases.Newest, k.releases.Date)},
	}
}

// lacksTypes tells that a role may not ask for types.
func lacksTypes(lacks []refusal) bool {
	return slices.ContainsFunc(lacks, func(r refusal) bool { return r.action == describeTypes })
}
