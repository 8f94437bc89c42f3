package launch

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
)

func FleetLimit() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchFleetLimit,
		title: "The quota of fleet requests is used up",
		cause: "Auto Scaling launches through EC2 Fleet, and the account may make no more fleet requests. In new accounts this quota can be zero until AWS has verified them: then nothing launches at all.",
		fix:   "Ask AWS Support to raise the quota, or to finish verifying the account. There is nothing to change in the cluster.",
		links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/fleet-quotas.html",
		},
		headline: "the quota of fleet requests is used up",
		resource: ofAccount,
		repair:   nothing,
	})
}
