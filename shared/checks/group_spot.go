package checks

// spotChecks are the checks of spot that judge single launches.
func spotChecks() []Check {
	return []Check{
		reclaimedBeforeJoin(),
		burstExceedsSubnet(),
	}
}

// poolChecks are the checks of spot that judge the history of days.
func poolChecks() []Check {
	return []Check{
		poolFailing(),
		fewPools(),
		manyRefusals(),
		rebalanceChurn(),
	}
}
