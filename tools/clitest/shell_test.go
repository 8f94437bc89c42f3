//go:build cli

package clitest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// shell runs a person's commands in an environment of its own: nothing of
// the home folder, of a profile or of a kubeconfig is read or written.
type shell struct {
	folder string
	env    []string
}

// home stands for the shell's folder in what is printed.
const home = "/home/oncall"

// commandTime is how long one command may take. The AWS CLI is Python and
// takes seconds to start on a busy machine.
const commandTime = 60 * time.Second

// newShell makes a shell in which "aws" is the CLI at the path, pointed at
// the endpoint in admin. The endpoint is passed as an option, as only newer
// CLIs (2.13, 1.29) read AWS_ENDPOINT_URL.
func newShell(t *testing.T, cli string, admin map[string]string) *shell {
	t.Helper()
	s := &shell{folder: t.TempDir()}
	bin := filepath.Join(s.folder, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' --endpoint-url '%s' \"$@\"\n", cli, admin["AWS_ENDPOINT_URL"])
	if err := os.WriteFile(filepath.Join(bin, "aws"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	env := maps.Clone(admin)
	maps.Copy(env, map[string]string{
		"PATH":                        bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME":                        s.folder,
		"AWS_CONFIG_FILE":             filepath.Join(s.folder, "aws-config"),
		"AWS_SHARED_CREDENTIALS_FILE": filepath.Join(s.folder, "aws-credentials"),
		"KUBECONFIG":                  filepath.Join(s.folder, ".kube", "config"),
		"LC_ALL":                      "C.UTF-8",
		"TZ":                          "UTC",
	})
	for _, name := range slices.Sorted(maps.Keys(env)) {
		s.env = append(s.env, name+"="+env[name])
	}
	return s
}

// run gives what the command prints, on both streams as in a terminal, and
// its exit status.
func (s *shell) run(ctx context.Context, command string) (string, int, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.Dir, c.Env, c.WaitDelay = s.folder, s.env, time.Second
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	text := strings.ReplaceAll(string(out), s.folder, home)
	if errors.As(err, &exit) && ctx.Err() == nil {
		return text, exit.ExitCode(), nil
	}
	if err != nil {
		return text, 0, fmt.Errorf("%s: %w", command, err)
	}
	return text, 0, nil
}

// tool is a CLI found on this machine.
type tool struct{ path, version string }

// commandLines are the different AWS CLIs on the PATH. None is an error.
func commandLines(ctx context.Context) ([]tool, error) {
	var found []tool
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(folder, "aws")
		if info, err := os.Stat(path); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			continue
		}
		out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("%s --version: %w: %s", path, err, out)
		}
		version, _, _ := strings.Cut(string(out), " ")
		if !slices.ContainsFunc(found, func(t tool) bool { return t.version == version }) {
			found = append(found, tool{path, version})
		}
	}
	if len(found) == 0 {
		return nil, errors.New("no AWS CLI on the PATH: install it (Debian: apt-get install awscli)")
	}
	return found, nil
}
