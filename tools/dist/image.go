package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the one that the image's program runs as, in no group of the system: 65532 is
// "nonroot" in distroless images too, so that runAsNonRoot can be checked by its number.
const user = 65532

// imageFile is the name of the image in a release.
func imageFile(version string) string { return "rollcall_" + version + "_oci.tar" }

// writeImage writes the command for Linux as one image of several platforms, in the layout of the
// OCI (https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md), as a tar that
// skopeo, podman, crane and docker load read. Without a program for Linux there is none.
func writeImage(out, repository, version, commit string, programs []program, at time.Time) error {
	programs = slices.DeleteFunc(slices.Clone(programs), func(p program) bool { return p.name != "rollcall" || p.platform.os != "linux" })
	if len(programs) == 0 {
		return nil
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range programs {
		image, err := p.image(repository, version, commit, at)
		if err != nil {
			return fmt.Errorf("make the image for %s: %w", p.platform.name(), err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.platform.os, Architecture: p.platform.arch}}})
	}
	dir, err := os.MkdirTemp(out, "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	written, err := layout.Write(dir, empty.Index)
	if err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	// By this name docker load tags it.
	name := map[string]string{"org.opencontainers.image.ref.name": version, "io.containerd.image.name": "rollcall:" + version}
	if err := written.AppendIndex(index, layout.WithAnnotations(name)); err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	members, err := membersOf(dir)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := writeTar(&b, members, at); err != nil {
		return fmt.Errorf("pack the image: %w", err)
	}
	return os.WriteFile(filepath.Join(out, imageFile(version)), b.Bytes(), 0o644)
}

// membersOf are the files below a folder.
func membersOf(dir string) ([]member, error) {
	var members []member
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		members = append(members, member{name: filepath.ToSlash(name), data: data})
		return err
	})
	return members, err
}

// image is the program alone, without a shell, with what it takes from a system: authorities of
// TLS, a user with a home for ~/.aws and ~/.kube, and a folder for temporary files.
func (p program) image(repository, version, commit string, at time.Time) (v1.Image, error) {
	members, err := p.read()
	if err != nil {
		return nil, err
	}
	licenses, err := p.licenses("usr/share/doc/rollcall/")
	if err != nil {
		return nil, err
	}
	members = append(append(members, licenses...),
		member{name: "etc/ssl/certs/ca-certificates.crt", data: authorities()}, // where Go looks first on Linux (crypto/x509, root_linux.go)
		member{name: "etc/passwd", data: fmt.Appendf(nil, "root:x:0:0::/:/\nnonroot:x:%d:%[1]d::/home/nonroot:/\n", user)},
		member{name: "etc/group", data: fmt.Appendf(nil, "root:x:0:\nnonroot:x:%d:\n", user)},
		member{name: "home/nonroot/", owner: user}, member{name: "tmp/", perm: 0o1777})
	var b bytes.Buffer
	if err := writeTar(&b, members, at); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	labels := map[string]string{ // https://github.com/opencontainers/image-spec/blob/v1.1.1/annotations.md
		"org.opencontainers.image.title":       "rollcall",
		"org.opencontainers.image.description": "Why an EC2 instance did not become an EKS node",
		"org.opencontainers.image.version":     version,
		"org.opencontainers.image.revision":    commit,
		"org.opencontainers.image.created":     at.Format(time.RFC3339),
		"org.opencontainers.image.licenses":    "Apache-2.0",
	}
	if repository != "" {
		labels["org.opencontainers.image.source"] = "https://github.com/" + repository
	}
	image, err := mutate.ConfigFile(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), &v1.ConfigFile{
		OS: p.platform.os, Architecture: p.platform.arch, Created: v1.Time{Time: at}, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{Entrypoint: []string{"/rollcall"}, User: fmt.Sprintf("%d:%[1]d", user), WorkingDir: "/home/nonroot", Labels: labels},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(image, mutate.Addendum{Layer: layer, MediaType: types.OCILayer, History: v1.History{Created: v1.Time{Time: at}, CreatedBy: "make release"}})
}

// authorities are the certificate authorities that Mozilla trusts without a restriction, as Go's
// own copy has them: those with one cannot be written as a list of certificates.
func authorities() []byte {
	b := bytes.NewBufferString("# Certificate authorities that Mozilla trusts (MPL-2.0), as golang.org/x/crypto/x509roots has them.\n")
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			pem.Encode(b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return b.Bytes()
}
