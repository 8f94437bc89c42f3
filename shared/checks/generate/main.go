// Generate writes the catalogue of checks, shared/checks/README.md. Run it
// from the root of the repository.
package main

import (
	"fmt"
	"os"

	"rollcall/shared/checks"
	"rollcall/shared/gather"
)

const readme = "shared/checks/README.md"

func main() {
	if err := os.WriteFile(readme, []byte(checks.Markdown(checks.All(), gather.Permissions)), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
