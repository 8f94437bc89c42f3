package worldgen

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/stage/simaws/worldfile"
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

// hub is the range of the VPC through which a transit gateway leads out.
const hub = "10.250.0.0/16"

// makeTransit makes a transit gateway with an egress VPC behind it, all of the
// same account, and leads to it.
func (w *World) makeTransit() target {
	gateway := w.id("tgw")
	w.egressVPC = w.id("vpc")
	w.makeVPC(w.egressVPC, hub)
	public := w.makeSubnet(w.egressVPC, "us-west-2a", 0, true)
	inner := w.makeSubnet(w.egressVPC, "us-west-2a", 1, false)
	out := w.makeGateway(w.egressVPC)
	back := route(w.range4.String(), transitID(gateway))
	w.makeTable(w.egressVPC, true, nil, route(hub, local))
	w.makeTable(w.egressVPC, false, []string{public}, route(hub, local), back, route("0.0.0.0/0", gatewayID(out)))
	nat := w.makeNAT(w.egressVPC, public)
	w.makeTable(w.egressVPC, false, []string{inner}, route(hub, local), back, route("0.0.0.0/0", natID(nat)))
	spoke, hubTable := w.id("tgw-rtb"), w.id("tgw-rtb")
	own := w.attach(gateway, w.vpc, spoke, w.private[0])
	egress := w.attach(gateway, w.egressVPC, hubTable, inner)
	w.File.EC2.TransitGatewayRoutes = map[string][]ec2types.TransitGatewayRoute{
		spoke:    {transitRoute("0.0.0.0/0", egress, w.egressVPC)},
		hubTable: {transitRoute(w.range4.String(), own, w.vpc)},
	}
	return transitID(gateway)
}

func transitID(id string) target { return func(r *ec2types.Route) { r.TransitGatewayId = &id } }

func transitRoute(cidr, attachment, vpc string) ec2types.TransitGatewayRoute {
	return ec2types.TransitGatewayRoute{DestinationCidrBlock: &cidr, TransitGatewayAttachments: []ec2types.TransitGatewayRouteAttachment{
		{TransitGatewayAttachmentId: &attachment, ResourceId: &vpc, ResourceType: ec2types.TransitGatewayAttachmentResourceTypeVpc},
	}}
}

// attach attaches a VPC, with its interface in a subnet.
func (w *World) attach(gateway, vpc, table, subnet string) string {
	id := w.id("tgw-attach")
	w.File.EC2.TransitGatewayAttachments = append(w.File.EC2.TransitGatewayAttachments, ec2types.TransitGatewayAttachment{
		TransitGatewayAttachmentId: &id, TransitGatewayId: &gateway, ResourceId: &vpc, ResourceType: ec2types.TransitGatewayAttachmentResourceTypeVpc,
		Association: &ec2types.TransitGatewayAttachmentAssociation{TransitGatewayRouteTableId: &table, State: ec2types.TransitGatewayAssociationStateAssociated},
	})
	w.File.EC2.NetworkInterfaces = append(w.File.EC2.NetworkInterfaces, ec2types.NetworkInterface{
		NetworkInterfaceId: aws.String(w.id("eni")), SubnetId: &subnet, Description: aws.String("Network Interface for Transit Gateway Attachment " + id),
		InterfaceType: ec2types.NetworkInterfaceTypeTransitGateway, RequesterManaged: aws.Bool(true), Status: ec2types.NetworkInterfaceStatusInUse,
	})
	return id
}

// natInstance is the public address of the instance that translates.
const natInstance = "203.0.113.99"

// makeNATInstance makes an instance that forwards, and leads to its interface.
func (w *World) makeNATInstance() target {
	id, eni, group := w.id("i"), w.id("eni"), w.id("sg")
	w.File.EC2.SecurityGroups = append(w.File.EC2.SecurityGroups, ec2types.SecurityGroup{
		GroupId: &group, VpcId: &w.vpc, GroupName: aws.String("nat"), Description: aws.String("From the VPC"),
		IpPermissions:       []ec2types.IpPermission{permit("-1", 0, 0, w.range4.String())},
		IpPermissionsEgress: []ec2types.IpPermission{permit("-1", 0, 0, "0.0.0.0/0")},
	})
	w.File.EC2.Instances = append(w.File.EC2.Instances, ec2types.Instance{
		InstanceId: &id, InstanceType: ec2types.InstanceTypeT3Micro, SubnetId: &w.public[0], LaunchTime: aws.Time(w.now().Add(-40 * 24 * time.Hour)),
		PublicIpAddress: aws.String(natInstance), SourceDestCheck: aws.Bool(false), Tags: []ec2types.Tag{tag("Name", "nat")},
	})
	w.File.EC2.NetworkInterfaces = append(w.File.EC2.NetworkInterfaces, ec2types.NetworkInterface{
		NetworkInterfaceId: &eni, SubnetId: &w.public[0], SourceDestCheck: aws.Bool(false), Groups: []ec2types.GroupIdentifier{{GroupId: &group}},
		Attachment:  &ec2types.NetworkInterfaceAttachment{InstanceId: &id, DeviceIndex: aws.Int32(0)},
		Association: &ec2types.NetworkInterfaceAssociation{PublicIp: aws.String(natInstance)},
	})
	return func(r *ec2types.Route) {
		r.NetworkInterfaceId, r.InstanceId, r.InstanceOwnerId = &eni, &id, aws.String(account)
	}
}

// makeKubernetes makes what the cluster's API has: the Ready nodes and the
// network plugin on them.
func (w *World) makeKubernetes() {
	k := w.File.Kubernetes[cluster]
	env := []any{map[string]any{"name": "WARM_ENI_TARGET", "value": "1"}}
	if w.Shape.Prefixes {
		env = append(env, map[string]any{"name": "ENABLE_PREFIX_DELEGATION", "value": "true"})
	}
	if w.Shape.IPv6 {
		env = append(env, map[string]any{"name": "ENABLE_IPv6", "value": "true"}, map[string]any{"name": "ENABLE_IPv4", "value": "false"})
	}
	const image = "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:v1.20.4-eksbuild.1"
	annotations := map[string]any{}
	if w.Shape.CNI == IRSA {
		annotations["eks.amazonaws.com/role-arn"] = w.cniRole
	}
	k.ServiceAccounts = []map[string]any{{"metadata": map[string]any{"name": "aws-node", "namespace": "kube-system", "annotations": annotations}}}
	for _, id := range append(append([]string{}, w.Veterans...), w.Young...) {
		node, pod := w.makeNode(id)
		k.Nodes = append(k.Nodes, node)
		if pod != nil {
			k.Pods = append(k.Pods, pod)
		}
	}
	k.DaemonSets = []map[string]any{{
		"metadata": map[string]any{"name": "aws-node", "namespace": "kube-system"},
		"spec":     map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "aws-node", "image": image, "env": env}}}}},
		"status":   map[string]any{"desiredNumberScheduled": len(k.Pods), "numberReady": len(k.Pods)},
	}}
	w.File.Kubernetes[cluster] = k
	if w.Shape.pooled() {
		w.makeNodePool()
	}
}

// nodeName is the name of an instance's node: Auto Mode's are called by the instance.
func (w *World) nodeName(id string) string {
	in := w.instance(id)
	if in.Operator != nil {
		return id
	}
	return *in.PrivateDnsName
}

// makeNode makes a Ready node, and the pod of the network plugin on it, which
// Windows nodes do not have.
func (w *World) makeNode(id string) (node, pod map[string]any) {
	in := w.instance(id)
	name := w.nodeName(id)
	system := "linux"
	if in.Platform != "" {
		system = "windows"
	}
	born := in.LaunchTime.Add(45 * time.Second).UTC().Format(time.RFC3339)
	zone := *w.subnet(*in.SubnetId).AvailabilityZone
	node = map[string]any{
		"apiVersion": "v1", "kind": "Node",
		"metadata": map[string]any{"name": name, "creationTimestamp": born, "labels": map[string]any{
			"kubernetes.io/os": system, "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, "node.kubernetes.io/instance-type": string(in.InstanceType),
		}},
		"spec": map[string]any{"providerID": "aws:///" + zone + "/" + id},
		"status": map[string]any{
			"addresses":  []any{map[string]any{"type": "InternalIP", "address": aws.ToString(in.PrivateIpAddress)}},
			"capacity":   map[string]any{"pods": "29"},
			"nodeInfo":   map[string]any{"kubeletVersion": "v" + w.version + ".1-eks-113cf36", "operatingSystem": system},
			"conditions": []any{condition("Ready", "True", "KubeletReady", "kubelet is posting ready status", born)},
		},
	}
	if in.Operator != nil {
		node["metadata"].(map[string]any)["labels"].(map[string]any)["eks.amazonaws.com/compute-type"] = "auto"
	}
	if system == "windows" || in.Operator != nil {
		return node, nil
	}
	pod = map[string]any{
		"metadata": map[string]any{"name": "aws-node-" + id[len(id)-5:], "namespace": "kube-system", "labels": map[string]any{"k8s-app": "aws-node"}},
		"spec":     map[string]any{"nodeName": name},
		"status": map[string]any{"phase": "Running", "containerStatuses": []any{
			map[string]any{"name": "aws-node", "ready": true, "restartCount": 0, "state": map[string]any{"running": map[string]any{"startedAt": born}}},
		}},
	}
	return node, pod
}

func condition(kind, status, reason, message, since string) map[string]any {
	return map[string]any{"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since, "lastHeartbeatTime": since}
}

// Unjoin takes the nodes of the young instances away: none registered.
func (w *World) Unjoin() { w.unjoin(w.Young) }

func (w *World) unjoin(ids []string) {
	names := map[string]bool{}
	for _, id := range ids {
		names[w.nodeName(id)] = true
	}
	k := w.File.Kubernetes[cluster]
	k.Nodes = without(k.Nodes, func(n map[string]any) bool { return names[nameOf(n)] })
	k.Pods = without(k.Pods, func(p map[string]any) bool { return names[p["spec"].(map[string]any)["nodeName"].(string)] })
	for _, d := range k.DaemonSets {
		d["status"] = map[string]any{"desiredNumberScheduled": len(k.Pods), "numberReady": len(k.Pods)}
	}
	w.File.Kubernetes[cluster] = k
	w.unregister(ids)
	w.File.Expect.Healthy = false
}

func nameOf(object map[string]any) string {
	return object["metadata"].(map[string]any)["name"].(string)
}

// nodes runs over the nodes of the young instances and their pods.
func (w *World) nodes(do func(node, pod map[string]any)) {
	k := w.File.Kubernetes[cluster]
	for _, id := range w.Young {
		name := w.nodeName(id)
		node := find(k.Nodes, func(n *map[string]any) bool { return nameOf(*n) == name })
		pod := find(k.Pods, func(p *map[string]any) bool { return (*p)["spec"].(map[string]any)["nodeName"] == name })
		if node == nil {
			continue
		}
		if pod == nil {
			do(*node, nil)
			continue
		}
		do(*node, *pod)
	}
}

// find is a pointer into a list. What is asked for by a fault is there, or the
// fault does not apply: everything else is a mistake of this package.
func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

func (w *World) table(id string) *ec2types.RouteTable {
	return find(w.File.EC2.RouteTables, func(t *ec2types.RouteTable) bool { return *t.RouteTableId == id })
}

func (w *World) subnet(id string) *ec2types.Subnet {
	return find(w.File.EC2.Subnets, func(s *ec2types.Subnet) bool { return *s.SubnetId == id })
}

func (w *World) instance(id string) *ec2types.Instance {
	return find(w.File.EC2.Instances, func(i *ec2types.Instance) bool { return *i.InstanceId == id })
}

func (w *World) securityGroup(id string) *ec2types.SecurityGroup {
	return find(w.File.EC2.SecurityGroups, func(g *ec2types.SecurityGroup) bool { return *g.GroupId == id })
}

func (w *World) nat(id string) *ec2types.NatGateway {
	return find(w.File.EC2.NatGateways, func(n *ec2types.NatGateway) bool { return *n.NatGatewayId == id })
}

func (w *World) acl() *ec2types.NetworkAcl {
	return find(w.File.EC2.NetworkAcls, func(a *ec2types.NetworkAcl) bool { return *a.VpcId == w.vpc })
}

func (w *World) vpcFile() *ec2types.Vpc {
	return find(w.File.EC2.Vpcs, func(v *ec2types.Vpc) bool { return *v.VpcId == w.vpc })
}

func (w *World) dhcp() *ec2types.DhcpOptions {
	id := *w.vpcFile().DhcpOptionsId
	return find(w.File.EC2.DhcpOptions, func(d *ec2types.DhcpOptions) bool { return *d.DhcpOptionsId == id })
}

func (w *World) vpcEndpoint(service string) *ec2types.VpcEndpoint {
	return find(w.File.EC2.VpcEndpoints, func(e *ec2types.VpcEndpoint) bool { return strings.HasSuffix(*e.ServiceName, "."+service) })
}

func (w *World) eks() *ekstypes.Cluster { return &w.File.EKS.Clusters[0] }

func (w *World) addon(name string) *ekstypes.Addon {
	return find(w.File.EKS.Addons, func(a *ekstypes.Addon) bool { return *a.AddonName == name })
}

func (w *World) roleNamed(name string) *worldfile.RoleFile {
	return find(w.File.IAM.Roles, func(r *worldfile.RoleFile) bool { return *r.RoleName == name })
}

func (w *World) entry() *ekstypes.AccessEntry {
	return find(w.File.EKS.AccessEntries, func(e *ekstypes.AccessEntry) bool { return *e.PrincipalArn == w.role })
}

func (w *World) scalingGroup() *astypes.AutoScalingGroup {
	return find(w.File.AutoScaling.AutoScalingGroups, func(g *astypes.AutoScalingGroup) bool { return *g.AutoScalingGroupName == w.group })
}

func (w *World) templateVersion() *ec2types.LaunchTemplateVersion {
	return find(w.File.EC2.LaunchTemplateVersions, func(v *ec2types.LaunchTemplateVersion) bool { return *v.LaunchTemplateId == w.template })
}

func (w *World) imageOf() *ec2types.Image {
	return find(w.File.EC2.Images, func(i *ec2types.Image) bool { return *i.ImageId == w.image })
}

// defaultRoute is the way out of a route table.
func defaultRoute(t *ec2types.RouteTable) *ec2types.Route {
	return find(t.Routes, func(r *ec2types.Route) bool { return aws.ToString(r.DestinationCidrBlock) == "0.0.0.0/0" })
}

// young runs over the young instances.
func (w *World) young(do func(*ec2types.Instance)) {
	for _, id := range w.Young {
		do(w.instance(id))
	}
}

// setUserData gives the young instances, and the template that made them, user
// data.
func (w *World) setUserData(data string) {
	for _, id := range w.Young {
		w.File.EC2.UserData[id] = data
	}
	if w.template != "" {
		w.templateVersion().LaunchTemplateData.UserData = &data
	}
}

// eachTable runs over the route tables that are in force for the nodes.
func (w *World) eachTable(do func(*ec2types.RouteTable)) {
	for _, id := range w.Tables {
		do(w.table(id))
	}
}

func without[T any](list []T, is func(T) bool) []T { return slices.DeleteFunc(list, is) }

// zones are the zones of a shape.
func (w *World) zones() []string {
	return []string{"us-west-2a", "us-west-2b", "us-west-2c"}[:w.Shape.Zones]
}

// makeNetwork makes the VPC with its subnets, gateways and route tables.
func (w *World) makeNetwork() {
	w.vpc = w.id("vpc")
	w.makeVPC(w.vpc, w.range4.String())
	for i, zone := range w.zones() {
		w.public = append(w.public, w.makeSubnet(w.vpc, zone, i, true))
	}
	for i, zone := range w.zones() {
		w.private = append(w.private, w.makeSubnet(w.vpc, zone, 4+i, false))
	}
	w.Subnets = w.private
	if !w.Shape.private() {
		w.Subnets = w.public
	}
	if w.Shape.Egress != EndpointsOnly && w.Shape.Egress != Transit && w.Shape.Egress != SharedVPC {
		w.gateway = w.makeGateway(w.vpc)
	}
	w.makeTables()
	if w.Shape.Neighbour {
		w.makeUnusedNetwork()
	}
}

func (w *World) makeVPC(id, cidr string) {
	e := &w.File.EC2
	v := ec2types.Vpc{
		VpcId: &id, CidrBlock: &cidr, DhcpOptionsId: aws.String(w.makeDHCP()),
		CidrBlockAssociationSet: []ec2types.VpcCidrBlockAssociation{{
			AssociationId: aws.String(w.id("vpc-cidr-assoc")), CidrBlock: &cidr,
			CidrBlockState: &ec2types.VpcCidrBlockState{State: ec2types.VpcCidrBlockStateCodeAssociated},
		}},
	}
	if w.six() && id == w.vpc {
		v.Ipv6CidrBlockAssociationSet = []ec2types.VpcIpv6CidrBlockAssociation{{
			AssociationId: aws.String(w.id("vpc-cidr-assoc")), Ipv6CidrBlock: aws.String(w.range6.String()),
			Ipv6CidrBlockState: &ec2types.VpcCidrBlockState{State: ec2types.VpcCidrBlockStateCodeAssociated},
		}}
	}
	if w.Shape.Egress == SharedVPC {
		v.OwnerId = aws.String(landlord)
	}
	e.Vpcs = append(e.Vpcs, v)
	e.VpcAttributes[id] = worldfile.VpcAttributes{EnableDnsSupport: aws.Bool(true), EnableDnsHostnames: aws.Bool(true)}
}

// six reports whether the subnets have IPv6 too.
func (w *World) six() bool { return w.Shape.IPv6 || w.Shape.DualStack }

// makeDHCP makes one of the sets of DHCP options that work.
func (w *World) makeDHCP() string {
	set := func(names, servers []string) string {
		id := w.id("dopt")
		w.File.EC2.DhcpOptions = append(w.File.EC2.DhcpOptions, ec2types.DhcpOptions{DhcpOptionsId: &id, DhcpConfigurations: []ec2types.DhcpConfiguration{
			{Key: aws.String("domain-name"), Values: values(names)}, {Key: aws.String("domain-name-servers"), Values: values(servers)},
		}})
		return id
	}
	switch w.Shape.DHCP {
	case 1:
		return set([]string{"corp.example.com"}, []string{"AmazonProvidedDNS"})
	case 2: // the resolver by its address in the VPC, base plus two
		return set([]string{region + ".compute.internal"}, []string{address(w.range4.String(), 2)})
	case 3:
		return set([]string{region + ".compute.internal"}, []string{"169.254.169.253"})
	}
	return set([]string{region + ".compute.internal"}, []string{"AmazonProvidedDNS"})
}

func values(list []string) []ec2types.AttributeValue {
	var out []ec2types.AttributeValue
	for _, v := range list {
		out = append(out, ec2types.AttributeValue{Value: aws.String(v)})
	}
	return out
}

// makeSubnet makes the n-th /20 of the VPC's range.
func (w *World) makeSubnet(vpc, zone string, n int, public bool) string {
	base := w.range4.Addr().As4()
	if vpc != w.vpc {
		base = [4]byte{10, 250, 0, 0}
	}
	base[2] = byte(16 * n)
	s := ec2types.Subnet{
		SubnetId: aws.String(w.id("subnet")), VpcId: &vpc, AvailabilityZone: &zone,
		CidrBlock: aws.String(netip.PrefixFrom(netip.AddrFrom4(base), 20).String()),
		Tags:      []ec2types.Tag{tag("Name", fmt.Sprintf("%s %s %s", vpc, map[bool]string{true: "public", false: "private"}[public], zone))},
	}
	if public && w.Shape.Egress == Public {
		s.MapPublicIpOnLaunch = aws.Bool(true)
	}
	if w.six() && vpc == w.vpc {
		b := w.range6.Addr().As16()
		b[7] = byte(n)
		s.Ipv6CidrBlockAssociationSet = []ec2types.SubnetIpv6CidrBlockAssociation{{
			AssociationId: aws.String(w.id("subnet-cidr-assoc")), Ipv6CidrBlock: aws.String(netip.PrefixFrom(netip.AddrFrom16(b), 64).String()),
			Ipv6CidrBlockState: &ec2types.SubnetCidrBlockState{State: ec2types.SubnetCidrBlockStateCodeAssociated},
		}}
		s.AssignIpv6AddressOnCreation = aws.Bool(true)
	}
	if w.Shape.Egress == SharedVPC {
		s.OwnerId = aws.String(landlord)
		s.SubnetArn = aws.String("arn:aws:ec2:" + region + ":" + landlord + ":subnet/" + *s.SubnetId)
	}
	w.File.EC2.Subnets = append(w.File.EC2.Subnets, s)
	return *s.SubnetId
}

func (w *World) makeGateway(vpc string) string {
	id := w.id("igw")
	w.File.EC2.InternetGateways = append(w.File.EC2.InternetGateways, ec2types.InternetGateway{
		InternetGatewayId: &id, Attachments: []ec2types.InternetGatewayAttachment{{VpcId: &vpc, State: "available"}},
	})
	return id
}

// makeUnusedNetwork makes a VPC beside the cluster's, with which it has
// nothing to do.
func (w *World) makeUnusedNetwork() {
	id := w.id("vpc")
	dhcp := w.Shape.DHCP
	w.Shape.DHCP = 0
	w.makeVPC(id, "10.250.0.0/16")
	w.Shape.DHCP = dhcp
	subnet := w.makeSubnet(id, "us-west-2a", 0, false)
	w.makeTable(id, false, []string{subnet}, route("10.250.0.0/16", local))
}

func tag(key, value string) ec2types.Tag {
	return ec2types.Tag{Key: aws.String(key), Value: aws.String(value)}
}

// nodeClass is the class of the NodePool.
const nodeClass = "default"

// operator marks what EKS Auto Mode manages.
func operator() *ec2types.OperatorResponse {
	managed, principal := true, "eks.amazonaws.com"
	return &ec2types.OperatorResponse{Managed: &managed, Principal: &principal}
}

// manage makes a launch template one of Auto Mode.
func (w *World) manage(template string) {
	find(w.File.EC2.LaunchTemplates, func(t *ec2types.LaunchTemplate) bool { return *t.LaunchTemplateId == template }).Operator = operator()
	v := find(w.File.EC2.LaunchTemplateVersions, func(v *ec2types.LaunchTemplateVersion) bool { return *v.LaunchTemplateId == template })
	v.Operator = operator()
	v.LaunchTemplateData.UserData = nil
}

// makeNodePool makes the NodePool of the young instances, its class and a NodeClaim
// for each of them, as Karpenter v1 writes them (pkg/apis of both repositories).
func (w *World) makeNodePool() {
	group, kind := "karpenter.k8s.aws", "EC2NodeClass"
	if w.Shape.Fleet == AutoMode {
		group, kind = "eks.amazonaws.com", "NodeClass"
	}
	ref := map[string]any{"group": group, "kind": kind, "name": nodeClass}
	since := w.long().UTC().Format(time.RFC3339)
	is := func(names ...string) []any {
		var list []any
		for _, name := range names {
			list = append(list, map[string]any{"type": name, "status": "True", "reason": name, "message": "", "observedGeneration": 1, "lastTransitionTime": since})
		}
		return list
	}
	k := w.File.Kubernetes[cluster]
	k.NodePools = []map[string]any{{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": w.nodegroup, "generation": 1, "creationTimestamp": since},
		"spec":   map[string]any{"template": map[string]any{"spec": map[string]any{"nodeClassRef": ref, "requirements": []any{}}}},
		"status": map[string]any{"conditions": is("ValidationSucceeded", "NodeClassReady", "Ready")},
	}}
	class := map[string]any{
		"apiVersion": group + "/v1", "kind": kind, "metadata": map[string]any{"name": nodeClass, "generation": 1, "creationTimestamp": since},
		"spec":   map[string]any{"role": "workers", "subnetSelectorTerms": []any{map[string]any{"id": w.Subnets[0]}}},
		"status": map[string]any{"conditions": is("SubnetsReady", "SecurityGroupsReady", "InstanceProfileReady", "ValidationSucceeded", "Ready")},
	}
	if w.Shape.Fleet == AutoMode {
		k.NodeClasses = []map[string]any{class}
	} else {
		k.EC2NodeClasses = []map[string]any{class}
	}
	for _, id := range w.Young {
		k.NodeClaims = append(k.NodeClaims, w.makeNodeClaim(id, ref))
	}
	w.File.Kubernetes[cluster] = k
}

func (w *World) makeNodeClaim(id string, ref map[string]any) map[string]any {
	in := w.instance(id)
	at := func(after time.Duration) string { return in.LaunchTime.Add(after).UTC().Format(time.RFC3339) }
	is := func(kind, since string) map[string]any {
		return map[string]any{"type": kind, "status": "True", "reason": kind, "message": "", "observedGeneration": 1, "lastTransitionTime": since}
	}
	return map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
		"metadata": map[string]any{"name": claimName(id), "generation": 1, "creationTimestamp": at(-2 * time.Second), "labels": map[string]any{"karpenter.sh/nodepool": w.nodegroup}},
		"spec":     map[string]any{"nodeClassRef": ref},
		"status": map[string]any{
			"providerID": "aws:///" + *w.subnet(*in.SubnetId).AvailabilityZone + "/" + id, "nodeName": w.nodeName(id),
			"conditions": []any{is("Launched", at(0)), is("Registered", at(45*time.Second)), is("Initialized", at(60*time.Second)), is("Ready", at(60*time.Second))},
		},
	}
}

func claimName(id string) string { return "workers-" + id[len(id)-5:] }

// unregister lets Karpenter wait for the nodes of instances: it knows no name of
// theirs, and says NodeNotFound (karpenter pkg/controllers/nodeclaim/lifecycle).
func (w *World) unregister(ids []string) {
	for _, c := range w.File.Kubernetes[cluster].NodeClaims {
		if !slices.ContainsFunc(ids, func(id string) bool { return nameOf(c) == claimName(id) }) {
			continue
		}
		status := c["status"].(map[string]any)
		delete(status, "nodeName")
		for _, condition := range status["conditions"].([]any) {
			said := condition.(map[string]any)
			switch said["type"] {
			case "Registered", "Initialized":
				said["status"], said["reason"], said["message"] = "Unknown", "NodeNotFound", "Node not registered with cluster"
			case "Ready":
				said["status"], said["reason"], said["message"] = "Unknown", "ReconcilingDependents", "Initialized=Unknown, Registered=Unknown"
			}
			if said["type"] != "Launched" {
				said["lastTransitionTime"] = c["metadata"].(map[string]any)["creationTimestamp"]
			}
		}
	}
}
