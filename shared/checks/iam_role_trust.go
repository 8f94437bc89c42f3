package checks

import (
	"fmt"

	"rollcall/shared/access/policy"
	"rollcall/shared/snapshot"
)

func roleTrust() Check {
	return usingRoles(Check{
		ID:         "iam/role-trust",
		Title:      "EC2 may not assume the node role",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Instances, snapshot.Profiles, snapshot.Roles},
		AtLaunch:   true,
		Cause:      "The trust policy of the node role does not let the service ec2.amazonaws.com call sts:AssumeRole. The instance profile then gives no credentials, and the kubelet cannot prove to the cluster who it is.",
		Fix:        "Set the role's trust policy to let ec2.amazonaws.com assume it.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html",
			"https://repost.aws/knowledge-center/eks-worker-nodes-cluster",
		},
		Run: func(s *View) []Finding {
			list, blind := s.RoleGroups()
			for _, c := range list {
				blind = append(blind, c.trust(s)...)
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

func (c crew) trust(s *View) []Finding {
	role, gone, why := readRole(s, c.role)
	switch {
	case gone: // iam/profile-missing says so
		return nil
	case why != nil:
		return c.blocked(*why)
	}
	document, err := policy.Parse(role.Trust)
	if err != nil {
		return c.blocked(unparsed(fmt.Sprintf("the trust policy of %s", c.role), err))
	}
	var best policy.Decision
	for _, service := range ec2Service(s.Partition) {
		d := document.Decide(policy.Request{Action: "sts:AssumeRole", Resource: c.role, Caller: policy.Caller{Service: service}})
		switch {
		case d.Verdict == policy.Allowed:
			return []Finding{c.pass("Trust policy of "+c.name(), "lets "+service+" assume it: "+d.Statement)}
		case best.Verdict == "" || d.Verdict == policy.Depends:
			best = d
		}
	}
	switch {
	case len(c.suspects) == 0:
		return []Finding{c.pass("Trust policy of "+c.name(), best.String())}
	case best.Verdict == policy.Depends:
		return c.blocked(snapshot.Failure{Source: snapshot.Roles, Reason: snapshot.NotRead, Message: fmt.Sprintf("the trust policy of %s %s", c.role, best)})
	}
	how := "has no statement that lets ec2.amazonaws.com assume the role"
	if best.Verdict == policy.Denied {
		how = fmt.Sprintf("denies it (%s)", best.Statement)
	}
	return c.judged(Finding{
		Outcome: Fail,
		Title:   title("%s does not trust EC2", c.name()),
		Why: fmt.Sprintf("The trust policy of %s %s, so %s %s no credentials and cannot join %s.",
			c.role, how, some(ids(c.suspects), 3), verb(ids(c.suspects), "gets", "get"), s.Cluster.Name),
		Evidence: []Evidence{{What: "Trust policy of " + c.name(), Value: clip(role.Trust)}},
		Fix: Fix{
			Text: "Let EC2 assume the role. This replaces the whole trust policy: keep other statements that are needed.",
			Command: aws(s, "iam update-assume-role-policy", "--role-name", c.name(), "--policy-document",
				fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":%q},"Action":"sts:AssumeRole"}]}`, ec2Service(s.Partition)[0])),
			Console: roleLink(s, c.role),
		},
	})
}

// unparsed is a policy that is not understood: nothing follows from it.
func unparsed(what string, err error) snapshot.Failure {
	return snapshot.Failure{Source: snapshot.Roles, Reason: snapshot.Broken, Message: fmt.Sprintf("%s is not understood: %v", what, err)}
}
