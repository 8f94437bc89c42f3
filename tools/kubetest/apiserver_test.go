//go:build kube

package kubetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"rollcall/tools/testfile"
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
		testfile.Write(t, path, content)
		return path
	}
	tokens, key, port := write("tokens.csv", []byte(tokenFile)), write("accounts.key", signingKey(t)), freePort(t)
	ended := start(t, ctx, servers.apiserver,
		"--etcd-servers", etcd, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port", port,
		"--cert-dir", dir, "--token-auth-file", tokens, "--authorization-mode=RBAC", "--anonymous-auth=false",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file", key,
		"--service-account-signing-key-file", key, "--service-cluster-ip-range=10.100.0.0/16",
		// No controller makes service accounts here, and a node shall be stored with
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

const (
	kubernetesVersion = "v1.36.3"
	// stagingVersion is under which the parts that Kubernetes's own repository
	// holds as folders are published.
	stagingVersion = "v0.36.3"
)

// linkerFlags make the binaries small, and tell the API server its version.
const linkerFlags = "-s -w -X k8s.io/component-base/version.gitVersion=" + kubernetesVersion

// goFlags are those of every go command here. Trimmed paths let the build
// cache serve the next scratch folder.
const goFlags = "-mod=mod -trimpath -buildvcs=false"

// cacheName is where the binaries are kept: another version, flag or Go gives
// other ones.
func cacheName() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{kubernetesVersion, stagingVersion, linkerFlags, goFlags, runtime.Version(), runtime.GOARCH}, "\n")))
	return fmt.Sprintf("kube-apiserver-%s-%x", kubernetesVersion, sum[:4])
}

// binaries are the paths of the two servers.
type binaries struct{ apiserver, etcd string }

func (b binaries) exist() bool {
	_, first := os.Stat(b.apiserver)
	_, second := os.Stat(b.etcd)
	return first == nil && second == nil
}

// build gives the servers, from the user's cache folder or built anew. It
// tells on progress how far it is.
func build(ctx context.Context, progress io.Writer) (binaries, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return binaries{}, fmt.Errorf("no folder to keep kube-apiserver and etcd in: %w", err)
	}
	home := filepath.Join(cache, "rollcall")
	kept := filepath.Join(home, cacheName())
	// etcd's main package is called after its folder, server.
	servers := binaries{apiserver: filepath.Join(kept, "kube-apiserver"), etcd: filepath.Join(kept, "server")}
	if servers.exist() {
		return servers, nil
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return binaries{}, err
	}
	scratch, err := os.MkdirTemp(home, "build-") // beside the place where they go, to rename
	if err != nil {
		return binaries{}, err
	}
	defer os.RemoveAll(scratch)
	fmt.Fprintf(progress, "building kube-apiserver %s and its etcd, once, for %s (some minutes)\n", kubernetesVersion, kept)
	if err := writeModule(ctx, scratch); err != nil {
		return binaries{}, err
	}
	bin := filepath.Join(scratch, "bin")
	counter := &packages{out: progress, start: time.Now(), last: time.Now()}
	if err := goTool(ctx, scratch, io.Discard, counter, "build", "-v", "-o", bin+string(filepath.Separator), "-ldflags", linkerFlags, "tool"); err != nil {
		return binaries{}, fmt.Errorf("build kube-apiserver %s: %w", kubernetesVersion, err)
	}
	// Another run may have been faster; its binaries are the same.
	if err := os.Rename(bin, kept); err != nil && !servers.exist() {
		return binaries{}, err
	}
	return servers, nil
}

// writeModule makes a module whose tools are the two servers. Kubernetes
// replaces its staging modules by folders, which only its own repository has;
// here they are replaced by what is published.
func writeModule(ctx context.Context, dir string) error {
	file := filepath.Join(dir, "go.mod")
	if err := os.WriteFile(file, []byte("module scratch\n"), 0o644); err != nil {
		return err
	}
	var download struct{ GoMod string }
	if err := goJSON(ctx, dir, &download, "list", "-m", "-json", "k8s.io/kubernetes@"+kubernetesVersion); err != nil {
		return fmt.Errorf("download Kubernetes %s: %w", kubernetesVersion, err)
	}
	var module struct {
		Go      string
		Replace []struct{ Old, New struct{ Path string } }
	}
	if err := goJSON(ctx, dir, &module, "mod", "edit", "-json", download.GoMod); err != nil {
		return fmt.Errorf("read Kubernetes's go.mod: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "module scratch\n\ngo %s\n\nrequire k8s.io/kubernetes %s\n\n", module.Go, kubernetesVersion)
	for _, r := range module.Replace {
		if strings.HasPrefix(r.New.Path, "./staging/") {
			fmt.Fprintf(&b, "replace %s => %s %s\n", r.Old.Path, r.Old.Path, stagingVersion)
		}
	}
	b.WriteString("\ntool k8s.io/kubernetes/cmd/kube-apiserver\n\ntool go.etcd.io/etcd/server/v3\n")
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// goTool runs the go command in a folder. The last lines of what it complains
// about are in the error.
func goTool(ctx context.Context, dir string, stdout, stderr io.Writer, args ...string) error {
	var said bytes.Buffer
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Stdout, c.Stderr = dir, stdout, io.MultiWriter(stderr, &said)
	// An interrupted go command leaves its temporary folder behind: it goes
	// with ours.
	c.Env = append(os.Environ(), "GOTMPDIR="+dir, "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS="+goFlags)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = time.Minute
	err := c.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%w\n%s", err, tail(said.Bytes()))
	}
	return nil
}

func goJSON(ctx context.Context, dir string, out any, args ...string) error {
	var b bytes.Buffer
	if err := goTool(ctx, dir, &b, io.Discard, args...); err != nil {
		return err
	}
	return json.Unmarshal(b.Bytes(), out)
}

// tailLines is enough to see why a program failed.
const tailLines = 15

func tail(said []byte) string {
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}

// packages counts the lines of go build -v, one for each package.
type packages struct {
	out         io.Writer
	start, last time.Time
	count       int
}

// progressEvery is how often the build says how far it is.
const progressEvery = 15 * time.Second

func (p *packages) Write(b []byte) (int, error) {
	p.count += bytes.Count(b, []byte("\n"))
	if now := time.Now(); now.Sub(p.last) >= progressEvery {
		p.last = now
		fmt.Fprintf(p.out, "  %d packages downloaded or compiled after %s\n", p.count, now.Sub(p.start).Round(time.Second))
	}
	return len(b), nil
}
