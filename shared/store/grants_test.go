package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/spec"
)

// The permissions are the client's operations, and the conditions are the keys
// that the store really writes.
func TestGrants(t *testing.T) {
	if diff := cmp.Diff([]spec.Read{{Actions: []string{"dynamodb:BatchGetItem", "dynamodb:Query"}, Resources: []string{"table", "table-index"}}}, Reads()); diff != "" {
		t.Errorf("reads (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]spec.Read{{Actions: []string{"dynamodb:Query"}, Resources: []string{"table"}}}, ReadIncidents()); diff != "" {
		t.Errorf("reading incidents (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]spec.Read{{Actions: []string{"dynamodb:Query"}, Resources: []string{"table", "table-index", "ended-index"}}}, ReadHistory()); diff != "" {
		t.Errorf("reading the history (-want +got):\n%s", diff)
	}
	for prefix, grant := range map[string]spec.Grant{
		launchPrefix: RecordLaunches(), incidentPrefix: RecordIncidents(), joinTimePrefix: RecordJoinTimes(), samplePrefix: RecordSamples(),
		sightingPrefix: RecordSightings(), auditPrefix: RecordAudits(), pacePrefix: RecordCleanups()[0], refusedPrefix: RecordRefusedLaunches(), cleanupPrefix: RecordCleanups()[1],
	} {
		if got := grant.Conditions["ForAllValues:StringLike"]["dynamodb:LeadingKeys"][0]; got != prefix+"*" {
			t.Errorf("a grant is for %q, the store writes %q", got, prefix)
		}
	}
}
