// Package denial reads what AWS says of a request that it refused for want of
// permission: the sentence that anybody gets, and the message behind it, which
// sts:DecodeAuthorizationMessage decodes.
package denial

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"rollcall/shared/lazyregexp"
	"rollcall/shared/snapshot"
)

// sentence is how AWS words it (IAM user guide, "Troubleshoot access denied error
// messages"; AWS security blog, "Enhanced access denied error messages with policy
// ARNs", January 2026): who, what, on what, and which kind of policy. Some services
// leave out the resource or the kind.
var sentence = lazyregexp.New(`(?i)\buser:? (\S+) is not authorized to perform:? ([a-z0-9-]{1,64}:[a-z0-9*]{1,128})(?: on (?:the )?resource:? (\S+))?` +
	`(?:,? (with an explicit deny)(?: in (?:an?|the) ([a-z -]{1,40}?(?:policy|policies|boundary))(?::? (arn:\S+))?)?|,? because no ([a-z -]{1,40}?(?:policy|policies|boundary)) allows\b)?`)

// part is what is left of the sentence where the caller and the action were cut out.
var part = lazyregexp.New(`(?i)\bnot authorized to perform\b.{0,200}? with an explicit deny in (?:an?|the) ([a-z -]{1,40}?(?:policy|policies|boundary))\b`)

// Parse reads the sentence; false where a text has none. Texts may be wrapped and
// quoted.
func Parse(text string) (snapshot.Denial, bool) {
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

// Above reports whether a policy above the launcher's own refused the request: for sure
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

// shown is a text from outside, in one line and bounded.
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

// decoded is the message that STS gives, as JSON in a string (AWS CLI reference, sts
// decode-authorization-message, example; aws/karpenter-provider-aws#3176).
type decoded struct {
	Allowed           bool `json:"allowed"`
	ExplicitDeny      bool `json:"explicitDeny"`
	MatchedStatements struct {
		Items []struct {
			ID         string `json:"statementId"`
			Effect     string `json:"effect"`
			Conditions keys   `json:"conditions"`
		} `json:"items"`
	} `json:"matchedStatements"`
	Context struct {
		Principal struct {
			ARN string `json:"arn"`
		} `json:"principal"`
		Action     string `json:"action"`
		Resource   string `json:"resource"`
		Conditions keys   `json:"conditions"`
	} `json:"context"`
}

// keys are condition keys with their values.
type keys struct {
	Items []struct {
		Key    string `json:"key"`
		Values struct {
			Items []struct {
				Value string `json:"value"`
			} `json:"items"`
		} `json:"values"`
	} `json:"items"`
}

// Bounds of what is kept of a decoded message. The request's context, with all that
// the caller sent, is not kept: only what the statements ask for.
const (
	mostStatements = 5
	mostConditions = 8
	mostValues     = 5
	mostBytes      = 256 << 10 // of the decoded message
)

// errUnlike is a decoded message that is not as AWS's are.
var errUnlike = errors.New("the decoded message is not in a known format")

// Decoded reads what sts:DecodeAuthorizationMessage answers. It says nothing of the
// kind of the policy.
func Decoded(text string) (snapshot.Denial, error) {
	if len(text) > mostBytes {
		return snapshot.Denial{}, fmt.Errorf("%d bytes: %w", len(text), errUnlike)
	}
	var m decoded
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return snapshot.Denial{}, fmt.Errorf("%w: %w", errUnlike, err)
	}
	if m.Allowed || m.Context.Action == "" {
		return snapshot.Denial{}, errUnlike
	}
	d := snapshot.Denial{Who: who(m.Context.Principal.ARN), Action: action(m.Context.Action, m.Context.Resource), Resource: shown(m.Context.Resource), Explicit: m.ExplicitDeny}
	has := map[string][]string{}
	for _, c := range m.Context.Conditions.Items {
		has[strings.ToLower(c.Key)] = values(c.Values.Items)
	}
	for _, item := range m.MatchedStatements.Items {
		if !strings.EqualFold(item.Effect, "DENY") || len(d.Statements) == mostStatements {
			continue
		}
		s := snapshot.DeniedStatement{ID: shown(item.ID)}
		for _, c := range item.Conditions.Items[:min(len(item.Conditions.Items), mostConditions)] {
			s.Conditions = append(s.Conditions, snapshot.DeniedCondition{Key: shown(c.Key), Names: values(c.Values.Items), Has: has[strings.ToLower(c.Key)]})
		}
		d.Statements = append(d.Statements, s)
	}
	return d, nil
}

// action is the action with its service: EC2 writes its own without.
func action(name, resource string) string {
	if part := strings.Split(resource, ":"); !strings.Contains(name, ":") && len(part) > 2 {
		name = part[2] + ":" + name
	}
	return shown(name)
}

func values(items []struct {
	Value string `json:"value"`
}) []string {
	var list []string
	for _, v := range items[:min(len(items), mostValues)] {
		list = append(list, shown(v.Value))
	}
	return list
}

// Merge is what two tellings of one denial say together: the sentence has the kind of
// the policy, the decoded message its statements.
func Merge(told, decoded snapshot.Denial) snapshot.Denial {
	decoded.Kind, decoded.Policy = told.Kind, told.Policy
	decoded.Explicit = decoded.Explicit || told.Explicit
	if decoded.Who == "" {
		decoded.Who = told.Who
	}
	return decoded
}

// MissingTags are the tags that the request did not have and that a statement which
// denied it asks for.
func MissingTags(d snapshot.Denial) []string {
	var list []string
	for _, s := range d.Statements {
		for _, c := range s.Conditions {
			// Condition keys are written in any case, tags are not (IAM user guide,
			// "AWS global condition context keys", aws:RequestTag/tag-key).
			const prefix = "aws:requesttag/"
			if len(c.Has) == 0 && len(c.Key) > len(prefix) && strings.EqualFold(c.Key[:len(prefix)], prefix) {
				list = append(list, c.Key[len(prefix):])
			}
		}
	}
	return list
}

// mark stands before an encoded message (STS API reference, DecodeAuthorizationMessage).
const mark = "Encoded authorization failure message:"

// longest is the most that STS takes, in bytes (STS API, encodedMessageType).
const longest = 10240

// Encoded is the encoded message of a text; empty where it has none. Whole is false
// for one that was cut: STS cannot decode a part. CloudTrail keeps a
// kilobyte of an error message, Karpenter 300 characters in a condition.
func Encoded(text string) (message string, whole bool) {
	_, rest, found := strings.Cut(text, mark)
	if !found {
		return "", false
	}
	rest = strings.TrimLeft(rest, " \t\r\n")
	end := strings.IndexFunc(rest, func(r rune) bool { return !encodes(r) })
	if end < 0 {
		end = len(rest)
	}
	message, after := rest[:end], rest[end:]
	cut := strings.HasPrefix(after, "…") || strings.HasPrefix(after, "...")
	return message, message != "" && len(message) <= longest && !cut
}

// encodes tells a character of an encoded message, which is Base64 for URLs.
func encodes(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '='
}

// Why a message is not decoded.
const (
	NotGranted = "Rollcall lacks sts:DecodeAuthorizationMessage, which the setting decodeDenied=on grants"
	Cut        = "only a part of it was kept, which cannot be decoded"
	Others     = "others were decoded first"
)

// Undecodable is why STS did not decode a message.
func Undecodable(f snapshot.Failure) string {
	switch {
	case f.Code == "InvalidAuthorizationMessageException":
		return "STS rejects it: it has expired, belongs to another account, or is incomplete"
	case f.Reason == snapshot.Denied && f.Code == "":
		return NotGranted
	case f.Code == "":
		return fmt.Sprintf("%s: %s", f.Call, f.Reason)
	}
	return fmt.Sprintf("%s: %s, %s", f.Call, f.Reason, f.Code)
}
