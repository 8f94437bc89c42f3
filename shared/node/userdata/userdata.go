// Package userdata reads what an instance is given at its start: how it is to
// find its cluster, and with which settings of the kubelet. It knows the
// formats of the images that EKS supports and follows each as its image would:
// what nodeadm, bootstrap.sh, Bottlerocket or the Windows script would take
// from the same bytes.
//
// User data may hold secrets: nothing in here puts its text into an error or
// a fault, only line numbers, names of settings and formats.
package userdata

import (
	"bytes"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"net/textproto"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// Kind is a format that was found in user data.
type Kind string

// The kinds. The first four make a node join.
const (
	NodeConfig   Kind = "NodeConfig"            // AL2023, for nodeadm
	Bootstrap    Kind = "call of bootstrap.sh"  // AL2
	Bottlerocket Kind = "Bottlerocket settings" // TOML
	Windows      Kind = "call of Start-EKSBootstrap.ps1"
	CloudConfig  Kind = "cloud-config"
	Shell        Kind = "shell script"
	PowerShell   Kind = "PowerShell script"
	Noise        Kind = "a format that is not understood"
)

// Setting is one value.
type Setting struct {
	Value string
	Given bool
	// Computed reports whether a script works it out when it runs: there is no
	// value to compare.
	Computed bool
}

// Known reports whether there is a value to compare.
func (s Setting) Known() bool { return s.Given && !s.Computed }

// Document is what user data says. Settings of several parts are joined as
// the image would join them: the later wins, flags of the kubelet add up.
type Document struct {
	// Kinds are the formats in it, in their order and each once; none for
	// empty user data.
	Kinds []Kind
	// Multipart reports whether it is MIME multi-part.
	Multipart bool

	Name        Setting
	Endpoint    Setting
	CA          Setting // base64 of PEM, as given
	ServiceCIDR Setting
	// Family is bootstrap.sh's --ip-family; ipv6 too where --service-ipv6-cidr is given.
	Family Setting
	// DNS are the addresses of the cluster's DNS service.
	DNS []string
	// MaxPods is what is set outside of Flags; see also Flag("max-pods").
	MaxPods Setting
	// MaxPodsExpression is nodeadm's expression for the most pods, where nothing sets MaxPods.
	MaxPodsExpression string
	// NameServers are those that nodeadm adds to DHCP's (spec.instance.network).
	NameServers []string
	// DropIn reports that something in it writes a NodeConfig into /etc/eks/nodeadm.d that
	// could not be read: nodeadm lets it take precedence (nodeadm's documentation,
	// "Overriding configuration with drop-in files").
	DropIn bool
	// Flags are the kubelet's, as "--name=value" or as two elements.
	Flags []string
	// Labels are the node's labels; a value that is computed is empty.
	Labels map[string]string

	// Calls are the calls of bootstrap.sh or of the Windows script, and Branch
	// reports whether one of them stands in a branch, which may not be taken.
	Calls  int
	Branch bool
	// Describes reports whether bootstrap asks EKS for what it was not given: it
	// needs to reach EKS and the permission eks:DescribeCluster.
	Describes bool
	// Scripted are the means of joining ("nodeadm", "bootstrap.sh") that a
	// script or cloud-config speaks of in a way that cannot be followed.
	Scripted []string
	// Later are the YAML documents behind the first of a part. nodeadm reads
	// only the first.
	Later int
	// Nested reports whether a NodeConfig stands in a multi-part within the
	// multi-part: nodeadm does not look there.
	Nested bool
	// Speaks reports whether a script without a bootstrap speaks of a cluster: what it writes may
	// be for a unit of the image that joins one.
	Speaks bool
	// Proxy reports whether something in it names a proxy for HTTPS: the variable of
	// most programs, or Bottlerocket's settings.network.https-proxy.
	Proxy bool
	// Faults are what its reader refuses.
	Faults []Fault
}

// FaultKind is what is wrong with the form of user data.
type FaultKind string

// The faults.
const (
	BadMIME    FaultKind = "MIME multi-part that cannot be read"
	BadYAML    FaultKind = "YAML that cannot be read"
	BadTOML    FaultKind = "TOML that cannot be read"
	BadVersion FaultKind = "apiVersion that nodeadm does not know"
	NewVersion FaultKind = "apiVersion that only a newer nodeadm may know"
	BadKind    FaultKind = "kind that nodeadm does not know"
	BadType    FaultKind = "setting of the wrong type"
)

// Fault is one thing that the reader of user data refuses.
type Fault struct {
	Kind FaultKind
	// Line counts from 1 within the part; 0 when it is not known.
	Line int
	// Part counts the parts of MIME from 1; 0 for no part.
	Part int
	// Detail says more, free of values: "the header of part 2 is not ended by an
	// empty line".
	Detail string
}

// Has reports whether a format was found.
func (d Document) Has(k Kind) bool { return slices.Contains(d.Kinds, k) }

// Empty reports whether there is no user data, or only white space.
func (d Document) Empty() bool { return len(d.Kinds) == 0 && len(d.Faults) == 0 && !d.Multipart }

// Joins reports whether there is something in it that makes a node join.
func (d Document) Joins() bool {
	return d.Has(NodeConfig) || d.Has(Bootstrap) || d.Has(Bottlerocket) || d.Has(Windows)
}

// Decode reads user data as the metadata service gives it: base64 is off. It
// may be compressed, and it may be base64 once more by mistake. The error is
// OverBudget, or about the wrapping (gzip that is broken).
func Decode(data []byte) (Document, error) {
	d := newReader()
	text, err := d.budget.unpack(data)
	if err != nil {
		return Document{}, err
	}
	d.read(text)
	for _, text := range d.late {
		d.nodeConfig(text, 0)
	}
	if d.budget.over != nil {
		return Document{}, d.budget.over
	}
	d.readFlags()
	return d.Document, nil
}

// reader reads a document as long as its budget lasts.
type reader struct {
	Document
	budget *budget
	// late are NodeConfigs of nodeadm's folder, which are merged over the others.
	late []string
}

func newReader() *reader { return &reader{budget: newBudget()} }

// Cluster is the cluster that user data names. It tells whose an instance is
// that has no tag. One that cannot be read, or is over budget, names none.
func Cluster(data []byte) (name string, ok bool) {
	d, err := Decode(data)
	if err != nil || !d.Name.Known() || d.Name.Value == "" {
		return "", false
	}
	return d.Name.Value, true
}

func (d *reader) read(text []byte) {
	if len(bytes.TrimSpace(text)) == 0 {
		return
	}
	d.proxy(text)
	if d.multipart(text) {
		return
	}
	d.text(string(text), 0)
}

// proxy notes that a text names a proxy. In a multi-part it is called for the
// whole and for each part, which may have been packed.
func (d *reader) proxy(text []byte) {
	if d.Proxy || !d.budget.spend(Work, len(text)) {
		return
	}
	lower := bytes.ToLower(text)
	d.Proxy = bytes.Contains(lower, []byte("https_proxy")) || bytes.Contains(lower, []byte("https-proxy"))
}

// text reads a part by what it looks like, as cloud-init does where nothing
// says what it is.
func (d *reader) text(text string, part int) {
	if !d.budget.spend(Work, len(text)) {
		return
	}
	trimmed := strings.TrimSpace(text)
	lower := strings.ToLower(trimmed)
	switch {
	case trimmed == "":
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		d.add(Noise)
	case strings.HasPrefix(trimmed, "#cloud-config"):
		d.cloudConfig(text)
	case strings.HasPrefix(trimmed, "#!"):
		d.shell(text)
	case strings.Contains(lower, "<powershell>") || strings.Contains(lower, "-eksclustername"):
		d.powershell(text)
	case looksLikeSettings(text):
		d.bottlerocket(text)
	case looksLikeNodeConfig(text):
		d.nodeConfig(text, part)
	case strings.Contains(text, "/etc/eks/bootstrap.sh"):
		// cloud-init runs only what begins with #!.
		d.add(Noise)
		d.scripted("bootstrap.sh")
	default:
		d.add(Noise)
	}
}

func (d *Document) add(k Kind) {
	if !d.Has(k) {
		d.Kinds = append(d.Kinds, k)
	}
}

func (d *Document) scripted(name string) {
	if !slices.Contains(d.Scripted, name) {
		d.Scripted = append(d.Scripted, name)
	}
}

// set takes a setting over if it is given: the later wins.
func (s *Setting) set(v Setting) {
	if v.Given {
		*s = v
	}
}

// Authorities are the certificates in a certificate authority as user data
// gives it, in DER: base64 of PEM. None is returned for what is neither.
func Authorities(ca string) [][]byte {
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(ca))
	if err != nil {
		return nil
	}
	return Certificates(text)
}

// Certificates are the certificates in PEM, in DER.
func Certificates(text []byte) [][]byte {
	var list [][]byte
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return list
		}
		if block.Type == "CERTIFICATE" {
			list = append(list, block.Bytes)
		}
		text = rest
	}
}

// shell reads a shell script.
func (d *reader) shell(script string) {
	before := d.Calls
	d.calls(script)
	d.DropIn = d.DropIn || strings.Contains(script, dropInFolder)
	if d.Calls == before {
		d.add(Shell)
		d.mention(script)
		return
	}
	if strings.Contains(script, "nodeadm") {
		d.scripted("nodeadm")
	}
}

// mention notes the means of joining that a text speaks of and that could not
// be followed: a file that is written and run later, a path in a variable.
// What runs text from elsewhere may do anything.
func (d *reader) mention(text string) {
	if !d.budget.spend(Work, len(text)) {
		return
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if strings.Contains(line, "nodeadm") {
			d.scripted("nodeadm")
		}
		for _, word := range []string{"kube", "eks", "cluster"} {
			d.Speaks = d.Speaks || strings.Contains(strings.ToLower(line), word)
		}
		if strings.Contains(line, "bootstrap") { // eksctl's is bootstrap.al2.sh
			d.scripted("bootstrap.sh")
		}
		for _, fetch := range []string{"curl ", "wget ", "aws s3", "ansible", "git clone", "source ", "apiclient"} {
			if strings.Contains(line, fetch) {
				d.scripted("a script from elsewhere")
			}
		}
	}
}

// calls follows the calls of /etc/eks/bootstrap.sh in a script. The last one
// wins: it writes the kubelet's settings anew.
func (d *reader) calls(script string) {
	for _, c := range d.budget.commands(script) {
		at := slices.IndexFunc(c.words, func(w string) bool { return strings.HasSuffix(w, "/etc/eks/bootstrap.sh") })
		if at < 0 {
			continue
		}
		if !runs(c.words[:at]) {
			d.scripted("bootstrap.sh") // edited, copied, made executable
			continue
		}
		d.add(Bootstrap)
		d.Calls++
		d.Branch = d.Branch || c.branch
		d.bootstrap(c.words[at+1:])
	}
}

// runs reports whether a command's first words run what comes next.
func runs(words []string) bool {
	for _, w := range words {
		switch w {
		case "sudo", "exec", "bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash", "nohup", "time", "env", "source", ".", "!", "if", "then", "else", "do", "{", "command", "while", "until":
			continue
		}
		if strings.HasPrefix(w, "-") || strings.Contains(w, "=") {
			continue
		}
		return false
	}
	return true
}

// bootstrap reads the arguments as the script does (templates/al2/runtime/
// bootstrap.sh of github.com/awslabs/amazon-eks-ami): its flags take the next
// word, the first word that belongs to no flag is the cluster's name.
func (d *reader) bootstrap(args []string) {
	var name, endpoint, ca, cidr, family Setting
	var flags []string
	for i := 0; i < len(args); i++ {
		if !takesValue(args[i]) {
			if !name.Given {
				name = setting(args[i])
			}
			continue
		}
		if i+1 == len(args) {
			break
		}
		value := args[i+1]
		switch args[i] {
		case "--apiserver-endpoint":
			endpoint = setting(value)
		case "--b64-cluster-ca":
			ca = setting(value)
		case "--service-ipv6-cidr":
			cidr = setting(value)
		case "--ip-family":
			family = setting(strings.ToLower(value))
		case "--dns-cluster-ip":
			if s := setting(value); s.Known() {
				d.DNS = strings.Split(s.Value, ",")
			}
		case "--kubelet-extra-args":
			flags = d.budget.fields(value)
		}
		i++
	}
	if cidr.Given && !family.Given {
		family = Setting{Value: "ipv6", Given: true}
	}
	d.Name, d.Endpoint, d.CA, d.ServiceCIDR, d.Family, d.Flags = name, endpoint, ca, cidr, family, flags
	// Without both it asks EKS, and what was given of the two counts for nothing.
	d.Describes = missing(endpoint) || missing(ca)
}

func missing(s Setting) bool { return !s.Computed && s.Value == "" }

// takesValue tells the flags of bootstrap.sh.
func takesValue(flag string) bool {
	switch flag {
	case "--use-max-pods", "--b64-cluster-ca", "--apiserver-endpoint", "--kubelet-extra-args", "--enable-docker-bridge",
		"--aws-api-retry-attempts", "--docker-config-json", "--containerd-config-file", "--pause-container-account",
		"--pause-container-version", "--dns-cluster-ip", "--container-runtime", "--ip-family", "--service-ipv6-cidr",
		"--service-ipv4-cidr", "--enable-local-outpost", "--cluster-id", "--mount-bpf-fs", "--local-disks":
		return true
	}
	return false
}

// fields splits the kubelet's arguments; quotes within them hold together.
func (b *budget) fields(text string) []string {
	var list []string
	for _, c := range b.commands(strings.ReplaceAll(text, "\n", " ")) {
		list = append(list, c.words...)
	}
	return list
}

// looksLikeSettings tells Bottlerocket's settings: a table or a key that
// begins with settings.
func looksLikeSettings(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), `[ "'`)
		if strings.HasPrefix(line, "settings.") || strings.HasPrefix(line, `settings".`) || strings.HasPrefix(line, "settings]") {
			return true
		}
	}
	return false
}

// bottlerocket reads settings.kubernetes. The names are those of
// bottlerocket.dev, "settings.kubernetes.*".
func (d *reader) bottlerocket(text string) {
	d.add(Bottlerocket)
	if !d.budget.spend(Work, formatWork*len(text)) {
		return
	}
	var doc map[string]any
	if err := toml.Unmarshal([]byte(text), &doc); err != nil {
		f := Fault{Kind: BadTOML, Detail: "the settings are no valid TOML"}
		var bad *toml.DecodeError
		if errors.As(err, &bad) {
			f.Line, _ = bad.Position()
		}
		d.Faults = append(d.Faults, f)
		return
	}
	settings := table(doc["settings"])
	k := table(settings["kubernetes"])
	for _, f := range []struct {
		key string
		to  *Setting
	}{{"cluster-name", &d.Name}, {"api-server", &d.Endpoint}, {"cluster-certificate", &d.CA}} {
		switch v := k[f.key].(type) {
		case nil:
		case string:
			f.to.set(Setting{Value: strings.TrimSpace(v), Given: true})
		default:
			d.Faults = append(d.Faults, Fault{Kind: BadType, Detail: fmt.Sprintf("settings.kubernetes.%s is not a string", f.key)})
		}
	}
	switch v := k["cluster-dns-ip"].(type) {
	case string:
		d.DNS = []string{v}
	case []any:
		d.DNS = nil
		for _, ip := range v {
			d.DNS = append(d.DNS, fmt.Sprint(ip))
		}
	}
	if v, ok := k["max-pods"]; ok {
		d.MaxPods.set(Setting{Value: fmt.Sprint(v), Given: true})
	}
	for key, v := range table(k["node-labels"]) {
		d.label(key, fmt.Sprint(v))
	}
	// Bootstrap containers and commands may set anything through the API, and
	// other ways to authenticate need other settings.
	if settings["bootstrap-containers"] != nil || settings["bootstrap-commands"] != nil || k["standalone-mode"] != nil || k["authentication-mode"] != nil {
		d.scripted("Bottlerocket settings")
	}
}

func table(v any) map[string]any {
	t, _ := v.(map[string]any)
	return t
}

// Limit is something of which the reading of one document takes only so much.
type Limit string

// The limits. They hold for the whole of a document, with all that is packed
// in it, and they count: a clock would give another answer on a busy machine.
const (
	Unpacked Limit = "bytes unpacked"
	Parts    Limit = "parts"
	Work     Limit = "bytes looked at"
)

// EC2 takes 16 KB of user data (EC2 user guide, "Run commands when you launch
// an EC2 instance with user data input"). What people write unpacks to some
// 100 KB and has a handful of parts: each limit is several times that, and all
// of it together takes some tenths of a second on a busy machine.
const (
	maxUnpacked = 512 << 10
	maxParts    = 100
	maxWork     = 4 << 20
)

// OverBudget is the error of a document that was not read because it takes
// more than any that is meant to be read. What is in it is not known.
type OverBudget struct {
	Of   Limit
	Most int
}

func (e *OverBudget) Error() string {
	return fmt.Sprintf("the user data is over budget: reading it takes more than %d %s", e.Most, e.Of)
}

// budget is what is left for a document. Once it is over it stays over, and
// what reads the document ends without a result.
type budget struct {
	unpacked, parts, work int
	over                  *OverBudget
}

func newBudget() *budget { return &budget{unpacked: maxUnpacked, parts: maxParts, work: maxWork} }

// spend takes n of a limit, and reports whether there was as much.
func (b *budget) spend(of Limit, n int) bool {
	left, most := &b.work, maxWork
	switch of {
	case Unpacked:
		left, most = &b.unpacked, maxUnpacked
	case Parts:
		left, most = &b.parts, maxParts
	}
	if *left -= n; *left < 0 && b.over == nil {
		b.over = &OverBudget{Of: of, Most: most}
	}
	return b.over == nil
}

// cloudConfig reads the commands of cloud-init's own format.
func (d *reader) cloudConfig(text string) {
	d.add(CloudConfig)
	first, _, err := d.budget.documents(text)
	root := d.budget.object(first)
	if err != nil || root == nil {
		d.mention(text)
		return
	}
	var script strings.Builder
	for _, key := range []string{"bootcmd", "runcmd"} {
		list := root.get(key)
		if list == nil || list.n.Kind != yaml.SequenceNode {
			continue
		}
		for _, item := range list.n.Content {
			script.WriteString(d.budget.line(resolve(item)) + "\n")
		}
	}
	d.dropIns(root.get("write_files"))
	d.DropIn = d.DropIn || strings.Contains(script.String(), dropInFolder)
	before := d.Calls
	d.calls(script.String())
	if d.Calls > before {
		return
	}
	d.mention(text)
	if root.get("write_files") != nil && strings.TrimSpace(script.String()) != "" {
		d.scripted("a file that it writes")
	}
}

// line is one command: a string for the shell, or a list of words.
func (b *budget) line(n *yaml.Node) string {
	if n == nil || b.over != nil {
		return ""
	}
	if n.Kind == yaml.ScalarNode {
		b.spend(Work, len(n.Value)) // an alias repeats it
		return n.Value
	}
	var words []string
	for _, w := range n.Content {
		if w = resolve(w); w != nil && w.Kind == yaml.ScalarNode && b.spend(Work, len(w.Value)) {
			words = append(words, "'"+strings.ReplaceAll(w.Value, "'", `'\''`)+"'")
		}
	}
	return strings.Join(words, " ")
}

// dropInFolder is from where nodeadm merges NodeConfigs over that of the user data.
const dropInFolder = "/etc/eks/nodeadm.d/"

// dropIns keeps the NodeConfigs that write_files puts into nodeadm's folder.
func (d *reader) dropIns(files *node) {
	if files == nil || files.n.Kind != yaml.SequenceNode {
		return
	}
	for _, item := range files.n.Content {
		file := d.budget.object(item)
		if !strings.HasPrefix(file.get("path").text(), dropInFolder) {
			continue
		}
		content, encoding := file.get("content").text(), file.get("encoding").text()
		if !looksLikeNodeConfig(content) || encoding != "" && encoding != "text/plain" {
			d.DropIn = true
			continue
		}
		d.late = append(d.late, content)
	}
}

// mostDecoded bounds how often Essential decodes: user data has 16 KiB, of which a few
// lines are read.
const mostDecoded = 2000

// Essential returns user data, without base64 around it, in which the lines are empty that
// make no difference to what Decode returns. Line numbers stay. User data that cannot be
// decoded is returned whole.
func Essential(text string) string {
	want, err := Decode([]byte(text))
	if err != nil {
		return text
	}
	lines := strings.Split(text, "\n")
	left := mostDecoded
	var reduce func(from, to int)
	reduce = func(from, to int) {
		if left--; left < 0 {
			return
		}
		kept := append([]string(nil), lines[from:to]...)
		clear(lines[from:to])
		if got, err := Decode([]byte(strings.Join(lines, "\n"))); err == nil && reflect.DeepEqual(got, want) {
			return
		}
		copy(lines[from:to], kept)
		if middle := (from + to) / 2; middle > from {
			reduce(from, middle)
			reduce(middle, to)
		}
	}
	reduce(0, len(lines))
	return strings.Join(lines, "\n")
}

// Flag is the last value of a flag of the kubelet, named without dashes.
func (d Document) Flag(name string) Setting {
	var s Setting
	for _, v := range d.flagValues(name) {
		s = setting(v)
	}
	return s
}

// flagValues are all values of a flag: "--name=value" or "--name value".
func (d Document) flagValues(name string) []string {
	var list []string
	for i, f := range d.Flags {
		switch key, value, joined := strings.Cut(f, "="); {
		case key != "--"+name:
		case joined:
			list = append(list, value)
		case i+1 < len(d.Flags):
			list = append(list, d.Flags[i+1])
		}
	}
	return list
}

// readFlags draws from the flags what they say.
func (d *Document) readFlags() {
	for i, f := range d.Flags {
		d.Flags[i] = unquote(f)
	}
	for _, value := range d.flagValues("node-labels") {
		for label := range strings.SplitSeq(unquote(value), ",") {
			key, value, _ := strings.Cut(strings.TrimSpace(label), "=")
			d.label(key, value)
		}
	}
	if s := d.Flag("max-pods"); s.Given {
		d.MaxPods = s // a flag wins over the kubelet's config file
	}
	if s := d.Flag("cluster-dns"); s.Known() {
		d.DNS = strings.Split(s.Value, ",")
	}
	for i, f := range d.Flags {
		d.Flags[i] = strings.ReplaceAll(f, hole, "…")
	}
}

func (d *Document) label(key, value string) {
	if key == "" || strings.Contains(key, hole) {
		return
	}
	if d.Labels == nil {
		d.Labels = map[string]string{}
	}
	d.Labels[key] = setting(value).Value
}

// unquote takes off one pair of quotes around a whole text.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// setting is a word of a script as a setting.
func setting(word string) Setting {
	if strings.Contains(word, hole) {
		return Setting{Given: true, Computed: true}
	}
	return Setting{Value: word, Given: true}
}

// nodeConfigType is the content type of a part for nodeadm.
const nodeConfigType = "application/node.eks.aws"

// multipart reads MIME multi-part, and reports whether the text is that. The
// strict reader is the one that nodeadm has (mail and multipart of the
// standard library): what it refuses, nodeadm refuses. cloud-init, which runs
// the scripts, is more lenient: the parts that the strict reader did not come
// to are still looked at.
func (d *reader) multipart(text []byte) bool {
	content, body, ok := header(text)
	if !ok {
		trimmed := bytes.TrimLeft(text, " \t\r\n")
		if len(trimmed) == len(text) {
			return false
		}
		if content, body, ok = header(trimmed); !ok {
			return false
		}
		d.Faults = append(d.Faults, Fault{Kind: BadMIME, Line: 1, Detail: "empty lines or spaces stand before the header"})
	}
	d.Multipart = true
	d.parts(content, body, 0)
	return true
}

// header takes the header of a multi-part off.
func header(text []byte) (contentType string, body []byte, ok bool) {
	msg, err := mail.ReadMessage(bytes.NewReader(text))
	if err != nil {
		return "", nil, false
	}
	content := msg.Header.Get("Content-Type")
	if !strings.HasPrefix(strings.ToLower(content), "multipart/") {
		return "", nil, false
	}
	rest, err := io.ReadAll(msg.Body)
	if err != nil {
		return "", nil, false
	}
	return content, rest, true
}

func (d *reader) parts(content string, body []byte, depth int) {
	_, params, err := mime.ParseMediaType(content)
	boundary := params["boundary"]
	if err != nil || boundary == "" {
		d.Faults = append(d.Faults, Fault{Kind: BadMIME, Line: 1, Detail: "Content-Type names no boundary"})
		return
	}
	if !d.budget.spend(Work, len(body)) {
		return
	}
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	for number := 1; d.budget.over == nil; number++ {
		part, err := r.NextPart()
		if err == io.EOF {
			// Not errors.Is: an end without the closing boundary is io.EOF
			// too, wrapped, and nodeadm refuses that.
			return
		}
		if err != nil {
			rest := lenient(body, boundary)
			if len(rest) == 0 {
				return // an empty one: nothing in it is lost
			}
			d.broken(err, number, boundary)
			for i, p := range rest {
				if i+1 >= number {
					d.part(p.header, p.body, i+1, depth)
				}
			}
			return
		}
		text, err := io.ReadAll(part)
		if err != nil {
			d.broken(err, number, boundary)
		}
		d.part(part.Header, text, number, depth)
		if err != nil {
			return
		}
	}
}

// broken notes why the strict reader gave up.
func (d *Document) broken(err error, number int, boundary string) {
	f := Fault{Kind: BadMIME, Part: number, Detail: fmt.Sprintf("part %d cannot be read", number)}
	var malformed textproto.ProtocolError
	switch {
	case errors.As(err, &malformed):
		f.Detail = fmt.Sprintf("the header of part %d is not ended by an empty line", number)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		f.Part = 0
		f.Detail = fmt.Sprintf("the closing boundary --%s-- is missing", clip(boundary))
	}
	d.Faults = append(d.Faults, f)
}

func clip(s string) string {
	const limit = 70 // RFC 2046 gives a boundary no more
	if len(s) > limit {
		return s[:limit]
	}
	return s
}

func (d *reader) part(h textproto.MIMEHeader, body []byte, number, depth int) {
	const deepest = 3
	if !d.budget.spend(Parts, 1) {
		return
	}
	if strings.EqualFold(strings.TrimSpace(h.Get("Content-Transfer-Encoding")), "base64") {
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(body))); err == nil {
			body = plain
			d.budget.spend(Unpacked, len(plain))
		}
	}
	body, err := d.budget.unpack(body)
	if d.budget.over != nil {
		return
	}
	if err != nil {
		d.Faults = append(d.Faults, Fault{Kind: BadMIME, Part: number, Detail: fmt.Sprintf("part %d cannot be unpacked", number)})
		return
	}
	d.proxy(body)
	content := h.Get("Content-Type")
	kind, _, _ := mime.ParseMediaType(content)
	switch {
	case strings.HasPrefix(kind, "multipart/"):
		if depth < deepest {
			d.parts(content, body, depth+1)
		}
	case kind == nodeConfigType:
		if depth > 0 {
			d.Nested = true
		}
		d.nodeConfig(string(body), number)
	case kind == "text/x-shellscript", kind == "text/cloud-boothook":
		d.shell(string(body))
	case kind == "text/cloud-config":
		d.cloudConfig(string(body))
	default:
		d.text(string(body), number)
	}
}

type piece struct {
	header textproto.MIMEHeader
	body   []byte
}

// lenient splits at the boundary, as the mail parser behind cloud-init does:
// a header ends at the first line that is no header.
func lenient(body []byte, boundary string) []piece {
	var list []piece
	var current *piece
	inHeader := false
	for line := range bytes.Lines(body) {
		bare := strings.TrimRight(string(line), " \t\r\n")
		if bare == "--"+boundary+"--" {
			break
		}
		if bare == "--"+boundary {
			if len(list) > maxParts {
				return list // over budget already
			}
			list = append(list, piece{header: textproto.MIMEHeader{}})
			current, inHeader = &list[len(list)-1], true
			continue
		}
		if current == nil {
			continue
		}
		if inHeader {
			name, value, isHeader := strings.Cut(bare, ":")
			if isHeader && name != "" && !strings.ContainsAny(name, " \t#/") {
				current.header.Add(name, strings.TrimSpace(value))
				continue
			}
			inHeader = false
			if bare == "" {
				continue
			}
		}
		current.body = append(current.body, line...)
	}
	return list
}
