package iam

import (
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/facts"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

const cniRole = "arn:aws:iam::123456789012:role/cni"

// ownRole gives aws-node a role of its own that may do what a statement says.
// It is the first of the roles.
func ownRole(actions string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.CNI.Role = cniRole
		s.Roles = append([]snapshot.Role{{ARN: cniRole, Name: "cni", Policies: []snapshot.Policy{
			{Name: "own", Document: `{"Statement":{"Effect":"Allow","Action":` + actions + `,"Resource":"*"}}`},
		}}}, s.Roles...)
	}
}

// podOf is the pod of aws-node on the node, made with credentials.
func podOf(c snapshot.PodCredentials) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Pods = []snapshot.Pod{{Namespace: "kube-system", Name: "aws-node-x7k2p", Node: s.Nodes[0].Name, Phase: "Running", Identity: c}}
	}
}

func cniImage(version string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.CNI.Image = "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:" + version
	}
}

func TestCniRolePolicies(t *testing.T) {
	checktest.RunCases(t, CNIRolePolicies(), cniRolePoliciesCases())
}

func cniRolePoliciesCases() []checktest.Case {
	node := snapshottest.NodeRole
	const all = `["ec2:AssignPrivateIpAddresses","ec2:AttachNetworkInterface","ec2:CreateNetworkInterface","ec2:Describe*","ec2:ModifyNetworkInterfaceAttribute","ec2:CreateTags"]`
	const old = `["ec2:AssignPrivateIpAddresses","ec2:*NetworkInterface*","ec2:DescribeInstances","ec2:DescribeTags","ec2:DescribeInstanceTypes","ec2:DescribeSubnets","ec2:CreateTags"]`
	const six = `["ec2:AssignIpv6Addresses","ec2:DescribeInstances","ec2:DescribeTags","ec2:DescribeNetworkInterfaces","ec2:DescribeInstanceTypes","ec2:CreateTags"]`
	const noTypes = `["ec2:AssignPrivateIpAddresses","ec2:*NetworkInterface*","ec2:DescribeInstances","ec2:DescribeTags","ec2:DescribeSubnets","ec2:DescribeSecurityGroups","ec2:CreateTags"]`
	ofType := func(name string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).Type = name }
	}
	fail := func(role, title string) []string { return []string{"fail " + role + " [i-0node] [i-0node] " + title} }
	const nothing, groups = "aws-node may not ec2:DescribeNetworkInterfaces and 1 more", "aws-node may not ec2:DescribeSecurityGroups"
	ipv6 := func(s *snapshot.Snapshot) { s.Cluster.IPv6 = true }
	association := func(s *snapshot.Snapshot) {
		s.PodIdentities = []snapshot.PodIdentity{{Namespace: "default", ServiceAccount: "aws-node", Role: "x"}, {Namespace: "kube-system", ServiceAccount: "aws-node", Role: cniRole}}
	}
	const target, here, there = "arn:aws:iam::123456789012:role/cni-target", `{"Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:role/cni"},"Action":["sts:AssumeRole","sts:TagSession"],"Condition":{"StringEquals":{"sts:ExternalId":"x"}}}}`,
		`{"Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:root"},"Action":["sts:AssumeRole","sts:TagSession"]}}`
	// chained gives aws-node a target role with a trust policy and actions, through the
	// role cni with others.
	chained := func(trust, first, then string, more ...func(*snapshot.PodIdentity)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			ownRole(first)(s)
			s.Roles = append(s.Roles, snapshot.Role{ARN: target, Name: "cni-target", Trust: trust, Policies: []snapshot.Policy{
				{Name: "own", Document: `{"Statement":{"Effect":"Allow","Action":` + then + `,"Resource":"*"}}`},
			}})
			s.PodIdentities = []snapshot.PodIdentity{{Namespace: "kube-system", ServiceAccount: "aws-node", Role: cniRole, Target: target, ExternalID: "x"}}
			for _, change := range more {
				change(&s.PodIdentities[0])
			}
		}
	}
	session := func(actions string) func(*snapshot.PodIdentity) {
		return func(a *snapshot.PodIdentity) {
			a.Untagged, a.Policy = true, `{"Statement":{"Effect":"Allow","Action":`+actions+`,"Resource":"*"}}`
		}
	}
	elsewhere := func(a *snapshot.PodIdentity) { a.Target = "arn:aws:iam::444455556666:role/cni-target" }
	const hops = `["sts:AssumeRole","sts:TagSession"]`
	noHop := "aws-node gets no credentials: cni may not assume cni-target"
	return []checktest.Case{
		{"a target role that may", outsider(chained(here, hops, all)), []string{"pass " + target + " [i-0node]"}},
		{"a target role that may nothing", outsider(chained(here, hops, `"s3:*"`)), fail(target, nothing)},
		{"a target role that names the first one needs no grant", outsider(chained(here, `"s3:*"`, all)), []string{"pass " + target + " [i-0node]"}},
		{"a target role that names the account does", outsider(chained(there, `"s3:*"`, all)), fail(cniRole, noHop)},
		{"a target role that does not trust the first one", outsider(chained(`{"Statement":{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":"sts:*"}}`, hops, all)), fail(target, noHop)},
		{"a target role that wants another external id", outsider(chained(here, hops, all, func(a *snapshot.PodIdentity) { a.ExternalID = "y" })), fail(target, noHop)},
		{"a target role without sts:TagSession", outsider(chained(there, `"sts:AssumeRole"`, all)), fail(cniRole, noHop)},
		{"a target role without sts:TagSession, and without tags", outsider(chained(there, `"sts:AssumeRole"`, all, func(a *snapshot.PodIdentity) { a.Untagged = true })), []string{"pass " + target + " [i-0node]"}},
		{"a target role of another account", outsider(chained(here, hops, `"s3:*"`, elsewhere), lackOf(snapshot.Roles, "arn:aws:iam::444455556666:role/cni-target", snapshot.NotRead, "")), []string{
			"unknown arn:aws:iam::444455556666:role/cni-target [i-0node] iam roles: not read",
		}},
		{"a target role that was deleted", outsider(chained(here, hops, all), iamDeleted(snapshot.Roles, target)), fail(target, "aws-node's role cni-target was deleted")},
		{"the role before a target role was deleted", outsider(chained(here, hops, all), func(s *snapshot.Snapshot) {
			s.Lack(snapshot.Roles, cniRole, snapshot.Failure{Source: snapshot.Roles, Code: facts.NoSuchEntity})
		}), fail(cniRole, "aws-node's role cni was deleted")},
		{"a session policy that allows too", outsider(chained(here, hops, all, session(`"ec2:*"`))), []string{"pass " + target + " [i-0node]"}},
		{"a session policy that allows less", outsider(chained(here, hops, all, session(`"ec2:Describe*"`))), fail(target, "aws-node may not ec2:AssignPrivateIpAddresses")},
		{"a session policy on the association's own role", outsider(ownRole(all), association, func(s *snapshot.Snapshot) { session(`"ec2:Describe*"`)(&s.PodIdentities[1]) }), fail(cniRole, "aws-node may not ec2:AssignPrivateIpAddresses")},
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass " + node + " [i-0node]"}},
		{"the node's role may", outsider(), []string{"pass " + node + " [i-0node]"}},
		{"the node's role may not", outsider(detachPolicy("AmazonEKS_CNI_Policy")), fail(node, nothing)},
		{"its own role may", outsider(ownRole(all)), []string{"pass " + cniRole + " [i-0node]"}},
		{"its own role may nothing", outsider(ownRole(`"s3:*"`)), fail(cniRole, nothing)},
		{"its own role may nothing, all are Ready", checktest.Change(snapshottest.PrivateWithNAT(), ownRole(`"s3:*"`)), []string{"pass " + cniRole + " [i-0node]"}},
		{"its role by Pod Identity comes first", outsider(ownRole(`"s3:*"`), association, func(s *snapshot.Snapshot) { s.CNI.Role = node }), fail(cniRole, nothing)},
		{"its role is newer than the pod, and the node's may not", outsider(detachPolicy("AmazonEKS_CNI_Policy"), ownRole(all), checktest.NotReadyNode("x"), podOf(snapshot.PodCredentials{Told: true})), fail(node, nothing)},
		{"its role is newer than the pod, and may nothing; the node's may", outsider(ownRole(`"s3:*"`), checktest.NotReadyNode("x"), podOf(snapshot.PodCredentials{Told: true})), []string{"pass " + node + " [i-0node]"}},
		{"the pod has the role", outsider(ownRole(`"s3:*"`), checktest.NotReadyNode("x"), podOf(snapshot.PodCredentials{Told: true, Role: cniRole})), fail(cniRole, nothing)},
		{"the association is newer than the pod", outsider(detachPolicy("AmazonEKS_CNI_Policy"), ownRole(all), association, checktest.NotReadyNode("x"), podOf(snapshot.PodCredentials{Told: true})), fail(node, nothing)},
		{"the pod has the association's", outsider(ownRole(`"s3:*"`), association, checktest.NotReadyNode("x"), podOf(snapshot.PodCredentials{Told: true, ByAssociation: true})), fail(cniRole, nothing)},
		{"the pod does not tell", outsider(ownRole(`"s3:*"`), checktest.NotReadyNode("x"), podOf(snapshot.PodCredentials{})), fail(cniRole, nothing)},
		{"its role by the add-on", outsider(ownRole(`"s3:*"`), func(s *snapshot.Snapshot) { s.CNI.Role, s.Addons[2].Role = "", cniRole }), fail(cniRole, nothing)},
		{"a newer plugin on an old policy (tfiam647)", outsider(ownRole(old), cniImage("v1.22.1-eksbuild.2")), fail(cniRole, groups)},
		{"an older plugin on an old policy", outsider(ownRole(old), cniImage("v1.21.2-eksbuild.2")), []string{"pass " + cniRole + " [i-0node]"}},
		{"a plugin that took it back", outsider(ownRole(old), cniImage("v1.22.2-eksbuild.1")), []string{"pass " + cniRole + " [i-0node]"}},
		{"a newer plugin that does not look for groups", outsider(ownRole(old), cniImage("v1.22.1-eksbuild.2"), func(s *snapshot.Snapshot) { s.CNI.Env["ENABLE_SUBNET_DISCOVERY"] = "false" }), []string{"pass " + cniRole + " [i-0node]"}},
		{"IPv6 on the IPv4 policy", outsider(ipv6), fail(node, "aws-node may not ec2:AssignIpv6Addresses")},
		{"IPv6 on its own policy", outsider(ipv6, ownRole(`["ec2:AssignIpv6Addresses","ec2:Describe*","ec2:CreateTags"]`)), []string{"pass " + cniRole + " [i-0node]"}},
		{"IPv6, a newer plugin on an older policy (eksctl8835)", outsider(ipv6, ownRole(six), cniImage("v1.22.2-eksbuild.1")), fail(cniRole, "aws-node may not ec2:DescribeSubnets")},
		{"IPv6, an older plugin on an older policy", outsider(ipv6, ownRole(six), cniImage("v1.21.2-eksbuild.2")), []string{"pass " + cniRole + " [i-0node]"}},
		{"IPv6, a newer plugin that does not look for subnets (karpenter9608)", outsider(ipv6, ownRole(six), cniImage("v1.22.2-eksbuild.1"), func(s *snapshot.Snapshot) { s.CNI.Env["ENABLE_SUBNET_DISCOVERY"] = "false" }), []string{
			"pass " + cniRole + " [i-0node]",
		}},
		{"only what it needs to start", outsider(ownRole(`["ec2:AssignPrivateIpAddresses","ec2:Describe*"]`)), []string{
			"fail (possible) " + cniRole + " [i-0node] [i-0node] aws-node may not ec2:AttachNetworkInterface and 3 more",
		}},
		{"a type that its version does not know, and may not ask about", outsider(ownRole(noTypes), cniImage("v1.20.4-eksbuild.1"), ofType("c9g.large")), fail(cniRole, "aws-node may not ec2:DescribeInstanceTypes")},
		{"a type that its version does not know, and may ask about", outsider(ownRole(all), cniImage("v1.20.4-eksbuild.1"), ofType("c9g.large")), []string{"pass " + cniRole + " [i-0node]"}},
		{"a type that its version knows", outsider(ownRole(noTypes), cniImage("v1.23.0-eksbuild.1"), ofType("c9g.large")), []string{"pass " + cniRole + " [i-0node]"}},
		{"a type that some version came to know", outsider(ownRole(noTypes), cniImage("v1.21.0-eksbuild.1"), ofType("c8a.large")), []string{
			"unknown " + cniRole + " [i-0node] aws-node: not read: whether v1.21.0 knows c8a.large without asking EC2 is not in the data, which goes up to v1.23.2 of 2026-09-29",
		}},
		{"a version that is not understood", outsider(ownRole(noTypes), cniImage("latest")), []string{
			"unknown " + cniRole + " [i-0node] aws-node: broken: the version in the image \"602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:latest\" is not understood: whether it knows m5.large without asking EC2 cannot be told",
		}},
		{"a version that is not understood, and may ask", outsider(ownRole(all), cniImage("latest")), []string{"pass " + cniRole + " [i-0node]"}},
		{"its own role was deleted", outsider(ownRole(all), iamDeleted(snapshot.Roles, cniRole)), fail(cniRole, "aws-node's role cni was deleted")},
		{"its own role was deleted, as far as can be told", outsider(ownRole(all), iamDeleted(snapshot.Roles, cniRole), checktest.Unread(snapshot.PodIdentities)), []string{
			"fail (likely) " + cniRole + " [i-0node] [i-0node] aws-node's role cni was deleted",
		}},
		{"the node's role was deleted: another's matter", outsider(iamDeleted(snapshot.Roles, node)), nil},
		{"its own role denied", outsider(ownRole(all), lackOf(snapshot.Roles, cniRole, snapshot.Denied, "AccessDenied")), []string{"unknown " + cniRole + " [i-0node] iam roles: denied"}},
		{"may nothing, associations unread", outsider(ownRole(`"s3:*"`), checktest.Unread(snapshot.PodIdentities)), []string{"fail (likely) " + cniRole + " [i-0node] [i-0node] " + nothing}},
		{"may, associations unread", outsider(ownRole(all), checktest.Unread(snapshot.PodIdentities)), []string{"unknown " + cniRole + " [i-0node] pod identity associations: denied"}},
		{"with a condition", outsider(ownRole(`"s3:*"`), inlinePolicy(`{"Effect":"Allow","Action":"ec2:*","Resource":"*","Condition":{"StringEquals":{"aws:SourceVpc":"vpc-0a"}}}`)), []string{
			"unknown " + cniRole + " [i-0node] iam roles: not read: whether cni may ec2:DescribeNetworkInterfaces depends on condition StringEquals aws:SourceVpc: statement 1 of own" +
				" iam roles: not read: whether cni may ec2:AssignPrivateIpAddresses depends on condition StringEquals aws:SourceVpc: statement 1 of own",
		}},
		{"a policy that is not understood", outsider(ownRole(`3`)), []string{
			"unknown " + cniRole + " [i-0node] iam roles: broken: policy own of " + cniRole + " is not understood: parse a policy: json: cannot unmarshal number into Go struct field .Statement.Action of type string",
		}},
		{"another network plugin", outsider(detachPolicy("AmazonEKS_CNI_Policy"), func(s *snapshot.Snapshot) { s.CNI = nil }), []string{"pass " + node + " [i-0node]"}},
		{"Auto Mode", outsider(detachPolicy("AmazonEKS_CNI_Policy"), autoMode), []string{"pass " + node + " [i-0node]"}},
		{"unread", outsider(checktest.Unread(snapshot.AWSNode)), []string{"unknown prod [] aws-node: denied"}},
	}
}

func TestCNIRolePoliciesWords(t *testing.T) {
	got := checktest.Failed(t, CNIRolePolicies(), outsider(ownRole(`"s3:*"`)))
	if want := "aws-node uses " + cniRole + " (annotation eks.amazonaws.com/role-arn of kube-system/aws-node), which may not ec2:DescribeNetworkInterfaces and ec2:AssignPrivateIpAddresses: no policy of the role grants it."; !strings.HasPrefix(got.Why, want) {
		t.Errorf("Why = %q, want it to begin with %q", got.Why, want)
	}
	if want := "aws iam attach-role-policy --region us-west-2 --role-name cni --policy-arn arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"; got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
}

// TestCNITypesWords holds that the date and the source of the data are told.
func TestCNITypesWords(t *testing.T) {
	got := checktest.Failed(t, CNIRolePolicies(), outsider(ownRole(`["ec2:AssignPrivateIpAddresses","ec2:*NetworkInterface*","ec2:CreateTags"]`), cniImage("v1.20.4-eksbuild.1"), func(s *snapshot.Snapshot) {
		snapshottest.Instance(s, snapshottest.Node).Type = "c9g.large"
	}))
	if !strings.HasSuffix(got.Why, " v1.20.4 of the plugin does not know c9g.large without asking EC2.") || got.Confidence != "" && got.Confidence != "certain" {
		t.Errorf("%s: %s", got.Confidence, got.Why)
	}
	var told []string
	for _, e := range got.Evidence {
		told = append(told, e.What+": "+e.Value)
	}
	want := "Not in the table of v1.20.4: c9g.large\nTables of instance types: pkg/vpc/vpc_ip_resource_limit.go of github.com/aws/amazon-vpc-cni-k8s, up to v1.23.2 of 2026-09-29"
	if all := strings.Join(told, "\n"); !strings.Contains(all, want) {
		t.Errorf("evidence\n%s\nwant in it\n%s", all, want)
	}
}
