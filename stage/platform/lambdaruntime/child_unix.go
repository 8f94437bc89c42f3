//go:build unix && !linux

package lambdaruntime

import (
	"os/exec"
	"syscall"
)

// childAttributes puts a child into a process group of its own, so that it
// can be killed with its children. These systems have no signal for the
// death of the parent: a child of a stage that was killed ends when its next
// call of the Runtime API fails.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// maxMemoryMB is not known while a process runs.
func maxMemoryMB(*exec.Cmd) int { return -1 }
