package caller

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// kubeconfig is a context of one; its config is nil where none is wanted.
type kubeconfig struct {
	name   string
	config *rest.Config
}

// loadKubeconfig reads it as kubectl does.
func loadKubeconfig(o Options) (kubeconfig, error) {
	if o.Kubeconfig == "" && o.Context == "" {
		return kubeconfig{}, nil
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.Context})
	c, err := loaded.ClientConfig()
	if err != nil {
		return kubeconfig{}, mistake("the kubeconfig: %s", line(err))
	}
	name := o.Context
	if raw, err := loaded.RawConfig(); err == nil && name == "" {
		name = raw.CurrentContext
	}
	return kubeconfig{name, c}, nil
}

// APIServer is how a cluster's Kubernetes API is reached.
type APIServer struct {
	Endpoint  string
	CA        []byte
	Transport http.RoundTripper
}

// ByContext tells that Kubernetes is reached by a context of a kubeconfig.
func (c Caller) ByContext() bool { return c.kube.config != nil }

// APIServers are those of clusters, by the clusters' names. A cluster that could not be
// described has none but its kubeconfig's.
func (c Caller) APIServers(ctx context.Context, clusters []snapshot.Cluster) (map[string]APIServer, error) {
	servers := map[string]APIServer{}
	if c.kube.config != nil {
		if len(clusters) != 1 {
			return nil, mistake("a context of a kubeconfig is of one cluster, and %d are asked for", len(clusters))
		}
		d, err := c.kube.apiServer(ctx, clusters[0])
		if err != nil {
			return nil, err
		}
		servers[clusters[0].Name] = d
		return servers, nil
	}
	for _, k := range clusters {
		if k.Endpoint == "" {
			continue
		}
		via, err := kube.Transport(k.CA)
		if err != nil {
			continue // the reader says so
		}
		via.Proxy = http.ProxyFromEnvironment
		servers[k.Name] = APIServer{k.Endpoint, k.CA, via}
	}
	return servers, nil
}

// apiServer is a cluster's as a context reaches it. A context of another cluster would tell of
// another's nodes: it must have the endpoint that EKS tells, or the same authority, as
// behind a tunnel.
func (k kubeconfig) apiServer(ctx context.Context, of snapshot.Cluster) (APIServer, error) {
	ca := k.config.CAData
	if len(ca) == 0 && k.config.CAFile != "" {
		var err error
		if ca, err = os.ReadFile(k.config.CAFile); err != nil {
			return APIServer{}, mistake("context %s: its certificate authority: %s", k.name, line(err))
		}
	}
	sameCA := len(of.CA) > 0 && bytes.Equal(bytes.TrimSpace(ca), bytes.TrimSpace(of.CA))
	if of.Endpoint != "" && !sameCA && !sameHost(k.config.Host, of.Endpoint) {
		return APIServer{}, mistake("context %s is of another cluster: it goes to %s, and %s is at %s", k.name, k.config.Host, of.Name, of.Endpoint)
	}
	if len(ca) == 0 {
		ca = of.CA
	}
	transport, err := rest.TransportFor(k.config)
	if err != nil {
		return APIServer{}, mistake("context %s: %s", k.name, line(err))
	}
	d := APIServer{k.config.Host, ca, own{transport}}
	if err := d.try(ctx); err != nil {
		return APIServer{}, mistake("context %s: %s", k.name, line(err))
	}
	return d, nil
}

// trying is how long a way is tried: a login by a browser is a person's.
const trying = time.Minute

// try sends one request that everybody may make, so that what is wrong with the
// kubeconfig's credentials (a command that is not there, a login that has run out) is
// said as what it is. Who cannot be reached the reader tells.
func (d APIServer) try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, trying)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(d.Endpoint, "/")+"/version", nil)
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}
	resp, err := d.Transport.RoundTrip(req)
	var conn net.Error
	switch {
	case errors.As(err, &conn):
		return nil
	case err != nil:
		return err
	}
	return resp.Body.Close()
}

// own sends requests with the kubeconfig's credentials in place of a token.
type own struct{ next http.RoundTripper }

func (o own) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Del("Authorization")
	return o.next.RoundTrip(req)
}

// sameHost tells two addresses of one host and port.
func sameHost(a, b string) bool {
	host := func(text string) string {
		u, err := url.Parse(text)
		if err != nil {
			return text
		}
		if u.Port() == "" {
			return strings.ToLower(u.Host) + ":443"
		}
		return strings.ToLower(u.Host)
	}
	return host(a) == host(b)
}
