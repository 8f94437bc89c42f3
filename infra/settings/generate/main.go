// Command generate writes docs/settings.md.
package main

import (
	"fmt"
	"os"

	"rollcall/infra/settings"
)

func main() {
	if err := os.WriteFile("docs/settings.md", []byte(settings.Page()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "infra/settings/generate:", err)
		os.Exit(1)
	}
}
