package launch

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
)

func Profile() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchProfile,
		title: "The instance profile of the launch template does not exist",
		cause: "The launch template names an instance profile that does not exist, or that was made seconds ago and that EC2 does not know yet.",
		fix:   "Create the instance profile with the node role in it, or let the launch template name one that exists.",
		links: []string{
			"https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_switch-role-ec2_instance-profiles.html",
		},
		headline: "its instance profile does not exist",
		resource: func(_ *facts.Attempts, t facts.Attempt) string { return t.Verdict.Named.Profile },
		repair: func(a *facts.Attempts, f launchFault) finding.Fix {
			name := f.list[0].Verdict.Named.Profile
			if name == "" {
				return showTemplate(a, f)
			}
			return finding.Fix{Command: AWSCommand(a, "iam", "get-instance-profile", "--instance-profile-name", name)}
		},
	})
}
