package launch

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
)

func VolumeLimit() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchVolumeLimit,
		title: "The limit for EBS volumes is reached",
		cause: "The account's storage or IOPS for EBS volumes of that kind are used up in this region: the instance is ended when its volume cannot be made.",
		fix:   "Delete volumes that nothing uses, or ask for a higher quota in Service Quotas.",
		links: []string{
			"https://docs.aws.amazon.com/ebs/latest/userguide/ebs-resource-quotas.html",
		},
		headline: "the limit for EBS volumes is reached",
		resource: ofAccount,
		repair: func(a *facts.Attempts, _ launchFault) finding.Fix {
			// L-7A658B76 and L-D18FCD1D: storage of gp3 and gp2 volumes, in TiB.
			return finding.Fix{
				Text:    "Delete volumes that nothing uses (the command lists them), or ask for more storage: quota L-7A658B76 for gp3, L-D18FCD1D for gp2 (TiB).",
				Command: AWSCommand(a, "ec2", "describe-volumes", "--filters", "Name=status,Values=available"),
				Console: link.Host(a.S) + "/servicequotas/home/services/ebs/quotas?region=" + a.S.Region,
			}
		},
	})
}
