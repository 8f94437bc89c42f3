package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// stampFile keeps, beside the binaries, what they were built from.
const stampFile = "built-from"

// stamp is the sum of all that the functions are built from and of what was
// built: each file's path, size and time of change. The go command would come
// to the same answer, in half a second for each function; a capture is
// diagnosed in about one.
func stamp(root, out, tool string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, tool)
	for _, at := range []string{"go.mod", "go.sum", "functions", "shared"} {
		if err := files(sum, filepath.Join(root, at), func(name string) bool { return !strings.HasSuffix(name, "_test.go") }); err != nil {
			return "", err
		}
	}
	err := files(sum, out, func(name string) bool { return name == "bootstrap" })
	return hex.EncodeToString(sum.Sum(nil)), err
}

// files writes the files under a path in order.
func files(w io.Writer, root string, counts func(name string) bool) error {
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !counts(e.Name()) {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, path, info.Size(), info.ModTime().UnixNano())
		return err
	})
}

// upToDate tells that the binaries are those of the last build, and that
// nothing has changed since. What cannot be read is built anew.
func upToDate(root, out, tool string) bool {
	want, err := os.ReadFile(filepath.Join(out, stampFile))
	if err != nil {
		return false
	}
	have, err := stamp(root, out, tool)
	return err == nil && have == string(want)
}

// note remembers what was built from what.
func note(root, out, tool string) error {
	text, err := stamp(root, out, tool)
	if err != nil {
		return fmt.Errorf("read what was built: %w", err)
	}
	return os.WriteFile(filepath.Join(out, stampFile), []byte(text), 0o644)
}
