package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestNamedFilesAreThere holds that the files which the pages for contributors name
// from the top of the repository are there; names in capitals are for the reader.
func TestNamedFilesAreThere(t *testing.T) {
	root := filepath.Join("..", "..")
	named := regexp.MustCompile("`((?:shared|functions|local|events|infra)/[a-z0-9_./-]+)`")
	found := 0
	for _, page := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md"} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			found++
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s: %v", page, m[1], err)
			}
		}
	}
	if found < 20 {
		t.Errorf("%d files are named: this test looks for the wrong thing", found)
	}
}
