package lambdaruntime

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
)

// NewCPULimiter holds processes to their shares by control groups where this
// process may make some, else by stopping and continuing them.
func NewCPULimiter() CPULimiter {
	for _, c := range []*cgroups{
		{root: "/sys/fs/cgroup/cpu", quota: "cpu.cfs_quota_us", period: "cpu.cfs_period_us"}, // version 1
		{root: "/sys/fs/cgroup", max: "cpu.max"},                                             // version 2
	} {
		if c.usable() == nil {
			return c
		}
	}
	return signals{}
}

// cgroups gives each process a control group of its own, with a CPU quota: what
// Lambda's own machines do. Version 1 has the quota and the period in a file
// each, version 2 both in one (Linux, Documentation/admin-guide/cgroup-v1 and
// cgroup-v2, "cpu").
type cgroups struct {
	root               string
	quota, period, max string
	made               atomic.Int64
}

// usable tries a group.
func (c *cgroups) usable() error {
	dir, err := c.group(1)
	return errors.Join(err, os.Remove(dir))
}

// group makes a group with a share.
func (c *cgroups) group(share float64) (string, error) {
	dir := filepath.Join(c.root, fmt.Sprintf("rollcall-%d-%d", os.Getpid(), c.made.Add(1)))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return dir, fmt.Errorf("make a control group: %w", err)
	}
	quota, period := strconv.FormatInt(cpuQuota(share).Microseconds(), 10), strconv.FormatInt(cpuPeriod.Microseconds(), 10)
	files := map[string]string{c.period: period, c.quota: quota}
	if c.max != "" {
		files = map[string]string{c.max: quota + " " + period}
	}
	for name, value := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0o644); err != nil {
			return dir, errors.Join(fmt.Errorf("give a control group its share: %w", err), os.Remove(dir))
		}
	}
	return dir, nil
}

// Command has a shell join the group and become the program, so that no moment
// of the program is outside it.
func (c *cgroups) Command(program string, share float64) (*exec.Cmd, func(), error) {
	dir, err := c.group(share)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command("/bin/sh", "-c", `echo $$ > "$0" && exec "$1"`, filepath.Join(dir, "cgroup.procs"), program)
	// The group stays for as long as a process is in it: the next start of a stage
	// takes another name.
	return cmd, func() { _ = os.Remove(dir) }, nil
}

// Started has nothing to do: the process is in its group.
func (c *cgroups) Started(*exec.Cmd, float64) func() { return func() {} }

// How describes it.
func (c *cgroups) How() string { return "a control group with a CPU quota for each process" }
