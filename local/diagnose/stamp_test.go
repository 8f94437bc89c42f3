package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A change of a source, of a binary or of the go command is noticed.
func TestUpToDate(t *testing.T) {
	root := t.TempDir()
	out := filepath.Join(root, "build", "local")
	source, binary := filepath.Join(root, "shared", "a.go"), filepath.Join(out, "f", "bootstrap")
	for _, path := range []string{filepath.Join(root, "go.mod"), filepath.Join(root, "go.sum"), filepath.Join(root, "functions", "f", "main.go"), source, binary} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if upToDate(root, out, "go") {
		t.Error("up to date before anything was built")
	}
	changes := []struct {
		name string
		make func() error
	}{
		{"a source is touched", func() error { return os.Chtimes(source, time.Time{}, time.Unix(1e9, 0)) }},
		{"a source is gone", func() error { return os.Remove(source) }},
		{"a binary is another", func() error { return os.WriteFile(binary, []byte("x"), 0o644) }},
		{"the stamp is another", func() error { return os.WriteFile(filepath.Join(out, stampFile), nil, 0o644) }},
	}
	for _, change := range changes {
		if err := note(root, out, "go"); err != nil {
			t.Fatal(err)
		}
		if !upToDate(root, out, "go") {
			t.Errorf("not up to date before: %s", change.name)
		}
		if upToDate(root, out, "/another/go") {
			t.Error("up to date for another go command")
		}
		if err := change.make(); err != nil {
			t.Fatal(err)
		}
		if upToDate(root, out, "go") {
			t.Errorf("still up to date: %s", change.name)
		}
	}
}
