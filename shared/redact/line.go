package redact

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
)

// Redactor replaces what may be a secret in lines by a mask. A value that it cannot
// classify is replaced: the line can be read on the instance.
type Redactor struct {
	mask string

	key        *regexp.Regexp // a private key in PEM
	userInfo   *regexp.Regexp // of a URL
	scheme     *regexp.Regexp // an HTTP scheme and its credentials
	known      *regexp.Regexp // tokens with a prefix of their own
	element    *regexp.Regexp // of XML
	assignment *regexp.Regexp // a name and the sign behind it
	flag       *regexp.Regexp // a flag and the text between it and its value
	pair       *regexp.Regexp // "name", "value": arguments of a call, attributes of XML
	set        *regexp.Regexp // aws configure set NAME VALUE
	login      *regexp.Regexp // "user:password" behind a flag
	phrase     *regexp.Regexp // "the password is …"
	commands   []command
	stdin      *regexp.Regexp // what a command that reads a password from standard input is given
	echo       *regexp.Regexp // echo user:password | chpasswd, echo password | passwd --stdin user
	encoded    *regexp.Regexp // text in base64
}

// command is a way to write a secret without a name of its own; a line needs one of the
// words, in lower case, before the expression is tried. Its second group is the secret.
type command struct {
	words []string
	form  *regexp.Regexp
}

// maxLine is as much of a line as is looked at: user data has 16 KiB, and what is longer is
// no text that a person wrote.
const maxLine = 64 << 10

const (
	// Masked replaces a secret in files.
	Masked = "MASKED"
	// Ellipsis replaces a secret in lines that are quoted.
	Ellipsis = "…"
)

// blank separates words, also across the end of a continued line, which Text replaces by
// a NUL.
const blank = "[ \\t\\x00]"

// New returns a redactor that replaces secrets by mask: Masked or Ellipsis.
func New(mask string) *Redactor {
	return &Redactor{
		mask:     mask,
		userInfo: regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#"'<>]+@`),
		// RFC 6750, RFC 7617, and the schemes of GitHub and others.
		scheme:  regexp.MustCompile(`(?i)\b(bearer|basic|negotiate|token|apikey)([ \t]+|%20|\+)([A-Za-z0-9._~+/=-]{6,})`),
		key:     regexp.MustCompile(`(-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----).*`),
		known:   regexp.MustCompile(strings.Join(knownForms(), "|")),
		element: regexp.MustCompile(`<([A-Za-z][\w:.-]*)>([^<]+)</`),
		// name="x", "name": "x", name: x, 'name' => 'x', \"name\":\"x\"
		assignment: regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_.-]*)(?:\\*["'])?` + blank + `*(=>|:=|=|:)` + blank + `*`),
		// --name x, "--name", "x"
		flag: regexp.MustCompile(`(?:^|[\s\x00"'\[])--?([A-Za-z][A-Za-z0-9_-]*)(?:\\*["'])?(?:` + blank + `*,` + blank + `*|` + blank + `+)`),
		// SetEnvironmentVariable("NAME", "x"), <add key="NAME" value="x"/>
		pair:   regexp.MustCompile(`["']([A-Za-z_][\w.-]*)["']\s*,?\s*(?:\bvalue\s*=\s*)?["']([^"']+)["']`),
		set:    regexp.MustCompile(`(\bsetx?\s+(?:--?[\w-]+\s+\S+\s+)*)([A-Za-z_][\w.-]*)\s+(["']?)([^\s"']+)`),
		login:  regexp.MustCompile(`((?:^|[\s\x00])(?:-u|-U|--user|--proxy-user|--creds)[ =\x00]+["']?[^\s:"'%]+[:%])([^\s"'\x00]+)`),
		phrase: regexp.MustCompile(`(?i)\b((?:pass(?:word|wd|phrase|code)?|pwd|secret|token|api[ _-]?key|pin)\s+(?:is|was|to)\s*:?\s+["']?)([^\s"']+)`),
		commands: []command{
			{[]string{" -p"}, regexp.MustCompile(`(\b(?:login|sshpass|mysql|mysqldump|mysqladmin|mongo|mongosh|useradd|usermod)\b.*?\s-p ?["']?)([^\s"'-][^\s"']*)`)},
			{[]string{" -a"}, regexp.MustCompile(`(\b(?:redis-cli|etcdctl)\b.*?\s-a ?["']?)([^\s"'-][^\s"']*)`)},
			{[]string{" -pw"}, regexp.MustCompile(`(\b(?:plink|pscp|psftp|mstsc)\b.*?\s-pw ["']?)([^\s"'-][^\s"']*)`)},
			{[]string{"net"}, regexp.MustCompile(`(?i)(\bnet1?(?:\.exe)?\s+user\s+(?:"[^"]*"|\S+)\s+["']?)([^\s"'/][^\s"']*)`)},
			{[]string{"/user:"}, regexp.MustCompile(`(?i)(\bnet1?(?:\.exe)?\s+use\s+.*?/user:\S+\s+["']?)([^\s"'/][^\s"']*)`)},
			{[]string{"/pass", "/p:", "/rp:"}, regexp.MustCompile(`(?i)(/(?:pass|password|p|rp):["']?)([^\s"']+)`)},
			{[]string{"securestring"}, regexp.MustCompile(`(?i)(ConvertTo-SecureString\s+(?:-String\s+)?["']?)([^\s"'$(-][^\s"']*)`)},
			{[]string{"pscredential"}, regexp.MustCompile(`(?i)(PSCredential\s*\(\s*[^,]+,\s*["'])([^"']+)`)},
			{[]string{"htpasswd"}, regexp.MustCompile(`(\bhtpasswd\s+-\S*b\S*\s+(?:\S+\s+)?\S+\s+["']?)([^\s"']+)`)},
			{[]string{"pass:"}, regexp.MustCompile(`(-(?:passin|passout|pass)\s+pass:)(\S+)`)},                                        // openssl
			{[]string{"machine", "login", "default"}, regexp.MustCompile(`(\b(?:machine|login|default)\s+\S+.*?\spassword\s+)(\S+)`)}, // .netrc
			// .pgpass: host:port:database:user:password
			{[]string{":"}, regexp.MustCompile(`(^\s*[\w.*-]+:(?:[0-9]{2,5}|\*):[\w*-]+:[\w*.-]+:)(\S+)$`)},
			// Webhooks: the path is the secret.
			{[]string{"https://", "http://"}, regexp.MustCompile(`((?:discord(?:app)?\.com/api/webhooks|webhook\.office\.com/webhookb2|\.logic\.azure\.com|chat\.googleapis\.com/v1/spaces|api\.telegram\.org/bot|events\.pagerduty\.com/integration|hooks\.zapier\.com/hooks)/?)([^\s"']+)`)},
		},
		stdin:   regexp.MustCompile(`\b(?:chpasswd|passwd|smbpasswd)\b|--password-stdin\b`),
		echo:    regexp.MustCompile(`(\b(?:echo|printf)\s+(?:-\S+\s+)*["']?(?:[\w.-]+:)?|<<<\s*["']?(?:[\w.-]+:)?)([^|"'\s]+)`),
		encoded: regexp.MustCompile(`[A-Za-z0-9+/]{16,}={0,2}`),
	}
}

// knownForms are tokens to which services give a prefix so that they can be found:
// GitHub's and GitLab's token overviews, Slack's "Token types", the IAM user guide's
// "Unique identifiers", RFC 7519, crypt(5), and the rules of github.com/gitleaks/gitleaks
// for the others.
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
		`\$(?:1|2[abxy]|5|6|7|y|gy|argon2(?:id|i|d))\$[^\s'":,]{8,}`, // crypt(5)
		`\b[0-9a-f]{36}NRAL\b`, `\bdapi[0-9a-f]{32}\b`, `\b[A-Za-z0-9]{14}\.atlasv1\.[\w-]{20,}`, `\bkey-[0-9a-f]{32}\b`,
		`\bSK[0-9a-f]{32}\b`, `\b[\w.~-]{3}8Q~[\w.~-]{20,}`, `\bsntrys_[\w=+/-]{16,}`, `\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{16,}`,
		`\blin_api_\w{16,}`, `\bATATT3[\w=-]{16,}`, `\bATCTT3[\w=-]{16,}`, `\bPMAK-[0-9a-f-]{16,}`, `\bwhsec_[\w+/=]{16,}`, `\bAKC[a-zA-Z0-9]{30,}`,
	}
}

// knownMarks are parts of the known forms: a line without any holds none of them.
func knownMarks() []string {
	return []string{
		"AKIA", "ASIA", "ABIA", "ACCA", "IQoJ", "FwoG", "FQoG", "k8s-aws", "eyJ", "gh", "github_pat", "gl", "xox", "xapp-", "hooks.slack", "k_live", "k_test", "sk-", "AIza", "ya29", "GOCSPX",
		"npm_", "pypi-", "dckr_", "hf_", "hv", "do", "tskey", "SG.", "NRAK", "dt0c01", "AGE-", "$", "NRAL", "dapi", "atlasv1", "key-", "SK", "8Q~", "sntrys", "shp", "lin_api",
		"ATATT", "ATCTT", "PMAK", "whsec", "AKC",
	}
}

// Redact replaces what may be a secret in lines that were pasted.
func Redact(lines []string) string {
	r := New(Ellipsis)
	kept := make([]string, len(lines))
	for i, line := range lines {
		kept[i] = r.Line(line)
	}
	return strings.Join(kept, "\n")
}

// Line returns a line of a log without secrets and without its stack trace.
func (r *Redactor) Line(line string) string {
	if i := strings.Index(line, `,"stacktrace"`); i > 0 {
		line = line[:i]
	}
	return strings.TrimSpace(r.line(line, true))
}

// line returns a line in its form without secrets: credentials by their form, and the
// values of names that are those of secrets. In prose (logs, messages, what was pasted)
// a name may be followed by a sentence about it; in a script or a file of settings it is
// followed by its value.
func (r *Redactor) line(line string, prose bool) string {
	if len(line) > maxLine {
		line = line[:maxLine] + r.mask // it is not read on
	}
	low := strings.ToLower(line)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(low, p) })
	}
	// Most of what is looked at holds nothing: expressions are asked only about lines
	// with the words that they need.
	if has("-----begin") {
		line = r.key.ReplaceAllString(line, "${1}"+r.mask)
	}
	if has("://") && has("@") {
		line = r.userInfo.ReplaceAllString(line, "${1}"+r.mask+"@")
	}
	if has("bearer", "basic", "negotiate", "token", "apikey") {
		line = r.schemes(line)
	}
	if slices.ContainsFunc(knownMarks(), func(p string) bool { return strings.Contains(line, p) }) {
		line = r.known.ReplaceAllString(line, r.mask)
	}
	if has("-u", "--creds", "--proxy-user", "-creds") {
		line = r.login.ReplaceAllStringFunc(line, func(s string) string {
			m := r.login.FindStringSubmatch(s)
			if strings.Trim(m[2], "0123456789") == "" {
				return s // ids of a user and a group
			}
			return m[1] + r.mask
		})
	}
	for _, c := range r.commands {
		if has(c.words...) {
			line = r.second(line, c.form)
		}
	}
	if has(secretWords()...) {
		line = r.secrets(line, low, prose)
	}
	if len(line) < minSecret {
		return line
	}
	words := strings.SplitAfter(line, " ")
	for i, word := range words {
		words[i] = r.masked(word)
	}
	return strings.Join(words, "")
}

// secrets masks the values of names that are those of secrets.
func (r *Redactor) secrets(line, low string, prose bool) string {
	if strings.Contains(line, "</") {
		line = r.element.ReplaceAllStringFunc(line, func(s string) string {
			name, value, _ := strings.Cut(s[1:], ">")
			if !isSecret(name) || strings.HasPrefix(value, r.mask) {
				return s
			}
			return "<" + name + ">" + r.mask + "</"
		})
	}
	if strings.Contains(low, " is ") || strings.Contains(low, " was ") || strings.Contains(low, " to ") {
		line = r.second(line, r.phrase)
	}
	if strings.ContainsAny(line, `"'`) {
		line = r.pair.ReplaceAllStringFunc(line, func(s string) string {
			m := r.pair.FindStringSubmatchIndex(s)
			name, value := s[m[2]:m[3]], s[m[4]:m[5]]
			if !isSecret(name) || isPublic(value, name, "", false, prose) {
				return s
			}
			return s[:m[4]] + r.mask + s[m[5]:]
		})
	}
	if strings.Contains(line, "set") {
		line = r.set.ReplaceAllStringFunc(line, func(s string) string {
			m := r.set.FindStringSubmatch(s)
			if !isSecret(m[2]) || prose && isPublic(m[4], m[2], " ", true, prose) {
				return s
			}
			return s[:len(s)-len(m[4])] + r.mask
		})
	}
	line = r.named(line, r.assignment, false, prose)
	line = r.named(line, r.flag, true, prose)
	if !prose && r.stdin.MatchString(line) {
		line = r.second(line, r.echo)
	}
	return line
}

// second masks the second group of an expression.
func (r *Redactor) second(line string, form *regexp.Regexp) string {
	return form.ReplaceAllStringFunc(line, func(s string) string {
		m := form.FindStringSubmatchIndex(s)
		if value := s[m[4]:m[5]]; strings.HasPrefix(value, r.mask) || strings.HasPrefix(value, "$") && form != r.phrase || form == r.phrase && isAbout(value) {
			return s
		}
		return s[:m[4]] + r.mask + s[m[5]:]
	})
}

// isAbout reports whether a word goes on with a sentence about a secret: "the token is
// expired".
func isAbout(word string) bool {
	word = strings.ToLower(strings.Trim(word, ".,;:!)"))
	if strings.ContainsAny(word, "0123456789!@#$%^&*") || strings.Contains(word, Ellipsis) {
		return strings.Contains(word, Ellipsis)
	}
	return len(word) < 4 || slices.Contains([]string{
		"expired", "invalid", "incorrect", "wrong", "missing", "required", "empty", "unset", "needed", "allowed", "denied", "unknown", "valid", "correct",
		"read", "used", "sent", "made", "kept", "stored", "mounted", "taken", "given", "passed", "rotated", "generated", "created", "deleted", "refreshed",
		"authenticate", "access", "join", "call", "pull", "reach", "login", "sign", "encrypt", "decrypt", "only", "longer", "missing", "that", "this", "from", "there", "included",
	}, word)
}

// schemes masks credentials behind the name of an HTTP scheme. "Basic" and
// "token" are words too: what follows counts by its form.
func (r *Redactor) schemes(line string) string {
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
			b.WriteString(line[from:m[6]] + r.mask)
			from = m[7]
		}
	}
	return b.String() + line[from:]
}

// named masks the values behind names that are those of secrets.
func (r *Redactor) named(line string, form *regexp.Regexp, flag, prose bool) string {
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
			if !prose && !flag && !inQuery && isSetting(line[:m[2]], line[m[3]:end], line[end:]) {
				start, length = 0, len(strings.TrimRight(line[end:], ", \t"))
			}
		}
		start += end
		if length == 0 || isPublic(line[start:start+length], name, line[m[3]:end], flag, prose) {
			if flag {
				end = m[3] // the next may be a flag too
			}
			b.WriteString(line[from:end])
			from = end
			continue
		}
		b.WriteString(line[from:start] + r.mask)
		from = start + length
	}
}

// isSetting reports whether a line is one setting of a file, such as YAML or INI, whose
// value is the rest of the line.
func isSetting(before, sign, value string) bool {
	before = strings.Trim(before, " \t-\"'")
	return before == "" && strings.ContainsAny(sign, " \t") && value != "" && !strings.ContainsAny(value[:1], `"'{[|>&*$\\`)
}

// isPartOf reports whether a name is the end of something longer: of an ARN, of a path, of
// an image's name.
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
	stop := " \t\x00\""
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

// certificate begins a certificate in PEM, in base64 once more: what user data gives of
// the cluster's authority, which is public.
const certificate = "LS0tLS1CRUdJTiBDRVJU"

// isReadable reports whether a long run is a certificate or text in base64, from which
// secrets were taken already.
func isReadable(run string) bool {
	if strings.Contains(run, certificate) {
		return true
	}
	plain, _, ok := Script(run)
	return ok && isText(plain)
}

// masked replaces runs that look like keys or tokens.
func (r *Redactor) masked(word string) string {
	if strings.Contains(word, "arn:aws") {
		return word // the name of a managed policy is as long
	}
	var b strings.Builder
	start, upper, lower, digit := 0, false, false, false
	flush := func(end int) {
		if end-start >= minSecret && upper && lower && digit && !isReadable(word[start:end]) {
			b.WriteString(r.mask)
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
