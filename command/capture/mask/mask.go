// Package mask replaces, in a capture, account ids, names and what looks like
// a secret: the same ones by the same words everywhere, in the files and in
// their names, so that the capture is diagnosed as before.
package mask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"rollcall/shared/lazyregexp"
	"rollcall/shared/redact"
)

// Folder masks a capture into another folder, which may be there if it is empty.
// Everything is read before anything is written.
func Folder(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	files, others := map[string]string{}, map[string][]byte{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		if strings.HasSuffix(e.Name(), ".json") {
			files[e.Name()] = string(data)
		} else {
			others[e.Name()] = data // time.txt
		}
	}
	masked, err := mask(files)
	if err != nil {
		return err
	}
	for name, text := range masked {
		others[name] = []byte(text)
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	for name, data := range others {
		if err := os.WriteFile(filepath.Join(to, name), data, 0o600); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}

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
	secrets := redact.New(redact.Masked)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		d := json.NewDecoder(strings.NewReader(files[name]))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		trees[name] = secrets.Tree("", v)
		w.learn("", v)
		w.text(files[name])
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

// renamed masks the names of files in errors.json and asked.json, whose keys they are,
// and in left-out.json.
func renamed(v any, replace func(string) string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			if m, ok := item.(map[string]any); ok && m["code"] != nil && m["message"] != nil {
				key = fileName(key, replace)
			}
			if asked := list(item); len(asked) > 0 {
				if m, ok := asked[0].(map[string]any); ok && m["question"] != nil {
					key = fileName(key, replace)
				}
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

// principal is the name of a role, a user or a group in an ARN, or in what a file of
// aws-auth maps.
var principal = lazyregexp.New(`\barn:aws[a-z-]*:(?:iam|sts)::[0-9]{12}:(role|user|group|instance-profile|assumed-role)/((?:[\w+=,.@-]+/)*[\w+=,.@-]+)`)

// mapped is a user name of aws-auth.
var mapped = lazyregexp.New(`(?m)^\s*-?\s*"?username"?:\s*"?([\w.@+-]+)"?\s*$`)

// host is a host in a URL, and registry one before an image.
var host = lazyregexp.New(`://(?:[^/\s@"']*@)?([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)|"image": ?"([a-z0-9-]+(?:\.[a-z0-9-]+)+)[:/]`)

// text learns the account ids, principals and hosts in a text.
func (w words) text(text string) {
	for _, id := range account.FindAllString(text, -1) {
		if _, ok := w[id]; !ok && !known(id) {
			w[id] = fmt.Sprintf("%012d", 100000000001+len(w))
		}
	}
	for _, m := range principal.FindAllStringSubmatch(text, -1) {
		kind, path := m[1], strings.Split(m[2], "/")
		if kind == "assumed-role" {
			kind = "role"
			path = path[:1] // what follows is the session
		}
		w.name(kind, path[len(path)-1])
	}
	// A file of JSON has the lines of aws-auth in one text.
	for _, m := range mapped.FindAllStringSubmatch(strings.ReplaceAll(text, `\n`, "\n"), -1) {
		w.name("user", m[1])
	}
	for _, m := range host.FindAllStringSubmatch(text, -1) {
		w.host(m[1] + m[2])
	}
}

// host learns the name of a host that is neither AWS's nor Kubernetes' nor a public
// registry's. Its mask has its length: long names are why nodes do not join.
func (w words) host(name string) {
	name = strings.TrimSuffix(name, ".")
	if _, ok := w[name]; ok || !strings.Contains(name, ".") || strings.Trim(name, "0123456789.") == "" || isPublicHost(name) {
		return
	}
	mask := fmt.Sprintf("host-%d.example", len(w)+1)
	for missing := len(name) - len(mask); missing > 1; missing = len(name) - len(mask) {
		const longest = 60
		mask = strings.Repeat("x", min(missing-1, longest)) + "." + mask
	}
	w[name] = mask
}

// isPublicHost reports whether a host says nothing of an account.
func isPublicHost(name string) bool {
	low := "." + strings.ToLower(name)
	return slices.ContainsFunc([]string{
		".amazonaws.com", ".amazonaws.com.cn", ".aws", ".amazon.com", ".internal", ".local", ".svc", ".k8s.io", ".kubernetes.io", ".karpenter.sh", ".docker.io", ".docker.com",
		".ghcr.io", ".quay.io", ".gcr.io", ".pkg.dev", ".mcr.microsoft.com", ".github.com", ".githubusercontent.com", ".w3.org", ".example", ".slack.com",
	}, func(end string) bool { return strings.HasSuffix(low, end) })
}

// named are the fields that hold a name of free choice, with the word that
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
		if v["Key"] == "domain-name" { // of DHCP options
			for _, item := range list(v["Values"]) {
				value, _ := item.(map[string]any)
				text, _ := value["Value"].(string)
				for _, name := range strings.Fields(text) {
					w.host(name)
				}
			}
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
		if isHostField(field) && !machine.MatchString(v) {
			w.host(v)
		} else if _, domain, ok := strings.Cut(v, "."); ok && isHostField(field) {
			w.host(domain)
		}
		if plain, _, ok := redact.Script(v); ok && field == userData {
			w.text(plain)
		}
	}
}

// machine is a name that EC2 made for an instance.
var machine = lazyregexp.New(`^(?:ip-[0-9]{1,3}-|i-[0-9a-f]+\.)`)

// isHostField reports whether a field holds the name of a host or of a zone.
func isHostField(field string) bool {
	switch field {
	case "PrivateDnsName", "nodeName", "kubernetes.io/hostname", "hostname", "DomainName", "domainName":
		return true
	}
	return false
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
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

// freeKeys lists the fields whose keys are of free choice; those of others are the API's own.
func freeKeys(field string) bool {
	switch field {
	case "tags", "labels", "annotations", "nodeSelector", "matchLabels", "data":
		return true
	}
	return false
}

// rewrite replaces names in all text of a tree, also in user data.
func rewrite(field string, v any, replace func(string) string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
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
			return pack(replace(email.ReplaceAllString(plain, "person@example.com")))
		}
		return replace(email.ReplaceAllString(v, "person@example.com"))
	}
	return v
}
