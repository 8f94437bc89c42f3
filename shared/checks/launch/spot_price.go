package launch

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
)

func SpotPrice() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchSpotPrice,
		title: "The Spot price is above the maximum that the group allows",
		cause: "The launch template or the mixed instances policy sets a maximum price below today's Spot price.",
		fix:   "Take the maximum price out: Spot then costs at most the on-demand price.",
		links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
		headline: "Spot costs more than it may",
		repair:   nothing,
	})
}
