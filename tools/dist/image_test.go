package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"debug/buildinfo"
	"debug/elf"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"rollcall/tools/testfile"
)

// TestImage: the image is valid, the same each time, has nothing to run but the program, and the
// program runs in it as its user, with nothing else of a system.
func TestImage(t *testing.T) {
	t.Chdir("../..")
	programs := []program{built(t, "amd64"), built(t, "arm64")}
	out, again := t.TempDir(), t.TempDir()
	programs = append(programs, program{name: "rollcall", platform: platform{"windows", "amd64"}}, program{name: functionsArchive, platform: platform{"linux", "arm64"}})
	for _, dir := range []string{out, again} {
		if err := writeImage(dir, "acme/rollcall", "1.2.3", "0123abcd", programs, at); err != nil {
			t.Fatal(err)
		}
	}
	data := testfile.Read(t, filepath.Join(out, "rollcall_1.2.3_oci.tar"))
	if !bytes.Equal(data, testfile.Read(t, filepath.Join(again, "rollcall_1.2.3_oci.tar"))) {
		t.Error("the same programs give another image")
	}
	if list, err := os.ReadDir(out); err != nil || len(list) != 1 {
		t.Errorf("%v: beside the image: %v", err, list)
	}
	unpacked := t.TempDir()
	unpack(t, bytes.NewReader(data), unpacked)
	top, err := layout.ImageIndexFromPath(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(top); err != nil {
		t.Errorf("not a valid layout: %v", err)
	}
	listed, err := top.IndexManifest()
	if err != nil || len(listed.Manifests) != 1 {
		t.Fatalf("%v: %+v", err, listed)
	}
	if name := listed.Manifests[0].Annotations["io.containerd.image.name"]; name != "rollcall:1.2.3" {
		t.Errorf("loaded as %q", name)
	}
	index, err := top.ImageIndex(listed.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		inImage(t, image, m.Platform.Architecture == runtime.GOARCH)
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, platforms); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

// built is the command of this machine, said to be for an architecture.
func built(t *testing.T, arch string) program {
	t.Helper()
	p := program{name: "rollcall", platform: platform{"linux", arch}, dir: t.TempDir(), binaries: []string{"rollcall"}}
	file := filepath.Join(p.dir, "rollcall")
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", file, "./cmd/rollcall").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p.infos = []*debug.BuildInfo{info}
	return p
}

// inImage looks at an image, and runs its program where this machine can.
func inImage(t *testing.T, image v1.Image, runs bool) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{
		"org.opencontainers.image.title": "rollcall", "org.opencontainers.image.description": "Why an EC2 instance did not become an EKS node",
		"org.opencontainers.image.version": "1.2.3", "org.opencontainers.image.revision": "0123abcd", "org.opencontainers.image.created": "2026-11-23T08:00:00Z",
		"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.source": "https://github.com/acme/rollcall",
	}
	want := v1.Config{Entrypoint: []string{"/rollcall"}, User: "65532:65532", WorkingDir: "/home/nonroot", Labels: labels}
	if diff := cmp.Diff(want, config.Config); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	root := t.TempDir()
	flat := mutate.Extract(image)
	defer flat.Close()
	files := unpack(t, flat, root)
	var executable []string
	for _, h := range files {
		if h.Typeflag == tar.TypeReg && h.Mode&0o111 != 0 {
			executable = append(executable, h.Name)
		}
		if h.Mode&0o6000 != 0 {
			t.Errorf("%s runs as another user: %o", h.Name, h.Mode)
		}
	}
	if diff := cmp.Diff([]string{"rollcall"}, executable); diff != "" {
		t.Errorf("programs in the image (-want +got):\n%s", diff)
	}
	authorities := x509.NewCertPool()
	amazon := false
	for rest := testfile.Read(t, filepath.Join(root, "etc/ssl/certs/ca-certificates.crt")); len(rest) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			t.Fatalf("not a list of certificates: %q", rest)
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		authorities.AddCert(c)
		amazon = amazon || c.Subject.CommonName == "Amazon Root CA 1" // of AWS's endpoints
	}
	if !amazon {
		t.Error("TLS to AWS would fail: there is no Amazon Root CA 1")
	}
	if runtime.GOOS != "linux" || !runs {
		return
	}
	program, err := elf.Open(filepath.Join(root, "rollcall"))
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program needs a loader, which the image has not")
		}
	}
	for args, says := range map[string]string{"version": "rollcall version ", "explain VcpuLimitExceeded": "launch/vcpu-limit"} {
		c := exec.Command(config.Config.Entrypoint[0], strings.Fields(args)...)
		c.Dir, c.Env = config.Config.WorkingDir, []string{"HOME=" + config.Config.WorkingDir}
		if os.Getuid() == 0 {
			c.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: user, Gid: user}}
		} else { // no right to change the root
			c.Path, c.Dir = filepath.Join(root, "rollcall"), filepath.Join(root, config.Config.WorkingDir)
		}
		if out, err := c.CombinedOutput(); !strings.Contains(string(out), says) {
			t.Errorf("%s: %v, prints %q, want %q in it", args, err, out, says)
		}
	}
}

// unpack writes what is in a tar below a folder, and returns its headers.
func unpack(t *testing.T, from io.Reader, to string) []*tar.Header {
	t.Helper()
	var headers []*tar.Header
	r := tar.NewReader(from)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return headers
		}
		if err != nil {
			t.Fatal(err)
		}
		headers = append(headers, h)
		path := filepath.Join(to, h.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, h.FileInfo().Mode())
		} else if data, read := io.ReadAll(r); read != nil {
			err = read
		} else {
			err = os.WriteFile(path, data, h.FileInfo().Mode())
		}
		if err == nil && os.Getuid() == 0 {
			err = os.Chown(path, h.Uid, h.Gid)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
