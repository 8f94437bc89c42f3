// Package denial reads what AWS says of a request that it refused for want of
// permission: the sentence that anybody gets, and the message behind it, which
// sts:DecodeAuthorizationMessage decodes.
package denial

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"rollcall/shared/snapshot"
)

// sentence is how AWS words it (IAM user guide, "Troubleshoot access denied error
// messages"; AWS security blog, "Enhanced access denied error messages with policy
// ARNs", January 2026): who, what, on what, and which kind of policy. Some services
// leave out the resource or the kind.
var sentence = regexp.MustCompile(`(?i)\buser:? (\S+) is not authorized to perform:? ([a-z0-9-]{1,64}:[a-z0-9*]{1,128})(?: on (?:the )?resource:? (\S+))?` +
	`(?:,? (with an explicit deny)(?: in (?:an?|the) ([a-z -]{1,40}?(?:policy|policies|boundary))(?::? (arn:\S+))?)?|,? because no ([a-z -]{1,40}?(?:policy|policies|boundary)) allows\b)?`)

// part is what is left of the sentence where somebody took out who asked and for what.
var part = regexp.MustCompile(`(?i)\bnot authorized to perform\b.{0,200}? with an explicit deny in (?:an?|the) ([a-z -]{1,40}?(?:policy|policies|boundary))\b`)

// Of reads the sentence; false where a text has none. Texts may be wrapped and
// quoted.
func Of(text string) (snapshot.Denial, bool) {
	const most = 16 << 10 // bytes; an encoded message behind it has 10 KiB at most
	if text = text[:min(len(text), most)]; !strings.Contains(text, "authorized") {
		return snapshot.Denial{}, false // most texts are none
	}
	text = strings.ToValidUTF8(text, "")
	text = strings.Join(strings.Fields(strings.NewReplacer(`\n`, " ", `\t`, " ", `\"`, " ", `"`, " ", "│", " ", "'", " ", "`", " ").Replace(text)), " ")
	m := sentence.FindStringSubmatch(text)
	if m == nil {
		if p := part.FindStringSubmatch(text); p != nil {
			return snapshot.Denial{Explicit: true, Kind: kind(p[1])}, true
		}
		return snapshot.Denial{}, false
	}
	d := snapshot.Denial{Who: who(m[1]), Action: m[2], Resource: shown(strings.TrimRight(m[3], ".,;")), Explicit: m[4] != "", Kind: kind(m[5] + m[7]), Policy: shown(strings.TrimRight(m[6], ".,;"))}
	return d, true
}

// The kinds of policies that are above the launcher's own: an organization's, and
// what bounds a role or a session.
const (
	serviceControl  = "service control policy"
	resourceControl = "resource control policy"
	boundary        = "permissions boundary"
	session         = "session policy"
)

// Above tells that a policy above the launcher's own refused the request: for sure
// where AWS says of which kind it is, else where a statement denies it and which
// policy has it is not said.
func Above(d snapshot.Denial) bool {
	switch d.Kind {
	case serviceControl, resourceControl, boundary, session:
		return true
	case "":
		return d.Explicit && len(d.Statements) > 0
	}
	return false
}

// kind is a kind of policy in AWS's own words, of which Karpenter leaves a letter
// out (aws/karpenter-provider-aws pkg/errors/errors.go, ToReasonMessage).
func kind(text string) string {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	text = strings.Replace(text, "permission boundary", boundary, 1)
	if rest, ok := strings.CutSuffix(text, "policies"); ok {
		text = rest + "policy"
	}
	return strings.Replace(text, "vpc endpoint", "VPC endpoint", 1)
}

// who is an identity without the name of its session, which may be a person's.
func who(arn string) string {
	if head, rest, ok := strings.Cut(arn, ":assumed-role/"); ok {
		role, _, _ := strings.Cut(rest, "/")
		arn = head + ":assumed-role/" + role
	}
	return shown(arn)
}

// shown is a text that somebody else wrote, in one line and bounded.
func shown(text string) string {
	const most = 200 // runes
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if utf8.RuneCountInString(text) > most {
		return string([]rune(text)[:most-1]) + "…"
	}
	return text
}
