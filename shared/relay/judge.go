package relay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
)

// Own is what a relay knows of its cluster: it was told when it was deployed.
type Own struct{ Cluster, Endpoint string }

// token is what EKS's authenticator takes (package kube): a relay carries no other
// credential, and none that would end a header.
var token = regexp.MustCompile(`^k8s-aws-v1\.[A-Za-z0-9_-]+$`)

// Judge reads a request, and tells whether the relay does what it asks for.
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
