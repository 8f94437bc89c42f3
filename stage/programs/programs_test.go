package programs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAllAreThere(t *testing.T) {
	folders, err := os.ReadDir("../../functions")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, f := range folders {
		want = append(want, f.Name())
	}
	for _, p := range All() {
		got = append(got, p.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("programs (-folders +all):\n%s", diff)
	}
}

// A program is a function if it is that function's bootstrap, and nothing else.
func TestCalled(t *testing.T) {
	for path, want := range map[string]string{
		"/tmp/x/launch-watch/bootstrap": "launch-watch", "report/bootstrap": "report",
		"/usr/bin/rollcall": "", "/opt/report/rollcall": "", "/opt/other/bootstrap": "", "bootstrap": "", "report": "",
	} {
		p, ok := Called(path)
		if p.Name != want || ok != (want != "") {
			t.Errorf("%s is %q, %t, want %q", path, p.Name, ok, want)
		}
	}
}

// Each function's bootstrap is the program, and is called as that function.
func TestPlace(t *testing.T) {
	program, folder := filepath.Join(t.TempDir(), "rollcall"), t.TempDir()
	if err := os.WriteFile(program, []byte("all of them"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Place(program, folder); err != nil {
		t.Fatal(err)
	}
	for _, p := range All() {
		at := filepath.Join(folder, p.Name, bootstrap)
		text, err := os.ReadFile(at)
		if called, _ := Called(at); err != nil || string(text) != "all of them" || called.Name != p.Name {
			t.Errorf("%s holds %q, %v, and is %q", at, text, err, called.Name)
		}
	}
	copied := filepath.Join(folder, "copy")
	if err := clone(program, copied); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(copied); err != nil || info.Size() != 11 || info.Mode()&0o100 == 0 {
		t.Errorf("the copy is %v, %v", info, err)
	}
}
