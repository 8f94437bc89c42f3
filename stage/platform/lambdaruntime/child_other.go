//go:build !unix

package lambdaruntime

import (
	"os"
	"os/exec"
	"syscall"
)

// childAttributes has nothing to ask for: there are no process groups of this kind here.
func childAttributes() *syscall.SysProcAttr { return nil }

// killGroup kills a process. Its children, of which functions have none, live on.
func killGroup(pid int) {
	// The only error there can be is that it has ended.
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

// maxMemoryMB is not known while a process runs.
func maxMemoryMB(*exec.Cmd) int { return -1 }

// NewCPULimiter gives processes whole cores: they cannot be held to a share here.
func NewCPULimiter() CPULimiter { return wholeCores{} }
