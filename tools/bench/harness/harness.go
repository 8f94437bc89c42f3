// Package harness is what the benches share: how one is started, what it
// keeps of the functions' logs, the command that is measured, and the page that is written.
// It does not import the stage, which is slow to link.
package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Template is the synthesised template. All paths are below the repository's root, in
// which a bench is run.
const Template = "infra/Rollcall.template.json"

// Latency is what a call takes on its way, there and back: between a function and the AWS
// APIs of its region 10 to 40 ms are usual; the upper end is taken.
const Latency = 40 * time.Millisecond

// Main parses the flags that are declared and runs a bench, until it is interrupted. Exit
// status: 0 done, 1 it failed, 2 wrong use.
func Main(usage string, valid func() bool, run func(context.Context) error) {
	name := filepath.Base(os.Args[0])
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage, "\nRun it from the repository's root. No AWS account is touched. Exit status: 0 done, 1 it failed, 2 wrong use.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || !valid() {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Always is for a bench whose flags are all valid.
func Always() bool { return true }

// Page prints a page, and writes it to a file if one is named.
func Page(file, text string) error {
	fmt.Print("\n", text)
	if file == "" {
		return nil
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// Logs keeps what functions log: in a file, in memory, or its size alone.
type Logs struct {
	mu   sync.Mutex
	n    int
	file *os.File
	text *bytes.Buffer
}

// LogTo keeps it in a file below out.
func LogTo(name string) (*Logs, error) {
	path := filepath.Join("out", name)
	if err := os.MkdirAll("out", 0o755); err != nil {
		return nil, fmt.Errorf("make a folder for the functions' logs: %w", err)
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("make a file for the functions' logs: %w", err)
	}
	fmt.Fprintf(os.Stderr, "the functions' logs are in %s\n", path)
	return &Logs{file: f}, nil
}

// Remember keeps it in memory.
func Remember() *Logs { return &Logs{text: &bytes.Buffer{}} }

// Write is io.Writer's.
func (l *Logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n += len(p)
	if l.text != nil {
		return l.text.Write(p)
	}
	return l.file.Write(p)
}

// Aside is the file for what does not count: what the stage logs itself.
func (l *Logs) Aside() io.Writer { return l.file }

// Take returns how many bytes were written since the last time, and what, if it is
// remembered.
func (l *Logs) Take() (n int, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, l.n = l.n, 0
	if l.text != nil {
		text = l.text.String()
		l.text.Reset()
	}
	return n, text
}

// Close closes the file.
func (l *Logs) Close() { l.file.Close() }

// Rollcall builds the command as it is released, for this machine, with rollcall-stage beside
// it, and returns its path.
func Rollcall(ctx context.Context) (string, error) {
	binary, err := filepath.Abs(filepath.Join("build", "rollcall"))
	if err != nil {
		return "", fmt.Errorf("find the build folder: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-o", filepath.Dir(binary)+string(filepath.Separator), "./cmd/rollcall", "./cmd/rollcall-stage")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build ./cmd/rollcall: %w\n%s", err, text)
	}
	return binary, nil
}

// Diagnose runs the command over a world, and reads what it prints as JSON. The status is
// that of the command, which says whether something was found.
func Diagnose(ctx context.Context, binary, world string, into any) (status int, err error) {
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, binary+"-stage", "diagnose", "--json", world)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, fmt.Errorf("run diagnose: %w", err)
	}
	if err := json.Unmarshal(out, into); err != nil {
		return 0, fmt.Errorf("diagnose printed no result: %s", bytes.TrimSpace(errs.Bytes()))
	}
	return cmd.ProcessState.ExitCode(), nil
}
