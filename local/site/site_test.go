package site

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/site/example"
	"rollcall/local/site/page"
	"rollcall/local/testfull"
)

const (
	root = "../.."
	docs = root + "/docs/"
)

// The committed pages are what generate writes; the examples, which take a look at a world
// each, are held by TestExamplesAreFresh.
func TestPagesAreFresh(t *testing.T) {
	checks, _, err := Checks(root)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := Pages(root, checks, func(i int) (string, error) {
		file := docs + "checks/" + page.Path(checks.List[i].ID)
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		old, found := page.Between(string(text))
		if !found {
			return "", fmt.Errorf("%s has no example", file)
		}
		return old, nil
	})
	if err != nil {
		t.Fatalf("%v: run make generate", err)
	}
	for name, want := range pages {
		got, err := os.ReadFile(docs + name)
		if err != nil {
			t.Errorf("%v: run make generate", err)
			continue
		}
		if diff := cmp.Diff(string(got), want); diff != "" {
			t.Errorf("docs/%s is not fresh: run make generate (-got +want):\n%s", name, diff)
		}
	}
	var there []string
	err = filepath.WalkDir(docs+"checks", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			there = append(there, strings.TrimPrefix(filepath.ToSlash(path), docs))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range there {
		if _, known := pages[name]; !known {
			t.Errorf("docs/%s is of no check: run make generate", name)
		}
	}
}

// A few of the examples are made anew, of each way in which something is shown; all of
// them where there is time.
func TestExamplesAreFresh(t *testing.T) {
	t.Chdir(root) // the stage finds its template from there
	checks, worlds, err := Checks(".")
	if err != nil {
		t.Fatal(err)
	}
	few := []string{"route/no-egress", "zone/volume-stranded", "sg/efa-self-rule", "spot/few-pools"}
	if testfull.Asked() {
		few = nil
	}
	for _, c := range checks.List {
		if few != nil && !slices.Contains(few, string(c.ID)) {
			continue
		}
		e, found, err := example.Of(t.Context(), c.ID, worlds[c.ID])
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		text, err := os.ReadFile("docs/checks/" + page.Path(c.ID))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := page.Between(string(text))
		if diff := cmp.Diff(strings.TrimSpace(got), strings.TrimSpace(page.Example(c, e, found))); diff != "" {
			t.Errorf("the example of %s is not fresh: run make generate (-got +want):\n%s", c.ID, diff)
		}
	}
}

// Every page is in the site's menu, and all that the menu names is there: nobody finds a
// page that only a search brings.
func TestEveryPageIsInTheMenu(t *testing.T) {
	raw, err := os.ReadFile(docs + "site/.vitepress/sidebar.mjs")
	if err != nil {
		t.Fatal(err)
	}
	menu := string(raw)
	files, err := filepath.Glob(docs + "*.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		if name == "README" {
			continue // the first page
		}
		named[name] = true
		if !strings.Contains(menu, `"/`+name+`"`) {
			t.Errorf("docs/%s.md is not in the menu, docs/site/.vitepress/sidebar.mjs", name)
		}
	}
	if len(named) < 25 {
		t.Errorf("%d pages: this test looks for the wrong thing", len(named))
	}
	for _, part := range strings.Split(menu, `"/`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		if name != "" && name != "checks/" && !named[name] {
			t.Errorf("the menu names %s, which is no page; there are %v", name, slices.Sorted(maps.Keys(named)))
		}
	}
}
