package replay

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"strings"
	"testing"

	"rollcall/shared/evidence"
)

// packed is an archive of what is told.
func packed(t *testing.T, list ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range list {
		body := h.Linkname
		if h.Typeflag == 0 {
			h.Typeflag, h.Linkname = tar.TypeReg, ""
			h.Size = int64(len(body))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte(body)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// entry is a file with its text, which the header has no room for but Linkname.
func entry(name, text string) tar.Header { return tar.Header{Name: name, Linkname: text, Mode: 0o600} }

// TestHostileArchives: what a capture does not have is refused by its reason, and nothing
// is written outside the folder.
func TestHostileArchives(t *testing.T) {
	about := entry(evidence.AboutFile, `{"by": "join-check", "cluster": "prod"}`)
	whole := packed(t, about, entry("time.txt", "2026-11-20T15:00:00Z"))
	bomb := func() []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		if err := w.WriteHeader(&tar.Header{Name: "kubectl-get-nodes.prod.json", Typeflag: tar.TypeReg, Size: mostUnpacked + 1}); err != nil {
			t.Fatal(err)
		}
		zeros := make([]byte, 1<<20)
		for range mostUnpacked >> 20 {
			if _, err := w.Write(zeros); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = w.Write([]byte{0})
		if err := errors.Join(w.Close(), z.Close()); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, test := range map[string]struct {
		data []byte
		want string // "" is accepted
	}{
		"whole":       {whole, ""},
		"upwards":     {packed(t, entry("../evil.json", "{}")), "not a name of a file"},
		"absolute":    {packed(t, entry("/tmp/evil.json", "{}")), "not a name of a file"},
		"a folder's":  {packed(t, entry("a/b.json", "{}")), "not a name of a file"},
		"backslashes": {packed(t, entry(`..\evil.json`, "{}")), "not a name of a file"},
		"hidden":      {packed(t, entry(".profile", "x")), "not a name of a file"},
		"a link":      {packed(t, tar.Header{Name: "a.json", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), "is not a file"},
		"a hard link": {packed(t, tar.Header{Name: "a.json", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}), "is not a file"},
		"a device":    {packed(t, tar.Header{Name: "a.json", Typeflag: tar.TypeChar}), "is not a file"},
		"a folder":    {packed(t, tar.Header{Name: "a", Typeflag: tar.TypeDir}), "is not a file"},
		"twice":       {packed(t, about, about), "twice"},
		"of nothing":  {packed(t, entry("time.txt", "x")), "has no evidence.json"},
		"of no JSON":  {packed(t, entry(evidence.AboutFile, "{")), "evidence.json"},
		"no archive":  {[]byte("hello"), "no .tar.gz"},
		"empty":       {nil, "no .tar.gz"},
		"cut":         {whole[:len(whole)/2], "cut or damaged"},
		"a bomb":      {bomb(), "more than 256 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			outer := t.TempDir()
			dir := outer + "/in"
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			_, err := Unpack(test.data, dir)
			var hostile *Error
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
			} else if !errors.As(err, &hostile) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if list, _ := os.ReadDir(outer); len(list) != 1 {
				t.Errorf("outside the folder stands %v", list)
			}
		})
	}
}
