package launch

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
)

func EncryptionControls() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchEncryptionControls,
		title: "The VPC enforces encryption and the instance type does not encrypt",
		cause: "The VPC's Encryption Controls are in the mode enforce, and the instance type does not encrypt traffic between instances: EC2 takes no network interface of it in this VPC. Only types of the Nitro System encrypt (EncryptionInTransitSupported).",
		fix:   "Launch types that encrypt in transit, or set the VPC's Encryption Controls to monitor.",
		links: []string{
			"https://docs.aws.amazon.com/vpc/latest/userguide/vpc-encryption-controls.html",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/data-protection.html#encryption-transit",
		},
		headline: "its types do not encrypt in transit",
		repair: func(a *facts.Attempts, f launchFault) finding.Fix {
			return finding.Fix{Command: AWSCommand(a, "ec2", "describe-instance-types", "--filters", "Name=network-info.encryption-in-transit-supported,Values=true", "--query", "InstanceTypes[].InstanceType", "--output", "text")}
		},
	})
}
