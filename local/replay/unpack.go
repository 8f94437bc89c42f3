// Package replay finds evidence that a deployment kept of an incident, and makes a capture
// of it again, to be diagnosed by today's code.
package replay

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"rollcall/shared/evidence"
)

// Bounds of what is unpacked. Evidence has at most 4 MiB packed, and its files are JSON,
// which becomes ten to thirty times as large.
const (
	mostUnpacked = 256 << 20
	mostFiles    = 20_000
	// MostPacked bounds what is read of an archive.
	MostPacked = 64 << 20
)

// Error is an archive that is no evidence: what is wrong with it.
type Error struct{ Problem string }

func (e *Error) Error() string { return "it is no kept evidence: " + e.Problem }

func wrong(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// plainName is a name of a file of a capture: of no other folder, and not hidden.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][^/\\\x00-\x1f]*$`)

// Unpack writes the files of an archive into a folder, which must be empty. Whatever a
// capture does not have (links, folders, names that lead elsewhere, too much) is an
// *Error, and nothing after it is written.
func Unpack(data []byte, dir string) (about evidence.About, err error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return about, wrong("it is no .tar.gz: %v", err)
	}
	room := int64(mostUnpacked)
	files := 0
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return about, wrong("it is cut or damaged: %v", err)
		}
		files++
		switch {
		case h.Typeflag != tar.TypeReg:
			return about, wrong("%q is not a file", h.Name)
		case !plainName.MatchString(h.Name) || h.Name != filepath.Base(h.Name):
			return about, wrong("%q is not a name of a file in a capture", h.Name)
		case files > mostFiles:
			return about, wrong("it has more than %d files", mostFiles)
		}
		n, err := write(filepath.Join(dir, h.Name), io.LimitReader(t, room+1))
		if err != nil {
			return about, err
		}
		if room -= n; room < 0 {
			return about, wrong("it holds more than %d MiB", mostUnpacked>>20)
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, evidence.AboutFile))
	if err != nil {
		return about, wrong("it has no %s", evidence.AboutFile)
	}
	if err := json.Unmarshal(raw, &about); err != nil {
		return about, wrong("%s: %v", evidence.AboutFile, err)
	}
	return about, nil
}

// write writes a file that is not there, for its owner's eyes only.
func write(path string, from io.Reader) (int64, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return 0, wrong("it has %q twice", filepath.Base(path))
	}
	if err != nil {
		return 0, fmt.Errorf("unpack: %w", err)
	}
	n, err := io.Copy(f, from)
	closed := f.Close()
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) {
		return n, wrong("it is cut or damaged: %v", err)
	}
	if err := errors.Join(err, closed); err != nil {
		return n, fmt.Errorf("unpack: %w", err)
	}
	return n, nil
}
