package launch

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
)

func VCPULimit() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchVCPULimit,
		title: "The quota of on-demand vCPUs is used up",
		cause: "The account has a quota of vCPUs for on-demand instances of each family and region. Everything in the account counts. In new accounts, and for GPU families, it can be zero.",
		fix:   "Ask for a higher quota in Service Quotas, stop what is not needed, or let the group launch types of another family or Spot.",
		links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-resource-limits.html",
		},
		headline: "the quota of vCPUs is used up",
		resource: quotaCode(false),
		repair:   raiseQuota(false),
	})
}
