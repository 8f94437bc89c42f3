package shell

import (
	"slices"
	"strings"
)

// Effect is what a command does to what it is run against.
type Effect struct {
	// Changes reports whether it changes something; without it the command only looks.
	Changes bool
	// Touches is what it changes and what that costs, Undo how it is taken back by hand,
	// Reverts what else takes it back. They are sentences; empty for a command that only looks.
	Touches, Undo, Reverts string
}

// String is what a person should know before running the command; empty for one that only
// looks.
func (e Effect) String() string {
	var all []string
	for _, s := range []string{e.Touches, e.Undo, e.Reverts} {
		if s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, " ")
}

// What takes a manual change back.
const (
	// byIaC is of everything that a stack or a plan describes: the next apply makes it so.
	byIaC = "Terraform or CloudFormation? The next apply reverts this."
	// byGitOps is of objects of Kubernetes.
	byGitOps = "Managed by GitOps? Change it there, or the next sync reverts this."
	// byAddon is of what EKS manages (docs.aws.amazon.com/eks/latest/userguide/kubernetes-field-management.html:
	// a field that the add-on manages is overwritten by its next update).
	byAddon = "A managed add-on or GitOps reverts this: set it in the add-on's configuration values too."
	// byTemplate is of one instance: the next is made of the launch template.
	byTemplate = "The next instance uses its launch template: change that too."
)

// effect is a row: the words with which a command begins, flags left out.
type effect struct{ words, touches, undo, reverts string }

// effects are the commands of messages that change something. Prices are those of
// aws.amazon.com/vpc/pricing and aws.amazon.com/privatelink/pricing in us-east-1.
func effects() []effect {
	return []effect{
		{"aws ec2 create-route", "Changes the route of every subnet of this table; a NAT gateway costs about $0.045 a GB.", "Undo: aws ec2 delete-route.", byIaC},
		{"aws ec2 replace-route", "Changes the route of every subnet of this table; a NAT gateway costs about $0.045 a GB.", "Undo: the same command with the former target.", byIaC},
		{"aws ec2 associate-route-table", "Moves all traffic of the subnet to this table at once; free.", "Undo: the same command with the former table.", byIaC},
		{"aws ec2 authorize-security-group-ingress", "Opens the port on everything that is in this group; free.", "Undo: aws ec2 revoke-security-group-ingress.", byIaC},
		{"aws ec2 authorize-security-group-egress", "Allows everything that is in this group to reach the port; free.", "Undo: aws ec2 revoke-security-group-egress.", byIaC},
		{"aws ec2 create-network-acl-entry", "Changes what reaches every subnet of this ACL; free.", "Undo: aws ec2 delete-network-acl-entry.", byIaC},
		{"aws ec2 delete-network-interface", "Deletes the interface and frees its addresses; free.", "No undo: the VPC CNI makes new ones when nodes need them.", ""},
		{"aws ec2 create-vpc-endpoint", "Adds an endpoint for the whole VPC; one with interfaces costs about $0.01 an hour in each zone, and $0.01 a GB.", "Undo: aws ec2 delete-vpc-endpoints.", byIaC},
		{"aws ec2 modify-vpc-endpoint", "Changes the endpoint for everything in the VPC that uses it; free.", "Undo: the same command with the former value.", byIaC},
		{"aws ec2 modify-vpc-attribute", "Changes DNS for the whole VPC; free.", "Undo: the same command with the former value.", byIaC},
		{"aws ec2 modify-subnet-attribute", "Changes only instances launched in this subnet later; free.", "Undo: the same command with the former value.", byIaC},
		{"aws ec2 modify-network-interface-attribute", "Changes this interface only, at once; free.", "Undo: the same command with the former value.", byTemplate},
		{"aws ec2 modify-instance-attribute", "Changes this instance only, at once; free.", "Undo: the same command with the former value.", byTemplate},
		{"aws ec2 modify-instance-metadata-options", "Changes this instance only, at once; free.", "Undo: the same command with the former value.", byTemplate},
		{"aws ec2 associate-iam-instance-profile", "Gives this instance the role; free.", "Undo: aws ec2 disassociate-iam-instance-profile.", byTemplate},
		{"aws ec2 create-launch-template-version", "Adds a version that nothing uses until the group is set to it; free.", "Undo: aws ec2 delete-launch-template-versions.", byIaC},
		{"aws ec2 associate-dhcp-options", "Changes DNS settings of every instance of the VPC when it renews its lease; free.", "Undo: the same command with the former options.", byIaC},
		{"aws ec2 create-dhcp-options", "Adds options that no VPC uses yet; free.", "Undo: aws ec2 delete-dhcp-options.", byIaC},
		{"aws ec2 associate-subnet-cidr-block", "Gives the subnet an IPv6 range; free.", "Undo: aws ec2 disassociate-subnet-cidr-block.", byIaC},
		{"aws ec2 create-egress-only-internet-gateway", "Adds a gateway to the VPC that no route uses yet; free.", "Undo: aws ec2 delete-egress-only-internet-gateway.", byIaC},
		{"aws ec2 attach-internet-gateway", "Connects the VPC to the internet, where routes and public addresses allow it; free.", "Undo: aws ec2 detach-internet-gateway.", byIaC},
		{"aws ec2 create-vpc-block-public-access-exclusion", "Exempts this subnet or VPC from Block Public Access, which somebody switched on; free.", "Undo: aws ec2 delete-vpc-block-public-access-exclusion.", byIaC},
		{"aws ec2 start-instances", "Starts the instance, which is billed from now on.", "Undo: aws ec2 stop-instances.", ""},
		{"aws ec2 terminate-instances", "Terminates the instance and what runs on it.", "No undo.", ""},
		{"aws ec2 create-tags", "Adds tags. Whatever selects resources by them uses these too; free.", "Undo: aws ec2 delete-tags.", byIaC},
		{"aws autoscaling terminate-instance-in-auto-scaling-group", "Terminates the instance and what runs on it; its group launches another.", "No undo.", ""},
		{"aws autoscaling set-desired-capacity", "Launches or terminates instances of this group; extra instances are billed.", "Undo: the same command with the former number.", "An autoscaler can change the number again."},
		{"aws autoscaling resume-processes", "Allows this group to launch, terminate and replace instances again; somebody suspended that.", "Undo: aws autoscaling suspend-processes.", ""},
		{"aws autoscaling create-or-update-tags", "Adds tags to the group, and to instances that it launches later; free.", "Undo: aws autoscaling delete-tags.", byIaC},
		{"aws eks create-addon", "Installs a DaemonSet or Deployment in the cluster; free.", "Undo: aws eks delete-addon.", byIaC},
		{"aws eks update-cluster-config", "Changes access to the API of the whole cluster, in some minutes; free.", "Undo: the same command with the former value.", byIaC},
		{"aws eks update-nodegroup-config", "Changes this nodegroup only; extra nodes are billed.", "Undo: the same command with the former value.", byIaC},
		{"aws eks update-nodegroup-version", "Replaces every node of this nodegroup, one after the other.", "No undo by one command.", byIaC},
		{"aws eks create-access-entry", "Allows the role's nodes to join; free.", "Undo: aws eks delete-access-entry.", byIaC},
		{"aws eks delete-access-entry", "Removes what this entry allows: whoever uses it loses access at once.", "Undo: aws eks create-access-entry, with its policies.", byIaC},
		{"aws eks associate-access-policy", "Gives this role rights in the cluster; free.", "Undo: aws eks disassociate-access-policy.", byIaC},
		{"aws iam attach-role-policy", "Gives everything that has this role the policy's permissions; free.", "Undo: aws iam detach-role-policy.", byIaC},
		{"aws iam create-instance-profile", "Adds an instance profile without a role; free.", "Undo: aws iam delete-instance-profile.", byIaC},
		{"aws iam add-role-to-instance-profile", "Gives instances of this profile the role; free.", "Undo: aws iam remove-role-from-instance-profile.", byIaC},
		{"aws iam update-assume-role-policy", "Replaces the whole list of who is allowed to assume this role; free.", "Undo: the same command with the former document: keep it first.", byIaC},
		{"aws iam create-service-linked-role", "Adds the role that the service needs in this account; free.", "Undo: aws iam delete-service-linked-role.", ""},
		{"aws service-quotas request-service-quota-increase", "Requests a higher quota from AWS, which takes minutes to days; free.", "No undo is needed.", ""},
		{"aws arc-zonal-shift cancel-zonal-shift", "Sends traffic and launches into the zone again.", "Undo: aws arc-zonal-shift start-zonal-shift.", ""},
		{"kubectl set env daemonset aws-node", "Restarts the network plugin on every node of the cluster and changes how all of them take addresses; nodes that are stuck now stay stuck until they are replaced.", "Undo: the same command with the former values.", byAddon},
		{"kubectl set env", "Restarts all its pods, one after the other.", "Undo: the same command with the former values.", byGitOps},
		{"kubectl edit configmap aws-auth", "Changes who has access to the cluster, at once: a mistake locks people and nodes out.", "Undo: keep a copy first (kubectl get -o yaml).", byGitOps},
		{"kubectl edit", "Changes this object for everything that uses it.", "Undo: keep a copy first (kubectl get -o yaml).", byGitOps},
		{"kubectl patch ec2nodeclass", "Changes the nodes of every NodePool that uses this class: Karpenter replaces those that differ, as their budgets allow.", "Undo: the same command with the former value.", byGitOps},
		{"kubectl patch nodeclass", "Changes the nodes of every NodePool that uses this class: EKS Auto Mode replaces those that differ, as their budgets allow.", "Undo: the same command with the former value.", byGitOps},
		{"kubectl delete nodeclaim", "Terminates the instance that this claim launched, and what runs on it; Karpenter launches another if pods wait.", "No undo.", ""},
		{"eksctl create iamidentitymapping", "Allows the role's nodes to join; free.", "Undo: eksctl delete iamidentitymapping.", byGitOps},
		{"make deploy-relay", "Deploys the relay into the cluster's account and VPC.", "Undo: delete its stack.", ""},
		{"make deploy", "Redeploys Rollcall with this setting added to its current ones.", "Undo: deploy without it.", ""},
	}
}

// EffectOf is what a command does. One that is not known to look changes something; of
// several, the first that changes something counts.
func EffectOf(command string) Effect {
	for _, part := range parts(command) {
		words := plainWords(part)
		if looks(words) {
			continue
		}
		for _, e := range effects() {
			if row := strings.Fields(e.words); len(words) >= len(row) && slices.Equal(words[:len(row)], row) {
				return Effect{Changes: true, Touches: e.touches, Undo: e.undo, Reverts: e.reverts}
			}
		}
		return Effect{Changes: true}
	}
	return Effect{}
}

// parts are the single commands of a line: of a list, a pipe, a loop, an output.
func parts(command string) (list []string) {
	rest := strings.NewReplacer(" && ", "\n", " | ", "\n", "; do ", "\n", "; done", "\n", `"$(`, "\n", `)"`, "\n").Replace(command)
	for _, part := range strings.Split(rest, "\n") {
		words := strings.Fields(part)
		if len(words) > 0 && slices.Contains([]string{"aws", "kubectl", "eksctl", "helm", "make", "rollcall"}, words[0]) {
			list = append(list, part)
		}
	}
	return list
}

// plainWords are a command's words without its flags. Only flags that may stand before
// its verb matter here: those of kubectl with a value.
func plainWords(command string) (words []string) {
	skip := false
	for _, w := range strings.Fields(command) {
		switch {
		case skip:
			skip = false
		case strings.HasPrefix(w, "-"):
			skip = w == "-n" || w == "--namespace" || w == "--region" || w == "--context"
		default:
			words = append(words, w)
		}
	}
	return words
}

// looks reports whether a command only reads: by its verb, as AWS and kubectl name theirs.
func looks(words []string) bool {
	verb := func(n int) string {
		if n < len(words) {
			return words[n]
		}
		return ""
	}
	switch verb(0) {
	case "aws":
		first, _, _ := strings.Cut(verb(2), "-")
		return slices.Contains([]string{"describe", "get", "list", "lookup", "search", "decode", "simulate", "filter"}, first)
	case "kubectl":
		return slices.Contains([]string{"get", "describe", "logs", "top", "explain", "diff", "events", "auth", "version"}, verb(1))
	case "rollcall":
		return true
	}
	return false
}
