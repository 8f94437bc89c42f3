package checks

import (
	"fmt"
	"testing"
	"time"

	"rollcall/shared/checks/check"
	"rollcall/shared/snapshot/snapshottest"
)

// All checks on a cluster of ten thousand instances, of which one in ten has
// not joined.
func BenchmarkEval(b *testing.B) {
	s := snapshottest.PrivateWithNAT()
	for n := range 10_000 {
		id := fmt.Sprintf("i-0%05d", n)
		snapshottest.Launch(s, id, snapshottest.Private, time.Hour)
		if n%10 != 0 {
			snapshottest.Join(s, id)
		}
	}
	list := All()
	for b.Loop() {
		check.Eval(list, s)
	}
}
