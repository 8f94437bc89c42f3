package launch

import (
	"cmp"
	"rollcall/shared/checkid"
	"slices"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
)

// PolicyDenied: the message of a refused launch says which kind of policy denied
// it, beside the launcher's own (IAM user guide, "Troubleshoot access denied error
// messages").
func PolicyDenied() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchPolicyDenied,
		title: "A policy above the launcher's own forbids the launch",
		cause: "The organisation's service control policy or resource control policy, or a permissions boundary or session policy, denies the launch although the launcher's own policy allows it. Mostly it wants a tag, a Region, an instance type or encrypted volumes that the launch template does not give. An explicit deny whose policy AWS does not name counts too.",
		fix:   "Let that policy allow the launch, or launch as it demands. The encoded message tells the statement and its conditions: with the setting decodeDenied=on Rollcall decodes it; by hand aws sts decode-authorization-message does.",
		links: []string{
			"https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html",
			"https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_scps.html",
		},
		headline: "a policy above the launcher's own forbids it",
		says:     func(f launchFault) string { return cmp.Or(saysStatement(f), whichPolicy(f)) },
		repair:   nothing,
	})
}

// whichPolicy is what all the texts say, if they say the same.
func whichPolicy(f launchFault) string {
	first := f.list[0].Verdict.Meaning
	if slices.ContainsFunc(f.list, func(t facts.Attempt) bool { return t.Verdict.Meaning != first }) {
		return ""
	}
	return first
}
