package main

import "testing"

// TestPackages: those of a release are deployed where the make line names them.
func TestPackages(t *testing.T) {
	for dir, want := range map[string]string{"": builtPackages, "/tmp/functions": "/tmp/functions"} {
		got := packages(func(name string) string {
			if name != prebuilt {
				t.Errorf("asked for %s", name)
			}
			return dir
		})
		if got != want {
			t.Errorf("%q: %s, want %s", dir, got, want)
		}
	}
}
