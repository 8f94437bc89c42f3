// Package binaries builds the functions as they are deployed, but for this machine,
// for the tests that need real processes.
package binaries

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Folder is where they are, below the repository's root.
const Folder = "build/test/functions"

// Build builds all functions of the repository, and gives the folder that has
// <function>/bootstrap for each. What is there and fresh is not linked again, as a
// link takes a second or two of a core for each function. Several processes may call
// it at once.
func Build(root string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", root, err)
	}
	folder := filepath.Join(root, Folder)
	linked := filepath.Join(filepath.Dir(folder), "bin")
	if err := os.MkdirAll(linked, 0o755); err != nil {
		return "", fmt.Errorf("make a folder for the functions: %w", err)
	}
	unlock, err := lock(filepath.Join(filepath.Dir(folder), "lock"))
	if err != nil {
		return "", fmt.Errorf("wait for others that build the functions: %w", err)
	}
	defer unlock()
	build := exec.Command("go", "build", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-o", linked+"/", "./functions/...")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the functions: %w\n%s", err, out)
	}
	if err := forget(root, folder); err != nil {
		return "", fmt.Errorf("forget functions that are gone: %w", err)
	}
	functions, err := os.ReadDir(filepath.Join(root, "functions"))
	if err != nil {
		return "", fmt.Errorf("list the functions: %w", err)
	}
	for _, f := range functions {
		if err := link(folder, f.Name()); err != nil {
			return "", fmt.Errorf("place function %s: %w", f.Name(), err)
		}
	}
	return folder, nil
}

// forget leaves none of which there is no function any more.
func forget(root, folder string) error {
	built, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, b := range built {
		if _, err := os.Stat(filepath.Join(root, "functions", b.Name())); errors.Is(err, os.ErrNotExist) {
			if err := os.RemoveAll(filepath.Join(folder, b.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// link has <function>/bootstrap lead to the function's binary.
func link(folder, name string) error {
	if err := os.MkdirAll(filepath.Join(folder, name), 0o755); err != nil {
		return err
	}
	at, to := filepath.Join(folder, name, "bootstrap"), filepath.Join("..", "..", "bin", name)
	if old, err := os.Readlink(at); err == nil && old == to {
		return nil
	}
	if err := os.RemoveAll(at); err != nil {
		return err
	}
	return os.Symlink(to, at)
}

// lock waits until no other process holds the file.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
