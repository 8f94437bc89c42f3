package dynalite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// install fetches dynalite as package-lock.json says, once. Several processes
// may come here at the same time (each package's tests are one), so a folder
// made by the first keeps the others waiting.
func install(ctx context.Context, dir string) error {
	if installed(dir) {
		return nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("npm is needed to fetch dynalite (it comes with Node.js), and it is not on the PATH: %w", err)
	}
	lock := filepath.Join(dir, ".installing")
	for {
		err := os.Mkdir(lock, 0o755)
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("lock %s: %w", dir, err)
		}
		if installed(dir) {
			return nil
		}
		if stale(lock) {
			// Whoever made it was killed. If two remove it, one makes it anew.
			_ = os.Remove(lock)
			continue
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for another npm ci in %s: %w", dir, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
	defer os.Remove(lock)
	if installed(dir) {
		return nil
	}
	// The packages need nothing built in memory mode, so none of their scripts runs.
	c := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci in %s: %w\n%s", dir, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// installed tells whether npm has finished: it writes this file last.
func installed(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "node_modules", ".package-lock.json"))
	return err == nil
}

// stale tells whether a lock is older than any npm ci of 25 small packages takes.
func stale(lock string) bool {
	info, err := os.Stat(lock)
	return err == nil && time.Since(info.ModTime()) > 5*time.Minute
}
