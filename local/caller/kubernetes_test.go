package caller

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"rollcall/shared/snapshot"
)

// apiServer takes one token, and keeps what came.
func apiServer(t *testing.T) (s *httptest.Server, ca []byte, came *[]string) {
	t.Helper()
	came = new([]string)
	s = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*came = append(*came, r.URL.Path+" "+r.Header.Get("Authorization"))
		if r.Header.Get("Authorization") != "Bearer mine" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(s.Close)
	return s, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), came
}

func kubeconfigOf(server string, ca []byte, user string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: here\nclusters:\n- name: c\n  cluster: {server: %q, certificate-authority-data: %s}\ncontexts:\n- name: here\n  context: {cluster: c, user: u}\n- name: there\n  context: {cluster: c, user: u}\nusers:\n- name: u\n  user: %s\n",
		server, base64.StdEncoding.EncodeToString(ca), user)
}

// A context is taken if it is of the cluster that is looked at, with credentials of
// its own in place of the AWS token.
func TestContexts(t *testing.T) {
	s, ca, came := apiServer(t)
	otherCA := []byte("of another cluster")
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	put(t, caFile, string(ca))
	const token = "{token: mine}"
	for name, tt := range map[string]struct {
		config  string
		context string
		of      snapshot.Cluster
		says    string
	}{
		"the cluster's own":                   {kubeconfigOf(s.URL, ca, token), "", snapshot.Cluster{Name: "prod", Endpoint: s.URL, CA: ca}, ""},
		"a context by its name":               {kubeconfigOf(s.URL, ca, token), "there", snapshot.Cluster{Name: "prod", Endpoint: s.URL, CA: ca}, ""},
		"the endpoint in capitals":            {kubeconfigOf(s.URL, ca, token), "", snapshot.Cluster{Name: "prod", Endpoint: strings.ToUpper(s.URL)}, ""},
		"behind a tunnel, the same CA":        {kubeconfigOf(s.URL, ca, token), "", snapshot.Cluster{Name: "prod", Endpoint: "https://ABC.gr7.us-west-2.eks.amazonaws.com", CA: ca}, ""},
		"a cluster that may not be described": {kubeconfigOf(s.URL, ca, token), "", snapshot.Cluster{Name: "prod"}, ""},
		"of another cluster": {kubeconfigOf(s.URL, ca, token), "", snapshot.Cluster{Name: "prod", Endpoint: "https://ABC.gr7.us-west-2.eks.amazonaws.com", CA: otherCA},
			"context here is of another cluster: it goes to " + s.URL + ", and prod is at https://ABC.gr7.us-west-2.eks.amazonaws.com"},
		"of another cluster, by name": {kubeconfigOf(s.URL, ca, token), "there", snapshot.Cluster{Name: "prod", Endpoint: "https://ABC.gr7.us-west-2.eks.amazonaws.com", CA: otherCA}, "context there is of another cluster: "},
		"another port":                {kubeconfigOf(s.URL, ca, token), "", snapshot.Cluster{Name: "prod", Endpoint: "https://127.0.0.1"}, "context here is of another cluster: "},
		"no authority on either side": {strings.Replace(kubeconfigOf(s.URL, nil, token), "certificate-authority-data: ", "insecure-skip-tls-verify: true", 1), "", snapshot.Cluster{Name: "prod", Endpoint: "https://ABC.gr7.us-west-2.eks.amazonaws.com"}, "context here is of another cluster: "},
		"an authority in a file":      {strings.Replace(kubeconfigOf(s.URL, nil, token), "certificate-authority-data: ", "certificate-authority: "+caFile, 1), "", snapshot.Cluster{Name: "prod", Endpoint: s.URL}, ""},
		"that of the cluster itself":  {strings.Replace(kubeconfigOf(s.URL, nil, token), "certificate-authority-data: ", "insecure-skip-tls-verify: true", 1), "", snapshot.Cluster{Name: "prod", Endpoint: s.URL, CA: ca}, ""},
		"a command that is not there": {kubeconfigOf(s.URL, ca, "{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: /nonexistent/aws}}"), "", snapshot.Cluster{Name: "prod", Endpoint: s.URL, CA: ca},
			"context here: getting credentials: exec: "},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kubeconfig")
			put(t, path, tt.config)
			k, err := loadKubeconfig(Options{Kubeconfig: path, Context: tt.context})
			if err != nil {
				t.Fatal(err)
			}
			*came = nil
			servers, err := Caller{kube: k}.APIServers(t.Context(), []snapshot.Cluster{tt.of})
			if tt.says != "" {
				var m Mistake
				if err == nil || !strings.HasPrefix(err.Error(), tt.says) || !errors.As(err, &m) {
					t.Errorf("error %v, want %q", err, tt.says)
				}
				return
			}
			d := servers["prod"]
			if err != nil || d.Endpoint != s.URL || string(d.CA) != string(ca) {
				t.Fatalf("API server %+v, %v", d, err)
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.Endpoint+"/nodes", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer of AWS")
			resp, err := d.Transport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if got := req.Header.Get("Authorization"); got != "Bearer of AWS" {
				t.Errorf("the request itself has %q now", got)
			}
			if got := strings.Join(*came, ", "); got != "/version Bearer mine, /nodes Bearer mine" {
				t.Errorf("sent %q, want both with the kubeconfig's token", got)
			}
		})
	}
}

// Without a context the way is the one that EKS tells; where nothing is told the reader
// says why.
func TestWaysThatEKSTells(t *testing.T) {
	s, ca, _ := apiServer(t)
	servers, err := Caller{}.APIServers(t.Context(), []snapshot.Cluster{{Name: "new"}, {Name: "odd", Endpoint: s.URL, CA: []byte("no certificate")}, {Name: "prod", Endpoint: s.URL, CA: ca}})
	if err != nil || len(servers) != 1 || (Caller{}).ByContext() {
		t.Fatalf("servers %+v, %v, want that of prod alone", servers, err)
	}
	if via, ok := servers["prod"].Transport.(*http.Transport); !ok || via.Proxy == nil {
		t.Error("the way is not by the environment's proxy")
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, servers["prod"].Endpoint, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := servers["prod"].Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("answered %d, want that nobody is known without a token", resp.StatusCode)
	}
}

func TestOneContextIsOfOneCluster(t *testing.T) {
	s, ca, _ := apiServer(t)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	put(t, path, kubeconfigOf(s.URL, ca, "{token: mine}"))
	k, err := loadKubeconfig(Options{Kubeconfig: path})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Caller{kube: k}.APIServers(t.Context(), []snapshot.Cluster{{Name: "prod"}, {Name: "dev"}})
	if !(Caller{kube: k}).ByContext() || err == nil || err.Error() != "a context of a kubeconfig is of one cluster, and 2 are asked for" {
		t.Errorf("error %v", err)
	}
}

// Two addresses are one host's whatever their capitals and whether or not the port of
// https stands in them.
func TestSameHost(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"https://ABC.eks.amazonaws.com", "https://abc.eks.amazonaws.com:443/", true},
		{"https://abc.eks.amazonaws.com", "https://abc.eks.amazonaws.com:8443", false},
		{"https://abc.eks.amazonaws.com", "https://abd.eks.amazonaws.com", false},
		{"https://127.0.0.1:7001", "https://127.0.0.1:7002", false},
		{"://x", "://y", false},
	} {
		if got := sameHost(tt.a, tt.b); got != tt.same {
			t.Errorf("%s and %s: %v, want %v", tt.a, tt.b, got, tt.same)
		}
	}
}

// An authority that cannot be read is the kubeconfig's fault.
func TestAuthorityThatIsNotThere(t *testing.T) {
	k := kubeconfig{"here", &rest.Config{Host: "https://x.invalid", TLSClientConfig: rest.TLSClientConfig{CAFile: "/nonexistent/ca.pem"}}}
	_, err := k.apiServer(t.Context(), snapshot.Cluster{Name: "prod"})
	if want := "context here: its certificate authority: open /nonexistent/ca.pem: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}
