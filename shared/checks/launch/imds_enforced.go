package launch

import (
	"cmp"
	"fmt"
	"rollcall/shared/checkid"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
)

func IMDSEnforced() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchIMDSEnforced,
		title: "The account enforces IMDSv2 and the launch does not ask for it",
		cause: "The account, or a declarative policy of its organization, enforces IMDSv2 (httpTokensEnforced): EC2 refuses each launch in which neither the launch template, nor the account's metadata defaults, nor the AMI set HttpTokens to required.",
		fix:   "Set HttpTokens to required in a new version of the launch template (metadataOptions in an EC2NodeClass), with a hop limit of 2 where pods read the metadata; or set the account's default to required.",
		links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshooting-launch.html#launching-an-imdsv1-enabled-instance-fails",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-IMDS-new-instances.html",
		},
		headline: "the account enforces IMDSv2",
		resource: func(a *facts.Attempts, t facts.Attempt) string {
			template, _ := a.Template(t.Group)
			return template.ID
		},
		looks: metadataLook,
		uses:  []snapshot.Source{snapshot.LaunchTemplates, snapshot.MetadataDefaultsOf},
		repair: func(a *facts.Attempts, f launchFault) finding.Fix {
			template, _ := a.Template(f.list[0].Group)
			if template.ID == "" {
				return finding.Fix{Command: AWSCommand(a, "ec2", "get-instance-metadata-defaults")}
			}
			return finding.Fix{Command: AWSCommand(a, "ec2", "create-launch-template-version", "--launch-template-id", template.ID,
				"--source-version", cmp.Or(template.Version, "$Latest"), "--launch-template-data", `{"MetadataOptions":{"HttpTokens":"required","HttpPutResponseHopLimit":2}}`)}
		},
	})
}

// metadataLook is what the launch template and the account say of HttpTokens.
func metadataLook(a *facts.Attempts, f launchFault) (headline string, evidence []finding.Evidence) {
	if template, read := a.Template(f.groups()[0]); read {
		evidence = append(evidence, finding.Evidence{What: "HttpTokens of " + template.ID + " version " + template.Version, Value: cmp.Or(template.Metadata.Tokens, "not set")})
	}
	d := a.S.MetadataDefaults
	switch {
	case d != nil:
		value := fmt.Sprintf("HttpTokens %s, enforced %v, managed by %s", cmp.Or(d.Tokens, "not set"), d.Enforced, cmp.Or(d.ManagedBy, "account"))
		if d.Message != "" {
			value += ": " + d.Message
		}
		evidence = append(evidence, finding.Evidence{What: "Instance metadata defaults", Value: value})
	case !a.S.Has(snapshot.MetadataDefaultsOf):
		evidence = append(evidence, notChecked(a, "Instance metadata defaults", snapshot.MetadataDefaultsOf))
	}
	return "", evidence
}

// notChecked is the evidence that a source was not read, with its permission.
func notChecked(a *facts.Attempts, what string, source snapshot.Source) finding.Evidence {
	why := a.S.Why(source)
	return finding.Evidence{What: what, Value: fmt.Sprintf("not checked: %s %s", why.Call, why.Reason)}
}
