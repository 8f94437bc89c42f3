package checks

import (
	"cmp"

	"rollcall/shared/activity"
)

func launchTemplate() Check {
	return launchCheck(launchSpec{
		class: activity.Template,
		title: "The launch template does not fit or names what does not exist",
		cause: "The launch template (or the version that the group uses) is gone, or asks for something that does not exist or does not go together: a key pair, a snapshot, a volume smaller than its snapshot, a device name, a subnet.",
		fix:   "Make a corrected version of the launch template and let the group use it; a managed nodegroup takes it through an update.",
		links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-launch-template.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
		headline: "the launch template does not fit",
		resource: func(a *attempts, t attempt) string {
			template, _ := a.templateOf(t.group)
			return cmp.Or(t.verdict.Named.Template, template.ID)
		},
		repair: showTemplate,
	})
}

// showTemplate shows the version that the group launches from.
func showTemplate(a *attempts, f launchFault) Fix {
	template, _ := a.templateOf(f.list[0].group)
	if template.ID == "" {
		return Fix{}
	}
	return Fix{
		Command: a.command("ec2", "describe-launch-template-versions", "--launch-template-id", template.ID, "--versions", cmp.Or(template.Version, "$Default")),
		Console: ec2Console(a.s, "LaunchTemplateDetails:launchTemplateId="+template.ID),
	}
}
