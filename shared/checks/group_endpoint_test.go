package checks

// endpointCases are the cases of endpointChecks.
func endpointCases() map[ID][]testCase {
	return map[ID][]testCase{
		"endpoint/missing":          endpointMissingCases(),
		"endpoint/security-group":   endpointSecurityGroupCases(),
		"endpoint/private-dns-off":  endpointPrivateDNSOffCases(),
		"endpoint/not-available":    endpointNotAvailableCases(),
		"endpoint/s3-route-missing": endpointS3RouteMissingCases(),
		"endpoint/policy-denies":    endpointPolicyDeniesCases(),
	}
}
