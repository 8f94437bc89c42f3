package spec

import (
	"maps"
	"slices"
	"strconv"
	"strings"

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
	return slices.Concat(inVPCs(c), groupChanges(c), nodegroupChanges(c), accessEntries(c)), nil
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

// listed is how many clusters a statement names at most: with the longest names
// that EKS takes (100 characters) their ARNs are then 3,300 characters, so that
// a statement fits into a managed policy, which takes 6,144.
const listed = 20

// groupChanges are the changes of Auto Scaling groups. A group is its cluster's
// by a tag whose key holds the cluster's name, and a statement holds only where
// all its keys do: there is one for each cluster, with what that cluster has
// opted in to.
func groupChanges(c config.Config) []fn.Grant {
	var grants []fn.Grant
	for n, cluster := range slices.Sorted(maps.Keys(c.Remedied)) {
		var actions, why []string
		if c.RemedyOf(cluster, plan.CoverZones) != plan.Off {
			actions = append(actions, "autoscaling:SetDesiredCapacity")
			why = append(why, "cover-zones raises the desired count of Auto Scaling groups, never above their maximum.")
		}
		if c.RemedyOf(cluster, plan.ReplaceInstance) != plan.Off {
			actions = append(actions, "autoscaling:TerminateInstanceInAutoScalingGroup")
			why = append(why, "replace-instance ends instances that did not join through their Auto Scaling group, which launches others.")
		}
		if len(actions) == 0 {
			continue
		}
		grants = append(grants, fn.Grant{
			// The number makes ids unique: a cluster's name may hold what an id may not.
			Sid: numbered("ChangeGroups", n), Why: strings.Join(why, " "), Actions: actions,
			Resources:  []fn.Resource{"arn:${Partition}:autoscaling:${Region}:${Account}:autoScalingGroup:*"},
			Conditions: map[string]map[string][]string{"StringEquals": {"aws:ResourceTag/kubernetes.io/cluster/" + cluster: {"owned"}}},
		})
	}
	return grants
}

// nodegroupChanges are the changes of managed nodegroups, whose ARN holds their
// cluster's name.
func nodegroupChanges(c config.Config) []fn.Grant {
	return byARN(c, plan.CoverZones, "arn:${Partition}:eks:${Region}:${Account}:nodegroup/%s/*/*", fn.Grant{
		Sid: "RaiseNodegroups", Why: "cover-zones raises the desired count of managed nodegroups, never above their maximum.",
		Actions: []string{"eks:UpdateNodegroupConfig"},
	})
}

func accessEntries(c config.Config) []fn.Grant {
	var grants []fn.Grant
	for _, roles := range upTo(c.RemedyRoles, roleCharacters) {
		list := byARN(c, plan.CreateAccessEntry, "arn:${Partition}:eks:${Region}:${Account}:cluster/%s", fn.Grant{
			Sid: "AdmitRoles", Why: "create-access-entry lets the node roles that the operator named into the cluster, as nodes and as nothing else.",
			Actions:    []string{"eks:CreateAccessEntry"},
			Conditions: map[string]map[string][]string{"StringEquals": {"eks:accessEntryType": {"EC2_LINUX", "EC2_WINDOWS"}}, "ArnEquals": {"eks:principalArn": roles}},
		})
		for i := range list {
			list[i].Sid = numbered("AdmitRoles", len(grants)+i)
		}
		grants = append(grants, list...)
	}
	return grants
}

// roleCharacters is how long the ARNs of roles in a statement are together, so
// that it fits into a managed policy with those of its clusters.
const roleCharacters = 2_400

// upTo splits a list into parts of at most so many characters each, or of one
// element.
func upTo(list []string, most int) [][]string {
	var parts [][]string
	left := 0
	for _, text := range list {
		if size := len(text) + len(`"",`); len(parts) == 0 || size > left {
			parts, left = append(parts, nil), most-size
		} else {
			left -= size
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], text)
	}
	return parts
}

// byARN gives a grant on what is of the clusters that have opted in to a
// remedy, and of no other: a statement holds for any of its resources.
func byARN(c config.Config, r plan.Remedy, form string, grant fn.Grant) []fn.Grant {
	var arns []fn.Resource
	for _, cluster := range slices.Sorted(maps.Keys(c.Remedied)) {
		if c.RemedyOf(cluster, r) != plan.Off {
			arns = append(arns, fn.Resource(strings.Replace(form, "%s", cluster, 1)))
		}
	}
	var grants []fn.Grant
	for list := range slices.Chunk(arns, listed) {
		g := grant
		g.Sid, g.Resources = numbered(grant.Sid, len(grants)), list
		grants = append(grants, g)
	}
	return grants
}

func numbered(sid string, n int) string { return sid + strconv.Itoa(n+1) }
