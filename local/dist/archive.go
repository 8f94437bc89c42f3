package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// member is a file of an archive.
type member struct {
	name string
	data []byte
	exec bool
	link string // a symbolic link to it
}

// archive is one that was written.
type archive struct {
	program  string
	platform platform
	file     string // its name
	binary   string // in it
	sum      string // SHA-256, hexadecimal
}

// pack writes a program with its licences. Unix has the plugin's name too, as a link.
func (p program) pack(out, version string, at time.Time) (archive, error) {
	members := []member{}
	for _, name := range p.binaries {
		data, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil {
			return archive{}, err
		}
		members = append(members, member{name: filepath.ToSlash(name), data: data, exec: true})
	}
	if p.name == "rollcall-functions" {
		// By it a deployment holds what was unpacked against what was built.
		members = append(members, member{name: sumsFile, data: sumsOf(members)})
	}
	if p.name == "rollcall" && p.platform.os != "windows" {
		members = append(members, member{name: "kubectl-rollcall", link: "rollcall"})
	}
	licences, err := p.licences()
	if err != nil {
		return archive{}, err
	}
	own, err := os.ReadFile("LICENSE")
	if err != nil {
		return archive{}, err
	}
	members = append(members, member{name: "LICENSE", data: own}, member{name: "THIRD-PARTY-LICENSES.txt", data: licences})
	a := archive{program: p.name, platform: p.platform, file: p.fileName(version) + ".tar.gz", binary: p.binaries[0]}
	write := writeTar
	if p.platform.os == "windows" {
		a.file, write = p.fileName(version)+".zip", writeZip
	}
	var b bytes.Buffer
	if err := write(&b, members, at); err != nil {
		return archive{}, fmt.Errorf("pack %s: %w", a.file, err)
	}
	sum := sha256.Sum256(b.Bytes())
	a.sum = hex.EncodeToString(sum[:])
	return a, os.WriteFile(filepath.Join(out, a.file), b.Bytes(), 0o644)
}

// fileName is the name of what is written of a program, without its ending.
func (p program) fileName(version string) string {
	return p.name + "_" + version + "_" + p.platform.name()
}

func mode(m member) int64 {
	if m.exec {
		return 0o755
	}
	return 0o644
}

// writeTar writes a compressed tar in which nothing is this machine's: names in order,
// the commit's time, nobody's files.
func writeTar(to io.Writer, members []member, at time.Time) error {
	z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(z)
	for _, m := range ordered(members) {
		h := &tar.Header{Name: m.name, Mode: mode(m), Size: int64(len(m.data)), ModTime: at, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if m.link != "" {
			h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, m.link, 0o777
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(m.data); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), z.Close())
}

func writeZip(to io.Writer, members []member, at time.Time) error {
	w := zip.NewWriter(to)
	for _, m := range ordered(members) {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: at}
		h.SetMode(os.FileMode(mode(m)))
		f, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(m.data); err != nil {
			return err
		}
	}
	return w.Close()
}

func ordered(members []member) []member {
	return slices.SortedFunc(slices.Values(members), func(a, b member) int { return strings.Compare(a.name, b.name) })
}

const sumsFile = "SHA256SUMS"

// sumsOf are the sums of files, as sha256sum --check takes them.
func sumsOf(members []member) []byte {
	var b bytes.Buffer
	for _, m := range ordered(members) {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(m.data), m.name)
	}
	return b.Bytes()
}

// writeSums writes the sum of each file, as sha256sum --check takes it.
func writeSums(out string) error {
	entries, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return os.WriteFile(filepath.Join(out, sumsFile), []byte(b.String()), 0o644)
}
