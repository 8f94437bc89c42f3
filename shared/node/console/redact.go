package console

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// redactor takes out of lines what may be a secret. What it takes out becomes
// mask. Where it cannot tell it takes out: a line can be read on the instance.
type redactor struct {
	userInfo   *regexp.Regexp // of a URL
	scheme     *regexp.Regexp // an HTTP scheme and its credentials
	key        *regexp.Regexp // a private key in PEM
	known      *regexp.Regexp // tokens that tell by their form what they are
	element    *regexp.Regexp // of XML
	assignment *regexp.Regexp // a name and the sign behind it
	flag       *regexp.Regexp // a flag and what is between it and its value
	login      *regexp.Regexp // "user:password" behind a flag
	short      *regexp.Regexp // -p of the commands that take a password so
}

const mask = "…"

func newRedactor() *redactor {
	return &redactor{
		userInfo: regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#"'<>]+@`),
		// RFC 6750, RFC 7617, and what GitHub and others take beside them.
		scheme:  regexp.MustCompile(`(?i)\b(bearer|basic|negotiate|token|apikey)([ \t]+|%20|\+)([A-Za-z0-9._~+/=-]{6,})`),
		key:     regexp.MustCompile(`(-----BEGIN [A-Z ]*PRIVATE KEY-----).*`),
		known:   regexp.MustCompile(strings.Join(knownForms(), "|")),
		element: regexp.MustCompile(`<([A-Za-z][\w:.-]*)>([^<]+)</`),
		// name="x", "name": "x", name: x, 'name' => 'x', \"name\":\"x\"
		assignment: regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_.-]*)(?:\\*["'])?[ \t]*(=>|:=|=|:)[ \t]*`),
		// --name x, "--name", "x"
		flag:  regexp.MustCompile(`(?:^|[\s"'\[])--?([A-Za-z][A-Za-z0-9_-]*)(?:\\*["'])?(?:[ \t]*,[ \t]*|[ \t]+)`),
		login: regexp.MustCompile(`((?:^|\s)(?:-u|-U|--user|--proxy-user|--creds)[ =]+["']?[^\s:"']+:)([^\s"']+)`),
		short: regexp.MustCompile(`(\b(?:login|sshpass|mysql|mysqldump|mysqladmin)\b.*?\s-p ?["']?)([^\s"'-][^\s"']*)`),
	}
}

// knownForms are tokens that services make with a prefix so that they are
// found: GitHub's and GitLab's token overviews, Slack's "Token types", the IAM
// user guide's "Unique identifiers", RFC 7519, and the rules of
// github.com/gitleaks/gitleaks for the others.
func knownForms() []string {
	return []string{
		`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}\b`,               // AWS access keys
		`\b(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)[\w+/=%-]+`, // AWS session tokens
		`\bk8s-aws-v1\.[\w-]+`,                                   // EKS
		`\beyJ[\w-]{8,}(?:[.+/=][\w+/=-]*)*`,                     // JSON in base64: JWT, ECR
		`\bgh[pousr]_[A-Za-z0-9]{16,}`, `\bgithub_pat_\w{16,}`,   // GitHub
		`\bgl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas)-[\w.-]{16,}`,
		`\bxox[a-z](?:\.xox[a-z])?-[\w-]{8,}`, `\bxapp-[\w-]{8,}`, // Slack
		`hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]+`,
		`\b[rs]k_(?:live|test)_\w{8,}`, `\bsk-[\w-]{20,}`, // Stripe; OpenAI, Anthropic
		`\bAIza[\w-]{30,}`, `\bya29\.[\w-]{16,}`, `\bGOCSPX-[\w-]{16,}`,
		`\bnpm_[A-Za-z0-9]{30,}`, `\bpypi-[\w-]{16,}`, `\bdckr_(?:pat|oat)_[\w-]{16,}`, `\bhf_[A-Za-z0-9]{20,}`,
		`\bhv[sbr]\.[\w-]{16,}`, `\bglsa_\w{16,}`, `\bdo[opr]_v1_[0-9a-f]{16,}`, `\btskey-[\w-]{8,}`,
		`\bSG\.[\w-]{16,}\.[\w-]{16,}`, `\bNRAK-[A-Z0-9]{16,}`, `\bdt0c01\.\w+\.\w+`, `\bAGE-SECRET-KEY-1[A-Z0-9]+`,
	}
}

// Redact takes what may be a secret out of lines that somebody pasted.
func Redact(text string) string {
	r := newRedactor()
	kept := lines(text)
	for i, line := range kept {
		kept[i] = r.redact(line)
	}
	return strings.Join(kept, "\n")
}

// redact takes what may be a secret out of a line: credentials by their form,
// and the values of what is named like one.
func (r *redactor) redact(line string) string {
	if i := strings.Index(line, `,"stacktrace"`); i > 0 {
		line = line[:i]
	}
	line = r.key.ReplaceAllString(line, "${1}"+mask)
	line = r.userInfo.ReplaceAllString(line, "${1}"+mask+"@")
	line = r.schemes(line)
	line = r.known.ReplaceAllString(line, mask)
	line = r.element.ReplaceAllStringFunc(line, func(s string) string {
		name, _, _ := strings.Cut(s[1:], ">")
		if !isSecret(name) {
			return s
		}
		return "<" + name + ">" + mask + "</"
	})
	line = r.login.ReplaceAllStringFunc(line, func(s string) string {
		at := strings.LastIndex(s, ":")
		if strings.Trim(s[at+1:], "0123456789") == "" {
			return s // ids of a user and a group
		}
		return r.login.ReplaceAllString(s, "${1}"+mask)
	})
	line = r.short.ReplaceAllString(line, "${1}"+mask)
	line = r.named(line, r.assignment, false)
	line = r.named(line, r.flag, true)
	words := strings.SplitAfter(line, " ")
	for i, word := range words {
		words[i] = masked(word)
	}
	return strings.TrimSpace(strings.Join(words, ""))
}

// schemes masks credentials behind the name of an HTTP scheme. "Basic" and
// "token" are words too: what follows counts by its form.
func (r *redactor) schemes(line string) string {
	var b strings.Builder
	from := 0
	for _, m := range r.scheme.FindAllStringSubmatchIndex(line, -1) {
		scheme, value := strings.ToLower(line[m[2]:m[3]]), line[m[6]:m[7]]
		known := strings.ContainsAny(value, "0123456789")
		if scheme == "basic" {
			plain, err := base64.StdEncoding.DecodeString(value)
			known = err == nil && strings.Contains(string(plain), ":")
		}
		// Authorization: Token abcdef
		before := strings.TrimRight(strings.ToLower(line[:m[2]]), ` "'\:=`)
		if known || strings.HasSuffix(before, "authorization") {
			b.WriteString(line[from:m[6]] + mask)
			from = m[7]
		}
	}
	return b.String() + line[from:]
}

// named masks the values behind names that are those of secrets.
func (r *redactor) named(line string, form *regexp.Regexp, flag bool) string {
	var b strings.Builder
	for from := 0; ; {
		m := form.FindStringSubmatchIndex(line[from:])
		if m == nil {
			return b.String() + line[from:]
		}
		for i := range m {
			m[i] += from
		}
		name, end := line[m[2]:m[3]], m[1]
		sign := " "
		if !flag {
			sign = line[m[4]:m[5]]
		}
		start, length := 0, 0
		if isSecret(name) && !isPartOf(line[:m[2]], sign) {
			inQuery := m[2] > 0 && (line[m[2]-1] == '?' || line[m[2]-1] == '&')
			start, length = value(line[end:], inQuery)
		}
		start += end
		if length == 0 || isPublic(line[start:start+length], name, line[m[3]:end], flag) {
			if flag {
				end = m[3] // the next may be a flag too
			}
			b.WriteString(line[from:end])
			from = end
			continue
		}
		b.WriteString(line[from:start] + mask)
		from = start + length
	}
}

// isPartOf tells that what looks like a name is the end of something longer:
// of an ARN, of a path, of an image's name.
func isPartOf(before, sign string) bool {
	return sign == ":" && (strings.HasSuffix(before, ":") || strings.HasSuffix(before, "/"))
}

// value is where a value begins and how long it is: in quotes up to where they
// close, else up to the next blank. None is there where a list or an object
// begins, whose names stand in it.
func value(text string, inQuery bool) (start, length int) {
	if text == "" || strings.ContainsAny(text[:1], "{[") {
		return 0, 0
	}
	slashes := len(text) - len(strings.TrimLeft(text, `\`))
	if slashes < len(text) && (text[slashes] == '"' || text[slashes] == '\'') {
		open := text[:slashes+1]
		for at := len(open); ; {
			i := strings.Index(text[at:], open)
			if i < 0 {
				return len(open), len(text) - len(open) // the line was cut
			}
			at += i
			if slashes > 0 || open == "'" || text[at-1] != '\\' {
				return len(open), at - len(open)
			}
			at += len(open)
		}
	}
	stop := " \t\""
	if inQuery {
		stop += "&#"
	}
	end := strings.IndexAny(text, stop)
	if end < 0 {
		end = len(text)
	}
	return 0, len(strings.TrimRight(text[:end], `,;)}]>'\`))
}

// minSecret is the length from which letters of both cases and digits without
// a break are taken for a secret: an AWS secret key has 40.
const minSecret = 40

// masked replaces runs that look like keys or tokens.
func masked(word string) string {
	var b strings.Builder
	start, upper, lower, digit := 0, false, false, false
	flush := func(end int) {
		if end-start >= minSecret && upper && lower && digit {
			b.WriteString("…")
		} else {
			b.WriteString(word[start:end])
		}
	}
	for i := 0; i <= len(word); i++ {
		if i < len(word) {
			switch c := word[i]; {
			case c >= 'A' && c <= 'Z':
				upper = true
				continue
			case c >= 'a' && c <= 'z':
				lower = true
				continue
			case c >= '0' && c <= '9':
				digit = true
				continue
			case c == '+' || c == '/' || c == '=' || c == '_':
				continue
			}
		}
		flush(i)
		if i < len(word) {
			b.WriteByte(word[i])
		}
		start, upper, lower, digit = i+1, false, false, false
	}
	return b.String()
}
