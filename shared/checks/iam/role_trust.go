package iam

import (
	"fmt"

	"rollcall/shared/access/policy"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func RoleTrust() check.Check {
	return usingRoles(check.Check{
		ID:         checkid.IAMRoleTrust,
		Title:      "EC2 may not assume the node role",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Instances, snapshot.Profiles, snapshot.Roles},
		AtLaunch:   true,
		Cause:      "The trust policy of the node role does not let the service ec2.amazonaws.com call sts:AssumeRole. The instance profile then gives no credentials, and the kubelet cannot prove to the cluster who it is.",
		Fix:        "Set the role's trust policy to let ec2.amazonaws.com assume it.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html",
			"https://repost.aws/knowledge-center/eks-worker-nodes-cluster",
		},
		Run: func(s *facts.View) []finding.Finding {
			list, blind := s.RoleGroups()
			for _, c := range list {
				blind = append(blind, trust(c, s)...)
			}
			return blind
		},
	})
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
