// Generate writes what follows from the checks: what each detector judges
// (shared/checks/watched.go), and how many there are, where README.md says it. Run
// it from the root of the repository, after ./shared/checks/generate/list. Their pages
// are written by ./tools/site/generate.
package main

import (
	"fmt"
	"os"

	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/generate/tree"
)

const readme = "README.md"

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate() error {
	list := checks.All()
	if err := watched(list); err != nil {
		return err
	}
	before, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	after, err := counted(string(before), len(list))
	if err != nil {
		return fmt.Errorf("%s: %w", readme, err)
	}
	if after == string(before) {
		return nil
	}
	return os.WriteFile(readme, []byte(after), 0o644)
}

// watched writes what each detector judges.
func watched(list []check.Check) error {
	sources, err := tree.Read(".")
	if err != nil {
		return err
	}
	var detectors []tree.Detector
	for name, d := range check.Detectors() {
		of := tree.Detector{Const: name}
		for _, c := range list {
			if c.IsWatchedBy(d) {
				of.IDs = append(of.IDs, string(c.ID))
			}
		}
		detectors = append(detectors, of)
	}
	return tree.WriteWatched(".", sources, detectors)
}
