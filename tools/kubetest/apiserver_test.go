//go:build kube

package kubetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// The callers of both APIs, by their tokens.
const (
	adminToken    = "token-of-the-admin"
	rollcallToken = "token-of-rollcall"    // in the group of the manifest
	strangerToken = "token-of-a-stranger"  // known, but may nothing
	wrongToken    = "token-of-nobody-here" // not known
)

// tokenFile is what --token-auth-file reads: token, name, uid, groups.
const tokenFile = adminToken + `,admin,1,"system:masters"
` + rollcallToken + `,arn:aws:iam::123456789012:role/join-check,2,"rollcall"
` + strangerToken + `,arn:aws:iam::123456789012:role/stranger,3
`

// startTime is how long the servers may take to be ready. They take three
// seconds on an idle machine.
const startTime = 2 * time.Minute

// startAPI starts etcd and kube-apiserver on loopback, and gives the API and
// etcd's address. They end with the test.
func startAPI(t *testing.T, ctx context.Context, servers binaries) (*place, string) {
	t.Helper()
	dir := t.TempDir()
	etcd := "http://127.0.0.1:" + freePort(t)
	etcdEnded := start(t, ctx, servers.etcd,
		"--data-dir", filepath.Join(dir, "etcd"), "--listen-client-urls", etcd, "--advertise-client-urls", etcd,
		"--listen-peer-urls", "http://127.0.0.1:0", "--unsafe-no-fsync")

	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tokens, key, port := write("tokens.csv", []byte(tokenFile)), write("accounts.key", signingKey(t)), freePort(t)
	ended := start(t, ctx, servers.apiserver,
		"--etcd-servers", etcd, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port", port,
		"--cert-dir", dir, "--token-auth-file", tokens, "--authorization-mode=RBAC", "--anonymous-auth=false",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file", key,
		"--service-account-signing-key-file", key, "--service-cluster-ip-range=10.100.0.0/16",
		// Nobody makes service accounts here, and a node shall be stored with
		// the taints that the test gives it.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition", "--endpoint-reconciler-type=none")

	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		// The server makes its certificate when it starts, and its authority
		// is in the same file. While it is written, the file is there and empty.
		ca, err := os.ReadFile(filepath.Join(dir, "apiserver.crt"))
		if err == nil && bytes.Contains(ca, []byte("-----END CERTIFICATE-----")) {
			p := newPlace(t, "kube-apiserver", "https://127.0.0.1:"+port, ca)
			if got, err := p.try(ctx, adminToken, http.MethodGet, "/readyz", nil); err == nil && got.code == http.StatusOK {
				return p, etcd
			}
		}
		select {
		case err := <-etcdEnded:
			t.Fatalf("etcd ended: %v", err)
		case err := <-ended:
			t.Fatalf("kube-apiserver ended: %v", err)
		case <-ctx.Done():
			t.Fatalf("kube-apiserver is not ready after %s: %v", startTime, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// start runs a server until the test ends. If the test fails, the last lines
// of the server's log are shown.
func start(t *testing.T, ctx context.Context, path string, args ...string) <-chan error {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, kill := context.WithCancel(ctx)
	c := exec.CommandContext(ctx, path, args...)
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		kill()
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- c.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		kill()
		for range ended {
		}
		log.Close()
		if said, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("the end of the log of %s:\n%s", filepath.Base(path), tail(said))
		}
	})
	return ended
}

// freePort is a port that was free just now: neither server tells which one it
// got for itself.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// signingKey is a key for service account tokens, without which the server
// does not start.
func signingKey(t *testing.T) []byte {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(fmt.Errorf("make a key: %w", err))
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
}
