package lambdaruntime

import (
	"os/exec"
	"time"
)

// MemoryOfOneCPU is the memory, in MB, at which a function has one whole vCPU;
// its share is in proportion to its memory (Lambda Developer Guide, "Configure
// Lambda function memory": at 1,769 MB a function has the equivalent of one
// vCPU).
const MemoryOfOneCPU = 1769

// CPUShare is the share of a core that a function of so much memory has: 0.145
// for 256 MB. Over 1 it is more than one core.
func CPUShare(memoryMB int) float64 { return float64(memoryMB) / MemoryOfOneCPU }

// cpuPeriod is the span over which a share is held: the Linux scheduler's own
// for CPU quotas (cpu.cfs_period_us, 100,000). A process with a tenth of a core
// that is always busy works for 10 ms and then waits for 90.
const cpuPeriod = 100 * time.Millisecond

// minQuota is the least that the scheduler takes as a quota: 1 ms a period.
const minQuota = time.Millisecond

// cpuQuota is how long a process may work in each period.
func cpuQuota(share float64) time.Duration {
	return max(time.Duration(share*float64(cpuPeriod)), minQuota)
}

// CPULimiter holds processes to a share of a core.
type CPULimiter interface {
	// Command is what runs a program within a share of a core. Release gives back
	// what that took, when the process has ended.
	Command(program string, share float64) (cmd *exec.Cmd, release func(), err error)
	// Started is told of a process that has started; stop ends what it does to it.
	Started(cmd *exec.Cmd, share float64) (stop func())
	// How tells people by what means.
	How() string
}

// wholeCores runs programs as they are.
type wholeCores struct{}

func (wholeCores) Command(program string, _ float64) (*exec.Cmd, func(), error) {
	return exec.Command(program), func() {}, nil
}

func (wholeCores) Started(*exec.Cmd, float64) func() { return func() {} }

func (wholeCores) How() string { return "whole cores" }
