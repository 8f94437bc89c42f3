package launch

import (
	"rollcall/shared/checks/check"
)

func Unclassified() check.Check {
	return launchCheck(launchSpec{
		id:    "launch/unclassified",
		title: "A launch failed for a reason that is not known here",
		cause: "Auto Scaling could not launch, and its status message is none that Rollcall knows, or there is none. The text is shown as it is.",
		fix:   "Read the text.",
		links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
		headline: "the reason is in the text",
		repair:   nothing,
	})
}
