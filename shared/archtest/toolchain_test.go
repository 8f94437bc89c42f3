package archtest

import (
	"os"
	"regexp"
	"testing"
)

// TestTheToolchainIsNamed: a patch release, so that what is deployed has the fixes
// of the standard library that were there when it was tested.
func TestTheToolchainIsNamed(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^toolchain go1\.\d+\.[1-9]\d*$`).Match(mod) {
		t.Error("go.mod names no patch release as its toolchain")
	}
}
