package cluster

import (
	"cmp"

	"rollcall/shared/checks/check"
	"rollcall/shared/snapshot"
)

// issueMeaning is what a code of EKS's own health report means.
type issueMeaning struct{ Meaning, Next string }

// ClusterIssues are the codes of a cluster's issues (EKS API reference,
// ClusterIssue).
func ClusterIssues() map[string]issueMeaning {
	return map[string]issueMeaning{
		"AccessDenied":                {"EKS lacks access to the cluster or permissions in the account", "Give the cluster role AmazonEKSClusterPolicy, and remove denies of service control policies."},
		"ClusterUnreachable":          {"EKS cannot reach the cluster's API", "Check webhooks and the load on the API; if it lasts, contact AWS Support."},
		"ConfigurationConflict":       {"the cluster's settings contradict each other or the cluster's resources", "The message names them; correct them and update the cluster."},
		"InternalFailure":             {"a fault inside EKS", "Wait; if it lasts, contact AWS Support."},
		"ResourceLimitExceeded":       {"a quota of the account is reached", "Request a higher quota, or free what is not used."},
		"ResourceNotFound":            {"a resource that the cluster uses is missing", "The issue names it; recreate it as it was."},
		"IamRoleNotFound":             {"the cluster's role was deleted", "Recreate a role with the same name, with AmazonEKSClusterPolicy and trust for eks.amazonaws.com."},
		"VpcNotFound":                 {"the cluster's VPC was deleted", "The cluster cannot be saved: create a new one."},
		"InsufficientFreeAddresses":   {"the cluster's subnets have too few free addresses for the control plane's interfaces", "Free addresses (EKS wants six in each subnet), or update the cluster to other subnets."},
		"Ec2ServiceNotSubscribed":     {"the account is not subscribed to EC2", "Complete the account's sign-up."},
		"Ec2SubnetNotFound":           {"a subnet of the control plane was deleted", "Update the cluster to subnets that exist, in the same zones."},
		"Ec2SecurityGroupNotFound":    {"a security group of the control plane was deleted", "Update the cluster to security groups that exist; the cluster's own one has to be recreated."},
		"KmsGrantRevoked":             {"EKS's grant on the key that encrypts secrets was revoked", "Give the cluster role kms:CreateGrant on the key again, and contact AWS Support."},
		"KmsKeyNotFound":              {"the key that encrypts secrets was deleted", "Without the key the cluster's secrets cannot be read: contact AWS Support."},
		"KmsKeyMarkedForDeletion":     {"the key that encrypts secrets will be deleted", "Cancel the key's deletion immediately."},
		"KmsKeyDisabled":              {"the key that encrypts secrets is disabled", "Enable the key."},
		"StsRegionalEndpointDisabled": {"STS is deactivated in this region: nodes get no token", "Activate STS for the region in IAM, Account settings."},
		"UnsupportedVersion":          {"the cluster's Kubernetes version is no longer supported", "Upgrade the cluster, one minor version at a time."},
		"Other":                       {"EKS gives no code", "Read the message."},
	}
}

// AddonIssues are the codes of an add-on's issues (EKS API reference,
// AddonIssue).
func AddonIssues() map[string]issueMeaning {
	return map[string]issueMeaning{
		"AccessDenied":                 {"EKS is not allowed to change the add-on's objects in the cluster", "Give eks:addon-manager its cluster role back (kubectl get clusterrole eks:addon-manager)."},
		"InternalFailure":              {"a fault inside EKS", "Wait and update the add-on again; if it lasts, contact AWS Support."},
		"ClusterUnreachable":           {"EKS cannot reach the cluster's API", "Check webhooks and the load on the API."},
		"InsufficientNumberOfReplicas": {"too few of the add-on's pods are ready", "Read the pods' events: no node to run on, an image that cannot be pulled, or a crash."},
		"ConfigurationConflict":        {"someone else changed a field that the add-on owns", "Update the add-on with --resolve-conflicts OVERWRITE, or PRESERVE to keep the change."},
		"AdmissionRequestDenied":       {"an admission webhook or policy rejects the add-on's objects", "Exempt kube-system from the policy that the message names."},
		"UnsupportedAddonModification": {"the add-on was changed in a way that EKS does not support", "Revert the change, or set it as the add-on's configuration values."},
		"K8sResourceNotFound":          {"an object of the add-on was deleted", "Update the add-on with --resolve-conflicts OVERWRITE, which recreates it."},
		"AddonSubscriptionNeeded":      {"the add-on of the Marketplace needs a subscription", "Subscribe to it in AWS Marketplace."},
		"AddonPermissionFailure":       {"the add-on's role lacks permissions", "Give the role of the add-on's service account the add-on's policy."},
	}
}

// ExplainIssue finds a code's meaning; an unknown one is shown as it is.
func ExplainIssue(known map[string]issueMeaning, i snapshot.Issue) issueMeaning {
	if m, ok := known[i.Code]; ok {
		return m
	}
	return issueMeaning{"EKS reports " + cmp.Or(i.Code, "nothing but a message"), "Read the message."}
}

// IssueEvidence is one line for each issue.
func IssueEvidence(list []snapshot.Issue) []check.Evidence {
	evidence := make([]check.Evidence, 0, len(list))
	for _, i := range list {
		value := cmp.Or(check.Clip(i.Message), "no message")
		if len(i.Resources) > 0 {
			value += " (" + check.Some(i.Resources, 5) + ")"
		}
		evidence = append(evidence, check.Evidence{What: cmp.Or(i.Code, "Issue"), Value: value})
	}
	return evidence
}
