package main

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/clusterrole"
	"rollcall/infra/settings"
)

// assistantPolicy is the narrowest of EKS's access policies that can list
// nodes: it reads, and has no secrets. (AmazonEKSViewPolicy has no nodes.)
func assistantPolicy() string { return accessPolicy("AmazonAIOpsAssistantPolicy") }

// viewPolicy reads service accounts, which tell whose role aws-node uses; it is
// given for the namespace kube-system alone. It has no secrets either.
func viewPolicy() string { return accessPolicy("AmazonEKSViewPolicy") }

func accessPolicy(name string) string {
	return "arn:" + *awscdk.Aws_PARTITION() + ":eks::aws:cluster-access-policy/" + name
}

// admit makes an EKS access entry in each named cluster, for each function
// that needs Kubernetes rights. A cluster must take access entries
// (authentication mode API or API_AND_CONFIG_MAP).
func admit(chosen settings.Settings, functions []function) {
	if chosen.Access == settings.AccessNone {
		return
	}
	for _, f := range functions {
		if len(f.spec.Kube) == 0 {
			continue
		}
		for _, cluster := range chosen.AccessClusters {
			properties := map[string]any{
				"ClusterName":  cluster,
				"PrincipalArn": f.role.RoleArn(),
				"Type":         "STANDARD",
				"Tags":         []any{map[string]any{"Key": tagKey, "Value": tagValue}},
			}
			if chosen.Access == settings.AccessPolicy {
				properties["AccessPolicies"] = []any{
					map[string]any{"PolicyArn": assistantPolicy(), "AccessScope": map[string]any{"Type": "cluster"}},
					map[string]any{"PolicyArn": viewPolicy(), "AccessScope": map[string]any{"Type": "namespace", "Namespaces": []any{"kube-system"}}},
				}
			} else {
				properties["KubernetesGroups"] = []any{clusterrole.Group}
			}
			awscdk.NewCfnResource(f.scope, jsii.String("Access-"+cluster), &awscdk.CfnResourceProps{
				Type:       jsii.String("AWS::EKS::AccessEntry"),
				Properties: &properties,
			})
		}
	}
}

// accessCommand is what admits a role to one more cluster by hand.
func accessCommand(chosen settings.Settings, role string) string {
	create := fmt.Sprintf("aws eks create-access-entry --cluster-name CLUSTER --principal-arn %s", role)
	switch chosen.Access {
	case settings.AccessGroup:
		return create + " --kubernetes-groups " + clusterrole.Group + " && kubectl apply -f deploy/clusterrole.yaml"
	default:
		associate := " && aws eks associate-access-policy --cluster-name CLUSTER --principal-arn %s --policy-arn %s --access-scope %s"
		return create + fmt.Sprintf(associate, role, assistantPolicy(), "type=cluster") +
			fmt.Sprintf(associate, role, viewPolicy(), "type=namespace,namespaces=kube-system")
	}
}
