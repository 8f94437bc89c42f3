package main

import (
	"os"
	"strings"
	"testing"

	"rollcall/shared/checks"
)

const said = "the [catalogue of checks](docs/checks/README.md): 97 of them, each\n"

func TestCounted(t *testing.T) {
	got, err := counted(said, 1234)
	if want := strings.ReplaceAll(said, "97", "1234"); err != nil || got != want {
		t.Errorf("counted = %q, %v, want %q", got, err, want)
	}
}

func TestCountedRefusesATextWithoutAPlace(t *testing.T) {
	_, err := counted(strings.Replace(said, "97 of them", "many", 1), 98)
	if err == nil || !strings.Contains(err.Error(), "nothing in it is like") {
		t.Errorf("error %v", err)
	}
}

// The committed README says the number that there is.
func TestReadmeCountsTheChecks(t *testing.T) {
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	got, err := counted(string(text), len(checks.All()))
	if err != nil {
		t.Fatal(err)
	}
	if got != string(text) {
		t.Errorf("README.md does not say %d: run make generate", len(checks.All()))
	}
}
