package main

import (
	"os"
	"testing"

	"rollcall/local/bench/load/section"
)

// TestPageIsFresh counts again: the calls of a tick are what the page says.
func TestPageIsFresh(t *testing.T) {
	page, err := os.ReadFile("../../../docs/load.md")
	if err != nil {
		t.Fatal(err)
	}
	c, err := count(t.Context(), "../../..")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := section.Of(string(page)), section.Of(section.Put("", c.text())); got != want {
		t.Errorf("docs/load.md is stale, run make tick; it has\n%s\nwant\n%s", got, want)
	}
}
