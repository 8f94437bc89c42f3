package events

import (
	"path/filepath"
	"strings"
	"testing"

	"rollcall/tools/testfile"
)

func schemas(t *testing.T) Schemas {
	t.Helper()
	s, err := ReadSchemas("schema")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEverySampleFollowsItsSchema(t *testing.T) {
	s := schemas(t)
	samples, err := Samples("out")
	if err != nil {
		t.Fatal(err)
	}
	sent := map[string]bool{}
	for _, sample := range samples {
		kind, err := s.Validate(sample.Event)
		if err != nil {
			t.Errorf("%s: %v", sample.File, err)
		}
		sent[kind] = true
	}
	for kind := range s.of {
		if !sent[kind] {
			t.Errorf("there is no sample of %q", kind)
		}
	}
}

func TestWhatIsNotAsDocumented(t *testing.T) {
	approved := testfile.Read(t, "out/remedy-approved.json")
	change := func(from, to string) string { return strings.ReplaceAll(string(approved), from, to) }
	s := schemas(t)
	for name, test := range map[string]struct{ event, place string }{
		"no account":      {change(`"111122223333"`, `""`), "/detail/account"},
		"another field":   {change(`"kind": "Approved",`, `"kind": "Approved", "sort": "x",`), "/detail"},
		"a kind":          {change(`"kind": "Approved"`, `"kind": "Agreed"`), "/detail/kind"},
		"no time":         {change(`"2026-11-20T15:06:03Z"`, `"today"`), "/time"},
		"not by Rollcall": {change(`"source": "rollcall"`, `"source": "somebody"`), "/source"},
		"unknown":         {change("Rollcall Remedy Approved", "Rollcall Remedy Liked"), `"Rollcall Remedy Liked"`},
		"no JSON":         {"{", "the event"},
	} {
		if _, err := s.Validate([]byte(test.event)); err == nil || !strings.Contains(err.Error(), test.place) {
			t.Errorf("%s: %v, want an error that names %s", name, err, test.place)
		}
	}
}

func TestReadSchemasRefuses(t *testing.T) {
	const one = `{"properties": {"detail-type": {"const": "X"}}}`
	for name, files := range map[string]map[string]string{
		"an empty folder": {},
		"one type twice":  {"a.json": one, "b.json": one},
		"no type":         {"a.json": `{"properties": {}}`},
		"no JSON":         {"a.json": `{`},
	} {
		folder := t.TempDir()
		for file, text := range files {
			testfile.Write(t, filepath.Join(folder, file), []byte(text))
		}
		if _, err := ReadSchemas(folder); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
