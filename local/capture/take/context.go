package take

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"rollcall/shared/kube"
)

// ByContext opens a cluster by a context of the caller's kubeconfig. All ways in which a
// kubeconfig can say who somebody is are kubectl's: it is started as a proxy, on a socket
// that only its owner reaches.
func ByContext(name string) func(context.Context, Cluster) (Kubernetes, error) {
	return func(ctx context.Context, c Cluster) (Kubernetes, error) {
		if _, err := exec.LookPath("kubectl"); err != nil {
			return nil, wrongInput("--context needs kubectl on the PATH; without it a token of EKS is used")
		}
		view := exec.CommandContext(ctx, "kubectl", "config", "view", "--minify", "--context", name, "-o", "json")
		out, err := view.Output()
		if err != nil {
			return nil, wrongInput("--context %s: kubectl does not know it", name)
		}
		if err := sameCluster(out, name, c); err != nil {
			return nil, err
		}
		return startProxy(ctx, name)
	}
}

// sameCluster refuses a context of another EKS cluster: its nodes would be taken for this
// one's. An endpoint of another kind, a tunnel's, may be anything.
func sameCluster(view []byte, name string, c Cluster) error {
	var config struct {
		Clusters []struct {
			Cluster struct{ Server string }
		}
	}
	if err := json.Unmarshal(view, &config); err != nil || len(config.Clusters) == 0 {
		return wrongInput("--context %s: kubectl does not say where it leads", name)
	}
	server := config.Clusters[0].Cluster.Server
	have, err := url.Parse(server)
	want, err2 := url.Parse(c.Endpoint)
	if err != nil || err2 != nil || !strings.Contains(have.Hostname(), ".eks.amazonaws.com") || strings.EqualFold(have.Hostname(), want.Hostname()) {
		return nil
	}
	return wrongInput("--context %s leads to another cluster than %s: its server is %s", name, c.Name, server)
}

// proxy is kubectl proxy.
type proxy struct {
	client *kube.Client
	dir    string
	stop   context.CancelFunc
	done   <-chan struct{}
}

func startProxy(ctx context.Context, name string) (_ *proxy, err error) {
	dir, err := os.MkdirTemp("", "rollcall")
	if err != nil {
		return nil, fmt.Errorf("make a folder for kubectl's socket: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer func() {
		if err != nil {
			stop()
			os.RemoveAll(dir)
		}
	}()
	socket := filepath.Join(dir, "s")
	command := exec.CommandContext(ctx, "kubectl", "proxy", "--context", name, "--unix-socket", socket)
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start kubectl: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start kubectl: %w", err)
	}
	done := make(chan struct{})
	// Its first line says that it serves.
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		_ = command.Wait() // what it said tells why
		return nil, fmt.Errorf("kubectl proxy: %s", strings.Join(strings.Fields(said.String()), " "))
	}
	go func() {
		defer close(done)
		_ = command.Wait() // it is ended by us
	}()
	via := socketTransport{&http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "unix", socket)
	}}}
	client, err := kube.NewVia(via, "https://kubectl.invalid", nil, "")
	if err != nil {
		return nil, err
	}
	return &proxy{client: client, dir: dir, stop: stop, done: done}, nil
}

// Raw asks through kubectl.
func (p *proxy) Raw(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	return p.client.Raw(ctx, path, query)
}

// Close ends kubectl.
func (p *proxy) Close() {
	p.client.Close()
	p.stop()
	<-p.done
	_ = os.RemoveAll(p.dir) // the system clears what is left of temporary folders
}

// socketTransport speaks to kubectl, which wants neither TLS nor a token.
type socketTransport struct{ *http.Transport }

// RoundTrip asks without what is the cluster's own.
func (s socketTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = "http", "localhost", "localhost"
	r.Header.Del("Authorization")
	return s.Transport.RoundTrip(r)
}
