package checks

import "rollcall/shared/node/activity"

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

// failedLaunches are the ids of those that an instance can die of while it
// starts: they are more exact than that it ended early.
func failedLaunches() []ID {
	var ids []ID
	for _, c := range launchChecks() {
		if c.ID != ID(activity.Suspended) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
