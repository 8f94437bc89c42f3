package checks

// certainCauses are the checks that name a cause of a node that cannot join,
// each of its own kind. What an instance says of itself, and what Kubernetes
// says of a node, is how such a cause shows. Those that are only likely are
// not among them: a line that proves something outweighs them.
func certainCauses() []ID {
	return []ID{
		"route/no-egress", "route/blackhole", "route/nat-unusable", "route/nat-no-internet", "route/igw-no-public-ip",
		"route/igw-detached", "route/nat-instance-source-check", "route/api-public-cidr", "route/api-private-unreachable", "route/ipv6-no-egress",
		"endpoint/missing", "endpoint/security-group", "endpoint/private-dns-off", "endpoint/not-available", "endpoint/s3-route-missing",
		"sg/node-egress", "sg/cluster-ingress", "nacl/egress", "nacl/return", "dns/support-off",
		"iam/profile-missing", "iam/role-trust", "iam/access-missing", "iam/access-wrong-arn", "iam/access-wrong-type",
		"iam/aws-auth-invalid", "iam/sts-region-deactivated",
		"instance/user-data", "instance/forbidden-node-label", "instance/version-skew",
	}
}
