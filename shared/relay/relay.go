// Package relay is what the functions that read in clusters and the relay say to each
// other: a relay is a function in the VPC of a cluster whose API has a private endpoint
// only, and hands on what it is asked for, where that is one of the lists that the roles of
// deploy/clusterrole.yaml give. It holds no rights in the cluster: the token is the reader's.
package relay

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Request is what a relay is asked for.
type Request struct {
	// Cluster is the cluster's ARN, and Endpoint the address that its API has to the reader's
	// knowledge. The relay compares both with its own, and goes to its own: no caller can send it
	// elsewhere, and a cluster that was made anew under its name differs from the one before.
	Cluster  string `json:"cluster"`
	Endpoint string `json:"endpoint"`
	Path     string `json:"path"`
	// Query has one value for each key.
	Query map[string]string `json:"query,omitempty"`
	Token string            `json:"token"`
}

// Answer is what a relay answers: what the API said, why the relay did not ask, or how the
// API failed to answer.
type Answer struct {
	Status int `json:"status,omitempty"`
	// Body is compressed (gzip).
	Body    []byte   `json:"body,omitempty"`
	Refused *Refusal `json:"refused,omitempty"`
	Failed  *Failure `json:"failed,omitempty"`
}

// Reason is why a relay refuses, or how the API failed.
type Reason string

// The reasons for which a relay refuses.
const (
	Malformed      Reason = "Malformed"
	OtherCluster   Reason = "OtherCluster"
	OtherEndpoint  Reason = "OtherEndpoint"
	ForbiddenPath  Reason = "ForbiddenPath"
	ForbiddenQuery Reason = "ForbiddenQuery"
	ForeignToken   Reason = "ForeignToken"
)

// The ways in which the API does not answer a relay.
const (
	TimedOut     Reason = "TimedOut"
	Unreachable  Reason = "Unreachable"
	Unresolved   Reason = "Unresolved"
	Impostor     Reason = "Impostor"   // another certificate than the cluster's
	Redirected   Reason = "Redirected" // which is not followed
	TooLarge     Reason = "TooLarge"
	Disconnected Reason = "Disconnected"
)

// Refusal is a relay's own no.
type Refusal struct {
	Reason Reason `json:"reason"`
	Says   string `json:"says"`
}

func (r *Refusal) Error() string { return fmt.Sprintf("the relay refuses (%s): %s", r.Reason, r.Says) }

// Failure is how the cluster's API did not answer.
type Failure struct {
	Reason Reason `json:"reason"`
	Says   string `json:"says"`
}

func (f *Failure) Error() string { return f.Says }

// MissingError is that there is no relay of a cluster.
type MissingError struct {
	Function string
	// OpenTo are the ranges to which the cluster's public endpoint is open, where it has one.
	OpenTo []netip.Prefix
}

func (e *MissingError) Error() string {
	if len(e.OpenTo) == 0 {
		return "the API has a private endpoint only, and there is no function " + e.Function + ", its relay"
	}
	ranges := make([]string, len(e.OpenTo))
	for i, p := range e.OpenTo {
		ranges[i] = p.String()
	}
	return "the API's public endpoint is open to " + strings.Join(ranges, ", ") + " alone, and does not answer Rollcall; there is no function " + e.Function + ", its relay"
}

// UnnamedError is that the setting relays does not name a cluster: a function of the
// relay's name may be anybody's, and is not handed the reader's token.
type UnnamedError struct{ Cluster string }

func (e *UnnamedError) Error() string { return "the setting relays does not name " + e.Cluster }

// Limits of Lambda, whose answer to a synchronous invocation has 6 MB at most ("Quotas",
// "Invocation payload"), of which base64 takes a third.
const (
	MostBody  = 4 << 20
	mostToken = 8 << 10
	// mostRequest bounds what is read of a request: a continue token has a few hundred bytes.
	mostRequest = 64 << 10
	mostValue   = 16 << 10
)

// mostName is the longest name that a function may have (Lambda, CreateFunction). A
// cluster's may have 100 characters, of the same alphabet (EKS, CreateCluster).
const mostName = 64

// FunctionName is the name of the relay of a cluster, by the prefix of the deployment.
func FunctionName(prefix, cluster string) string {
	name := prefix + "-relay-" + cluster
	if len(name) <= mostName {
		return name
	}
	sum := sha256.Sum256([]byte(cluster))
	end := "-" + hex.EncodeToString(sum[:4])
	return name[:mostName-len(end)] + end
}

// Own is what a relay knows of its cluster: it was told when it was deployed.
type Own struct{ Cluster, Endpoint string }

// token is what EKS's authenticator takes (package kube): a relay carries no other
// credential, and none that would end a header.
var token = regexp.MustCompile(`^k8s-aws-v1\.[A-Za-z0-9_-]+$`)

// Judge reads a request, and refuses one that the relay does not do.
func (o Own) Judge(raw []byte) (Request, *Refusal) {
	no := func(reason Reason, says string, args ...any) (Request, *Refusal) {
		return Request{}, &Refusal{reason, fmt.Sprintf(says, args...)}
	}
	if len(raw) > mostRequest {
		return no(Malformed, "the request has %d bytes", len(raw))
	}
	var r Request
	d := json.NewDecoder(bytes.NewReader(raw))
	// What is not known here may want more than a list.
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return no(Malformed, "it is no request of this release")
	}
	if _, err := d.Token(); err != io.EOF {
		return no(Malformed, "it is more than one request")
	}
	switch {
	case r.Cluster != o.Cluster:
		return no(OtherCluster, "this is the relay of %s alone", o.Cluster)
	case r.Endpoint != o.Endpoint:
		return no(OtherEndpoint, "the cluster has another endpoint than when its relay was deployed: deploy the relay again")
	case len(r.Token) > mostToken || !token.MatchString(r.Token):
		return no(ForeignToken, "the token is none of EKS")
	}
	p, known := lookup(r.Path)
	if !known {
		return no(ForbiddenPath, "this path is none of those that Rollcall's roles in a cluster give")
	}
	for key, value := range r.Query {
		if !slices.Contains(p.Keys(), key) || len(value) > mostValue || key == "limit" && !positive(value) {
			return no(ForbiddenQuery, "%.40q is not asked for with this path", key)
		}
	}
	return r, nil
}

func positive(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 0
}

// Path is what a relay asks of a cluster's API. That all of them together are the rules of
// deploy/clusterrole.yaml, no more and no less, a test holds (infra/clusterrole).
type Path struct {
	Group, Version, Namespace, Resource string
	// Name is of the one object that may be read; without it all may be listed.
	Name string
}

// Paths are all of them.
func Paths() []Path {
	return []Path{
		{Version: "v1", Resource: "nodes"},
		{Version: "v1", Resource: "pods"},
		{Version: "v1", Resource: "persistentvolumes"},
		{Version: "v1", Resource: "persistentvolumeclaims"},
		{Version: "v1", Namespace: "default", Resource: "events"},
		{Version: "v1", Resource: "events"},
		{Version: "v1", Namespace: "kube-system", Resource: "pods"},
		{Version: "v1", Namespace: "kube-system", Resource: "configmaps", Name: "aws-auth"},
		{Version: "v1", Namespace: "kube-system", Resource: "serviceaccounts", Name: "aws-node"},
		{Group: "apps", Version: "v1", Namespace: "kube-system", Resource: "daemonsets", Name: "aws-node"},
		{Group: "certificates.k8s.io", Version: "v1", Resource: "certificatesigningrequests"},
		{Group: "crd.k8s.amazonaws.com", Version: "v1alpha1", Resource: "eniconfigs"},
		{Group: "eks.amazonaws.com", Version: "v1", Resource: "nodeclasses"},
		{Group: "karpenter.k8s.aws", Version: "v1", Resource: "ec2nodeclasses"},
		{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"},
		{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"},
	}
}

// String is the path in a request (Kubernetes, "API concepts", "Resource URIs").
func (p Path) String() string {
	text := "/api/" + p.Version
	if p.Group != "" {
		text = "/apis/" + p.Group + "/" + p.Version
	}
	if p.Namespace != "" {
		text += "/namespaces/" + p.Namespace
	}
	text += "/" + p.Resource
	if p.Name != "" {
		text += "/" + p.Name
	}
	return text
}

// Keys are what a request of the path may say further: watch, which would not end, is not
// among them.
func (p Path) Keys() []string {
	if p.Name != "" {
		return nil
	}
	return []string{"limit", "continue", "fieldSelector", "labelSelector"}
}

// lookup finds a path by all of its text: nothing in it is resolved, unescaped or cleaned.
func lookup(text string) (Path, bool) {
	all := Paths()
	i := slices.IndexFunc(all, func(p Path) bool { return p.String() == text })
	if i < 0 {
		return Path{}, false
	}
	return all[i], true
}
