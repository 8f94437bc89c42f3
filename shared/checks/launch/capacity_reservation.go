package launch

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
)

func CapacityReservation() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchCapacityReservation,
		title: "The capacity reservation does not take the launch",
		cause: "The capacity reservation or capacity block that the launch template asks for is used up, not active yet, over, or is for another type, zone or platform. It does not pass by itself as a shortage of EC2's does, and other zones do not help.",
		fix:   "Look at the reservation: its state, its dates, its zone and type, and how many places are free. Make it larger, or let the launch template ask for another one, or for none.",
		links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-reservations.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html",
		},
		headline: "its capacity reservation does not take it",
		looks:    reservationLook,
		uses:     []snapshot.Source{snapshot.LaunchTemplates, snapshot.CapacityReservations, snapshot.Subnets},
		repair: func(a *facts.Attempts, _ launchFault) finding.Fix {
			return finding.Fix{Command: AWSCommand(a, "ec2", "describe-capacity-reservations", "--query",
				"CapacityReservations[].[CapacityReservationId,State,InstanceType,AvailabilityZone,AvailableInstanceCount,TotalInstanceCount,StartDate,EndDate]", "--output", "table")}
		},
	})
}
