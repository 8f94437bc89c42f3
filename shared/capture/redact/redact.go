// Package redact takes secrets out of what is kept of an account: out of user data,
// consoles, environment variables and whatever else has lines. Names and ids stay.
package redact

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"strings"

	"rollcall/shared/lazyregexp"
)

// secret is a setting whose value must not leave the account: in scripts,
// YAML, TOML and environment variables.
var secret = lazyregexp.New(`(?im)^(.*?(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)[\w-]*["']?\s*[:=]\s*).+$`)

// secretName is a variable whose value must not leave the account.
var secretName = lazyregexp.New(`(?i)password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential`)

// Applied is the annotation in which kubectl keeps all of an object once more, as text.
const Applied = "kubectl.kubernetes.io/last-applied-configuration"

// Masked stands in place of a value.
const Masked = "MASKED"

// keyID is an access key id, and pem a private key.
var (
	keyID = lazyregexp.New(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`)
	pem   = lazyregexp.New(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)
)

// SecretName tells that the value of a variable of this name is a secret.
func SecretName(name string) bool { return secretName.MatchString(name) }

// Keys takes access key ids out of a text.
func Keys(text string) string { return keyID.ReplaceAllString(text, "AKIAMASKED") }

// Text takes secrets out of a script, a manifest or a file of settings.
func Text(text string) string {
	text = pem.ReplaceAllString(text, "MASKED PRIVATE KEY")
	return secret.ReplaceAllString(Keys(text), "${1}"+Masked)
}

// prose is the rest of a line that goes on in words: what a console says of a token that
// it could not get is no secret, and is why nodes fail.
var prose = lazyregexp.New(`^[A-Za-z]+:?\s+\S`)

// Console takes secrets out of what a console printed.
func Console(text string) string {
	text = pem.ReplaceAllString(text, "MASKED PRIVATE KEY")
	return secret.ReplaceAllStringFunc(Keys(text), func(line string) string {
		m := secret.FindStringSubmatch(line)
		if prose.MatchString(line[len(m[1]):]) {
			return line
		}
		return m[1] + Masked
	})
}

// UserData takes secrets out of user data, which is a script in base64. What is not in
// base64 is taken for the script itself.
func UserData(text string) string {
	if plain, pack, ok := Script(text); ok {
		return pack(Text(plain))
	}
	return Text(text)
}

// maxScript bounds what a packed script may be unpacked: EC2 takes 16 KiB packed.
const maxScript = 16 << 20

// Script is the text of user data, which is in base64 and may be packed by gzip, and what
// makes user data of a text again.
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

// Value takes secrets out of a value of a field, by the field's name, as EC2 and
// Kubernetes have them.
func Value(field, text string) string {
	switch {
	case field == "UserData":
		return UserData(text)
	case field == Applied:
		return Masked
	case strings.Contains(text, "\n"):
		return Text(text)
	}
	return Keys(text)
}
