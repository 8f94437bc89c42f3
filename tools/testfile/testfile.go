// Package testfile has what most tests do with files and JSON, where an error ends the
// test: it fails at the line that called.
package testfile

import (
	"encoding/json"
	"os"
	"testing"
)

// Read returns what a file holds.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Write writes a file that everybody may read.
func Write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// JSON returns a value as JSON.
func JSON(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Parse reads JSON into what v points to.
func Parse(t testing.TB, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}
