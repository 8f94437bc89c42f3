package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func TestFolders(t *testing.T) {
	list := folders("m", []Package{
		{ImportPath: "m/functions/report", Imports: []string{"m/shared/checks", "m/shared/snapshot", "fmt"}},
		{ImportPath: "m/shared/checks", Doc: "Package checks.", Imports: []string{"m/shared/network/path", "m/shared/snapshot"}},
		{ImportPath: "m/shared/checks/route", Imports: []string{"m/shared/checks"}},
		{ImportPath: "m/shared/network/filter/x", Doc: "Package x hides below."},
		{ImportPath: "m/shared/network/path", Doc: "Package path follows packets.", Imports: []string{"m/shared/snapshot"}},
		{ImportPath: "m/shared/snapshot"},
		{ImportPath: "m/shared/snapshot/generate", Name: "main", Imports: []string{"m/shared/checks"}},
	})
	want := []Folder{
		{Name: "functions", Packages: 1, Doc: "report", Imports: []string{"shared/checks", "shared/snapshot"}},
		{Name: "shared/checks", Packages: 2, Doc: "Package checks.", Imports: []string{"shared/network", "shared/snapshot"}},
		{Name: "shared/network", Packages: 2, Doc: "filter; path follows packets", Imports: []string{"shared/snapshot"}},
		{Name: "shared/snapshot", Packages: 1},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	var arrows []string
	for _, f := range essential(list) {
		for _, to := range f.Imports {
			arrows = append(arrows, f.Name+" > "+to)
		}
	}
	if diff := cmp.Diff([]string{"functions > shared/checks", "shared/checks > shared/network", "shared/network > shared/snapshot"}, arrows); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{{"functions"}, {"shared/checks"}, {"shared/network"}, {"shared/snapshot"}}, layers(list)); diff != "" {
		t.Error(diff)
	}
	if c := circles(list); c != nil {
		t.Errorf("circles %q in what has none", c)
	}
	var many []room
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		many = append(many, room{name, "Package " + name + " is one of many.", true})
	}
	if got := inside(many); got != "a, b, c, d, e, f, g" {
		t.Errorf("a folder of many: %q", got)
	}
}

func TestCirclesAreNamed(t *testing.T) {
	list := []Folder{
		{Name: "a", Imports: []string{"b"}},
		{Name: "b", Imports: []string{"c"}},
		{Name: "c", Imports: []string{"b"}},
		{Name: "d"},
	}
	if diff := cmp.Diff([][]string{{"b", "c"}}, circles(list)); diff != "" {
		t.Error(diff)
	}
	if text := generated(list); !strings.Contains(text, "- b, c\n") {
		t.Errorf("the page does not name the circle:\n%s", text)
	}
}

// TestNoCircles holds that no two folders of this module import each other.
func TestNoCircles(t *testing.T) {
	if c := circles(listed(t)); c != nil {
		t.Errorf("folders import each other around a circle: %q", c)
	}
}

// TestArrowsPointToWhatIsDeployed holds that nothing that is deployed imports what is local.
func TestArrowsPointToWhatIsDeployed(t *testing.T) {
	for _, f := range listed(t) {
		for _, to := range f.Imports {
			if local(to) && !local(f.Name) {
				t.Errorf("%s imports %s", f.Name, to)
			}
		}
	}
}

func TestPageIsFresh(t *testing.T) {
	file := filepath.Join("..", "..", "ARCHITECTURE.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := page(string(text), listed(t))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("ARCHITECTURE.md is stale (make architecture writes it; -fresh +page):\n%s", diff)
	}
}

func listed(t *testing.T) []Folder {
	t.Helper()
	list, err := read(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 30 {
		t.Fatalf("go list found %d folders: this test looks for the wrong thing", len(list))
	}
	return list
}
