package checks

import "testing"

func TestLaunchVolumeLimit(t *testing.T) { runCases(t, launchVolumeLimit(), launchVolumeLimitCases()) }

func launchVolumeLimitCases() []testCase {
	return launchOutcomes(
		"Instance became unhealthy while waiting for instance to be in InService state. Client.VolumeLimitExceeded: Volume limit exceeded",
		"fail 123456789012 [eks-workers] [] workers cannot launch: the limit for EBS volumes is reached",
	)
}
