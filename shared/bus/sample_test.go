package bus

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// holdSample holds that a file of the sample events is what is really sent.
func holdSample(t *testing.T, file string, sent envelope) {
	t.Helper()
	want, err := json.MarshalIndent(sent, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, append(want, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want)+"\n", string(got)); diff != "" {
		t.Errorf("%s is not what is sent; if that is meant: go test ./shared/bus -update (-sent +sample):\n%s", file, diff)
	}
}
