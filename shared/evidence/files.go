package evidence

import (
	"net/url"
	"reflect"
	"slices"
	"strings"

	"rollcall/shared/capture/filename"
)

// services are those whose answers are kept, by their names in calls, with the names that
// the AWS CLI has for them.
func services() map[string]string {
	return map[string]string{"ec2": "ec2", "autoscaling": "autoscaling", "eks": "eks", "iam": "iam", "cloudwatchlogs": "logs", "route53resolver": "route53resolver", "route53profiles": "route53profiles", "route53": "route53", "arczonalshift": "arc-zonal-shift"}
}

// keysOf are the parameters that stand in the name of a call's file, in their order.
func keysOf(call string) []string {
	switch call {
	case "eks:DescribeCluster":
		return []string{"Name"}
	case "eks:ListNodegroups", "eks:ListAddons", "eks:ListAccessEntries", "eks:ListPodIdentityAssociations":
		return []string{"ClusterName"}
	case "eks:DescribeNodegroup":
		return []string{"ClusterName", "NodegroupName"}
	case "eks:DescribeAddon":
		return []string{"ClusterName", "AddonName"}
	case "eks:DescribeAccessEntry", "eks:ListAssociatedAccessPolicies":
		return []string{"ClusterName", "PrincipalArn"}
	case "eks:DescribePodIdentityAssociation":
		return []string{"ClusterName", "AssociationId"}
	case "eks:ListUpdates":
		return []string{"Name", "NodegroupName", "AddonName"}
	case "eks:DescribeUpdate":
		return []string{"Name", "NodegroupName", "AddonName", "UpdateId"}
	case "ec2:DescribeVpcAttribute":
		return []string{"VpcId", "Attribute"}
	case "ec2:GetManagedPrefixListEntries":
		return []string{"PrefixListId"}
	case "ec2:GetSubnetCidrReservations":
		return []string{"SubnetId"}
	case "ec2:SearchTransitGatewayRoutes":
		return []string{"TransitGatewayRouteTableId"}
	case "ec2:GetConsoleOutput":
		return []string{"InstanceId"}
	case "ec2:DescribeInstanceAttribute":
		return []string{"InstanceId", "Attribute"}
	case "iam:GetInstanceProfile":
		return []string{"InstanceProfileName"}
	case "iam:GetRole", "iam:ListAttachedRolePolicies", "iam:ListRolePolicies":
		return []string{"RoleName"}
	case "iam:GetRolePolicy":
		return []string{"RoleName", "PolicyName"}
	case "iam:GetPolicyVersion":
		return []string{"PolicyArn"}
	case "cloudwatchlogs:FilterLogEvents", "route53resolver:ListFirewallRules":
		return []string{"Group"}
	case "route53profiles:ListProfileResourceAssociations":
		return []string{"Profile"}
	case "route53:ListHostedZonesByVPC":
		return []string{"VPC"}
	case "route53:ListResourceRecordSets":
		return []string{"Zone"}
	case "route53resolver:ListFirewallDomains":
		return []string{"List"}
	}
	return nil
}

// fileless tells reads that a capture has no file of: clusters that were only listed were
// not looked at, and a policy is made of its version.
func fileless(call string) bool {
	switch call {
	case "eks:ListClusters", "iam:GetPolicy",
		"ec2:DescribeVolumeStatus", "ec2:DescribeVolumesModifications", "ec2:DescribeLaunchTemplates":
		return true
	}
	return false
}

// File is the name of the file, without .json, that a capture has of a call
// ("ec2:DescribeSubnets"), and what the call asks for of it; "" where it has none.
func File(call string, params any) (name string, q Question) {
	service, operation, _ := strings.Cut(call, ":")
	prefix, ours := services()[service]
	reads := slices.ContainsFunc([]string{"Describe", "Get", "List", "Search", "Filter"}, func(verb string) bool { return strings.HasPrefix(operation, verb) })
	if !ours || !reads || fileless(call) {
		return "", nil
	}
	keys := keysOf(call)
	v := reflect.Indirect(reflect.ValueOf(params))
	if len(keys) > 0 && v.Kind() != reflect.Struct {
		return "", nil
	}
	var values []string
	for _, key := range keys {
		value := texts(v.FieldByName(key))
		if len(value) == 0 {
			continue // an update is of a cluster, a nodegroup or an add-on
		}
		if strings.HasSuffix(key, "Arn") {
			value[0] = value[0][strings.LastIndex(value[0], "/")+1:]
		}
		values = append(values, value[0])
	}
	return filename.Of(prefix+"-"+kebab(operation), values...), questionOf(params, keys)
}

// kebab is an operation as the AWS CLI has it: DescribeVpcs is describe-vpcs.
func kebab(operation string) string {
	var b strings.Builder
	for i, r := range strings.ReplaceAll(operation, "VPC", "Vpc") {
		if r >= 'A' && r <= 'Z' && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// KubernetesFile is the same for a request to a cluster's Kubernetes API.
func KubernetesFile(cluster, path string, query url.Values) (name string, q Question) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		parts = parts[3:]
	default:
		return "", nil
	}
	q = Question{}
	object := ""
	if len(parts) > 2 && parts[0] == "namespaces" {
		q["namespace"], parts = []string{parts[1]}, parts[2:]
	}
	if len(parts) > 1 {
		object = parts[1]
	}
	kind, single := kubectl(parts[0])
	if kind == "" || single != object {
		return "", nil
	}
	if single != "" {
		return filename.Of("kubectl-get-"+kind, cluster), nil
	}
	for _, name := range []string{"labelSelector", "fieldSelector"} {
		if value := query.Get(name); value != "" {
			q[name] = []string{value}
		}
	}
	if len(q) == 0 {
		q = nil
	}
	return filename.Of("kubectl-get-"+kind, cluster), q
}

// kubectl is what kubectl's file of a kind is called, and the one object of which it is.
func kubectl(plural string) (file, object string) {
	switch plural {
	case "nodes", "pods", "events", "eniconfigs", "nodepools", "nodeclaims", "ec2nodeclasses", "nodeclasses":
		return plural, ""
	case "persistentvolumes":
		return "pv", ""
	case "persistentvolumeclaims":
		return "pvc", ""
	case "certificatesigningrequests":
		return "csr", ""
	case "daemonsets":
		return "daemonset-aws-node", "aws-node"
	case "serviceaccounts":
		return "serviceaccount-aws-node", "aws-node"
	case "configmaps":
		return "configmap-aws-auth", "aws-auth"
	}
	return "", ""
}
