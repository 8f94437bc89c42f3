package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// module is the first line of this module's go.mod.
const module = "module rollcall"

// root finds the repository: the module of the current folder, else the one
// that this program was built from, or lies in.
func root() (string, error) {
	var starts []string
	if at, err := os.Getwd(); err == nil {
		starts = append(starts, at)
	}
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		starts = append(starts, filepath.Dir(file)) // built without -trimpath
	}
	if exe, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(exe))
	}
	for _, dir := range starts {
		for ; ; dir = filepath.Dir(dir) {
			data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
			if first, _, _ := strings.Cut(string(data), "\n"); err == nil && strings.TrimSpace(first) == module {
				return dir, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", errors.New("the stack's template is needed: run this inside a clone of the repository")
}
