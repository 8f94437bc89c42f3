package launch

import (
	"fmt"
	"rollcall/shared/checkid"
	"strings"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
)

func KMSKey() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchKMSKey,
		title: "The KMS key of a volume cannot be used to launch",
		cause: "A volume of the instance is encrypted (by the launch template, the AMI or the account's default) with a KMS key that is disabled, pending deletion, gone, or whose policy does not let the launching role use it and create grants. The instance dies seconds after its start. Client.InternalError nearly always means this.",
		fix:   "Enable the key, and give the launching role kms:CreateGrant, Decrypt, DescribeKey, Encrypt, GenerateDataKey* and ReEncrypt* in the key's policy. Managed nodegroups and Auto Scaling launch with AWSServiceRoleForAutoScaling.",
		links: []string{
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/key-policy-requirements-EBS-encryption.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ts-as-instancelaunchfailure.html",
		},
		headline: "a volume's KMS key cannot be used",
		resource: kmsKey,
		repair:   useKey,
	})
}

// kmsKey is the key, if it is known: the text names it, or the launch template
// names one only. Else it may be the account's default key.
func kmsKey(a *facts.Attempts, t facts.Attempt) string {
	if t.Verdict.Named.Key != "" {
		return t.Verdict.Named.Key
	}
	if template, read := a.Template(t.Group); read && len(template.KMSKeys) == 1 {
		return template.KMSKeys[0]
	}
	return ""
}

func useKey(a *facts.Attempts, f launchFault) finding.Fix {
	role := launcher(a, f)
	const may = "kms:CreateGrant (for AWS resources), Decrypt, DescribeKey, Encrypt, GenerateDataKey* and ReEncrypt*"
	key := kmsKey(a, f.list[0])
	if key == "" {
		return finding.Fix{
			Text:    fmt.Sprintf("Find the key of the volumes (launch template, AMI, or the account's default, which the command shows). Enable it, and let %s use it in the key's policy: %s.", role, may),
			Command: AWSCommand(a, "ec2", "get-ebs-default-kms-key-id"),
		}
	}
	id := key[strings.LastIndex(key, "/")+1:]
	return finding.Fix{
		Text:    fmt.Sprintf("Enable %s if it is not (the command shows its state), and let %s use it in the key's policy: %s.", key, role, may),
		Command: AWSCommand(a, "kms", "describe-key", "--key-id", key, "--query", "KeyMetadata.[KeyState,Enabled,KeyManager]"),
		Console: fmt.Sprintf("%s/kms/home?region=%s#/kms/keys/%s", link.Host(a.S), a.S.Region, id),
	}
}
