// Package kubeapi is the read side of a Kubernetes API server, for the local
// stage: discovery, list and get of the kinds that Rollcall and a person with
// kubectl look at, with label and field selectors, pages, tables, and the API's
// own errors. What the objects are, who the caller is and what he may see is
// asked of the Config.
package kubeapi

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"rollcall/stage/platform/wire"
)

// Authority is a cluster's certificate authority. It is made anew at each
// start and its key never leaves memory.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// certificateLife is long enough for a stage that is left running.
const certificateLife = 30 * 24 * time.Hour

// NewAuthority makes an authority that is valid around now.
func NewAuthority(now time.Time) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the authority's key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("sign the authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the authority: %w", err)
	}
	return &Authority{cert: cert, key: key}, nil
}

// PEM is the authority's certificate, as EKS hands it out (in base64).
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// ServerTLS makes the TLS configuration of an API server on loopback.
func (a *Authority) ServerTLS() (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the server's key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "kube-apiserver"},
		NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost", "kubernetes"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("sign the server's certificate: %w", err)
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
	}, nil
}

// discovery answers the paths by which a client learns what is served. It
// returns nil for other paths.
func discovery(path, version string, kinds []Kind) any {
	switch strings.Trim(path, "/") {
	case "version":
		major, minor, _ := strings.Cut(version, ".")
		return map[string]any{"major": major, "minor": minor, "gitVersion": "v" + version + ".0-eks-stage", "platform": "linux/amd64"}
	case "api":
		return map[string]any{"kind": "APIVersions", "versions": []string{"v1"}, "serverAddressByClientCIDRs": []any{}}
	case "apis":
		list := []any{}
		for _, g := range groups(kinds) {
			list = append(list, apiGroup(g, kinds))
		}
		return map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": list}
	case "api/v1":
		return resourceList("", "v1", kinds)
	}
	for _, g := range groups(kinds) {
		switch strings.Trim(path, "/") {
		case "apis/" + g:
			group := apiGroup(g, kinds)
			group["kind"], group["apiVersion"] = "APIGroup", "v1"
			return group
		case "apis/" + g + "/" + versionOf(g, kinds):
			return resourceList(g, versionOf(g, kinds), kinds)
		}
	}
	return nil
}

// versionOf is the one version in which a group is served.
func versionOf(group string, kinds []Kind) string {
	for _, k := range kinds {
		if k.Group == group {
			return k.Version
		}
	}
	return "v1"
}

func apiGroup(name string, kinds []Kind) map[string]any {
	v := versionOf(name, kinds)
	version := map[string]string{"groupVersion": name + "/" + v, "version": v}
	return map[string]any{"name": name, "versions": []any{version}, "preferredVersion": version}
}

func resourceList(group, version string, kinds []Kind) any {
	resources := []any{}
	groupVersion := version
	for _, k := range kinds {
		if k.Group != group || k.Version != version {
			continue
		}
		groupVersion = k.groupVersion()
		resources = append(resources, map[string]any{
			"name": k.Plural, "singularName": k.Singular, "namespaced": k.Namespaced, "kind": k.Kind,
			"verbs": []string{"get", "list"}, "shortNames": k.Short,
		})
	}
	return map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": groupVersion, "resources": resources}
}

// Kind is a resource type that is served.
type Kind struct {
	Plural, Singular, Kind string
	Group, Version         string
	Namespaced             bool
	Short                  []string
	// Custom kinds are there only in clusters with their definition.
	Custom bool
}

func (k Kind) groupVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// kinds lists what is served: what a capture of a cluster holds, and who may do what.
func kinds() []Kind {
	return []Kind{
		{Plural: "configmaps", Singular: "configmap", Kind: "ConfigMap", Version: "v1", Namespaced: true, Short: []string{"cm"}},
		{Plural: "events", Singular: "event", Kind: "Event", Version: "v1", Namespaced: true, Short: []string{"ev"}},
		{Plural: "nodes", Singular: "node", Kind: "Node", Version: "v1", Short: []string{"no"}},
		{Plural: "persistentvolumeclaims", Singular: "persistentvolumeclaim", Kind: "PersistentVolumeClaim", Version: "v1", Namespaced: true, Short: []string{"pvc"}},
		{Plural: "persistentvolumes", Singular: "persistentvolume", Kind: "PersistentVolume", Version: "v1", Short: []string{"pv"}},
		{Plural: "pods", Singular: "pod", Kind: "Pod", Version: "v1", Namespaced: true, Short: []string{"po"}},
		{Plural: "serviceaccounts", Singular: "serviceaccount", Kind: "ServiceAccount", Version: "v1", Namespaced: true, Short: []string{"sa"}},
		{Plural: "daemonsets", Singular: "daemonset", Kind: "DaemonSet", Group: "apps", Version: "v1", Namespaced: true, Short: []string{"ds"}},
		{Plural: "certificatesigningrequests", Singular: "certificatesigningrequest", Kind: "CertificateSigningRequest",
			Group: "certificates.k8s.io", Version: "v1", Short: []string{"csr"}},
		{Plural: "clusterroles", Singular: "clusterrole", Kind: "ClusterRole", Group: "rbac.authorization.k8s.io", Version: "v1"},
		{Plural: "clusterrolebindings", Singular: "clusterrolebinding", Kind: "ClusterRoleBinding", Group: "rbac.authorization.k8s.io", Version: "v1"},
		{Plural: "roles", Singular: "role", Kind: "Role", Group: "rbac.authorization.k8s.io", Version: "v1", Namespaced: true},
		{Plural: "rolebindings", Singular: "rolebinding", Kind: "RoleBinding", Group: "rbac.authorization.k8s.io", Version: "v1", Namespaced: true},
		{Plural: "eniconfigs", Singular: "eniconfig", Kind: "ENIConfig", Group: "crd.k8s.amazonaws.com", Version: "v1alpha1", Custom: true},
		{Plural: "nodepools", Singular: "nodepool", Kind: "NodePool", Group: "karpenter.sh", Version: "v1", Custom: true},
		{Plural: "nodeclaims", Singular: "nodeclaim", Kind: "NodeClaim", Group: "karpenter.sh", Version: "v1", Custom: true},
		{Plural: "ec2nodeclasses", Singular: "ec2nodeclass", Kind: "EC2NodeClass", Group: "karpenter.k8s.aws", Version: "v1", Custom: true, Short: []string{"ec2nc"}},
		{Plural: "nodeclasses", Singular: "nodeclass", Kind: "NodeClass", Group: "eks.amazonaws.com", Version: "v1", Custom: true},
	}
}

func findKind(group, version, plural string) (Kind, bool) {
	for _, k := range kinds() {
		if k.Group == group && k.Version == version && k.Plural == plural {
			return k, true
		}
	}
	return Kind{}, false
}

// groups lists the API groups of kinds beside the core one.
func groups(kinds []Kind) []string {
	var out []string
	for _, k := range kinds {
		if k.Group != "" && !slices.Contains(out, k.Group) {
			out = append(out, k.Group)
		}
	}
	return out
}

// object is one Kubernetes object: its JSON, and what lists look at.
type object struct {
	raw  json.RawMessage
	meta struct {
		Metadata struct {
			Name, Namespace, UID string
			CreationTimestamp    string
			Labels               map[string]string
		}
	}
	tree map[string]any
	// named is set where raw has its kind and version.
	named bool
}

func (o object) name() string      { return o.meta.Metadata.Name }
func (o object) namespace() string { return o.meta.Metadata.Namespace }

// key orders objects as etcd does.
func (o object) key() string { return o.namespace() + "/" + o.name() }

// newObject reads an object; in its tree kind and version stand also where they are
// left out.
func newObject(k Kind, raw json.RawMessage) (object, error) {
	o := object{raw: raw}
	if err := json.Unmarshal(raw, &o.meta); err != nil {
		return o, fmt.Errorf("read a %s: %w", k.Kind, err)
	}
	if err := json.Unmarshal(raw, &o.tree); err != nil {
		return o, fmt.Errorf("read a %s: %w", k.Kind, err)
	}
	o.named = o.tree["kind"] != nil && o.tree["apiVersion"] != nil
	if !o.named {
		o.tree["kind"], o.tree["apiVersion"] = k.Kind, k.groupVersion()
	}
	return o, nil
}

// alone is the object as it is answered by itself: with kind and version.
func (o object) alone() (json.RawMessage, error) {
	if o.named {
		return o.raw, nil
	}
	return json.Marshal(o.tree)
}

// item is the object in a list: an API server writes kind and version into the items of
// custom resources alone (held against one in tools/kubetest).
func (o object) item(k Kind) (json.RawMessage, error) {
	switch {
	case k.Custom:
		return o.alone()
	case !o.named:
		return o.raw, nil
	}
	tree := maps.Clone(o.tree)
	delete(tree, "kind")
	delete(tree, "apiVersion")
	return json.Marshal(tree)
}

// field returns the text at a path of names, empty if there is none. Booleans
// and numbers are written as the API writes them in field selectors.
func (o object) field(path string) string {
	var v any = o.tree
	for name := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		v = m[name]
	}
	switch v := v.(type) {
	case string:
		return v
	case bool, float64:
		return fmt.Sprint(v)
	}
	return ""
}

// selectObjects reads the objects, keeps those that match and sorts them.
func selectObjects(r request, items []json.RawMessage, labels, fields []requirement) ([]object, error) {
	var out []object
	for _, raw := range items {
		o, err := newObject(r.kind, raw)
		if err != nil {
			return nil, err
		}
		if r.namespace != "" && o.namespace() != r.namespace {
			continue
		}
		if all(labels, o.meta.Metadata.Labels) && all(fields, fieldMap(o, fields)) {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b object) int { return strings.Compare(a.key(), b.key()) })
	return out, nil
}

func all(rs []requirement, values map[string]string) bool {
	for _, r := range rs {
		if !r.matches(values) {
			return false
		}
	}
	return true
}

// fieldMap holds the selected fields. A field that is not set has the empty
// value, and a boolean one is false, as in the API's own structs.
func fieldMap(o object, fields []requirement) map[string]string {
	m := map[string]string{}
	for _, f := range fields {
		m[f.key] = o.field(f.key)
		if f.key == "spec.unschedulable" && m[f.key] == "" {
			m[f.key] = "false"
		}
	}
	return m
}

// page is one page of a list.
type page struct {
	objects   []object
	next      string // continue token, empty on the last page
	remaining int
}

// continueToken is what a client sends back for the next page: the list's
// version and the key of the last object it has seen.
type continueToken struct {
	Version string `json:"rv"`
	After   string `json:"after"`
}

// paginate cuts one page out of sorted objects. A list with a selector has no
// count of what remains, as in the API.
func paginate(objects []object, version string, query url.Values) (page, *Status) {
	limit := 0
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return page{}, badRequest("limit: %q is not a valid limit", text)
		}
		limit = max(n, 0)
	}
	if query.Get("resourceVersion") == "0" && query.Get("continue") == "" {
		limit = 0 // the API server lists what is in its cache, all of it
	}
	if text := query.Get("continue"); text != "" {
		var token continueToken
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil || json.Unmarshal(raw, &token) != nil || token.Version == "" {
			return page{}, badRequest("continue key is not valid: %q", text)
		}
		start := slices.IndexFunc(objects, func(o object) bool { return o.key() > token.After })
		if start < 0 {
			start = len(objects)
		}
		objects, version = objects[start:], token.Version
	}
	if limit == 0 || len(objects) <= limit {
		return page{objects: objects}, nil
	}
	// The token holds two strings.
	raw, _ := json.Marshal(continueToken{Version: version, After: objects[limit-1].key()})
	return page{objects: objects[:limit], next: base64.RawURLEncoding.EncodeToString(raw), remaining: len(objects) - limit}, nil
}

// request is what is wanted of a resource, in the authorizer's words.
type request struct {
	verb                  string // "list", "get", "watch", "delete", ...
	group, version        string
	resource, subresource string // "nodes" and "proxy"
	namespace             string
	name                  string

	// kind is the resource, if it is served here at this path.
	kind   Kind
	served bool
}

// target is the resource with its subresource, as rules and refusals name it.
func (r request) target() string {
	if r.subresource == "" {
		return r.resource
	}
	return r.resource + "/" + r.subresource
}

// parseRequest understands a request for a resource: /api/v1/nodes,
// /api/v1/nodes/{name}, /api/v1/nodes/{name}/{subresource},
// /api/v1/namespaces/{ns}/pods/{name}, /apis/{group}/{version}/... It is false
// for other paths.
func parseRequest(method, escaped string, query url.Values) (request, bool) {
	var parts []string
	for part := range strings.SplitSeq(strings.Trim(escaped, "/"), "/") {
		p, err := url.PathUnescape(part)
		if err != nil || p == "" {
			return request{}, false
		}
		parts = append(parts, p)
	}
	var r request
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		r.version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		r.group, r.version, parts = parts[1], parts[2], parts[3:]
	default:
		return request{}, false
	}
	if len(parts) >= 2 && parts[0] == "namespaces" {
		r.namespace = parts[1] // of the namespace itself, too
		if len(parts) >= 3 {
			parts = parts[2:]
		}
	}
	r.resource = parts[0]
	if len(parts) >= 2 {
		r.name = parts[1]
	}
	if len(parts) >= 3 {
		r.subresource = parts[2]
	}
	kind, known := findKind(r.group, r.version, r.resource)
	// An object of a namespaced kind has no path without its namespace, and
	// one of the others none within.
	if known && len(parts) <= 2 && (kind.Namespaced || r.namespace == "") && (r.name == "" || r.namespace != "" || !kind.Namespaced) {
		r.kind, r.served = kind, true
	}
	r.verb = verb(method, r.name != "", query)
	if r.verb == "list" || r.verb == "watch" {
		// Those of one object by a selector are authorized for this object.
		for term := range strings.SplitSeq(query.Get("fieldSelector"), ",") {
			if name, ok := strings.CutPrefix(term, "metadata.name="); ok {
				r.name = strings.TrimPrefix(name, "=")
			}
		}
	}
	return r, true
}

// verb is what a method does, of one object or of all.
func verb(method string, one bool, query url.Values) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		if one {
			return "get"
		}
		if query.Has("watch") && !slices.Contains([]string{"false", "0"}, query.Get("watch")) {
			return "watch"
		}
		return "list"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if one {
			return "delete"
		}
		return "deletecollection"
	}
	return ""
}

// Rule is one rule of a role: verbs on resources of API groups. "*" is all.
type Rule struct {
	Groups, Resources, Verbs []string
	// Namespaces narrows the rule to objects in them; none is the whole
	// cluster.
	Namespaces []string
	// Names narrows it to the objects of these names; none is all. A list is
	// of no name.
	Names []string
}

// Attributes is what a request wants, for the decision whether it may.
type Attributes struct {
	Verb, Group, Resource, Namespace, Name string
}

// Allows reports whether a rule covers a request.
func (r Rule) Allows(a Attributes) bool {
	has := func(list []string, v string) bool { return slices.Contains(list, "*") || slices.Contains(list, v) }
	return has(r.Verbs, a.Verb) && has(r.Groups, a.Group) && has(r.Resources, a.Resource) &&
		(len(r.Namespaces) == 0 || a.Namespace != "" && slices.Contains(r.Namespaces, a.Namespace)) &&
		(len(r.Names) == 0 || slices.Contains(r.Names, a.Name))
}

// operator is how a requirement compares a label.
type operator int

const (
	opIn operator = iota
	opNotIn
	opExists
	opNotExists
	opGreater
	opLess
)

// requirement is one term of a label selector.
type requirement struct {
	key    string
	op     operator
	values []string
}

// matches follows the API's rules: a label that is not there satisfies != and
// notin, and > and < compare whole numbers.
func (r requirement) matches(labels map[string]string) bool {
	v, ok := labels[r.key]
	switch r.op {
	case opIn:
		return ok && slices.Contains(r.values, v)
	case opNotIn:
		return !ok || !slices.Contains(r.values, v)
	case opExists:
		return ok
	case opGreater, opLess:
		have, err := strconv.ParseInt(v, 10, 64)
		// parseTerm has made sure of the number.
		bound, _ := strconv.ParseInt(r.values[0], 10, 64)
		return ok && err == nil && (r.op == opGreater && have > bound || r.op == opLess && have < bound)
	}
	return !ok
}

var (
	labelKey   = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	labelValue = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)
	setTerm    = regexp.MustCompile(`^(\S+)\s+(in|notin)\s*\((.*)\)$`)
)

// parseSelector reads a label selector: terms separated by commas, each
// key=value, key==value, key!=value, key in (a,b), key notin (a,b), key, !key,
// key>1, key<1.
func parseSelector(text string) ([]requirement, error) {
	var out []requirement
	for _, term := range splitTerms(text) {
		if strings.TrimSpace(term) == "" {
			if strings.TrimSpace(text) == "" {
				return nil, nil
			}
			return nil, fmt.Errorf("unable to parse requirement: found an empty term in %q", text)
		}
		r, err := parseTerm(strings.TrimSpace(term))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// splitTerms splits at the commas outside parentheses.
func splitTerms(text string) []string {
	var out []string
	depth, start := 0, 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, text[start:i])
				start = i + 1
			}
		}
	}
	return append(out, text[start:])
}

func parseTerm(term string) (requirement, error) {
	var r requirement
	if m := setTerm.FindStringSubmatch(term); m != nil {
		r.key, r.op = m[1], opIn
		if m[2] == "notin" {
			r.op = opNotIn
		}
		for v := range strings.SplitSeq(m[3], ",") {
			r.values = append(r.values, strings.TrimSpace(v))
		}
	} else if key, value, ok := strings.Cut(term, "!="); ok {
		r = requirement{key, opNotIn, []string{value}}
	} else if key, value, ok := strings.Cut(term, "="); ok {
		r = requirement{key, opIn, []string{strings.TrimPrefix(value, "=")}}
	} else if key, ok := strings.CutPrefix(term, "!"); ok {
		r = requirement{key: key, op: opNotExists}
	} else if key, value, ok := strings.Cut(term, ">"); ok {
		r = requirement{key, opGreater, []string{value}}
	} else if key, value, ok := strings.Cut(term, "<"); ok {
		r = requirement{key, opLess, []string{value}}
	} else {
		r = requirement{key: term, op: opExists}
	}
	r.key = strings.TrimSpace(r.key)
	if !labelKey.MatchString(r.key) {
		return r, fmt.Errorf("unable to parse requirement: invalid label key %q", r.key)
	}
	for i := range r.values {
		r.values[i] = strings.TrimSpace(r.values[i])
		if !labelValue.MatchString(r.values[i]) {
			return r, fmt.Errorf("unable to parse requirement: invalid label value %q", r.values[i])
		}
		if _, err := strconv.ParseInt(r.values[i], 10, 64); err != nil && (r.op == opGreater || r.op == opLess) {
			return r, fmt.Errorf("unable to parse requirement: %q is not a whole number", r.values[i])
		}
	}
	return r, nil
}

// parseFields reads a field selector for the fields that the API server
// indexes. Nodes have no index for spec.providerID, and neither have we.
func parseFields(k Kind, text string) ([]requirement, error) {
	known := []string{"metadata.name"}
	if k.Namespaced {
		known = append(known, "metadata.namespace")
	}
	switch k.Plural {
	case "nodes":
		known = append(known, "spec.unschedulable")
	case "pods":
		known = append(known, "spec.nodeName", "status.phase")
	case "events":
		known = append(known, "involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
			"involvedObject.uid", "involvedObject.apiVersion", "involvedObject.fieldPath", "reason", "type")
	}
	var out []requirement
	for term := range strings.SplitSeq(text, ",") {
		if term == "" {
			continue
		}
		r := requirement{op: opIn}
		key, value, ok := strings.Cut(term, "!=")
		if ok {
			r.op = opNotIn
		} else if key, value, ok = strings.Cut(term, "="); !ok {
			return nil, fmt.Errorf("invalid field selector: %q; can't understand %q", text, term)
		}
		r.key, r.values = key, []string{strings.TrimPrefix(value, "=")}
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("field label not supported: %s", key)
		}
		out = append(out, r)
	}
	return out, nil
}

// User is an authenticated caller and what he may do.
type User struct {
	// Name is what the API's refusals call him: his ARN.
	Name string
	// Principal is the same caller, as the call record shows him.
	Principal wire.Principal
	Rules     []Rule
}

// Config is what the API of one cluster needs from outside.
type Config struct {
	// Version is the Kubernetes version, such as "1.33".
	Version string
	// Authenticate tells who a bearer token belongs to. Any error is a 401.
	Authenticate func(ctx context.Context, token string) (User, error)
	// Objects lists all objects of a kind by its plural, and the version of
	// the list. An error that is a *Status is the answer.
	Objects func(plural string) (items []json.RawMessage, version string, err error)
	// Apply takes a role or a binding that is applied, and reports whether it was there. Nil
	// takes none.
	Apply func(plural string, object json.RawMessage) (there bool, err error)
	// Faults is asked before each request for a resource.
	Faults wire.Faults
	// Record gets each request for a resource when it has ended.
	Record func(wire.Call)
	// Now is the clock of ages, in the time of the objects. Wall is the
	// clock of the call record.
	Now, Wall func() time.Time
}

// Server is the Kubernetes API of one cluster.
type Server struct{ cfg Config }

var _ http.Handler = (*Server)(nil)

// New makes the server.
func New(cfg Config) *Server { return &Server{cfg: cfg} }

// ServiceName is the Service of the calls that a Server records. Their
// Operation is the verb and the resource, such as "list nodes".
const ServiceName = "kubernetes"

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := wire.Call{Service: ServiceName, Time: s.cfg.Wall()}
	body, status := s.answer(r, &call)
	if call.Operation != "" {
		call.Duration, call.Status = s.cfg.Wall().Sub(call.Time), http.StatusOK
		if status != nil {
			call.Status, call.Code = status.Code, status.Reason
		}
		s.cfg.Record(call)
	}
	if status != nil && status.Code == 0 {
		panic(http.ErrAbortHandler) // a connection reset: no answer at all
	}
	code, contentType := http.StatusOK, "application/json"
	if status != nil {
		code = status.Code
		body, contentType = status.body()
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(code)
	// A client that has gone away is not our failure.
	_, _ = w.Write(body)
}

func (s *Server) answer(r *http.Request, call *wire.Call) ([]byte, *Status) {
	req, ofResource := parseRequest(r.Method, r.URL.EscapedPath(), r.URL.Query())
	if ofResource {
		call.Operation = req.verb + " " + req.target()
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return nil, unauthorized()
	}
	user, err := s.cfg.Authenticate(r.Context(), token)
	if err != nil {
		return nil, unauthorized()
	}
	call.Principal, call.Caller = user.Principal, user.Principal.Name
	if !ofResource {
		// Everybody who is authenticated may look at what there is.
		if d := discovery(r.URL.Path, s.cfg.Version, s.kinds()); d != nil && r.Method == http.MethodGet {
			return marshal(d)
		}
		return nil, noPath()
	}
	if status := s.fault(r.Context(), user, req, call); status != nil {
		return nil, status
	}
	// Who may not, does not learn what there is.
	wanted := Attributes{Verb: req.verb, Group: req.group, Resource: req.target(), Namespace: req.namespace, Name: req.name}
	switch {
	case !slices.ContainsFunc(user.Rules, func(rule Rule) bool { return rule.Allows(wanted) }):
		return nil, forbidden(user.Name, req)
	case !req.served && req.group != "" && !slices.Contains(groups(kinds()), req.group):
		return nil, noPath()
	case !req.served:
		return nil, noResource()
	case req.verb == "patch" && s.cfg.Apply != nil && slices.Contains(plurals(), req.kind.Plural):
		return s.apply(r, req)
	case req.verb != "get" && req.verb != "list":
		return nil, methodNotAllowed()
	}
	return s.read(r, req)
}

// mostApplied is far more than a role.
const mostApplied = 1 << 20

// apply makes or changes a role or a binding by server-side apply, which has a media type of its
// own and needs a field manager (Kubernetes API concepts, "Server-Side Apply").
func (s *Server) apply(r *http.Request, req request) ([]byte, *Status) {
	if r.Header.Get("Content-Type") != "application/apply-patch+yaml" {
		return nil, &Status{http.StatusUnsupportedMediaType, "UnsupportedMediaType", "the body of the request was in an unknown format - accepted media types include: application/apply-patch+yaml"}
	}
	if r.URL.Query().Get("fieldManager") == "" {
		return nil, badRequest("fieldManager is required for apply patch")
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, mostApplied))
	if err != nil {
		return nil, badRequest("the body cannot be read")
	}
	var object map[string]any
	if err := yaml.Unmarshal(body, &object); err != nil {
		return nil, badRequest("error decoding YAML: %s", err)
	}
	raw, err := json.Marshal(object)
	if err == nil {
		_, err = s.cfg.Apply(req.kind.Plural, raw)
	}
	if err != nil {
		return nil, badRequest("%s", err)
	}
	return raw, nil
}

// kinds lists what this cluster serves.
func (s *Server) kinds() []Kind {
	return slices.DeleteFunc(kinds(), func(k Kind) bool {
		var status *Status
		if !k.Custom {
			return false
		}
		_, _, err := s.cfg.Objects(k.Plural)
		return errors.As(err, &status)
	})
}

// fault asks the faults. A fault comes in Kubernetes's own words.
func (s *Server) fault(ctx context.Context, user User, req request, call *wire.Call) *Status {
	err := s.cfg.Faults.Before(ctx, call)
	if err == nil {
		return nil
	}
	var fault wire.Fault
	if errors.As(err, &fault) {
		switch fault {
		case wire.Denied:
			return forbidden(user.Name, req)
		case wire.Throttled:
			return &Status{http.StatusTooManyRequests, "TooManyRequests", "Too many requests, please try again later."}
		case wire.Reset:
			return &Status{Reason: "ConnectionReset"}
		}
	}
	return internalError(err)
}

func (s *Server) read(r *http.Request, req request) ([]byte, *Status) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badRequest("the query string is not valid")
	}
	labels, err := parseSelector(query.Get("labelSelector"))
	if err != nil {
		return nil, badRequest("%s", err)
	}
	fields, err := parseFields(req.kind, query.Get("fieldSelector"))
	if err != nil {
		return nil, badRequest("%s", err)
	}
	items, version, err := s.cfg.Objects(req.kind.Plural)
	var status *Status
	if errors.As(err, &status) {
		return nil, status
	}
	if err != nil {
		return nil, internalError(err)
	}
	if req.verb == "get" {
		labels, fields = nil, []requirement{{key: "metadata.name", op: opIn, values: []string{req.name}}}
	}
	objects, err := selectObjects(req, items, labels, fields)
	if err != nil {
		return nil, internalError(err)
	}
	asTable := wantsTable(r.Header.Get("Accept"))
	if req.verb == "get" {
		return s.one(req, objects, version, asTable)
	}
	p, status := paginate(objects, version, query)
	if status != nil {
		return nil, status
	}
	meta := map[string]any{"resourceVersion": version}
	if p.next != "" {
		meta["continue"] = p.next
		if len(labels) == 0 && len(fields) == 0 {
			meta["remainingItemCount"] = p.remaining
		}
	}
	return s.write(req.kind, p.objects, meta, asTable)
}

func (s *Server) one(req request, objects []object, version string, asTable bool) ([]byte, *Status) {
	if len(objects) == 0 {
		return nil, notFound(req.kind, req.name)
	}
	if asTable {
		return s.write(req.kind, objects[:1], map[string]any{"resourceVersion": version}, true)
	}
	body, err := objects[0].alone()
	if err != nil {
		return nil, internalError(err)
	}
	return body, nil
}

func (s *Server) write(k Kind, objects []object, meta map[string]any, asTable bool) ([]byte, *Status) {
	if asTable {
		body, err := table(k, objects, meta, s.cfg.Now())
		if err != nil {
			return nil, internalError(err)
		}
		return body, nil
	}
	// Written by hand: a list of thousands of nodes need not be read again.
	head, status := marshal(meta)
	if status != nil {
		return nil, status
	}
	var b bytes.Buffer
	b.WriteString(`{"kind":"` + k.Kind + `List","apiVersion":"` + k.groupVersion() + `","metadata":`)
	b.Write(head)
	b.WriteString(`,"items":[`)
	for i, o := range objects {
		if i > 0 {
			b.WriteByte(',')
		}
		item, err := o.item(k)
		if err != nil {
			return nil, internalError(err)
		}
		b.Write(item)
	}
	b.WriteString("]}")
	return b.Bytes(), nil
}

func marshal(v any) ([]byte, *Status) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, internalError(err)
	}
	return body, nil
}

// wantsTable reports whether the client, as kubectl does, prefers a table.
func wantsTable(accept string) bool {
	first, _, _ := strings.Cut(accept, ",")
	return strings.Contains(first, "as=Table") && strings.Contains(first, "g=meta.k8s.io")
}
