package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
)

func TestLaunchCapacityReservation(t *testing.T) {
	checktest.RunCases(t, CapacityReservation(), launchCapacityReservationCases())
}

func launchCapacityReservationCases() []checktest.Case {
	return launchOutcomes(
		"The requested reservation does not have sufficient compatible and available capacity for this request. Launching EC2 instance failed.",
		"fail eks-workers [eks-workers] [] workers cannot launch: its capacity reservation does not take it",
	)
}
