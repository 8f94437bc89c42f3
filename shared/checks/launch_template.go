package checks

import (
	"cmp"
	"slices"

	"rollcall/shared/node/activity"
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
			if id := t.lostSubnet(); id != "" {
				return id
			}
			template, _ := a.templateOf(t.group)
			return cmp.Or(t.verdict.Named.Template, template.ID)
		},
		says: func(f launchFault) string {
			if id := f.list[0].lostSubnet(); id != "" {
				return id + " does not exist"
			}
			return ""
		},
		repair: showTemplate,
	})
}

// lostSubnet is the subnet that does not exist, where it is the subnet that the
// text names.
func (t attempt) lostSubnet() string {
	n := t.verdict.Named
	if n.Template != "" || n.Snapshot != "" || n.Subnet == "" {
		return ""
	}
	return n.Subnet
}

// showTemplate shows the version that the group launches from. Where a subnet
// is gone the group is at fault, not the template; EKS changes no nodegroup's
// subnets.
func showTemplate(a *attempts, f launchFault) Fix {
	if f.list[0].lostSubnet() != "" {
		if slices.ContainsFunc(f.list, func(t attempt) bool { return a.groups[t.group].Tags["eks:nodegroup-name"] != "" }) {
			return Fix{Text: "The subnets of a managed nodegroup cannot be changed: make a new nodegroup in subnets that exist, and delete this one."}
		}
		return Fix{Text: "Let the group launch into subnets that exist."}
	}
	template, _ := a.templateOf(f.list[0].group)
	if template.ID == "" {
		return Fix{}
	}
	return Fix{
		Command: a.command("ec2", "describe-launch-template-versions", "--launch-template-id", template.ID, "--versions", cmp.Or(template.Version, "$Default")),
		Console: ec2Console(a.s, "LaunchTemplateDetails:launchTemplateId="+template.ID),
	}
}
