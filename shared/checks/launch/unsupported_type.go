package launch

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
)

func UnsupportedType() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchUnsupportedType,
		title: "The instance type cannot be launched in this zone or account",
		cause: "The zone does not offer the instance type, the type does not go with an option of the launch template (tenancy, placement group, Spot), or the account is on the Free plan, which launches a few types only.",
		fix:   "Choose types that all zones of the group offer, or take the subnet of that zone out of the group. In the free plan: a Free Tier type, or the paid plan.",
		links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
		headline: "the instance type is not supported there",
		repair:   otherZones,
	})
}
