package checks

// launchChecks are the checks of launch: what kept the group from launching.
func launchChecks() []Check {
	return []Check{
		launchInsufficientCapacity(),
		launchCapacityReservation(),
		launchPlacement(),
		launchSpotLimit(),
		launchSpotPrice(),
		launchVCPULimit(),
		launchFleetLimit(),
		launchSubnetFull(),
		launchKMSKey(),
		launchTemplate(),
		launchAMI(),
		launchSecurityGroup(),
		launchProfile(),
		launchUnauthorized(),
		launchUnsupportedType(),
		launchVolumeLimit(),
		launchThrottled(),
		launchSuspended(),
		launchAccountValidation(),
		launchServiceRole(),
		launchUnclassified(),
	}
}
