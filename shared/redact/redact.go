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
