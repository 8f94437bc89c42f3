package optin

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The names stand in settings and in records: none is ever another.
func TestNames(t *testing.T) {
	want := []Remedy{"add-nat-route", "replace-instance", "open-endpoint-security-group", "cover-zones", "delete-leaked-interfaces", "create-access-entry"}
	if diff := cmp.Diff(want, Remedies()); diff != "" {
		t.Errorf("remedies (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Policy{"off", "approve", "auto"}, []Policy{Off, Approve, Auto}); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
}
