package checks

import "rollcall/shared/node/activity"

func launchSecurityGroup() Check {
	return launchCheck(launchSpec{
		class: activity.SecurityGroup,
		title: "A security group of the launch template does not exist or fit",
		cause: "The launch template names a security group that was deleted, or one of another VPC than the subnet.",
		fix:   "Let a new version of the launch template name security groups of the group's VPC, and let the group use it.",
		links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
		headline: "a security group does not exist or fit",
		resource: func(_ *attempts, t attempt) string { return t.verdict.Named.SecurityGroup },
		repair: func(a *attempts, f launchFault) Fix {
			id := f.list[0].verdict.Named.SecurityGroup
			if id == "" {
				return showTemplate(a, f)
			}
			return Fix{
				Command: a.command("ec2", "describe-security-groups", "--filters", "Name=group-id,Values="+id),
				Console: ec2Console(a.s, "SecurityGroup:groupId="+id),
			}
		},
	})
}
