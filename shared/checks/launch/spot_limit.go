package launch

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
)

func SpotLimit() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchSpotLimit,
		title: "The quota of Spot vCPUs is used up",
		cause: "The account has a quota of vCPUs for Spot instances of each family and region, beside that for on-demand. Running Spot instances and open requests count. In new accounts, and for GPU families, it can be zero.",
		fix:   "Ask for a higher quota in Service Quotas, or let the group launch on demand or types of another family.",
		links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html",
		},
		headline: "the quota of Spot vCPUs is used up",
		resource: quotaCode(true),
		repair:   raiseQuota(true),
	})
}
