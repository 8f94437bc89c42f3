//go:build kube

package kubetest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// testExpiredPages lets the reader go on with a list that has expired. The
// API server takes longer to forget a list than the reader waits for an
// answer; so a proxy gives the reader's second request the page of a list that
// was begun and forgotten before.
func testExpiredPages(t *testing.T, real *place, etcd string) {
	expired := expiredPage(t, real, etcd)
	target, err := url.Parse(real.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if len(asked) == 1 {
				query := r.Out.URL.Query()
				query.Set("continue", expired)
				r.Out.URL.RawQuery = query.Encode()
			}
		},
		Transport: real.http.Transport,
		ModifyResponse: func(r *http.Response) error {
			page := "first"
			if r.Request.URL.Query().Get("continue") != "" {
				page = "next"
			}
			asked = append(asked, fmt.Sprintf("%s %d", page, r.StatusCode))
			return nil
		},
	}
	server := httptest.NewTLSServer(proxy)
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	nodes, err := newPlace(t, "proxy", server.URL, ca).nodes(t.Context(), rollcallToken)
	if err != nil || len(nodes) != len(samples()) {
		t.Errorf("got %d nodes, %v; want the %d of the second try", len(nodes), err, len(samples()))
	}
	if diff := cmp.Diff(asked, []string{"first 200", "next 410", "first 200", "next 200", "next 200"}); diff != "" {
		t.Errorf("requests (-got +want):\n%s", diff)
	}
}

// expireTime is how long an expired list may live on: the server looks every 15
// seconds which of the versions in its cache are too old.
const expireTime = time.Minute

// expiredPage begins a list, makes etcd forget all old versions, as the API
// server does every five minutes, and gives the page that is gone.
func expiredPage(t *testing.T, real *place, etcd string) string {
	t.Helper()
	next := real.ask(t, rollcallToken, http.MethodGet, "/api/v1/nodes?limit=1", nil).list(t).Metadata.Continue
	// A change, so that the version of the list is an old one.
	if err := real.create(t.Context(), "/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": "later"}}); err != nil {
		t.Fatal(err)
	}
	// The key by which API servers tell each other what they have compacted.
	key := base64.StdEncoding.EncodeToString([]byte("compact_rev_key"))
	var now struct{ Header struct{ Revision string } }
	if err := json.Unmarshal(askEtcd(t, etcd+"/v3/kv/range", map[string]any{"key": key}), &now); err != nil {
		t.Fatal(err)
	}
	revision := now.Header.Revision
	askEtcd(t, etcd+"/v3/kv/put", map[string]any{"key": key, "value": base64.StdEncoding.EncodeToString([]byte(revision))})
	askEtcd(t, etcd+"/v3/kv/compaction", map[string]any{"revision": revision})
	for until := time.Now().Add(expireTime); ; time.Sleep(500 * time.Millisecond) {
		got := real.ask(t, rollcallToken, http.MethodGet, "/api/v1/nodes?limit=1&continue="+url.QueryEscape(next), nil)
		if got.code == http.StatusGone && got.status().Reason == "Expired" {
			return next
		}
		if got.code != http.StatusOK || time.Now().After(until) {
			t.Fatalf("a page of a list that is gone: %v, want 410 Expired", got.status())
		}
	}
}

// askEtcd calls etcd's API by its JSON gateway.
func askEtcd(t *testing.T, address string, in map[string]any) []byte {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(address, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("etcd: %s: %d %s %v", address, res.StatusCode, out, err)
	}
	return out
}
