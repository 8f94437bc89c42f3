package automation

import "rollcall/shared/checks"

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
		{"0", "GatherClusterNodeData and its branches", 28, ids("cluster/health", "instance/ended-early"), "no check runs unless the cluster is ACTIVE and the instance is running; of one that has ended it says that, not why", nil},
		{"1", "CheckClusterSecurityGroup", 111, ids("sg/cluster-ingress"), "443 from the node's address or groups", clusterGroups},
		{"2", "CheckDHCPOptions", 142, ids("dns/dhcp-options"), "Amazon's name server and one domain name", dhcpOptions},
		{"3", "CheckClusterIAMRole", 172, nil, "not knowable: the worlds do not hold the cluster's own role", unknowable("the worlds do not hold the cluster's own role")},
		{"4", "CheckManagedAddons", 202, ids("addon/degraded"), "status and health issues", addons},
		{"5", "CheckClusterENIs", 232, nil, "not knowable where a world does not draw the control plane's interfaces", clusterInterfaces},
		{"6", "CheckVPCDNS", 262, ids("dns/support-off", "dns/hostnames-off"), "both attributes, whatever needs them", vpcDNS},
		{"7", "CheckEnhancedInstanceHealth", 292, ids("instance/status-check", "instance/scheduled-event"), "EC2's status checks and events", health},
		{"8", "CheckInstanceType", 322, nil, "not knowable: the list of unsupported types is in the attachment", unknowable("the list of types is in the attachment")},
		{"9a", "CheckPrivateNodeConnectivity", 379, ids("route/blackhole", "route/nat-unusable", "route/nat-no-internet", "route/igw-detached", "route/api-public-cidr"), "only if the default route leads to a NAT gateway", private},
		{"9b", "CheckPublicNodeConnectivity", 411, ids("route/blackhole", "route/igw-no-public-ip", "route/igw-detached", "route/api-public-cidr"), "only if it leads to an internet gateway", public},
		{"9c", "CheckVPCEndpointConnectivity", 443, ids("route/no-egress", "endpoint/missing", "endpoint/security-group", "endpoint/private-dns-off", "endpoint/not-available", "endpoint/s3-route-missing"), "only if there is no default route", endpoints},
		{"10", "CheckInstanceProfile", 473, ids("iam/profile-missing", "iam/role-policies", "iam/role-trust", "iam/cni-role-policies", "iam/access-wrong-arn"), "policies judged by what they allow, not by name; the CNI's on the node role alone", instanceProfile},
		{"11", "CheckAccessEntries", 503, ids("iam/access-missing", "iam/access-wrong-type", "iam/access-wrong-arn", "iam/aws-auth-invalid", "iam/access-duplicate-mapping"), "not in mode CONFIG_MAP; it does not read aws-auth, but an entry would do instead", accessEntries},
		{"12", "CheckUserData", 534, ids("instance/user-data"), "bootstrap.sh and NodeConfig: form, name, endpoint, CA, service range, the right one for the image", userData},
		{"13", "CheckNodeTags", 565, ids("instance/cluster-tag"), "", nodeTags},
		{"14", "CheckNodeAMI", 596, ids("instance/ami", "instance/version-skew"), "warns of every image that is not a public one of EKS", nodeAMI},
		{"15", "CheckNodeCNI", 627, ids("node/cni-not-ready", "iam/cni-role-policies"), "a symptom: secondary addresses on the node, which none has before it joined", nodeCNI},
		{"16", "CheckNodeSecurityGroups", 657, ids("sg/node-egress"), "443 and DNS outbound", nodeGroups},
		{"17", "CheckAWSOutposts", 687, nil, "no world is on an Outpost", nil},
		{"18", "CheckNACLs", 717, ids("nacl/egress", "nacl/return"), "443 out and answers back, of the node's and the cluster's subnets", acls},
		{"19", "CheckSTSEndpoint", 748, ids("iam/sts-endpoint", "iam/sts-region-deactivated"), "the simulated account cannot be asked; the line on the console stands for it", stsEndpoint},
		{"20", "CheckIMDSEndpoint", 778, ids("instance/imds"), "endpoint on or off; not the hop limit", imds},
		{"21", "CheckSystemDaemons", 808, ids("instance/console-error"), "needs the SSM agent online; the worlds have no daemons, so its answer is not knowable", daemons},
		{"22", "CheckDNSConnectivity", 839, nil, "needs the SSM agent online; a symptom: what the node cannot reach", connectivity},
		{"23", "AnalyzeEKSEndpointReachability", 886, nil, "off by default; not modelled", nil},
	}
}

func ids(list ...checks.ID) []checks.ID { return list }

func unknowable(why string) func(Subject) answer {
	return func(Subject) answer { return skipped("not knowable: " + why) }
}
