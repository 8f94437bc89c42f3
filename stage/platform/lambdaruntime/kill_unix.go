//go:build unix

package lambdaruntime

import "syscall"

// killGroup kills a process and its children, which share its group. The
// only error there can be is that no process is left.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
