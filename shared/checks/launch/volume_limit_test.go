package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchVolumeLimit(t *testing.T) {
	checktest.RunCases(t, VolumeLimit(), launchVolumeLimitCases())
}

func launchVolumeLimitCases() []checktest.Case {
	return launchOutcomes(
		"Instance became unhealthy while waiting for instance to be in InService state. Client.VolumeLimitExceeded: Volume limit exceeded",
		"fail 123456789012 [eks-workers] [] workers cannot launch: the limit for EBS volumes is reached",
	)
}
