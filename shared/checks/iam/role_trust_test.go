package iam

import (
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func trustPolicy(document string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Roles[0].Trust = document }
}

func TestRoleTrust(t *testing.T) { checktest.RunCases(t, RoleTrust(), roleTrustCases()) }

func roleTrustCases() []checktest.Case {
	role := snapshottest.NodeRole
	fail := []string{"fail " + role + " [i-0node] [i-0node] workers does not trust EC2"}
	pass := []string{"pass " + role + " [i-0node]"}
	other := `{"Statement":{"Effect":"Allow","Principal":{"Service":"eks.amazonaws.com"},"Action":"sts:AssumeRole"}}`
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), pass},
		{"trusts EC2", outsider(), pass},
		{"trusts EC2 among others, URL-encoded", outsider(trustPolicy("%7B%22Statement%22%3A%5B%7B%22Effect%22%3A%22Allow%22%2C%22Principal%22%3A%7B%22Service%22%3A%5B%22eks.amazonaws.com%22%2C%22ec2.amazonaws.com%22%5D%7D%2C%22Action%22%3A%5B%22sts%3AAssumeRole%22%2C%22sts%3ATagSession%22%5D%7D%5D%7D")), pass},
		{"trusts EKS instead", outsider(trustPolicy(other)), fail},
		{"another action", outsider(trustPolicy(strings.Replace(snapshottest.EC2Trust, "sts:AssumeRole", "sts:TagSession", 1))), fail},
		{"denied", outsider(trustPolicy(`{"Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"*"},{"Effect":"Deny","Principal":"*","Action":"sts:AssumeRole"}]}`)), fail},
		{"China's name in China", outsider(trustPolicy(strings.Replace(snapshottest.EC2Trust, "ec2.amazonaws.com", "ec2.amazonaws.com.cn", 1)), func(s *snapshot.Snapshot) { s.Partition = "aws-cn" }), pass},
		{"China's name elsewhere", outsider(trustPolicy(strings.Replace(snapshottest.EC2Trust, "ec2.amazonaws.com", "ec2.amazonaws.com.cn", 1))), fail},
		{"with a condition", outsider(trustPolicy(`{"Statement":{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole","Condition":{"StringEquals":{"aws:SourceAccount":"1"}}}}`)), []string{
			"unknown " + role + " [i-0node] iam roles: not read: the trust policy of " + role + " depends on condition StringEquals aws:SourceAccount: statement 1",
		}},
		{"noise", outsider(trustPolicy("<html>")), []string{
			"unknown " + role + " [i-0node] iam roles: broken: the trust policy of " + role + " is not understood: parse a policy: invalid character '<' looking for beginning of value",
		}},
		{"a comrade is Ready", outsider(trustPolicy(other), readyComrade), []string{fail[0], "pass " + role + " [i-0ready]"}},
		{"two nodes: one finding", outsider(trustPolicy(other), secondNode), []string{"fail " + role + " [i-0node i-0second] [i-0node i-0second] workers does not trust EC2"}},
		{"role deleted: another's matter", outsider(iamDeleted(snapshot.Roles, role)), nil},
		{"role denied", outsider(lackOf(snapshot.Roles, role, snapshot.Denied, "AccessDenied")), []string{"unknown " + role + " [i-0node] iam roles: denied"}},
		{"unread", outsider(checktest.Unread(snapshot.Roles)), []string{"unknown prod [] iam roles: denied"}},
	}
}

func TestRoleTrustFix(t *testing.T) {
	got := checktest.Failed(t, RoleTrust(), outsider(trustPolicy(`{"Statement":{"Effect":"Allow","Principal":"*","Action":"s3:*"}}`)))
	if !strings.HasPrefix(got.Fix.Command, "aws iam update-assume-role-policy --region us-west-2 --role-name workers --policy-document '{") {
		t.Errorf("Command = %q", got.Fix.Command)
	}
}
