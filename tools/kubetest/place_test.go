//go:build kube

package kubetest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"rollcall/shared/kube"
)

// place is a Kubernetes API: the real one, or the stage's.
type place struct {
	name, endpoint string
	ca             []byte
	http           *http.Client
}

func newPlace(t *testing.T, name, endpoint string, ca []byte) *place {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		t.Fatalf("%s: the authority holds no certificate: %q", name, ca)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &place{name: name, endpoint: endpoint, ca: ca, http: &http.Client{Transport: transport}}
}

// nodes lists the nodes with Rollcall's own reader.
func (p *place) nodes(ctx context.Context, token string) ([]kube.Node, error) {
	client, err := kube.New(p.endpoint, p.ca, token)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return client.Nodes(ctx)
}

// refusal lists the nodes and gives the status that came instead.
func (p *place) refusal(t *testing.T, token string) kube.StatusError {
	t.Helper()
	nodes, err := p.nodes(t.Context(), token)
	var status *kube.StatusError
	if !errors.As(err, &status) {
		t.Fatalf("%s: got %d nodes and %v, want a status", p.name, len(nodes), err)
	}
	return *status
}

// answer is what came back.
type answer struct {
	code int
	body []byte
}

// ask makes one request as it is. A token may be empty.
func (p *place) ask(t *testing.T, token, method, target string, body any) answer {
	t.Helper()
	got, err := p.try(t.Context(), token, method, target, body)
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	return got
}

func (p *place) try(ctx context.Context, token, method, target string, body any) (answer, error) {
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		content = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, p.endpoint+target, content)
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := p.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", method, target, err)
	}
	return answer{code: res.StatusCode, body: got}, nil
}

// create makes an object.
func (p *place) create(ctx context.Context, path string, object any) error {
	got, err := p.try(ctx, adminToken, http.MethodPost, path, object)
	if err != nil {
		return err
	}
	if got.code != http.StatusCreated {
		return fmt.Errorf("create in %s: %d %s", path, got.code, got.body)
	}
	return nil
}

// status reads an answer as the API's error.
func (a answer) status() kube.StatusError {
	var s struct {
		Kind, Reason, Message string
		Code                  int
	}
	if err := json.Unmarshal(a.body, &s); err != nil || s.Kind != "Status" || s.Code != a.code {
		return kube.StatusError{Code: a.code, Message: fmt.Sprintf("not a Status: %.80s", a.body)}
	}
	return kube.StatusError{Code: s.Code, Reason: s.Reason, Message: s.Message}
}

// page is what a list says beside its objects, and their names.
type page struct {
	Kind     string
	Metadata struct {
		Continue           string
		RemainingItemCount *int
	}
	Items []struct{ Metadata struct{ Name string } }
}

// list reads an answer as a list, and its code if it is none.
func (a answer) list(t *testing.T) page {
	t.Helper()
	var l page
	if err := json.Unmarshal(a.body, &l); err != nil {
		t.Fatalf("answer %d %q: %v", a.code, a.body, err)
	}
	return l
}

func (l page) names() []string {
	names := []string{}
	for _, i := range l.Items {
		names = append(names, i.Metadata.Name)
	}
	return names
}
