//go:build unix

package lambdaruntime

import (
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// signals holds processes to their shares by stopping them for the rest of each
// period. It is harsher than a quota: a process that waited for an answer is
// stopped as long as one that worked.
type signals struct{}

// Command is the program as it is.
func (signals) Command(program string, _ float64) (*exec.Cmd, func(), error) {
	return exec.Command(program), func() {}, nil
}

// Started stops and continues the process until stop is called.
func (signals) Started(cmd *exec.Cmd, share float64) func() {
	work := cpuQuota(share)
	if work >= cpuPeriod {
		return func() {}
	}
	pid, ended := cmd.Process.Pid, make(chan struct{})
	go func() {
		timer := time.NewTimer(work)
		defer timer.Stop()
		for stopped := false; ; {
			select {
			case <-ended:
				return
			case <-timer.C:
			}
			signal, next := syscall.SIGSTOP, cpuPeriod-work
			if stopped {
				signal, next = syscall.SIGCONT, work
			}
			// The only error there can be is that it has ended.
			_ = syscall.Kill(-pid, signal)
			stopped = !stopped
			timer.Reset(next)
		}
	}()
	return sync.OnceFunc(func() { close(ended) })
}

// How describes it.
func (signals) How() string {
	return "processes stopped and continued in turn (harsher than Lambda's quota)"
}
