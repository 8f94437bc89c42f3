package checks

// routeCases are the cases of routeChecks.
func routeCases() map[ID][]testCase {
	return map[ID][]testCase{
		"route/no-egress":                 noEgressCases(),
		"route/blackhole":                 blackholeCases(),
		"route/nat-unusable":              natUnusableCases(),
		"route/nat-no-internet":           natNoInternetCases(),
		"route/igw-no-public-ip":          igwNoPublicIPCases(),
		"route/igw-detached":              igwDetachedCases(),
		"route/nat-instance-source-check": natInstanceCases(),
		"route/api-public-cidr":           apiPublicCIDRCases(),
		"route/api-private-unreachable":   apiPrivateUnreachableCases(),
		"route/ipv6-no-egress":            ipv6NoEgressCases(),
		"route/cross-zone-nat":            crossZoneNATCases(),
		"route/leaves-view":               leavesViewCases(),
	}
}
