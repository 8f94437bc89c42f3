package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
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
	return "", errors.New("the functions' source is needed: run this inside a clone of the repository")
}

// quiet is how long a build may take before it says what it does.
const quiet = 2 * time.Second

// build builds the functions as the Makefile's build-local does, into the same
// folder. What is up to date is left alone.
func build(ctx context.Context, root string, progress io.Writer) (string, error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return "", fmt.Errorf("build the functions: the go command is needed: %w", err)
	}
	folders, err := filepath.Glob(filepath.Join(root, "functions", "*", "main.go"))
	if err != nil || len(folders) == 0 {
		return "", fmt.Errorf("build the functions: none in %s/functions: %w", root, err)
	}
	out := filepath.Join(root, "build", "local")
	release, err := lock(out)
	if err != nil {
		return "", fmt.Errorf("build the functions: %w", err)
	}
	defer release()
	if upToDate(root, out, tool) {
		return out, nil
	}
	timer := time.AfterFunc(quiet, func() {
		fmt.Fprintln(progress, "building the functions (a first build compiles the AWS SDK: a minute or two)")
	})
	defer timer.Stop()
	for _, main := range folders {
		name := filepath.Base(filepath.Dir(main))
		c := exec.CommandContext(ctx, tool, "build", "-tags", "lambda.norpc", "-ldflags", "-s -w",
			"-o", filepath.Join(out, name, "bootstrap"), "./functions/"+name)
		c.Dir = root
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false")
		if text, err := c.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", name, err, strings.TrimSpace(string(text)))
		}
	}
	return out, note(root, out, tool)
}
