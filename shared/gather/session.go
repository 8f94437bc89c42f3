package gather

import (
	"context"
	"net/http"

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
	if r.endpoint != nil {
		if e, a, v, ok := r.endpoint(c.Name); ok {
			endpoint, ca, via = e, a, v
		}
	}
	if endpoint == "" {
		return session{err: source.ErrNoEndpoint}
	}
	token, err := kube.Token(ctx, r.presigner, c.Name)
	if err != nil {
		return session{err: err}
	}
	client, err := kube.NewVia(via, endpoint, ca, token)
	return session{client: client, err: err}
}

func (s session) close() {
	if s.client != nil {
		s.client.Close()
	}
}
