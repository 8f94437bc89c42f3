package denial

import "strings"

// mark stands before an encoded message (STS API reference, DecodeAuthorizationMessage).
const mark = "Encoded authorization failure message:"

// longest is the most that STS takes, in bytes (STS API, encodedMessageType).
const longest = 10240

// Encoded is the encoded message of a text; empty where it has none. Whole is false
// for one that somebody has cut: STS cannot decode a part. CloudTrail keeps a
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
