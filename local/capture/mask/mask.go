package mask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"rollcall/shared/capture/redact"
	"rollcall/shared/lazyregexp"
)

// words are the replacements, by what they replace.
type words map[string]string

// account is an account id on its own, or as a part of an ARN or an address.
var account = lazyregexp.New(`\b[0-9]{12}\b`)

// email is an address of a person: in the names of sessions, for instance.
var email = lazyregexp.New(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`)

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
		w.accounts(files[name])
	}
	replace := w.replacer()
	out := map[string]string{}
	for name, v := range trees {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(rewrite("", renamed(v, replace), replace)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[fileName(name, replace)] = b.String()
	}
	return out, nil
}

// fileName masks the keys of a file's name. The operation is no name, whatever a name is
// like.
func fileName(name string, replace func(string) string) string {
	operation, keys, ok := strings.Cut(name, ".")
	if !ok {
		return name
	}
	return operation + "." + replace(keys)
}

// renamed masks the names of files in errors.json, whose keys they are, and in
// left-out.json.
func renamed(v any, replace func(string) string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			if m, ok := item.(map[string]any); ok && m["code"] != nil && m["message"] != nil {
				key = fileName(key, replace)
			}
			out[key] = item
		}
		return out
	case []any:
		for _, item := range v {
			if m, ok := item.(map[string]any); ok {
				if file, ok := m["file"].(string); ok {
					m["file"] = fileName(file, replace)
				}
			}
		}
	}
	return v
}

// accounts learns the account ids in a text.
func (w words) accounts(text string) {
	for _, id := range account.FindAllString(text, -1) {
		if _, ok := w[id]; !ok && !known(id) {
			w[id] = fmt.Sprintf("%012d", 100000000001+len(w))
		}
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
	return len(name) < 3 || slices.Contains(apiWords(), strings.ToLower(name)) ||
		strings.HasPrefix(name, "AmazonEKS") || strings.HasPrefix(name, "AWS") || strings.HasPrefix(name, "aws-")
}

// apiWords are what APIs answer too: states, kinds, namespaces. A resource of such a name
// gives nothing away.
func apiWords() []string {
	return []string{
		"default", "all", "true", "false", "none", "null", "enabled", "disabled", "active", "available", "attached", "pending", "running", "stopped", "terminated", "failed",
		"ready", "unknown", "ingress", "egress", "allow", "deny", "local", "instance", "instances", "interface", "gateway", "node", "nodes", "pod", "pods", "cluster",
		"nodegroup", "subnet", "vpc", "public", "private", "standard", "system", "spot", "on-demand", "linux", "windows", "bottlerocket", "kube-system", "kube-proxy", "coredns", "vpc-cni",
		"karpenter", "ec2", "eks", "iam", "sts", "ssm", "ecr", "s3", "nat", "api", "com", "amazonaws", "kubernetes", "role", "user", "policy", "service", "arn", "aws",
	}
}

// learn finds the names in a tree.
func (w words) learn(field string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if arn, ok := v["Arn"].(string); ok && v["UserId"] != nil && strings.Contains(arn, ":user/") {
			w.name("user", arn[strings.LastIndex(arn, "/")+1:])
		}
		if v["Key"] == "Name" || v["Key"] == "alpha.eksctl.io/cluster-name" {
			if text, ok := v["Value"].(string); ok {
				w.name("name", text)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			w.learn(inside(field, key), v[key])
		}
	case []any:
		for _, item := range v {
			w.learn(field, item)
		}
	case string:
		if kind := named(field); kind != "" {
			w.name(kind, v)
		}
		if plain, _, ok := redact.Script(v); ok && field == userData {
			w.accounts(plain)
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

// userData is the field whose text is a script in base64, alone or in an object of its
// own.
const userData = "UserData"

func inside(field, key string) string {
	if field == userData {
		return userData
	}
	return key
}

// freeKeys tells the fields whose keys somebody chose; those of others are the API's own.
func freeKeys(field string) bool {
	switch field {
	case "tags", "labels", "annotations", "nodeSelector", "matchLabels", "data":
		return true
	}
	return false
}

// rewrite masks all text in a tree, also that inside user data.
func rewrite(field string, v any, replace func(string) string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		name, _ := v["name"].(string)
		for key, item := range v {
			if key == redact.Applied || key == "value" && redact.SecretName(name) {
				item = redact.Masked
			}
			masked := key
			if strings.Contains(key, "/") || freeKeys(field) {
				masked = replace(key)
			}
			out[masked] = rewrite(inside(field, key), item, replace)
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			out = append(out, rewrite(field, item, replace))
		}
		return out
	case string:
		if field == "file" {
			return v // of left-out.json: it is masked as a file's name
		}
		if plain, pack, ok := redact.Script(v); ok && field == userData {
			return pack(replace(scrub(plain)))
		}
		switch {
		case field == "Output":
			v = redact.Console(v)
		case field == userData, strings.Contains(v, "\n"):
			v = scrub(v)
		}
		return replace(email.ReplaceAllString(redact.Keys(v), "person@example.com"))
	}
	return v
}

// scrub takes secrets and people out of a script.
func scrub(text string) string {
	return redact.Text(email.ReplaceAllString(text, "person@example.com"))
}
