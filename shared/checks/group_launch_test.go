package checks

// launchCases are the cases of launchChecks.
func launchCases() map[ID][]testCase {
	return map[ID][]testCase{
		"launch/insufficient-capacity": launchInsufficientCapacityCases(),
		"launch/capacity-reservation":  launchCapacityReservationCases(),
		"launch/placement":             launchPlacementCases(),
		"launch/spot-limit":            launchSpotLimitCases(),
		"launch/spot-price":            launchSpotPriceCases(),
		"launch/vcpu-limit":            launchVCPULimitCases(),
		"launch/fleet-limit":           launchFleetLimitCases(),
		"launch/subnet-full":           launchSubnetFullCases(),
		"launch/kms-key":               launchKMSKeyCases(),
		"launch/template":              launchTemplateCases(),
		"launch/ami":                   launchAMICases(),
		"launch/security-group":        launchSecurityGroupCases(),
		"launch/profile":               launchProfileCases(),
		"launch/unauthorized":          launchUnauthorizedCases(),
		"launch/unsupported-type":      launchUnsupportedTypeCases(),
		"launch/volume-limit":          launchVolumeLimitCases(),
		"launch/throttled":             launchThrottledCases(),
		"launch/suspended":             launchSuspendedCases(),
		"launch/account-validation":    launchAccountValidationCases(),
		"launch/service-role":          launchServiceRoleCases(),
		"launch/unclassified":          launchUnclassifiedCases(),
	}
}
