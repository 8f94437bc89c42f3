// Package ownership decides who owns what an incident is about, and where they look: the team,
// the service, the runbook and the dashboard that labels, tags or settings name.
//
// Whoever can label a nodegroup or tag a subnet can write anything there. Their text is
// shortened and loses all marks; an address is a link only if the settings allow its host.
package ownership

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"rollcall/shared/config"
	"rollcall/shared/lazyregexp"
	"rollcall/shared/report"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

// Field is one thing that is known of an owner.
type Field string

// The fields, in the order in which they are shown.
const (
	Team      Field = "team"
	Service   Field = "service"
	Runbook   Field = "runbook"
	Dashboard Field = "dashboard"
)

// Fields returns all fields, in their order.
func Fields() []Field { return []Field{Team, Service, Runbook, Dashboard} }

// IsAddress reports whether a field's value is an address.
func (f Field) IsAddress() bool { return f == Runbook || f == Dashboard }

// Owner is what is known of an owner: a value for each field that is known, in their order.
type Owner []Value

// Value is one field of an owner.
type Value struct {
	Field Field `json:"field"`
	// Text is for people: a name, or an address without its scheme, so that no reader of a
	// mail makes a link of it.
	Text string `json:"text"`
	// URL is the address where it may be a link; empty where Text is all that is shown.
	URL string `json:"url,omitempty"`
	// From is the kind of thing whose label or tag it is; empty for a setting.
	From Kind `json:"from,omitempty"`
}

// Link is the URL of a value as one that any reader understands the same; empty for none.
func (v Value) Link() string {
	if _, ok := link(v.URL); ok {
		return v.URL
	}
	return ""
}

// Kind is the kind of a thing with labels or tags.
type Kind = string

// The kinds. A Nodegroup has its labels and tags and those of its Auto Scaling group, a
// NodePool its labels and the tags of its class.
const (
	Nodegroup Kind = "nodegroup"
	NodePool  Kind = "nodepool"
	Subnet    Kind = "subnet"
	VPC       Kind = "vpc"
	Cluster   Kind = "cluster"
)

// Kinds returns all kinds, nearest to a cause first.
func Kinds() []Kind { return []Kind{Nodegroup, NodePool, Subnet, VPC, Cluster} }

// Settings are what an operator sets about owners.
type Settings struct {
	// Names are the labels and tags that a field is read from; the first that is found counts.
	Names map[Field][]string
	// Hosts are those to which an address of a tag can be a link; "*.example.com" is every
	// host below example.com.
	Hosts []string
	// Fixed are the values of clusters where no label or tag has one.
	Fixed []Fixed
}

// Fixed is a field's value for a cluster.
type Fixed struct {
	// Cluster is zero for every cluster.
	Cluster spoke.Cluster
	Field   Field
	Value   string
}

// The most characters of a value. AWS allows 256 for a tag's value.
const (
	maxName    = 60
	maxAddress = 256
)

// mostNames is how many values of things of one kind are shown.
const mostNames = 3

// Decide returns the owner of a cluster's things, which are ordered by how near they are to
// the cause: the nearest kind that has a value decides. An address that cannot be a link
// is shown only where nothing else has one that can.
func (s Settings) Decide(things []report.Tagged, cluster spoke.Cluster) Owner {
	var all Owner
	for _, f := range Fields() {
		v := s.tagged(f, things)
		if fixed := s.fixed(f, cluster); v.Text == "" || f.IsAddress() && v.URL == "" && fixed.URL != "" {
			v = fixed
		}
		if v.Text != "" {
			all = append(all, v)
		}
	}
	return all
}

// Merge returns what two looks know of an owner. A look that read less erases nothing: a
// value gives way to a newer one that is as near, and never a link to a text.
func (o Owner) Merge(newer Owner) Owner {
	var all Owner
	for _, f := range Fields() {
		v, next := o.value(f), newer.value(f)
		less := v.URL != "" && next.URL == "" || next.rank() > v.rank() && (next.URL == "" || v.URL != "")
		part := next.From == v.From && !f.IsAddress() && strings.Contains(v.Text, next.Text)
		if next.Text != "" && (v.Text == "" || !less && !part) {
			v = next
		}
		if v.Text != "" {
			all = append(all, v)
		}
	}
	return all
}

func (o Owner) value(f Field) Value {
	if i := slices.IndexFunc(o, func(v Value) bool { return v.Field == f }); i >= 0 {
		return o[i]
	}
	return Value{}
}

// rank orders values by how near they are; settings come last.
func (v Value) rank() int {
	if i := slices.Index(Kinds(), v.From); i >= 0 {
		return i
	}
	return len(Kinds())
}

// tagged is the value of a field in labels and tags.
func (s Settings) tagged(f Field, things []report.Tagged) Value {
	var fallback Value
	var names []string
	var kind Kind
	for _, thing := range things {
		if len(names) > 0 && thing.Kind != kind {
			break
		}
		text := s.lookUp(f, thing.Tags)
		if !f.IsAddress() {
			if text = short(plain(text), maxName); text != "" && !slices.Contains(names, text) {
				names, kind = append(names, text), thing.Kind
			}
			continue
		}
		v := Value{Field: f, Text: bare(text), From: thing.Kind}
		if address, ok := link(text); ok && s.allows(address.Hostname()) {
			v.URL = text
			return v
		}
		if fallback.Text == "" {
			fallback = v
		}
	}
	if len(names) > 0 {
		return Value{Field: f, Text: few(names), From: kind}
	}
	return fallback
}

// lookUp returns the value of the first tag of a field's names. AWS's tags are often
// written "Team", and Kubernetes' labels "team".
func (s Settings) lookUp(f Field, tags map[string]string) string {
	keys := slices.Sorted(maps.Keys(tags))
	for _, name := range s.Names[f] {
		if value := tags[name]; value != "" {
			return value
		}
		for _, key := range keys {
			if strings.EqualFold(key, name) && tags[key] != "" {
				return tags[key]
			}
		}
	}
	return ""
}

// fixed is the value of a field in the settings: that of the cluster before that of all.
func (s Settings) fixed(f Field, cluster spoke.Cluster) Value {
	for _, of := range []spoke.Cluster{cluster, {}} {
		for _, x := range s.Fixed {
			switch {
			case x.Field != f || x.Cluster != of:
			case f.IsAddress():
				return Value{Field: f, Text: bare(x.Value), URL: x.Value}
			default:
				return Value{Field: f, Text: short(plain(x.Value), maxName)}
			}
		}
	}
	return Value{}
}

// allows reports whether an address of a tag may lead to a host.
func (s Settings) allows(host string) bool {
	host = strings.ToLower(host)
	return slices.ContainsFunc(s.Hosts, func(allowed string) bool {
		below, star := strings.CutPrefix(allowed, "*")
		return host == allowed || star && strings.HasSuffix(host, below)
	})
}

// link reads an address that a browser understands as it is written: https, a host alone,
// and characters that need no escape (RFC 3986, 2), so that no two readers differ about it.
func link(text string) (*url.URL, bool) {
	unclear := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\\\"<>|`^{}", r) }
	if len(text) > maxAddress || strings.ContainsFunc(text, unclear) {
		return nil, false
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Host == "" || u.Host != u.Hostname() {
		return nil, false
	}
	return u, true
}

// plain is text on one line, without invisible characters, and without those by which a
// target of Rollcall marks a link, a mention or bold text.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r), strings.ContainsRune("<>|*`[]", r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	for strings.Contains(text, "://") { // what is left may begin another one
		text = schemes.ReplaceAllString(text, "")
	}
	return strings.Join(strings.Fields(text), " ")
}

// schemes are the beginnings of addresses.
var schemes = lazyregexp.New(`[A-Za-z0-9+.-]*://`)

// bare is an address as text.
func bare(text string) string { return short(plain(text), maxAddress) }

// short is text of at most so many characters.
func short(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return strings.TrimSpace(string(r[:most-1])) + "…"
	}
	return text
}

// few is the first of several names, and how many more there are.
func few(names []string) string {
	if left := len(names) - mostNames; left > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames], ", "), left)
	}
	return strings.Join(names, ", ")
}

// Parse reads the settings ownerTags, owners and linkHosts. Package config keeps them as they
// are written, because most functions have no need of this package. An error is a
// config.SettingError.
func Parse(texts map[spec.Variable]string) (s Settings, err error) {
	if s.Names, err = ParseTags(texts[config.OwnerTags]); err != nil {
		return s, &config.SettingError{Variable: config.OwnerTags, Err: err}
	}
	if s.Fixed, err = ParseOwners(texts[config.Owners]); err != nil {
		return s, &config.SettingError{Variable: config.Owners, Err: err}
	}
	if s.Hosts, err = ParseHosts(texts[config.LinkHosts]); err != nil {
		return s, &config.SettingError{Variable: config.LinkHosts, Err: err}
	}
	return s, nil
}

// ParseTags reads which labels and tags each field is read from.
func ParseTags(text string) (map[Field][]string, error) {
	all := map[Field][]string{}
	for part := range strings.SplitSeq(text, ",") {
		name, list, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return nil, fmt.Errorf("%q: want the form team=NAME+NAME", part)
		}
		f, err := field(name)
		if err != nil {
			return nil, err
		}
		if all[f] != nil {
			return nil, fmt.Errorf("%s is named twice: join its names by +", f)
		}
		for key := range strings.SplitSeq(list, "+") {
			// A tag's key (EC2 API reference, Tag): a label's, with its prefix, may be longer.
			if key == "" || len([]rune(key)) > 128 {
				return nil, fmt.Errorf("%q is no name of a label or tag: it has 1 to 128 characters", key)
			}
			all[f] = append(all[f], key)
		}
	}
	return all, nil
}

// hostName is a host below a registered domain, or, with a star, all of them.
var hostName = lazyregexp.New(`^(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])?$`)

// ParseHosts reads the hosts to which an address of a tag can be a link, or "none".
func ParseHosts(text string) ([]string, error) {
	if text == "none" {
		return nil, nil
	}
	var list []string
	for host := range strings.SplitSeq(text, ",") {
		host = strings.ToLower(strings.TrimSpace(host))
		if !hostName.MatchString(host) || strings.HasPrefix(host, "*.") && strings.Count(host, ".") < 2 {
			return nil, fmt.Errorf("%q is no name of a host like wiki.example.com or *.example.com", host)
		}
		list = append(list, host)
	}
	return list, nil
}

// ParseOwners reads the values of clusters, or "none":
//
//	all/team=platform,prod/runbook=https://wiki.example.com/prod
//
// What else a value has is written as in an address: %2C is a comma.
func ParseOwners(text string) ([]Fixed, error) {
	if text == "none" {
		return nil, nil
	}
	// EKS's own rule for a cluster's name (CreateCluster).
	clusterName := regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$`)
	var list []Fixed
	for part := range strings.SplitSeq(text, ",") {
		subject, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		at := strings.LastIndex(subject, "/")
		if !ok || at < 0 {
			return nil, fmt.Errorf("%q: want the form CLUSTER/team=VALUE", part)
		}
		f, err := field(subject[at+1:])
		if err != nil {
			return nil, err
		}
		x := Fixed{Field: f}
		if name := subject[:at]; name != "all" {
			if x.Cluster, err = spoke.ParseCluster(name); err != nil || !clusterName.MatchString(x.Cluster.Name) {
				return nil, fmt.Errorf("%q is neither a cluster's name nor all", name)
			}
		}
		// An address has its own escapes.
		if x.Value = value; !f.IsAddress() {
			if x.Value, err = url.PathUnescape(value); err != nil {
				return nil, fmt.Errorf("%q: a percent sign is written %%25", value)
			}
		}
		if plain(x.Value) == "" {
			return nil, fmt.Errorf("%q has no text", part)
		}
		if _, ok := link(x.Value); f.IsAddress() && !ok {
			return nil, fmt.Errorf("%q is not an https address of at most %d characters", value, maxAddress)
		}
		list = append(list, x)
	}
	return list, nil
}

func field(name string) (Field, error) {
	if f := Field(name); slices.Contains(Fields(), f) {
		return f, nil
	}
	return "", fmt.Errorf("%q is none of team, service, runbook, dashboard", name)
}
