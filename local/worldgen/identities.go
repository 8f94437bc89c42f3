package worldgen

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/local/simaws/worldfile"
)

// actions that nodes need, as the EKS user guide lists them for a node role.
func workerActions() []string {
	return []string{"ec2:DescribeInstances", "ec2:DescribeInstanceTypes", "ec2:DescribeSubnets", "ec2:DescribeVpcs", "eks:DescribeCluster", "eks-auth:AssumeRoleForPodIdentity"}
}

func pullActions() []string {
	return []string{"ecr:GetAuthorizationToken", "ecr:BatchCheckLayerAvailability", "ecr:GetDownloadUrlForLayer", "ecr:BatchGetImage"}
}

// pluginActions are those of the network plugin. Those for IPv6 are in no
// policy of AWS.
func pluginActions(six bool) []string {
	if six {
		return []string{"ec2:AssignIpv6Addresses", "ec2:DescribeInstances", "ec2:DescribeTags", "ec2:DescribeNetworkInterfaces", "ec2:DescribeInstanceTypes", "ec2:CreateTags"}
	}
	return []string{
		"ec2:AssignPrivateIpAddresses", "ec2:AttachNetworkInterface", "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface", "ec2:DescribeInstances",
		"ec2:DescribeTags", "ec2:DescribeNetworkInterfaces", "ec2:DescribeInstanceTypes", "ec2:DescribeSubnets", "ec2:DetachNetworkInterface",
		"ec2:ModifyNetworkInterfaceAttribute", "ec2:UnassignPrivateIpAddresses", "ec2:CreateTags",
	}
}

// document is a policy that allows actions everywhere, as IAM carries it.
func document(actions []string) *string {
	return statement(map[string]any{"Effect": "Allow", "Action": actions, "Resource": "*"})
}

// trust is a trust policy with one principal.
func trust(principal map[string]string, condition map[string]any, actions ...string) *string {
	s := map[string]any{"Effect": "Allow", "Principal": principal, "Action": actions}
	if condition != nil {
		s["Condition"] = condition
	}
	return statement(s)
}

func statement(s map[string]any) *string {
	b, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": []any{s}})
	if err != nil {
		panic(err) // maps of strings
	}
	return aws.String(url.PathEscape(string(b)))
}

func roleARN(path, name string) string { return "arn:aws:iam::" + account + ":role" + path + name }

// makeIdentities makes the node roles, their profiles, the network plugin's
// role, and lets the nodes into the cluster.
func (w *World) makeIdentities() {
	path := "/"
	if w.Shape.RolePath {
		path = "/nodes/"
	}
	w.role, w.profile = w.makeNodeRole(path, "workers", w.Shape.Grants, w.Shape.CNI == NodeIdentity && w.Shape.Fleet != AutoMode)
	if w.Shape.CNI != NodeIdentity {
		w.makePluginRole()
	}
	w.letIn(w.role, roleARN("/", "workers"), w.Shape.Image)
	if w.Shape.Veterans > 0 {
		role, _ := w.makeNodeRole("/", "base", Managed, w.Shape.CNI == NodeIdentity)
		w.letIn(role, role, AL2023)
	}
}

func (w *World) makeNodeRole(path, name string, grants Policies, plugin bool) (role, profile string) {
	r := worldfile.RoleFile{Role: iamtypes.Role{
		RoleName: &name, Path: &path, Arn: aws.String(roleARN(path, name)),
		AssumeRolePolicyDocument: trust(map[string]string{"Service": "ec2.amazonaws.com"}, nil, "sts:AssumeRole"),
	}}
	own := map[string][]string{}
	attach := func(policy string) {
		r.AttachedManagedPolicies = append(r.AttachedManagedPolicies, iamtypes.AttachedPolicy{PolicyName: &policy, PolicyArn: aws.String("arn:aws:iam::aws:policy/" + policy)})
	}
	auto := w.Shape.Fleet == AutoMode && name == "workers"
	switch {
	case grants == Managed && auto:
		attach("AmazonEKSWorkerNodeMinimalPolicy")
		attach("AmazonEC2ContainerRegistryPullOnly")
	case auto:
		own["worker"], own["pull"] = []string{"eks-auth:AssumeRoleForPodIdentity"}, pullActions()
	case grants == Managed:
		attach("AmazonEKSWorkerNodePolicy")
		attach("AmazonEC2ContainerRegistryPullOnly")
		if plugin && !w.Shape.IPv6 {
			attach("AmazonEKS_CNI_Policy")
		}
	default:
		own["worker"], own["pull"] = workerActions(), pullActions()
	}
	if plugin && (grants != Managed || w.Shape.IPv6) {
		own["plugin"] = pluginActions(w.Shape.IPv6)
	}
	for _, k := range []string{"worker", "pull", "plugin"} {
		switch actions := own[k]; {
		case actions == nil:
		case grants == Custom:
			arn := fmt.Sprintf("arn:aws:iam::%s:policy/%s-%s", account, name, k)
			policy := name + "-" + k
			w.File.IAM.Policies = append(w.File.IAM.Policies, iamtypes.ManagedPolicyDetail{
				Arn: &arn, PolicyName: &policy, DefaultVersionId: aws.String("v2"),
				PolicyVersionList: []iamtypes.PolicyVersion{{VersionId: aws.String("v2"), IsDefaultVersion: true, Document: document(actions)}},
			})
			r.AttachedManagedPolicies = append(r.AttachedManagedPolicies, iamtypes.AttachedPolicy{PolicyName: &policy, PolicyArn: &arn})
		default:
			r.RolePolicyList = append(r.RolePolicyList, iamtypes.PolicyDetail{PolicyName: aws.String(k), PolicyDocument: document(actions)})
		}
	}
	w.File.IAM.Roles = append(w.File.IAM.Roles, r)
	w.File.IAM.InstanceProfiles = append(w.File.IAM.InstanceProfiles, iamtypes.InstanceProfile{
		InstanceProfileName: aws.String(name + "-profile"), Roles: []iamtypes.Role{{RoleName: &name}},
	})
	return *r.Arn, "arn:aws:iam::" + account + ":instance-profile/" + name + "-profile"
}

// makePluginRole makes the role of the service account kube-system/aws-node.
func (w *World) makePluginRole() {
	name := cluster + "-aws-node"
	w.cniRole = roleARN("/", name)
	r := worldfile.RoleFile{Role: iamtypes.Role{RoleName: &name, Path: aws.String("/"), Arn: &w.cniRole}}
	if w.Shape.CNI == IRSA {
		r.AssumeRolePolicyDocument = trust(map[string]string{"Federated": "arn:aws:iam::" + account + ":oidc-provider/" + issuer},
			map[string]any{"StringEquals": map[string]any{issuer + ":sub": "system:serviceaccount:kube-system:aws-node", issuer + ":aud": "sts.amazonaws.com"}},
			"sts:AssumeRoleWithWebIdentity")
	} else {
		r.AssumeRolePolicyDocument = trust(map[string]string{"Service": "pods.eks.amazonaws.com"}, nil, "sts:AssumeRole", "sts:TagSession")
		a := ekstypes.PodIdentityAssociation{
			AssociationId: aws.String("a-0123456789abcdef0"), ClusterName: aws.String(cluster), Namespace: aws.String("kube-system"),
			ServiceAccount: aws.String("aws-node"), RoleArn: &w.cniRole,
		}
		if w.chained() {
			// EKS assumes the plugin's role with that of the association, which may nothing
			// else (EKS user guide, "Access AWS resources using EKS Pod Identity Target IAM
			// Roles").
			hop := cluster + "-pods"
			w.File.IAM.Roles = append(w.File.IAM.Roles, worldfile.RoleFile{
				Role:           iamtypes.Role{RoleName: &hop, Path: aws.String("/"), Arn: aws.String(roleARN("/", hop)), AssumeRolePolicyDocument: r.AssumeRolePolicyDocument},
				RolePolicyList: []iamtypes.PolicyDetail{{PolicyName: aws.String("hop"), PolicyDocument: document([]string{"sts:AssumeRole", "sts:TagSession"})}},
			})
			a.RoleArn, a.TargetRoleArn, a.ExternalId = aws.String(roleARN("/", hop)), &w.cniRole, aws.String("ours")
			r.AssumeRolePolicyDocument = trust(map[string]string{"AWS": "arn:aws:iam::" + account + ":root"},
				map[string]any{"StringEquals": map[string]any{"sts:ExternalId": "ours"}}, "sts:AssumeRole", "sts:TagSession")
		}
		w.File.EKS.PodIdentityAssociations = append(w.File.EKS.PodIdentityAssociations, a)
	}
	if w.Shape.IPv6 {
		r.RolePolicyList = []iamtypes.PolicyDetail{{PolicyName: aws.String("plugin"), PolicyDocument: document(pluginActions(true))}}
	} else {
		policy := "AmazonEKS_CNI_Policy"
		r.AttachedManagedPolicies = []iamtypes.AttachedPolicy{{PolicyName: &policy, PolicyArn: aws.String("arn:aws:iam::aws:policy/" + policy)}}
	}
	w.File.IAM.Roles = append(w.File.IAM.Roles, r)
}

// chained reports whether the plugin's role is the target role of its association.
func (w *World) chained() bool { return w.Shape.CNI == PodIdentity && w.Shape.RolePath }

// letIn makes the cluster know a node role: by an access entry with its ARN,
// by aws-auth with the ARN without a path, or by both.
func (w *World) letIn(role, withoutPath string, image Image) {
	kind, groups := "EC2_LINUX", "\n    - system:bootstrappers\n    - system:nodes\n"
	switch image {
	case AutoImage:
		kind = "EC2"
		w.File.EKS.AccessPolicies = append(w.File.EKS.AccessPolicies, worldfile.AccessPoliciesFile{
			ClusterName: cluster, PrincipalArn: role,
			AssociatedAccessPolicies: []ekstypes.AssociatedAccessPolicy{{
				PolicyArn: aws.String("arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy"), AccessScope: &ekstypes.AccessScope{Type: ekstypes.AccessScopeTypeCluster},
			}},
		})
	case Windows:
		kind = "EC2_WINDOWS"
		groups += "    - eks:kube-proxy-windows\n"
	}
	if w.Shape.Auth != ByMap {
		w.File.EKS.AccessEntries = append(w.File.EKS.AccessEntries, ekstypes.AccessEntry{
			ClusterName: aws.String(cluster), PrincipalArn: &role, Type: &kind,
			Username: aws.String("system:node:{{EC2PrivateDNSName}}"), KubernetesGroups: []string{"system:nodes"},
		})
	}
	if w.Shape.Auth != ByEntries {
		w.mapRoles(fmt.Sprintf("- rolearn: %s\n  username: system:node:{{EC2PrivateDNSName}}\n  groups:%s", withoutPath, groups))
	}
}

// mapRoles adds to mapRoles of the ConfigMap aws-auth.
func (w *World) mapRoles(text string) {
	k := w.File.Kubernetes[cluster]
	defer func() { w.File.Kubernetes[cluster] = k }()
	for _, c := range k.ConfigMaps {
		data := c["data"].(map[string]any)
		data["mapRoles"] = data["mapRoles"].(string) + text
		return
	}
	k.ConfigMaps = append(k.ConfigMaps, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "aws-auth", "namespace": "kube-system"},
		"data": map[string]any{"mapRoles": text},
	})
}
