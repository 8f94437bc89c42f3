package lambdaruntime

import (
	"testing"
	"time"
)

// TestCPUQuota: a function's share of a core is its memory's part of 1,769 MB.
func TestCPUQuota(t *testing.T) {
	for memory, want := range map[int]time.Duration{
		128: 7235 * time.Microsecond, 256: 14471 * time.Microsecond, 512: 28942 * time.Microsecond,
		1769: 100 * time.Millisecond, 3538: 200 * time.Millisecond,
		1: time.Millisecond, // the least that the scheduler takes
	} {
		if got := cpuQuota(CPUShare(memory)).Truncate(time.Microsecond); got != want {
			t.Errorf("%d MB: %s of each %s, want %s", memory, got, cpuPeriod, want)
		}
	}
}
