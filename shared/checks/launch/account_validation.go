package launch

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
)

func AccountValidation() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchAccountValidation,
		title: "AWS has not validated the account for this region",
		cause: "AWS validates new accounts, and accounts that use a region for the first time, and lets them launch nothing until that is done; or it has blocked the account.",
		fix:   "Wait for the mail (minutes, up to four hours). After that, or where the account is blocked, write to AWS Support.",
		links: []string{
			"https://docs.aws.amazon.com/ec2/latest/devguide/errors-overview.html",
		},
		headline: "AWS has not validated the account",
		resource: ofAccount,
		repair:   nothing,
	})
}
