package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// diagnosis is what rollcall diagnose --json prints, as far as the page shows it.
type diagnosis struct {
	Incidents []incident
}

// incident is one cause. The first is what a person should fix first.
type incident struct{ Cause, Confidence, Title string }

// command is rollcall, built.
type command struct{ binary string }

// build builds the command once for all worlds, from the repository's root; remove
// takes it away.
func build(ctx context.Context) (c command, remove func(), err error) {
	dir, err := os.MkdirTemp("", "rollcall-diagnose-")
	if err != nil {
		return c, nil, fmt.Errorf("make a folder: %w", err)
	}
	remove = func() { _ = os.RemoveAll(dir) }
	c.binary = filepath.Join(dir, "diagnose")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", c.binary, "./cmd/rollcall")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false")
	if text, err := cmd.CombinedOutput(); err != nil {
		remove()
		return c, nil, fmt.Errorf("build rollcall: %w\n%s", err, text)
	}
	return c, remove, nil
}

// badInput is diagnose's exit status for a world that it cannot read; what is
// below it is a result.
const badInput = 64

// ask runs the functions over a world.
func (c command) ask(ctx context.Context, world string) (diagnosis, error) {
	var d diagnosis
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, c.binary, "diagnose", "--json", world)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	var status *exec.ExitError
	if err != nil && (!errors.As(err, &status) || status.ExitCode() >= badInput || len(out) == 0) {
		return d, fmt.Errorf("diagnose: %w\n%s", err, errs.String())
	}
	if err := json.Unmarshal(out, &d); err != nil {
		return d, fmt.Errorf("read the diagnosis: %w", err)
	}
	return d, nil
}
