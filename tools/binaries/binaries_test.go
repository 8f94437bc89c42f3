package binaries

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"rollcall/tools/expect"
)

// TestBuild: each function is there, and runs; who comes second finds what the first
// has built.
func TestBuild(t *testing.T) {
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if _, err := Build("../.."); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	functions, err := os.ReadDir("../../functions")
	expect.OK(t, err)
	at := map[string]os.FileInfo{}
	stat := func(name string) os.FileInfo {
		info, err := os.Stat(filepath.Join("../..", Folder, name, "bootstrap"))
		if err != nil || info.Mode()&0o111 == 0 {
			t.Fatalf("%s cannot be run: %v, %v", name, info, err)
		}
		return info
	}
	for _, f := range functions {
		at[f.Name()] = stat(f.Name())
	}
	gone := filepath.Join("../..", Folder, "gone")
	expect.OK(t, os.Mkdir(gone, 0o755))
	if _, err := Build("../.."); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a function that is gone is still there: %v", err)
	}
	for name, before := range at {
		if !os.SameFile(stat(name), before) { // the times of what is fresh are touched
			t.Errorf("%s is linked again", name)
		}
	}
}
