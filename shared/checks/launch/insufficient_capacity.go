package launch

import (
	"rollcall/shared/checkid"
	"strings"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
)

func InsufficientCapacity() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchInsufficientCapacity,
		title: "EC2 has no capacity for what the group launches",
		cause: "EC2 has no free capacity of the instance type in the zone, or no Spot pool of the request has any. Auto Scaling tries again by itself.",
		fix:   "Allow more instance types and zones: capacity is short by type and zone. Where it must be this type, wait, or reserve capacity.",
		links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshooting-launch.html",
		},
		headline: "EC2 has no capacity",
		repair:   otherZones,
	})
}

// otherZones shows which zones offer the type at all.
func otherZones(a *facts.Attempts, f launchFault) finding.Fix {
	types := a.Types(f.list[0])
	if len(types) == 0 {
		return finding.Fix{}
	}
	return finding.Fix{Command: AWSCommand(a, "ec2", "describe-instance-type-offerings", "--location-type", "availability-zone",
		"--filters", "Name=instance-type,Values="+strings.Join(types, ","), "--query", "InstanceTypeOfferings[].[InstanceType,Location]", "--output", "table")}
}
