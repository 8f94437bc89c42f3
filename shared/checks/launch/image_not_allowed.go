package launch

import (
	"fmt"
	"rollcall/shared/checkid"
	"slices"
	"strings"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
)

func ImageNotAllowed() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchImageNotAllowed,
		title: "Allowed AMIs or the AMI's own rules refuse the launch",
		cause: "The account's Allowed AMIs are enabled, perhaps by a declarative policy of the organization, and do not allow the AMI: EC2 hides it and says of a launch that the image does not exist. Or the AMI has rules of instance types that exclude the type of the launch. Instances that run already are not affected.",
		fix:   "Use an AMI that the criteria allow, or add the AMI's provider to them (EKS's own images are of the provider amazon). For the AMI's rules of types: launch a type that they allow.",
		links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-allowed-amis.html",
			"https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_declarative_syntax.html",
		},
		headline: "its AMI is not allowed here",
		says: func(f launchFault) string {
			if _, types, ok := strings.Cut(f.list[0].Verdict.Meaning, " do not allow the type "); ok {
				return "its AMI is not for " + types
			}
			return ""
		},
		resource: (*facts.Attempts).Image,
		looks:    allowedLook,
		repair: func(a *facts.Attempts, f launchFault) finding.Fix {
			if strings.HasPrefix(f.list[0].Verdict.Meaning, "the rules of ") {
				return finding.Fix{
					Text:    "Launch a type that the AMI's rules allow, or another AMI.",
					Command: AWSCommand(a, "ec2", "describe-images", "--image-ids", a.Image(f.list[0]), "--query", "Images[].InstanceTypeSpecification"),
				}
			}
			return finding.Fix{Command: AWSCommand(a, "ec2", "get-allowed-images-settings")}
		},
	})
}

// allowedLook is how the account's Allowed AMIs stand and whether EC2 lists the image of
// launches that it refused as not existing.
func allowedLook(a *facts.Attempts, f launchFault) (headline string, evidence []finding.Evidence) {
	const what = "Allowed AMIs"
	s, ami := a.S.AllowedImages, a.Image(f.list[0])
	switch {
	case !slices.ContainsFunc(f.list, func(t facts.Attempt) bool { return facts.NotFound(t.Verdict) }):
		return "", nil
	case s != nil:
		value := s.State + ", managed by " + s.ManagedBy
		if len(s.Providers) > 0 {
			value += ", providers " + strings.Join(s.Providers, ", ")
		}
		evidence = append(evidence, finding.Evidence{What: what, Value: value})
	case !a.S.Has(snapshot.AllowedImagesOf):
		evidence = append(evidence, notChecked(a, what, snapshot.AllowedImagesOf))
	}
	if i := slices.IndexFunc(a.S.Images, func(i snapshot.Image) bool { return i.ID == ami }); i >= 0 && a.S.Images[i].Allowed != "" {
		evidence = append(evidence, finding.Evidence{What: ami, Value: fmt.Sprintf("%s, owner %s, ImageAllowed %s", a.S.Images[i].Name, a.S.Images[i].Owner, a.S.Images[i].Allowed)})
	}
	return "", evidence
}
