package redact

import (
	"slices"
	"strings"
	"unicode"
)

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
