package launch

import (
	"cmp"
	"rollcall/shared/checkid"
	"slices"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
)

func Template() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchTemplate,
		title: "The launch template does not fit or names what does not exist",
		cause: "The launch template (or the version that the group uses) is gone, or asks for something that does not exist or does not go together: a key pair, a snapshot, a volume smaller than its snapshot, a device name, a subnet.",
		fix:   "Make a corrected version of the launch template and let the group use it; a managed nodegroup takes it through an update.",
		links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-launch-template.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
		headline: "the launch template does not fit",
		resource: func(a *facts.Attempts, t facts.Attempt) string {
			if id := lostSubnet(t); id != "" {
				return id
			}
			template, _ := a.Template(t.Group)
			return cmp.Or(t.Verdict.Named.Template, template.ID)
		},
		says: func(f launchFault) string {
			if id := lostSubnet(f.list[0]); id != "" {
				return id + " does not exist"
			}
			return ""
		},
		repair: showTemplate,
	})
}

// lostSubnet is the subnet that does not exist, where it is the subnet that the
// text names.
func lostSubnet(t facts.Attempt) string {
	n := t.Verdict.Named
	if n.Template != "" || n.Snapshot != "" || n.Subnet == "" {
		return ""
	}
	return n.Subnet
}

// showTemplate shows the version that the group launches from. Where a subnet
// is gone the group is at fault, not the template; EKS changes no nodegroup's
// subnets.
func showTemplate(a *facts.Attempts, f launchFault) finding.Fix {
	if lostSubnet(f.list[0]) != "" {
		if slices.ContainsFunc(f.list, func(t facts.Attempt) bool { return a.Groups[t.Group].Tags["eks:nodegroup-name"] != "" }) {
			return finding.Fix{Text: "The subnets of a managed nodegroup cannot be changed: make a new nodegroup in subnets that exist, and delete this one."}
		}
		return finding.Fix{Text: "Let the group launch into subnets that exist."}
	}
	template, _ := a.Template(f.list[0].Group)
	if template.ID == "" {
		return finding.Fix{}
	}
	return finding.Fix{
		Command: AWSCommand(a, "ec2", "describe-launch-template-versions", "--launch-template-id", template.ID, "--versions", cmp.Or(template.Version, "$Default")),
		Console: link.EC2(a.S, "LaunchTemplateDetails:launchTemplateId="+template.ID),
	}
}
