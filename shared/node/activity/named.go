package activity

import (
	"strings"
	"unicode"
)

// Named are the resources that a text names; the first of each kind.
type Named struct {
	Instance      string
	Subnet        string
	AMI           string
	SecurityGroup string
	Template      string
	Key           string // ARN of a KMS key
	Role          string // ARN of a role
	Profile       string // name of an instance profile
	Type          string // of an instance: m5.large
	Zone          string
	Snapshot      string
	Limit         string // the number that a quota allows
}

// named finds the resources.
func named(text string) Named {
	text = strings.ToValidUTF8(bound(text), "")
	var n Named
	set := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return !(r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("-_.:/+=@", r))
	}) {
		word = strings.Trim(word, ".:-/=@+")
		switch {
		case resource(word, "i-"):
			set(&n.Instance, word)
		case resource(word, "subnet-"):
			set(&n.Subnet, word)
		case resource(word, "ami-"):
			set(&n.AMI, word)
		case resource(word, "sg-"):
			set(&n.SecurityGroup, word)
		case resource(word, "lt-"):
			set(&n.Template, word)
		case resource(word, "snap-"):
			set(&n.Snapshot, word)
		case strings.HasPrefix(word, "arn:") && strings.Contains(word, ":kms:"):
			set(&n.Key, word)
		case strings.HasPrefix(word, "arn:") && strings.Contains(word, ":role/"):
			set(&n.Role, word)
		case isType(word):
			set(&n.Type, word)
		case isZone(word):
			set(&n.Zone, word)
		}
	}
	n.Profile = between(text, "Value (", ") for parameter iamInstanceProfile")
	for _, before := range []string{"vCPU limit of ", "instance limit of "} {
		if n.Limit == "" {
			n.Limit = number(text, before)
		}
	}
	return n
}

// resource tells an id: a prefix and at least four hexadecimal digits. Ids
// with elided digits (subnet-xxxx) name nothing.
func resource(word, prefix string) bool {
	rest, ok := strings.CutPrefix(word, prefix)
	return ok && len(rest) >= 4 && strings.Trim(rest, "0123456789abcdef") == ""
}

// isType tells an instance type: family, dot, size.
func isType(word string) bool {
	family, size, ok := strings.Cut(word, ".")
	if !ok || family == "" || !('a' <= family[0] && family[0] <= 'z') || !strings.ContainsAny(family, "0123456789") && !strings.HasPrefix(family, "u-") {
		return false
	}
	if strings.Trim(family, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return false
	}
	size = strings.TrimLeft(size, "0123456789")
	switch size {
	case "nano", "micro", "small", "medium", "large", "xlarge", "metal":
		return true
	}
	return strings.HasPrefix(size, "metal-")
}

// isZone tells a zone: us-east-1a, us-gov-west-1b, us-west-2-lax-1a.
func isZone(word string) bool {
	parts := strings.Split(word, "-")
	if len(parts) < 3 || len(parts[0]) != 2 {
		return false
	}
	last := parts[len(parts)-1]
	if len(last) < 2 || last[len(last)-1] < 'a' || last[len(last)-1] > 'z' || strings.Trim(last[:len(last)-1], "0123456789") != "" {
		return false
	}
	return strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// between is what stands between two marks: one word of at most 128 bytes
// (the longest name of an instance profile).
func between(text, before, after string) string {
	end := strings.Index(text, after)
	if end < 0 {
		return ""
	}
	from := strings.LastIndex(text[:end], before)
	if from < 0 {
		return ""
	}
	word := text[from+len(before) : end]
	if len(word) > 128 || strings.ContainsFunc(word, unicode.IsSpace) {
		return ""
	}
	return word
}

func number(text, before string) string {
	_, rest, ok := strings.Cut(text, before)
	if !ok {
		return ""
	}
	digits := strings.TrimLeft(rest, "0123456789")
	return rest[:min(len(rest)-len(digits), 9)]
}
