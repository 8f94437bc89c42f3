// Command firstminutes does, in an empty folder, what somebody does who has just heard of
// Rollcall: clone, demo, diagnose, capture, deploy as far as it goes without credentials,
// doctor. It times each step and writes docs/first.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
)

func main() {
	page := flag.String("page", "docs/first.md", "the page to write")
	warm := flag.Bool("warm", false, "with this machine's caches of Go and npm, in place of empty ones")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *page, *warm); err != nil {
		fmt.Fprintln(os.Stderr, "firstminutes:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, page string, warm bool) (err error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return fmt.Errorf("find the repository: %w", err)
	}
	empty, err := os.MkdirTemp("", "rollcall-first-")
	if err != nil {
		return fmt.Errorf("make an empty folder: %w", err)
	}
	defer func() { err = errors.Join(err, clear(empty)) }()
	s := newSession(empty, warm)
	if err := s.steps(ctx, root); err != nil {
		return err
	}
	if err := os.WriteFile(page, []byte(write(s.done, warm, runtime.NumCPU())), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// clear takes the folder away; Go's module cache is read-only.
func clear(folder string) error {
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return os.Chmod(path, 0o755)
	})
	if err = errors.Join(err, os.RemoveAll(folder)); err != nil {
		return fmt.Errorf("take the folder away: %w", err)
	}
	return nil
}
