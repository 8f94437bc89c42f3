// Command generate writes events/README.md from the samples and the template.
package main

import (
	"fmt"
	"os"

	"rollcall/stage/platform/template"
	"rollcall/tools/eventindex"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "eventindex/generate:", err)
		os.Exit(1)
	}
}

func write() error {
	data, err := os.ReadFile("infra/Rollcall.template.json")
	if err != nil {
		return err
	}
	t, err := template.Parse(data, template.Options{})
	if err != nil {
		return err
	}
	index, err := eventindex.Index(t, "events/in", "events/out")
	if err != nil {
		return err
	}
	return os.WriteFile("events/README.md", []byte(index), 0o644)
}
