package spec

import (
	"fmt"
	"maps"
	"slices"

	"rollcall/shared/config"
	"rollcall/shared/fn"
	"rollcall/shared/plan"
)

// Changes is the permission to change things, as the settings have it: none
// where no cluster has opted in to a remedy. AWS itself then refuses what is in
// another VPC, or of another cluster, whatever a fault in our code asks for.
//
// Where the condition keys come from: that ec2:Vpc (compared with ArnEquals)
// counts for route tables in CreateRoute and for security groups in
// AuthorizeSecurityGroupIngress, and eks:accessEntryType (String) and
// eks:principalArn (ARN) in CreateAccessEntry, stands in public lists made from
// the service authorization reference (for EC2 github.com/udondan/iam-floyd,
// lib/generated/amazonec2.ts, ifVpc; for EKS list_amazonelastickubernetesservice,
// "Condition keys"). AWS's own AmazonPrometheusScraperServiceRolePolicy narrows
// by eks:principalArn with ArnLike, which is the same as ArnEquals (IAM user
// guide, "ARN condition operators"). That
// aws:ResourceTag counts for groups in SetDesiredCapacity and
// TerminateInstanceInAutoScalingGroup is what the cluster autoscaler's policies
// rest on (aws:ResourceTag/k8s.io/cluster-autoscaler/CLUSTER). None of it was
// tried in AWS. A key that did not count would make AWS refuse the call: the
// remedy would fail and say so, not act more widely.
func Changes(getenv func(string) string) ([]fn.Grant, error) {
	c, err := config.Load(getenv, chosen())
	if err != nil {
		return nil, err
	}
	grants := inVPCs(c)
	for n, cluster := range slices.Sorted(maps.Keys(c.Remedied)) {
		grants = append(grants, inCluster(c, cluster, n+1)...)
	}
	return grants, nil
}

// opted tells that some cluster has opted in to a remedy.
func opted(c config.Config, r plan.Remedy) bool {
	for cluster := range c.Remedied {
		if c.RemedyOf(cluster, r) != plan.Off {
			return true
		}
	}
	return false
}

// inVPCs are the changes of networks, narrowed by VPC.
func inVPCs(c config.Config) []fn.Grant {
	if len(c.RemedyVPCs) == 0 {
		return nil
	}
	var vpcs []string
	for _, id := range c.RemedyVPCs {
		vpcs = append(vpcs, "arn:${Partition}:ec2:${Region}:${Account}:vpc/"+id)
	}
	only := map[string]map[string][]string{"ArnEquals": {"ec2:Vpc": vpcs}}
	var grants []fn.Grant
	if opted(c, plan.AddNATRoute) {
		grants = append(grants, fn.Grant{
			Sid: "AddRoutes", Why: "add-nat-route adds a default route to a NAT gateway, in the VPCs that the operator named.",
			Actions: []string{"ec2:CreateRoute"}, Resources: []fn.Resource{"arn:${Partition}:ec2:${Region}:${Account}:route-table/*"}, Conditions: only,
		})
	}
	if opted(c, plan.OpenEndpointSecurityGroup) {
		grants = append(grants, fn.Grant{
			Sid: "OpenEndpoints", Why: "open-endpoint-security-group admits nodes at endpoints, in the VPCs that the operator named.",
			Actions: []string{"ec2:AuthorizeSecurityGroupIngress"}, Resources: []fn.Resource{"arn:${Partition}:ec2:${Region}:${Account}:security-group/*"}, Conditions: only,
		})
	}
	return grants
}

// inCluster are the changes of what is one cluster's. The number makes its
// statements' ids unique: a cluster's name may hold what an id may not.
func inCluster(c config.Config, cluster string, n int) []fn.Grant {
	const groups = "arn:${Partition}:autoscaling:${Region}:${Account}:autoScalingGroup:*:autoScalingGroupName/*"
	owned := map[string]map[string][]string{"StringEquals": {"aws:ResourceTag/kubernetes.io/cluster/" + cluster: {"owned"}}}
	sid := func(name string) string { return fmt.Sprintf("%s%d", name, n) }
	var grants []fn.Grant
	if c.RemedyOf(cluster, plan.ReplaceInstance) != plan.Off {
		grants = append(grants, fn.Grant{
			Sid: sid("ReplaceInstances"), Why: "replace-instance ends instances that did not join through their Auto Scaling group, which launches others.",
			Actions: []string{"autoscaling:TerminateInstanceInAutoScalingGroup"}, Resources: []fn.Resource{groups}, Conditions: owned,
		})
	}
	if c.RemedyOf(cluster, plan.CoverZones) != plan.Off {
		grants = append(grants, fn.Grant{
			Sid: sid("RaiseGroups"), Why: "cover-zones raises the desired count of Auto Scaling groups, never above their maximum.",
			Actions: []string{"autoscaling:SetDesiredCapacity"}, Resources: []fn.Resource{groups}, Conditions: owned,
		}, fn.Grant{
			Sid: sid("RaiseNodegroups"), Why: "cover-zones raises the desired count of managed nodegroups, never above their maximum.",
			Actions: []string{"eks:UpdateNodegroupConfig"}, Resources: []fn.Resource{fn.Resource("arn:${Partition}:eks:${Region}:${Account}:nodegroup/" + cluster + "/*/*")},
		})
	}
	if c.RemedyOf(cluster, plan.CreateAccessEntry) != plan.Off && len(c.RemedyRoles) > 0 {
		grants = append(grants, fn.Grant{
			Sid: sid("AdmitRoles"), Why: "create-access-entry lets the node roles that the operator named into the cluster, as nodes and as nothing else.",
			Actions: []string{"eks:CreateAccessEntry"}, Resources: []fn.Resource{fn.Resource("arn:${Partition}:eks:${Region}:${Account}:cluster/" + cluster)},
			Conditions: map[string]map[string][]string{"StringEquals": {"eks:accessEntryType": {"EC2_LINUX", "EC2_WINDOWS"}}, "ArnEquals": {"eks:principalArn": c.RemedyRoles}},
		})
	}
	return grants
}
