package checks

// spotCases are the cases of spotChecks and poolChecks.
func spotCases() map[ID][]testCase {
	return map[ID][]testCase{
		"spot/reclaimed-before-join": reclaimedBeforeJoinCases(),
		"spot/burst-exceeds-subnet":  burstExceedsSubnetCases(),
		"spot/pool-failing":          poolFailingCases(),
		"spot/few-pools":             fewPoolsCases(),
		"spot/many-refusals":         manyRefusalsCases(),
		"spot/rebalance-churn":       rebalanceChurnCases(),
	}
}
