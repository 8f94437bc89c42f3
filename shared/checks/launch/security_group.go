package launch

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
)

func SecurityGroup() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchSecurityGroup,
		title: "A security group of the launch template does not exist or fit",
		cause: "The launch template names a security group that was deleted, or one of another VPC than the subnet.",
		fix:   "Let a new version of the launch template name security groups of the group's VPC, and let the group use it.",
		links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
		headline: "a security group does not exist or fit",
		resource: func(_ *facts.Attempts, t facts.Attempt) string { return t.Verdict.Named.SecurityGroup },
		repair: func(a *facts.Attempts, f launchFault) finding.Fix {
			id := f.list[0].Verdict.Named.SecurityGroup
			if id == "" {
				return showTemplate(a, f)
			}
			return finding.Fix{
				Command: AWSCommand(a, "ec2", "describe-security-groups", "--filters", "Name=group-id,Values="+id),
				Console: link.EC2(a.S, "SecurityGroup:groupId="+id),
			}
		},
	})
}
