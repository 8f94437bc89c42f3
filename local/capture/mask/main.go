// Command mask replaces, in a capture, account ids, names and what looks like
// a secret: the same ones by the same words everywhere, in the files and in
// their names, so that the capture is diagnosed as before.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "Masks account ids, names and secrets in a capture, in place.\n\n  go run ./local/capture/mask DIR")
		os.Exit(64)
	}
	n, err := maskFolder(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "mask:", err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stderr, "%d files masked\n", n)
}

// maskFolder rewrites a folder. Everything is read before anything is written.
func maskFolder(dir string) (int, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return 0, err
	}
	files := map[string]string{}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			return 0, fmt.Errorf("read: %w", err)
		}
		files[filepath.Base(p)] = string(data)
	}
	masked, err := mask(files)
	if err != nil {
		return 0, err
	}
	for name := range files {
		if _, stays := masked[name]; !stays {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return 0, fmt.Errorf("remove: %w", err)
			}
		}
	}
	for name, text := range masked {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return 0, fmt.Errorf("write: %w", err)
		}
	}
	return len(masked), nil
}
