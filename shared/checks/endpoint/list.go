// Package endpoint holds the checks of endpoint: VPC endpoints for what nodes need.
package endpoint

import (
	"rollcall/shared/checks/check"
)

// EndpointChecks are the checks of endpoint: VPC endpoints for what nodes need.
func EndpointChecks() []check.Check {
	return []check.Check{
		endpointMissing(),
		endpointSecurityGroup(),
		endpointPrivateDNSOff(),
		endpointNotAvailable(),
		endpointS3RouteMissing(),
		endpointPolicyDenies(),
	}
}
