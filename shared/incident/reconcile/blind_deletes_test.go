package reconcile

import (
	"strings"
	"testing"

	"rollcall/shared/snapshot"
)

// A delete that is denied blinds nobody.
func TestDeniedDeletesAreNoBlindness(t *testing.T) {
	c := blindCause(snapshot.Failure{Source: "leaked network interfaces", Reason: snapshot.Denied, Call: deletes}, nil)
	if c.Title != "cannot delete leaked interfaces: ec2:DeleteNetworkInterface is denied" || strings.Contains(c.Why, "join") {
		t.Errorf("%s: %s", c.Title, c.Why)
	}
}
