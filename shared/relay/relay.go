// Package relay is what the functions that read in clusters and the relay say to each
// other: a relay is a function in the VPC of a cluster whose API has a private endpoint
// only, and hands on what it is asked for, where that is one of the lists that the roles of
// deploy/clusterrole.yaml give. It holds no rights in the cluster: the token is the reader's.
package relay

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
)

// Request is what a relay is asked for.
type Request struct {
	// Cluster is the cluster's ARN, and Endpoint the address that its API has to the reader's
	// knowledge. The relay compares both with its own, and goes to its own: nobody can send it
	// elsewhere, and a cluster that was made anew under its name is told from the one before.
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
