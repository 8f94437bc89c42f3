package main

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/clusterrole"
	"rollcall/infra/settings"
)

// assistantPolicy is the narrowest of EKS's access policies that can list
// nodes: it reads, and has no secrets, but every pod's log and every ConfigMap
// (settings.AIOpsGives). AmazonEKSViewPolicy has no nodes.
func assistantPolicy() string { return accessPolicy(settings.AssistantPolicy) }

// viewPolicy reads service accounts, which tell whose role aws-node uses; it is
// given for the namespace kube-system alone. It has no secrets either.
func viewPolicy() string { return accessPolicy(settings.ViewPolicy) }

func accessPolicy(name string) string {
	return "arn:" + *awscdk.Aws_PARTITION() + ":eks::aws:cluster-access-policy/" + name
}

// admit makes an EKS access entry for the reader in each named cluster. In a cluster of authentication mode CONFIG_MAP
// it makes none: EKS would refuse it ("The cluster's authentication mode must
// be set to one of [API, API_AND_CONFIG_MAP] to perform this operation."), and
// CloudFormation would roll the whole stack back.
func admit(chosen settings.Settings, who reader) {
	for _, cluster := range entryClusters(chosen) {
		properties := map[string]any{
			"ClusterName":  cluster,
			"PrincipalArn": who.role.RoleArn(),
			"Type":         "STANDARD",
			"Tags":         []any{map[string]any{"Key": settings.TagKey, "Value": settings.TagValue}},
		}
		if chosen.Access == settings.AccessPolicy {
			properties["AccessPolicies"] = []any{
				map[string]any{"PolicyArn": assistantPolicy(), "AccessScope": map[string]any{"Type": "cluster"}},
				map[string]any{"PolicyArn": viewPolicy(), "AccessScope": map[string]any{"Type": "namespace", "Namespaces": []any{"kube-system"}}},
			}
		} else {
			properties["KubernetesGroups"] = []any{clusterrole.Group}
		}
		awscdk.NewCfnResource(who.scope, jsii.String("Access-"+cluster), &awscdk.CfnResourceProps{
			Type:       jsii.String("AWS::EKS::AccessEntry"),
			Properties: &properties,
		})
	}
}

// readers are the functions that need Kubernetes rights.
func readers(functions []function) []function {
	var list []function
	for _, f := range functions {
		if len(f.spec.Kube) > 0 {
			list = append(list, f)
		}
	}
	return list
}

// entryClusters are the clusters in which the stack makes access entries.
func entryClusters(chosen settings.Settings) []string {
	if chosen.Access == settings.AccessNone {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(chosen.AccessClusters), func(c string) bool { return slices.Contains(chosen.ConfigMapClusters, c) })
}

// roleClusters are the named clusters whose rights come from the ClusterRole:
// an operator must apply it there.
func roleClusters(chosen settings.Settings) []string {
	var list []string
	if chosen.Access == settings.AccessGroup {
		list = entryClusters(chosen)
	}
	if chosen.Access != settings.AccessNone {
		list = append(list, chosen.ConfigMapClusters...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
