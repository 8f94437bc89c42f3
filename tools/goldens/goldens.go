// Package goldens keeps Slack's messages for tests. How each message reads is a text file;
// what is sent is JSON for a few of the most different ones and a checksum for the others, so
// that no byte changes unseen. The referees that read messages as they are sent get all of
// them from Messages.
package goldens

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Variable names the folder into which a run of the tests writes each message as it is sent.
const Variable = "ROLLCALL_MESSAGES"

// Ending is that of a message as it is sent.
const Ending = ".golden.json"

const sumsFile = "sums.txt"

// Folder is a folder of golden messages.
type Folder struct {
	path, as string
	update   *bool
	lock     sync.Mutex // of the checksums
}

// New is the folder at a path, below Variable's folder as the given one. Where update is set
// the files are written.
func New(path, as string, update *bool) *Folder { return &Folder{path: path, as: as, update: update} }

// Text holds how a message reads.
func (f *Folder) Text(t testing.TB, name string, got []byte) { f.file(t, name+".txt", got) }

// Sent holds a message as it is sent: byte for byte where its JSON is kept, else by its checksum.
func (f *Folder) Sent(t testing.TB, name string, got []byte) {
	t.Helper()
	if dir := os.Getenv(Variable); dir != "" {
		at := filepath.Join(dir, f.as, name+Ending)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, got, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(f.path, name+Ending)); err == nil {
		f.file(t, name+Ending, got)
		return
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	sums := f.sums(t)
	is := fmt.Sprintf("%x", sha256.Sum256(got))[:32]
	switch {
	case *f.update:
		sums[name] = is
		f.write(t, sums)
	case sums[name] != is:
		t.Errorf("%s is sent otherwise than before: its checksum in %s is %q, want %q. %s=FOLDER writes it as it is sent, before and after; run with -update if it should change",
			name, f.path, is, sums[name], Variable)
	}
}

// Only holds that each file and checksum is of one of these messages.
func (f *Folder) Only(t testing.TB, names ...string) {
	t.Helper()
	files, err := os.ReadDir(f.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimSuffix(file.Name(), ".txt"), Ending)
		if !file.IsDir() && file.Name() != sumsFile && !slices.Contains(names, name) {
			t.Errorf("%s belongs to no message", filepath.Join(f.path, file.Name()))
		}
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	sums := f.sums(t)
	stray := func(name, _ string) bool {
		_, err := os.Stat(filepath.Join(f.path, name+Ending))
		return err == nil || !slices.Contains(names, name)
	}
	if *f.update {
		maps.DeleteFunc(sums, stray)
		f.write(t, sums)
	}
	for name, sum := range sums {
		if stray(name, sum) {
			t.Errorf("%s of %s belongs to no message, or to one whose JSON is kept", name, filepath.Join(f.path, sumsFile))
		}
	}
}

func (f *Folder) file(t testing.TB, name string, got []byte) {
	t.Helper()
	file := filepath.Join(f.path, name)
	if *f.update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; run with -update if it should change):\n%s", file, diff)
	}
}

func (f *Folder) sums(t testing.TB) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(f.path, sumsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		sums[name] = sum
	}
	return sums
}

func (f *Folder) write(t testing.TB, sums map[string]string) {
	t.Helper()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&b, "%s  %s\n", sums[name], name)
	}
	if err := os.WriteFile(filepath.Join(f.path, sumsFile), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Messages runs the tests of packages that keep messages, and returns the paths of all of
// them as they are sent. The root is the repository's.
func Messages(t testing.TB, root string, packages ...string) []string {
	t.Helper()
	// go test has to know on which files a cached result hangs.
	for _, of := range packages {
		files, err := filepath.Glob(filepath.Join(root, of, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no Go files (%v)", of, err)
		}
		for _, file := range files {
			if _, err := os.Stat(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir := t.TempDir()
	run := exec.CommandContext(t.Context(), "go", append([]string{"test", "-count=1", "-run", "Golden$|^TestAnswers$|^TestMessages$|^TestKarpenterStory$"}, packages...)...)
	run.Dir, run.Env = root, append(os.Environ(), Variable+"="+dir)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("play the messages of %s: %v\n%s", packages, err, out)
	}
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, Ending) {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}
