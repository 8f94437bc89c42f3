// Package iam holds the checks of iam: who the node is, and what it may do.
package iam

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rollcall/shared/access/awsauth"
	"rollcall/shared/access/policy"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// Checks are the checks of the family.
func Checks() []check.Check {
	return []check.Check{
		roleCheck(checkid.IAMAccessDuplicateMapping, ofRoles(duplicate), snapshot.Clusters, snapshot.Instances,
			snapshot.AWSAuthMap),
		withClasses(classAccessMissing, roleCheck(checkid.IAMAccessMissing, ofRoles(withAccess(missing)), snapshot.Clusters,
			snapshot.Instances)),
		withClasses(classPolicyMissing, roleCheck(checkid.IAMAccessPolicyMissing, ofRoles(withAccess(policyMissing)),
			snapshot.Clusters, snapshot.Instances, snapshot.Access)),
		withClasses(classStale, roleCheck(checkid.IAMAccessStale, ofRoles(withAccess(stale)), snapshot.Clusters,
			snapshot.Instances, snapshot.Access, snapshot.Roles)),
		withClasses(classWrongARN, roleCheck(checkid.IAMAccessWrongARN, ofRoles(withAccess(wrongARN)), snapshot.Clusters,
			snapshot.Instances)),
		withClasses(classWrongType, roleCheck(checkid.IAMAccessWrongType, ofRoles(withAccess(wrongType)), snapshot.Clusters,
			snapshot.Instances, snapshot.Access)),
		// Pods tell which were made before the role was set.
		roleCheck(checkid.IAMCNIRolePolicies, cniRolePolicies, snapshot.Clusters, snapshot.Instances,
			snapshot.Profiles, snapshot.Roles, snapshot.AWSNode).Using(snapshot.Pods, snapshot.WaitingPods,
			snapshot.PodEventsOf),
		roleCheck(checkid.IAMAWSAuthInvalid, awsAuthInvalid, snapshot.Clusters, snapshot.Instances,
			snapshot.AWSAuthMap),
		roleCheck(checkid.IAMProfileMissing, profileMissing, snapshot.Instances, snapshot.Profiles),
		roleCheck(checkid.IAMRolePolicies, ofRoles(policies), snapshot.Clusters, snapshot.Instances,
			snapshot.Profiles, snapshot.Roles),
		roleCheck(checkid.IAMRoleTrust, ofRoles(trust), snapshot.Instances, snapshot.Profiles, snapshot.Roles),
		roleCheck(checkid.IAMSTSEndpoint, stsEndpoint, snapshot.Clusters, snapshot.Instances, snapshot.Subnets,
			snapshot.RouteTables, snapshot.Endpoints, snapshot.Consoles),
		roleCheck(checkid.IAMSTSRegionDeactivated, stsRegionDeactivated, snapshot.Instances),
	}
}

// roleCheck is a check of roles: whose role counts, and where it is mapped,
// depends on the cluster.
func roleCheck(id checkid.ID, run func(*check.View) []check.Finding, needs ...snapshot.Source) check.Check {
	return check.New(id, run, needs...).Using(
		snapshot.Profiles, snapshot.Roles, snapshot.Access, snapshot.AWSAuthMap, snapshot.AWSNode, snapshot.Pods, snapshot.PodIdentities, snapshot.Addons, snapshot.Consoles,
	)
}

// ofRoles judges each node role of the scope.
func ofRoles(judge func(check.RoleGroup, *check.View) []check.Finding) func(*check.View) []check.Finding {
	return func(s *check.View) []check.Finding {
		list, found := s.RoleGroups()
		for _, c := range list {
			found = append(found, judge(c, s)...)
		}
		return found
	}
}

// withAccess judges how a node role with pending instances gets into the cluster.
func withAccess(judge func(check.RoleGroup, *check.View, access) []check.Finding) func(check.RoleGroup, *check.View) []check.Finding {
	return func(c check.RoleGroup, s *check.View) []check.Finding {
		a, why := accessOf(s, c)
		switch {
		case len(c.Suspects) == 0:
			return []check.Finding{c.Pass(c.Name(), "all of its instances are Ready nodes")}
		case why != nil:
			return c.Blocked(*why)
		}
		return judge(c, s, a)
	}
}

// createAccessEntry is the remedy (package remedy) that makes one.
const createAccessEntry = "create-access-entry"

// where names the places in which the cluster looks a role up.
func (a access) where(s *check.View) string {
	switch {
	case a.byEntry && a.byMap:
		return "neither an access entry nor a mapping in aws-auth"
	case a.byEntry:
		return "no access entry"
	case s.AWSAuth == nil:
		return "no mapping: there is no ConfigMap kube-system/aws-auth"
	}
	return "no mapping in kube-system/aws-auth"
}

// entryKind is the type that an access entry for the role group must have.
func entryKind(c check.RoleGroup, s *check.View) string {
	some := slices.Concat(c.Suspects, c.Well)
	switch {
	case len(some) > 0 && some[0].Windows:
		return "EC2_WINDOWS"
	case isAuto(c, s):
		return "EC2"
	}
	return "EC2_LINUX"
}

// admit is the fix that lets a role's nodes in, by what the cluster looks at.
func admit(c check.RoleGroup, s *check.View, a access) check.Fix {
	fix := check.Fix{Console: s.AccessLink()}
	if a.byEntry {
		fix.Text = "Create an access entry for the role. Waiting nodes then join."
		fix.Command = create(c, s)
		fix.Remedy = createAccessEntry
		return fix
	}
	fix.Text = fmt.Sprintf("Map %s in mapRoles of kube-system/aws-auth. Waiting nodes then join without further action.", awsauth.Canonical(c.Role))
	fix.Command = shell.Command("eksctl", "create", "iamidentitymapping", "--region", s.Region, "--cluster", s.Cluster.Name,
		"--arn", awsauth.Canonical(c.Role), "--username", "system:node:{{EC2PrivateDNSName}}", "--group", "system:bootstrappers", "--group", "system:nodes")
	return fix
}

func create(c check.RoleGroup, s *check.View) string {
	if entryKind(c, s) == "EC2" {
		return check.JoinCommands(createAuto(s, c.Role))
	}
	return s.AWSCommand("eks create-access-entry", "--cluster-name", s.Cluster.Name, "--principal-arn", c.Role, "--type", entryKind(c, s))
}

// modeEvidence is the authentication mode.
func modeEvidence(s *check.View) check.Evidence {
	value := s.Cluster.AuthMode
	if value == "" {
		value = "CONFIG_MAP (EKS reports none)"
	}
	return check.Evidence{What: "Authentication mode of " + s.Cluster.Name, Value: value}
}

func awsAuthInvalid(s *check.View) []check.Finding {
	list, blind := s.RoleGroups()
	if _, why := accessOf(s, check.RoleGroup{}); why != nil {
		return append(blind, check.Unread(s.Cluster.Name, []string{s.Cluster.Name}, *why))
	}
	if s.Cluster.AuthMode == "API" {
		return append(blind, passRoles(s, list, "is not read in the mode API")...)
	}
	if s.AWSAuth == nil {
		return append(blind, passRoles(s, list, "does not exist")...)
	}
	if _, err := awsauth.Roles(s.AWSAuth.MapRoles); err != nil {
		return append(blind, invalidMap(s, list, err)...)
	}
	return append(blind, passRoles(s, list, "mapRoles is a list")...)
}

// passRoles passes the instances of all roleGroups, else the cluster.
func passRoles(s *check.View, list []check.RoleGroup, value string) []check.Finding {
	f := check.Finding{Outcome: check.Pass, Resource: "kube-system/aws-auth", Evidence: []check.Evidence{{What: "aws-auth", Value: value}}}
	for _, c := range list {
		f.Covers = append(f.Covers, c.All()...)
	}
	if len(f.Covers) == 0 {
		f.Covers = []string{s.Cluster.Name}
	}
	return []check.Finding{f}
}

// invalidMap is one finding: the ConfigMap is what must change. It covers the
// instances that have nothing else to come in by, else the cluster.
func invalidMap(s *check.View, list []check.RoleGroup, err error) []check.Finding {
	f := check.Failed("kube-system/aws-auth").
		Titled("aws-auth of %s cannot be parsed", s.Cluster.Name).
		Because("%s cannot %s. It knows none of its roles, and answers their nodes with 401 Unauthorized.", s.Cluster.Name, check.Clip(err.Error())).
		// The text may hold names of people; where it breaks is in the error.
		Noting("mapRoles of kube-system/aws-auth", check.Clip(err.Error())).
		Showing(modeEvidence(s)).
		ToFix("Rewrite mapRoles as a list of entries with rolearn, username and groups.").
		Command("kubectl edit configmap aws-auth -n kube-system").Console(s.AccessLink())
	pass := check.Finding{Outcome: check.Pass, Resource: f.Resource, Evidence: []check.Evidence{{What: "aws-auth", Value: "others have access through an access entry, or are Ready nodes"}}}
	var out []check.Finding
	for _, c := range list {
		a, _ := accessOf(s, c) // its mode is known
		switch {
		case a.entry != nil:
			pass.Covers = append(pass.Covers, c.All()...)
		case len(a.unread) > 0:
			out = append(out, c.Blocked(a.unread...)...)
		default:
			f.Covers = append(f.Covers, check.IDs(c.Suspects)...)
			pass.Covers = append(pass.Covers, check.IDs(c.Well)...)
			if len(c.Suspects) > 0 {
				c.WeakenByReadyNode(&f)
				f = f.Showing(c.Evidence())
			}
		}
	}
	f.Instances = f.Covers
	if len(f.Covers) == 0 {
		// No node waits for it; in the mode CONFIG_MAP none can come either.
		f.Covers = []string{s.Cluster.Name}
		if s.Cluster.AuthMode == "API_AND_CONFIG_MAP" {
			f.Confidence = check.Advice
		}
	}
	if len(pass.Covers) > 0 {
		out = append(out, pass)
	}
	return append(out, f)
}

// EKS Auto Mode launches nothing for a NodeClass with a role that could not join: its
// condition InstanceProfileReady is UnauthorizedNodeRole. EKS admits the role of the built-in
// NodeClass by itself; any other needs an access entry of type EC2 with the access policy
// AmazonEKSAutoNodePolicy for the cluster (EKS user guide, "Create a Node Class for Amazon
// EKS", https://docs.aws.amazon.com/eks/latest/userguide/create-node-class.html).

// autoNodePolicy is the access policy that Auto Mode's nodes need.
const autoNodePolicy = "AmazonEKSAutoNodePolicy"

// classRole is a node role of NodeClasses in use that the cluster refuses.
type classRole struct {
	snapshot.ClassRole
	// arn is the role's; made of its name where it could not be read.
	arn string
	// classes are the NodeClasses in use, pools the NodePools that name them.
	classes, pools []string
	covers         []string
	refusals       []check.Evidence
}

// withClasses is a check of node roles that judges those of refused NodeClasses too; in a
// sweep at which no instance is in trouble it judges those alone.
func withClasses(judge func(*check.View, classRole) []check.Finding, c check.Check) check.Check {
	sources := []snapshot.Source{snapshot.NodePoolsOf, snapshot.AutoNodeClassesOf, snapshot.ClassAccess}
	ofInstances := c.Run
	ofClasses := func(s *check.View) []check.Finding { return judgeClasses(s, judge) }
	c = c.Using(sources...)
	c.Run = func(s *check.View) []check.Finding { return append(ofInstances(s), ofClasses(s)...) }
	c.InSweep = &check.Part{Needs: []snapshot.Source{snapshot.Clusters}, Uses: sources, Run: ofClasses}
	return c
}

// judgeClasses judges the roles of NodeClasses that NodePools name. Where those were not read
// karpenter/nodeclass-not-ready is Unknown.
func judgeClasses(s *check.View, judge func(*check.View, classRole) []check.Finding) []check.Finding {
	var v check.Verdicts
	var unread []check.Finding
	roles := map[string]*classRole{}
	for class, u := range autoClassesInUse(s) {
		is, refused := class.Unauthorized()
		switch {
		case class.Conditions["InstanceProfileReady"].Status == "True", class.Conditions["Ready"].Status == "True":
			v.Pass(s.Cluster.Name, u.covers, check.Evidence{What: "NodeClass " + class.Name, Value: "its node role is not rejected"})
		case !refused || !check.Held(s, is, class.Generation, check.ClassSettles):
		default:
			r, why := roleOfClass(s, class.Name)
			if why != nil {
				unread = append(unread, check.Unread(class.Name, u.covers, *why))
				continue
			}
			if roles[r.Name] == nil {
				roles[r.Name] = &classRole{ClassRole: r, arn: cmp.Or(r.ARN, fmt.Sprintf("arn:%s:iam::%s:role/%s", s.Partition, s.Account, r.Name))}
			}
			c := roles[r.Name]
			c.classes, c.pools, c.covers = append(c.classes, class.Name), append(c.pools, u.pools...), append(c.covers, u.covers...)
			c.refusals = append(c.refusals, check.Evidence{
				What:  "NodeClass " + class.Name,
				Value: fmt.Sprintf("InstanceProfileReady is False, %s: %s (since %s)", is.Reason, check.Clip(is.Message), check.ClockTime(is.Since)),
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		for _, f := range judge(s, *roles[name]) {
			v.Fail(f)
		}
	}
	return append(v.Findings(), unread...)
}

type classUse struct{ pools, covers []string }

// autoClassesInUse yields the NodeClasses of EKS Auto Mode that NodePools name, in the order
// of their names.
func autoClassesInUse(s *check.View) func(yield func(snapshot.NodeClass, classUse) bool) {
	uses := map[string]classUse{}
	for _, p := range s.NodePools {
		if p.Class.Group == snapshot.AutoModeGroup && !p.Deleting {
			u := uses[p.Class.Name]
			uses[p.Class.Name] = classUse{append(u.pools, p.Name), append(u.covers, check.PoolKey(p.Name))}
		}
	}
	return func(yield func(snapshot.NodeClass, classUse) bool) {
		for _, name := range slices.Sorted(maps.Keys(uses)) {
			ref := snapshot.ClassRef{Group: snapshot.AutoModeGroup, Name: name}
			class, _ := check.Class(s, ref)
			if class == nil || class.Deleting {
				continue
			}
			u := uses[name]
			u.covers = append(u.covers, check.ClassKey(ref))
			if !yield(*class, u) {
				return
			}
		}
	}
}

// roleOfClass is what was read of a refused NodeClass's role.
func roleOfClass(s *check.View, class string) (snapshot.ClassRole, *snapshot.Failure) {
	if !s.Has(snapshot.ClassAccess) {
		f := s.Why(snapshot.ClassAccess)
		return snapshot.ClassRole{}, &f
	}
	for _, r := range s.ClassRoles {
		if slices.Contains(r.Classes, class) {
			return r, nil
		}
	}
	f, lacks := s.Lacks(snapshot.ClassAccess, class)
	if !lacks {
		f = check.NotRead(snapshot.ClassAccess, "the role of NodeClass %s is not among those that were read", class)
	}
	return snapshot.ClassRole{}, &f
}

// unread is why the role itself is not known: whether it has a path, and since when it is
// there; nil where it was read. A role that IAM does not have is not known either.
func (c classRole) unread(s *check.View) *snapshot.Failure {
	if c.ARN != "" {
		return nil
	}
	f, lacks := s.Lacks(snapshot.ClassAccess, c.Name)
	if !lacks {
		f = s.Why(snapshot.ClassAccess)
	}
	return &f
}

// entry is the access entry of the role; nil for none. Where the role could not be read it is
// the one of its name, if that is the only one.
func (c classRole) entry() *snapshot.AccessEntry {
	for i, e := range c.Entries {
		if strings.EqualFold(e.Principal, c.arn) || c.ARN == "" && len(c.Entries) == 1 {
			return &c.Entries[i]
		}
	}
	return nil
}

func (c classRole) pass(what, value string) []check.Finding {
	return []check.Finding{check.Passed(c.arn, c.covers...).Noting(what, value)}
}

func (c classRole) blocked(why snapshot.Failure) []check.Finding {
	return []check.Finding{check.Unread(c.arn, c.covers, why)}
}

// failed is a finding on the role: what it lacks, in a clause after its name, and the fix.
func (c classRole) failed(s *check.View, title, lacks string, fix check.Fix, evidence ...check.Evidence) check.Finding {
	f := check.Failed(c.arn, c.covers...).Involving(append([]string{c.Name}, c.classes...)...).
		Titled("%s", title).
		Because("%s, the node role of NodeClass %s, %s. EKS Auto Mode launches no node for NodePool %s until %s grants the role access.",
			c.arn, check.And(c.classes), lacks, check.Some(c.pools, 3), s.Cluster.Name).
		Showing(c.refusals...).Showing(evidence...).Showing(modeEvidence(s)).
		FixedBy(fix).Console(s.AccessLink())
	f.Unconditional = true
	return f
}

// createAuto are the commands that make the access entry of a role of Auto Mode's nodes.
func createAuto(s *check.View, role string) []string {
	return []string{
		s.AWSCommand("eks create-access-entry", "--cluster-name", s.Cluster.Name, "--principal-arn", role, "--type", "EC2"),
		associateAuto(s, role),
	}
}

func associateAuto(s *check.View, role string) string {
	return s.AWSCommand("eks associate-access-policy", "--cluster-name", s.Cluster.Name, "--principal-arn", role,
		"--policy-arn", fmt.Sprintf("arn:%s:eks::aws:cluster-access-policy/%s", s.Partition, autoNodePolicy), "--access-scope", "type=cluster")
}

// recreateAuto are the commands that replace the access entry.
func recreateAuto(s *check.View, role string) string {
	return check.JoinCommands(append([]string{deleteEntry(s, role)}, createAuto(s, role)...))
}

func deleteEntry(s *check.View, role string) string {
	return s.AWSCommand("eks delete-access-entry", "--cluster-name", s.Cluster.Name, "--principal-arn", role)
}

const admitsItself = " EKS Auto Mode then retries."

func classAccessMissing(s *check.View, c classRole) []check.Finding {
	if len(c.Entries) > 0 {
		return c.pass("Access entry of "+c.Name, "exists")
	}
	f := c.failed(s, check.Title("%s rejects the node role %s", s.Cluster.Name, c.Name),
		fmt.Sprintf("has no access entry in %s", s.Cluster.Name),
		check.Fix{Text: "Create an access entry of type EC2 for the role, with the access policy " + autoNodePolicy + "." + admitsItself, Command: check.JoinCommands(createAuto(s, c.arn))})
	return []check.Finding{f}
}

func classWrongType(s *check.View, c classRole) []check.Finding {
	e := c.entry()
	switch {
	case e == nil, e.Type == "EC2":
		return c.pass("Access entry of "+c.Name, check.FirstOf(typesOf(e), "none"))
	case !knownType(e.Type):
		return c.blocked(unknownType(c.arn, e.Type))
	}
	f := c.failed(s, check.Title("access entry of %s is %s, not EC2", c.Name, e.Type),
		fmt.Sprintf("has an access entry of type %s in %s, and nodes of EKS Auto Mode need one of type EC2", e.Type, s.Cluster.Name),
		check.Fix{Text: "Delete the access entry and recreate it with type EC2 and the access policy " + autoNodePolicy + ": its type cannot be changed." + admitsItself, Command: recreateAuto(s, e.Principal)},
		entryEvidence(*e))
	if e.Type == "EC2_LINUX" {
		// Some setups report that Auto Mode takes it; AWS documents EC2 alone.
		f.Confidence = check.Likely
	}
	return []check.Finding{f}
}

func typesOf(e *snapshot.AccessEntry) []string {
	if e == nil {
		return nil
	}
	return []string{e.Type}
}

func entryEvidence(e snapshot.AccessEntry) check.Evidence {
	value := fmt.Sprintf("type %s, user %q, groups %q", e.Type, e.Username, e.Groups)
	if !e.Created.IsZero() {
		value += ", created " + e.Created.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return check.Evidence{What: "Access entry of " + e.Principal, Value: value}
}

// classWrongARN: an entry of the role's name under another path is of another role. And Auto
// Mode itself looks for the entry of the role's name without its path, so that a role with a
// path had none, whatever EKS has (aws/containers-roadmap#2486).
func classWrongARN(s *check.View, c classRole) []check.Finding {
	if len(c.Entries) == 0 {
		return c.pass("Access entry of "+c.Name, "none")
	}
	if why := c.unread(s); why != nil {
		return c.blocked(*why)
	}
	e := c.entry()
	if e == nil {
		return []check.Finding{c.failed(s, check.Title("the access entry of %s has another path", c.Name),
			fmt.Sprintf("has no access entry in %s: the one with its name is %s, another role's", s.Cluster.Name, c.Entries[0].Principal),
			check.Fix{Text: "Create an access entry of type EC2 for the role, with the access policy " + autoNodePolicy + "." + admitsItself, Command: check.JoinCommands(createAuto(s, c.arn))},
			check.Evidence{What: "Access entry", Value: c.Entries[0].Principal})}
	}
	lacks, why := lackOfAutoPolicy(s, snapshot.ClassAccess, *e)
	switch {
	case strings.HasSuffix(c.arn, ":role/"+c.Name), e.Type != "EC2", lacks != "", staleEntry(*e, c.Created):
		return c.pass("Access entry of "+c.Name, e.Principal)
	case why != nil:
		return c.blocked(*why)
	}
	f := c.failed(s, check.Title("the node role %s has a path", c.Name),
		"has a correct access entry and a path, and EKS Auto Mode looks for the entry of the role's name without its path",
		check.Fix{Text: fmt.Sprintf("Name a role without a path in NodeClass %s, and create an access entry of type EC2 with the access policy %s for it.", check.And(c.classes), autoNodePolicy)},
		entryEvidence(*e))
	f.Confidence = check.Likely
	return []check.Finding{f}
}

func classPolicyMissing(s *check.View, c classRole) []check.Finding {
	e := c.entry()
	if e == nil || e.Type != "EC2" {
		return c.pass("Access entry of "+c.Name, check.FirstOf(typesOf(e), "none"))
	}
	lacks, why := lackOfAutoPolicy(s, snapshot.ClassAccess, *e)
	switch {
	case why != nil:
		return c.blocked(*why)
	case lacks == "":
		return c.pass("Access policies of "+c.Name, autoNodePolicy)
	}
	return []check.Finding{c.failed(s, check.Title("the access entry of %s lacks %s", c.Name, autoNodePolicy),
		lacks, check.Fix{Text: "Associate the access policy with the role's access entry, for the whole cluster." + admitsItself, Command: associateAuto(s, e.Principal)},
		entryEvidence(*e), policiesOf(*e))}
}

func classStale(s *check.View, c classRole) []check.Finding {
	e := c.entry()
	if e == nil {
		return c.pass("Access entry of "+c.Name, "none")
	}
	if why := c.unread(s); why != nil {
		return c.blocked(*why)
	}
	if !staleEntry(*e, c.Created) {
		return c.pass("Access entry of "+c.Name, "is newer than the role")
	}
	f := c.failed(s, check.Title("the access entry of %s belongs to a deleted role", c.Name),
		staleWhy(s),
		check.Fix{Text: "Delete the access entry and recreate it." + admitsItself, Command: recreateAuto(s, e.Principal)},
		entryEvidence(*e), createdEvidence(c.arn, c.Created))
	return []check.Finding{staleDoubt(f, *e, c.Created)}
}

// need is an action that a principal must be allowed.
type need struct {
	action   string
	resource string // of policy.Request
	// vital needs are those without which no node becomes Ready.
	vital bool
}

// grants is what a role's policies say of some needs.
type grants struct {
	missing []refusal
	// open are the needs that hang on what cannot be known from here.
	open []refusal
	// unread are the policies that are not understood: nothing is certain.
	unread []snapshot.Failure
}

// refusal is a need that is not granted, and why.
type refusal struct {
	need
	by policy.Decision
}

// granted judges a role's needs by its policies, inline and managed, within
// its boundary and the session policies that it is assumed with.
func granted(s *check.View, role snapshot.Role, needs []need, sessions ...snapshot.Policy) grants {
	var g grants
	parse := func(p snapshot.Policy) (policy.Document, bool) {
		if f, lacks := s.Lacks(snapshot.Roles, p.ARN); lacks && p.ARN != "" {
			g.unread = append(g.unread, f)
			return policy.Document{}, false
		}
		d, err := policy.Parse(p.Document)
		if err != nil {
			g.unread = append(g.unread, unparsed("policy "+p.Name+" of "+role.ARN, err))
			return policy.Document{}, false
		}
		d.Name = p.Name
		return d, true
	}
	var documents []policy.Document
	for _, p := range role.Policies {
		if d, ok := parse(p); ok {
			documents = append(documents, d)
		}
	}
	var limits []policy.Document
	if role.Boundary != nil {
		if d, ok := parse(*role.Boundary); ok {
			d.Name = "the permissions boundary " + d.Name
			limits = append(limits, d)
		}
	}
	for _, p := range sessions {
		if d, ok := parse(p); ok {
			limits = append(limits, d)
		}
	}
	for _, n := range needs {
		by := policy.Effective(documents, limits, policy.Request{
			Action: n.action, Resource: n.resource, Caller: policy.Caller{ARN: role.ARN}, Facts: callFacts(s),
		})
		switch by.Verdict {
		case policy.Silent, policy.Denied:
			g.missing = append(g.missing, refusal{n, by})
		case policy.Depends:
			g.open = append(g.open, refusal{n, by})
		}
	}
	return g
}

// callFacts are the condition keys that every call of a node has with a known
// value (IAM user guide, "AWS global condition context keys"). An instance's
// credentials are never made with MFA.
func callFacts(s *check.View) map[string][]string {
	return map[string][]string{
		"aws:RequestedRegion":        {s.Region},
		"ec2:Region":                 {s.Region},
		"aws:SecureTransport":        {"true"},
		"aws:ViaAWSService":          {"false"},
		"aws:PrincipalIsAWSService":  {"false"},
		"aws:MultiFactorAuthPresent": {},
		"aws:MultiFactorAuthAge":     {},
	}
}

// vital are the missing ones without which no node becomes Ready. With a
// policy that is not understood, only what a Deny says is sure.
func (g grants) vital() []refusal {
	return slices.DeleteFunc(slices.Clone(g.missing), func(r refusal) bool {
		return !r.vital || len(g.unread) > 0 && r.by.Verdict != policy.Denied
	})
}

// undecided is what keeps from saying that all vital needs are granted.
func (g grants) undecided(role string) []snapshot.Failure {
	list := slices.Clone(g.unread)
	for _, r := range g.open {
		if r.vital {
			list = append(list, check.NotRead(snapshot.Roles, "whether %s is allowed to %s %s", check.LastPart(role), r.action, r.by))
		}
	}
	return list
}

func actionNames(list []refusal) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = r.action
	}
	return out
}

// because tells why actions are refused: the statements that deny, the
// boundary, or that no policy grants them.
func because(list []refusal) string {
	var reasons []string
	for _, r := range list {
		reason := "no policy of the role grants it"
		switch {
		case r.by.Verdict == policy.Denied:
			reason = fmt.Sprintf("%s of %s denies it", r.by.Statement, r.by.Document)
		case r.by.Document != "":
			reason = r.by.Document + " does not grant it"
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return strings.Join(reasons, "; ")
}

// policiesHeld names a role's policies for a person.
func policiesHeld(role snapshot.Role) check.Evidence {
	var names []string
	for _, p := range role.Policies {
		if p.ARN == "" {
			names = append(names, p.Name+" (inline)")
			continue
		}
		names = append(names, p.Name)
	}
	value := "none"
	if len(names) > 0 {
		value = strings.Join(names, ", ")
	}
	if role.Boundary != nil {
		value += "; boundary " + role.Boundary.Name
	}
	return check.Evidence{What: "Policies of " + role.Name, Value: check.Clip(value)}
}

// attachPolicies is the command that gives a role AWS's own policies.
func attachPolicies(s *check.View, role string, policies ...string) string {
	var commands []string
	for _, name := range policies {
		commands = append(commands, s.AWSCommand("iam attach-role-policy", "--role-name", check.LastPart(role), "--policy-arn", fmt.Sprintf("arn:%s:iam::aws:policy/%s", s.Partition, name)))
	}
	return check.JoinCommands(commands)
}

func profileMissing(s *check.View) []check.Finding {
	suspects, well := s.Pending()
	var list []check.Finding
	var lost []loss
	var good []*snapshot.Instance
	for _, i := range suspects {
		if i.Profile == "" && i.Ended() {
			continue // EC2 forgets the profile of an instance that has ended
		}
		l, why := lossOf(s, i)
		switch {
		case why != nil:
			list = append(list, check.Unread(i.ID, []string{i.ID}, *why))
		case l.kind == "":
			good = append(good, i)
		default:
			lost = l.addTo(lost)
		}
	}
	list = check.Together(list)
	for _, l := range lost {
		list = append(list, l.finding(s))
	}
	good = append(good, well...)
	return check.Passing(list, s.Cluster.Name, check.IDs(good))
}

// loss is how instances came to have no role.
type loss struct {
	kind      string // empty for none
	resource  string
	profile   string
	role      string // that was deleted
	instances []*snapshot.Instance
}

// The kinds.
const (
	noProfile      = "no instance profile"
	profileDeleted = "profile deleted"
	profileEmpty   = "profile empty"
	roleDeleted    = "role deleted"
)

// lossOf tells how an instance came to have no role, or what kept from
// telling.
func lossOf(s *check.View, i *snapshot.Instance) (loss, *snapshot.Failure) {
	l := loss{instances: []*snapshot.Instance{i}, resource: i.Profile, profile: i.Profile}
	if i.Profile == "" {
		l.kind, l.resource = noProfile, i.ID
		if i.Template.ID != "" {
			l.resource = i.Template.ID // which started them all like this
		}
		return l, nil
	}
	p, read := check.ProfileOf(s, i.Profile)
	lack, lacks := s.Lacks(snapshot.Profiles, i.Profile)
	switch {
	case lacks && lack.Code == check.NoSuchEntity:
		l.kind = profileDeleted
	case lacks:
		return l, &lack
	case !read:
		return l, &snapshot.Failure{Source: snapshot.Profiles, Reason: snapshot.NotRead, Message: i.Profile + " is not among the instance profiles that were read"}
	case len(p.Roles) == 0:
		l.kind = profileEmpty
	default:
		// IAM refuses to delete a role that is in a profile, but the profile
		// may have been read before.
		if f, lacks := s.Lacks(snapshot.Roles, p.Roles[0]); lacks && f.Code == check.NoSuchEntity {
			l.kind, l.role = roleDeleted, p.Roles[0]
		}
	}
	return l, nil
}

// addTo adds a loss to the one of the same kind and resource.
func (l loss) addTo(list []loss) []loss {
	i := slices.IndexFunc(list, func(o loss) bool { return o.kind == l.kind && o.resource == l.resource })
	if i < 0 {
		return append(list, l)
	}
	list[i].instances = append(list[i].instances, l.instances...)
	return list
}

func (l loss) finding(s *check.View) check.Finding {
	who := check.IDs(l.instances)
	f := check.Finding{
		Outcome: check.Fail, Resource: l.resource, Covers: who, Instances: who,
		Fix: check.Fix{Console: s.EC2Link("InstanceDetails:instanceId=" + who[0])},
	}
	if l.resource != who[0] {
		f.Resources = append([]string{l.resource}, who[:min(len(who), 5)]...)
	}
	profile := check.LastPart(l.profile)
	switch l.kind {
	case noProfile:
		f.Title = check.Title("%s %s no instance profile", check.Subject(who, "instance"), check.Verb(who, "has", "have"))
		f.Why = fmt.Sprintf("%s %s started without an instance profile, so %s no role and no credentials. The kubelet cannot authenticate to %s.",
			check.Some(who, 3), check.Verb(who, "was", "were"), check.Verb(who, "it has", "they have"), s.Cluster.Name)
		f.Evidence = []check.Evidence{{What: check.Subject(who, "instance"), Value: "EC2 lists no IamInstanceProfile"}}
		f.Fix.Text = "Name an instance profile with the node role in the launch template, and replace the instances. To give one to a running instance, put its name in the place of <profile>:"
		f.Fix.Command = s.AWSCommand("ec2 associate-iam-instance-profile", "--instance-id", who[0], "--iam-instance-profile", "Name="+shell.Placeholder("profile"))
	case profileDeleted:
		f.Title = check.Title("instance profile %s was deleted", profile)
		f.Why = fmt.Sprintf("%s %s started with %s, which no longer exists in IAM. There are no credentials for %s.", check.Some(who, 3), check.Verb(who, "was", "were"), l.profile, check.Verb(who, "it", "them"))
		f.Evidence = []check.Evidence{{What: l.profile, Value: "iam:GetInstanceProfile: " + check.NoSuchEntity}}
		f.Fix.Text = "Recreate the profile with the node role in it, and replace the instances: a running one keeps the deleted profile."
		f.Fix.Command = s.AWSCommand("iam create-instance-profile", "--instance-profile-name", profile)
	case profileEmpty:
		f.Title = check.Title("instance profile %s has no role", profile)
		f.Why = fmt.Sprintf("%s has no role in it, so %s %s no credentials and cannot authenticate to %s.", l.profile, check.Some(who, 3), check.Verb(who, "has", "have"), s.Cluster.Name)
		f.Evidence = []check.Evidence{{What: l.profile, Value: "no roles"}}
		f.Fix.Text = "Put the node role into the profile: its name in the place of <node role>."
		f.Fix.Command = s.AWSCommand("iam add-role-to-instance-profile", "--instance-profile-name", profile, "--role-name", shell.Placeholder("node role"))
	case roleDeleted:
		f.Title = check.Title("node role %s was deleted", check.LastPart(l.role))
		f.Why = fmt.Sprintf("%s has %s, which no longer exists in IAM. %s no credentials.", profile, l.role, check.Some(who, 3)+check.Verb(who, " gets", " get"))
		f.Evidence = []check.Evidence{{What: l.role, Value: "iam:GetRole: " + check.NoSuchEntity}, {What: l.profile, Value: "has " + l.role}}
		f.Resources = append([]string{l.role}, f.Resources...)
		f.Fix.Text = "Recreate the role with its trust and its policies, put it into the profile, and recreate its access entry: an entry belongs to the deleted role, not to its name."
		f.Fix.Console = s.RoleLink(l.role)
	}
	return f
}
