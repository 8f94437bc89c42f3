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

// diagnosis is what go run ./local/diagnose -json prints, as far as it is
// needed here.
type diagnosis struct {
	Incidents []incident
}

type incident struct{ Cause, Confidence string }

// buildDiagnose builds the command once for all worlds.
func buildDiagnose(ctx context.Context) (binary string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "rollcall-runbook-")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder: %w", err)
	}
	remove = func() { _ = os.RemoveAll(dir) }
	binary = filepath.Join(dir, "diagnose")
	c := exec.CommandContext(ctx, "go", "build", "-o", binary, "./local/diagnose")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false")
	if text, err := c.CombinedOutput(); err != nil {
		remove()
		return "", nil, fmt.Errorf("build diagnose: %w\n%s", err, text)
	}
	return binary, remove, nil
}

// badInput is diagnose's exit status for a world that it cannot read; what is
// below it is a result.
const badInput = 64

// ask runs the functions' real binaries over a world.
func ask(ctx context.Context, binary, world string) (diagnosis, error) {
	var d diagnosis
	var errs bytes.Buffer
	c := exec.CommandContext(ctx, binary, "-json", world)
	c.Stderr = &errs
	out, err := c.Output()
	var status *exec.ExitError
	if err != nil && (!errors.As(err, &status) || status.ExitCode() >= badInput || len(out) == 0) {
		return d, fmt.Errorf("diagnose: %w\n%s", err, errs.String())
	}
	if err := json.Unmarshal(out, &d); err != nil {
		return d, fmt.Errorf("read the diagnosis: %w", err)
	}
	return d, nil
}
