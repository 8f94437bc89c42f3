// Package launch holds the checks of launch: what kept a group from launching.
package launch

import (
	"rollcall/shared/checks/check"
)

// LaunchChecks are the checks of launch: what kept the group from launching.
func LaunchChecks() []check.Check {
	return []check.Check{
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
