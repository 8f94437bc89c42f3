package launch

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
)

func Unauthorized() check.Check {
	return launchCheck(launchSpec{
		id:    checkid.LaunchUnauthorized,
		title: "Who launches may not",
		cause: "The role or user that launches lacks a permission, or a service control policy, a permissions boundary or a resource policy forbids it. Which stands in the message as a sentence, or encoded: with the setting decodeDenied=on Rollcall decodes it and tells the statement and the tag.",
		fix:   "Take the message from the scaling activity, decode it with aws sts decode-authorization-message, and allow the action that it names; where it names an explicit deny, look for the service control policy.",
		links: []string{
			"https://docs.aws.amazon.com/STS/latest/APIReference/API_DecodeAuthorizationMessage.html",
		},
		headline: "who launches lacks a permission",
		says:     saysDenied,
		repair:   nothing,
	})
}
