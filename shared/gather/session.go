package gather

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"rollcall/shared/gather/source"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// session is one client, with one token, for all that is read of a cluster's
// Kubernetes API in one look; or why there is none.
type session struct {
	client *kube.Client
	err    error
}

// connect makes the client. It talks to nobody: the token is signed here.
func (r *Reader) connect(ctx context.Context, c snapshot.Cluster, clusterRead bool) session {
	if !clusterRead {
		return session{err: source.ErrClusterUnread}
	}
	endpoint, ca := c.Endpoint, c.CA
	var via http.RoundTripper
	direct := false
	if r.endpoint != nil {
		if e, a, v, ok := r.endpoint(c.Name); ok {
			endpoint, ca, via, direct = e, a, v, true
		}
	}
	if endpoint == "" {
		return session{err: source.ErrNoEndpoint}
	}
	if err := r.contact.unanswered(endpoint); err != nil {
		return session{err: err}
	}
	if !direct && r.relay != nil {
		via = r.relay(c)
	}
	token, err := kube.Token(ctx, r.presigner, c.Name)
	if err != nil {
		return session{err: asked(err)}
	}
	if r.share != nil {
		if via == nil {
			transport, err := kube.Transport(ca)
			if err != nil {
				return session{err: err}
			}
			via = transport
		}
		via = r.share(via)
	}
	client, err := kube.NewVia(via, endpoint, ca, token)
	if err != nil {
		return session{err: err}
	}
	if r.answers != nil {
		client.Telling(func(path string, query url.Values, body []byte, err error) {
			r.answers.Kubernetes(c.Name, path, query, body, err)
		})
	}
	return session{client: client}
}

// asked is the call within a call that failed: a token is only signed, and what failed
// is the one for the credentials to sign it by.
func asked(err error) error {
	var signing, call *smithy.OperationError
	if errors.As(err, &signing) && errors.As(signing.Err, &call) {
		return call
	}
	return err
}

// InClustersAs makes the Kubernetes APIs know the reader as the role that cfg is of. Nil
// changes nothing.
func (r *Reader) InClustersAs(cfg *aws.Config) *Reader {
	if cfg == nil {
		return r
	}
	as := *r
	as.presigner = sts.NewPresignClient(sts.NewFromConfig(*cfg))
	return &as
}

func (s session) close() {
	if s.client != nil {
		s.client.Close()
	}
}

// Sharing has the Kubernetes APIs asked by a way that others share (package askonce).
func (r *Reader) Sharing(by func(next http.RoundTripper) http.RoundTripper) *Reader {
	as := *r
	as.share = by
	return &as
}

// Relaying has the Kubernetes APIs asked by a way that hangs on the cluster (package
// shared/relay/via); where that gives none, and where it is nil, they are asked themselves.
func (r *Reader) Relaying(by func(snapshot.Cluster) http.RoundTripper) *Reader {
	as := *r
	as.relay = by
	return &as
}
