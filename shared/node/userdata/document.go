// Package userdata reads what an instance is told at its start: how it is to
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
	"slices"
	"strings"
	"unicode/utf8"
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
	// Computed tells that a script works it out when it runs: there is no
	// value to compare.
	Computed bool
}

// Known tells that there is a value to compare.
func (s Setting) Known() bool { return s.Given && !s.Computed }

// Document is what user data says. Settings of several parts are joined as
// the image would join them: the later wins, flags of the kubelet add up.
type Document struct {
	// Kinds are the formats in it, in their order and each once; none for
	// empty user data.
	Kinds []Kind
	// Multipart tells that it is MIME multi-part.
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
	// tells that one of them stands in a branch, which may not be taken.
	Calls  int
	Branch bool
	// Describes tells that bootstrap asks EKS for what it was not given: it
	// needs to reach EKS and the permission eks:DescribeCluster.
	Describes bool
	// Scripted are the means of joining ("nodeadm", "bootstrap.sh") that a
	// script or cloud-config speaks of in a way that cannot be followed.
	Scripted []string
	// Later are the YAML documents behind the first of a part. nodeadm reads
	// only the first.
	Later int
	// Nested tells that a NodeConfig stands in a multi-part within the
	// multi-part: nodeadm does not look there.
	Nested bool
	// Speaks tells that a script without a bootstrap speaks of a cluster: what it writes may
	// be for a unit of the image that joins one.
	Speaks bool
	// Proxy tells that something in it names a proxy for HTTPS: the variable of
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

// Has tells that a format was found.
func (d Document) Has(k Kind) bool { return slices.Contains(d.Kinds, k) }

// Empty tells that there is no user data, or only white space.
func (d Document) Empty() bool { return len(d.Kinds) == 0 && len(d.Faults) == 0 && !d.Multipart }

// Joins tells that there is something in it that makes a node join.
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
