package launch

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
)

func Throttled() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchThrottled,
		title: "Calls of the account were throttled when the group launched",
		cause: "EC2 or Auto Scaling refused calls because this account and region make too many. Auto Scaling tries again by itself.",
		fix:   "Find what calls so often (CloudTrail, CloudWatch usage metrics of the API), and ask for a higher request quota if it must.",
		links: []string{
			"https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html",
		},
		headline: "calls of the account are throttled",
		resource: ofAccount,
		repair:   nothing,
	})
}
