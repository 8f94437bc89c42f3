package checks

// endpointChecks are the checks of endpoint: VPC endpoints for what nodes need.
func endpointChecks() []Check {
	return []Check{
		endpointMissing(),
		endpointSecurityGroup(),
		endpointPrivateDNSOff(),
		endpointNotAvailable(),
		endpointS3RouteMissing(),
		endpointPolicyDenies(),
	}
}
