package automation

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
)

// Document is the text that is modelled: an automatic mirror of AWS's public
// documents. Lines are lines of it.
const Document = "https://github.com/ceshihao/ssm-public-documents/blob/85e10c9/documents/AWSSupport-TroubleshootEKSWorkerNode.json"

// Step is a step of the document.
type Step struct {
	Number string
	Name   string
	// Line is where the step begins in the document.
	Line int
	// Checks are Rollcall's for the same.
	Checks []checks.ID
	// Note says what the model takes for granted, or what it cannot know.
	Note  string
	judge func(Subject) answer
}

// Steps are all steps, in the order of the document.
func Steps() []Step {
	return []Step{
		{"0", "GatherClusterNodeData and its branches", 28, ids(checkid.ClusterHealth, checkid.InstanceEndedEarly), "no check runs unless the cluster is ACTIVE and the instance is running; of one that has ended it says that, not why", nil},
		{"1", "CheckClusterSecurityGroup", 111, ids(checkid.SGClusterIngress), "443 from the node's address or groups", clusterGroups},
		{"2", "CheckDHCPOptions", 142, ids(checkid.DNSDHCPOptions), "Amazon's name server and one domain name", dhcpOptions},
		{"3", "CheckClusterIAMRole", 172, nil, "not knowable: the worlds do not hold the cluster's own role", unknowable("the worlds do not hold the cluster's own role")},
		{"4", "CheckManagedAddons", 202, ids(checkid.AddonDegraded), "status and health issues", addons},
		{"5", "CheckClusterENIs", 232, nil, "not knowable where a world does not draw the control plane's interfaces", clusterInterfaces},
		{"6", "CheckVPCDNS", 262, ids(checkid.DNSSupportOff, checkid.DNSHostnamesOff), "both attributes, whatever needs them", vpcDNS},
		{"7", "CheckEnhancedInstanceHealth", 292, ids(checkid.InstanceStatusCheck, checkid.InstanceScheduledEvent), "EC2's status checks and events", health},
		{"8", "CheckInstanceType", 322, nil, "not knowable: the list of unsupported types is in the attachment", unknowable("the list of types is in the attachment")},
		{"9a", "CheckPrivateNodeConnectivity", 379, ids(checkid.RouteBlackhole, checkid.RouteNATUnusable, checkid.RouteNATNoInternet, checkid.RouteIGWDetached, checkid.RouteAPIPublicCIDR), "only if the default route leads to a NAT gateway", private},
		{"9b", "CheckPublicNodeConnectivity", 411, ids(checkid.RouteBlackhole, checkid.RouteIGWNoPublicIP, checkid.RouteIGWDetached, checkid.RouteAPIPublicCIDR), "only if it leads to an internet gateway", public},
		{"9c", "CheckVPCEndpointConnectivity", 443, ids(checkid.RouteNoEgress, checkid.EndpointMissing, checkid.EndpointSecurityGroup, checkid.EndpointPrivateDNSOff, checkid.EndpointNotAvailable, checkid.EndpointS3RouteMissing), "only if there is no default route", endpoints},
		{"10", "CheckInstanceProfile", 473, ids(checkid.IAMProfileMissing, checkid.IAMRolePolicies, checkid.IAMRoleTrust, checkid.IAMCNIRolePolicies, checkid.IAMAccessWrongARN), "policies judged by what they allow, not by name; the CNI's on the node role alone", instanceProfile},
		{"11", "CheckAccessEntries", 503, ids(checkid.IAMAccessMissing, checkid.IAMAccessWrongType, checkid.IAMAccessWrongARN, checkid.IAMAWSAuthInvalid, checkid.IAMAccessDuplicateMapping), "not in mode CONFIG_MAP; it does not read aws-auth, but an entry would do instead", accessEntries},
		{"12", "CheckUserData", 534, ids(checkid.InstanceUserData), "bootstrap.sh and NodeConfig: form, name, endpoint, CA, service range, the right one for the image", userData},
		{"13", "CheckNodeTags", 565, ids(checkid.InstanceClusterTag), "", nodeTags},
		{"14", "CheckNodeAMI", 596, ids(checkid.InstanceAMI, checkid.InstanceVersionSkew), "warns of every image that is not a public one of EKS", nodeAMI},
		{"15", "CheckNodeCNI", 627, ids(checkid.NodeCNINotReady, checkid.IAMCNIRolePolicies), "a symptom: secondary addresses on the node, which none has before it joined", nodeCNI},
		{"16", "CheckNodeSecurityGroups", 657, ids(checkid.SGNodeEgress), "443 and DNS outbound", nodeGroups},
		{"17", "CheckAWSOutposts", 687, nil, "no world is on an Outpost", nil},
		{"18", "CheckNACLs", 717, ids(checkid.NACLEgress, checkid.NACLReturn), "443 out and answers back, of the node's and the cluster's subnets", acls},
		{"19", "CheckSTSEndpoint", 748, ids(checkid.IAMSTSEndpoint, checkid.IAMSTSRegionDeactivated), "the simulated account cannot be asked; the line on the console stands for it", stsEndpoint},
		{"20", "CheckIMDSEndpoint", 778, ids(checkid.InstanceIMDS), "endpoint on or off; not the hop limit", imds},
		{"21", "CheckSystemDaemons", 808, ids(checkid.InstanceConsoleError), "needs the SSM agent online; the worlds have no daemons, so its answer is not knowable", daemons},
		{"22", "CheckDNSConnectivity", 839, nil, "needs the SSM agent online; a symptom: what the node cannot reach", connectivity},
		{"23", "AnalyzeEKSEndpointReachability", 886, nil, "off by default; not modelled", nil},
	}
}

func ids(list ...checks.ID) []checks.ID { return list }

func unknowable(why string) func(Subject) answer {
	return func(Subject) answer { return skipped("not knowable: " + why) }
}
