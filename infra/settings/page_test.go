package settings

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPageIsFresh(t *testing.T) {
	got, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Page(), string(got)); diff != "" {
		t.Errorf("docs/settings.md is stale, run make generate (-want +got):\n%s", diff)
	}
}
