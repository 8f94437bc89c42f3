package world

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"rollcall/local/simaws/worldfile"
)

// corpusFolder holds the worlds that stand still; unseen.yaml beside them is
// no world.
const (
	corpusFolder = "../../worlds/corpus"
	unseenFile   = "unseen.yaml"
)

// unseenCases is unseen.yaml.
type unseenCases struct {
	Unseen []struct{ ID, URL, Why string }
	All    []string
}

func corpus(t *testing.T) map[string]*worldfile.File {
	t.Helper()
	paths, err := filepath.Glob(corpusFolder + "/*.yaml")
	if err != nil || len(paths) < 100 {
		t.Fatalf("got %d files (%v), want the corpus", len(paths), err)
	}
	worlds := map[string]*worldfile.File{}
	for _, path := range paths {
		if filepath.Base(path) == unseenFile {
			continue
		}
		f, err := worldfile.Load(path)
		if err != nil {
			t.Error(err)
			continue
		}
		worlds[strings.TrimSuffix(filepath.Base(path), ".yaml")] = f
	}
	return worlds
}

// Each world can be made, is called as its file, says what it is, and expects
// something that agrees with itself.
func TestCorpusWorldsAreWhole(t *testing.T) {
	for name, f := range corpus(t) {
		if f.Name != name || f.About == "" {
			t.Errorf("%s: name %q, about %q", name, f.Name, f.About)
		}
		if f.Expect.Healthy && (len(f.Expect.Incidents) > 0 || f.Expect.Unknown) || !f.Expect.Healthy && len(f.Expect.Incidents) == 0 && !f.Expect.Unknown {
			t.Errorf("%s: expects %+v", name, f.Expect)
		}
		if strings.HasSuffix(name, "-healthy") && !f.Expect.Healthy {
			t.Errorf("%s: it is called healthy, and expects %+v", name, f.Expect)
		}
		if _, err := New(f, Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every public report is retold by a world, or is among those that cannot be.
func TestEveryCaseIsToldOrUnseen(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(corpusFolder, unseenFile))
	if err != nil {
		t.Fatal(err)
	}
	var list unseenCases
	if err := yaml.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	where := map[string][]string{}
	for _, u := range list.Unseen {
		if !strings.HasPrefix(u.URL, "https://") || !strings.HasSuffix(u.Why, ".") {
			t.Errorf("%s: address %q, reason %q", u.ID, u.URL, u.Why)
		}
		where[u.ID] = append(where[u.ID], unseenFile)
	}
	for name, f := range corpus(t) {
		for _, id := range f.Cases {
			where[id] = append(where[id], name)
		}
	}
	for _, id := range list.All {
		switch files := where[id]; {
		case len(files) == 0:
			t.Errorf("case %s: no world retells it, and %s does not say why", id, unseenFile)
		case len(files) > 1 && slices.Contains(files, unseenFile):
			t.Errorf("case %s: it is unseen, and told in %q", id, files)
		}
		delete(where, id)
	}
	for id, files := range where {
		t.Errorf("case %q of %q is not in the list", id, files)
	}
}
