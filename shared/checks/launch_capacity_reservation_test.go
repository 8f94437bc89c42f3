package checks

import "testing"

func TestLaunchCapacityReservation(t *testing.T) {
	runCases(t, launchCapacityReservation(), launchCapacityReservationCases())
}

func launchCapacityReservationCases() []testCase {
	return launchOutcomes(
		"The requested reservation does not have sufficient compatible and available capacity for this request. Launching EC2 instance failed.",
		"fail eks-workers [eks-workers] [] workers cannot launch: its capacity reservation does not take it",
	)
}
