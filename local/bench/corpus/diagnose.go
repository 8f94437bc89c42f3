package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"
)

// found is what the command diagnose printed of a world, as far as it is
// judged here.
type found struct {
	Healthy   bool
	Incidents []incident
	Unknown   []struct{ Check, Resource, Reason string }
	status    int
}

type incident struct {
	Cause, Confidence     string
	Resources             []string
	Contributing          []string
	Hidden                []struct{ Check, Because string }
	Nodegroups, Instances []string
}

// build makes the command rollcall; go run would build it once for each world.
func build(ctx context.Context, errs io.Writer) (string, error) {
	binary, err := filepath.Abs(filepath.Join("build", "local", "rollcall"))
	if err != nil {
		return "", fmt.Errorf("find the build folder: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/rollcall")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false")
	cmd.Stderr = errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build ./cmd/rollcall: %w", err)
	}
	return binary, nil
}

// diagnose runs the command over the worlds, several at once.
func diagnose(ctx context.Context, binary string, worlds []subject, parallel int, progress func(done int)) []verdict {
	verdicts := make([]verdict, len(worlds))
	var (
		mu   sync.Mutex
		done int
		g    errgroup.Group
	)
	g.SetLimit(max(parallel, 1))
	for i, w := range worlds {
		g.Go(func() error {
			f, err := diagnoseOne(ctx, binary, w.Path)
			if err != nil {
				verdicts[i] = verdict{subject: w, Wrong: err.Error()}
			} else {
				verdicts[i] = judge(w, f)
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			progress(done)
			return nil
		})
	}
	_ = g.Wait()
	return verdicts
}

func diagnoseOne(ctx context.Context, binary, path string) (found, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, "diagnose", "--json", path)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return found{}, fmt.Errorf("run diagnose: %w", err)
	}
	var f found
	if err := json.Unmarshal(out.Bytes(), &f); err != nil {
		return found{}, fmt.Errorf("diagnose printed no result: %s", bytes.TrimSpace(errs.Bytes()))
	}
	f.status = cmd.ProcessState.ExitCode()
	return f, nil
}
