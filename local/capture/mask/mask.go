package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// words are the replacements, by what they replace.
type words map[string]string

// account is an account id on its own, or as a part of an ARN or an address.
var account = regexp.MustCompile(`\b[0-9]{12}\b`)

// secret is a setting whose value must not leave the account: in scripts,
// YAML, TOML and environment variables.
var secret = regexp.MustCompile(`(?im)^(.*?(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)[\w-]*["']?\s*[:=]\s*).+$`)

// keyID is an access key id, and pem a private key.
var (
	keyID = regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`)
	pem   = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)
)

// known are the account ids of AWS's own images and registries, which are
// public and say what an image is.
func known(id string) bool {
	return slices.Contains([]string{"602401143452", "013241004608", "151742754352", "000000000000"}, id)
}

// mask masks the files of a capture by their names.
func mask(files map[string]string) (map[string]string, error) {
	w := words{}
	trees := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		d := json.NewDecoder(strings.NewReader(files[name]))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		trees[name] = v
		w.learn("", v)
		for _, id := range account.FindAllString(files[name], -1) {
			w.account(id)
		}
	}
	replace := w.replacer()
	out := map[string]string{}
	for name, v := range trees {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(rewrite("", v, replace)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[replace(name)] = b.String()
	}
	return out, nil
}

func (w words) account(id string) {
	if _, ok := w[id]; !ok && !known(id) {
		w[id] = fmt.Sprintf("%012d", 100000000001+len(w))
	}
}

// named are the fields that hold a name somebody chose, with the word that
// stands for such names.
func named(field string) string {
	return map[string]string{
		"clusterName": "cluster", "clusters": "cluster", "nodegroupName": "nodegroup", "nodegroups": "nodegroup",
		"AutoScalingGroupName": "group", "LaunchTemplateName": "template", "RoleName": "role", "InstanceProfileName": "profile",
		"GroupName": "sg", "KeyName": "key",
	}[field]
}

// kept are names that AWS chose, or that stand in other words too: replacing
// them would change what they say.
func kept(name string) bool {
	return len(name) < 3 || name == "default" || strings.HasPrefix(name, "AmazonEKS") || strings.HasPrefix(name, "AWS") || strings.HasPrefix(name, "aws-")
}

// learn finds the names in a tree.
func (w words) learn(field string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if v["Key"] == "Name" || v["Key"] == "alpha.eksctl.io/cluster-name" {
			if text, ok := v["Value"].(string); ok {
				w.name("name", text)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			w.learn(key, v[key])
		}
	case []any:
		for _, item := range v {
			w.learn(field, item)
		}
	case string:
		if kind := named(field); kind != "" {
			w.name(kind, v)
		}
	}
}

func (w words) name(kind, text string) {
	if _, ok := w[text]; ok || kept(text) {
		return
	}
	w[text] = fmt.Sprintf("%s-%d", kind, len(w)+1)
}

// replacer replaces whole words, the longest first. Names of files have dots
// and slashes in another form.
func (w words) replacer() func(string) string {
	names := slices.SortedFunc(maps.Keys(w), func(a, b string) int { return len(b) - len(a) })
	var forms []string
	to := words{}
	for _, n := range names {
		escaped := strings.NewReplacer("/", "__", ".", "%2E").Replace(n)
		for _, form := range []string{n, escaped} {
			if _, ok := to[form]; !ok {
				forms = append(forms, regexp.QuoteMeta(form))
				to[form] = w[n]
			}
		}
	}
	if len(forms) == 0 {
		return func(text string) string { return text }
	}
	slices.SortStableFunc(forms, func(a, b string) int { return len(b) - len(a) })
	any := regexp.MustCompile(strings.Join(forms, "|"))
	return func(text string) string {
		var b strings.Builder
		last := 0
		for _, at := range any.FindAllStringIndex(text, -1) {
			b.WriteString(text[last:at[0]])
			if wordBefore(text, at[0]) || wordAfter(text, at[1]) {
				b.WriteString(text[at[0]:at[1]])
			} else {
				b.WriteString(to[text[at[0]:at[1]]])
			}
			last = at[1]
		}
		b.WriteString(text[last:])
		return b.String()
	}
}

func wordBefore(text string, i int) bool { return i > 0 && letter(text[i-1]) }
func wordAfter(text string, i int) bool  { return i < len(text) && letter(text[i]) }
func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// rewrite masks all text in a tree, also that inside user data.
func rewrite(field string, v any, replace func(string) string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			inner := key
			if field == "UserData" {
				inner = "UserData"
			}
			out[replace(key)] = rewrite(inner, item, replace)
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			out = append(out, rewrite(field, item, replace))
		}
		return out
	case string:
		if field == "UserData" {
			if plain, err := base64.StdEncoding.DecodeString(v); err == nil {
				return base64.StdEncoding.EncodeToString([]byte(replace(scrub(string(plain)))))
			}
		}
		if field == "Output" || field == "UserData" {
			v = scrub(v)
		}
		if field == "value" && strings.Contains(v, "\n") {
			v = scrub(v)
		}
		return replace(keyID.ReplaceAllString(v, "AKIAMASKED"))
	}
	return v
}

// scrub takes secrets out of a script or a console's text.
func scrub(text string) string {
	text = pem.ReplaceAllString(text, "MASKED PRIVATE KEY")
	text = keyID.ReplaceAllString(text, "AKIAMASKED")
	return secret.ReplaceAllString(text, "${1}MASKED")
}
