package lambdaruntime

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestCgroupHoldsTheProcess: the program runs in a group of its own from its
// first instruction on, with the quota of its share; the group goes with it.
func TestCgroupHoldsTheProcess(t *testing.T) {
	groups, ok := NewCPULimiter().(*cgroups)
	if !ok {
		t.Skip("no control groups can be made here: signals hold the functions to their shares")
	}
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ncat /proc/self/cgroup\nread line\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd, release, err := groups.Command(program, CPUShare(256))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(cmd.Args[3])
	name := groups.quota
	if name == "" {
		name = groups.max
	}
	quota, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _ := strings.Cut(strings.TrimSpace(string(quota)), " "); got != "14471" {
		t.Errorf("the quota is %s µs, want 14471 of 100000: 256 of 1,769 MB", got)
	}
	cmd.Stdin = strings.NewReader("go\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "/"+filepath.Base(dir)+"\n") {
		t.Errorf("the program ran in\n%swant the group %s", out, filepath.Base(dir))
	}
	release()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the group is still there: %v", err)
	}
}

// TestSignalsStopTheProcess: without control groups a process is stopped for
// the rest of each period, and goes on.
func TestSignalsStopTheProcess(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = childAttributes()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := signals{}.Started(cmd, CPUShare(256))
	defer func() {
		stop()
		killGroup(cmd.Process.Pid)
		_ = cmd.Wait() // killed
	}()
	for _, want := range []string{"T", "S", "T"} { // stopped, asleep, stopped (proc(5), "stat")
		for state(t, cmd.Process.Pid) != want {
			if t.Context().Err() != nil {
				t.Fatalf("never in state %s", want)
			}
		}
	}
}

// state is a process's state, a letter.
func state(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(stat), ") ")
	if !ok {
		t.Fatalf("stat is %q", stat)
	}
	return rest[:1]
}
