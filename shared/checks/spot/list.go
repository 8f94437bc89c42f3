// Package spot holds the checks of spot: what Spot takes back, and which pools fail.
package spot

import (
	"rollcall/shared/checks/check"
)

// SpotChecks are the checks of spot that judge single launches.
func SpotChecks() []check.Check {
	return []check.Check{
		reclaimedBeforeJoin(),
		burstExceedsSubnet(),
	}
}

// PoolChecks are the checks of spot that judge the history of days.
func PoolChecks() []check.Check {
	return []check.Check{
		poolFailing(),
		fewPools(),
		manyRefusals(),
		rebalanceChurn(),
	}
}
