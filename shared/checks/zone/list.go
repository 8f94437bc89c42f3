// Package zone holds the checks of zone: volumes, and the nodes where they live.
package zone

import (
	"rollcall/shared/checks/check"
)

// ZoneChecks are the checks of zone: volumes, and the nodes where they live.
func ZoneChecks() []check.Check {
	return []check.Check{
		volumeStranded(),
		nodegroupGap(),
		podUnschedulable(),
		zoneImpaired(),
	}
}
