package goldens

import (
	"os"
	"path/filepath"
	"testing"

	"rollcall/tools/testfile"
)

// recorder is a test whose failures are looked at.
type recorder struct {
	testing.TB
	failed int
}

func (r *recorder) Errorf(string, ...any) { r.failed++ }

func (r *recorder) Helper() {}

// A message that is sent otherwise is seen, whether its JSON is kept or its checksum alone.
func TestSent(t *testing.T) {
	dir, all := t.TempDir(), t.TempDir()
	t.Setenv(Variable, all)
	testfile.Write(t, filepath.Join(dir, "kept"+Ending), []byte("[]"))
	update := true
	f := New(dir, "slack", &update)
	f.Sent(t, "kept", []byte("[1]"))
	f.Sent(t, "summed", []byte("[2]"))
	f.Text(t, "summed", []byte("two"))
	update = false
	for name, want := range map[string]int{"[1]": 0, "[2]": 1} {
		r := &recorder{TB: t}
		f.Sent(r, "kept", []byte(name))
		if r.failed != want {
			t.Errorf("kept, sent as %s: %d failures, want %d", name, r.failed, want)
		}
		r = &recorder{TB: t}
		f.Sent(r, "summed", []byte(name))
		if r.failed != 1-want {
			t.Errorf("summed, sent as %s: %d failures, want %d", name, r.failed, 1-want)
		}
	}
	if raw, err := os.ReadFile(filepath.Join(all, "slack", "summed"+Ending)); err != nil || len(raw) != 3 {
		t.Errorf("written for referees: %q, %v", raw, err)
	}
	f.Only(t, "kept", "summed")
	r := &recorder{TB: t}
	if f.Only(r, "kept"); r.failed != 2 {
		t.Errorf("a text and a checksum of no message: %d failures, want 2", r.failed)
	}
}
