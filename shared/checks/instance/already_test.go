package instance

import (
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/facts"
	serial "rollcall/shared/node/console"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// TestNoAdviceOfWhatIs: in a world in which all is as advice asks for, no row of the
// console advises it; each clause is one of some row; and where it is not so, the clause
// stays.
func TestNoAdviceOfWhatIs(t *testing.T) {
	good := checktest.Missed()
	bad := checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) {
		s.VPCAttributes[0].DNSSupport, s.VPCAttributes[0].DNSHostnames = false, false
		for i := range s.DHCPOptions {
			s.DHCPOptions[i].DomainNameServers = []string{"10.9.9.9"}
		}
		s.AccessEntries = nil
		for i := range s.Roles {
			s.Roles[i].Policies = nil
		}
		snapshottest.Instance(s, snapshottest.Node).Metadata.Endpoint = "disabled"
	})
	seen := map[string]bool{}
	for _, next := range serial.Advice() {
		for _, x := range states() {
			if !strings.Contains(next, x.clause) {
				continue
			}
			seen[x.clause] = true
			if got := withoutWhatIs(facts.NewView(good), snapshottest.Instance(good, snapshottest.Node), next); strings.Contains(got, x.clause) || len(got) < 20 || got[0] < 'A' || got[0] > 'Z' {
				t.Errorf("it is so, and advised all the same, or nothing is left: %q", got)
			}
			if got := withoutWhatIs(facts.NewView(bad), snapshottest.Instance(bad, snapshottest.Node), next); got != next {
				t.Errorf("it is not so, and %q became %q", next, got)
			}
		}
	}
	for _, x := range states() {
		if !seen[x.clause] {
			t.Errorf("no row advises %q", x.clause)
		}
	}
}
