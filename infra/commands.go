package main

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"

	"rollcall/infra/clusterrole"
)

// The commands among the outputs are pasted into bash and into zsh, the shell
// of macOS: no `read -p` (in zsh it reads from a coprocess), no unquoted
// pattern, no variable that relies on being split into words. TestCommands
// runs each of them in both.

// placeholder stands where an operator writes a cluster's name.
const placeholder = "CLUSTER"

// applyRole is a command that applies the ClusterRole to clusters by name,
// whatever cluster kubectl is at: with a kubeconfig of its own.
func applyRole(clusters ...string) string {
	return "for cluster in " + strings.Join(clusters, " ") + `; do config=$(mktemp) && aws eks update-kubeconfig --region ` + *awscdk.Aws_REGION() +
		` --name "$cluster" --kubeconfig "$config" && kubectl --kubeconfig "$config" apply -f deploy/clusterrole.yaml; rm -f "$config"; done`
}

// admitByRole is a command that gives the reader the ClusterRole's rights in one
// more cluster.
func admitByRole(role string) string {
	entry := " --region " + *awscdk.Aws_REGION() + " --cluster-name " + placeholder + " --principal-arn " + role
	return renew(entry) + "aws eks create-access-entry" + entry + " --kubernetes-groups " + clusterrole.Group + "; " + applyRole(placeholder)
}

// renew deletes the entry of a role that was made again, which admits nobody and is in the
// way of a new one (EKS API reference, AccessEntry, "principalArn"; CreateAccessEntry,
// ResourceInUseException). In most clusters there is none.
func renew(entry string) string { return "aws eks delete-access-entry" + entry + " 2>/dev/null; " }

// admitByPolicy is a command that gives the reader EKS's access policies in one
// more cluster.
func admitByPolicy(role string) string {
	where := " --region " + *awscdk.Aws_REGION() + " --cluster-name " + placeholder + " --principal-arn " + role
	associate := " && aws eks associate-access-policy" + where + " --policy-arn "
	return renew(where) + "aws eks create-access-entry" + where +
		associate + assistantPolicy() + " --access-scope type=cluster" +
		associate + viewPolicy() + " --access-scope type=namespace,namespaces=kube-system"
}

// authRoles are the lines that a cluster in authentication mode CONFIG_MAP
// wants in place of access entries: under mapRoles of the ConfigMap aws-auth
// in kube-system, as the EKS user guide has them ("Grant IAM users access to
// Kubernetes with a ConfigMap").
func authRoles(role string) string {
	return "- rolearn: " + role + "\n  username: " + clusterrole.Group + "\n  groups:\n  - " + clusterrole.Group + "\n"
}

// fillIn is a command that asks for a secret and puts it in.
func fillIn(what, arn string) string {
	return `printf '` + what + `: ' && read -rs T && echo && printf %s "$T" | aws secretsmanager put-secret-value --region ` + *awscdk.Aws_REGION() +
		` --secret-id ` + arn + ` --secret-string file:///dev/stdin; unset T`
}
