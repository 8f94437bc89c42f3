package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// step is one command of somebody who begins.
type step struct {
	// What it is for, and the command as it is typed.
	what, command string
	took          time.Duration
	exit          int
	// says is the line that somebody waits for, and after how long it came.
	says  string
	after time.Duration
}

// session is a shell in an empty folder.
type session struct {
	folder string
	env    []string
	done   []step
}

func newSession(folder string, warm bool) *session {
	s := &session{folder: folder, env: withoutAWS(os.Environ())}
	// Whatever credentials this machine has, these steps have none.
	s.env = append(s.env, "AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull, "AWS_EC2_METADATA_DISABLED=true")
	if !warm {
		s.env = append(s.env, "GOCACHE="+filepath.Join(folder, "gocache"), "GOMODCACHE="+filepath.Join(folder, "gomodcache"), "npm_config_cache="+filepath.Join(folder, "npm"))
	}
	return s
}

func withoutAWS(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, "AWS_") || strings.HasPrefix(v, "GOCACHE=") || strings.HasPrefix(v, "GOMODCACHE=") ||
			strings.HasPrefix(v, "CGO_ENABLED=") || strings.HasPrefix(v, "GOFLAGS=")
	})
}

// command is a program in the clone.
func (s *session) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = filepath.Join(s.folder, "rollcall"), s.env
	return cmd
}

// run runs a step to its end, which must be by this exit status, and keeps the first line
// in which a text stands; "" is the last line.
func (s *session) run(cmd *exec.Cmd, what, typed, waitsFor string, exit int) error {
	fmt.Printf("%s: %s\n", what, typed)
	began := time.Now()
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	st := step{what: what, command: typed}
	var all strings.Builder
	read := make(chan error, 1)
	go func() {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			line := strings.TrimSpace(lines.Text())
			all.WriteString(line + "\n")
			if line != "" && (waitsFor == "" || st.says == "" && strings.Contains(line, waitsFor)) {
				st.says, st.after = line, time.Since(began)
			}
		}
		read <- lines.Err()
	}()
	err := cmd.Run()
	st.took = time.Since(began)
	if err := errors.Join(in.Close(), <-read); err != nil {
		return fmt.Errorf("read what %s says: %w", typed, err)
	}
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return fmt.Errorf("run %s: %w", typed, err)
	}
	if st.exit = cmd.ProcessState.ExitCode(); st.exit != exit || st.says == "" && waitsFor != "" {
		return fmt.Errorf("%s: exit status %d, want %d and %q in:\n%s", typed, st.exit, exit, waitsFor, all.String())
	}
	s.done = append(s.done, st)
	fmt.Printf("  %s, exit status %d; after %s: %s\n", st.took.Round(time.Second/10), st.exit, st.after.Round(time.Second/10), st.says)
	return nil
}
