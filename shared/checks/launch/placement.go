package launch

import (
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
)

func Placement() check.Check {
	return launchCheck(launchSpec{
		id:    "launch/placement",
		title: "The placement group or host does not take the launch",
		cause: "The placement group, tenancy or host of the launch template does not take the instance: a cluster placement group is in one zone and the group launches into another, it does not take the type, or there is no room beside its other instances.",
		fix:   "Let the group launch into one zone with a type that the placement group takes, all at once; or take the placement out of the launch template.",
		links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
		headline: "its placement does not take it",
		repair: func(a *facts.Attempts, _ launchFault) finding.Fix {
			return finding.Fix{Command: AWSCommand(a, "ec2", "describe-placement-groups", "--query", "PlacementGroups[].[GroupName,State,Strategy,SpreadLevel]", "--output", "table")}
		},
	})
}
