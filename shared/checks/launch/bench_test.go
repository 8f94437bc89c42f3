package launch

import (
	"fmt"
	"testing"
	"time"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot/snapshottest"
)

// A burst of a thousand failed launches beside a thousand nodes: all launch
// checks together.
func BenchmarkFailedLaunches(b *testing.B) {
	s := snapshottest.PrivateWithNAT()
	for n := range 1000 {
		checktest.Fails(s, "Max spot instance count exceeded. Launching EC2 instance failed.", time.Duration(n)*time.Second)
		snapshottest.Launch(s, fmt.Sprintf("i-0%04d", n), snapshottest.Public, 2*time.Hour)
	}
	list := LaunchChecks()
	for b.Loop() {
		check.Eval(list, s)
	}
}
