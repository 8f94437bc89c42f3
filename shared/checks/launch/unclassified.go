package launch

import (
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/node/activity"
)

func Unclassified() check.Check {
	c := launchCheck(launchSpec{
		id:    checkid.LaunchUnclassified,
		title: "A launch failed for a reason that is not known here",
		cause: "Auto Scaling could not launch, and its status message is none that Rollcall knows, or there is none; or a launch lifecycle hook abandoned the instance. The text is shown as it is.",
		fix:   "Read the text. For an abandoned hook, find out what should have completed it.",
		links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/lifecycle-hooks.html",
		},
		headline: "the reason is in the text",
		says: func(f launchFault) string {
			if abandoned(f) {
				return "a launch lifecycle hook abandons its instances"
			}
			return ""
		},
		repair: func(a *facts.Attempts, f launchFault) finding.Fix {
			if !abandoned(f) {
				return finding.Fix{}
			}
			return finding.Fix{Command: AWSCommand(a, "autoscaling", "describe-lifecycle-hooks", "--auto-scaling-group-name", f.groups()[0])}
		},
	})
	// A hook gives up an instance that did not join: what kept it from joining is the cause.
	c.After = append(c.After, checkid.AnyJoinCause)
	return c
}

// abandoned reports whether launch hooks abandoned all of the launches.
func abandoned(f launchFault) bool {
	return !slices.ContainsFunc(f.list, func(t facts.Attempt) bool { return !activity.Abandoned(t.Verdict.Text) })
}
