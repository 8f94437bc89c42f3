package iam

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/access/policy"
	"rollcall/shared/checks/check"
	"rollcall/shared/network/path"
	"rollcall/shared/node/vpccni"
	"rollcall/shared/snapshot"
)

func policies(c check.RoleGroup, s *check.View) []check.Finding {
	if len(c.Suspects) == 0 {
		return []check.Finding{c.Pass(c.Name(), "all of its instances are Ready nodes")}
	}
	role, gone, why := check.ReadRole(s, c.Role)
	switch {
	case gone: // iam/profile-missing says so
		return nil
	case why != nil:
		return c.Blocked(*why)
	}
	needs, types := needs(c, s), knownTypes(s, c.Suspects)
	who, unknown := whoIsCNI(s)
	own := unknown == nil && (who.none || who.role != "") || isAuto(c, s)
	if !own && unknown == nil {
		needs = append(needs, cniNeeds(s, types)...)
	}
	g := granted(s, role, needs)
	vital := g.vital()
	if len(vital) > 0 {
		f := lacking(c, s, role, g, vital, own)
		if d := who.doubt; !own && unknown == nil && d != nil && d.Call != "" {
			f.Why += fmt.Sprintf(" Whether a Pod Identity association gives it one was not checked (%s: %s).", d.Call, d.Reason)
		}
		if lacksTypes(vital) {
			f.Why += types.why()
			f = f.Showing(types.evidence()...)
		}
		return c.Judged(f)
	}
	undecided := g.undecided(c.Role)
	if !own && unknown != nil && len(granted(s, role, cniNeeds(s, types)).missing) > 0 {
		undecided = append(undecided, *unknown)
	}
	if len(undecided) > 0 {
		return c.Blocked(undecided...)
	}
	return []check.Finding{c.Pass("Policies of "+c.Name(), "allow "+strings.Join(vitalActions(needs), ", "))}
}

func lacking(c check.RoleGroup, s *check.View, role snapshot.Role, g grants, vital []refusal, own bool) check.Finding {
	names := actionNames(vital)
	f := c.Failed().
		Titled("%s lacks %s", c.Name(), check.Some(names, 1)).
		Because("Nodes with %s must call %s before they are Ready, and are not allowed to: %s.",
			c.Role, check.Some(names, 6), because(vital)).
		Showing(policiesHeld(role)).
		Noting("Not allowed", strings.Join(actionNames(g.missing), ", ")).
		ToFix("Allow the actions.").Console(s.RoleLink(c.Role))
	if !own && slices.ContainsFunc(names, isCNIs(s)) {
		f.Why += " aws-node has no role of its own and uses the node's."
	}
	f.Fix.Text, f.Fix.Command = howToGrant(s, c.Role, vital)
	return f
}

// howToGrant is how to allow what is missing: AWS's own policies, unless a
// statement or a boundary stands against it.
func howToGrant(s *check.View, role string, missing []refusal) (text, command string) {
	if i := slices.IndexFunc(missing, func(r refusal) bool { return r.by.Document != "" }); i >= 0 {
		return fmt.Sprintf("Change %s: attaching more policies does not help against it.", missing[i].by.Document), ""
	}
	var policies []string
	add := func(name string) {
		if !slices.Contains(policies, name) {
			policies = append(policies, name)
		}
	}
	for _, r := range missing {
		switch {
		case r.action == "ec2:AssignIpv6Addresses":
			return "AWS has no managed policy for aws-node in an IPv6 cluster: create one with the actions in the user guide (Configure Amazon VPC CNI plugin to use IRSA) and attach it to " + check.LastPart(role) + ".", ""
		case strings.HasPrefix(r.action, "ecr:"):
			add("AmazonEC2ContainerRegistryPullOnly")
		case isCNIs(s)(r.action):
			add("AmazonEKS_CNI_Policy")
		default:
			add("AmazonEKSWorkerNodePolicy")
		}
	}
	return "Attach AWS's managed policy for it, or add the actions to your own policy.", attachPolicies(s, role, policies...)
}

func isCNIs(s *check.View) func(string) bool {
	return func(action string) bool {
		return action == describeTypes || slices.ContainsFunc(cniNeeds(s, typesKnown{}), func(n need) bool { return n.action == action })
	}
}

func vitalActions(needs []need) []string {
	var list []string
	for _, n := range needs {
		if n.vital {
			list = append(list, n.action)
		}
	}
	return list
}

// needs are the actions that the node itself calls. nodeadm, bootstrap.sh and
// Bottlerocket ask EC2 for the private DNS name; the kubelet pulls images from
// ECR (AmazonEC2ContainerRegistryPullOnly has the least that does). Nodes of
// EKS Auto Mode do with ECR alone (AmazonEKSWorkerNodeMinimalPolicy).
func needs(c check.RoleGroup, s *check.View) []need {
	var list []need
	if !isAuto(c, s) {
		list = append(list, need{"ec2:DescribeInstances", policy.Unscoped, true})
	}
	if repository, pulls := imageOf(s); pulls {
		list = append(list,
			need{"ecr:GetAuthorizationToken", policy.Unscoped, true},
			need{"ecr:BatchGetImage", repository, true},
			need{"ecr:GetDownloadUrlForLayer", repository, true})
	}
	if asksForCluster(c, s) {
		list = append(list, need{"eks:DescribeCluster", cmp.Or(s.Cluster.ARN, "*"), true})
	}
	return list
}

// imageOf is the repository of aws-node's image; pulls is false where that is
// not in ECR: those who mirror the images do so for all of them.
func imageOf(s *check.View) (repository string, pulls bool) {
	anywhere := fmt.Sprintf("arn:%s:ecr:%s:*:repository/*", s.Partition, s.Region)
	if s.CNI == nil || s.CNI.Image == "" {
		return anywhere, true
	}
	// 602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:v1.20.4-eksbuild.1
	host, name, _ := strings.Cut(s.CNI.Image, "/")
	parts := strings.Split(host, ".")
	if len(parts) < 4 || parts[1] != "dkr" || !strings.HasPrefix(parts[2], "ecr") {
		return "", false
	}
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	return fmt.Sprintf("arn:%s:ecr:%s:%s:repository/%s", s.Partition, parts[3], parts[0], name), true
}

// asksForCluster reports whether a suspect's start script asks EKS for the
// cluster's address: those of Amazon Linux 2 and Windows, where they are not
// given it.
func asksForCluster(c check.RoleGroup, s *check.View) bool {
	for _, data := range s.UserData {
		if !slices.ContainsFunc(c.Suspects, func(i *snapshot.Instance) bool { return slices.Contains(data.Instances, i.ID) }) {
			continue
		}
		given := bytes.ToLower(data.Data)
		for _, script := range [][2]string{{"/etc/eks/bootstrap.sh", "--apiserver-endpoint"}, {"start-eksbootstrap.ps1", "-apiserverendpoint"}} {
			if bytes.Contains(given, []byte(script[0])) && !bytes.Contains(given, []byte(script[1])) {
				return true
			}
		}
	}
	return false
}

// ec2Service is the name by which EC2 assumes roles. China has its own, and
// takes the other one too (IAM user guide, "AWS service principals").
func ec2Service(partition string) []string {
	if partition == "aws-cn" {
		return []string{"ec2.amazonaws.com.cn", "ec2.amazonaws.com"}
	}
	return []string{"ec2.amazonaws.com"}
}

func trust(c check.RoleGroup, s *check.View) []check.Finding {
	role, gone, why := check.ReadRole(s, c.Role)
	switch {
	case gone: // iam/profile-missing says so
		return nil
	case why != nil:
		return c.Blocked(*why)
	}
	document, err := policy.Parse(role.Trust)
	if err != nil {
		return c.Blocked(unparsed(fmt.Sprintf("the trust policy of %s", c.Role), err))
	}
	var best policy.Decision
	for _, service := range ec2Service(s.Partition) {
		d := document.Decide(policy.Request{Action: "sts:AssumeRole", Resource: c.Role, Caller: policy.Caller{Service: service}})
		switch {
		case d.Verdict == policy.Allowed:
			return []check.Finding{c.Pass("Trust policy of "+c.Name(), "allows "+service+" to assume it: "+d.Statement)}
		case best.Verdict == "" || d.Verdict == policy.Depends:
			best = d
		}
	}
	switch {
	case len(c.Suspects) == 0:
		return []check.Finding{c.Pass("Trust policy of "+c.Name(), best.String())}
	case best.Verdict == policy.Depends:
		return c.Blocked(check.NotRead(snapshot.Roles, "the trust policy of %s %s", c.Role, best))
	}
	how := "has no statement that allows ec2.amazonaws.com to assume the role"
	if best.Verdict == policy.Denied {
		how = fmt.Sprintf("denies it (%s)", best.Statement)
	}
	return c.Judged(c.Failed().
		Titled("%s does not trust EC2", c.Name()).
		Because("The trust policy of %s %s, so %s %s no credentials and cannot join %s.",
			c.Role, how, check.Some(check.IDs(c.Suspects), 3), check.Verb(check.IDs(c.Suspects), "gets", "get"), s.Cluster.Name).
		Noting("Trust policy of "+c.Name(), check.Clip(role.Trust)).
		ToFix("Allow EC2 to assume the role. This replaces the whole trust policy: keep other statements that are needed.").
		Command(s.AWSCommand("iam update-assume-role-policy", "--role-name", c.Name(), "--policy-document",
			fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":%q},"Action":"sts:AssumeRole"}]}`, ec2Service(s.Partition)[0]))).
		Console(s.RoleLink(c.Role)))
}

// unparsed is a policy that is not understood: nothing follows from it.
func unparsed(what string, err error) snapshot.Failure {
	return check.Broken(snapshot.Roles, "%s cannot be parsed: %v", what, err)
}

func stsEndpoint(s *check.View) []check.Finding {
	list, blind := s.RoleGroups()
	net := s.Network()
	for _, c := range list {
		blind = append(blind, sts(c, s, net)...)
	}
	return blind
}

// sts judges each suspect, and says the same of several once.
func sts(c check.RoleGroup, s *check.View, net *path.Network) []check.Finding {
	var list []check.Finding
	clean := check.RoleGroup{Role: c.Role, Well: c.Well}
	same := map[string]int{}
	for _, i := range c.Suspects {
		f, unread := stsOf(c, s, net, i)
		switch {
		case f.Outcome == check.Fail:
			if at, have := same[f.Resource]; have {
				list[at].Covers = append(list[at].Covers, i.ID)
				continue
			}
			f.Covers = []string{i.ID}
			same[f.Resource] = len(list)
			list = append(list, f)
		case len(unread) > 0:
			list = append(list, check.Unread(c.Role, []string{i.ID}, unread...))
		default:
			clean.Suspects = append(clean.Suspects, i)
		}
	}
	for at := range list {
		if list[at].Outcome == check.Fail {
			list[at].Instances = list[at].Covers
		}
	}
	if len(clean.All()) > 0 {
		list = append(list, clean.Pass("STS", "no sign that it cannot be reached"))
	}
	return list
}

func stsOf(c check.RoleGroup, s *check.View, net *path.Network, i *snapshot.Instance) (check.Finding, []snapshot.Failure) {
	regional, global := stsHost(s)
	f := check.Finding{Outcome: check.Fail, Fix: check.Fix{Console: s.VPCLink("Endpoints:")}}
	for _, host := range []string{regional, global} {
		h, found, _ := listen(s, i, stsFailed(host))
		if !found {
			continue
		}
		f.Resource = host
		f.Title = check.Title("%s cannot be reached", host)
		f.Why = fmt.Sprintf("%s cannot reach %s (%s).", i.ID, host, h.from)
		f.Evidence = []check.Evidence{{What: h.from, Value: h.line}}
		f.Fix.Text = "Check the path to STS: a firewall or a proxy, the endpoint's security group and private DNS, name resolution."
		if host == global && host != regional {
			f.Fix.Text, f.Fix.Command = beRegional()
		}
		return f, nil
	}
	legacy, why := callsGlobal(s)
	ways, known := net.Needs(i.Subnet)
	shut := known && closed(ways, net.Internet(i.Subnet))
	if why != "" && shut {
		f.Resource = "kube-system/aws-node"
		f.Title = check.Title("aws-node calls %s, which %s cannot reach", global, i.VPC)
		f.Why = fmt.Sprintf("aws-node gets its role from STS and calls %s: %s. %s has no route to the internet, and its endpoint serves only %s.", global, why, i.Subnet, regional)
		f.Evidence = []check.Evidence{{What: "aws-node", Value: "role " + legacy + "; " + why}}
		for _, w := range ways {
			if w.Service == path.STS {
				f = f.Noting("Path to "+regional, w.String())
			}
		}
		f.Fix.Text, f.Fix.Command = beRegional()
		return f, nil
	}
	// A node that has registered had a token that was taken.
	if h, found, _ := listen(s, i, refusedToken); found && !registered(s, i) && isAdmitted(c, s) {
		f.Confidence, f.Resource = check.Possible, c.Role
		f.Title = check.Title("%s has access, and its token is rejected", c.Name())
		f.Why = fmt.Sprintf("The cluster grants %s access, and still returns Unauthorized to %s. STS may be deactivated in %s, or the account's tokens of the global endpoint are not valid there; or the role was recreated after its access entry.", c.Role, i.ID, s.Region)
		f.Evidence = []check.Evidence{{What: h.from, Value: h.line}}
		f.Fix = check.Fix{Text: "Check the account's settings for STS (active regions, version of global tokens). Then recreate the role's access entry.", Console: fmt.Sprintf("%s/iam/home?region=%s#/account_settings", s.ConsoleHost(), s.Region)}
		return f, nil
	}
	_, _, unread := listen(s, i, func(string) bool { return false })
	if shut && !s.Has(snapshot.AWSNode) {
		unread = append(unread, s.Why(snapshot.AWSNode))
	}
	return check.Finding{}, unread
}

// closed reports whether STS is reached by an interface endpoint, and that there is
// no way to the internet beside it. Where STS is not reached at all, or the
// way leaves what is read, the checks of routes and endpoints say so.
func closed(ways []path.Path, internet path.Way) bool {
	for _, w := range ways {
		if w.Service == path.STS {
			return w.Means == path.ByInterface && w.Verdict == path.Reaches && internet.Verdict == path.NoRoute
		}
	}
	return false
}

// callsGlobal reports whether aws-node has a role of its service account and calls
// the global name to get it: it is configured to, or it is not configured to call the
// regional one and the cluster is older than 1.22, from which on EKS configures it
// (amazon-eks-pod-identity-webhook pull request 148).
func callsGlobal(s *check.View) (role, why string) {
	who, unknown := whoIsCNI(s)
	if unknown != nil || s.CNI == nil || s.CNI.Role == "" || who.role != s.CNI.Role {
		return "", "" // Pod Identity and the node's role need no STS
	}
	switch value := s.CNI.Env["AWS_STS_REGIONAL_ENDPOINTS"]; {
	case strings.EqualFold(value, "legacy"):
		return who.role, "AWS_STS_REGIONAL_ENDPOINTS is " + value
	case value == "" && before122(s.Cluster.Version):
		return who.role, "AWS_STS_REGIONAL_ENDPOINTS is not set, and Kubernetes " + s.Cluster.Version + " does not set it either"
	}
	return "", ""
}

func before122(version string) bool {
	major, minor, ok := strings.Cut(version, ".")
	n, err := strconv.Atoi(minor)
	return ok && err == nil && major == "1" && n < 22
}

func beRegional() (text, command string) {
	return "Have aws-node call the regional name.", "kubectl set env daemonset aws-node -n kube-system AWS_STS_REGIONAL_ENDPOINTS=regional"
}

// isAdmitted reports whether the cluster is known to admit the group's role.
func isAdmitted(c check.RoleGroup, s *check.View) bool {
	for _, f := range withAccess(missing)(c, s) {
		if f.Outcome != check.Pass {
			return false
		}
	}
	return len(c.Suspects) > 0
}

// refusedToken tells the API server's answer to a token that it does not take.
// EC2's UnauthorizedOperation is about an action that a role may not do.
func refusedToken(line string) bool {
	return strings.Contains(strings.ReplaceAll(line, "UnauthorizedOperation", ""), "Unauthorized")
}

// registered reports whether an instance has a node, be it Ready or not.
func registered(s *check.View, i *snapshot.Instance) bool {
	return s.Index().Nodes[i.ID] != nil
}

// logLine is a line that an instance wrote, or that Kubernetes has of the
// aws-node pod on it.
type logLine struct {
	from string // "console of i-0ef3", "pod aws-node-x"
	line string
}

// listen finds the first line about an instance that has what is looked for.
// Unread tells what could not be listened to.
func listen(s *check.View, i *snapshot.Instance, has func(line string) bool) (h logLine, found bool, unread []snapshot.Failure) {
	for _, c := range s.Consoles {
		if c.Instance != i.ID {
			continue
		}
		if line, ok := lineWith(c.Text, has); ok {
			return logLine{"console of " + i.ID, line}, true, nil
		}
	}
	for _, p := range s.PodsOf()[i.ID] {
		texts := []string{p.Message}
		for _, c := range p.Containers {
			texts = append(texts, c.Message, c.LastMessage)
		}
		for _, text := range texts {
			if line, ok := lineWith(text, has); ok {
				return logLine{"pod " + p.Name, line}, true, nil
			}
		}
	}
	for _, source := range []snapshot.Source{snapshot.Consoles, snapshot.Pods} {
		if !s.Has(source) {
			unread = append(unread, s.Why(source))
		}
	}
	if f, lacks := s.Lacks(snapshot.Consoles, i.ID); lacks {
		unread = append(unread, f)
	}
	return logLine{}, false, unread
}

func lineWith(text string, has func(string) bool) (string, bool) {
	for line := range strings.Lines(text) {
		if has(line) {
			return check.Clip(strings.TrimSpace(line)), true
		}
	}
	return "", false
}

// stsHost is the name of STS in the region; global is the one for all regions.
func stsHost(s *check.View) (regional, global string) {
	if s.Partition == "aws-cn" {
		regional = fmt.Sprintf("sts.%s.amazonaws.com.cn", s.Region)
		return regional, regional // China has no global one
	}
	return fmt.Sprintf("sts.%s.amazonaws.com", s.Region), "sts.amazonaws.com"
}

// stsFailed reports whether a line is about a call to STS that did not get there.
func stsFailed(host string) func(string) bool {
	return func(line string) bool {
		return namesHost(line, host) && slices.ContainsFunc([]string{"timeout", "timed out", "no such host", "connection refused", "deadline exceeded", "network is unreachable"}, func(word string) bool {
			return strings.Contains(strings.ToLower(line), word)
		})
	}
}

// namesHost reports whether a line names a host, not one that ends in its name.
func namesHost(line, host string) bool {
	for rest := line; ; {
		i := strings.Index(rest, host)
		if i < 0 {
			return false
		}
		before, after := rest[:i], rest[i+len(host):]
		if (before == "" || !strings.ContainsAny(before[len(before)-1:], "abcdefghijklmnopqrstuvwxyz0123456789-.")) && !strings.HasPrefix(after, ".cn") {
			return true
		}
		rest = after
	}
}

// regionDisabled is STS's code for a region that the account has switched off.
const regionDisabled = "RegionDisabledException"

func stsRegionDeactivated(s *check.View) []check.Finding {
	suspects, well := s.Pending()
	var list []check.Finding
	var clean, unheard []*snapshot.Instance
	f := check.Finding{Outcome: check.Fail}
	told := regionTold(s)
	for _, i := range suspects {
		h, found, unread := listen(s, i, saysDisabled)
		switch {
		case found:
			f.Covers = append(f.Covers, i.ID)
			f = f.Noting(h.from, h.line)
		case len(told) > 0: // the setting is the account's: it is true for all
			f.Covers = append(f.Covers, i.ID)
		case len(unread) > 0:
			list = append(list, check.Unread(i.ID, []string{i.ID}, unread...))
		case !hasConsole(s, i.ID): // consoles are sampled
			unheard = append(unheard, i)
		default:
			clean = append(clean, i)
		}
	}
	list = check.Together(list)
	if len(f.Covers) > 0 {
		f.Covers = append(f.Covers, check.IDs(unheard)...)
	} else {
		clean = append(clean, unheard...)
	}
	host, _ := stsHost(s)
	clean = append(clean, well...)
	list = check.Passing(list, host, check.IDs(clean))
	if len(f.Covers) == 0 {
		return list
	}
	f.Resource, f.Instances = host, f.Covers
	f.Evidence = append(told, f.Evidence[:min(len(f.Evidence), 5)]...)
	f.Title = check.Title("STS is deactivated in %s", s.Region)
	f.Why = fmt.Sprintf("STS rejects the account %s in %s (%s: %s). %s cannot authenticate to %s.",
		s.Account, s.Region, f.Evidence[0].What, f.Evidence[0].Value, check.Some(f.Covers, 3), cmp.Or(s.Cluster.Name, "the cluster"))
	f.Fix = check.Fix{
		Text:    fmt.Sprintf("Activate %s in the IAM console: Account settings, Security Token Service, Endpoints. There is no API for it.", s.Region),
		Console: fmt.Sprintf("%s/iam/home?region=%s#/account_settings", s.ConsoleHost(), s.Region),
	}
	return append(list, f)
}

// hasConsole reports whether the console of an instance was read.
func hasConsole(s *check.View, id string) bool {
	return slices.ContainsFunc(s.Consoles, func(c snapshot.Console) bool { return c.Instance == id })
}

// saysDisabled tells STS's refusal: its error code, or its message where a
// program prints only that.
func saysDisabled(line string) bool {
	return strings.Contains(line, regionDisabled) || strings.Contains(strings.ToLower(line), "sts is not activated in this region")
}

// regionTold is what our own calls and EKS say of the region.
func regionTold(s *check.View) []check.Evidence {
	var list []check.Evidence
	add := func(f snapshot.Failure) {
		e := check.Evidence{What: cmp.Or(f.Call, string(f.Source)), Value: strings.TrimSpace(f.Code + " " + check.Clip(f.Message))}
		if f.Code == regionDisabled && !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	for _, source := range slices.Sorted(maps.Keys(s.Failures)) {
		add(s.Failures[source])
	}
	for _, source := range slices.Sorted(maps.Keys(s.Missing)) {
		for _, key := range slices.Sorted(maps.Keys(s.Missing[source])) {
			add(s.Missing[source][key])
		}
	}
	issues := slices.Clone(s.Cluster.Issues)
	for _, g := range s.Nodegroups {
		if g.Cluster == s.Cluster.Name {
			issues = append(issues, g.Issues...)
		}
	}
	for _, issue := range issues {
		if issue.Code == "StsRegionalEndpointDisabled" {
			list = append(list, check.Evidence{What: "EKS", Value: issue.Code + ": " + check.Clip(issue.Message)})
		}
	}
	return list[:min(len(list), 5)]
}

// cniIdentity is the role that aws-node really uses.
type cniIdentity struct {
	// none reports whether the cluster runs no aws-node.
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
func (who cniIdentity) lower(f *check.Finding) {
	if who.doubt != nil {
		f.Confidence = check.Likely
		f.Evidence = append(f.Evidence, check.Evidence{
			What: "Pod Identity associations", Value: fmt.Sprintf("not read (%s: %s): one for aws-node would change which role it uses", who.doubt.Call, who.doubt.Reason),
		})
	}
}

// whoIsCNI tells the identity of aws-node: a Pod Identity association comes
// before the service account's annotation (the EKS Pod Identity webhook sets
// only the first), and the node's own role is what is left.
func whoIsCNI(s *check.View) (cniIdentity, *snapshot.Failure) {
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
		who.role, who.hop, who.how = a.Target, &a, "target role of the "+of+", assumed with "+check.LastPart(a.Role)
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
func hopRefusals(s *check.View, own, target snapshot.Role, a snapshot.PodIdentity) (ungranted, trust []refusal, open []snapshot.Failure) {
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
			open = append(open, check.NotRead(snapshot.Roles, "whether %s is allowed to assume %s %s", own.Name, target.Name, by))
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
func cniNeeds(s *check.View, types typesKnown) []need {
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
	if len(types.unknown)+len(types.notInData) > 0 {
		list = append(list, need{describeTypes, policy.Unscoped, len(types.unknown) > 0})
	}
	return list
}

// searchesGroups reports whether a version of the plugin does not start without
// ec2:DescribeSecurityGroups: 1.22.0 and 1.22.1 look for groups by tag, unless
// subnet discovery is off or custom networking on (amazon-vpc-cni-k8s pull
// request 3709, terraform-aws-eks-pod-identity issue 60; taken back in 1.22.2).
func searchesGroups(c snapshot.CNI) bool {
	version, ok := vpccni.OfImage(c.Image)
	return ok && (version == vpccni.Version{1, 22, 0} || version == vpccni.Version{1, 22, 1}) && discovers(c)
}

// readsSubnets reports whether a version of the plugin does not start without
// ec2:DescribeSubnets in an IPv6 cluster, whose policy only its owner writes: from
// 1.22.1 on (awsdocs/amazon-eks-user-guide#1248, eksctl#8835, karpenter-provider-aws#9608:
// "checking to exclude configured subnet"). AmazonEKS_CNI_Policy of IPv4 has it.
func readsSubnets(c snapshot.CNI) bool {
	version, ok := vpccni.OfImage(c.Image)
	return ok && !version.Before(vpccni.Version{1, 22, 1}) && discovers(c)
}

// discovers reports whether subnet discovery is on, as it is where nothing is said.
func discovers(c snapshot.CNI) bool {
	return !strings.EqualFold(c.Env["ENABLE_SUBNET_DISCOVERY"], "false") &&
		!strings.EqualFold(c.Env["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"], "true")
}

// auto reports whether EKS Auto Mode made an instance: neither a node group, an
// Auto Scaling group nor a Karpenter beside it did. Those bring their own network plugin.
func auto(s *check.View, i *snapshot.Instance) bool {
	return s.Cluster.AutoMode && !i.ByKarpenter() && i.Tags["eks:nodegroup-name"] == "" && i.Tags["aws:autoscaling:groupName"] == ""
}

// isAuto reports whether every instance of a role group is Auto Mode's.
func isAuto(c check.RoleGroup, s *check.View) bool {
	return !slices.ContainsFunc(slices.Concat(c.Suspects, c.Well), func(i *snapshot.Instance) bool { return !auto(s, i) })
}

// before is the identity of a pod of aws-node that was made before its service
// account had a role: the webhook gives a pod its credentials when it is made,
// and one without uses those of its node.
func (who cniIdentity) before() cniIdentity {
	return cniIdentity{how: "the node's own role: the pod was created before " + who.how + " was set", later: who.role}
}

// olderPods parts the suspects whose pod of aws-node shows that it has no role
// of its own from the others. A pod whose containers were not read shows nothing.
func olderPods(s *check.View, list []check.RoleGroup) (rest, older []check.RoleGroup) {
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

func cniRolePolicies(s *check.View) []check.Finding {
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
		if all := with((check.RoleGroup{Role: who.role}), s, list); len(all.All()) > 0 {
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
func with(c check.RoleGroup, s *check.View, list []check.RoleGroup) check.RoleGroup {
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
func own(c check.RoleGroup, s *check.View, who cniIdentity) []check.Finding {
	if who.hop == nil || len(c.Suspects) == 0 {
		return cni(c, s, who)
	}
	target, gone, why := check.ReadRole(s, who.role)
	switch {
	case gone:
		return cni(c, s, who)
	case why != nil: // another account's, mostly
		return c.Blocked(*why)
	}
	first := c
	first.Role = who.hop.Role
	role, gone, why := check.ReadRole(s, first.Role)
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
		return first.Judged(cannotAssume(first, s, role, target, *who.hop, ungranted, untrusted))
	case len(open) > 0:
		return c.Blocked(open...)
	}
	return cni(c, s, who)
}

func cannotAssume(c check.RoleGroup, s *check.View, role, target snapshot.Role, a snapshot.PodIdentity, ungranted, untrusted []refusal) check.Finding {
	lacks := append(slices.Clone(ungranted), untrusted...)
	f := c.Failed().
		Titled("aws-node gets no credentials: %s cannot assume %s", role.Name, target.Name).
		Because("The Pod Identity association of kube-system/aws-node gives it %s, which EKS assumes with %s. That is denied: %s. Without credentials the network of a new node is not ready.",
			target.ARN, role.ARN, because(lacks)).
		Noting("Not allowed", strings.Join(actionNames(lacks), ", ")).
		Showing(policiesHeld(role)).
		Noting("Trust policy of "+target.Name, check.Clip(target.Trust)).
		Console(s.RoleLink(role.ARN))
	actions := []string{"sts:AssumeRole", "sts:TagSession"}
	if a.Untagged {
		actions = actions[:1]
	}
	if len(untrusted) == 0 {
		f.Fix.Text = fmt.Sprintf("Allow %s on %s in a policy of %s.", check.And(actions), target.ARN, role.Name)
		if slices.ContainsFunc(ungranted, func(r refusal) bool { return r.by.Document != "" }) {
			f.Fix.Text, _ = howToGrant(s, role.ARN, ungranted)
		}
		return f
	}
	f.Fix.Console = s.RoleLink(target.ARN)
	f.Fix.Text = fmt.Sprintf("Allow %s to %s in the trust policy of %s.", target.Name, check.And(actions), role.ARN)
	if a.ExternalID != "" {
		f.Fix.Text += " The association's sts:ExternalId is " + a.ExternalID + "."
	}
	return f
}

func cni(c check.RoleGroup, s *check.View, who cniIdentity) []check.Finding {
	if len(c.Suspects) == 0 {
		return []check.Finding{c.Pass(c.Name(), "all of its instances are Ready nodes")}
	}
	role, gone, why := check.ReadRole(s, c.Role)
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
			f = f.Showing(types.evidence()...)
			f.Fix.Text += " A version of the plugin that knows the type does not need it."
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
		f.Confidence = check.Possible
		f.Why = fmt.Sprintf("aws-node uses %s (%s), which lacks %s: %s. It starts without, and fails when a node needs another interface.",
			c.Role, who.how, check.And(actionNames(surelyMissing(g))), because(surelyMissing(g)))
		return c.Judged(f)
	}
	return []check.Finding{c.Pass("aws-node", fmt.Sprintf("uses %s (%s), which allows %s", c.Role, who.how, strings.Join(vitalActions(needs), ", ")))}
}

// surelyMissing are the missing needs, unless a policy is not understood.
func surelyMissing(g grants) []refusal {
	if len(g.unread) > 0 {
		return slices.DeleteFunc(slices.Clone(g.missing), func(r refusal) bool { return r.by.Verdict != policy.Denied })
	}
	return g.missing
}

func cniLacks(c check.RoleGroup, s *check.View, who cniIdentity, role snapshot.Role, g grants, lacks []refusal) check.Finding {
	f := c.Failed().
		Titled("aws-node lacks %s", check.Some(actionNames(lacks), 1)).
		Because("aws-node uses %s (%s), which lacks %s: %s. Until then the network of a new node is not ready.",
			c.Role, who.how, check.And(actionNames(lacks)), because(lacks)).
		Noting("aws-node", "uses "+c.Role+": "+who.how).
		Showing(policiesHeld(role)).
		Noting("Not allowed", strings.Join(actionNames(g.missing), ", ")).
		Console(s.RoleLink(c.Role))
	if s.CNI != nil && s.CNI.Image != "" {
		f = f.Noting("Image of aws-node", s.CNI.Image)
	}
	f.Fix.Text, f.Fix.Command = howToGrant(s, c.Role, lacks)
	if who.later != "" {
		f.Fix.Text = fmt.Sprintf("Recreate the pods of aws-node: they then use %s. A pod keeps the credentials that it was created with.", who.later)
		f.Fix.Command = "kubectl rollout restart daemonset/aws-node --namespace kube-system"
	}
	return f
}

func cniGone(c check.RoleGroup, s *check.View, who cniIdentity) check.Finding {
	f := c.Failed().
		Titled("aws-node's role %s was deleted", c.Name()).
		Because("aws-node uses %s (%s), which no longer exists in IAM. It gets no credentials, so the network of a new node is not ready.",
			c.Role, who.how).
		Noting(c.Role, "iam:GetRole: "+check.NoSuchEntity).
		Noting("aws-node", "uses "+c.Role+": "+who.how).
		ToFix("Recreate the role, or give aws-node another one, and restart its pods.").
		Console(s.RoleLink(c.Role))
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
	version   vpccni.Version
	unknown   []string // that are not in its table
	notInData []string // of which the data does not say
	unread    *snapshot.Failure
	releases  vpccni.Releases
}

// knownTypes looks the types of instances up in the table of the running version.
func knownTypes(s *check.View, list []*snapshot.Instance) typesKnown {
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
		k.notInData = types
		k.unread = &snapshot.Failure{Source: snapshot.AWSNode, Reason: snapshot.Broken,
			Message: fmt.Sprintf("the version in the image %q cannot be parsed: whether it knows %s without querying EC2 is unknown", s.CNI.Image, strings.Join(types, ", "))}
		return k
	}
	k.version, k.releases = version, vpccni.ReadReleases()
	for _, name := range types {
		switch knows, told := k.releases.Know(version, name); {
		case !told:
			k.notInData = append(k.notInData, name)
		case !knows:
			k.unknown = append(k.unknown, name)
		}
	}
	if len(k.notInData) > 0 {
		k.unread = &snapshot.Failure{Source: snapshot.AWSNode, Reason: snapshot.NotRead,
			Message: fmt.Sprintf("whether %s knows %s without querying EC2 is not in the data, which goes up to %s of %s", version, strings.Join(k.notInData, ", "), k.releases.Newest, k.releases.Date)}
	}
	return k
}

// why ends the reason of a finding.
func (k typesKnown) why() string {
	return fmt.Sprintf(" %s of the plugin does not know %s without querying EC2.", k.version, strings.Join(k.unknown, ", "))
}

// evidence is what the plugin does not know, and from where that is known.
func (k typesKnown) evidence() []check.Evidence {
	if len(k.unknown) == 0 {
		return nil
	}
	return []check.Evidence{
		{What: "Not in the table of " + k.version.String(), Value: strings.Join(k.unknown, ", ")},
		{What: "Tables of instance types", Value: fmt.Sprintf("%s, up to %s of %s", vpccni.Source, k.releases.Newest, k.releases.Date)},
	}
}

// lacksTypes reports whether a role may not ask for types.
func lacksTypes(lacks []refusal) bool {
	return slices.ContainsFunc(lacks, func(r refusal) bool { return r.action == describeTypes })
}
