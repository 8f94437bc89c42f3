// Package redact removes secrets from what is kept, sent or quoted of an account: user
// data, consoles, variables, arguments, tags and messages. Names and ids stay.
package redact

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"rollcall/shared/lazyregexp"
)

// Applied is the annotation in which kubectl keeps all of an object once more, as text.
const Applied = "kubectl.kubernetes.io/last-applied-configuration"

// userData is the field with a script in base64, alone or in an object of its own.
const userData = "UserData"

// output is the field with what a console printed.
const output = "Output"

var (
	pem = lazyregexp.New(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)`)
	// block is a setting of YAML whose value is the indented lines after it.
	block = lazyregexp.New(`^\s*(?:- )?["']?([\w.-]+)["']?:\s*[|>][+-]?[0-9]?\s*$`)
	// variable is the name of a variable of a container, in a manifest.
	variable = lazyregexp.New(`^\s*(?:- )?name:\s*["']?([\w.-]+)["']?\s*$`)
	assigned = lazyregexp.New(`^(\s*(?:- )?value:\s*)\S.*$`)
	heredoc  = lazyregexp.New(`\bchpasswd\b.*<<-?\s*["']?(\w+)`)
	account  = lazyregexp.New(`^(\s*(?:- )?["']?[\w.-]+:)([^\s"']+)(["']?\s*)$`)
)

// minEncoded is the length from which a run is looked at as base64.
const minEncoded = 16

// deepest bounds how often text is in base64 in text.
const deepest = 4

// text returns a text without secrets, line by line. In prose, such as a console, a
// sentence about a token stays: it is why nodes fail.
func (r *Redactor) text(text string, prose bool) string { return r.nested(text, prose, deepest) }

func (r *Redactor) nested(text string, prose bool, depth int) string {
	if text == "" || depth == 0 {
		return text
	}
	if strings.Contains(text, "-----BEGIN") {
		text = pem.ReplaceAllStringFunc(text, func(s string) string {
			return "MASKED PRIVATE KEY" + strings.Repeat("\n", strings.Count(s, "\n"))
		})
	}
	lines := strings.Split(text, "\n")
	if len(lines) > 1 {
		lines = r.following(lines)
	}
	public := false // a certificate is
	for from := 0; from < len(lines); {
		if strings.Contains(lines[from], "-----BEGIN CERTIFICATE-----") {
			public = true
		}
		if public {
			public = !strings.Contains(lines[from], "-----END CERTIFICATE-----")
			from++
			continue
		}
		if to := blockEnd(lines, from); to-from > 1 {
			if redacted, ok := r.block(lines[from:to], prose, depth); ok {
				lines = slices.Replace(lines, from, to, redacted...)
				from += len(redacted)
				continue
			}
		}
		// A command goes on behind a backslash: its words are one line.
		to := from + 1
		for to < len(lines) && strings.HasSuffix(strings.TrimRight(lines[to-1], " \t\r"), `\`) {
			to++
		}
		for i := from; i < to-1; i++ {
			lines[i] = strings.TrimSuffix(strings.TrimRight(lines[i], " \t\r"), `\`)
		}
		joined := strings.Join(lines[from:to], "\x00")
		if len(joined) >= minEncoded {
			joined = r.encoded.ReplaceAllStringFunc(joined, func(s string) string {
				redacted, _ := r.decoded(s, prose, depth)
				return redacted
			})
		}
		parts := strings.Split(r.line(joined, prose), "\x00")
		for i, p := range parts[:len(parts)-1] {
			parts[i] = p + `\`
		}
		lines = slices.Replace(lines, from, to, parts...)
		from += len(parts)
	}
	return strings.Join(lines, "\n")
}

// following masks values that are on lines after their names.
func (r *Redactor) following(lines []string) []string {
	end, indent, accounts, named := "", -1, -1, false
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		depth := len(line) - len(strings.TrimLeft(line, " \t"))
		if accounts >= 0 && trimmed != "" && depth <= accounts {
			accounts = -1
		}
		switch {
		case end != "" && trimmed == end:
			end = ""
		case end != "" || accounts >= 0:
			if m := account.FindAllStringSubmatch(line, 1); m != nil && strings.Trim(m[0][2], "0123456789") != "" {
				lines[i] = m[0][1] + r.mask + m[0][3]
			}
		case indent >= 0 && (depth > indent || trimmed == ""):
			if trimmed != "" {
				lines[i] = line[:depth] + r.mask
			}
			continue
		case named && assigned.MatchString(line):
			lines[i] = assigned.ReplaceAllString(line, "${1}"+r.mask)
		}
		indent, named = -1, false
		if trimmed == "chpasswd:" { // of cloud-config
			accounts = depth
		}
		if m := heredoc.FindAllStringSubmatch(line, 1); m != nil {
			end = m[0][1]
		}
		if m := variable.FindAllStringSubmatch(line, 1); m != nil {
			named = isSecret(m[0][1])
		}
		if m := block.FindAllStringSubmatch(line, 1); m != nil && isSecret(m[0][1]) {
			indent = depth
		}
	}
	return lines
}

// blockEnd is the line after those of base64 that belong together from a line on, such as
// the body of a part of MIME.
func blockEnd(lines []string, from int) int {
	to := from
	for to < len(lines) && isBase64(strings.TrimSpace(lines[to])) {
		to++
		if strings.HasSuffix(strings.TrimSpace(lines[to-1]), "=") {
			break
		}
	}
	return to
}

func isBase64(line string) bool {
	return len(line) >= 4 && strings.Trim(strings.TrimRight(line, "="), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") == ""
}

// block redacts the text that lines of base64 are together.
func (r *Redactor) block(lines []string, prose bool, depth int) (redacted []string, ok bool) {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimSpace(line))
	}
	was := b.String()
	now, ok := r.decoded(was, prose, depth)
	if !ok || now == was {
		return lines, ok
	}
	for width := len(strings.TrimSpace(lines[0])); now != ""; {
		n := min(width, len(now))
		redacted, now = append(redacted, now[:n]), now[n:]
	}
	return redacted, true
}

// decoded redacts text in base64, which may be packed by gzip, and encodes it again. ok
// reports whether it is text of several words.
func (r *Redactor) decoded(encoded string, prose bool, depth int) (redacted string, ok bool) {
	plain, pack, ok := Script(encoded)
	if !ok || !isText(plain) {
		return encoded, false
	}
	if now := r.nested(plain, prose, depth-1); now != plain {
		return pack(now), true
	}
	return encoded, true
}

// isText reports whether bytes that were in base64 are text of several words.
func isText(s string) bool {
	return strings.ContainsAny(s, " \n") && utf8.ValidString(s) && !strings.ContainsFunc(s, func(c rune) bool { return unicode.IsControl(c) && !unicode.IsSpace(c) })
}

// maxScript bounds what a packed script may be unpacked: EC2 takes 16 KiB packed.
const maxScript = 16 << 20

// Script returns the text of user data, which is in base64 and may be packed by gzip, and
// the function that makes user data of a text.
func Script(text string) (plain string, pack func(string) string, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", nil, false
	}
	if !bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		return string(raw), func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }, true
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return "", nil, false
	}
	unpacked, err := io.ReadAll(io.LimitReader(z, maxScript))
	if err != nil {
		// What cannot be read cannot be masked.
		return "", func(string) string { return "" }, true
	}
	return string(unpacked), func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		// Writing to a bytes.Buffer does not fail.
		_, _ = io.WriteString(w, text)
		_ = w.Close()
		return base64.StdEncoding.EncodeToString(b.Bytes())
	}, true
}

// JSON returns a text of JSON without secrets; a text that is none is redacted as one.
func (r *Redactor) JSON(text string) string { return r.json("", text) }

func (r *Redactor) json(field, text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return r.text(text, true)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(r.Tree(field, v)) != nil {
		return r.mask
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Tree returns a value of JSON, as json.Unmarshal makes it, without secrets. field is the
// name of the field that holds it, as EC2 and Kubernetes have them.
func (r *Redactor) Tree(field string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		secret := false
		for _, key := range []string{"name", "Name", "key", "Key"} { // of a variable, a tag, a parameter
			name, _ := v[key].(string)
			secret = secret || isSecret(name)
		}
		out := map[string]any{}
		for key, item := range v {
			text, is := item.(string)
			inside := key
			if field == userData {
				inside = userData
			}
			switch {
			case is && key == Applied,
				is && secret && (key == "value" || key == "Value") && !isPublic(text, "password", "", false, false),
				is && isSecret(key) && !isAPI(key) && !isPublic(text, "password", "", false, false):
				out[key] = r.mask
			default:
				out[key] = r.Tree(inside, item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = r.Tree(field, item)
			if i > 0 {
				out[i] = r.argument(v[i-1], out[i])
			}
		}
		return out
	case string:
		return r.Value(field, v)
	}
	return v
}

// isAPI reports whether a field with the name of a secret is one of an API that holds none.
func isAPI(field string) bool {
	switch field {
	case "ClientToken", "clientToken", "NextToken", "nextToken", "clientRequestToken", "authentication":
		return true
	}
	return false
}

// argument masks an argument that belongs to a flag before it.
func (r *Redactor) argument(flag, argument any) any {
	name, isFlag := flag.(string)
	text, isText := argument.(string)
	if !isFlag || !isText || !strings.HasPrefix(name, "-") || strings.ContainsAny(name, "= ") {
		return argument
	}
	return strings.TrimPrefix(r.line(name+" "+text, false), name+" ")
}

// Value is Tree for a text.
func (r *Redactor) Value(field, text string) string {
	switch {
	case text == "":
		return text
	case field == userData:
		if plain, pack, ok := Script(text); ok {
			return pack(r.text(plain, false))
		}
		return r.text(text, false)
	case field == Applied:
		return r.mask
	case field == output:
		return r.text(text, true)
	case strings.HasPrefix(text, "{"), strings.HasPrefix(text, "["):
		if json.Valid([]byte(text)) {
			return r.json(field, text)
		}
	}
	// A text of several lines is a manifest, a script or settings; one line of an API is a
	// value or a sentence.
	return r.text(text, !strings.Contains(text, "\n"))
}

// Redactor replaces what may be a secret in lines by a mask. A value that it cannot
// classify is replaced: the line can be read on the instance.
type Redactor struct {
	mask string

	key        *lazyregexp.Regexp // a private key in PEM
	userInfo   *lazyregexp.Regexp // of a URL
	scheme     *lazyregexp.Regexp // an HTTP scheme and its credentials
	known      *lazyregexp.Regexp // tokens with a prefix of their own
	element    *lazyregexp.Regexp // of XML
	assignment *lazyregexp.Regexp // a name and the sign behind it
	flag       *lazyregexp.Regexp // a flag and the text between it and its value
	pair       *lazyregexp.Regexp // "name", "value": arguments of a call, attributes of XML
	set        *lazyregexp.Regexp // aws configure set NAME VALUE
	login      *lazyregexp.Regexp // "user:password" behind a flag
	phrase     *lazyregexp.Regexp // "the password is …"
	commands   []command
	stdin      *lazyregexp.Regexp // what a command that reads a password from standard input is given
	echo       *lazyregexp.Regexp // echo user:password | chpasswd, echo password | passwd --stdin user
	encoded    *lazyregexp.Regexp // text in base64
}

// command is a way to write a secret without a name of its own; a line needs one of the
// words, in lower case, before the expression is tried. Its second group is the secret.
type command struct {
	words []string
	form  *lazyregexp.Regexp
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
		userInfo: lazyregexp.New(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#"'<>]+@`),
		// RFC 6750, RFC 7617, and the schemes of GitHub and others.
		scheme:  lazyregexp.New(`(?i)\b(bearer|basic|negotiate|token|apikey)([ \t]+|%20|\+)([A-Za-z0-9._~+/=-]{6,})`),
		key:     lazyregexp.New(`(-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----).*`),
		known:   lazyregexp.New(strings.Join(knownForms(), "|")),
		element: lazyregexp.New(`<([A-Za-z][\w:.-]*)>([^<]+)</`),
		// name="x", "name": "x", name: x, 'name' => 'x', \"name\":\"x\"
		assignment: lazyregexp.New(`([A-Za-z_][A-Za-z0-9_.-]*)(?:\\*["'])?` + blank + `*(=>|:=|=|:)` + blank + `*`),
		// --name x, "--name", "x"
		flag: lazyregexp.New(`(?:^|[\s\x00"'\[])--?([A-Za-z][A-Za-z0-9_-]*)(?:\\*["'])?(?:` + blank + `*,` + blank + `*|` + blank + `+)`),
		// SetEnvironmentVariable("NAME", "x"), <add key="NAME" value="x"/>
		pair:   lazyregexp.New(`["']([A-Za-z_][\w.-]*)["']\s*,?\s*(?:\bvalue\s*=\s*)?["']([^"']+)["']`),
		set:    lazyregexp.New(`(\bsetx?\s+(?:--?[\w-]+\s+\S+\s+)*)([A-Za-z_][\w.-]*)\s+(["']?)([^\s"']+)`),
		login:  lazyregexp.New(`((?:^|[\s\x00])(?:-u|-U|--user|--proxy-user|--creds)[ =\x00]+["']?[^\s:"'%]+[:%])([^\s"'\x00]+)`),
		phrase: lazyregexp.New(`(?i)\b((?:pass(?:word|wd|phrase|code)?|pwd|secret|token|api[ _-]?key|pin)\s+(?:is|was|to)\s*:?\s+["']?)([^\s"']+)`),
		commands: []command{
			{[]string{" -p"}, lazyregexp.New(`(\b(?:login|sshpass|mysql|mysqldump|mysqladmin|mongo|mongosh|useradd|usermod)\b.*?\s-p ?["']?)([^\s"'-][^\s"']*)`)},
			{[]string{" -a"}, lazyregexp.New(`(\b(?:redis-cli|etcdctl)\b.*?\s-a ?["']?)([^\s"'-][^\s"']*)`)},
			{[]string{" -pw"}, lazyregexp.New(`(\b(?:plink|pscp|psftp|mstsc)\b.*?\s-pw ["']?)([^\s"'-][^\s"']*)`)},
			{[]string{"net"}, lazyregexp.New(`(?i)(\bnet1?(?:\.exe)?\s+user\s+(?:"[^"]*"|\S+)\s+["']?)([^\s"'/][^\s"']*)`)},
			{[]string{"/user:"}, lazyregexp.New(`(?i)(\bnet1?(?:\.exe)?\s+use\s+.*?/user:\S+\s+["']?)([^\s"'/][^\s"']*)`)},
			{[]string{"/pass", "/p:", "/rp:"}, lazyregexp.New(`(?i)(/(?:pass|password|p|rp):["']?)([^\s"']+)`)},
			{[]string{"securestring"}, lazyregexp.New(`(?i)(ConvertTo-SecureString\s+(?:-String\s+)?["']?)([^\s"'$(-][^\s"']*)`)},
			{[]string{"pscredential"}, lazyregexp.New(`(?i)(PSCredential\s*\(\s*[^,]+,\s*["'])([^"']+)`)},
			{[]string{"htpasswd"}, lazyregexp.New(`(\bhtpasswd\s+-\S*b\S*\s+(?:\S+\s+)?\S+\s+["']?)([^\s"']+)`)},
			{[]string{"pass:"}, lazyregexp.New(`(-(?:passin|passout|pass)\s+pass:)(\S+)`)},                                        // openssl
			{[]string{"machine", "login", "default"}, lazyregexp.New(`(\b(?:machine|login|default)\s+\S+.*?\spassword\s+)(\S+)`)}, // .netrc
			// .pgpass: host:port:database:user:password
			{[]string{":"}, lazyregexp.New(`(^\s*[\w.*-]+:(?:[0-9]{2,5}|\*):[\w*-]+:[\w*.-]+:)(\S+)$`)},
			// Webhooks: the path is the secret.
			{[]string{"https://", "http://"}, lazyregexp.New(`((?:discord(?:app)?\.com/api/webhooks|webhook\.office\.com/webhookb2|\.logic\.azure\.com|chat\.googleapis\.com/v1/spaces|api\.telegram\.org/bot|events\.pagerduty\.com/integration|hooks\.zapier\.com/hooks)/?)([^\s"']+)`)},
		},
		stdin:   lazyregexp.New(`\b(?:chpasswd|passwd|smbpasswd)\b|--password-stdin\b`),
		echo:    lazyregexp.New(`(\b(?:echo|printf)\s+(?:-\S+\s+)*["']?(?:[\w.-]+:)?|<<<\s*["']?(?:[\w.-]+:)?)([^|"'\s]+)`),
		encoded: lazyregexp.New(`[A-Za-z0-9+/]{16,}={0,2}`),
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
func (r *Redactor) second(line string, form *lazyregexp.Regexp) string {
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
func (r *Redactor) named(line string, form *lazyregexp.Regexp, flag, prose bool) string {
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
	if before != "" || !strings.ContainsAny(sign, " \t") || value == "" {
		return false
	}
	if strings.ContainsAny(value[:1], "|>") { // begins a block, unless text follows on the line
		return strings.Trim(value[1:], "+-0123456789 \t") != ""
	}
	return !strings.ContainsAny(value[:1], `"'{[&*$\\`)
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

// isSecret reports whether a name is that of a secret: dbPassword, API_KEY,
// X-Amz-Security-Token, but not tokenFile or HttpTokens.
func isSecret(name string) bool {
	parts := parts(name)
	if len(parts) == 0 || slices.Contains(publicEnds(), parts[len(parts)-1]) {
		return false
	}
	if strings.Join(parts, "") == "httptokens" { // of the instance metadata service: required, optional
		return false
	}
	whole := strings.Join(parts, "")
	for _, word := range []string{
		"password", "passwd", "passphrase", "passcode", "secret", "token", "credential", "signature", "cookie",
		"apikey", "accesskey", "privatekey", "authkey", "encryptionkey", "signingkey", "licensekey", "accountkey", "sharedkey",
		"presharedkey", "masterkey", "deploykey", "appkey", "applicationkey", "routingkey", "integrationkey", "servicekey", "hmackey", "secretkey", "keypass", "ingestkey",
		"connectionstring", "connstr", "mnemonic", "joinkey", "clusterkey", "activationkey", "activationcode", "registrationkey", "enrollmentkey",
	} {
		if strings.Contains(whole, word) {
			return true
		}
	}
	return slices.ContainsFunc(parts, func(p string) bool {
		return slices.Contains([]string{"pass", "pwd", "pw", "auth", "authorization", "creds", "dsn", "psk", "otp", "sig", "sas", "salt"}, p) ||
			p == "pat" && len(parts) > 1 || strings.HasSuffix(p, "pass") && p != "bypass" && p != "compass"
	})
}

// secretWords are parts of the names of secrets in lower case: a line without any names none.
func secretWords() []string {
	return []string{"pass", "pwd", "pw", "secret", "token", "cred", "signature", "cookie", "key", "auth", "dsn", "psk", "otp", "sig", "sas", "salt", "pat", "conn", "mnemonic", "code", "pin"}
}

// isPassword reports whether no prose is expected behind a name.
func isPassword(name string) bool {
	whole := strings.Join(parts(name), "")
	return strings.Contains(whole, "pass") || strings.Contains(whole, "pwd")
}

// publicEnds are the last words of names that are about a secret and hold none.
func publicEnds() []string {
	return []string{
		"file", "files", "path", "dir", "directory", "name", "names", "arn", "url", "uri", "endpoint", "host", "ref", "kind", "type", "mode",
		"ttl", "seconds", "timeout", "duration", "expired", "expiry", "expiration", "expires", "hash", "length", "size", "count", "limit", "version",
		"policy", "provider", "providers", "required", "enabled", "stdin", "webhook", "algorithm", "issuer", "audience",
		"manager", "controller", "driver", "agent", "service", "socket", "timer", "target", "unit",
		"go", "py", "sh", "rs", "js", "json", "yaml", "yml", "toml", "conf", "cfg", "pem", "crt", "log",
	}
}

// parts are the words of a name, in lower case: at dots, dashes, underscores
// and where capitals begin.
func parts(name string) []string {
	var list []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			list = append(list, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	lower := false
	for _, c := range name {
		if c == '.' || c == '-' || c == '_' {
			end()
			lower = false
			continue
		}
		if unicode.IsUpper(c) && lower {
			end()
		}
		lower = !unicode.IsUpper(c)
		word.WriteRune(c)
	}
	end()
	return list
}

// isPublic reports whether the text behind the name of a secret is none: a path, an ARN,
// a switch, a variable, or in prose the next word of a sentence ("cannot get a token:
// AccessDenied: User: …").
func isPublic(value, name, between string, flag, prose bool) bool {
	low := strings.ToLower(value)
	switch {
	case strings.HasSuffix(value, Masked), strings.HasSuffix(value, Ellipsis):
		return true
	case strings.HasPrefix(value, "$") && strings.Trim(value[1:], "{}()_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == "":
		return true // a variable of the shell
	case slices.Contains([]string{"true", "false", "null", "nil", "none", "yes", "no", "required", "optional", "enabled", "disabled"}, low):
		return true
	case strings.HasPrefix(low, "arn:") || isPath(low):
		return true
	case strings.HasSuffix(strings.Join(parts(name), ""), "secretid") && strings.Count(value, "-") != 4:
		return true // a name of Secrets Manager's; Vault's is a UUID
	case flag:
		// "the flag --token is required", or the next flag
		return strings.HasPrefix(low, "-") || slices.Contains([]string{"is", "are", "was", "must", "may", "not", "and", "or", "has", "needs", "cannot", "should", "requires", "flag"}, low)
	}
	// A sentence goes on after a colon and a blank, without quotes. Secrets
	// have a digit; passwords that people choose may have none.
	sentence := prose && strings.HasPrefix(between, ": ") && !isPassword(name)
	const longestWord = 30 // UnrecognizedClientException has 27 letters
	word := strings.TrimRight(low, ":")
	isWord := len(word) <= longestWord && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz/'") == ""
	isStatus := len(word) == 3 && strings.Trim(word, "0123456789") == ""
	return sentence && (isWord || isStatus)
}

func isPath(low string) bool {
	for _, top := range []string{"etc", "var", "opt", "usr", "run", "root", "home", "tmp", "dev", "mnt", "proc", "sys"} {
		if strings.HasPrefix(low, "/"+top+"/") {
			return true
		}
	}
	return false
}
