package programs

import (
	"os"
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
