package iam

import (
	"slices"
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// detachPolicy takes a managed policy off the node role.
func detachPolicy(name string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Roles[0].Policies = slices.DeleteFunc(slices.Clone(s.Roles[0].Policies), func(p snapshot.Policy) bool { return p.Name == name })
	}
}

// inlinePolicy adds an inline policy with one statement to the first role.
func inlinePolicy(statement string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Roles[0].Policies = append(slices.Clone(s.Roles[0].Policies), snapshot.Policy{Name: "own", Document: `{"Statement":` + statement + `}`})
	}
}

// withBoundary gives the node role a permissions boundary.
func withBoundary(statement string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Roles[0].Boundary = &snapshot.Policy{Name: "limit", Document: `{"Statement":` + statement + `}`}
	}
}

func TestRolePolicies(t *testing.T) { checktest.RunCases(t, RolePolicies(), rolePoliciesCases()) }

func rolePoliciesCases() []checktest.Case {
	role := snapshottest.NodeRole
	pass := []string{"pass " + role + " [i-0node]"}
	fail := func(title string) []string { return []string{"fail " + role + " [i-0node] [i-0node] " + title} }
	const worker, registry, cni = "AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryReadOnly", "AmazonEKS_CNI_Policy"
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), pass},
		{"all three", outsider(), pass},
		{"Ready without any: not accused", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.Roles[0].Policies = nil }), pass},
		{"no worker policy: the CNI's names instances too", outsider(detachPolicy(worker)), pass},
		{"neither", outsider(detachPolicy(worker), detachPolicy(cni)), fail("workers may not ec2:DescribeInstances and 2 more")},
		{"no ECR", outsider(detachPolicy(registry)), fail("workers may not ecr:GetAuthorizationToken and 2 more")},
		{"pull only", outsider(detachPolicy(registry), inlinePolicy(`{"Effect":"Allow","Action":["ecr:GetAuth*","ecr:BatchGetImage","ecr:GetDownloadUrlForLayer"],"Resource":"*"}`)), pass},
		{"the right repositories only", outsider(detachPolicy(registry), inlinePolicy(`[{"Effect":"Allow","Action":"ecr:GetAuthorizationToken","Resource":"*"},{"Effect":"Allow","Action":"ecr:*","Resource":"arn:aws:ecr:*:602401143452:repository/*"}]`)), pass},
		{"other repositories only", outsider(detachPolicy(registry), inlinePolicy(`[{"Effect":"Allow","Action":"ecr:GetAuthorizationToken","Resource":"*"},{"Effect":"Allow","Action":"ecr:*","Resource":"arn:aws:ecr:*:123456789012:repository/*"}]`)), fail("workers may not ecr:BatchGetImage and 1 more")},
		{"no ECR, and the images are elsewhere", outsider(detachPolicy(registry), func(s *snapshot.Snapshot) { s.CNI.Image = "registry.example.com/amazon-k8s-cni:v1.20.4" }), pass},
		{"no CNI policy, no role of its own (karp1185)", outsider(detachPolicy(cni)), fail("workers may not ec2:DescribeNetworkInterfaces and 1 more")},
		{"the same, Pod Identity not read", outsider(detachPolicy(cni), checktest.Unread(snapshot.PodIdentities)), fail("workers may not ec2:DescribeNetworkInterfaces and 1 more")},
		{"no CNI policy, aws-node has its own role", outsider(detachPolicy(cni), func(s *snapshot.Snapshot) { s.CNI.Role = "arn:aws:iam::123456789012:role/cni" }), pass},
		{"no CNI policy, and no aws-node", outsider(detachPolicy(cni), func(s *snapshot.Snapshot) { s.CNI = nil }), pass},
		{"no CNI policy, and whose it is cannot be told", outsider(detachPolicy(cni), checktest.Unread(snapshot.AWSNode)), []string{"unknown " + role + " [i-0node] aws-node: denied"}},
		{"whose it is cannot be told, and need not", outsider(checktest.Unread(snapshot.AWSNode)), pass},
		{"Auto Mode needs ECR only", outsider(detachPolicy(worker), detachPolicy(cni), autoMode), pass},
		{"denied", outsider(inlinePolicy(`{"Sid":"Lock","Effect":"Deny","Action":"ec2:Describe*","Resource":"*"}`)), fail("workers may not ec2:DescribeInstances and 1 more")},
		{"denied elsewhere", outsider(inlinePolicy(`{"Effect":"Deny","Action":"*","Resource":"*","Condition":{"StringNotEquals":{"aws:RequestedRegion":["us-west-2","us-east-1"]}}}`)), pass},
		{"denied here", outsider(inlinePolicy(`{"Effect":"Deny","Action":"*","Resource":"*","Condition":{"StringNotEquals":{"aws:RequestedRegion":["eu-west-1"]}}}`)), fail("workers may not ec2:DescribeInstances and 5 more")},
		{"perhaps denied", outsider(inlinePolicy(`{"Effect":"Deny","Action":"ec2:DescribeInstances","Resource":"*","Condition":{"StringNotEquals":{"aws:SourceVpc":"vpc-1"}}}`)), []string{
			"unknown " + role + " [i-0node] iam roles: not read: whether workers may ec2:DescribeInstances depends on condition StringNotEquals aws:SourceVpc: statement 1 of own",
		}},
		{"a boundary that grants less", outsider(withBoundary(`{"Effect":"Allow","Action":["ec2:*"],"Resource":"*"}`)), fail("workers may not ecr:GetAuthorizationToken and 2 more")},
		{"a policy that is not understood", outsider(func(s *snapshot.Snapshot) { s.Roles[0].Policies[1].Document = "" }), []string{
			"unknown " + role + " [i-0node] iam roles: broken: policy AmazonEC2ContainerRegistryReadOnly of " + role + " is not understood: parse a policy: unexpected end of JSON input",
		}},
		{"a policy that could not be read", outsider(func(s *snapshot.Snapshot) {
			s.Lack(snapshot.Roles, s.Roles[0].Policies[1].ARN, snapshot.Failure{Source: snapshot.Roles, Reason: snapshot.Denied, Call: "iam:GetPolicyVersion"})
		}), []string{"unknown " + role + " [i-0node] iam roles: denied"}},
		{"AL2 that asks for the cluster", outsider(detachPolicy(worker), startedBy("/etc/eks/bootstrap.sh prod")), fail("workers may not eks:DescribeCluster")},
		{"AL2 that is told of the cluster", outsider(detachPolicy(worker), startedBy("/etc/eks/bootstrap.sh prod --apiserver-endpoint https://x --b64-cluster-ca y")), pass},
		{"a comrade is Ready", outsider(detachPolicy(registry), readyComrade), append(fail("workers may not ecr:GetAuthorizationToken and 2 more"), "pass "+role+" [i-0ready]")},
		{"role deleted: another's matter", outsider(iamDeleted(snapshot.Roles, role)), nil},
		{"role denied", outsider(lackOf(snapshot.Roles, role, snapshot.Denied, "AccessDenied")), []string{"unknown " + role + " [i-0node] iam roles: denied"}},
		{"profile denied, but the node group tells the role", outsider(lackOf(snapshot.Profiles, snapshottest.ProfileARN, snapshot.Denied, "AccessDenied")), pass},
		{"profile denied, no node group", outsider(lackOf(snapshot.Profiles, snapshottest.ProfileARN, snapshot.Denied, "AccessDenied"), func(s *snapshot.Snapshot) { s.Nodegroups = nil }), []string{"unknown i-0node [i-0node] instance profiles: denied"}},
		{"unread", outsider(checktest.Unread(snapshot.Roles)), []string{"unknown prod [] iam roles: denied"}},
	}
}

func autoMode(s *snapshot.Snapshot) {
	s.Cluster.AutoMode = true
	snapshottest.Instance(s, snapshottest.Node).Tags = nil
}

func startedBy(text string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.UserData[0].Data = []byte("#!/bin/bash\n" + text) }
}

func TestRolePoliciesWordsAndFix(t *testing.T) {
	got := checktest.Failed(t, RolePolicies(), outsider(detachPolicy("AmazonEKS_CNI_Policy"), detachPolicy("AmazonEC2ContainerRegistryReadOnly")))
	want := "aws iam attach-role-policy --region us-west-2 --role-name workers --policy-arn arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly && " +
		"aws iam attach-role-policy --region us-west-2 --role-name workers --policy-arn arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"
	if got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
	if !strings.Contains(got.Why, "no policy of the role grants it. aws-node has no role of its own") {
		t.Errorf("Why = %q", got.Why)
	}
	if got := checktest.Value(t, got, "Policies of workers"); got != "AmazonEKSWorkerNodePolicy" {
		t.Errorf("policies %q", got)
	}

	got = checktest.Failed(t, RolePolicies(), outsider(inlinePolicy(`{"Sid":"Lock","Effect":"Deny","Action":"ecr:*","Resource":"*"}`)))
	if !strings.Contains(got.Why, "Lock of own denies it") || got.Fix.Command != "" || !strings.HasPrefix(got.Fix.Text, "Change own") {
		t.Errorf("Why = %q, Fix = %+v", got.Why, got.Fix)
	}
}
