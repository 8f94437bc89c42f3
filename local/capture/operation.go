package capture

import (
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/local/simaws/cloudwatchlogs"
	"rollcall/local/simaws/resolver"
	"rollcall/local/simaws/route53"
	"rollcall/local/simaws/route53profiles"
	"rollcall/local/simaws/zonalshift"
)

// operations are the files that a capture may hold, by the first part of their
// name, with the type of what they hold. Kubernetes' objects are kept as they
// are: their type is nil.
func operations() map[string]reflect.Type {
	return map[string]reflect.Type{
		"sts-get-caller-identity": reflect.TypeFor[sts.GetCallerIdentityOutput](),

		"ec2-describe-instances":                     reflect.TypeFor[ec2.DescribeInstancesOutput](),
		"ec2-describe-instance-status":               reflect.TypeFor[ec2.DescribeInstanceStatusOutput](),
		"ec2-describe-instance-types":                reflect.TypeFor[ec2.DescribeInstanceTypesOutput](),
		"ec2-describe-instance-type-offerings":       reflect.TypeFor[ec2.DescribeInstanceTypeOfferingsOutput](),
		"ec2-describe-capacity-reservations":         reflect.TypeFor[ec2.DescribeCapacityReservationsOutput](),
		"ec2-describe-placement-groups":              reflect.TypeFor[ec2.DescribePlacementGroupsOutput](),
		"ec2-describe-instance-attribute":            reflect.TypeFor[ec2.DescribeInstanceAttributeOutput](),
		"ec2-get-console-output":                     reflect.TypeFor[ec2.GetConsoleOutputOutput](),
		"ec2-describe-subnets":                       reflect.TypeFor[ec2.DescribeSubnetsOutput](),
		"ec2-describe-vpcs":                          reflect.TypeFor[ec2.DescribeVpcsOutput](),
		"ec2-describe-vpc-attribute":                 reflect.TypeFor[ec2.DescribeVpcAttributeOutput](),
		"ec2-describe-route-tables":                  reflect.TypeFor[ec2.DescribeRouteTablesOutput](),
		"ec2-describe-nat-gateways":                  reflect.TypeFor[ec2.DescribeNatGatewaysOutput](),
		"ec2-describe-internet-gateways":             reflect.TypeFor[ec2.DescribeInternetGatewaysOutput](),
		"ec2-describe-egress-only-internet-gateways": reflect.TypeFor[ec2.DescribeEgressOnlyInternetGatewaysOutput](),
		"ec2-describe-vpc-endpoints":                 reflect.TypeFor[ec2.DescribeVpcEndpointsOutput](),
		"ec2-describe-security-groups":               reflect.TypeFor[ec2.DescribeSecurityGroupsOutput](),
		"ec2-describe-network-acls":                  reflect.TypeFor[ec2.DescribeNetworkAclsOutput](),
		"ec2-describe-dhcp-options":                  reflect.TypeFor[ec2.DescribeDhcpOptionsOutput](),
		"ec2-describe-network-interfaces":            reflect.TypeFor[ec2.DescribeNetworkInterfacesOutput](),
		"ec2-describe-availability-zones":            reflect.TypeFor[ec2.DescribeAvailabilityZonesOutput](),
		"ec2-describe-volumes":                       reflect.TypeFor[ec2.DescribeVolumesOutput](),
		"ec2-describe-instance-image-metadata":       reflect.TypeFor[ec2.DescribeInstanceImageMetadataOutput](),
		"ec2-describe-images":                        reflect.TypeFor[ec2.DescribeImagesOutput](),
		"ec2-describe-managed-prefix-lists":          reflect.TypeFor[ec2.DescribeManagedPrefixListsOutput](),
		"ec2-get-managed-prefix-list-entries":        reflect.TypeFor[ec2.GetManagedPrefixListEntriesOutput](),
		"ec2-describe-launch-template-versions":      reflect.TypeFor[ec2.DescribeLaunchTemplateVersionsOutput](),
		"ec2-describe-vpc-peering-connections":       reflect.TypeFor[ec2.DescribeVpcPeeringConnectionsOutput](),
		"ec2-describe-transit-gateway-attachments":   reflect.TypeFor[ec2.DescribeTransitGatewayAttachmentsOutput](),
		"ec2-describe-transit-gateway-route-tables":  reflect.TypeFor[ec2.DescribeTransitGatewayRouteTablesOutput](),
		"ec2-search-transit-gateway-routes":          reflect.TypeFor[ec2.SearchTransitGatewayRoutesOutput](),
		"ec2-get-allowed-images-settings":            reflect.TypeFor[ec2.GetAllowedImagesSettingsOutput](),
		"ec2-get-instance-metadata-defaults":         reflect.TypeFor[ec2.GetInstanceMetadataDefaultsOutput](),
		"ec2-get-managed-resource-visibility":        reflect.TypeFor[ec2.GetManagedResourceVisibilityOutput](),
		"ec2-get-subnet-cidr-reservations":           reflect.TypeFor[ec2.GetSubnetCidrReservationsOutput](),

		"ec2-describe-vpc-block-public-access-options":    reflect.TypeFor[ec2.DescribeVpcBlockPublicAccessOptionsOutput](),
		"ec2-describe-vpc-block-public-access-exclusions": reflect.TypeFor[ec2.DescribeVpcBlockPublicAccessExclusionsOutput](),
		"ec2-describe-security-group-vpc-associations":    reflect.TypeFor[ec2.DescribeSecurityGroupVpcAssociationsOutput](),

		"route53-list-hosted-zones-by-vpc":  reflect.TypeFor[route53.ListHostedZonesByVPCOutput](),
		"route53-list-resource-record-sets": reflect.TypeFor[route53.ListResourceRecordSetsOutput](),

		"route53profiles-list-profile-associations":          reflect.TypeFor[route53profiles.ListProfileAssociationsOutput](),
		"route53profiles-list-profile-resource-associations": reflect.TypeFor[route53profiles.ListProfileResourceAssociationsOutput](),

		"route53resolver-list-firewall-rule-group-associations": reflect.TypeFor[resolver.ListFirewallRuleGroupAssociationsOutput](),
		"route53resolver-list-firewall-rules":                   reflect.TypeFor[resolver.ListFirewallRulesOutput](),
		"route53resolver-list-firewall-domains":                 reflect.TypeFor[resolver.ListFirewallDomainsOutput](),
		"route53resolver-list-resolver-rules":                   reflect.TypeFor[resolver.ListResolverRulesOutput](),
		"route53resolver-list-resolver-rule-associations":       reflect.TypeFor[resolver.ListResolverRuleAssociationsOutput](),

		"arc-zonal-shift-list-zonal-shifts":      reflect.TypeFor[zonalshift.ListZonalShiftsOutput](),
		"arc-zonal-shift-list-autoshifts":        reflect.TypeFor[zonalshift.ListAutoshiftsOutput](),
		"arc-zonal-shift-list-managed-resources": reflect.TypeFor[zonalshift.ListManagedResourcesOutput](),

		"autoscaling-describe-auto-scaling-groups": reflect.TypeFor[autoscaling.DescribeAutoScalingGroupsOutput](),
		"autoscaling-describe-scaling-activities":  reflect.TypeFor[autoscaling.DescribeScalingActivitiesOutput](),

		"eks-list-clusters":                     reflect.TypeFor[eks.ListClustersOutput](),
		"eks-describe-cluster":                  reflect.TypeFor[eks.DescribeClusterOutput](),
		"eks-list-nodegroups":                   reflect.TypeFor[eks.ListNodegroupsOutput](),
		"eks-describe-nodegroup":                reflect.TypeFor[eks.DescribeNodegroupOutput](),
		"eks-list-addons":                       reflect.TypeFor[eks.ListAddonsOutput](),
		"eks-describe-addon":                    reflect.TypeFor[eks.DescribeAddonOutput](),
		"eks-list-access-entries":               reflect.TypeFor[eks.ListAccessEntriesOutput](),
		"eks-describe-access-entry":             reflect.TypeFor[eks.DescribeAccessEntryOutput](),
		"eks-list-associated-access-policies":   reflect.TypeFor[eks.ListAssociatedAccessPoliciesOutput](),
		"eks-list-pod-identity-associations":    reflect.TypeFor[eks.ListPodIdentityAssociationsOutput](),
		"eks-describe-pod-identity-association": reflect.TypeFor[eks.DescribePodIdentityAssociationOutput](),
		"eks-list-updates":                      reflect.TypeFor[eks.ListUpdatesOutput](),
		"eks-describe-update":                   reflect.TypeFor[eks.DescribeUpdateOutput](),

		"iam-get-instance-profile":        reflect.TypeFor[iam.GetInstanceProfileOutput](),
		"iam-get-role":                    reflect.TypeFor[iam.GetRoleOutput](),
		"iam-list-attached-role-policies": reflect.TypeFor[iam.ListAttachedRolePoliciesOutput](),
		"iam-list-role-policies":          reflect.TypeFor[iam.ListRolePoliciesOutput](),
		"iam-get-role-policy":             reflect.TypeFor[iam.GetRolePolicyOutput](),
		"iam-get-policy-version":          reflect.TypeFor[iam.GetPolicyVersionOutput](),

		"logs-describe-delivery-sources":      reflect.TypeFor[cloudwatchlogs.DescribeDeliverySourcesOutput](),
		"logs-describe-deliveries":            reflect.TypeFor[cloudwatchlogs.DescribeDeliveriesOutput](),
		"logs-describe-delivery-destinations": reflect.TypeFor[cloudwatchlogs.DescribeDeliveryDestinationsOutput](),
		"logs-filter-log-events":              reflect.TypeFor[cloudwatchlogs.FilterLogEventsOutput](),

		// AWS Health's events are not served yet: no function asks for them.
		"health-describe-events": nil,

		// CloudTrail's records of calls for instances are read beside what is served.
		recordsFile: nil,

		"kubectl-get-nodes":                   nil,
		"kubectl-get-pods":                    nil,
		"kubectl-get-pv":                      nil,
		"kubectl-get-pvc":                     nil,
		"kubectl-get-daemonset-aws-node":      nil,
		"kubectl-get-serviceaccount-aws-node": nil,
		"kubectl-get-configmap-aws-auth":      nil,
		"kubectl-get-csr":                     nil,
		"kubectl-get-events":                  nil,
		"kubectl-get-eniconfigs":              nil,
		"kubectl-get-nodepools":               nil,
		"kubectl-get-nodeclaims":              nil,
		"kubectl-get-ec2nodeclasses":          nil,
		"kubectl-get-nodeclasses":             nil,
		"kubectl-get-cninodes":                nil,
	}
}
