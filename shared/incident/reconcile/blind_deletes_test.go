package reconcile

import (
	"strings"
	"testing"

	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// A delete that is denied blinds nobody.
func TestDeniedDeletesAreNoBlindness(t *testing.T) {
	c := blindCause(snapshot.Failure{Source: "leaked network interfaces", Reason: snapshot.Denied, Call: deletes}, nil, spoke.Cluster{})
	if c.Title != "cannot delete leaked interfaces: ec2:DeleteNetworkInterface is denied" || strings.Contains(c.Why, "join") {
		t.Errorf("%s: %s", c.Title, c.Why)
	}
}

// Where a spoke has no role that deletes, what to deploy is said.
func TestDeletesWithoutACleaner(t *testing.T) {
	c := blindCause(snapshot.Failure{Source: "leaked network interfaces", Reason: snapshot.Denied, Call: deletes, Code: report.NoCleaner, Message: "User: … is not authorized"}, nil, spoke.Cluster{})
	if c.Title != "cannot delete leaked interfaces: this account's role cleaner does not let Rollcall in" || !strings.Contains(c.Fix.Text, "make deploy-spoke") || !strings.Contains(c.Fix.Text, "cleanup=") {
		t.Errorf("%s: %s", c.Title, c.Fix.Text)
	}
}
