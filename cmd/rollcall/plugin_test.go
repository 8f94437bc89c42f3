package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/local/command"
)

// TestPlugin: called as kubectl's plugin it speaks of itself so, in help, examples and
// errors; called by its own name it does not.
func TestPlugin(t *testing.T) {
	for called, plugin := range map[string]bool{
		"/home/a/.krew/bin/kubectl-rollcall": true, "kubectl-rollcall.exe": true,
		"/usr/bin/rollcall": false, "rollcall.exe": false, "kubectl-rollcall-other": false, "/opt/kubectl-rollcall/rollcall": false,
	} {
		for _, args := range [][]string{{"--help"}, {"capture", "--help"}, {"explain", "--help"}, {"diagnose"}} {
			var out bytes.Buffer
			command.Run(t.Context(), root(called), args, &out, &out)
			typed := strings.Count(out.String(), "kubectl rollcall")
			plain := strings.Count(out.String(), "rollcall "+args[0]) - strings.Count(out.String(), "kubectl rollcall "+args[0])
			if plugin && (typed == 0 || plain > 0) || !plugin && typed > 0 {
				t.Errorf("%s %s: %d times kubectl rollcall, %d times without kubectl:\n%s", called, args, typed, plain, out.String())
			}
		}
	}
}

// foundByKubectl: kubectl itself starts the program by its name. Where there is no kubectl
// the name alone is tried.
func foundByKubectl(t *testing.T, program string) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "kubectl-rollcall")
	if err := os.Link(program, binary); err != nil {
		t.Fatal(err)
	}
	command := []string{binary}
	if kubectl, err := exec.LookPath("kubectl"); err == nil {
		command = []string{kubectl, "rollcall"}
	}
	cmd := exec.Command(command[0], append(command[1:], "explain", "kubelet: Unauthorized")...)
	cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "iam/access-missing") {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
}
