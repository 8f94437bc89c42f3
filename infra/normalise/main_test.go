package main

import (
	"path/filepath"
	"strings"
	"testing"

	"rollcall/tools/testfile"

	"github.com/google/go-cmp/cmp"
)

const hash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestNormalise(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"asset", `{"S3Key":"` + hash + `.zip"}`, "{\n  \"S3Key\": \"asset.zip\"\n}\n"},
		{"asset in a list", `["` + hash + `.zip"]`, "[\n  \"asset.zip\"\n]\n"},
		{"other hashes stay", `["` + hash + `", "x` + hash + `.zip"]`, "[\n  \"" + hash + "\",\n  \"x" + hash + ".zip\"\n]\n"},
		{"keys in order, numbers and signs as they are", `{"b":300,"a":"x && y -> <z>"}`, "{\n  \"a\": \"x && y -> <z>\",\n  \"b\": 300\n}\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := normalise([]byte(test.in), 2)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("normalise (-want +got):\n%s", diff)
			}
			again, err := normalise(got, 2)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(got), string(again)); diff != "" {
				t.Errorf("normalising twice changes it:\n%s", diff)
			}
		})
	}
}

func TestNormaliseRefuses(t *testing.T) {
	if _, err := normalise([]byte("Resources:\n"), 2); err == nil {
		t.Error("YAML was taken for JSON")
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.json"), filepath.Join(dir, "out.json")
	write := func(file, text string) {
		t.Helper()
		testfile.Write(t, file, []byte(text))
	}
	write(in, `{"a":1,"key":"`+hash+`.zip"}`)
	if err := run(in, out, "", 2); err != nil {
		t.Fatal(err)
	}
	if err := run(in, "", out, 2); err != nil {
		t.Errorf("what was just written differs: %v", err)
	}
	write(in, `{"a":1,"key":"`+strings.Repeat("f", 64)+`.zip"}`)
	if err := run(in, "", out, 2); err != nil {
		t.Errorf("a rebuilt package changes the template: %v", err)
	}
	write(in, `{"a":2,"key":"`+hash+`.zip"}`)
	if err := run(in, "", out, 2); err == nil || !strings.Contains(err.Error(), "from line 2 on") {
		t.Errorf("got %v, want the first line that differs", err)
	}
	if err := run(filepath.Join(dir, "none.json"), "", out, 2); err == nil || !strings.Contains(err.Error(), "make synth") {
		t.Errorf("got %v, want the command that makes the file", err)
	}
}
