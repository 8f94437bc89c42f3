package checks

// instanceCases are the cases of instanceChecks.
func instanceCases() map[ID][]testCase {
	return map[ID][]testCase{
		"instance/forbidden-node-label":    forbiddenNodeLabelCases(),
		"instance/user-data":               userDataCases(),
		"instance/imds":                    imdsCases(),
		"instance/cluster-tag":             clusterTagCases(),
		"instance/max-pods":                maxPodsCases(),
		"instance/foreign-security-groups": foreignSecurityGroupsCases(),
		"instance/older-than-cluster":      olderThanClusterCases(),
		"instance/ended-early":             endedEarlyCases(),
		"instance/status-check":            statusCheckCases(),
		"instance/scheduled-event":         scheduledEventCases(),
		"instance/ami":                     imageUnfitCases(),
		"instance/version-skew":            versionSkewCases(),
		"instance/console-error":           consoleErrorCases(),
	}
}
