package iam

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/access/policy"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func policies(c facts.RoleGroup, s *facts.View) []finding.Finding {
	if len(c.Suspects) == 0 {
		return []finding.Finding{c.Pass(c.Name(), "all of its instances are Ready nodes")}
	}
	role, gone, why := facts.ReadRole(s, c.Role)
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
			f.Evidence = append(f.Evidence, types.evidence()...)
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
	return []finding.Finding{c.Pass("Policies of "+c.Name(), "allow "+strings.Join(vitalActions(needs), ", "))}
}

func lacking(c facts.RoleGroup, s *facts.View, role snapshot.Role, g grants, vital []refusal, own bool) finding.Finding {
	names := actionNames(vital)
	f := finding.Finding{
		Outcome: finding.Fail,
		Title:   phrase.Title("%s may not %s", c.Name(), phrase.Some(names, 1)),
		Why: fmt.Sprintf("Nodes with %s must call %s before they are Ready, and may not: %s.",
			c.Role, phrase.Some(names, 6), because(vital)),
		Evidence: []finding.Evidence{policiesHeld(role), {What: "Not allowed", Value: strings.Join(actionNames(g.missing), ", ")}},
		Fix:      finding.Fix{Text: "Allow the actions.", Console: link.Role(s, c.Role)},
	}
	if !own && slices.ContainsFunc(names, isCNIs(s)) {
		f.Why += " aws-node has no role of its own and uses the node's."
	}
	f.Fix.Text, f.Fix.Command = howToGrant(s, c.Role, vital)
	return f
}

// howToGrant is how to allow what is missing: AWS's own policies, unless a
// statement or a boundary stands against it.
func howToGrant(s *facts.View, role string, missing []refusal) (text, command string) {
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
			return "AWS has no managed policy for aws-node in an IPv6 cluster: make one with the actions that the user guide lists (Configure Amazon VPC CNI plugin to use IRSA) and attach it to " + facts.LastPart(role) + ".", ""
		case strings.HasPrefix(r.action, "ecr:"):
			add("AmazonEC2ContainerRegistryPullOnly")
		case isCNIs(s)(r.action):
			add("AmazonEKS_CNI_Policy")
		default:
			add("AmazonEKSWorkerNodePolicy")
		}
	}
	return "Attach what AWS offers for it, or add the actions to a policy of your own.", attachPolicies(s, role, policies...)
}

func isCNIs(s *facts.View) func(string) bool {
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
func needs(c facts.RoleGroup, s *facts.View) []need {
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
func imageOf(s *facts.View) (repository string, pulls bool) {
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

// asksForCluster tells that a suspect's start script asks EKS for the
// cluster's address: those of Amazon Linux 2 and Windows, where they are not
// given it.
func asksForCluster(c facts.RoleGroup, s *facts.View) bool {
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

func trust(c facts.RoleGroup, s *facts.View) []finding.Finding {
	role, gone, why := facts.ReadRole(s, c.Role)
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
			return []finding.Finding{c.Pass("Trust policy of "+c.Name(), "lets "+service+" assume it: "+d.Statement)}
		case best.Verdict == "" || d.Verdict == policy.Depends:
			best = d
		}
	}
	switch {
	case len(c.Suspects) == 0:
		return []finding.Finding{c.Pass("Trust policy of "+c.Name(), best.String())}
	case best.Verdict == policy.Depends:
		return c.Blocked(snapshot.Failure{Source: snapshot.Roles, Reason: snapshot.NotRead, Message: fmt.Sprintf("the trust policy of %s %s", c.Role, best)})
	}
	how := "has no statement that lets ec2.amazonaws.com assume the role"
	if best.Verdict == policy.Denied {
		how = fmt.Sprintf("denies it (%s)", best.Statement)
	}
	return c.Judged(finding.Finding{
		Outcome: finding.Fail,
		Title:   phrase.Title("%s does not trust EC2", c.Name()),
		Why: fmt.Sprintf("The trust policy of %s %s, so %s %s no credentials and cannot join %s.",
			c.Role, how, phrase.Some(facts.IDs(c.Suspects), 3), phrase.Verb(facts.IDs(c.Suspects), "gets", "get"), s.Cluster.Name),
		Evidence: []finding.Evidence{{What: "Trust policy of " + c.Name(), Value: phrase.Clip(role.Trust)}},
		Fix: finding.Fix{
			Text: "Let EC2 assume the role. This replaces the whole trust policy: keep other statements that are needed.",
			Command: command.AWS(s, "iam update-assume-role-policy", "--role-name", c.Name(), "--policy-document",
				fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":%q},"Action":"sts:AssumeRole"}]}`, ec2Service(s.Partition)[0])),
			Console: link.Role(s, c.Role),
		},
	})
}

// unparsed is a policy that is not understood: nothing follows from it.
func unparsed(what string, err error) snapshot.Failure {
	return snapshot.Failure{Source: snapshot.Roles, Reason: snapshot.Broken, Message: fmt.Sprintf("%s is not understood: %v", what, err)}
}
