package userdata

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// powershell reads the call of the script that EKS's Windows images have.
func (d *reader) powershell(text string) {
	found := false
	vars := map[string]string{}
	d.budget.spend(Work, len(text))
	for _, line := range logical(text) {
		if d.budget.over != nil {
			return
		}
		if name, value, ok := psAssignment(line); ok {
			words := d.budget.psWords(value, vars)
			if len(words) == 0 {
				words = []string{hole}
			}
			if _, twice := vars[name]; twice || len(words) > 1 {
				words[0] = hole
			}
			vars[name] = words[0]
			continue
		}
		if !strings.Contains(strings.ToLower(line), "-eksclustername") {
			continue
		}
		found = true
		d.Calls++
		d.windows(d.budget.psWords(line, vars))
	}
	if !found {
		d.add(PowerShell)
		if strings.Contains(strings.ToLower(text), "eksbootstrap") {
			d.scripted("Start-EKSBootstrap.ps1")
		}
		return
	}
	d.add(Windows)
}

// windows reads the parameters of Start-EKSBootstrap.ps1.
func (d *reader) windows(words []string) {
	var ca, endpoint Setting
	for i, w := range words {
		name, value, joined := strings.Cut(w, ":")
		if !joined {
			if i+1 >= len(words) {
				continue
			}
			value = words[i+1]
		}
		switch strings.ToLower(name) {
		case "-eksclustername":
			d.Name = setting(value)
		case "-apiserverendpoint":
			endpoint = setting(value)
		case "-base64clusterca":
			ca = setting(value)
		case "-servicecidr":
			d.ServiceCIDR = setting(value)
		case "-dnsclusterip":
			if s := setting(value); s.Known() {
				d.DNS = strings.Split(s.Value, ",")
			}
		case "-kubeletextraargs":
			d.Flags = d.budget.fields(value)
		}
	}
	d.Endpoint, d.CA = endpoint, ca
	d.Describes = missing(endpoint) || missing(ca)
}

// logical are the lines of a script without comments; a line that ends in a
// backtick goes on in the next.
func logical(text string) []string {
	var list []string
	var open strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if rest, more := strings.CutSuffix(line, "`"); more {
			open.WriteString(rest + " ")
			continue
		}
		list = append(list, open.String()+line)
		open.Reset()
	}
	if open.Len() > 0 {
		list = append(list, open.String())
	}
	return list
}

// psAssignment is "$name = value" or "[string]$name = value".
func psAssignment(line string) (name, value string, ok bool) {
	left, right, ok := strings.Cut(line, "=")
	if !ok {
		return "", "", false
	}
	left = strings.TrimSpace(left)
	if end := strings.IndexByte(left, ']'); strings.HasPrefix(left, "[") && end > 0 {
		left = strings.TrimSpace(left[end+1:])
	}
	name, isVar := strings.CutPrefix(left, "$")
	if !isVar || name == "" || strings.ContainsAny(name, " .:[(") {
		return "", "", false
	}
	return strings.ToLower(name), strings.TrimSpace(right), true
}

// psWords splits a line at blanks outside of quotes. Single quotes keep
// variables as they are, double quotes do not.
func (b *budget) psWords(line string, vars map[string]string) []string {
	var list []string
	var word strings.Builder
	open := false
	var quote byte
	put := func(s string) {
		open = true
		if word.Len()+len(s) > maxWord {
			s = hole
		}
		if word.Len() <= maxWord {
			word.WriteString(s)
		}
	}
	for i := 0; i < len(line) && b.over == nil; {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
			i++
		case quote == 0 && (c == '"' || c == '\''):
			quote, open = c, true
			i++
		case quote != '\'' && c == '$':
			value, n := psExpand(line[i:], vars)
			b.spend(Work, len(value))
			put(value)
			i += n
		case quote == 0 && (c == ' ' || c == '\t' || c == ';'):
			if open {
				list = append(list, word.String())
				word.Reset()
				open = false
			}
			i++
		case quote != '\'' && c == '`' && i+1 < len(line):
			put(line[i+1 : i+2])
			i += 2
		case quote == 0 && c == '(':
			put(hole)
			i += closing(line[i:], '(', ')')
		default:
			put(line[i : i+1])
			i++
		}
	}
	if open {
		list = append(list, word.String())
	}
	return list
}

func psExpand(text string, vars map[string]string) (value string, length int) {
	if strings.HasPrefix(text, "$(") {
		return hole, closing(text, '(', ')')
	}
	if strings.HasPrefix(text, "${") {
		n := closing(text, '{', '}')
		return psValue(strings.TrimSuffix(text[2:n], "}"), vars), n
	}
	n := 1
	for n < len(text) && (isName(text[n], false) || text[n] == ':' && n+1 < len(text) && isName(text[n+1], true)) {
		n++
	}
	if n == 1 {
		return "$", 1
	}
	return psValue(text[1:n], vars), n
}

func psValue(name string, vars map[string]string) string {
	if v, ok := vars[strings.ToLower(name)]; ok {
		return v
	}
	return hole
}

// group and version of the NodeConfig that nodeadm knows (nodeadm/api of
// github.com/awslabs/amazon-eks-ami).
const (
	nodeConfigGroup   = "node.eks.aws"
	nodeConfigVersion = "v1alpha1"
)

func looksLikeNodeConfig(text string) bool {
	return strings.Contains(text, nodeConfigGroup+"/") ||
		strings.Contains(text, "apiVersion") && strings.Contains(text, "NodeConfig")
}

// nodeConfig reads a NodeConfig and joins it with those of earlier parts as
// nodeadm does (its documentation, "Merging multiple configuration objects",
// and internal/api/merge.go): what is later wins, the kubelet's config is
// merged key by key, lists in it are replaced, and only the kubelet's flags
// are appended. Of several YAML documents in one part only the first is read.
func (d *reader) nodeConfig(text string, part int) {
	d.add(NodeConfig)
	fault := func(kind FaultKind, line int, format string, args ...any) {
		d.Faults = append(d.Faults, Fault{Kind: kind, Line: line, Part: part, Detail: fmt.Sprintf(format, args...)})
	}
	first, later, err := d.budget.documents(text)
	if err != nil {
		fault(BadYAML, lineOf(err), "the NodeConfig is no valid YAML")
		return
	}
	d.Later += later
	root := d.budget.object(first)
	if root == nil {
		fault(BadYAML, 1, "the NodeConfig is no mapping of keys to values")
		return
	}
	if kind := root.get("kind"); kind.text() != "NodeConfig" {
		fault(BadKind, kind.line(), "kind is not NodeConfig")
		return
	}
	version := root.get("apiVersion")
	group, number, _ := strings.Cut(version.text(), "/")
	if group != nodeConfigGroup || number != nodeConfigVersion {
		kind := BadVersion
		if group == nodeConfigGroup && isVersion(number) {
			kind = NewVersion
		}
		fault(kind, version.line(), "apiVersion is not %s/%s", nodeConfigGroup, nodeConfigVersion)
		return
	}

	spec := root.get("spec")
	cluster := spec.get("cluster")
	for _, f := range []struct {
		key string
		to  *Setting
	}{{"name", &d.Name}, {"apiServerEndpoint", &d.Endpoint}, {"certificateAuthority", &d.CA}, {"cidr", &d.ServiceCIDR}} {
		v := cluster.get(f.key)
		switch {
		case v == nil || v.null() || v.isString() && v.text() == "":
			// Empty values do not override earlier ones.
		case !v.isString():
			fault(BadType, v.line(), "spec.cluster.%s is not a string", f.key)
		default:
			f.to.set(Setting{Value: strings.TrimSpace(v.text()), Given: true})
		}
	}
	kubelet := spec.get("kubelet")
	if flags := kubelet.get("flags"); flags != nil && !flags.null() {
		if list, ok := flags.list(); ok {
			d.Flags = append(d.Flags, list...)
		} else {
			fault(BadType, flags.line(), "spec.kubelet.flags is not a list of strings")
		}
	}
	if v := kubelet.get("maxPodsExpression"); v != nil && !v.null() && v.text() != "" {
		d.MaxPodsExpression = v.text()
	}
	if list, ok := spec.get("instance").get("network").get("nameservers").list(); ok {
		d.NameServers = list
	}
	config := kubelet.get("config")
	if v := config.get("maxPods"); v != nil && !v.null() {
		d.MaxPods.set(Setting{Value: v.text(), Given: true})
	}
	if list, ok := config.get("clusterDNS").list(); ok {
		d.DNS = list
	}
}

// isVersion tells a version as Kubernetes writes them: v1, v1beta2.
func isVersion(s string) bool {
	digits := func(s string) string { return strings.TrimLeft(s, "0123456789") }
	rest, ok := strings.CutPrefix(s, "v")
	stage := digits(rest)
	if !ok || stage == rest {
		return false
	}
	for _, name := range []string{"alpha", "beta"} {
		if n, ok := strings.CutPrefix(stage, name); ok {
			return n != "" && digits(n) == ""
		}
	}
	return stage == ""
}

// unpack takes off what may be around the text: gzip, and base64 that
// a user put on although the API's client does so too. nodeadm and
// cloud-init take both off. Gzip makes up to a thousand times as much of what
// is in it, in each layer.
func (b *budget) unpack(data []byte) ([]byte, error) {
	// Base64 around gzip around base64 is as far as mistakes go.
	const layers = 4
	for range layers {
		if isGzip(data) {
			plain, err := b.gunzip(data)
			if err != nil {
				return nil, err
			}
			data = plain
			continue
		}
		if !b.spend(Work, len(data)) {
			return nil, b.over
		}
		plain, ok := unbase64(data)
		if !ok {
			return data, nil
		}
		if !b.spend(Unpacked, len(plain)) {
			return nil, b.over
		}
		data = plain
	}
	return data, nil
}

func isGzip(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1f, 0x8b}) }

func (b *budget) gunzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack user data: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(r, int64(max(0, b.unpacked))+1))
	if err != nil {
		return nil, fmt.Errorf("unpack user data: %w", err)
	}
	if !b.spend(Unpacked, len(plain)) {
		return nil, b.over
	}
	return plain, nil
}

// unbase64 takes base64 off if what comes out is something that is expected:
// a short word can be valid base64 too.
func unbase64(data []byte) ([]byte, bool) {
	text := strings.TrimSpace(string(data))
	if len(text) < 8 {
		return nil, false
	}
	// The decoder ignores line ends.
	plain, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, false
	}
	head := strings.ToLower(string(plain[:min(len(plain), 4096)]))
	for _, mark := range []string{"#!", "mime-version:", "content-type:", "#cloud-config", "apiversion:", "<powershell>", "[settings", "settings."} {
		if strings.Contains(head, mark) {
			return plain, true
		}
	}
	_, again := unbase64Text(plain)
	return plain, isGzip(plain) || again
}

// unbase64Text reports whether data is base64 of gzip: the form of most tools that
// compress.
func unbase64Text(data []byte) ([]byte, bool) {
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(data)))
	return plain, err == nil && isGzip(plain)
}

// formatWork is what a byte of YAML or TOML counts for: their readers take up
// to 0.3 and 0.9 µs for each, the shell's 0.02.
const formatWork = 16

// documents is the first YAML document and how many follow it.
func (b *budget) documents(text string) (first *yaml.Node, later int, err error) {
	if !b.spend(Work, formatWork*len(text)) {
		return nil, 0, b.over
	}
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	for {
		var n yaml.Node
		err := decoder.Decode(&n)
		switch {
		case errors.Is(err, io.EOF):
			return first, later, nil
		case err != nil && first != nil:
			return first, later + 1, nil // it is not read
		case err != nil:
			return nil, 0, fmt.Errorf("read YAML: %w", err)
		case first == nil:
			first = &n
		default:
			later++
		}
	}
}

// lineOf is the line that YAML's reader names; it has no type for it.
func lineOf(err error) int {
	_, text, _ := strings.Cut(err.Error(), "yaml: ")
	var line int
	if _, err := fmt.Sscanf(text, "line %d", &line); err != nil {
		return 0
	}
	return line
}

// node is a value in YAML. A nil node has no values, so that paths need no
// checks on the way.
type node struct {
	n    *yaml.Node
	left *budget
}

func (b *budget) object(n *yaml.Node) *node {
	for depth := 0; n != nil && depth < 10; depth++ {
		switch {
		case n.Kind == yaml.DocumentNode && len(n.Content) > 0:
			n = n.Content[0]
		case n.Kind == yaml.AliasNode:
			n = n.Alias
		case n.Kind == yaml.MappingNode:
			return &node{n, b}
		default:
			return nil
		}
	}
	return nil
}

func resolve(n *yaml.Node) *yaml.Node {
	for depth := 0; n != nil && n.Kind == yaml.AliasNode && depth < 10; depth++ {
		n = n.Alias
	}
	return n
}

// get is the value of a key: the last one where it is there twice, else that
// of a merge key.
func (o *node) get(key string) *node { return o.lookup(key, 0) }

func (o *node) lookup(key string, depth int) *node {
	if o == nil || o.n.Kind != yaml.MappingNode || depth > 5 {
		return nil
	}
	if !o.left.spend(Work, formatWork*len(o.n.Content)) {
		return nil // merge keys of merge keys
	}
	var found, merged *node
	for i := 0; i+1 < len(o.n.Content); i += 2 {
		k, v := o.n.Content[i], resolve(o.n.Content[i+1])
		switch {
		case v == nil:
		case k.Value == key:
			found = &node{v, o.left}
		case k.Tag == "!!merge":
			merged = (&node{v, o.left}).lookup(key, depth+1)
		}
	}
	if found == nil {
		return merged
	}
	return found
}

func (o *node) text() string {
	if o == nil || o.n.Kind != yaml.ScalarNode {
		return ""
	}
	return o.n.Value
}

func (o *node) line() int {
	if o == nil {
		return 0
	}
	return o.n.Line
}

func (o *node) null() bool { return o.n.Kind == yaml.ScalarNode && o.n.ShortTag() == "!!null" }

// isString tells a string from a number, a date or a list. What YAML 1.2
// reads as a date is a string for Kubernetes' reader.
func (o *node) isString() bool {
	tag := o.n.ShortTag()
	return o.n.Kind == yaml.ScalarNode && (tag == "!!str" || tag == "!!timestamp" || tag == "!!binary")
}

func (o *node) list() ([]string, bool) {
	if o == nil || o.n.Kind != yaml.SequenceNode {
		return nil, false
	}
	var list []string
	for _, item := range o.n.Content {
		v := resolve(item)
		if v == nil || v.Kind != yaml.ScalarNode || !o.left.spend(Work, len(v.Value)) {
			return nil, false
		}
		list = append(list, v.Value)
	}
	return list, true
}
